"""Times as people write them, through the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from running import Run, runner

LENGTH = 24 * 40
HOURS = [datetime(2024, 1, 1) + timedelta(hours=hour) for hour in range(LENGTH)]
SHORT = HOURS[: 24 * 11]


def table(header: str, write: Callable[[datetime], str], times: list[datetime]) -> str:
    rows = (f"{write(time)},{row % 7},{row % 24}\n" for row, time in enumerate(times))
    return f"{header},a,b\n" + "".join(rows)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fitted once, on the rows of every layout."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "iso.csv").write_text(table("time", datetime.isoformat, HOURS))
    runner(folder)("fit", "iso.csv", "-o", "model", "--quiet")
    return folder / "model"


def scored(command: Run, folder: Path, model: Path, *options: str) -> tuple[pl.Series, str]:
    """The times that `score` writes for times.csv, and what it remarks."""
    done = command("score", model, "times.csv", "-o", "scores.csv", *options)
    first = pl.read_csv(folder / "scores.csv", try_parse_dates=True).to_series(0)
    return first, done.stderr


def test_two_readings_are_a_question(command: Run, tmp_path: Path, model: Path) -> None:
    (tmp_path / "times.csv").write_text(
        table("time", lambda time: time.strftime("%d/%m/%Y %H:%M"), SHORT)
    )
    for verb in (["detect"], ["fit", "-o", "m"], ["score", model], ["report", model]):
        (sentence,) = command(*verb, "times.csv", "-q", code=1).stderr.splitlines()
        assert "'02/01/2024 00:00' is 2024-01-02 00:00:00 (day first) or 2024-02-01" in sentence
        assert "give --time-format '%d/%m/%Y %H:%M' or --time-format '%m/%d/%Y" in sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["times.csv"]
    times, said = scored(command, tmp_path, model, "--time-format", "%d/%m/%Y %H:%M")
    assert times.to_list() == SHORT
    assert "written as %d/%m/%Y %H:%M" in said


def test_detect_and_evaluate_take_a_format(command: Run, tmp_path: Path) -> None:
    layout = "%Hh on %y-%d-%b"
    odd = table("time", lambda time: time.strftime(layout), HOURS)
    (tmp_path / "odd.csv").write_text(odd)
    given = ("--time-format", layout, "-q")
    command("detect", "odd.csv", "-o", "found", "--train-until", "2024-01-20", *given)
    scores = pl.read_csv(tmp_path / "found" / "scores.csv", try_parse_dates=True)
    assert scores["time"].to_list() == HOURS
    lines = (f"{time.strftime(layout)},{time.hour},{int(time.hour > 20)}\n" for time in HOURS)
    (tmp_path / "scored.csv").write_text("time,score,y\n" + "".join(lines))
    verb = ("evaluate", "scored.csv", "--label", "y", "--threshold", "19")
    metrics = json.loads(command(*verb, *given).stdout)
    # a day of false alarms needs the clock
    assert metrics["alarms"]["this detector"]["alarms_false_per_day"] is not None
    done = command(*verb, "-q", code=1)
    assert "column 'time', must have times such as" in done.stderr
    assert "give its format, as in --time-format '%d/%m/%Y %H:%M'" in done.stderr


def test_train_until_is_written_as_the_file_or_as_iso(command: Run, tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text(
        table("time", lambda time: time.strftime("%d/%m/%Y %H:%M"), HOURS)
    )
    for until in ("11/01/2024", "2024-01-11"):
        done = command("fit", "times.csv", "-o", "model", "-q", "--train-until", until)
        assert json.loads(done.stdout)["rows"] == 240
