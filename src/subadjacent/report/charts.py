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

# what is drawn of a channel, and what is told of one of its rows
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

# key of a line → the figure whose axis says to how many digits its values are told
Scales = Mapping[str, str]


def detail(kind: Kind, slots: int, panels: Sequence[Panel]) -> tuple[dict[str, Model], Range1d]:
    """The stacked figures, and the range of time that they share.

    Any channel may be drawn in any of the ``slots`` figures that come first.
    """
    shared = Range1d(start=0, end=1, name="detail")
    marks = [_stretches(name) for name in ("fitted", "labels", "bands")]
    crosshair = Span(dimension="height", line_width=1, line_dash="dotted", tags=_role("muted"))
    figures: dict[str, Model] = {}

    def add(key: str, height: int) -> figure:
        one = figures[key] = _plot(key, height, kind, shared)
        _shade(one, marks)
        return one

    def tools(
        one: figure, drawn: GlyphRenderer[Any], values: dict[str, str], scales: Scales
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
        one.add_tools(
            hover,
            CrosshairTool(overlay=crosshair),
            PanTool(dimensions="width"),
            # a plain wheel goes on scrolling the page
            WheelZoomTool(dimensions="width", modifiers={"ctrl": True}),
        )

    for slot in range(slots):
        key = f"channel_{slot}"
        one = add(key, CHANNEL_HEIGHT)
        tools(one, _channel(one), CHANNEL_VALUES, dict.fromkeys(CHANNEL_KEYS, key))
    keys = [panel.key for panel in panels]
    source = ColumnDataSource({key: [] for key in ("x", *keys)}, name="lines")
    values = {str(escape(panel.title)): f"@{panel.key}{{number}}" for panel in panels}
    for panel in panels:
        one = add(panel.key, panel.height)
        drawn = _line(one, panel.key, source, "severity" if panel.key == "severity" else "trace")
        if panel.key == "severity":
            _threshold(one)
            one.xaxis.visible = True
            one.height = panel.height + AXIS_HEIGHT
        tools(one, drawn, values, {key: key for key in keys})
    return figures, shared


def _channel(one: figure) -> GlyphRenderer[Any]:
    """What a channel did, with what is usual behind it, and where it departed most."""
    name = one.name
    # with places of its own: where the clock is broken it has no height, and a line no place
    usual = ColumnDataSource({"x": [], "low": [], "high": []}, name=f"{name}_usual")
    area = one.varea("x", "low", "high", source=usual, fill_alpha=0.25, level="underlay")
    area.glyph.tags = _role("usual")
    source = ColumnDataSource({key: [] for key in ("x", *CHANNEL_KEYS)}, name=f"{name}_lines")
    # edges, since no shade is both light enough for what is on it and clear of the page
    edges = ColumnDataSource({"x": [], "low": [], "high": []}, name=f"{name}_edges")
    for edge in ("low", "high"):
        drawn = one.line("x", edge, source=edges, line_join="bevel", level="underlay")
        drawn.glyph.tags = _role("usual")
        drawn.glyph.line_alpha = 0.8
    expected = _line(one, "expected", source, "expected")
    expected.name = f"{name}_expected"
    seen = _line(one, "seen", source, "seen")
    most = ColumnDataSource({key: [] for key in ("x", *CHANNEL_KEYS)}, name=f"{name}_most")
    # what is usual beside the channel that it parted from
    beside = one.segment("x", "low", "x", "high", source=most, line_width=5, line_alpha=0.55)
    beside.glyph.tags = _role("expected")
    ring = one.scatter("x", "seen", source=most, size=9, line_width=2, fill_alpha=0)
    ring.glyph.tags = _role("alarm")
    return seen


def _line(one: figure, key: str, source: ColumnDataSource, role: str) -> GlyphRenderer[Any]:
    # round joins take several times as long to draw
    drawn = one.line("x", key, source=source, line_join="bevel")
    drawn.glyph.tags = [{"role": role, "detail": True}]
    return drawn


def overview(kind: Kind, shared: Range1d) -> figure:
    """The strip: the severity over the whole series, with a handle on the detail's range."""
    one = _plot("overview", 150, kind, Range1d(start=0, end=1, name="whole"))
    one.xaxis.visible = True
    marks = [_stretches(name) for name in ("all_fitted", "all_labels", "all_bands")]
    _shade(one, marks, width=1.5)
    whole = ColumnDataSource({"x": [], "severity": []}, name="whole_line")
    one.line("x", "severity", source=whole, line_join="bevel").glyph.tags = _role("severity")
    _threshold(one)
    # what is marked may be thinner than a pixel: the marker on top of it can always be hit
    marker = one.scatter("middle", "top", source=marks[-1], marker="inverted_triangle", size=11)
    marker.glyph.tags = _role("alarm")
    marker.nonselection_glyph = None
    tool = RangeTool(x_range=shared, start_gesture="pan", y_interaction=False)
    tool.overlay.tags = _role("range")
    tool.overlay.use_handles = False
    one.add_tools(tool, TapTool(renderers=[marker], mode="replace"))
    return one


def training(curves: Mapping[str, Sequence[float]]) -> dict[str, Model]:
    """A small figure for each thing watched in training, epoch by epoch."""
    figures: dict[str, Model] = {}
    for name, values in curves.items():
        curve, epochs = f"curve-{name}", list(range(1, len(values) + 1))
        one = figure(
            name=curve,
            height=150,
            sizing_mode="stretch_width",
            toolbar_location=None,
            tools="",
            min_border_left=BORDER,
            x_range=Range1d(start=0.6, end=max(epochs) + 0.4),
        )
        _calm(one)
        one.xaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=5, num_minor_ticks=0)
        source = ColumnDataSource({"epoch": epochs, "value": list(values)})
        one.line("epoch", "value", source=source, line_width=1.6).glyph.tags = _role("seen")
        points = one.scatter("epoch", "value", source=source, size=6, line_color=None)
        points.glyph.tags = _role("seen")
        one.add_tools(
            HoverTool(
                renderers=[points],
                mode="vline",
                tooltips=_tooltip({"epoch": "@epoch", "value": "@value{number}"}),
                formatters={"@value": _number(curve)},
                show_arrow=False,
            )
        )
        figures[curve] = one
    return figures


def _plot(name: str, height: int, kind: Kind, x_range: Range1d) -> figure:
    one = figure(
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
    _calm(one)
    one.xaxis.visible = False
    one.xgrid.grid_line_color = None
    one.yaxis.ticker = BasicTicker(desired_num_ticks=3 if height < 120 else 5, num_minor_ticks=0)
    if kind == "time":
        one.xaxis.formatter = DatetimeTickFormatter(
            days="%d %b", months="%b %Y", hours="%H:%M", hourmin="%H:%M", context=None
        )
    elif kind == "row":
        one.xaxis.formatter = NumeralTickFormatter(format="0,0")
    else:
        one.xaxis.formatter = BasicTickFormatter(use_scientific=False)
    return one


def _calm(one: figure) -> None:
    """No frame, no ticks; the script sets colours by theme."""
    one.background_fill_color = None
    one.border_fill_color = None
    one.outline_line_color = None
    for axis in one.axis:
        axis.axis_line_color = None
        axis.major_tick_line_color = None
        axis.minor_tick_line_color = None
        axis.major_label_text_font_size = "11px"
        axis.major_label_text_font = "system-ui"
    # the page's script writes the numbers
    one.yaxis.formatter = BasicTickFormatter(tags=[{"number": one.name}])


def _stretches(name: str) -> ColumnDataSource:
    columns = ("left", "right", "middle", "top", "strength")
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _shade(one: figure, marks: Sequence[ColumnDataSource], width: float = 0) -> None:
    """Shade, from the back to the front: what was fitted on, what is labelled, alarms."""
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
        shaded = one.vstrip(
            x0="left", x1="right", source=source, level="underlay", **{"line_width": width} | look
        )
        shaded.glyph.tags = _role(role)
        shaded.nonselection_glyph = None
        shaded.selection_glyph = None


def _threshold(one: figure) -> None:
    one.add_layout(
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
