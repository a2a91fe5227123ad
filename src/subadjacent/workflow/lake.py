"""A lake: many Parquet files, scored by a cluster's workers into a folder of scores.

An entity may lie in many files, and a file may hold many entities. Entities are grouped into packs
of about as many rows. A file whose rows are all of one pack stays as it is, any other is cut into a
piece for each pack, where a single machine ends its chunks of that file: every entity is scored in
the very same parts, and to the same bits. The folder is complete when it holds ``_complete.json``,
which is written last.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from subadjacent.data.files.blocks import Block
from subadjacent.data.files.columnar import ColumnarFile
from subadjacent.data.files.paths import only_our_errors
from subadjacent.data.files.rows import Rows
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.errors import InputError, SubAdjacentError
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.workflow import storage
from subadjacent.workflow.cluster import LostWork, as_ready, over_cluster
from subadjacent.workflow.packs import READ_ROWS, PackTable, add_counts, count_rows, group
from subadjacent.workflow.report import warn_of_misfits
from subadjacent.workflow.score import CHUNK_ROWS, scored, unseen_entities, warn_of_unseen
from subadjacent.workflow.tables import scores_table
from subadjacent.workflow.writing import check_writable

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Columns

PART_ROWS = 1_000_000
"""Rows of a part, but for an entity with more: a worker holds their times, names, scores."""

COMPLETE = "_complete.json"
"""Lists all parts and their rows, once all are there; readers of Parquet folders skip it."""

PIECES = "_pieces"
"""Folder of pieces of files, while the work goes on."""

UNFINISHED = re.compile(rf"{PIECES}|part-\d+\.parquet|\.part-\d+\.parquet\.[0-9a-f]{{8}}")
"""Names in a folder whose work was not finished."""

ROW = "\x00row"
"""Column of a piece: the row's number in its file. No file has such a column."""


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
    """The rows of one pack in a file of several packs."""

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
        """A local copy of a file, kept while it is read more than once."""
        address, name = self.files[place]
        with only_our_errors(name), storage.fetched(address) as path:
            yield LakeFile.opened(str(path), name)

    def count(self, place: int) -> dict[str | None, int]:
        """The rows of each entity in a file; refuses other columns than the first file's.

        None names the only entity of a lake without a column of entities.
        """
        with self.fetched(place) as file:
            self.rows.check_alike(file)
            if self.rows.entity is None:
                return {None: file.length}
            return count_rows(self.rows.over([file]))


@dataclass(frozen=True, slots=True)
class Cutting:
    """How files are cut: each entity's pack, the folder of pieces, rows per chunk."""

    lake: Lake
    packs: PackTable
    folder: str
    chunk: int

    def cut(self, place: int) -> int | None:
        """Cut a file into pieces; if one pack has all its rows, return that pack instead.

        Pieces that a worker wrote before it died are written again, alike.
        """
        import polars as pl

        with self.lake.fetched(place) as file:
            rows = self.lake.rows.over([file])
            numbers: set[int] = set()
            for _, names in rows.named_blocks(READ_ROWS, names_only=True):
                numbers.update(self.packs.numbers_of(names.unique()))
            if len(numbers) == 1:
                return numbers.pop()
            for chunk, (block, names) in enumerate(rows.named_blocks(self.chunk)):
                frame = block.frame.with_columns(pl.Series(ROW, block.rows, dtype=pl.Int64))
                for number, piece in self.packs.split(frame, names):
                    name = f"{place:08}-{chunk:08}.parquet"
                    with storage.sent(storage.within(self.folder, f"{number:08}", name)) as path:
                        piece.write_parquet(path)
        return None

    def files_of(self, number: int, whole: Sequence[int]) -> list[LakeFile]:
        """The files and pieces of a pack, in order; ``whole`` are files of this pack alone."""
        folder = storage.within(self.folder, f"{number:08}")
        pieces: dict[int, list[str]] = {}
        for name in storage.names_in(folder):
            pieces.setdefault(int(name.split("-")[0]), []).append(storage.within(folder, name))
        files: dict[int, LakeFile] = {place: self.lake.file(place) for place in whole}
        for place, addresses in pieces.items():
            files[place] = Pieces(self.lake.file(place), addresses)
        return [files[place] for place in sorted(files)]


class LakePack(NamedTuple):
    """Entities that are scored together: number, rows, and places of files that are all theirs."""

    number: int
    rows: int
    whole: tuple[int, ...]


class ScoresFile(NamedTuple):
    """A file of scores: its name, rows and anomalous rows, and entities that the model misfits."""

    name: str
    rows: int
    anomalous: int
    misfits: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model folder that travels with the work: workers need not see where it lies."""

    files: dict[str, bytes]
    device: str

    @classmethod
    def of(cls, folder: Path, device: str = "auto") -> ModelFiles:
        """Those of a folder; networks go to a device of each worker."""
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        return cls({str(file.relative_to(folder)): file.read_bytes() for file in files}, device)

    def load(self) -> BaseDetector:
        """The detector that was saved."""
        with tempfile.TemporaryDirectory(prefix="subadjacent-") as folder:
            for name, content in self.files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            return load(folder, device=self.device)


def check_place(output: str) -> None:
    """Refuse a folder that holds anything but scores that were not finished."""
    rule = f"{output} must be a new or an empty folder, or hold scores that were not finished"
    remedy = "name another, or delete it"
    if storage.is_file(output):
        raise InputError(f"{rule}; it is a file: {remedy}")
    names = storage.names_in(output)
    if COMPLETE in names:
        raise InputError(f"{rule}; it holds finished ones: {remedy}")
    if foreign := [name for name in names if not UNFINISHED.fullmatch(name)]:
        raise InputError(f"{rule}; it holds {foreign[0]!r}: {remedy}")
    if storage.is_path(output):
        check_writable(Path(output))


def score_lake(
    detector: BaseDetector,
    model: ModelFiles,
    lake: Lake,
    output: str,
    watch: Watch = ignore,
    *,
    part_rows: int = PART_ROWS,
) -> list[ScoresFile]:
    """Score all files of a lake on the cluster that this process is connected to.

    Parameters
    ----------
    detector, model
        Fitted, and the folder that it was loaded from.
    lake
        The files.
    output
        Folder to fill, as ``check_place`` demands. An entity is in one part, entities come in the
        order of their first rows, and the rows of a part stand as in the files.
    watch
        Called as work goes on.
    part_rows
        Rows of a part, but for an entity with more.
    """
    check_place(output)
    output = storage.absolute(output)
    counts: dict[str | None, int] = {}
    for done, counted in enumerate(over_cluster(lake.count, range(len(lake.files))), 1):
        add_counts(counts, counted.items())
        watch(Progress("looking", done, len(lake.files), "files"))
    for file in storage.names_in(output):
        storage.remove(storage.within(output, file))
    groups = group(counts, part_rows)
    cutting = Cutting(lake, PackTable(groups), storage.within(output, PIECES), CHUNK_ROWS)
    rows = [sum(counts[name] for name in names) for names in groups]
    # the longest first, so that all workers end together
    packs = sorted(_cut(cutting, rows, watch), key=lambda pack: -pack.rows)
    parts = _score(cutting, model, packs, output, watch)
    storage.remove(cutting.folder)
    _complete(output, parts)
    warn_of_misfits([name for part in parts for name in part.misfits])
    if unseen := unseen_entities(counts, detector):
        warn_of_unseen(unseen)
    return parts


def _cut(cutting: Cutting, rows: Sequence[int], watch: Watch) -> list[LakePack]:
    """Cut the files that hold entities of several packs; the packs, with their rows."""
    files = range(len(cutting.lake.files))
    if len(rows) == 1:
        return [LakePack(0, rows[0], tuple(files))]
    whole: list[list[int]] = [[] for _ in rows]
    for place, only in enumerate(over_cluster(cutting.cut, files)):
        if only is not None:
            whole[only].append(place)
        watch(Progress("sorting", place + 1, len(files), "files"))
    return [LakePack(number, rows[number], tuple(own)) for number, own in enumerate(whole)]


def _score(
    cutting: Cutting, model: ModelFiles, packs: Sequence[LakePack], output: str, watch: Watch
) -> list[ScoresFile]:
    """Score every pack on a worker; the files written, in the packs' order of numbers."""
    parts: dict[int, ScoresFile] = {}
    done, total = 0, sum(pack.rows for pack in packs)
    for place, part in as_ready(partial(_score_pack, cutting, model, output), packs):
        if isinstance(part, LostWork):
            raise part
        parts[packs[place].number] = part
        done += part.rows
        watch(Progress("scoring", done, total, "rows"))
    return [parts[number] for number in sorted(parts)]


def _score_pack(cutting: Cutting, model: ModelFiles, output: str, pack: LakePack) -> ScoresFile:
    rows = cutting.lake.rows.over(cutting.files_of(pack.number, pack.whole))
    result = scored(model.load(), rows, labels="skip")
    table = scores_table(result.keys, result.judged, rows.named)
    if len(table) != pack.rows:
        raise SubAdjacentError(
            f"the files changed while they were scored: part {pack.number} had {pack.rows:,} rows "
            f"and has {len(table):,} now; score them again when nobody writes to them"
        )
    name = f"part-{pack.number:05}.parquet"
    with storage.sent(storage.within(output, name)) as path:
        table.write_parquet(path)
    return ScoresFile(name, len(table), int(table["anomalous"].sum()), tuple(result.misfits))


def _complete(output: str, parts: Sequence[ScoresFile]) -> None:
    summary = {
        "rows": sum(part.rows for part in parts),
        "parts": {part.name: part.rows for part in parts},
    }
    with storage.sent(storage.within(output, COMPLETE)) as path:
        path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
