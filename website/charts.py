"""Interactive charts of the leaderboard, without data or colours: the page's script fills both in.

Numbers are those of the committed tables in docs/results, which are rendered from results/.
"""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bokeh.core.properties import value
from bokeh.embed import json_item
from bokeh.models import BasicTickFormatter, ColumnDataSource, FixedTicker, HoverTool, Span
from bokeh.plotting import figure

from reproduce.comparison import RANDOM, dataset_title
from reproduce.results import Results
from reproduce.tables.leaderboard_figure import (
    CONTROL,
    FASTEST,
    KINDS,
    OWN,
    PAPERS,
    SIMPLE,
)

# what each kind of detector is called in the style sheet, and its marker
ROLES = {OWN: "ours", PAPERS: "network", SIMPLE: "simple", CONTROL: "control"}
MARKERS = {OWN: "star", PAPERS: "circle", SIMPLE: "square", CONTROL: "diamond"}
MEAN = "all"
# pixels
HEIGHT = 460


@dataclass(frozen=True, slots=True)
class Chart:
    """A point a detector: one column of the leaderboard against another, for a set of choice."""

    name: str
    across: str
    up: tuple[str, ...]
    logarithmic: bool = False


COST = Chart(
    "cost",
    "training, s",
    ("average precision, %", "VUS-PR, %", "F1 of events, %"),
    logarithmic=True,
)
FAVOURITE = Chart(
    "favourite",
    "point-adjusted F1, published protocol, %",
    ("average precision, %", "VUS-PR, %", "ROC area, %", "F1 of events, %"),
)


def block(chart: Chart, root: Path) -> str:
    """The chart as a block of a Markdown page; ``root`` is the repository's."""
    payload = {
        "item": json_item(_figure(chart), chart.name),
        "across": chart.across,
        "up": chart.up,
        "sets": sets(chart, root),
        "roles": [{"role": role, "words": kind.words} for kind, role in ROLES.items()],
        "reference": RANDOM.label,
    }
    # "</" would end the script
    data = json.dumps(payload).replace("</", "<\\/")
    about = html.escape(f"Chart: {', or '.join(chart.up)}, against {chart.across}")
    return "\n".join(
        [
            "```{raw} html",
            f'<figure class="chart" data-chart="{chart.name}">',
            '<div class="choices"></div>',
            f'<div id="{chart.name}" class="plot" role="img" aria-label="{about}"></div>',
            "<noscript>The tables below have these numbers; the chart needs JavaScript.</noscript>",
            f'<script type="application/json">{data}</script>',
            "</figure>",
            "```",
        ]
    )


def sets(chart: Chart, root: Path) -> list[dict[str, Any]]:
    """For each set, the detectors that have a number in every column of the chart."""
    with (root / "docs/results/leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["mean"]]
    results = Results(root / "results")
    found = []
    for table in dict.fromkeys(row["table"] for row in rows):
        dataset = table.removeprefix("leaderboard-")
        points = _points(chart, [row for row in rows if row["table"] == table])
        if points:
            title = "mean over all sets" if dataset == MEAN else dataset_title(dataset, results)
            found.append({"title": title, "points": points})
    return found


def _points(chart: Chart, rows: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["column"] in (chart.across, *chart.up):
            values.setdefault(row["row"], {})[row["column"]] = float(row["mean"])
    least = FASTEST if chart.logarithmic else 0.0
    return [
        {"name": name, "role": ROLES[KINDS.get(name, CONTROL)]}
        | {"across": max(of[chart.across], least), "up": [of[column] for column in chart.up]}
        for name, of in values.items()
        if len(of) == 1 + len(chart.up)
    ]


def _figure(chart: Chart) -> figure:
    plot = figure(
        name=chart.name,
        height=HEIGHT,
        sizing_mode="stretch_width",
        x_axis_type="log" if chart.logarithmic else "linear",
        toolbar_location=None,
        tools="",
        # the script sets all four
        x_range=(1, 2),
        y_range=(0, 1),
        background_fill_alpha=0,
        border_fill_alpha=0,
        outline_line_color=None,
    )
    drawn = []
    for kind, role in ROLES.items():
        source = ColumnDataSource(
            {key: [] for key in ("x", "y", "name")}, name=f"{chart.name}-{role}"
        )
        drawn.append(
            plot.scatter(
                "x", "y", source=source, marker=MARKERS[kind], line_width=1.6, tags=[role],
                size=17 if kind is OWN else 10, fill_alpha=1.0 if kind.filled else 0.0,
            )
        )  # fmt: skip
        drawn[-1].glyph.tags = [role]
    names = ColumnDataSource(
        {key: [] for key in ("x", "y", "name", "align", "shift", "lift", "role", "color")},
        name=f"{chart.name}-names",
    )
    plot.text(
        "x", "y", "name", source=names, text_font_size="12px", text_align="align",
        text_baseline="middle", x_offset="shift", y_offset="lift", text_color="color",
        text_font=value("system-ui"),
    )  # fmt: skip
    plot.add_layout(Span(dimension="width", name=f"{chart.name}-reference", line_dash="dashed"))
    plot.add_tools(
        HoverTool(
            renderers=drawn,
            tooltips=f"<b>@name</b><br>@y{{0.0}} · {html.escape(chart.across)}: @x{{0.0}}",
            show_arrow=False,
        )
    )
    for axis in (plot.xaxis[0], plot.yaxis[0]):
        axis.axis_line_color = axis.minor_tick_line_color = None
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font = axis.major_label_text_font = "system-ui"
        axis.major_label_text_font_size = axis.axis_label_text_font_size = "12px"
    plot.xaxis[0].axis_label = chart.across
    if chart.logarithmic:
        ticks = FixedTicker(
            ticks=[one * 10.0**power for power in range(-2, 6) for one in (1, 2, 5)]
        )
        plot.xaxis[0].ticker = plot.xgrid[0].ticker = ticks
        plot.xaxis[0].formatter = BasicTickFormatter(use_scientific=False)
    return plot
