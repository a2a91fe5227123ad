"""Charts have the numbers of the committed tables, and none of their own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from website.charts import COST, FAVOURITE, block, sets

pytestmark = pytest.mark.sweep

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str, str], str]:
    with (ROOT / "docs/results/leaderboard.csv").open(newline="") as file:
        return {
            (row["table"], row["row"], row["column"]): row["mean"] for row in csv.DictReader(file)
        }


def test_every_number_is_of_the_table(table: dict[tuple[str, str, str], str]) -> None:
    for chart in (COST, FAVOURITE):
        tables = [
            one
            for one in dict.fromkeys(key[0] for key in table)
            if (one, "random score", chart.across) in table
        ]
        assert tables
        for part, name in zip(sets(chart, ROOT), tables, strict=True):
            assert len(part["points"]) >= 10
            for point in part["points"]:
                assert point["across"] == float(table[name, point["name"], chart.across])
                assert point["up"] == [float(table[name, point["name"], one]) for one in chart.up]


def test_sets_and_kinds_of_detectors_are_told_apart() -> None:
    found = sets(COST, ROOT)
    titles = [one["title"] for one in found]
    assert titles[0] == "mean over all sets"
    # one that is not whole says so
    assert "SMD (19 of 28)" in titles
    roles = {point["name"]: point["role"] for point in found[0]["points"]}
    assert [roles[one] for one in ("our default", "random score", "TranAD")] == [
        *("ours", "control", "network")
    ]


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


def test_a_chart_is_one_block_of_raw_html_with_its_data() -> None:
    text = block(COST, ROOT)
    assert text.startswith("```{raw} html\n")
    assert "\n\n" not in text
    data = text.split('<script type="application/json">')[1].split("</script>")[0]
    assert [one["title"] for one in json.loads(data)["sets"]] == [
        one["title"] for one in sets(COST, ROOT)
    ]
