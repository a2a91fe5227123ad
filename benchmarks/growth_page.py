"""The page of ``growth.py``: what it measured, in tables and drawings.

Drawings have no background of their own, and colours that stand out on white as on black.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from growth import CHANNELS, ROWS, ROWS_AN_ENTITY, SCORED_ROWS, STEP_POINTS

INK = "#808080"
COLOURS = {"default": "#3b8ed8", "network": "#2ca58d"}
LINES: dict[str, Any] = {"fit": "-", "score": ":", "training step": "-", "scoring": ":"}
ABOUT = {
    "rows": f"{CHANNELS} channels.",
    "channels": f"{ROWS:,} rows.",
    "window": (
        f"The small network alone, {CHANNELS} channels. Time is that of a million points: of "
        f"training steps on {STEP_POINTS:,} points each, and of scoring {SCORED_ROWS:,} rows as a "
        f"detector does. The band is a fifth to three tenths of the window."
    ),
    "entities": f"{ROWS_AN_ENTITY} rows of {CHANNELS} channels each.",
}
HEAD = """# What grows with the data, and how

- {machine}
- made by `benchmarks/growth.py`; the numbers are in [the CSV beside this page]({csv})

Every point in a process of its own. Memory is the highest resident memory while fitting or
scoring, less what the libraries take when idle; the data themselves, in float32, are in it.
Networks train for one epoch, where a fit takes up to ten. "Order" is the power that the last step
goes by: 1 is in proportion, 2 is four times the cost for twice the size. Under 1, what does not
grow still counts. Thin grey lines grow in proportion.
"""

Row = dict[str, Any]


def order(points: Sequence[tuple[int, float]]) -> str:
    """The power of the size that the cost goes by, between the two largest sizes."""
    if len(points) < 2 or min(cost for _, cost in points[-2:]) <= 0:
        return ""
    (small, before), (large, after) = points[-2:]
    return f"{math.log(after / before) / math.log(large / small):.2f}"


def shown(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def table(rows: Sequence[Row], unit: str, title: str) -> list[str]:
    """A line a detector and phase, a column a size."""
    sizes = sorted({row["size"] for row in rows})
    lines = [f"| {title} |" + "".join(f" {size:,} |" for size in sizes) + " order |"]
    lines.append("|---|" + "--:|" * (len(sizes) + 1))
    for detector, phase in dict.fromkeys((row["detector"], row["phase"]) for row in rows):
        part = {r["size"]: r for r in rows if (r["detector"], r["phase"]) == (detector, phase)}
        cells = dict.fromkeys(sizes, "not tried")
        for size, row in part.items():
            cells[size] = row["state"].partition(":")[0] or shown(row[unit])
        measured = [(size, part[size][unit]) for size in sorted(part) if not part[size]["state"]]
        order_shown = order(measured)
        lines.append(f"| {detector}, {phase} | {' | '.join(cells.values())} | {order_shown} |")
    return lines


def failures(rows: Sequence[Row]) -> list[str]:
    """Why points failed, once for each."""
    said = [
        f"- {row['detector']} at {row['size']:,} {row['state']}"
        for row in rows
        if row["state"].startswith("failed")
    ]
    return [*dict.fromkeys(said), ""] if said else []


def draw(rows: Sequence[Row], axis: str, path: Path) -> None:
    """Time and memory against size, on logarithmic scales."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    style: Any = {
        "svg.hashsalt": axis, "svg.fonttype": "none", "font.size": 10, "text.color": INK,
        "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False,
    }  # fmt: skip
    with matplotlib.rc_context(style):
        figure, panels = pyplot.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
        names = ("seconds for a million points" if axis == "window" else "seconds", "MiB")
        drawn = list(dict.fromkeys((row["detector"], row["phase"]) for row in rows))
        for panel, unit, name in zip(panels, ("seconds", "mib"), names, strict=True):
            for detector, phase in drawn:
                points = [
                    (row["size"], row[unit])
                    for row in rows
                    if (row["detector"], row["phase"]) == (detector, phase)
                    and not row["state"] and row[unit] > 0
                ]  # fmt: skip
                if points:
                    panel.plot(*zip(*points, strict=True), LINES[phase], color=COLOURS[detector],
                               marker="o", markersize=4, linewidth=1.8)  # fmt: skip
            panel.set(xscale="log", yscale="log", xlabel=axis, title=name)
            panel.grid(color=INK, alpha=0.25, linewidth=0.6)
            panel.minorticks_off()
            if axis != "window":
                guide(panel)
        handles = [
            Line2D([], [], color=COLOURS[one], linestyle=LINES[phase], label=f"{one}, {phase}")
            for one, phase in drawn
        ]
        figure.legend(handles=handles, loc="outside right upper", frameon=False)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def guide(panel: Any) -> None:
    """A thin line that grows in proportion, through the panel's middle."""
    (left, right), (low, high) = panel.get_xlim(), panel.get_ylim()
    middle = math.sqrt(low * high) / math.sqrt(left * right)
    panel.plot([left, right], [left * middle, right * middle], color=INK, linewidth=0.8, zorder=0)
    panel.set(xlim=(left, right), ylim=(low, high))


def write(measured: Path, output: Path) -> None:
    """The page, and a drawing for every axis beside it."""
    with measured.open(newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    machine = next(row["state"] for row in rows if row["axis"] == "machine")
    rows = [row for row in rows if row["axis"] != "machine"]
    for row in rows:
        row["size"] = int(row["size"])
        if not row["state"]:
            row |= {unit: float(row[unit]) for unit in ("seconds", "mib", "data_mib")}
    lines = [HEAD.format(machine=machine, csv=measured.name)]
    for axis in dict.fromkeys(row["axis"] for row in rows):
        part = [row for row in rows if row["axis"] == axis]
        drawing = output.with_name(f"{output.stem}_{axis}.svg")
        draw(part, axis, drawing)
        lines += [f"## {axis.capitalize()}", "", ABOUT[axis], ""]
        lines += [f"![Time and memory against {axis}]({drawing.name})", ""]
        lines += [*table(part, "seconds", "seconds"), "", *table(part, "mib", "MiB"), ""]
        sizes = {row["size"]: row["data_mib"] for row in part if not row["state"]}
        if axis != "window":
            held = ", ".join(f"{shown(mib)} at {size:,}" for size, mib in sorted(sizes.items()))
            lines += [f"The data alone, in MiB: {held}.", ""]
        lines += failures(part)
    output.write_text("\n".join(lines))
