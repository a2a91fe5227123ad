"""Scores of a lake, pack by pack: the rows and bits of a single ``score``."""

from __future__ import annotations

import json
import logging
import shutil
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from lakes import COLUMNS, awkward_lake, training_rows
from subadjacent import SubAdjacentDetector, load
from subadjacent.data.files import open_files
from subadjacent.errors import InputError, SubAdjacentError
from subadjacent.rivals.controls import RandomDetector
from subadjacent.runtime import Progress, in_turn
from subadjacent.workflow import lake as module_of_lakes
from subadjacent.workflow import score as workflow
from subadjacent.workflow.lake import COMPLETE, ScoresFile, check_place, score_lake

PARTS = [["long"], ["gaps"], ["new"], ["short", "alone"]]
"""Pumps of each part of at most 4,000 rows."""


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("lake")
    awkward_lake(folder)
    return f"{folder}/**/*.parquet"


@pytest.fixture(scope="session")
def random(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that scores all rows at once."""
    folder = tmp_path_factory.mktemp("models") / "random"
    RandomDetector().fit(training_rows()).save(folder)
    return folder


def in_packs(pattern: str, model: Path, output: Path, **options: object) -> list[ScoresFile]:
    rows = open_files([pattern], COLUMNS)
    return score_lake(model, rows, output, part_rows=4_000, spread=in_turn, **options)  # type: ignore[arg-type]


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("chunk", [workflow.CHUNK_ROWS, 1_700])
def test_a_lake_is_scored_to_the_bits_of_one_score(
    pattern: str,
    random: Path,
    chunk: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Entities over several files, alone in one, few rows, gaps, NaN, unseen; all rows at once.

    Scores depend on chunks in their last bits; of 1,700 rows, several end within each file.
    """
    for module in (workflow, module_of_lakes):
        monkeypatch.setattr(module, "CHUNK_ROWS", chunk)
    SubAdjacentDetector().fit(training_rows()).save(tmp_path / "default")
    for model in (tmp_path / "default", random):
        output = tmp_path / "scores" / model.name
        caplog.clear()
        with caplog.at_level(logging.WARNING, "subadjacent.workflow"):
            parts = in_packs(pattern, model, output)
        assert "1 entity was not seen in fitting: new" in caplog.messages
        wanted = workflow.score(load(model), open_files([pattern], COLUMNS))
        assert sum(part.rows for part in parts) == len(wanted)
        for part, pumps in zip(parts, PARTS, strict=True):
            expected = wanted.filter(pl.col("pump").is_in(pumps))
            assert part.rows == len(expected)
            assert_frame_equal(pl.read_parquet(output / part.name), expected, check_exact=True)
        assert sum(part.anomalous for part in parts) == wanted["anomalous"].sum() > 0
        assert names_in(output) == [
            COMPLETE,
            *(f"part-0000{number}.parquet" for number in range(4)),
        ]
        assert json.loads((output / COMPLETE).read_text()) == {
            "rows": len(wanted),
            "parts": {part.name: part.rows for part in parts},
        }


def test_rows_without_entities_are_one_part_of_any_kind_of_file(tmp_path: Path) -> None:
    rows = training_rows().select("a", "b")
    RandomDetector().fit(rows).save(tmp_path / "model")
    rows.write_csv(tmp_path / "rows.csv")
    opened = open_files([str(tmp_path / "rows.csv")])
    (part,) = score_lake(tmp_path / "model", opened, tmp_path / "out", spread=in_turn)
    table = pl.read_parquet(tmp_path / "out" / part.name)
    assert_frame_equal(table, workflow.score(load(tmp_path / "model"), opened), check_exact=True)


def test_a_row_that_is_refused_is_named_and_the_scores_are_not_complete(
    pattern: str, random: Path, tmp_path: Path
) -> None:
    folder, output = tmp_path / "lake", tmp_path / "scores"
    shutil.copytree(pattern.partition("/**")[0], folder)
    later = folder / "day=2" / "rows.parquet"
    good = pl.read_parquet(later)
    # one row of one pump is a day early
    row = good.with_row_index().filter(pl.col("pump") == "new")["index"][50]
    early = pl.when(pl.int_range(pl.len()) == row).then(pl.col("at") - timedelta(days=1))
    good.with_columns(early.otherwise("at").alias("at")).write_parquet(later)
    with pytest.raises(InputError, match=rf"^{later}, row {row + 1}, .*new"):
        in_packs(f"{folder}/**/*.parquet", random, output)
    assert COMPLETE not in names_in(output)
    # what was not finished is done anew in the same place
    (output / "part-00077.parquet").touch()
    good.write_parquet(later)
    parts = in_packs(f"{folder}/**/*.parquet", random, output)
    assert names_in(output) == [COMPLETE, *(part.name for part in parts)]


def test_entities_that_come_in_meanwhile_are_an_error(
    pattern: str, random: Path, tmp_path: Path
) -> None:
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    day = pl.read_parquet(pattern)[:3_000]
    for file in files:
        day.write_parquet(file)

    def add(_: Progress) -> None:
        day[:1].with_columns(pump=pl.lit("late")).write_parquet(files[1])

    with pytest.raises(SubAdjacentError, match=r"^the files changed while .*: late came in; start"):
        in_packs(f"{tmp_path}/*.parquet", random, tmp_path / "scores", watch=add)


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_pieces").mkdir()
    (tmp_path / "part-00001.parquet").touch()
    for draft in (".part-00002.parquet.0123abcd", f".{COMPLETE}.0123abcd"):
        (tmp_path / draft).touch()
    check_place(tmp_path)
    check_place(tmp_path / "new" / "one")
    (tmp_path / "mine.txt").touch()
    rule = rf"^{tmp_path} must be a new or an empty folder, or hold scores that were not finished; "
    with pytest.raises(InputError, match=rf"{rule}it holds mine.txt: name another folder"):
        check_place(tmp_path)
    (tmp_path / COMPLETE).touch()
    with pytest.raises(InputError, match=rf"{rule}it holds finished ones: "):
        check_place(tmp_path)
    with pytest.raises(InputError, match=r"/mine.txt must be .*; it is a file: "):
        check_place(tmp_path / "mine.txt")
