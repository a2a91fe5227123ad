"""Scores of a lake, by the workers of a cluster: the rows and bits of a single machine."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from killing import kill_workers
from lakes import COLUMNS, awkward_lake, training_rows
from subadjacent import SubAdjacentDetector, load
from subadjacent.data.files import open_files
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.rivals.random import RandomDetector
from subadjacent.distributed.lake import Lake
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.workflow import score as workflow
from subadjacent.workflow.lake import COMPLETE, ModelFiles, Part, score_lake

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    awkward_lake(folder)
    return folder


@pytest.fixture(scope="session")
def default(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "default"
    SubAdjacentDetector().fit(training_rows()).save(folder)
    return folder


@pytest.fixture(scope="session")
def random(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "random"
    RandomDetector().fit(training_rows()).save(folder)
    return folder


def on_cluster(pattern: str, model: Path, output: str, watch: Watch = ignore) -> list[Part]:
    """In parts of at most 4,000 rows."""
    detector: BaseDetector = load(model)
    lake = Lake.of([pattern], COLUMNS)
    files = ModelFiles.of(model)
    return score_lake(detector, files, lake, output, watch, rows_of_part=4_000)


def on_one_machine(pattern: str, model: Path) -> pl.DataFrame:
    return workflow.score(load(model), open_files([pattern], COLUMNS))


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def in_parts(table: pl.DataFrame, parts: list[list[str]]) -> list[pl.DataFrame]:
    """What each part should hold: rows of some pumps, as they stand in the files."""
    return [table.filter(pl.col("pump").is_in(pumps)) for pumps in parts]


@pytest.mark.parametrize("kind", ["default", "random"])
def test_a_lake_is_scored_to_the_bits_of_a_single_machine(
    kind: str, lake: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Entities over several files, alone in one, few rows, gaps, NaN, unknown; all rows at once."""
    model = request.getfixturevalue(kind)
    pattern = f"{lake}/**/*.parquet"
    made = on_cluster(pattern, model, str(tmp_path / "scores"))
    wanted = on_one_machine(pattern, model)
    expected = in_parts(wanted, [["long"], ["gaps"], ["new"], ["short", "alone"]])
    assert [part.rows for part in made] == [len(table) for table in expected]
    assert sum(part.rows for part in made) == len(wanted)
    for number, table in enumerate(expected):
        part = pl.read_parquet(tmp_path / "scores" / f"part-{number:05}.parquet")
        assert_frame_equal(part, table, check_exact=True)
    assert sum(part.anomalous for part in made) == wanted["anomalous"].sum() > 0
    assert names_in(tmp_path / "scores") == [COMPLETE, *(part.name for part in made)]
    said = json.loads((tmp_path / "scores" / COMPLETE).read_text())
    assert said == {"rows": len(wanted), "parts": {part.name: part.rows for part in made}}


def test_killed_workers_lose_and_duplicate_nothing(
    lake: Path, default: Path, tmp_path: Path
) -> None:
    """All that cut files are killed after the first file, all that score after the first part."""
    killed: dict[str, list[int]] = {}

    def kill(progress: Progress) -> None:
        # a worker without work is called idle
        workers = {"sorting": ("ray::_apply", "ray::IDLE"), "scoring": ("ray::_Holder",)}.get(
            progress.stage
        )
        if workers is not None and progress.stage not in killed:
            killed[progress.stage] = kill_workers(workers)

    pattern = f"{lake}/**/*.parquet"
    made = on_cluster(pattern, default, str(tmp_path / "scores"), watch=kill)
    assert killed["sorting"]
    assert killed["scoring"]
    wanted = on_one_machine(pattern, default)
    assert [part.rows for part in made] == [3_900, 3_699, 3_900, 2_240]
    parts = sorted((tmp_path / "scores").glob("*.parquet"))
    scored = pl.concat([pl.read_parquet(part) for part in parts])
    assert_frame_equal(scored.sort("pump", "at"), wanted.sort("pump", "at"), check_exact=True)


def test_addresses_of_fsspec_are_read_and_written(lake: Path, random: Path, tmp_path: Path) -> None:
    """Through copies on the workers' disks, since only fsspec knows what lies there."""
    pattern = f"file://{lake}/**/*.parquet"
    made = on_cluster(pattern, random, f"file://{tmp_path}/scores")
    wanted = on_one_machine(f"{lake}/**/*.parquet", random)
    assert names_in(tmp_path / "scores") == [COMPLETE, *(part.name for part in made)]
    scored = pl.concat([pl.read_parquet(tmp_path / "scores" / part.name) for part in made])
    assert_frame_equal(scored.sort("pump", "at"), wanted.sort("pump", "at"), check_exact=True)
