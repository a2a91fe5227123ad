"""On a terminal the alarms are a table for people; programs get JSON."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.terminal import shown
from running import json_lines, process_runner
from subadjacent.cli.alarm_table import MAX_WARNINGS, print_warnings
from subadjacent.cli.held_warnings import held_warnings

LONG = "an endless name " * 15
COLOR = "\x1b[3"  # how the escape of a coloured text begins


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file, and the model and report that ``detect`` made of it."""
    folder = tmp_path_factory.mktemp("terminal")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(900, 2))
    values[700:703, 0] += 40
    frame = pl.DataFrame({f"{LONG}\x1b[2J": values[:, 0], "still": 1.0, "flow": values[:, 1]})
    frame.write_parquet(folder / "long.parquet")
    process_runner(folder)("detect", "long.parquet")
    return folder


def test_a_person_gets_a_table_and_a_program_json(found: Path) -> None:
    alarms = ["alarms", "long-anomalies/model", "long.parquet"]
    text = shown(found, *alarms)
    assert text.splitlines()[0].endswith(("alarm in 900 rows", "alarms in 900 rows"))
    assert "when" in text
    assert "rows 700 to 702" in text
    assert COLOR in text
    # the name is cut, and its escapes are shown as such
    assert text.count("endless") < 14
    assert "jumped to 4" in text
    assert "\x1b[2J" not in text
    assert shown(found, *alarms, "--format", "csv").startswith("start,end,peak,")
    assert json_lines(process_runner(found)(*alarms).stdout)[0]["number"] == 1
    table = process_runner(found)(*alarms, "--format", "table")
    assert "rows 700 to 702" in table.stdout
    assert "\x1b" not in table.stdout + table.stderr


def test_without_colour_and_on_a_narrow_terminal(found: Path) -> None:
    alarms = ["alarms", "long-anomalies/model", "long.parquet"]
    text = shown(found, *alarms, columns=40, NO_COLOR="1")
    assert COLOR not in text
    assert "█" in text
    assert "what happened" not in text
    lines = text.splitlines()
    table = lines[next(at for at, line in enumerate(lines) if "rows 700 to" in line) :]
    assert all(len(line) <= 40 for line in table if "\x1b" not in line and "warning" not in line)
    ascii_only = shown(found, *alarms, NO_COLOR="1", PYTHONIOENCODING="ascii:replace")
    assert "###" in ascii_only


def test_detect_ends_with_the_report_and_the_warnings(found: Path) -> None:
    text = shown(found, "detect", "long.parquet", "-o", "again")
    *_, warning, wrote = text.splitlines()
    assert "1 of 3 channels never move" in text
    assert warning
    assert wrote == "wrote again/report.html, scores.csv, alarms.csv"
    assert "1 of 3 channels never move" in (found / "again" / "report.html").read_text()
    quiet = shown(found, "detect", "long.parquet", "-o", "again", "--quiet")
    assert "wrote" not in quiet


def test_warnings_held_back_are_shown_where_the_work_fails() -> None:
    shown, log = io.StringIO(), logging.getLogger("subadjacent.held")
    handler = logging.StreamHandler(shown)
    logging.getLogger().addHandler(handler)
    try:
        with held_warnings(hold=True) as messages:
            log.warning("few rows\nand a gap")
            log.error("a broken disk")
        assert messages == ["few rows", "and a gap"]
        assert shown.getvalue() == "a broken disk\n"
        with pytest.raises(KeyboardInterrupt):
            _interrupted(log)
        assert shown.getvalue() == "a broken disk\nfew rows\n"
        with held_warnings(hold=False) as messages:
            log.warning("a gap")
        assert messages == ["a gap"]
        assert shown.getvalue().endswith("a gap\n")
    finally:
        logging.getLogger().removeHandler(handler)


def _interrupted(log: logging.Logger) -> None:
    with held_warnings(hold=True):
        log.warning("few rows")
        raise KeyboardInterrupt


def test_three_warnings_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    print_warnings(["one", "two", "three"], "the report")
    assert capsys.readouterr().err == "warning: one\nwarning: two\nwarning: three\n"
    print_warnings(["a", "b", "c", "d", "e"], "the report")
    assert capsys.readouterr().err.splitlines()[MAX_WARNINGS:] == ["2 more warnings in the report"]


def test_the_demo_shows_its_alarms(tmp_path: Path) -> None:
    text = shown(tmp_path, "demo", "--rows", "1600", "-o", "shown", "-q", columns=140)
    assert "alarms in 800 rows" in text
    assert "what happened" in text
    assert "{" not in text
