"""`subadjacent fleet`, as a user runs it and as it may be ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from running import GENEROUS, Run, wait_until

# the real command with packs of four machines, so that there are many of them
SMALL_PACKS = """
from subadjacent.workflow import fleet
fleet.PACK_ROWS = 400
from subadjacent.cli.main import run
run()
"""
MACHINES, ROWS = 60, 100


@pytest.fixture
def fleet_file(tmp_path: Path) -> Path:
    """Machines of one shape, some of them with something wrong."""
    random = np.random.default_rng(0)
    values = random.normal(size=(MACHINES, ROWS, 2))
    values[::7, 80:84] += 15
    names = [f"machine-{number}" for number in range(MACHINES)]
    pl.DataFrame(values.reshape(-1, 2), schema=["flow", "heat"]).with_columns(
        item_id=pl.Series(np.repeat(names, ROWS))
    ).write_parquet(tmp_path / "fleet.parquet")
    return tmp_path / "fleet.parquet"


def start(folder: Path, output: str, said: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", SMALL_PACKS, "fleet", "fleet.parquet", "-q", "-o", output],
        cwd=folder,
        stdout=said,
    )


def results(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        # a draft of a killed process goes when the next one writes to its place
        if file.is_file() and not file.name.startswith(".")
    }


@pytest.mark.sweep
@pytest.mark.usefixtures("fleet_file")
def test_a_killed_run_goes_on_and_ends_with_the_results_of_an_unbroken_one(tmp_path: Path) -> None:
    unbroken = start(tmp_path, "unbroken")
    said, _ = unbroken.communicate(timeout=GENEROUS)
    assert unbroken.returncode == 0
    # workers outlive a killed process for a while: with a pipe, its end would not be seen
    killed = start(tmp_path, "killed", subprocess.DEVNULL)
    parts = tmp_path / "killed" / "entities"
    wait_until(lambda: len(list(parts.glob("*.parquet"))) >= 2, killed)
    killed.kill()
    assert killed.wait(timeout=GENEROUS) == -signal.SIGKILL
    assert not (tmp_path / "killed" / "alarms.csv").exists()
    there = {part: part.stat().st_mtime_ns for part in parts.glob("0*.parquet")}
    assert 2 <= len(there) < MACHINES // 4
    again = start(tmp_path, "killed")
    said_again, _ = again.communicate(timeout=GENEROUS)
    assert again.returncode == 0
    assert said_again == said
    assert results(tmp_path / "killed") == results(tmp_path / "unbroken")
    assert {part: part.stat().st_mtime_ns for part in there} == there


def test_counts_go_to_standard_output_and_failures_to_a_table(
    command: Run, tmp_path: Path, fleet_file: Path
) -> None:
    rows = pl.read_parquet(fleet_file)[: 3 * ROWS]
    dead = pl.col("item_id") == "machine-1"
    rows.with_columns(heat=pl.when(dead).then(None).otherwise("heat")).write_parquet(fleet_file)
    done = command("fleet", fleet_file, "-o", "out", "--detector", "magnitude", code=1)
    counts = json.loads(done.stdout)
    assert (counts["entities"], counts["rows"], counts["failed"]) == (3, 3 * ROWS, 1)
    assert "1 of 3 entities failed: out/failures.csv says why" in done.stderr
    (failure,) = pl.read_csv(tmp_path / "out" / "failures.csv").to_dicts()
    assert failure["entity"] == "machine-1"


def test_all_is_well_without_failures(command: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        command("generate", "plant", "--rows", "300", "-o", f"{name}.csv", "--seed", len(name))
    done = command("fleet", "*.csv", "-o", "out", "--train-fraction", "0.6")
    counts = json.loads(done.stdout)
    assert counts["entities"] == 2
    assert "wrote out/scores, alarms.csv, entities.csv" in done.stderr
    entities = pl.read_csv(tmp_path / "out" / "entities.csv")
    assert entities["entity"].to_list() == ["one.csv", "two.csv"]
    assert entities["fitted_rows"].to_list() == [180, 180]
    assert entities["alarms"].sum() == counts["alarms"]
