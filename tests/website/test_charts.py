"""Charts have the numbers of the committed tables, and none of their own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from website.charts import COST, FAVOURITE, Chart, block, sets

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str, str], str]:
    with (ROOT / "docs/results/leaderboard.csv").open(newline="") as file:
        return {
            (row["table"], row["row"], row["column"]): row["mean"] for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("chart", [COST, FAVOURITE], ids=lambda one: one.name)
def test_every_number_is_of_the_table(chart: Chart, table: dict[tuple[str, str, str], str]) -> None:
    found = sets(chart, ROOT)
    assert found
    tables = [
        one
        for one in dict.fromkeys(key[0] for key in table)
        if (one, "random score", chart.across) in table
    ]
    for part, name in zip(found, tables, strict=True):
        assert len(part["points"]) >= 10
        for point in part["points"]:
            assert point["across"] == float(table[name, point["name"], chart.across])
            assert point["up"] == [float(table[name, point["name"], one]) for one in chart.up]


def test_a_set_that_is_not_whole_says_so() -> None:
    titles = [one["title"] for one in sets(COST, ROOT)]
    assert titles[0] == "mean over all sets"
    assert "SMD (19 of 28)" in titles


def test_a_detector_without_a_number_is_left_out(tmp_path: Path) -> None:
    with (ROOT / "docs/results/leaderboard.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["row"] == "TranAD":
            row["mean"] = ""
    copy = tmp_path / "docs/results/leaderboard.csv"
    copy.parent.mkdir(parents=True)
    with copy.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    names = {point["name"] for point in sets(COST, tmp_path)[0]["points"]}
    assert "TranAD" not in names
    assert "USAD" in names


def test_ours_the_controls_and_the_others_are_told_apart() -> None:
    roles = {point["name"]: point["role"] for point in sets(COST, ROOT)[0]["points"]}
    assert roles["our default"] == "ours"
    assert roles["random score"] == "control"
    assert roles["TranAD"] == "network"


def test_a_chart_is_one_block_of_raw_html_with_its_data() -> None:
    text = block(COST, ROOT)
    assert text.startswith("```{raw} html\n")
    assert "\n\n" not in text
    data = text.split('<script type="application/json">')[1].split("</script>")[0]
    assert [one["title"] for one in json.loads(data)["sets"]] == [
        one["title"] for one in sets(COST, ROOT)
    ]
