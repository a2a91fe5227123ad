"""Numbers on hand-written pages are those of the rendered ones."""

from __future__ import annotations

import csv
from pathlib import Path

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


def ablation() -> dict[str, list[float]]:
    """Average precision on MSL, SMAP, SMD and NeurIPS-TS by variant of the default."""
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    table = tables(text[text.index("\n## Beyond the paper: parts of the default") :])[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[2:]]
    return {name: [float(value.split()[0]) for value in values] for name, *values in cells}


def test_what_the_method_page_says_of_each_part_is_what_the_results_show() -> None:
    page = (DOCS / "method.md").read_text(encoding="utf-8")
    results = ablation()

    def loss(variant: str) -> list[float]:
        """Points lost against the default on MSL, SMAP, SMD and NeurIPS-TS."""
        pairs = zip(results["our default"], results[variant], strict=True)
        return [round(default - other, 1) for default, other in pairs]

    assert "**Looking ahead adds 2 to 15 points** on MSL, SMAP and SMD" in page
    assert all(2 <= lost <= 15 for lost in loss("looking back only")[:3])
    assert loss("looking back only")[3] < -20
    assert "**The shape view matters most on SMAP**, and adds at least two points" in page
    without_shape = loss("without the shape")
    assert max(without_shape) == without_shape[1]
    assert min(without_shape[0], without_shape[2]) >= 2
    assert "The state view adds more\n  than one point on MSL, and costs up to one on" in page
    without_state = loss("without the state")
    assert without_state[0] > 1 >= -min(without_state[1:3])
    assert "with fixed weights it loses more than five points" in page
    assert loss("with fixed weights")[2] > 5
    assert "every dataset loses without it" in page
    assert min(loss("without the local rhythm")) > 0


def test_costs_on_the_method_page_are_those_of_the_report() -> None:
    page = " ".join((DOCS / "method.md").read_text(encoding="utf-8").split())
    report = ROOT / "benchmarks" / "reports" / "default_2026-11-16.md"
    measured = tables(report.read_text(encoding="utf-8"))[0]
    ratios = dict(line.split(" | ")[:2] for line in measured[2:])
    fit = ratios["| fit of 100,000 x 25, against Sub-PCA"].removesuffix(" x")
    score = ratios["| decision_function, against Sub-PCA"].removesuffix(" x")
    assert f"takes {fit} times as long as Sub-PCA's on two cores, and scoring {score} times" in page


def test_kills_on_the_page_of_reliability_are_those_of_the_report() -> None:
    page = (DOCS / "reliability.md").read_text(encoding="utf-8")
    shown = page[page.index("<!-- kills -->") : page.index("<!-- /kills -->")]
    with (ROOT / "benchmarks" / "reports" / "kills.csv").open(newline="") as file:
        _, *counted = csv.reader(file)
    assert tables(shown)[0][2:] == [f"| {' | '.join(row)} |" for row in counted]
    # none, mixed, errors, left-overs
    assert all(row[5:] == ["0"] * 4 for row in counted)


def test_conformal_promises_on_the_page_are_lines_of_the_report() -> None:
    columns = ("data", "form", "asked", "mean", "one in ten", "no alarm", "warned")
    text = (DOCS / "decision.md").read_text(encoding="utf-8")
    shown = text[text.index("<!-- conformal -->") : text.index("<!-- /conformal -->")]
    with (ROOT / "benchmarks" / "reports" / "conformal.csv").open(newline="") as file:
        measured = [row for row in csv.DictReader(file) if row["about"] == "drift"]
    lines = {f"| {' | '.join(row[name] for name in columns)} |" for row in measured}
    (table,) = tables(shown)
    assert len(table[2:]) >= 6
    assert set(table[2:]) <= lines
