"""The data behind the report of the README's file stays as it was."""

from __future__ import annotations

from pathlib import Path

from characterisation import adapter
from characterisation.records import Near, check
from running import runner

# lines are drawn with 16 bits, and some follow scores
NEAR: Near = {"rtol": 2e-3, "atol": 5e-3}
EVERY = 50
"""Of so many rows of a line, one is recorded."""


def test_a_report_is_drawn_from_what_it_was(tmp_path: Path) -> None:
    run = runner(tmp_path)
    run("generate", "plant", "--rows", 4000, "-o", "plant.csv")
    run("detect", "plant.csv", "--quiet")
    page = (tmp_path / "plant-anomalies" / "report.html").read_text(encoding="utf-8")
    document, lines = adapter.report_data(page)
    check("report", NEAR, document, {name: line[::EVERY] for name, line in lines.items()})
