"""Make the runs that have no row yet; it knows no table.

Runs of one family go to one process, one after the other; with several processes the families
are shared out. Only this process writes, after every run, so that a kill loses what was under way
and nothing else.
"""

from __future__ import annotations

import multiprocessing
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

import subadjacent
from subadjacent.errors import SubadjacentError
from subadjacent.experiments.datasets import fingerprint_of, is_contaminated
from subadjacent.experiments.protocols import clean, facts, published, resources
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import CLEAN, Run
from subadjacent.training.device import forget_peak_memory, hardware, peak_memory, resolve_device

# not detectors, but measured in the same way: of a dataset, and of a network's cost
MEASURED = {"facts": facts.execute, "resources": resources.execute}
# seconds between two looks at whether the processes are still alive
PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where runs are made: where datasets lie, on what device, in how many processes."""

    root: str | None = None
    device: str = "auto"
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """One run is done; ``error`` says why there is no row, if there is none."""

    run: Run
    done: int
    total: int
    seconds: float
    error: str = ""


def make(
    runs: Iterable[Run],
    results: Results,
    place: Place,
    watch: Callable[[Step], None] = lambda _step: None,
) -> list[Step]:
    """Make every run that ``results`` lacks, add its row, and return those that failed."""
    missing = [run for run in dict.fromkeys(runs) if run not in results]
    families = [list(family) for _, family in groupby(_in_order(missing), key=lambda r: r.family)]
    failed = []
    started = time.monotonic()
    outcomes = _alone(families, place) if place.jobs == 1 else _together(families, place)
    for done, (run, row) in enumerate(outcomes, start=1):
        error = row if isinstance(row, str) else ""
        if not isinstance(row, str):
            results.add(run, row)
        step = Step(run, done, len(missing), time.monotonic() - started, error)
        if error:
            failed.append(step)
        watch(step)
    return failed


def _in_order(runs: Sequence[Run]) -> list[Run]:
    """Families together, in the order they were asked for; within one, datasets and seeds."""
    first: dict[Any, int] = {}
    for number, run in enumerate(runs):
        first.setdefault(run.family, number)
    return sorted(runs, key=lambda run: (first[run.family], run.dataset, run.seed))


def make_one(run: Run, place: Place) -> dict[str, Any]:
    """Fit, score and judge; the row of one run."""
    device = resolve_device(place.device)
    forget_peak_memory(device)
    started = time.perf_counter()
    found = _executor(run)(run, place.root, place.device)
    return found | {
        "data": fingerprint_of(run.dataset, place.root, is_contaminated(run)),
        "version": subadjacent.__version__,
        "hardware": hardware(device),
        "seconds": time.perf_counter() - started,
        "peak_memory_gib": peak_memory(device),
    }


def _executor(run: Run) -> Callable[[Run, str | None, str], dict[str, Any]]:
    if run.detector in MEASURED:
        return MEASURED[run.detector]
    return clean.execute if run.protocol == CLEAN else published.execute


def _outcome(run: Run, place: Place) -> dict[str, Any] | str:
    try:
        return make_one(run, place)
    except (SubadjacentError, RuntimeError, MemoryError) as error:
        # the other runs go on; whoever asked is told at the end
        return f"{type(error).__name__}: {error}"


def _alone(families: list[list[Run]], place: Place) -> Iterator[tuple[Run, dict[str, Any] | str]]:
    for family in families:
        torch.compiler.reset()
        for run in family:
            yield run, _outcome(run, place)


def _together(
    families: list[list[Run]], place: Place
) -> Iterator[tuple[Run, dict[str, Any] | str]]:
    # forked processes cannot use a GPU that their parent has touched
    context = multiprocessing.get_context("spawn")
    tasks, outcomes = context.Queue(), context.Queue()
    for family in families:
        tasks.put(family)
    workers = [
        context.Process(target=_work, args=(tasks, outcomes, place), daemon=True)
        for _ in range(min(place.jobs, len(families)))
    ]
    for worker in workers:
        tasks.put(None)
        worker.start()
    left = {run for family in families for run in family}
    while left:
        try:
            run, row = outcomes.get(timeout=PATIENCE)
        except queue.Empty:
            if any(worker.is_alive() for worker in workers):
                continue
            for run in sorted(left, key=Run.describe):
                yield run, "the process that was to make it died"
            return
        left.discard(run)
        yield run, row
    for worker in workers:
        worker.join()


def _work(tasks: Any, outcomes: Any, place: Place) -> None:
    torch.set_num_threads(max(torch.get_num_threads() // place.jobs, 1))
    while (family := tasks.get()) is not None:
        for run, row in _alone([family], place):
            outcomes.put((run, row))
