"""Make the runs that have no row yet, in one process, several, or a cluster's; of any table.

Runs of one family are made by one process, one after the other. The first process alone writes
rows, after every run: when it is killed, only the runs under way are lost.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any, cast

import torch

import subadjacent
from reproduce.datasets import data_of, fingerprint_of
from reproduce.hardware import forget_peak_memory, hardware, peak_memory
from reproduce.protocols import ablation, clean, published, resources
from reproduce.results import Results
from reproduce.run import ABLATION, CLEAN, Run
from subadjacent.errors import require_whole
from subadjacent.training.device import resolve_device
from subadjacent.workflow.cluster import LostWork, as_ready

log = logging.getLogger(__name__)

# names of detectors that stand for other measurements: sizes of a dataset, cost of a network,
# the default with one view left out
MEASURED = {
    "facts": resources.count_rows,
    "resources": resources.execute,
    ABLATION: ablation.execute,
}

Measurements = dict[str, Any]
# None when a run begins; the reason when it fails
Outcome = tuple[Run, Measurements | str | None]


@dataclass(frozen=True, slots=True)
class RunContext:
    """Where runs are made: folder of the datasets, device, number of processes, whose they are."""

    root: str | None = None
    device: str = "auto"
    jobs: int = 1
    on_cluster: bool = False

    def __post_init__(self) -> None:
        require_whole("jobs", self.jobs, least=1)


@dataclass(frozen=True, slots=True)
class RunEvent:
    """A run has begun, or ended with a row or an error.

    Parameters
    ----------
    run
        The run.
    done
        Runs that have ended so far, with or without a row.
    total
        Runs to make in all.
    begun
        Whether the run has begun and not ended.
    error
        Why the run has no row; empty if it has one.
    """

    run: Run
    done: int
    total: int
    begun: bool = False
    error: str = ""


def make(
    runs: Iterable[Run],
    results: Results,
    place: RunContext,
    watch: Callable[[RunEvent], None] = lambda _event: None,
) -> list[RunEvent]:
    """Make every run that ``results`` lacks, add its row, and return those that failed."""
    wanted = results.missing(runs)
    families = [list(family) for _, family in groupby(_in_order(wanted), key=lambda r: r.family)]
    failed, done = [], 0
    for run, outcome in _outcomes(families, place):
        if outcome is None:
            watch(RunEvent(run, done, len(wanted), begun=True))
            continue
        done += 1
        error = outcome if isinstance(outcome, str) else ""
        event = RunEvent(run, done, len(wanted), error=error)
        if isinstance(outcome, str):
            failed.append(event)
        else:
            results.add(run, outcome)
        watch(event)
    return failed


def _in_order(runs: Sequence[Run]) -> list[Run]:
    """Families together, in the order of the runs; within a family by dataset and seed."""
    first: dict[Any, int] = {}
    for number, run in enumerate(runs):
        first.setdefault(run.family, number)
    return sorted(runs, key=lambda run: (first[run.family], run.dataset, run.seed))


def make_one(run: Run, place: RunContext) -> Measurements:
    """Make one run; the row of results."""
    device = resolve_device(place.device)
    forget_peak_memory(device)
    started = time.perf_counter()
    measured = _executor(run)(run, place.root, place.device)
    return measured | {
        "data": fingerprint_of(data_of(run), place.root),
        "version": subadjacent.__version__,
        "hardware": hardware(device),
        "seconds": time.perf_counter() - started,
        "peak_memory_gib": peak_memory(device),
    }


def _executor(run: Run) -> Callable[[Run, str | None, str], Measurements]:
    if run.detector in MEASURED:
        return MEASURED[run.detector]
    return clean.execute if run.protocol == CLEAN else published.execute


def _outcome(run: Run, place: RunContext) -> Measurements | str:
    try:
        return make_one(run, place)
    except Exception as error:
        # other runs go on, perhaps for hours; the failure is reported at the end
        log.debug("%s failed", run.describe(), exc_info=True)
        return f"{type(error).__name__}: {error}"


def _outcomes(families: list[list[Run]], place: RunContext) -> Iterator[Outcome]:
    if place.on_cluster:
        return _over_cluster(families, place)
    return _alone(families, place) if place.jobs == 1 else _together(families, place)


def _alone(families: list[list[Run]], place: RunContext) -> Iterator[Outcome]:
    for family in families:
        torch.compiler.reset()
        for run in family:
            yield run, None
            yield run, _outcome(run, place)


def _over_cluster(families: list[list[Run]], place: RunContext) -> Iterator[Outcome]:
    """Have the workers of a cluster make a family each; one whose workers die fails alone."""
    made = as_ready(partial(_family, place), families, accelerated=place.device != "cpu")
    for number, outcomes in made:
        if isinstance(outcomes, LostWork):
            yield from ((run, str(outcomes)) for run in families[number])
        else:
            yield from outcomes


def _family(place: RunContext, family: list[Run]) -> list[Outcome]:
    return [(run, outcome) for run, outcome in _alone([family], place) if outcome is not None]


def _together(families: list[list[Run]], place: RunContext) -> Iterator[Outcome]:
    """Give each free process a family of runs; a process that dies fails its family alone."""
    # forked processes cannot use a GPU that their parent has touched
    context = multiprocessing.get_context("spawn")
    waiting = families[::-1]
    workers: dict[Connection, Any] = {}
    busy: dict[Connection, list[Run]] = {}
    try:
        for _ in range(min(place.jobs, len(families))):
            ours, theirs = context.Pipe()
            worker = context.Process(target=_work, args=(theirs, place), daemon=True)
            worker.start()
            # with this copy closed, the pipe ends when the process does
            theirs.close()
            workers[ours] = worker
            _hand_over(ours, busy, waiting)
        while busy:
            for end in cast("list[Connection]", wait(list(busy))):
                try:
                    run, outcome = end.recv()
                except EOFError:
                    yield from _all_lost(busy.pop(end), workers[end])
                    continue
                yield run, outcome
                if outcome is not None:
                    busy[end].remove(run)
                    if not busy[end]:
                        del busy[end]
                        _hand_over(end, busy, waiting)
        # every process has died
        for family in reversed(waiting):
            yield from ((run, "no process is left to make it") for run in family)
    finally:
        for worker in workers.values():
            worker.terminate()
            worker.join()


def _hand_over(
    end: Connection, busy: dict[Connection, list[Run]], waiting: list[list[Run]]
) -> None:
    if not waiting:
        return
    # a process that died meanwhile is noticed when its pipe is read
    with suppress(BrokenPipeError):
        end.send(waiting[-1])
    busy[end] = list(waiting.pop())


def _all_lost(family: list[Run], worker: Any) -> Iterator[Outcome]:
    worker.join()
    for run in family:
        yield run, f"the process that was to make it died (exit code {worker.exitcode})"


def _work(end: Connection, place: RunContext) -> None:
    # Ctrl-C reaches every process; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(max(torch.get_num_threads() // place.jobs, 1))
    # the pipe breaks when the first process was killed
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for outcome in _alone([end.recv()], place):
                end.send(outcome)
