"""Scores of a lake, by the workers of a cluster: the rows and bits of a single machine."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from killing import kill_workers
from lakes import COLUMNS, awkward_lake, training_rows
from running import process_runner, runner
from subadjacent import SubAdjacentDetector, load
from subadjacent.data.files import open_files
from subadjacent.runtime import Progress
from subadjacent.workflow import score as workflow
from subadjacent.workflow.cluster import over_cluster
from subadjacent.workflow.lake import COMPLETE, score_lake

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    awkward_lake(folder)
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "default"
    SubAdjacentDetector().fit(training_rows()).save(folder)
    return folder


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_killed_workers_lose_and_duplicate_nothing(lake: Path, model: Path, tmp_path: Path) -> None:
    """All workers are killed after the first part."""
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        # a worker without work is called idle
        if progress.stage == "scoring" and not killed:
            killed.extend(kill_workers(("ray::_call", "ray::IDLE")))

    rows = open_files([f"{lake}/**/*.parquet"], COLUMNS)
    output = tmp_path / "scores"
    parts = score_lake(model, rows, output, part_rows=4_000, spread=over_cluster, watch=kill)
    assert killed
    wanted = workflow.score(load(model), rows)
    assert [part.rows for part in parts] == [3_900, 3_699, 3_900, 2_240]
    scored = pl.concat([pl.read_parquet(file) for file in sorted(output.glob("*.parquet"))])
    assert_frame_equal(scored.sort("pump", "at"), wanted.sort("pump", "at"), check_exact=True)


def test_the_command_scores_a_lake(lake: Path, model: Path, tmp_path: Path) -> None:
    command = runner(tmp_path)
    pattern = f"{lake}/**/*.parquet"
    common = ("score", model, pattern, "--entity", "pump")
    here = command(*common, "-o", "scores.parquet")
    there = command(*common, "-o", "scores", "--engine", "ray")
    # a lake of this size is one part, in the order of the files
    assert names_in(tmp_path / "scores") == [COMPLETE, "part-00000.parquet"]
    table = pl.read_parquet(tmp_path / "scores" / "part-00000.parquet")
    assert_frame_equal(table, pl.read_parquet(tmp_path / "scores.parquet"), check_exact=True)
    assert there.stdout == ""
    said = there.stderr.splitlines()
    assert "1 entity was not seen in fitting: new" in said
    assert said[-1] == here.stderr.splitlines()[-1]
    assert said[-1].startswith("13,739 rows, ")
    again = command(*common, "-o", "scores", "--engine", "ray", code=1)
    assert "it holds finished ones" in again.stderr


def test_the_command_refuses_what_a_cluster_cannot_read_or_write(
    model: Path, tmp_path: Path
) -> None:
    command = runner(tmp_path)
    for output in ((), ("-o", "scores.csv"), ("-o", "scores.parquet")):
        done = command("score", model, "no.parquet", "--engine", "ray", *output, code=2)
        assert "must be a folder with --engine ray" in done.stderr
    done = command("score", model, "-", "--engine", "ray", "-o", "scores", code=2)
    assert "a cluster reads files, not standard input" in done.stderr
    done = command("score", model, "no/*.parquet", "--engine", "ray", "-o", "new", code=1)
    assert (
        done.stderr == "error: no file matches 'no/*.parquet'; check the folder and the pattern\n"
    )
    assert names_in(tmp_path) == []


@pytest.mark.sweep
def test_the_command_starts_a_cluster_of_its_own_where_there_is_none(
    lake: Path, model: Path, tmp_path: Path
) -> None:
    """In a process that is not connected to one; nothing but results is on standard output."""
    files = lake / "single" / "alone.parquet"
    common = ("score", model, files, "--entity", "pump", "-q")
    done = process_runner(tmp_path)(*common, "--engine", "ray", "-o", "scores")
    assert done.stdout == ""
    wanted = workflow.score(load(model), open_files([str(files)], COLUMNS))
    made = pl.read_parquet(tmp_path / "scores" / "part-00000.parquet")
    assert_frame_equal(made, wanted, check_exact=True)
