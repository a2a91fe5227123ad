"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math

from reproduce.comparison import NOT_HERE, Cell, ResultTable

NOTHING = "—"


def markdown(table: ResultTable) -> str:
    """A table for people: mean ± deviation over seeds, and the paper's number in brackets.

    Columns that would say nothing but "no data" are left out.
    """
    shown = _with_something(table)
    columns = [table.columns[number] for number in shown]
    lines = [f"**{table.title}**", ""]
    lines.append(f"| {table.corner} | {' | '.join(columns)} |")
    lines.append("|---" + "|--:" * len(columns) + "|")
    for label, cells in table.rows:
        texts = (_text(cells[number]) for number in shown)
        lines.append(f"| {label} | {' | '.join(texts)} |")
    lines += ["", " ".join(table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _with_something(table: ResultTable) -> list[int]:
    """Numbers of the columns that have a value; all columns if none has any."""
    cells = list(zip(*(cells for _, cells in table.rows), strict=True))
    empty = [all(c.missing == NOT_HERE and c.paper is None for c in column) for column in cells]
    return [number for number, nothing in enumerate(empty) if not nothing or all(empty)]


def _text(cell: Cell) -> str:
    ours = _ours(cell, " ± ") or cell.missing
    if cell.paper is None:
        return ours or NOTHING
    paper = f"({_number(cell.paper, cell.digits)})"
    # a number of the paper's alone says already that there is none of ours
    return paper if ours in ("", NOT_HERE) else f"{ours} {paper}"


def _ours(cell: Cell, plus_minus: str) -> str:
    if math.isnan(cell.mean):
        return ""
    text = _number(cell.mean, cell.digits)
    if not math.isnan(cell.spread):
        text += plus_minus + _number(cell.spread, cell.digits)
    return text


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def comma_separated(table: ResultTable) -> str:
    """A row a cell, for programs: mean, deviation, seeds, the paper's number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "row", "column", "mean", "deviation", "seeds", "paper", "missing"])
    for label, cells in table.rows:
        for column, cell in zip(table.columns, cells, strict=True):
            numbers = [
                "" if value is None or math.isnan(value) else f"{value:.{cell.digits + 2}f}"
                for value in (cell.mean, cell.spread, cell.paper)
            ]
            mean, spread, paper = numbers
            writer.writerow(
                [table.name, label, column, mean, spread, len(cell.values), paper, cell.missing]
            )
    return out.getvalue()


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "λ": r"$\lambda$", "—": "--", "±": r"$\pm$",
})  # fmt: skip


def latex(table: ResultTable) -> str:
    """A table for a paper, with booktabs rules."""
    lines = [
        r"\begin{table}", r"\centering", rf"\caption{{{_escape(table.title)}}}",
        rf"\begin{{tabular}}{{l{'c' * len(table.columns)}}}", r"\toprule",
        " & ".join(map(_escape, (table.corner, *table.columns))) + r" \\", r"\midrule",
    ]  # fmt: skip
    for label, cells in table.rows:
        shown = [_escape(_text(cell)) for cell in cells]
        lines.append(" & ".join([_escape(label), *shown]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _escape(text: str) -> str:
    return text.translate(_LATEX)
