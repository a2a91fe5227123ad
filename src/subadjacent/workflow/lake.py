"""A lake: files of many entities, scored pack by pack into a folder of scores.

An entity may lie in many files, and a file may hold many entities. Rows are laid out in packs, cut
where a single ``score`` ends its chunks: every entity is scored in the very same parts, and to the
same bits. The folder is complete when it holds ``_complete.json``, which is written last.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from subadjacent.data.files import Columns, FileRows
from subadjacent.detectors.registry import load
from subadjacent.errors import InputError
from subadjacent.runtime import Map, Progress, Watch, ignore, over_processes
from subadjacent.workflow.packs import Pack, lay_out, read_pieces
from subadjacent.workflow.report import warn_of_misfits
from subadjacent.workflow.score import CHUNK_ROWS, scored, warn_of_unseen
from subadjacent.workflow.tables import scores_table
from subadjacent.workflow.writing import check_folder, whole_file, write_table

if TYPE_CHECKING:
    from subadjacent.data.files import Rows

PART_ROWS = 1_000_000
"""Rows of a part, but for an entity with more: a worker holds their times, names, scores."""

COMPLETE = "_complete.json"
"""Lists all parts and their rows, once all are there; readers of Parquet folders skip it."""

PIECES = "_pieces"
"""Folder of the packs' rows, while the work goes on."""

UNFINISHED = re.compile(
    rf"{PIECES}|part-\d+\.parquet|\.(part-\d+\.parquet|{COMPLETE})\.[0-9a-f]{{8}}"
)
"""Names in a folder whose work was not finished."""


class ScoresFile(NamedTuple):
    """A file of scores: its name and rows, and entities that the model misfits or never saw."""

    name: str
    rows: int
    anomalous: int
    misfits: tuple[str | None, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoreTask:
    """All that a process, or another machine, needs to score a pack.

    ``named`` are the names of the columns of time and entity in the results.
    """

    pack: Pack
    model: Path
    device: str
    named: Columns
    output: Path


def check_place(output: Path) -> None:
    """Refuse a folder that holds anything but the scores of an unfinished run."""
    rule = "must be a new or an empty folder, or hold scores that were not finished"
    if (output / COMPLETE).exists():
        raise InputError(f"{output} {rule}; it holds finished ones: name another, or delete it")
    check_folder(output, rule, lambda name: UNFINISHED.fullmatch(name) is not None)


def score_lake(
    model: Path,
    rows: Rows,
    output: Path,
    *,
    device: str = "auto",
    part_rows: int = PART_ROWS,
    spread: Map = over_processes,
    watch: Watch = ignore,
) -> list[ScoresFile]:
    """Score the rows of files in packs, and write a file of scores for each.

    Parameters
    ----------
    model
        Folder of a fitted model.
    rows
        From ``open_files``.
    output
        Folder to fill, as ``check_place`` demands. An entity is in one part, entities come in the
        order of their first rows, and the rows of a part stand as in the files.
    device
        Where each worker puts a network.
    part_rows
        Rows of a part, but for an entity with more.
    spread
        Works on the packs: on all cores, or on a cluster whose machines see the same folders.
    watch
        Called as work goes on.
    """
    check_place(output)
    _clear(output)
    pieces = output.resolve() / PIECES
    packs = lay_out(rows, pieces, part_rows, CHUNK_ROWS, watch)
    tasks = [
        ScoreTask(pack, model.resolve(), device, rows.named, output.resolve()) for pack in packs
    ]
    parts: list[ScoresFile] = []
    for part in spread(score_pack, tasks):
        parts.append(part)
        watch(Progress("scoring", len(parts), len(packs), "parts"))
    shutil.rmtree(pieces)
    _complete(output, parts)
    warn_of_misfits([name for part in parts for name in part.misfits])
    if unseen := sorted(name for part in parts for name in part.unseen):
        warn_of_unseen(unseen)
    return parts


def score_pack(task: ScoreTask) -> ScoresFile:
    """Score the rows of one pack, and write the file of their scores."""
    detector = load(task.model, device=task.device)
    result = scored(detector, map(FileRows, read_pieces(task.pack)))
    table = scores_table(result.keys, result.assessed, task.named)
    name = f"part-{task.pack.number:05}.parquet"
    write_table(table, task.output / name)
    return ScoresFile(
        name,
        len(table),
        int(table["anomalous"].sum()),
        tuple(result.misfits),
        tuple(detector.seen_.unseen(result.entities)),
    )


def _clear(output: Path) -> None:
    """Delete all files of an unfinished run: none of them is used."""
    for left in output.iterdir() if output.is_dir() else ():
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def _complete(output: Path, parts: Sequence[ScoresFile]) -> None:
    summary = {
        "rows": sum(part.rows for part in parts),
        "parts": {part.name: part.rows for part in parts},
    }
    with whole_file(output / COMPLETE) as path:
        path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
