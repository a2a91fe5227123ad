"""Files sorted by entity: which are packed together, what is cut, and what is refused."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from subadjacent.data.files import Columns
from subadjacent.errors import DataNotFound, InputError
from subadjacent.workflow.lake import ROW, Cutting, Lake, LakeFile
from subadjacent.workflow.packs import PackTable

COLUMNS = Columns(time="at", entity="pump")
START = datetime(2026, 1, 1)


def write(path: Path, pumps: list[str], first: int = 0, **columns: object) -> None:
    """A row for each name, a minute apart."""
    rows = range(first, first + len(pumps))
    own = {"at": [START + timedelta(minutes=row) for row in rows], "pump": pumps}
    table = own | {"x": [float(row) for row in rows]} | columns
    pl.DataFrame(table).write_parquet(path)


@pytest.fixture
def days(tmp_path: Path) -> Path:
    """Two files of two pumps each, and one of a single pump."""
    write(tmp_path / "1.parquet", ["a", "b", "a", "a"])
    write(tmp_path / "2.parquet", ["b", "c", "b"], first=4)
    write(tmp_path / "3.parquet", ["c", "c"], first=7)
    return tmp_path


def opened(folder: Path, columns: Columns = COLUMNS) -> Lake:
    return Lake.of([f"{folder}/*.parquet"], columns)


def test_the_rows_of_each_entity_are_counted(days: Path) -> None:
    lake = opened(days)
    assert [lake.count(place) for place in range(3)] == [
        {"a": 3, "b": 1},
        {"b": 2, "c": 1},
        {"c": 2},
    ]


def test_rows_without_entities_are_all_of_one(tmp_path: Path) -> None:
    times = [START, START + timedelta(minutes=1)]
    pl.DataFrame({"at": times, "x": [1.0, 2.0]}).write_parquet(tmp_path / "1.parquet")
    assert opened(tmp_path, Columns(time="at")).count(0) == {None: 2}


def test_a_file_is_cut_by_pack_where_a_machine_would_end_its_chunks(
    days: Path, tmp_path: Path
) -> None:
    lake = opened(days)
    cutting = Cutting(lake, PackTable([["a", "b"], ["c"]]), f"{tmp_path}/pieces", chunk=2)
    # all rows of the first file are of one pack, as are those of the last
    assert [cutting.cut(place) for place in range(3)] == [0, None, 1]
    pieces = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.glob("pieces/*/*"))
    assert pieces == [
        "pieces/00000000/00000001-00000000.parquet",
        "pieces/00000000/00000001-00000001.parquet",
        "pieces/00000001/00000001-00000000.parquet",
    ]
    first, second = cutting.files_of(0, [0])
    assert isinstance(first, LakeFile)
    assert first.name == f"{days}/1.parquet"
    blocks = list(second.blocks(2, ("x", "pump")))
    assert [block.frame.rows() for block in blocks] == [[(4.0, "b")], [(6.0, "b")]]
    # messages name the file that was cut, and the row in it
    assert [block.place(0) for block in blocks] == [
        f"{days}/2.parquet, row 1",
        f"{days}/2.parquet, row 3",
    ]
    frame = pl.concat([part.frame for part in lake.rows.over(cutting.files_of(1, [2])).chunks(9)])
    assert frame["item_id"].to_list() == ["c", "c", "c"]
    assert frame["x"].to_list() == [5.0, 7.0, 8.0]


def test_cutting_again_changes_nothing(days: Path, tmp_path: Path) -> None:
    cutting = Cutting(
        opened(days), PackTable([["a"], ["b"], ["c"]]), f"{tmp_path}/pieces", chunk=100
    )
    cutting.cut(0)
    before = {file: file.read_bytes() for file in tmp_path.glob("pieces/*/*")}
    assert len(before) == 2
    cutting.cut(0)
    assert {file: file.read_bytes() for file in tmp_path.glob("pieces/*/*")} == before


def test_a_piece_keeps_only_what_scores_depend_on(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", ["a", "b"], note=["long", "text"])
    columns = Columns(time="at", entity="pump", only=("x",))
    cutting = Cutting(
        opened(tmp_path, columns), PackTable([["a"], ["b"]]), f"{tmp_path}/pieces", chunk=9
    )
    cutting.cut(0)
    piece = pl.read_parquet(tmp_path / "pieces/00000000/00000000-00000000.parquet")
    assert sorted(piece.columns) == sorted(["at", "pump", "x", ROW])


def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    for pattern in (f"{tmp_path}/*.parquet", f"file://{tmp_path}/*.parquet"):
        with pytest.raises(DataNotFound, match=r"^no file matches '.*\*\.parquet'; check the"):
            Lake.of([pattern], COLUMNS)


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(InputError, match=r"^nowhere://x must be an address that fsspec knows; "):
        Lake.of(["nowhere://x"], COLUMNS)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("at,pump,x\n2026-01-01,a,1\n")
    with pytest.raises(InputError, match=r"1\.csv must be a whole Parquet file; "):
        Lake.of([f"{tmp_path}/*.csv"], COLUMNS)
    with pytest.raises(DataNotFound, match=r"2\.parquet is not there"):
        Lake.of([f"{tmp_path}/2.parquet"], COLUMNS)


def test_files_with_other_columns_are_refused(days: Path) -> None:
    write(days / "2.parquet", ["a"], y=[1.0])
    with pytest.raises(InputError, match=r"2\.parquet must have the same columns as .*1\.parquet"):
        opened(days).count(1)


def test_files_whose_times_are_written_otherwise_are_refused(days: Path) -> None:
    write(days / "2.parquet", ["a"], at=[1_767_225_600])
    with pytest.raises(
        InputError,
        match=r"2\.parquet must write times in column 'at' as .*1\.parquet does; "
        r"got seconds since 1970, in UTC instead of dates without a time zone: write them alike",
    ):
        opened(days).count(1)


def test_channels_of_fewer_bits_in_the_first_file_alone_are_refused(tmp_path: Path) -> None:
    """On one machine all would have 64; workers cannot know it before they read."""
    write(tmp_path / "1.parquet", ["a"], x=pl.Series([1.0], dtype=pl.Float32))
    write(tmp_path / "2.parquet", ["a"], first=1)
    lake = opened(tmp_path)
    with pytest.raises(InputError, match=r"2\.parquet must have channels of the same types as"):
        lake.count(1)
    # the other way round all have 64 here, too
    lake = Lake.of([f"{tmp_path}/2.parquet", f"{tmp_path}/1.parquet"], COLUMNS)
    assert lake.count(1) == {"a": 1}
