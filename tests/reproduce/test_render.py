"""Grids as Markdown, CSV and LaTeX, by hand."""

from __future__ import annotations

import csv
import io

from reproduce.comparison import NOT_HERE, NOT_RUN, Cell, ResultTable
from reproduce.render import comma_separated, latex, markdown

TABLE = ResultTable(
    "table0-f1",
    "F1, λ & co (%)",
    "method",
    ("MSL", "SMD_1", "SWaT"),
    (
        ("others", (Cell(paper=90.0), Cell(), Cell(missing=NOT_HERE))),
        ("ours", (Cell((90.0, 94.0), 96.7), Cell((1234.5,)), Cell(missing=NOT_HERE))),
        (
            "none",
            (Cell(paper=50.0, missing=NOT_RUN), Cell(missing=NOT_RUN), Cell(missing=NOT_HERE)),
        ),
    ),
    ("A note.", "Another."),
)


def test_markdown_shows_mean_deviation_and_the_papers_number() -> None:
    assert markdown(TABLE) == (
        "**F1, λ & co (%)**\n"
        "\n"
        "| method | MSL | SMD_1 |\n"
        "|---|--:|--:|\n"
        "| others | (90.0) | — |\n"
        "| ours | 92.0 ± 2.8 (96.7) | 1,234.5 |\n"
        "| none | not run (50.0) | not run |\n"
        "\n"
        "A note. Another.\n"
    )


def test_cells_without_data_or_number() -> None:
    # a column stays where the paper has a number, or where no column has any
    table = ResultTable("g", "G", "m", ("SWaT",), (("a", (Cell(paper=9.0, missing=NOT_HERE),)),
                                           ("b", (Cell(missing=NOT_HERE),))))  # fmt: skip
    assert "| a | (9.0) |\n| b | no data |\n" in markdown(table)
    table = ResultTable("g", "G", "m", ("SWaT",), (("a", (Cell(missing=NOT_HERE),)),))
    assert markdown(table) == "**G**\n\n| m | SWaT |\n|---|--:|\n| a | no data |\n"
    table = ResultTable("g", "G", "m", ("MSL",), (("a", (Cell((float("nan"),), digits=2),)),))
    assert "| a | — |" in markdown(table)


def test_csv_has_a_row_a_cell_with_more_digits() -> None:
    rows = list(csv.DictReader(io.StringIO(comma_separated(TABLE))))
    assert len(rows) == 9
    assert rows[3] == {
        "table": "table0-f1", "row": "ours", "column": "MSL", "mean": "92.000",
        "deviation": "2.828", "seeds": "2", "paper": "96.700", "missing": "",
    }  # fmt: skip
    assert rows[6]["missing"] == "not run"
    assert rows[8]["missing"] == "no data"


def test_latex_escapes_what_it_must_and_has_every_column() -> None:
    text = latex(TABLE)
    assert r"\caption{F1, $\lambda$ \& co (\%)}" in text
    assert r"method & MSL & SMD\_1 & SWaT \\" in text
    assert r"ours & 92.0 $\pm$ 2.8 (96.7) & 1,234.5 & no data \\" in text
    assert r"\begin{tabular}{lccc}" in text
    assert text.count("\\\\\n") == 4
