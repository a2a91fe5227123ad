"""A fleet: one detector per entity, for more entities than fit into memory.

Rows are laid out in packs. Each pack is a task for the processes or machines of ``spread``, and
leaves its part of the results on disk, whole or not at all. A run that was interrupted resumes:
parts that exist are not made again. A failure is tried again, then recorded in a table, and stops
nothing else.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from subadjacent import durable
from subadjacent.data.files import Columns, open_files
from subadjacent.data.files.paths import STANDARD_INPUT, expand
from subadjacent.errors import InputError
from subadjacent.runtime import Map, Progress, Watch, cores, ignore, over_processes
from subadjacent.workflow.fit import TrainingRows
from subadjacent.workflow.fleet_pack import FleetCounts, PackTask, give_up, sentence, work_on
from subadjacent.workflow.packs import Pack, lay_out, packs_of_files
from subadjacent.workflow.writing import as_csv, check_folder, whole_file

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows
    from subadjacent.detectors.base import BaseDetector

PACK_ROWS = 100_000
"""Rows of a pack: 500 entities of 200 rows, some five seconds of one core."""

CHUNK_ROWS = 1_000_000
"""Rows that are read at a time: each pack's piece then has many of them."""

MAX_TRIES = 3
"""How often a pack is worked on before its entities count as failed."""

RUN, ROWS = "fleet.json", "rows"
"""The file of a run's settings, and the folder of pieces, deleted in the end."""


class FleetFindings(NamedTuple):
    """The counts of a fleet, and the files that hold its results."""

    counts: FleetCounts
    files: tuple[Path, ...]


def fleet(
    detector: BaseDetector,
    paths: Sequence[str],
    folder: Path,
    *,
    columns: Columns = Columns(),  # noqa: B008 — frozen
    training: TrainingRows = TrainingRows(),  # noqa: B008 — frozen
    spread: Map = over_processes,
    watch: Watch = ignore,
) -> FleetFindings:
    """Fit a detector to each entity by itself, and write the findings of each to a folder.

    Parameters
    ----------
    detector
        Not fitted; each entity gets a copy.
    paths
        Files or patterns. Where they have a column of entities, each name in it is an entity;
        otherwise each file is one, called by its path.
    folder
        Gets ``scores``, a Parquet file a pack; ``alarms.csv``; ``entities.csv``, with the results
        of each; and ``failures.csv``. If it holds part of the same run, that run is resumed.
    columns
        How the files are read (``open_files``).
    training
        Which rows of each entity to fit on.
    spread
        Works on the packs: on all cores, or on a cluster whose machines see the same folders.
    watch
        Called as work goes on.
    """
    # a file that two patterns match is one entity
    names = list(dict.fromkeys(name for path in paths for name in expand(path)))
    if not names or STANDARD_INPUT in names:
        got = "standard input: write it to a file" if names else "none: name some"
        raise InputError(f"paths must name files; got {got}")
    detector.check()
    run = _fingerprint(detector, names, columns, training)
    with _reserved(folder, run):
        first = _first_readable(names, columns)
        if first.entity is None:
            packs, rows = packs_of_files(names), first
        else:
            rows = first if len(names) == 1 else open_files(names, columns)
            pieces = (folder / ROWS).resolve()
            packs = lay_out(rows, pieces, PACK_ROWS, CHUNK_ROWS, watch, by_length=True)
            training = _readable(training, rows)
        tasks = [
            PackTask(
                pack,
                detector,
                training,
                columns,
                rows.named,
                folder.resolve(),
                Path.cwd(),
            )
            for pack in packs
        ]
        counts = _work_on_all(tasks, spread, _progress_of(packs, watch))
        for name in ("alarms", "entities"):
            _join(tasks, name, folder / f"{name}.csv")
        _join(tasks, "entities", folder / "failures.csv", _failures)
        shutil.rmtree(folder / ROWS, ignore_errors=True)
    results = ("scores", "alarms.csv", "entities.csv", "failures.csv")
    return FleetFindings(counts, tuple(folder / name for name in results))


def _join(
    tasks: Sequence[PackTask],
    table: str,
    target: Path,
    change: Callable[[pl.DataFrame], pl.DataFrame] = lambda part: part,
) -> None:
    """Append a table of all packs to a CSV file, one part in memory at a time."""
    import polars as pl

    with whole_file(target) as unfinished, unfinished.open("w", encoding="utf-8") as lines:
        for number, task in enumerate(tasks):
            part = change(pl.read_parquet(task.part(table)))
            lines.write(as_csv(part, header=not number))


def _failures(entities: pl.DataFrame) -> pl.DataFrame:
    return entities.filter(entities["error"].is_not_null()).select("entity", "error")


def _first_readable(names: Sequence[str], columns: Columns) -> Rows:
    """The first file that can be read; where none can, raise the first one's error."""
    errors: list[InputError] = []
    for name in names:
        try:
            return open_files([name], columns)
        except InputError as error:
            errors.append(error)
    raise errors[0]


def _readable(training: TrainingRows, rows: Rows) -> TrainingRows:
    """The training rows with their time in ISO form, which can be read without any file."""
    moment = None if training.until is None else rows.read_time(training.until)
    return training if moment is None else replace(training, until=moment.isoformat())


def _progress_of(packs: Sequence[Pack], watch: Watch) -> Callable[[FleetCounts], None]:
    total = sum(pack.entities for pack in packs)

    def tell(counts: FleetCounts) -> None:
        note = f"{counts.alarms:,} alarms, {counts.failed:,} failed"
        watch(Progress("fitting and scoring", counts.entities, total, "entities", note))

    return tell


def _work_on_all(
    tasks: Sequence[PackTask], spread: Map, tell: Callable[[FleetCounts], None]
) -> FleetCounts:
    """Work on every pack; try again where a worker ended, or could not write.

    When workers have ended, the packs that were under way are tried one by one, so that a pack
    which ends its worker is identified, and no other fails with it.
    """
    total = FleetCounts()
    left = list(tasks)
    tell(total)
    while left:
        results = spread(attempt, left)
        while left:
            try:
                result = next(results)
            except Exception as ended:
                # as many as may have been under way
                suspects, left = left[: 2 * cores()], left[2 * cores() :]
                for task in suspects:
                    total += _retry(task, spread, sentence(ended))
                    tell(total)
                break
            task, *left = left
            total += _retry(task, spread, result) if isinstance(result, str) else result
            tell(total)
    return total


def attempt(task: PackTask) -> FleetCounts | str:
    """Work on a pack; return the error, where it was not that of a single entity."""
    try:
        return work_on(task)
    except Exception as error:
        return sentence(error)


def _retry(task: PackTask, spread: Map, error: str) -> FleetCounts:
    """Work on one pack by itself again; after ``MAX_TRIES`` its entities count as failed."""
    for _ in range(MAX_TRIES - 1):
        try:
            (counts,) = spread(attempt, [task])
        except Exception as ended:
            error = sentence(ended)
        else:
            if not isinstance(counts, str):
                return counts
            error = counts
    return give_up(task, f"{error} ({MAX_TRIES} times)")


def _fingerprint(
    detector: BaseDetector,
    names: Sequence[str],
    columns: Columns,
    training: TrainingRows,
) -> dict[str, Any]:
    """A hash of what the results depend on: settings, and the files in their present state."""
    from subadjacent import __version__

    files = hashlib.sha256()
    for name in names:
        facts = Path(name).stat() if Path(name).exists() else None
        state = "" if facts is None else f"{facts.st_size} {facts.st_mtime_ns}"
        files.update(f"{Path(name).absolute()}\0{state}\n".encode(errors="surrogateescape"))
    parameters = {name: repr(value) for name, value in detector.get_params(deep=False).items()}
    return {
        "version": __version__,
        "detector": type(detector).__name__,
        "parameters": parameters,
        "columns": json.loads(json.dumps(asdict(columns))),
        "training": asdict(training),
        "files": len(names),
        "files_sha256": files.hexdigest(),
    }


@contextmanager
def _reserved(folder: Path, run: dict[str, Any]) -> Iterator[None]:
    """Reserve a folder for a new run or to resume its run; refuse others."""
    path = folder / RUN
    if not path.exists():
        rule = "must be a new folder, or hold a fleet"
        check_folder(folder, rule, lambda name: name.startswith("."))
        with whole_file(path) as unfinished:
            unfinished.write_text(json.dumps(run, indent=1))
    with durable.opened(path) as handle:
        if handle is None or not durable.lock(handle, wait=False):
            raise InputError(f"{folder} must be free; another process is at work on it: wait")
        before = json.loads(path.read_text())
        changed = [name for name in run if run[name] != before.get(name)]
        if changed:
            raise InputError(
                f"{folder} must hold results of the same files and settings; they differ in "
                f"{', '.join(changed)}: name another folder, or delete this one"
            )
        yield
