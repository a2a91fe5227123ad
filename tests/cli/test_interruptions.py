"""Ctrl-C, kill -9 and a full disk leave no half-written file."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from running import COMMAND, GENEROUS, Run


@pytest.fixture
def plant(command: Run, tmp_path: Path) -> Path:
    command("generate", "plant", "--rows", "6000", "-o", "plant.csv")
    # more epochs than anyone waits for
    (tmp_path / "long.toml").write_text("epochs = 100000\npatience = 100000\n")
    return tmp_path / "plant.csv"


def start(folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [COMMAND, "--debug", "fit", "plant.csv", "-o", "model", "--config", "long.toml"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # an epoch in the log: it is training now
    assert process.stderr is not None
    for line in process.stderr:
        if b"epoch 1" in line:
            return process
    raise AssertionError("it ended before it began to train")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_stopped_fit_leaves_no_model(plant: Path, number: int, code: int) -> None:
    process = start(plant.parent)
    process.send_signal(number)
    _, said = process.communicate(timeout=GENEROUS)
    if number == signal.SIGINT:
        assert b"interrupted; nothing was half-written" in said
    assert process.returncode == code
    assert sorted(file.name for file in plant.parent.iterdir()) == ["long.toml", "plant.csv"]


def test_a_full_disk_is_said_and_leaves_the_old_file(process: Run, tmp_path: Path) -> None:
    (tmp_path / "plant.csv").write_text("the old one")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        # the signal would end the process; without it writing fails, as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = process(
        "generate", "plant", "--rows", "100000", "-o", "plant.csv", code=1, preexec_fn=little_room
    )
    assert done.stderr.startswith("error: plant.csv cannot be written: File too large")
    assert (tmp_path / "plant.csv").read_text() == "the old one"
    assert [file.name for file in tmp_path.iterdir()] == ["plant.csv"]


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
    command: Run, tmp_path: Path, little_disk: Callable[[str], Path]
) -> None:
    command("generate", "plant", "--rows", "800", "-o", "plant.csv")
    (tmp_path / "quick.toml").write_text("epochs = 1\nwindow = 20\n")
    fit = ["fit", "plant.csv", "--config", "quick.toml", "-q", "-o"]
    detect = ["detect", "plant.csv", "--config", "quick.toml", "-q", "--png", "-o", "disk/out"]
    score = ["score", "plant.csv", "-m", "model", "-q", "-o"]
    command(*fit, "model")
    whole = {"model", "model/README.md", "model/config.json", "model/detector.json"}
    whole |= {"model/model.safetensors", "alarms.csv", "scores.csv", "report.html"}
    for size, arguments, named in (
        ("40k", [*fit, "disk/model"], "disk/model"),
        ("8k", [*score, "disk/s.parquet"], "disk/s.parquet"),
        ("1200k", detect, "disk/out/report.html"),
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
    done = subprocess.run(
        f"{COMMAND} generate plant --rows 100000 | head -n 1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=True,
    )
    assert done.stdout.startswith("time,sensor_1")
    assert done.stderr == ""


def test_an_interruption_while_the_command_is_imported_is_no_traceback(tmp_path: Path) -> None:
    # in place of the library that the command is built on: one that is interrupted
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-c", "from subadjacent.cli.start import main; main()"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr == ""
