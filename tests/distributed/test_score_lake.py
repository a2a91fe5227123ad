"""Scores of a lake, by the workers of a cluster: the rows and bits of a single machine."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import polars as pl
import pytest
from lakes import COLUMNS, awkward_lake, training_rows
from polars.testing import assert_frame_equal

from subadjacent import SubAdjacentDetector
from subadjacent.data.files import open_files
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.rivals.random import RandomDetector
from subadjacent.distributed.lake import Lake
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


def on_cluster(pattern: str, model: Path, output: str, rows_of_part: int = 4_000) -> list[Part]:
    from subadjacent import load

    detector: BaseDetector = load(model)
    lake = Lake.of([pattern], COLUMNS)
    return score_lake(detector, ModelFiles.of(model), lake, output, rows_of_part=rows_of_part)


def on_one_machine(pattern: str, model: Path) -> pl.DataFrame:
    from subadjacent import load

    return workflow.score(load(model), open_files([pattern], COLUMNS))


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
    assert sorted(file.name for file in (tmp_path / "scores").iterdir()) == [
        COMPLETE,
        *(part.name for part in made),
    ]
    said = json.loads((tmp_path / "scores" / COMPLETE).read_text())
    assert said == {"rows": len(wanted), "parts": {part.name: part.rows for part in made}}
