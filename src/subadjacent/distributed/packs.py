"""Entities in packs: each is the work of one task, large enough to take seconds.

Where a column says whose a row is, rows may stand in any order. They are laid out once, in pieces
on disk, each of one pack; no more than some of them are ever in memory. Where each file is an
entity, a pack is a list of files, and nothing is copied.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subadjacent.data.files import ENTITY
from subadjacent.durable import whole_file
from subadjacent.runtime import Progress, Watch, ignore

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows

PACK_ROWS = 100_000
"""Rows of a pack: 500 entities of 200 rows, some five seconds of one core."""

PACK_BYTES = 5_000_000
"""Size of the files of a pack: about as many rows of CSV with a time and three channels."""

READ_ROWS = 100_000
"""Rows that are read at a time when they are laid out."""

HELD_ROWS = 1_000_000
"""Rows that are held until they are written: a piece of each pack then has many of them."""

LAYOUT = "layout.json"
"""The file that says that all rows are laid out, and where."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Some entities, and the files that hold their rows.

    Parameters
    ----------
    number
        Its place among all packs.
    entities
        How many there are.
    files
        Pieces that were laid out, in the order of their rows, or files that are an entity each.
    laid_out
        Whether the files are such pieces.
    """

    number: int
    entities: int
    files: tuple[str, ...]
    laid_out: bool


def packs_of_files(files: Sequence[str]) -> list[Pack]:
    """Files that are an entity each, in their order, about ``PACK_BYTES`` together."""
    sizes = {file: Path(file).stat().st_size for file in files}
    return [
        Pack(number, len(group), tuple(group), laid_out=False)
        for number, group in enumerate(_groups(sizes, PACK_BYTES))
    ]


def lay_out(rows: Rows, folder: Path, watch: Watch = ignore) -> list[Pack]:
    """Write the rows of files to a folder, pack by pack, unless an earlier run has done so.

    Entities of equal length share a pack, as those of one shape are fitted together.
    """
    layout = folder / LAYOUT
    if layout.exists():
        return [
            Pack(**{**pack, "files": tuple(pack["files"])})
            for pack in json.loads(layout.read_text())
        ]
    # half of it may be there, from a run that was ended
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    by_length = dict(sorted(_lengths(rows).items(), key=lambda item: item[1]))
    groups = _groups(by_length, PACK_ROWS)
    pieces = _write_pieces(rows, groups, folder, watch)
    packs = [
        Pack(number, len(group), tuple(pieces[number]), laid_out=True)
        for number, group in enumerate(groups)
    ]
    with whole_file(layout) as unfinished:
        unfinished.write_text(json.dumps([asdict(pack) for pack in packs]))
    return packs


def _lengths(rows: Rows) -> dict[str, int]:
    """How many rows each entity has, in the order in which they first come."""
    lengths: dict[str, int] = {}
    for _, names in rows.named_blocks(READ_ROWS, names_only=True):
        counted = names.alias(ENTITY).to_frame().group_by(ENTITY, maintain_order=True).len()
        for name, count in counted.rows():
            lengths[name] = lengths.get(name, 0) + count
    return lengths


def read_pieces(pack: Pack) -> pl.DataFrame:
    """The rows of a pack that was laid out, those of each entity in their order."""
    import polars as pl

    return pl.concat([pl.read_ipc(piece) for piece in pack.files])


def _write_pieces(
    rows: Rows, groups: Sequence[Sequence[str]], folder: Path, watch: Watch
) -> list[list[str]]:
    """The names of the pieces of each group, in the order of the rows in them."""
    import polars as pl

    number_of = pl.DataFrame(
        {
            ENTITY: [name for group in groups for name in group],
            PACK: [number for number, group in enumerate(groups) for _ in group],
        },
        schema={ENTITY: pl.String, PACK: pl.Int64},
    )
    pieces: list[list[str]] = [[] for _ in groups]
    held: list[pl.DataFrame] = []
    done, total = 0, rows.count

    def write() -> None:
        together = pl.concat(held)
        held.clear()
        for rows_of_pack in together.partition_by(PACK, maintain_order=True):
            number = rows_of_pack[PACK][0]
            piece = folder / f"{number:06d}-{len(pieces[number]):04d}.arrow"
            rows_of_pack.drop(PACK).write_ipc(piece)
            pieces[number].append(str(piece))

    for chunk in rows.chunks(READ_ROWS, labels="skip"):
        held.append(chunk.frame.join(number_of, on=ENTITY, how="left", maintain_order="left"))
        done += len(chunk)
        if sum(map(len, held)) >= HELD_ROWS:
            write()
        watch(Progress("reading", done, max(total, done), "rows"))
    if held:
        write()
    return pieces


# no file has such a column
PACK = "\x00pack"


def _groups(sizes: Mapping[str, int], most: int) -> list[list[str]]:
    """Names in their order, in groups whose sizes add up to about ``most``; none is empty."""
    groups: list[list[str]] = []
    room = 0
    for name, size in sizes.items():
        if room <= 0:
            groups.append([])
            room = most
        groups[-1].append(name)
        room -= size
    return groups
