"""The command with standard streams that were closed before it began."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from running import COMMAND, call


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    return call(["bash", "-c", f'exec "{COMMAND}" {line}'], folder, code=(0, 1))


@pytest.mark.parametrize(
    "closed",
    [
        "<&- >&- 2>&-",
        *(pytest.param(one, marks=pytest.mark.sweep) for one in (">&-", "2>&-", "<&-")),
    ],
)
def test_a_command_does_its_work_without_a_stream(tmp_path: Path, closed: str) -> None:
    done = shell(tmp_path, f"generate plant --rows 200 -o plant.csv {closed}")
    assert done.returncode == 0
    assert "rror" not in done.stdout + done.stderr
    assert pl.read_csv(tmp_path / "plant.csv").height == 200


def test_a_closed_input_is_an_empty_one(tmp_path: Path) -> None:
    done = shell(tmp_path, "fit - -o model <&-")
    assert done.returncode == 1
    assert done.stderr == "error: standard input must have a header and rows of data; it is empty\n"
    # results go nowhere without an output, and an error is its exit code
    done = shell(tmp_path, "generate plant --rows 200 >&-")
    assert (done.returncode, done.stdout) == (0, "")
    assert shell(tmp_path, "fit none.csv -o model 2>&-").returncode == 1
