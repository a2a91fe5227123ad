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
MIDNIGHT = datetime(1970, 1, 1)
MINUTES = [timedelta(minutes=minute) for minute in range(LENGTH)]
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


LAYOUTS = {
    "%d/%m/%Y %H:%M": "day first",
    "%m/%d/%Y %H:%M": "month first",
    "%m/%d/%y %H": "month first",
    "%m/%d/%Y %I:%M:%S %p": "month first",
    "%d-%b-%Y %H:%M": "day, name of month",
    "%d %B %Y %H:%M": "day, name of month",
    "%d.%m.%Y %H:%M": "day first",
    "%Y/%m/%d %H:%M": "dates without a time zone",
    "%Y%m%d%H%M%S": "since every row is one when read like 20240131",
    "%Y%m%dT%H%M": "digits and digits",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_found_and_written_as_iso(
    command: Run, tmp_path: Path, model: Path, layout: str
) -> None:
    (tmp_path / "times.csv").write_text(table("time", lambda time: time.strftime(layout), HOURS))
    times, said = scored(command, tmp_path, model)
    assert times.name == "time"
    assert times.to_list() == HOURS
    assert "column 'time' is the time (found): " in said
    assert LAYOUTS[layout] in said
    assert "2024-01-01T01:00:00.000000," in (tmp_path / "scores.csv").read_text()


@pytest.mark.parametrize("layout", ["%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d-%b-%y"])
def test_dates_may_have_no_clock(command: Run, tmp_path: Path, model: Path, layout: str) -> None:
    days = [datetime(2024, 1, 1) + timedelta(days=day) for day in range(100)]
    (tmp_path / "times.csv").write_text(table("date", lambda time: time.strftime(layout), days))
    assert scored(command, tmp_path, model)[0].to_list() == days


def test_dates_and_clocks_are_joined(command: Run, tmp_path: Path, model: Path) -> None:
    content = table("Date,Time", lambda time: time.strftime("%d/%m/%Y,%H:%M:%S"), HOURS)
    (tmp_path / "times.csv").write_text(content)
    times, said = scored(command, tmp_path, model)
    assert times.to_list() == HOURS
    assert times.name == "timestamp"
    assert "columns 'Date' and 'Time', joined, are the time (found): dates without" in said
    (tmp_path / "times.csv").write_text(content.replace("Date,Time", "Datum,Zeit"))
    assert scored(command, tmp_path, model, "--time", "Datum+Zeit")[0].to_list() == HOURS


def test_a_counter_stays_a_counter(command: Run, tmp_path: Path, model: Path) -> None:
    lines = (f"{20240101 + row},{row % 7},{row % 24}\n" for row in range(200))
    (tmp_path / "times.csv").write_text("time,a,b\n" + "".join(lines))
    times, said = scored(command, tmp_path, model)
    assert times.to_list() == list(range(20240101, 20240301))
    assert "a counter, not dates" in said


def test_a_clock_holds_for_one_day(command: Run, tmp_path: Path, model: Path) -> None:
    minutes = [MIDNIGHT + timedelta(minutes=minute) for minute in range(1450)]

    def clock(time: datetime) -> str:
        return time.strftime("%H:%M:%S")

    (tmp_path / "times.csv").write_text(table("time", clock, minutes[:1440]))
    times, said = scored(command, tmp_path, model)
    assert times.to_list() == minutes[:1440]
    assert "a clock without dates, all of one day, which is called 1970-01-01" in said
    (tmp_path / "times.csv").write_text(table("time", clock, minutes))
    done = command("score", model, "times.csv", "-q", code=1)
    assert "line 1442, column 'time': times must increase from row to row; got 00:00" in done.stderr
    assert "add a column of dates and name both as the time (date+time)" in done.stderr


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


def test_a_cell_that_is_not_of_the_format_is_named(
    command: Run, tmp_path: Path, model: Path
) -> None:
    (tmp_path / "times.csv").write_text("time,a,b\n31/01/2024,1,2\n1.2.2024,1,2\n")
    options = ("-q", "--time-format", "%d/%m/%Y")
    done = command("score", model, "times.csv", *options, code=1)
    assert done.stderr == (
        "error: times.csv, line 3, column 'time', must be a time written as '%d/%m/%Y'; it holds "
        "'1.2.2024': correct it, or give another format, as in --time-format '%d/%m/%Y %H:%M'\n"
    )


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


@pytest.mark.parametrize(
    ("layout", "until"),
    [
        ("%d/%m/%Y %H:%M", "11/01/2024"),
        ("%d/%m/%Y %H:%M", "2024-01-11"),
        ("%m/%d/%Y %I:%M %p", "1/11/2024 12:00 AM"),
        ("%d-%b-%Y %H:%M", "11-Jan-2024 00:00"),
        ("%Y%m%d%H%M%S", "20240111000000"),
        ("%Y%m%d%H%M%S", "20240111"),
        ("%H:%M:%S.%f", "04:00"),
        ("%H:%M:%S.%f", "1970-01-01T04:00"),
        ("%s", "1704931200"),
        ("%s", "2024-01-11"),
    ],
)
def test_train_until_is_written_as_the_file_or_as_iso(
    command: Run, tmp_path: Path, layout: str, until: str
) -> None:
    def write(time: datetime) -> str:
        seconds = str(int((time - MIDNIGHT).total_seconds()))
        return seconds if layout == "%s" else time.strftime(layout)

    # a clock has minutes in place of hours: one day
    times = HOURS if "%H:%M:%S" not in layout else [MIDNIGHT + time for time in MINUTES]
    (tmp_path / "times.csv").write_text(table("time", write, times))
    done = command("fit", "times.csv", "-o", "model", "-q", "--train-until", until)
    assert json.loads(done.stdout)["rows"] == 240
