"""Ctrl-C, kill -9 and a full disk leave no half-written file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from running import COMMAND, GENEROUS, Run, call, wait_until

# the real command, but for a fit that says it has begun and then takes for ever
SLOW_FIT = """
import sys, time
from subadjacent.cli.main import run
from subadjacent.detectors.base import BaseDetector

def fit(self, X, *, watch):
    print("fitting", file=sys.stderr, flush=True)
    time.sleep(600)

BaseDetector.fit = fit
run()
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
@pytest.mark.parametrize("verb", ["detect", pytest.param("fit", marks=pytest.mark.sweep)])
def test_a_stopped_fit_leaves_nothing(
    command: Run, tmp_path: Path, verb: str, number: int, code: int
) -> None:
    command("generate", "plant", "--rows", "400", "-o", "plant.csv")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_FIT, verb, "plant.csv", "-q", "-o", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"fitting\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=GENEROUS)
    assert process.returncode == code
    if number == signal.SIGINT:
        assert said == b"interrupted; nothing was half-written\n"
    assert [file.name for file in tmp_path.iterdir()] == ["plant.csv"]


def test_sigterm_while_waiting_for_a_pipe_leaves_no_copy_of_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [COMMAND, "fit", "rows.csv", "-q", "-o", "model"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: any((tmp_path / "temporary").glob("subadjacent-*")), process)
    process.terminate()
    _, said = process.communicate(timeout=GENEROUS)
    assert (process.returncode, said) == (143, b"")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.csv", "temporary"]


@pytest.fixture
def little_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A disk of its own, emptied and made as large as asked for."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here to make a small disk with")
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")

    def sized(size: str) -> Path:
        for one in disk.iterdir():
            shutil.rmtree(one)
        subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)
        return disk

    try:
        yield sized
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_fills_up_is_said_and_holds_nothing_half_written(
    command: Run, little_disk: Callable[[str], Path]
) -> None:
    command("generate", "plant", "--rows", "800", "-o", "plant.csv")
    fit = ["fit", "plant.csv", "-q", "-o"]
    detect = ["detect", "plant.csv", "-q", "-o", "disk/out"]
    score = ["score", "model", "plant.csv", "-q", "-o"]
    command(*fit, "model")
    whole = {"model", "model/README.md", "model/config.json", "model/detector.json"}
    whole |= {"model/model.safetensors", "alarms.csv", "scores.csv", "report.html"}
    for size, arguments, named in (
        ("40k", [*fit, "disk/model"], "disk/model"),
        ("8k", [*score, "disk/s.parquet"], "disk/s.parquet"),
        ("300k", detect, "disk/out/report.html"),
    ):
        disk = little_disk(size)
        done = command(*arguments, code=1)
        assert done.stdout == ""
        (sentence,) = done.stderr.splitlines()
        assert sentence.startswith(f"error: {named}"), sentence
        assert "cannot be written: No space left on device" in sentence
        left = {str(one.relative_to(disk)) for one in disk.rglob("*")}
        assert left <= {"out", *(f"out/{name}" for name in whole)}, left


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    done = call(f"{COMMAND} generate plant --rows 100000 | head -n 1", tmp_path)
    assert done.stdout.startswith("time,sensor_1")
    assert done.stderr == ""


def test_an_interruption_while_the_command_is_imported_is_no_traceback(tmp_path: Path) -> None:
    # in place of the library that the command is built on: one that is interrupted
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    code = "from subadjacent.cli.start import main; main()"
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    assert call([sys.executable, "-c", code], tmp_path, code=130, env=env).stderr == ""
