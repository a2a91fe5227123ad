"""Packs of entities: the units of work of fleets and lakes.

Rows of an entity may stand anywhere in the files. Entities are grouped into packs, and each pack's
rows are copied into pieces on disk, so that one worker reads only what it needs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from subadjacent.data.files import ENTITY
from subadjacent.durable import whole_file
from subadjacent.runtime import Progress, Watch, ignore

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows

Name = TypeVar("Name")

PACK_ROWS = 100_000
"""Rows of a fleet's pack: 500 entities of 200 rows, some five seconds of one core."""

PACK_BYTES = 5_000_000
"""Size of the files of a pack: about as many rows of CSV with a time and three channels."""

READ_ROWS = 100_000
"""Rows that are read at a time."""

HELD_ROWS = 1_000_000
"""Rows that are held until they are written: each pack's piece then has many of them."""

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
        How many there are.
    files
        Pieces, in the order of their rows, or files that are an entity each.
    laid_out
        Whether the files are pieces.
    """

    number: int
    entities: int
    files: tuple[str, ...]
    laid_out: bool


def count_rows(rows: Rows) -> dict[str | None, int]:
    """The number of rows of each entity, in the order of their first rows."""
    counts: dict[str | None, int] = {}
    for _, names in rows.named_blocks(READ_ROWS, names_only=True):
        unique = names.unique(maintain_order=True)
        add_counts(counts, zip(unique, names.unique_counts(), strict=True))
    return counts


def add_counts(counts: dict[str | None, int], more: Iterable[tuple[str | None, int]]) -> None:
    """Add the rows of some entities to ``counts``."""
    for name, rows in more:
        counts[name] = counts.get(name, 0) + rows


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


class PackTable:
    """The pack number of each entity, for whole frames at a time."""

    def __init__(self, packs: Sequence[Sequence[str | None]]) -> None:
        import polars as pl

        numbers = [(name, number) for number, names in enumerate(packs) for name in names]
        schema = {ENTITY: pl.String, PACK: pl.Int64}
        self._table = pl.DataFrame(numbers, schema=schema, orient="row")

    def numbers_of(self, names: pl.Series) -> pl.Series:
        """The pack number of each of some names."""
        keys = names.alias(ENTITY).to_frame()
        return keys.join(self._table, on=ENTITY, how="left", maintain_order="left")[PACK]

    def split(self, frame: pl.DataFrame, names: pl.Series) -> Iterator[tuple[int, pl.DataFrame]]:
        """Pack number and rows of every pack in a frame; ``names`` are the rows' entities."""
        numbered = frame.with_columns(self.numbers_of(names))
        for part in numbered.partition_by(PACK, maintain_order=True):
            yield part[PACK][0], part.drop(PACK)


def packs_of_files(files: Sequence[str]) -> list[Pack]:
    """Files that are an entity each, in their order, about ``PACK_BYTES`` together."""
    sizes = {file: Path(file).stat().st_size for file in files}
    return [
        Pack(number, len(own), tuple(own), laid_out=False)
        for number, own in enumerate(group(sizes, PACK_BYTES))
    ]


def lay_out(rows: Rows, folder: Path, watch: Watch = ignore) -> list[Pack]:
    """Copy the rows of files into the pieces of packs, unless an earlier run has done so.

    Entities of equal length share a pack, as those of one shape are fitted together.
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
    by_length = dict(sorted(count_rows(rows).items(), key=lambda item: item[1]))
    groups = group(by_length, PACK_ROWS)
    pieces = _write_pieces(rows, PackTable(groups), folder, watch)
    packs = [
        Pack(number, len(own), tuple(pieces[number]), laid_out=True)
        for number, own in enumerate(groups)
    ]
    with whole_file(layout) as draft:
        draft.write_text(json.dumps([asdict(pack) for pack in packs]))
    return packs


def _write_pieces(rows: Rows, table: PackTable, folder: Path, watch: Watch) -> dict[int, list[str]]:
    """Write every row to a piece of its pack; the pieces of each pack in the rows' order."""
    import polars as pl

    pieces: dict[int, list[str]] = {}
    held: list[pl.DataFrame] = []
    done, total = 0, rows.count

    def write() -> None:
        together = pl.concat(held)
        held.clear()
        for number, part in table.split(together, together[ENTITY]):
            own = pieces.setdefault(number, [])
            own.append(str(folder / f"{number:06d}-{len(own):04d}.arrow"))
            part.write_ipc(own[-1])

    for chunk in rows.chunks(READ_ROWS, labels="skip"):
        held.append(chunk.frame)
        done += len(chunk)
        if sum(map(len, held)) >= HELD_ROWS:
            write()
        watch(Progress("reading", done, max(total, done), "rows"))
    if held:
        write()
    return pieces


def read_pieces(pack: Pack) -> pl.DataFrame:
    """The rows of a pack that was laid out, those of each entity in their order."""
    import polars as pl

    return pl.concat([pl.read_ipc(piece) for piece in pack.files])
