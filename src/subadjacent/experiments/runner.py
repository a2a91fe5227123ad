"""Make the runs that have no row yet; it knows no table.

Runs of one family go to one process, one after the other; with several processes the families
are shared out. Only this process writes, after every run, so that a kill loses what was under way
and nothing else.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any, cast

import torch

import subadjacent
from subadjacent.errors import require_whole
from subadjacent.experiments.datasets import fingerprint_of, is_contaminated
from subadjacent.experiments.protocols import ablation, clean, facts, published, resources
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import ABLATION, CLEAN, Run
from subadjacent.training.device import forget_peak_memory, hardware, peak_memory, resolve_device

log = logging.getLogger(__name__)

# not detectors, but measured in the same way: of a dataset, of a network's cost, and of what is
# left of a detector without one of its parts
MEASURED = {
    "facts": facts.execute,
    "resources": resources.execute,
    ABLATION: ablation.execute,
}

Row = dict[str, Any]
# a run that begins has no outcome yet; one that fails has the reason
Outcome = tuple[Run, Row | str | None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where runs are made: where datasets lie, on what device, in how many processes."""

    root: str | None = None
    device: str = "auto"
    jobs: int = 1

    def __post_init__(self) -> None:
        require_whole("jobs", self.jobs, least=1)


@dataclass(frozen=True, slots=True)
class Step:
    """A run has begun, or ended with a row or an error.

    Parameters
    ----------
    run
        Which.
    done
        Runs that have ended so far, with or without a row.
    total
        Runs to make in all.
    begun
        Whether it has begun and not ended.
    seconds
        From begin to end; 0 when it has only begun.
    error
        Why there is no row, if there is none.
    """

    run: Run
    done: int
    total: int
    begun: bool = False
    seconds: float = 0.0
    error: str = ""


def make(
    runs: Iterable[Run],
    results: Results,
    place: Place,
    watch: Callable[[Step], None] = lambda _step: None,
) -> list[Step]:
    """Make every run that ``results`` lacks, add its row, and return those that failed."""
    wanted = results.missing(runs)
    families = [list(family) for _, family in groupby(_in_order(wanted), key=lambda r: r.family)]
    failed, done = [], 0
    started: dict[Run, float] = {}
    outcomes = _alone(families, place) if place.jobs == 1 else _together(families, place)
    for run, outcome in outcomes:
        if outcome is None:
            started[run] = time.monotonic()
            watch(Step(run, done, len(wanted), begun=True))
            continue
        done += 1
        # a process that died takes along runs that never began
        seconds = time.monotonic() - started.get(run, time.monotonic())
        error = outcome if isinstance(outcome, str) else ""
        step = Step(run, done, len(wanted), seconds=seconds, error=error)
        if isinstance(outcome, str):
            failed.append(step)
        else:
            results.add(run, outcome)
        watch(step)
    return failed


def _in_order(runs: Sequence[Run]) -> list[Run]:
    """Families together, in the order they were asked for; within one, datasets and seeds."""
    first: dict[Any, int] = {}
    for number, run in enumerate(runs):
        first.setdefault(run.family, number)
    return sorted(runs, key=lambda run: (first[run.family], run.dataset, run.seed))


def make_one(run: Run, place: Place) -> Row:
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


def _executor(run: Run) -> Callable[[Run, str | None, str], Row]:
    if run.detector in MEASURED:
        return MEASURED[run.detector]
    return clean.execute if run.protocol == CLEAN else published.execute


def _outcome(run: Run, place: Place) -> Row | str:
    try:
        return make_one(run, place)
    except Exception as error:
        # whatever it is, hours of other runs go on; whoever asked is told at the end
        log.debug("%s failed", run.describe(), exc_info=True)
        return f"{type(error).__name__}: {error}"


def _alone(families: list[list[Run]], place: Place) -> Iterator[Outcome]:
    for family in families:
        torch.compiler.reset()
        for run in family:
            yield run, None
            yield run, _outcome(run, place)


def _together(families: list[list[Run]], place: Place) -> Iterator[Outcome]:
    """Hand a family to whichever process is free; a process that dies fails its family alone."""
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
            # with our copy closed, the pipe ends when the process does
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
        # when every process has died
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
    # one that died in between is found out when it is listened to
    with suppress(BrokenPipeError):
        end.send(waiting[-1])
    busy[end] = list(waiting.pop())


def _all_lost(family: list[Run], worker: Any) -> Iterator[Outcome]:
    worker.join()
    for run in family:
        yield run, f"the process that was to make it died (exit code {worker.exitcode})"


def _work(end: Connection, place: Place) -> None:
    # Ctrl-C goes to every process; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(max(torch.get_num_threads() // place.jobs, 1))
    # the pipe breaks when the first process was killed: there is nobody to work for
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for outcome in _alone([end.recv()], place):
                end.send(outcome)
