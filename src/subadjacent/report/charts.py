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
from bokeh.plotting import figure
from markupsafe import escape

from subadjacent.report.panels import Line, Panel
from subadjacent.report.timeline import Kind

BORDER = 62  # pixels left of every frame, so that rows stand exactly below each other

TOOLTIP = (
    "display:grid;grid-template-columns:auto auto;gap:1px 12px;padding:2px;"
    "font:12px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums"
)


def detail(kind: Kind, panels: Sequence[Panel]) -> tuple[dict[str, Model], Range1d]:
    """The stacked figures, and the range of time that they share."""
    shared = Range1d(start=0, end=1, name="detail")
    lines = [line for panel in panels for line in panel.lines]
    source = ColumnDataSource(
        {key: [] for key in ("x", *(line.key for line in lines))}, name="lines"
    )
    marks = [_stretches(name) for name in ("fitted", "labels", "bands")]
    crosshair = Span(dimension="height", line_width=1, line_dash="dotted", tags=_role("muted"))
    figures: dict[str, Model] = {}
    for panel in panels:
        one = _plot(panel.key, panel.height, kind, shared)
        _shade(one, marks)
        for line in panel.lines:
            drawn = one.line(
                "x",
                line.key,
                source=source,
                # round joins take several times as long to draw
                line_join="bevel",
            )
            drawn.glyph.tags = [{"role": line.role, "detail": True}]
        if panel.key == "severity":
            _threshold(one)
            one.xaxis.visible = True
            one.height = panel.height + 26  # for the axis
        one.add_tools(
            HoverTool(
                mode="vline",
                renderers=[drawn],
                tooltips=_tooltips(kind, lines),
                formatters={"@x": "datetime"} if kind == "time" else {},
                point_policy="snap_to_data",
                attachment="horizontal",
                show_arrow=False,
            ),
            CrosshairTool(overlay=crosshair),
            PanTool(dimensions="width"),
            # a plain wheel goes on scrolling the page
            WheelZoomTool(dimensions="width", modifiers={"ctrl": True}),
        )
        figures[panel.key] = one
    return figures, shared


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
                tooltips=_tooltip({"epoch": "@epoch", "value": "@value{0.[0000]a}"}),
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
    one.yaxis.formatter = BasicTickFormatter(precision="auto", power_limit_high=4)


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


def _tooltips(kind: Kind, lines: Sequence[Line]) -> str:
    places = {"time": "@x{%F %T}", "number": "@x{0.[000]}", "row": "@x{0,0}"}
    values = {escape(line.label): f"@{line.key}{{0.[0000]a}}" for line in lines}
    return _tooltip({"row" if kind == "row" else "at": places[kind]} | values)


def _tooltip(values: dict[str, str]) -> str:
    """Names and values in two columns, in the page's colours; the names are markup."""
    cells = (
        f'<span style="color:var(--quiet)">{name}</span><span>{value}</span>'
        for name, value in values.items()
    )
    return f'<div style="{TOOLTIP}">{"".join(cells)}</div>'


def _role(name: str) -> list[Any]:
    return [{"role": name}]
