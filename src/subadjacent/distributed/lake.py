"""Many Parquet files, sorted by entity, so that each entity can be scored by one worker.

An entity may lie in many files, and a file may hold many entities. Entities are put into packs of
about as many rows, and every file is read once: one whose rows are all of one pack stays as it is,
any other is cut into a piece for each pack. Pieces are cut where a single machine ends its chunks
of that file, so that every entity is scored in the very same parts, and to the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subadjacent.data.files.blocks import Block
from subadjacent.data.files.columnar import ColumnarFile
from subadjacent.data.files.paths import only_our_errors
from subadjacent.data.files.rows import Rows
from subadjacent.distributed import storage

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Columns

Counts = dict[str | None, int]
"""Rows of every entity, in the order of their first rows; None names the only one."""

ROWS_OF_PACK = 1_000_000
"""Rows of the entities of a pack; one that has more has a pack of its own. A worker holds times,
names and scores of so many rows, which become one file.
"""

ROW = "\x00row"
"""Column of a piece: where a row stood in its file. No file has such a column."""

AT_ONCE = 100_000
"""Rows whose names are read at a time."""


class LakeFile(ColumnarFile):
    """A Parquet file at an address; it is on this machine only while it is read."""

    def __init__(
        self, address: str, name: str, schema: Mapping[str, pl.DataType], length: int = 0
    ) -> None:
        self.address, self.name = address, name
        self.notes: tuple[str, ...] = ()
        self.unnamed: frozenset[str] = frozenset()
        self.schema = dict(schema)
        self.columns = tuple(self.schema)
        self.length = length

    @classmethod
    def opened(cls, address: str, name: str) -> LakeFile:
        """Fetch a file to read its schema and length."""
        with only_our_errors(name), storage.fetched(address) as path:
            file = ColumnarFile(path, name)
        return cls(address, name, file.schema, file.length)

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""
        with storage.fetched(self.address) as path:
            yield from ColumnarFile(path, self.name).blocks(rows, columns)


class Pieces(LakeFile):
    """The rows of one pack in a file of several, as ``cut`` left them."""

    def __init__(self, file: LakeFile, addresses: Sequence[str]) -> None:
        super().__init__(file.address, file.name, file.schema)
        self.addresses = tuple(addresses)

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:  # noqa: ARG002
        """All rows in order, in the parts that they were cut into."""
        import polars as pl

        for address in self.addresses:
            with storage.fetched(address) as path:
                frame = pl.read_parquet(path, glob=False)
            yield Block(frame.select(columns), self.name, frame[ROW].to_list(), "row")


@dataclass(frozen=True, slots=True)
class Lake:
    """Files that are all written like the first.

    Parameters
    ----------
    files
        Address and name of each, in order.
    first
        The first of them.
    rows
        Its rows, and the roles of its columns.
    """

    files: tuple[tuple[str, str], ...]
    first: LakeFile
    rows: Rows

    @classmethod
    def of(cls, patterns: Sequence[str], given: Columns, time_format: str | None = None) -> Lake:
        """The files that match patterns, read as the first of them is."""
        files = tuple(storage.find(patterns))
        first = LakeFile.opened(*files[0])
        return cls(files, first, Rows([first], given, time_format))

    def file(self, place: int) -> LakeFile:
        """A file, whose columns are those of the first."""
        return LakeFile(*self.files[place], self.first.schema)

    @contextmanager
    def fetched(self, place: int) -> Iterator[LakeFile]:
        """A file, kept on this machine while it is read more than once."""
        address, name = self.files[place]
        with only_our_errors(name), storage.fetched(address) as path:
            yield LakeFile.opened(str(path), name)

    def look(self, place: int) -> Counts:
        """How many rows of which entities a file holds; refuses one that is not like the first."""
        with self.fetched(place) as file:
            self.rows.check_alike(file)
            if self.rows.entity is None:
                return {None: file.length}
            counts: Counts = {}
            for _, names in self.rows.over([file]).named_blocks(AT_ONCE, names_only=True):
                add(counts, names.unique(maintain_order=True), names.unique_counts())
            return counts


def add(counts: Counts, names: Iterable[str | None], rows: Iterable[int]) -> None:
    """Count more rows of some entities."""
    for name, more in zip(names, rows, strict=True):
        counts[name] = counts.get(name, 0) + more


def packs_of(counts: Mapping[str | None, int], most: int = ROWS_OF_PACK) -> dict[str | None, int]:
    """The number of the pack of each entity; packs are filled in the entities' order."""
    packs: dict[str | None, int] = {}
    number, held = 0, 0
    for name, rows in counts.items():
        if held and held + rows > most:
            number, held = number + 1, 0
        packs[name] = number
        held += rows
    return packs


@dataclass(frozen=True, slots=True)
class Cutting:
    """How files are cut: the pack of each entity, the folder of pieces, rows of a chunk."""

    lake: Lake
    packs: Mapping[str | None, int]
    folder: str
    chunk: int

    def cut(self, place: int) -> int | None:
        """Cut a file into pieces; gives the one pack that all its rows are of, if there is one.

        Pieces that a worker wrote before it died are written again, alike.
        """
        with self.lake.fetched(place) as file:
            rows = self.lake.rows.over([file])
            numbers: set[int] = set()
            for _, names in rows.named_blocks(AT_ONCE, names_only=True):
                numbers.update(self.packs[name] for name in names.unique())
            if len(numbers) == 1:
                return numbers.pop()
            self._write_pieces(rows, place)
        return None

    def _write_pieces(self, rows: Rows, place: int) -> None:
        import polars as pl

        for chunk, (block, names) in enumerate(rows.named_blocks(self.chunk)):
            packs = names.replace_strict(self.packs, return_dtype=pl.Int64)
            numbered = block.frame.with_columns(pl.Series(ROW, block.rows, dtype=pl.Int64))
            for number in packs.unique():
                name = f"{place:08}-{chunk:08}.parquet"
                piece = numbered.filter(packs == number)
                with storage.sent(storage.within(self.folder, f"{number:08}", name)) as path:
                    piece.write_parquet(path)

    def files_of(self, number: int, whole: Sequence[int]) -> list[LakeFile]:
        """The files and pieces of a pack, in order; ``whole`` are places of files all of it."""
        folder = storage.within(self.folder, f"{number:08}")
        pieces: dict[int, list[str]] = {}
        for name in storage.names_in(folder):
            pieces.setdefault(int(name.split("-")[0]), []).append(storage.within(folder, name))
        files: dict[int, LakeFile] = {place: self.lake.file(place) for place in whole}
        for place, addresses in pieces.items():
            files[place] = Pieces(self.lake.file(place), addresses)
        return [files[place] for place in sorted(files)]
