"""Charts of the leaderboard: their numbers, which the page's script draws.

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

# what each kind of detector is called in the style sheet and the script
ROLES = {OWN: "ours", PAPERS: "network", SIMPLE: "simple", CONTROL: "control"}
MEAN = "all"


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
        "across": chart.across,
        "up": chart.up,
        "logarithmic": chart.logarithmic,
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
            f'<svg class="plot" role="img" aria-label="{about}"></svg>',
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
