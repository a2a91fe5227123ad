"""A lake of Parquet files and a model folder → a folder of scores, made by a cluster's workers.

The folder is complete when it holds ``_complete.json``, which is written last.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.distributed import storage
from subadjacent.distributed.cluster import over_cluster
from subadjacent.distributed.lake import ROWS_OF_PACK, Counts, Cutting, Lake, add, packs_of
from subadjacent.distributed.tasks import over_actors
from subadjacent.errors import InputError, SubAdjacentError
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.workflow.report import warn_of_misfits
from subadjacent.workflow.score import CHUNK, scored, strangers_among, warn_of_strangers
from subadjacent.workflow.tables import scores_table
from subadjacent.workflow.writing import check_writable

COMPLETE = "_complete.json"
"""Says that all parts are there, and how many rows each has; readers of Parquet folders skip it."""

PIECES = "_pieces"
"""Folder of files that were cut by entity, while the work goes on."""

OURS = re.compile(rf"{PIECES}|part-\d+\.parquet|\.part-\d+\.parquet\.[0-9a-f]{{8}}")
"""Names of what is in a folder whose work was not finished."""


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


def check_place(output: str) -> None:
    """Refuse a folder that holds anything but scores that were not finished."""
    rule = f"{output} must be a new or an empty folder, or hold scores that were not finished"
    remedy = "name another, or delete it"
    if storage.is_file(output):
        raise InputError(f"{rule}; it is a file: {remedy}")
    names = storage.names_in(output)
    if COMPLETE in names:
        raise InputError(f"{rule}; it holds finished ones: {remedy}")
    if foreign := [name for name in names if not OURS.fullmatch(name)]:
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
    rows_of_part: int = ROWS_OF_PACK,
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
    rows_of_part
        Rows of a part, but for an entity with more.
    """
    check_place(output)
    output = storage.absolute(output)
    counts: Counts = {}
    for done, counted in enumerate(over_cluster(lake.look, range(len(lake.files))), 1):
        add(counts, counted.keys(), counted.values())
        watch(Progress("looking", done, len(lake.files), "files"))
    cutting = Cutting(lake, packs_of(counts, rows_of_part), storage.within(output, PIECES), CHUNK)
    for name in storage.names_in(output):
        storage.remove(storage.within(output, name))
    packs = sorted(_cut(cutting, counts, watch), key=lambda pack: -pack.rows)
    work = partial(_score_pack, cutting, output)
    parts: dict[int, ScoresFile] = {}
    total, done = sum(counts.values()), 0
    for place, part in over_actors(model.load, work, packs):
        parts[packs[place].number] = part
        done += part.rows
        watch(Progress("scoring", done, total, "rows"))
    storage.remove(cutting.folder)
    made = [parts[number] for number in sorted(parts)]
    _complete(output, made)
    warn_of_misfits([name for part in made for name in part.misfits])
    if strangers := strangers_among(counts, detector):
        warn_of_strangers(strangers)
    return made


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


def _cut(cutting: Cutting, counts: Counts, watch: Watch) -> list[LakePack]:
    """Cut the files that hold entities of several packs; the packs, in order."""
    numbers = cutting.packs
    rows = dict.fromkeys(numbers.values(), 0)
    for name, number in numbers.items():
        rows[number] += counts[name]
    files = range(len(cutting.lake.files))
    if len(rows) == 1:
        return [LakePack(0, rows[0], tuple(files))]
    whole: dict[int, list[int]] = {number: [] for number in rows}
    for place, only in enumerate(over_cluster(cutting.cut, files)):
        if only is not None:
            whole[only].append(place)
        watch(Progress("sorting", place + 1, len(files), "files"))
    return [LakePack(number, rows[number], tuple(whole[number])) for number in rows]


def _score_pack(
    cutting: Cutting, output: str, detector: BaseDetector, pack: LakePack
) -> ScoresFile:
    rows = cutting.lake.rows.over(cutting.files_of(pack.number, pack.whole))
    result = scored(detector, rows, labels="skip")
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
