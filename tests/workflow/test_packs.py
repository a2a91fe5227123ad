"""Rows of many entities in packs, whatever their order."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from subadjacent.data.files import ENTITY, open_files
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.workflow import packs
from subadjacent.workflow.packs import (
    Pack,
    count_rows,
    group,
    lay_out,
    packs_of_files,
    read_pieces,
)

LENGTHS = {"press": 3, "drill": 2, "saw": 3, "lathe": 2}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Rows of four machines as they were measured: those of one moment together."""
    rows = [
        {"time": f"2026-01-01T0{moment}:00", "item_id": name, "flow": 10.0 * moment + number}
        for moment in range(3)
        for number, (name, length) in enumerate(LENGTHS.items())
        if moment < length
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "plant.csv")
    return str(tmp_path / "plant.csv")


def laid_out(path: str, folder: Path, watch: Watch = ignore) -> list[Pack]:
    """Packs of six rows, two of them read at a time."""
    return lay_out(open_files([path]), folder, 6, 2, watch, by_length=True)


def flows(pack: Pack) -> dict[str, list[float]]:
    rows = pl.concat(read_pieces(pack))
    return {
        name: rows.filter(pl.col(ENTITY) == name)["flow"].to_list()
        for name in rows[ENTITY].unique(maintain_order=True)
    }


def test_entities_of_one_length_come_together_and_rows_stay_in_order(
    path: str, tmp_path: Path
) -> None:
    told: list[Progress] = []
    found = laid_out(path, tmp_path / "rows", told.append)
    assert [flows(pack) for pack in found] == [
        {"drill": [1.0, 11.0], "lathe": [3.0, 13.0]},
        {"press": [0.0, 10.0, 20.0], "saw": [2.0, 12.0, 22.0]},
    ]
    assert [(pack.number, pack.entities, pack.laid_out) for pack in found] == [
        (0, 2, True),
        (1, 2, True),
    ]
    # of ten rows, two at a time, four have one of this pack
    assert len(found[0].files) == 4
    assert (told[-1].done, told[-1].stage, told[-1].unit) == (10, "reading", "rows")


def test_names_are_grouped_in_their_order_up_to_a_limit() -> None:
    sizes = {"a": 3, "b": 3, "c": 3, "long": 9, "d": 1}
    assert group(sizes, limit=6) == [["a", "b"], ["c"], ["long"], ["d"]]
    assert group({"long": 9, "d": 1}, limit=6) == [["long"], ["d"]]


def test_entities_come_in_the_order_of_their_first_rows_and_rows_of_one_chunk_in_one_piece(
    path: str, tmp_path: Path
) -> None:
    assert count_rows(open_files([path]), 3) == LENGTHS
    packs = lay_out(open_files([path]), tmp_path / "rows", 5, 4)
    assert [list(flows(pack)) for pack in packs] == [["press", "drill"], ["saw", "lathe"]]
    # ten rows, four at a time: three chunks have rows of each
    assert [len(piece) for piece in read_pieces(packs[0])] == [2, 2, 1]


def test_what_was_laid_out_is_not_laid_out_again(path: str, tmp_path: Path) -> None:
    first = laid_out(path, tmp_path / "rows")
    Path(first[0].files[0]).write_bytes(b"")
    assert laid_out(path, tmp_path / "rows") == first
    assert Path(first[0].files[0]).read_bytes() == b""


def test_half_a_layout_is_done_again(path: str, tmp_path: Path) -> None:
    first = laid_out(path, tmp_path / "rows")
    (tmp_path / "rows" / packs.LAYOUT).unlink()
    (tmp_path / "rows" / "000000-0099.arrow").write_bytes(b"half")
    again = laid_out(path, tmp_path / "rows")
    assert again == first
    assert not (tmp_path / "rows" / "000000-0099.arrow").exists()


def test_files_are_packed_by_their_size_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "PACK_BYTES", 5)
    names = []
    for number, size in enumerate((3, 2, 9, 1, 4)):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(bytes(size))
        names.append(str(path))
    assert packs_of_files(names) == [
        Pack(0, 2, tuple(names[:2]), laid_out=False),
        Pack(1, 1, tuple(names[2:3]), laid_out=False),
        Pack(2, 2, tuple(names[3:]), laid_out=False),
    ]
