"""Scores of a lake, by the workers of a cluster: the rows and bits of a single machine."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from killing import kill_workers
from lakes import COLUMNS, awkward_lake, rows_of, training_rows
from running import process_runner, runner
from subadjacent import SubAdjacentDetector, load
from subadjacent.data.files import Columns, open_files
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError, SubAdjacentError
from subadjacent.rivals.controls import RandomDetector
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.workflow import lake as module_of_lakes
from subadjacent.workflow import score as workflow
from subadjacent.workflow.lake import (
    COMPLETE,
    Cutting,
    Lake,
    LakePack,
    ModelFiles,
    ScoresFile,
    check_place,
    score_lake,
)
from subadjacent.workflow.packs import PackTable, add_counts

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


def on_cluster(pattern: str, model: Path, output: str, watch: Watch = ignore) -> list[ScoresFile]:
    """In parts of at most 4,000 rows."""
    detector: BaseDetector = load(model)
    lake = Lake.of([pattern], COLUMNS)
    files = ModelFiles.of(model)
    return score_lake(detector, files, lake, output, watch, part_rows=4_000)


def on_one_machine(pattern: str, model: Path) -> pl.DataFrame:
    return workflow.score(load(model), open_files([pattern], COLUMNS))


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def in_parts(table: pl.DataFrame, parts: list[list[str]]) -> list[pl.DataFrame]:
    """What each part should hold: rows of some pumps, as they stand in the files."""
    return [table.filter(pl.col("pump").is_in(pumps)) for pumps in parts]


@pytest.mark.parametrize("kind", ["default", pytest.param("random", marks=pytest.mark.sweep)])
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


def test_entities_are_scored_in_the_chunks_of_one_machine(
    lake: Path, default: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores depend on chunks in their last bits; here several end within each file."""
    pattern = f"{lake}/**/*.parquet"
    for module in (workflow, module_of_lakes):
        monkeypatch.setattr(module, "CHUNK_ROWS", 1_700)
    wanted = on_one_machine(pattern, default)
    model = ModelFiles.of(default)
    found = Lake.of([pattern], COLUMNS)
    counts: dict[str | None, int] = {}
    for place in range(len(found.files)):
        add_counts(counts, found.count(place).items())
    first, second, third, fourth, fifth = counts
    packs = [[first, third], [second, fourth], [fifth]]
    cutting = Cutting(found, PackTable(packs), f"{tmp_path}/pieces", module_of_lakes.CHUNK_ROWS)
    # only the last file has a part for itself
    assert [cutting.cut(place) for place in range(4)] == [None, None, None, 2]
    for number, (names, whole) in enumerate(zip(packs, ((), (), (3,)), strict=True)):
        pack = LakePack(number, sum(counts[name] for name in names), whole)
        part = module_of_lakes._score_pack(cutting, model, str(tmp_path), pack)
        assert_frame_equal(
            pl.read_parquet(tmp_path / part.name),
            wanted.filter(pl.col("pump").is_in(names)),
            check_exact=True,
        )


def test_killed_workers_lose_and_duplicate_nothing(
    lake: Path, default: Path, tmp_path: Path
) -> None:
    """All that cut files are killed after the first file, all that score after the first part."""
    killed: dict[str, list[int]] = {}

    def kill(progress: Progress) -> None:
        # a worker without work is called idle
        if progress.stage in ("sorting", "scoring") and progress.stage not in killed:
            killed[progress.stage] = kill_workers(("ray::_call", "ray::IDLE"))

    pattern = f"{lake}/**/*.parquet"
    made = on_cluster(pattern, default, str(tmp_path / "scores"), watch=kill)
    assert killed["sorting"]
    assert killed["scoring"]
    wanted = on_one_machine(pattern, default)
    assert [part.rows for part in made] == [3_900, 3_699, 3_900, 2_240]
    parts = sorted((tmp_path / "scores").glob("*.parquet"))
    scored = pl.concat([pl.read_parquet(part) for part in parts])
    assert_frame_equal(scored.sort("pump", "at"), wanted.sort("pump", "at"), check_exact=True)


@pytest.mark.sweep
def test_addresses_of_fsspec_are_read_and_written(lake: Path, random: Path, tmp_path: Path) -> None:
    """Through copies on the workers' disks, since only fsspec knows what lies there."""
    pattern = f"file://{lake}/**/*.parquet"
    made = on_cluster(pattern, random, f"file://{tmp_path}/scores")
    wanted = on_one_machine(f"{lake}/**/*.parquet", random)
    assert names_in(tmp_path / "scores") == [COMPLETE, *(part.name for part in made)]
    scored = pl.concat([pl.read_parquet(tmp_path / "scores" / part.name) for part in made])
    assert_frame_equal(scored.sort("pump", "at"), wanted.sort("pump", "at"), check_exact=True)


def test_a_row_that_is_refused_is_named_and_the_scores_are_not_complete(
    lake: Path, random: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "lake"
    shutil.copytree(lake, folder)
    later = folder / "day=2" / "rows.parquet"
    good = pl.read_parquet(later)
    # one row of one pump is a day early
    row = good.with_row_index().filter(pl.col("pump") == "new")["index"][50]
    early = pl.when(pl.int_range(pl.len()) == row).then(pl.col("at") - timedelta(days=1))
    good.with_columns(early.otherwise("at").alias("at")).write_parquet(later)
    output = tmp_path / "scores"
    with pytest.raises(InputError, match=rf"^{later}, row {row + 1}, .*new"):
        on_cluster(f"{folder}/**/*.parquet", random, str(output))
    assert COMPLETE not in names_in(output)
    # what was not finished is done anew in the same place
    good.write_parquet(later)
    made = on_cluster(f"{folder}/**/*.parquet", random, str(output))
    assert names_in(output) == [COMPLETE, *(part.name for part in made)]


def test_files_that_change_meanwhile_are_an_error(tmp_path: Path) -> None:
    """One series without entities, in one part: nothing has to be sorted."""
    model = tmp_path / "model"
    rows = rows_of(1, 500).drop("at")
    RandomDetector().fit(rows).save(model)
    file = tmp_path / "rows.parquet"
    rows.write_parquet(file)

    def add_rows(progress: Progress) -> None:
        if progress.stage == "looking":
            pl.concat([rows, rows]).write_parquet(file)

    with pytest.raises(SubAdjacentError, match="part 0 had 500 rows and has 1,000 now"):
        score_lake(
            load(model),
            ModelFiles.of(model),
            Lake.of([str(file)], Columns()),
            str(tmp_path / "scores"),
            add_rows,
        )
    assert names_in(tmp_path) == ["model", "rows.parquet"]


@pytest.mark.parametrize("protocol", ["", "file://"])
def test_a_folder_that_holds_something_else_is_refused(protocol: str, tmp_path: Path) -> None:
    folder = f"{protocol}{tmp_path}"
    check_place(folder)
    check_place(f"{folder}/new/one")
    (tmp_path / "_pieces").mkdir()
    (tmp_path / "part-00001.parquet").touch()
    (tmp_path / ".part-00002.parquet.0123abcd").touch()
    check_place(folder)
    (tmp_path / "mine.txt").touch()
    rule = rf"^{folder} must be a new or an empty folder, or hold scores that were not finished; "
    with pytest.raises(InputError, match=rf"{rule}it holds 'mine.txt': name another, or delete it"):
        check_place(folder)
    (tmp_path / COMPLETE).touch()
    with pytest.raises(InputError, match=rf"{rule}it holds finished ones: "):
        check_place(folder)
    with pytest.raises(InputError, match=r"/mine.txt must be .*; it is a file: "):
        check_place(f"{folder}/mine.txt")


def test_the_command_scores_a_lake(lake: Path, default: Path, tmp_path: Path) -> None:
    command = runner(tmp_path)
    pattern = f"{lake}/**/*.parquet"
    common = ("score", default, pattern, "--entity", "pump")
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
    lake: Path, random: Path, tmp_path: Path
) -> None:
    command = runner(tmp_path)
    files = f"{lake}/**/*.parquet"
    for output in ((), ("-o", "scores.csv"), ("-o", "scores.parquet")):
        done = command("score", random, files, "--engine", "ray", *output, code=2)
        assert "must be a folder with --engine ray" in done.stderr
    done = command("score", random, "-", "--engine", "ray", "-o", "scores", code=2)
    assert "a cluster reads files, not standard input" in done.stderr
    done = command("score", random, "no/*.parquet", "--engine", "ray", "-o", "new", code=1)
    assert (
        done.stderr == "error: no file matches 'no/*.parquet'; check the folder and the pattern\n"
    )
    assert names_in(tmp_path) == []


@pytest.mark.sweep
def test_the_command_starts_a_cluster_of_its_own_where_there_is_none(
    lake: Path, random: Path, tmp_path: Path
) -> None:
    """In a process that is not connected to one; nothing but results is on standard output."""
    files = lake / "single" / "alone.parquet"
    common = ("score", random, files, "--entity", "pump", "-q")
    done = process_runner(tmp_path)(*common, "--engine", "ray", "-o", "scores")
    assert done.stdout == ""
    wanted = on_one_machine(str(files), random)
    made = pl.read_parquet(tmp_path / "scores" / "part-00000.parquet")
    assert_frame_equal(made, wanted, check_exact=True)
