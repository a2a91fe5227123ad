"""Numbers on hand-written pages are those of the rendered ones."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def tables(text: str) -> list[list[str]]:
    """Lines of every table, in order."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def summary() -> list[list[str]]:
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    return tables(text[: text.index("\n## Table 1")])


def test_the_first_numbers_of_the_readme_are_rows_of_the_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = tables(text)[0]
    average_precision = next(one for one in summary() if any("our default" in row for row in one))
    assert shown[0] == average_precision[0]
    assert len(shown) >= 5
    assert set(shown) <= set(average_precision)


@pytest.mark.parametrize(
    ("mark", "file", "number"),
    [
        ("ablation", "ablation-default.md", 0),
        ("kinds", "ablation-kinds.md", 0),
        ("kinds kept back", "ablation-kinds.md", 1),
    ],
)
def test_tables_on_the_method_s_page_are_the_rendered_ones(
    mark: str, file: str, number: int
) -> None:
    page = (DOCS / "method.md").read_text(encoding="utf-8")
    shown = page[page.index(f"<!-- {mark} -->") : page.index(f"<!-- /{mark} -->")]
    rendered = (DOCS / "results" / file).read_text(encoding="utf-8")
    assert tables(shown) == [tables(rendered)[number]]


def test_costs_on_the_method_s_page_are_those_of_the_report() -> None:
    page = (DOCS / "method.md").read_text(encoding="utf-8")
    shown = page[page.index("<!-- costs -->") : page.index("<!-- /costs -->")]
    report = ROOT / "benchmarks" / "reports" / "default_2026-11-16.md"
    measured = tables(report.read_text(encoding="utf-8"))[0]
    ratios = [line for line in measured if "against" in line]
    assert tables(shown) == [[*measured[:2], *ratios]]


def test_kills_on_the_page_of_reliability_are_those_of_the_report() -> None:
    page = (DOCS / "reliability.md").read_text(encoding="utf-8")
    shown = page[page.index("<!-- kills -->") : page.index("<!-- /kills -->")]
    with (ROOT / "benchmarks" / "reports" / "kills.csv").open(newline="") as file:
        _, *counted = csv.reader(file)
    assert tables(shown)[0][2:] == [f"| {' | '.join(row)} |" for row in counted]
    # none, mixed, errors, left-overs
    assert all(row[5:] == ["0"] * 4 for row in counted)


CONFORMAL = {
    # page, mark → what the lines are about, and the columns that are shown
    ("scoring.md", "conformal"): (
        ("drift",),
        ("data", "form", "asked", "mean", "one in ten", "no alarm", "warned"),
    ),
    ("distributed.md", "fleets"): (
        ("fleet of defaults",),
        ("data", "form", "mean", "power"),
    ),
}


@pytest.mark.parametrize(("page", "mark"), list(CONFORMAL))
def test_conformal_promises_on_the_pages_are_lines_of_the_report(page: str, mark: str) -> None:
    about, columns = CONFORMAL[page, mark]
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = text[text.index(f"<!-- {mark} -->") : text.index(f"<!-- /{mark} -->")]
    with (ROOT / "benchmarks" / "reports" / "conformal.csv").open(newline="") as file:
        measured = [row for row in csv.DictReader(file) if row["about"] in about]
    lines = {f"| {' | '.join(row[name] for name in columns)} |" for row in measured}
    (table,) = tables(shown)
    assert len(table[2:]) >= 6
    assert set(table[2:]) <= lines
