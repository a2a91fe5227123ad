"""Rows of many entities in packs, whatever their order."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from subadjacent.data.files import ENTITY, open_files
from subadjacent.runtime import Progress
from subadjacent.workflow import packs
from subadjacent.workflow.packs import Pack, add_counts, group, lay_out, packs_of_files, read_pieces

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


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packs of six rows, written after every two."""
    monkeypatch.setattr(packs, "PACK_ROWS", 6)
    monkeypatch.setattr(packs, "READ_ROWS", 1)
    monkeypatch.setattr(packs, "HELD_ROWS", 2)


def flows(pack: Pack) -> dict[str, list[float]]:
    rows = read_pieces(pack)
    return {
        name: rows.filter(pl.col(ENTITY) == name)["flow"].to_list()
        for name in rows[ENTITY].unique(maintain_order=True)
    }


@pytest.mark.usefixtures("small")
def test_entities_of_one_length_come_together_and_rows_stay_in_order(
    path: str, tmp_path: Path
) -> None:
    told: list[Progress] = []
    found = lay_out(open_files([path]), tmp_path / "rows", told.append)
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


def test_counts_add_up() -> None:
    counts: dict[str | None, int] = {"a": 1}
    add_counts(counts, [("b", 5), ("a", 2)])
    assert list(counts.items()) == [("a", 3), ("b", 5)]


def test_a_pack_is_as_large_as_asked_for(path: str, tmp_path: Path) -> None:
    (whole,) = lay_out(open_files([path]), tmp_path / "rows")
    assert (whole.entities, len(whole.files)) == (4, 1)
    assert len(read_pieces(whole)) == 10


@pytest.mark.usefixtures("small")
def test_what_was_laid_out_is_not_laid_out_again(path: str, tmp_path: Path) -> None:
    rows = open_files([path])
    first = lay_out(rows, tmp_path / "rows")
    Path(first[0].files[0]).write_bytes(b"")
    assert lay_out(rows, tmp_path / "rows") == first
    assert Path(first[0].files[0]).read_bytes() == b""


@pytest.mark.usefixtures("small")
def test_half_a_layout_is_done_again(path: str, tmp_path: Path) -> None:
    rows = open_files([path])
    first = lay_out(rows, tmp_path / "rows")
    (tmp_path / "rows" / packs.LAYOUT).unlink()
    (tmp_path / "rows" / "000000-0099.arrow").write_bytes(b"half")
    again = lay_out(rows, tmp_path / "rows")
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
