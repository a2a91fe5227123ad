"""The command's own parts: which rows to fit on, what is shown, what goes wrong."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer

from subadjacent.cli import main
from subadjacent.cli.output import filled_folder, print_json, write_frame
from subadjacent.cli.progress import Bar
from subadjacent.cli.rows import first_part, naming
from subadjacent.errors import InputError
from subadjacent.runtime import Progress


def times(zone: bool = False) -> pl.Series:
    start = datetime(2026, 1, 1, tzinfo=UTC if zone else None)
    return pl.Series([start + timedelta(hours=hour) for hour in range(10)])


BARE = pl.DataFrame({"a": range(10)})
DATED = BARE.with_columns(timestamp=times())
ZONED = BARE.with_columns(timestamp=times(zone=True))
COUNTED = BARE.with_columns(timestamp=pl.Series(range(100, 110)))


@pytest.mark.parametrize(
    ("frame", "until", "rows"),
    [
        (BARE, "4", 4),
        (DATED, "2026-01-01T03:00", 3),
        (ZONED, "2026-01-01T03:00", 3),
        (ZONED, "2026-01-01T03:00+01:00", 2),
        (COUNTED, "103.5", 4),
    ],
)
def test_rows_before_a_moment_are_fitted_on(frame: pl.DataFrame, until: str, rows: int) -> None:
    assert first_part(frame, fraction=1.0, until=until).sum() == rows


def test_a_share_is_taken_of_each_entity() -> None:
    frame = pl.DataFrame({"item_id": ["x"] * 4 + ["y"] * 10, "a": range(14)})
    chosen = frame.filter(first_part(frame, fraction=0.5, until=None))
    assert chosen["a"].to_list() == [0, 1, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("frame", "fraction", "until", "message"),
    [
        (BARE, 1.0, "noon", "--train-until must be a row number, for the data has no times"),
        (BARE, 1.0, "0", "--train-until must leave rows to fit on; none come before 0"),
        (DATED, 1.0, "noon", "--train-until must be a time such as 2026-01-31T12:00; got 'noon'"),
        (DATED, 1.0, "2026-01-01T03:00Z", "--train-until must have no time zone"),
        (COUNTED, 1.0, "noon", "--train-until must be a number like those of timestamp"),
    ],
)
def test_a_part_that_cannot_be_taken_is_refused(
    frame: pl.DataFrame, fraction: float, until: str | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        first_part(frame, fraction=fraction, until=until)
    assert str(caught.value).startswith(message)


def test_what_is_not_a_number_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    moment = datetime(2026, 1, 1)
    print_json({"a": [np.nan, 1.5], "b": np.float32(2), "c": moment, "d": pl.Float64})
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"a": [None, 1.5], "b": 2.0, "c": "2026-01-01T00:00:00", "d": "Float64"}


def test_a_bar_shows_on_a_terminal_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with Bar("fitting", quiet=False) as bar:
        bar.training(Progress("training", 1, 8, "steps", "epoch 1 of at most 2"))
        assert bar._bar is None
        now[0] = 3.0
        bar.training(Progress("training", 2, 8, "steps", "epoch 1 of at most 2"))
    shown = capsys.readouterr().err
    assert "fitting" in shown
    assert "epoch 1 of at most 2" in shown


def test_what_cannot_tell_how_far_it_is_shows_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("subadjacent.cli.progress.PATIENCE", 0.05)
    with Bar("drawing", quiet=False) as bar:
        bar.wait()
        time.sleep(0.5)
    assert "drawing" in capsys.readouterr().err


def test_a_bar_says_how_much_of_what_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("subadjacent.cli.progress.PATIENCE", 0)
    with Bar("scoring", quiet=False) as bar:
        bar.counting(300, 1200, "rows scored")
    assert "25% of rows scored" in capsys.readouterr().err


def test_a_folder_that_nothing_came_of_is_gone_again(tmp_path: Path) -> None:
    with pytest.raises(InputError), filled_folder(tmp_path / "new"):
        raise InputError("no")
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(InputError), filled_folder(tmp_path / "old"):
        raise InputError("no")
    assert (tmp_path / "old").is_dir()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("X must be finite, fill_limit=10", "a.csv must be finite, fill_limit=10: drop the column"),
        ("X['b'] must be y", "a.csv['b'] must be y"),
        ("X must name it; pass a dict of name → series", "name their column with --entity"),
        ("The feature names should match\n- a", "a.csv must have the model's channels"),
        ("times of X must increase", "a.csv must increase"),
    ],
)
def test_errors_of_the_library_are_said_of_the_file(said: str, shown: str) -> None:
    with pytest.raises(InputError) as caught, naming(["a.csv"]):
        raise InputError(said)
    assert shown in str(caught.value)


def test_only_ordinary_files_are_written_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="must be an ordinary file"):
        write_frame(BARE, str(tmp_path / "pipe.csv"))
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_frame(BARE, str(tmp_path / "link.csv"))
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("a\n0\n")


def raising(error: BaseException) -> Any:
    def app(**_: Any) -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("x must be y"), 1, "error: x must be y"),
        (OSError(28, "No space left on device", "a.csv"), 1, "error: a.csv: No space left"),
        (ZeroDivisionError("by zero"), 1, "error: ZeroDivisionError: by zero (--debug"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (typer.Abort(), 130, "interrupted"),
        (typer.BadParameter("no such thing"), 2, "no such thing"),
    ],
)
def test_every_error_is_one_sentence_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(main, "app", raising(error))
    monkeypatch.setattr("sys.argv", ["subadjacent"])
    with pytest.raises(SystemExit) as caught:
        main.run()
    assert caught.value.code == code
    assert said in capsys.readouterr().err


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "app", raising(ZeroDivisionError("by zero")))
    monkeypatch.setattr("sys.argv", ["subadjacent", "--debug"])
    with pytest.raises(ZeroDivisionError):
        main.run()
