"""Charts have the numbers of the committed tables, and none of their own."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from website.charts import COST, FAVOURITE, sets

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
