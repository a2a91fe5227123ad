"""Ctrl-C, kill -9 and a full disk leave no half-written file."""

from __future__ import annotations

import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from running import COMMAND, Run


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
    deadline = time.monotonic() + 60
    assert process.stderr is not None
    for line in process.stderr:
        if b"epoch 1" in line:
            return process
        assert time.monotonic() < deadline
    raise AssertionError("it ended before it began to train")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_stopped_fit_leaves_no_model(plant: Path, number: int, code: int) -> None:
    process = start(plant.parent)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    if number == signal.SIGINT:
        assert b"interrupted; nothing was half-written" in said
    assert process.returncode == code
    assert sorted(file.name for file in plant.parent.iterdir()) == ["long.toml", "plant.csv"]


def test_a_full_disk_is_said_and_leaves_the_old_file(command: Run, tmp_path: Path) -> None:
    (tmp_path / "plant.csv").write_text("the old one")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        # the signal would end the process; without it writing fails, as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = command(
        "generate", "plant", "--rows", "100000", "-o", "plant.csv", code=1, preexec_fn=little_room
    )
    assert done.stderr.startswith("error: plant.csv cannot be written: File too large")
    assert (tmp_path / "plant.csv").read_text() == "the old one"
    assert [file.name for file in tmp_path.iterdir()] == ["plant.csv"]


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{COMMAND} generate plant --rows 100000 | head -n 1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("time,sensor_1")
    assert done.stderr == ""
