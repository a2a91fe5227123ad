"""The page's interactive figures, without data or colours: the page's script fills both in.

Figures find their colours by the ``role`` in their tags, so that light and dark are one table
in the style sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.model import Model
from bokeh.models import (
    BasicTicker,
    BasicTickFormatter,
    ColumnDataSource,
    CrosshairTool,
    CustomJSHover,
    DatetimeTickFormatter,
    HoverTool,
    NumeralTickFormatter,
    PanTool,
    Range1d,
    RangeTool,
    TapTool,
    WheelZoomTool,
)
from bokeh.models.annotations.geometry import Span
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure
from markupsafe import escape

from subadjacent.report.panels import AXIS_HEIGHT, CHANNEL_HEIGHT, Panel
from subadjacent.report.timeline import Kind

# pixels left of every frame, so that rows stand exactly below each other; the page's script makes
# room for longer numbers
BORDER = 62

# the lines of a channel, and the values that a tooltip shows for a row
CHANNEL_KEYS = ("seen", "expected", "low", "high")
CHANNEL_VALUES = {
    "seen": "@seen{number}",
    "expected": "@expected{number}",
    "usually": "@low{number} to @high{number}",
}
TOOLTIP = (
    "display:grid;grid-template-columns:auto auto;gap:1px 12px;padding:2px;"
    "font:12px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums"
)

# key of a line → the figure whose axis sets the digits of its values
Scales = Mapping[str, str]


def detail(kind: Kind, slots: int, panels: Sequence[Panel]) -> tuple[dict[str, Model], Range1d]:
    """The stacked figures, and the range of time that they share.

    Any channel may be drawn in any of the ``slots`` figures that come first.
    """
    shared = Range1d(start=0, end=1, name="detail")
    marks = [_segments(name) for name in ("fitted", "labels", "bands")]
    crosshair = Span(dimension="height", line_width=1, line_dash="dotted", tags=_role("muted"))
    figures: dict[str, Model] = {}

    def add(key: str, height: int) -> figure:
        plot = figures[key] = _plot(key, height, kind, shared)
        _shade(plot, marks)
        return plot

    def tools(
        plot: figure, drawn: GlyphRenderer[Any], values: dict[str, str], scales: Scales
    ) -> None:
        hover = HoverTool(
            mode="vline",
            renderers=[drawn],
            tooltips=_tooltip(_place(kind) | values),
            formatters={f"@{key}": _number(panel) for key, panel in scales.items()},
            point_policy="snap_to_data",
            attachment="horizontal",
            show_arrow=False,
        )
        if kind == "time":
            hover.formatters |= {"@x": "datetime"}
        plot.add_tools(
            hover,
            CrosshairTool(overlay=crosshair),
            PanTool(dimensions="width"),
            # a plain wheel goes on scrolling the page
            WheelZoomTool(dimensions="width", modifiers={"ctrl": True}),
        )

    for slot in range(slots):
        key = f"channel_{slot}"
        plot = add(key, CHANNEL_HEIGHT)
        tools(plot, _channel(plot), CHANNEL_VALUES, dict.fromkeys(CHANNEL_KEYS, key))
    keys = [panel.key for panel in panels]
    source = ColumnDataSource({key: [] for key in ("x", *keys)}, name="lines")
    values = {str(escape(panel.title)): f"@{panel.key}{{number}}" for panel in panels}
    for panel in panels:
        plot = add(panel.key, panel.height)
        drawn = _line(plot, panel.key, source, "severity" if panel.key == "severity" else "trace")
        if panel.key == "severity":
            _threshold(plot)
            plot.xaxis.visible = True
            plot.height = panel.height + AXIS_HEIGHT
        tools(plot, drawn, values, {key: key for key in keys})
    return figures, shared


def _channel(plot: figure) -> GlyphRenderer[Any]:
    """Draw a channel over its usual bounds, with the row where it departed most."""
    name = plot.name
    # with places of its own: where the clock is broken it has no height, and a line no place
    usual = ColumnDataSource({"x": [], "low": [], "high": []}, name=f"{name}_usual")
    area = plot.varea("x", "low", "high", source=usual, fill_alpha=0.25, level="underlay")
    area.glyph.tags = _role("usual")
    source = ColumnDataSource({key: [] for key in ("x", *CHANNEL_KEYS)}, name=f"{name}_lines")
    # edges, since no shade is both light enough for what is on it and clear of the page
    edges = ColumnDataSource({"x": [], "low": [], "high": []}, name=f"{name}_edges")
    for edge in ("low", "high"):
        drawn = plot.line("x", edge, source=edges, line_join="bevel", level="underlay")
        drawn.glyph.tags = _role("usual")
        drawn.glyph.line_alpha = 0.8
    expected = _line(plot, "expected", source, "expected")
    expected.name = f"{name}_expected"
    seen = _line(plot, "seen", source, "seen")
    most = ColumnDataSource({key: [] for key in ("x", *CHANNEL_KEYS)}, name=f"{name}_most")
    # the usual bounds given the channel that it parted from
    beside = plot.segment("x", "low", "x", "high", source=most, line_width=5, line_alpha=0.55)
    beside.glyph.tags = _role("expected")
    ring = plot.scatter("x", "seen", source=most, size=9, line_width=2, fill_alpha=0)
    ring.glyph.tags = _role("alarm")
    return seen


def _line(plot: figure, key: str, source: ColumnDataSource, role: str) -> GlyphRenderer[Any]:
    # round joins take several times as long to draw
    drawn = plot.line("x", key, source=source, line_join="bevel")
    drawn.glyph.tags = [{"role": role, "detail": True}]
    return drawn


def overview(kind: Kind, shared: Range1d) -> figure:
    """The strip: the severity over the whole series, with a handle on the detail's range."""
    plot = _plot("overview", 150, kind, Range1d(start=0, end=1, name="whole"))
    plot.xaxis.visible = True
    marks = [_segments(name) for name in ("all_fitted", "all_labels", "all_bands")]
    _shade(plot, marks, width=1.5)
    whole = ColumnDataSource({"x": [], "severity": []}, name="whole_line")
    plot.line("x", "severity", source=whole, line_join="bevel").glyph.tags = _role("severity")
    _threshold(plot)
    # what is marked may be thinner than a pixel: the marker on top of it can always be hit
    marker = plot.scatter("middle", "top", source=marks[-1], marker="inverted_triangle", size=11)
    marker.glyph.tags = _role("alarm")
    marker.nonselection_glyph = None
    tool = RangeTool(x_range=shared, start_gesture="pan", y_interaction=False)
    tool.overlay.tags = _role("range")
    tool.overlay.use_handles = False
    plot.add_tools(tool, TapTool(renderers=[marker], mode="replace"))
    return plot


def training(curves: Mapping[str, Sequence[float]]) -> dict[str, Model]:
    """A small figure for each curve of the training, epoch by epoch."""
    figures: dict[str, Model] = {}
    for name, values in curves.items():
        curve, epochs = f"curve-{name}", list(range(1, len(values) + 1))
        plot = figure(
            name=curve,
            height=150,
            sizing_mode="stretch_width",
            toolbar_location=None,
            tools="",
            min_border_left=BORDER,
            x_range=Range1d(start=0.6, end=max(epochs) + 0.4),
        )
        _without_frame(plot)
        plot.xaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=5, num_minor_ticks=0)
        source = ColumnDataSource({"epoch": epochs, "value": list(values)})
        plot.line("epoch", "value", source=source, line_width=1.6).glyph.tags = _role("seen")
        points = plot.scatter("epoch", "value", source=source, size=6, line_color=None)
        points.glyph.tags = _role("seen")
        plot.add_tools(
            HoverTool(
                renderers=[points],
                mode="vline",
                tooltips=_tooltip({"epoch": "@epoch", "value": "@value{number}"}),
                formatters={"@value": _number(curve)},
                show_arrow=False,
            )
        )
        figures[curve] = plot
    return figures


def _plot(name: str, height: int, kind: Kind, x_range: Range1d) -> figure:
    plot = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        x_axis_type="datetime" if kind == "time" else "linear",
        x_range=x_range,
        y_range=Range1d(start=0, end=1),
        min_border_left=BORDER,
        min_border_right=14,
        min_border_top=4,
        min_border_bottom=4,
    )
    _without_frame(plot)
    plot.xaxis.visible = False
    plot.xgrid.grid_line_color = None
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=3 if height < 120 else 5, num_minor_ticks=0)
    if kind == "time":
        plot.xaxis.formatter = DatetimeTickFormatter(
            days="%d %b", months="%b %Y", hours="%H:%M", hourmin="%H:%M", context=None
        )
    elif kind == "row":
        plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    else:
        plot.xaxis.formatter = BasicTickFormatter(use_scientific=False)
    return plot


def _without_frame(plot: figure) -> None:
    """Remove frame and ticks; the script sets colours by theme."""
    plot.background_fill_color = None
    plot.border_fill_color = None
    plot.outline_line_color = None
    for axis in plot.axis:
        axis.axis_line_color = None
        axis.major_tick_line_color = None
        axis.minor_tick_line_color = None
        axis.major_label_text_font_size = "11px"
        axis.major_label_text_font = "system-ui"
    # the page's script writes the numbers
    plot.yaxis.formatter = BasicTickFormatter(tags=[{"number": plot.name}])


def _segments(name: str) -> ColumnDataSource:
    columns = ("left", "right", "middle", "top", "strength")
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _shade(plot: figure, marks: Sequence[ColumnDataSource], width: float = 0) -> None:
    """Shade, from the back to the front, the rows fitted on, labelled rows and alarms."""
    looks: tuple[tuple[str, dict[str, Any]], ...] = (
        # fainter where it may fill the whole figure, so that the grid stays visible
        ("fitted", {"fill_alpha": 0.12 if width else 0.07, "line_alpha": 0}),
        # hatched, so that the two kinds differ without colour
        (
            "label",
            {"hatch_pattern": "/", "hatch_alpha": 0.35, "fill_alpha": 0.05, "line_alpha": 0.5},
        ),
        # one of a few rows among thousands is thinner than a pixel, but not its edges
        ("alarm", {"fill_alpha": "strength", "line_alpha": 0.4, "line_width": width or 1}),
    )
    for source, (role, look) in zip(marks, looks, strict=True):
        shaded = plot.vstrip(
            x0="left", x1="right", source=source, level="underlay", **{"line_width": width} | look
        )
        shaded.glyph.tags = _role(role)
        shaded.nonselection_glyph = None
        shaded.selection_glyph = None


def _threshold(plot: figure) -> None:
    plot.add_layout(
        Span(
            dimension="width",
            location=1,  # of every severity
            line_width=1.3,
            line_dash="dashed",
            tags=_role("threshold"),
        )
    )


def _place(kind: Kind) -> dict[str, str]:
    places = {"time": "@x{%F %T}", "number": "@x{0.[000]}", "row": "@x{0,0}"}
    return {"row" if kind == "row" else "at": places[kind]}


def _number(panel: str) -> CustomJSHover:
    """Marks a number for the page's script to write, to the digits that the panel can show."""
    return CustomJSHover(tags=[{"number": panel}])


def _tooltip(values: dict[str, str]) -> str:
    """Names and values in two columns, in the page's colours; the names are markup."""
    cells = (
        f'<span style="color:var(--quiet)">{name}</span><span>{value}</span>'
        for name, value in values.items()
    )
    return f'<div style="{TOOLTIP}">{"".join(cells)}</div>'


def _role(name: str) -> list[Any]:
    return [{"role": name}]
