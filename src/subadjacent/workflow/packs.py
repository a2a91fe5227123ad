"""Packs of entities: the units of work of fleets and lakes.

Rows of an entity may stand anywhere in the files. Entities are grouped into packs, and each pack's
rows are copied into pieces on disk, so that one worker reads only what it needs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from subadjacent.data.files import ENTITY
from subadjacent.durable import whole_file
from subadjacent.errors import SubAdjacentError
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.showing import listed

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows

Name = TypeVar("Name")

PACK_BYTES = 5_000_000
"""Size of the files of a pack: about as many rows of CSV with a time and three channels."""

PACK = "\x00pack"
"""Column of pack numbers; no file has such a column."""

LAYOUT = "layout.json"
"""The file that lists all packs, written when all rows are in their pieces."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Some entities, and the files that hold their rows.

    Parameters
    ----------
    number
        Its place among all packs.
    entities
        Number of entities.
    files
        Pieces, in the order of their rows, or files that are an entity each.
    laid_out
        Whether the files are pieces.
    """

    number: int
    entities: int
    files: tuple[str, ...]
    laid_out: bool


def group(sizes: Mapping[Name, int], limit: int) -> list[list[Name]]:
    """Names in their order, in groups whose sizes add up to ``limit`` at most.

    A name whose size exceeds the limit has a group of its own.
    """
    groups: list[list[Name]] = []
    held = 0
    for name, size in sizes.items():
        if not groups or (held and held + size > limit):
            groups.append([])
            held = 0
        groups[-1].append(name)
        held += size
    return groups


def packs_of_files(files: Sequence[str]) -> list[Pack]:
    """Files that are an entity each, in their order, about ``PACK_BYTES`` together."""
    sizes = {file: Path(file).stat().st_size for file in files}
    return [
        Pack(number, len(own), tuple(own), laid_out=False)
        for number, own in enumerate(group(sizes, PACK_BYTES))
    ]


def lay_out(
    rows: Rows,
    folder: Path,
    limit: int,
    chunk: int,
    watch: Watch = ignore,
    *,
    by_length: bool = False,
) -> list[Pack]:
    """Copy the rows of files into the pieces of packs, unless an earlier run has done so.

    Parameters
    ----------
    rows
        From ``open_files``.
    folder
        Gets the pieces, each with the rows of a pack in one chunk.
    limit
        Rows of a pack, but for an entity with more.
    chunk
        Rows that are read at a time.
    watch
        Called as work goes on.
    by_length
        Put entities of equal length into one pack, as those of one shape are fitted together;
        else they come in the order of their first rows.
    """
    layout = folder / LAYOUT
    if layout.exists():
        return [
            Pack(**{**pack, "files": tuple(pack["files"])})
            for pack in json.loads(layout.read_text())
        ]
    # an interrupted run may have left some pieces
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    counts = count_rows(rows, chunk)
    order = sorted(counts, key=lambda name: counts[name]) if by_length else list(counts)
    groups = group({name: counts[name] for name in order}, limit)
    pieces = _write_pieces(rows, groups, folder, watch, chunk)
    packs = [
        Pack(number, len(own), tuple(pieces[number]), laid_out=True)
        for number, own in enumerate(groups)
    ]
    with whole_file(layout) as draft:
        draft.write_text(json.dumps([asdict(pack) for pack in packs]))
    return packs


def count_rows(rows: Rows, chunk: int) -> dict[str | None, int]:
    """The number of rows of each entity, in the order of their first rows.

    None names the only entity of files without a column of entities, whose rows are not counted.
    """
    if rows.entity is None:
        return {None: 0}
    counts: dict[str | None, int] = {}
    for names in rows.entity_names(chunk):
        unique = names.unique(maintain_order=True)
        for name, count in zip(unique, names.unique_counts(), strict=True):
            counts[name] = counts.get(name, 0) + count
    return counts


def _write_pieces(
    rows: Rows, groups: Sequence[Sequence[str | None]], folder: Path, watch: Watch, chunk: int
) -> list[list[str]]:
    """Write every row to a piece of its pack; the pieces of each pack in the rows' order."""
    numbers = {name: number for number, names in enumerate(groups) for name in names}
    pieces: list[list[str]] = [[] for _ in groups]
    done, total = 0, rows.count
    for part in rows.chunks(chunk, labels="skip"):
        for number, piece in _by_pack(part.frame, numbers):
            own = pieces[number]
            own.append(str(folder / f"{number:06d}-{len(own):04d}.arrow"))
            piece.write_ipc(own[-1], compression="lz4")
        done += len(part)
        watch(Progress("reading", done, max(total, done), "rows"))
    return pieces


def _by_pack(
    frame: pl.DataFrame, numbers: Mapping[str | None, int]
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Pack number and rows of every pack in a frame."""
    import polars as pl

    if ENTITY not in frame.columns:
        yield 0, frame
        return
    try:
        numbered = frame.with_columns(
            pl.col(ENTITY).replace_strict(numbers, return_dtype=pl.Int64).alias(PACK)
        )
    except pl.exceptions.InvalidOperationError as error:
        new = sorted(set(frame[ENTITY]).difference(numbers))
        raise SubAdjacentError(
            f"the files changed while they were read: {listed(new)} came in; start again when "
            f"nobody writes to them"
        ) from error
    for part in numbered.partition_by(PACK, maintain_order=True):
        yield part[PACK][0], part.drop(PACK)


def read_pieces(pack: Pack) -> Iterator[pl.DataFrame]:
    """The rows of a pack that was laid out, those of each entity in their order."""
    import polars as pl

    return (pl.read_ipc(piece) for piece in pack.files)
