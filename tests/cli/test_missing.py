"""A file with a hole in one column goes through every command, and the hole is an alarm."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from running import Run, runner

ROWS, HOLE = 900, slice(600, 650)


def write(path: Path, hole: slice = slice(0), seed: int = 1) -> None:
    """Two channels, minute by minute, with empty cells in one of them."""
    time = np.arange(ROWS)
    noise = np.random.default_rng(seed).normal(scale=0.2, size=(ROWS, 2))
    flow = list(map(str, np.sin(time / 9) + noise[:, 0]))
    flow[hole] = [""] * len(flow[hole])
    start = datetime(2026, 1, 1)
    lines = [
        f"{start + timedelta(minutes=row)},{flow[row]},{np.cos(row / 9) + noise[row, 1]}"
        for row in range(ROWS)
    ]
    path.write_text("\n".join(["time,flow,heat", *lines, ""]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, and a model of one without any hole."""
    folder = tmp_path_factory.mktemp("missing")
    write(folder / "whole.csv")
    write(folder / "hole.csv", HOLE)
    write(folder / "early.csv", slice(100, 150))
    write(folder / "gone.csv", slice(None))
    write(folder / "mostly.csv", slice(300, 900))
    runner(folder)("fit", "whole.csv", "--train-fraction", 1, "-o", "model")
    return folder


@pytest.fixture
def command(folder: Path) -> Run:
    return runner(folder)


def anomalous(path: Path) -> list[int]:
    return np.flatnonzero(pl.read_csv(path)["anomalous"].to_numpy()).tolist()


def test_a_hole_is_an_alarm_of_exactly_its_rows(command: Run, folder: Path) -> None:
    done = command("detect", "hole.csv", "-o", "out")
    (alarm,) = map(json.loads, done.stdout.splitlines())
    assert (alarm["first"], alarm["last"]) == (600, 649)
    assert alarm["start"] == "2026-01-01T10:00:00"
    assert alarm["severity"] >= 2
    assert anomalous(folder / "out" / "scores.csv") == list(range(600, 650))
    assert len(pl.read_csv(folder / "out" / "alarms.csv")) == 1
    assert (folder / "out" / "report.html").exists()


def test_a_hole_in_the_rows_to_fit_on_is_named(command: Run, folder: Path) -> None:
    done = command("detect", "early.csv", "-o", "early")
    assert (
        "50 of 450 values of 'flow' are missing in gaps longer than fill_limit, the first of them "
        "at 2026-01-01 01:40:00: these rows are alarms, and not learned from"
    ) in done.stderr
    assert anomalous(folder / "early" / "scores.csv") == list(range(100, 150))


def test_a_column_that_is_mostly_missing_is_not_fitted_on(command: Run, folder: Path) -> None:
    done = command("fit", "mostly.csv", "--train-fraction", 1, "-o", "none", code=1)
    assert done.stderr.endswith(
        "error: mostly.csv must have values in at least half of the rows of every column, to fit "
        "on; column 'flow' is missing in 600 of 900: leave the column out (--ignore), or raise "
        "fill_limit in a --config file\n"
    )
    assert not (folder / "none").exists()
