"""Scores of files: those of the library, whatever the order of entities and the parts."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from counting import calls
from subadjacent.data.files import open_files
from subadjacent.runtime import Progress
from subadjacent.workflow.score import score
from workflow.level import LevelDetector


def fleet(entities: int, rows: int) -> pl.DataFrame:
    """Rows of all entities in turn, as machines report them."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "item_id": [f"m{number}" for _ in range(rows) for number in range(entities)],
            "flow": rng.normal(size=entities * rows),
            "heat": rng.normal(size=entities * rows),
        }
    )


def path_of(frame: pl.DataFrame, folder: Path) -> list[str]:
    frame.write_csv(folder / "fleet.csv")
    return [str(folder / "fleet.csv")]


@pytest.mark.parametrize(("chunk", "whole"), [(7, False), (100, False), (7, True)])
def test_scores_are_those_of_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, whole: bool
) -> None:
    monkeypatch.setattr("subadjacent.workflow.score.CHUNK_ROWS", chunk)
    monkeypatch.setattr("subadjacent.workflow.score.MIN_ROWS", 5)
    frame = fleet(entities=3, rows=60)
    detector = LevelDetector(whole=whole).fit(frame[:90])
    told: list[Progress] = []
    table = score(detector, open_files(path_of(frame, tmp_path)), told.append)
    assert table.columns == ["item_id", "score", "normalized_score", "anomalous"]
    assert table["item_id"].equals(frame["item_id"])
    assessment = detector.assess(frame)
    np.testing.assert_allclose(table["score"], assessment.scores, rtol=1e-12)
    np.testing.assert_allclose(table["normalized_score"], assessment.normalized_scores, rtol=1e-9)
    assert table["anomalous"].to_list() == assessment.anomalous.to_list()
    assert told[-1] == Progress("scoring", 180, 180, "rows")


def test_work_grows_with_the_rows_and_not_with_entities_times_rows(tmp_path: Path) -> None:
    """Rows of each entity are few, so that each is assessed once."""

    def work(entities: int) -> int:
        frame = fleet(entities, rows=10)
        detector = LevelDetector().fit(frame)
        rows = open_files(path_of(frame, tmp_path))
        return calls(lambda: score(detector, rows))

    # what grows with their product would be sixteen times as much
    assert work(400) < 5 * work(100)


def test_some_of_the_unseen_entities_are_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for entities, names in ((4, "m1, m2, m3"), (9, "m1, m2, m3, m4, m5 and 3 more")):
        frame = fleet(entities, rows=20)
        detector = LevelDetector().fit(frame.filter(pl.col("item_id") == "m0"))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            score(detector, open_files(path_of(frame, tmp_path)))
        (remark,) = [one for one in caplog.messages if "in all" in one]
        assert remark == f"{entities - 1} entities in all were not seen in fitting: {names}"


def test_labels_come_along_and_change_nothing(tmp_path: Path) -> None:
    frame = fleet(entities=2, rows=30).with_columns(label=pl.Series([0, 1] * 30))
    bare = frame.drop("label")
    detector = LevelDetector().fit(bare)
    table = score(detector, open_files(path_of(frame, tmp_path)))
    assert table["label"].to_list() == [0, 1] * 30
    assert table.drop("label").equals(score(detector, open_files(path_of(bare, tmp_path))))
