"""The benchmark of lakes, at a tiny size."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.sweep
@pytest.mark.usefixtures("cluster")
def test_a_lake_is_scored_with_and_without_a_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--files", "2", "--entities", "2", "--rows", "50", "--workers", "2")
    monkeypatch.setattr(sys, "argv", ["lake.py", *sizes])
    runpy.run_path(str(FOLDER / "lake.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "200 rows of 2 entities in 2 files, 3 channels"
    assert [line.split("  ")[0] for line in lines[2:4]] == ["one machine, no Ray", "workers: 2"]
    assert "reading" in lines[4]
    assert "scoring" in lines[4]
    assert lines[5].startswith("  a task: ")
