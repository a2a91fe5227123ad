"""Grids as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math

from subadjacent.experiments.grid import Cell, Grid


def markdown(grid: Grid) -> str:
    """A table for people: mean ± deviation over seeds, and the paper's number in brackets."""
    lines = [f"**{grid.title}**", ""]
    lines.append(f"| {grid.corner} | {' | '.join(grid.columns)} |")
    lines.append("|" + "---|" * (len(grid.columns) + 1))
    for label, cells in grid.rows:
        lines.append(f"| {label} | {' | '.join(_markdown_cell(cell) for cell in cells)} |")
    lines += ["", *(f"{note}  " for note in grid.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_cell(cell: Cell) -> str:
    ours = _ours(cell, " ± ") or cell.missing or "—"
    return ours if cell.paper is None else f"{ours} ({_number(cell.paper, cell.digits)})"


def _ours(cell: Cell, plus_minus: str) -> str:
    if math.isnan(cell.mean):
        return ""
    text = _number(cell.mean, cell.digits)
    if not math.isnan(cell.spread):
        text += plus_minus + _number(cell.spread, cell.digits)
    return text


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def comma_separated(grid: Grid) -> str:
    """A row a cell, for programs: mean, deviation, seeds, the paper's number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "row", "column", "mean", "deviation", "seeds", "paper", "missing"])
    for label, cells in grid.rows:
        for column, cell in zip(grid.columns, cells, strict=True):
            numbers = [
                "" if value is None or math.isnan(value) else f"{value:.{cell.digits + 2}f}"
                for value in (cell.mean, cell.spread, cell.paper)
            ]
            mean, spread, paper = numbers
            writer.writerow(
                [grid.name, label, column, mean, spread, len(cell.values), paper, cell.missing]
            )
    return out.getvalue()


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "λ": r"$\lambda$", "—": "--", "±": r"$\pm$",
})  # fmt: skip


def latex(grid: Grid) -> str:
    """A table for a paper, with booktabs rules."""
    lines = [
        r"\begin{table}", r"\centering", rf"\caption{{{_escape(grid.title)}}}",
        rf"\begin{{tabular}}{{l{'c' * len(grid.columns)}}}", r"\toprule",
        " & ".join(map(_escape, (grid.corner, *grid.columns))) + r" \\", r"\midrule",
    ]  # fmt: skip
    for label, cells in grid.rows:
        shown = [_escape(_markdown_cell(cell)) for cell in cells]
        lines.append(" & ".join([_escape(label), *shown]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _escape(text: str) -> str:
    return text.translate(_LATEX)
