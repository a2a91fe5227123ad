"""How work runs: device, precision, seed, progress, and how it is spread over cores.

Nothing that is learned depends on how work is spread, or on who watches it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import current_process
from threading import Lock
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work has come: ``done`` of ``total`` units, and a note on the latest."""

    stage: str  # "fitting", "watching", "training", "scoring"
    done: int
    total: int
    unit: str  # "entities", "steps", "rows"
    note: str = ""


Watch = Callable[[Progress], None]


def ignore(_progress: Progress) -> None:
    """Watch nothing."""


@contextmanager
def uncounted(stage: str, watch: Watch) -> Iterator[None]:
    """Report the beginning and end of work whose progress in between is not known."""
    watch(Progress(stage, 0, 0, ""))
    yield
    watch(Progress(stage, 1, 1, ""))


def share_done(progress: Progress) -> float | None:
    """The share that is done, from 0 to 1; None where it is not known."""
    return min(progress.done / progress.total, 1.0) if progress.total else None


def in_words(progress: Progress) -> str:
    """Text such as "25% of 1,200 rows, epoch 2"; empty where nothing is known."""
    share = share_done(progress)
    counted = ""
    if share is not None and progress.unit:
        counted = f"{int(100 * share)}% of {progress.total:,} {progress.unit}"
    return ", ".join(part for part in (counted, progress.note) if part)


class Map(Protocol):
    """Applies a function to every item; results come in the items' order."""

    def __call__(self, function: Callable[[Any], Result], items: Sequence[Any]) -> Iterator[Result]:
        """Yield the result of every item."""


def cores() -> int:
    """Cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def side_by_side(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    worth_it: bool,
    tell: Callable[[int], None] | None = None,
) -> list[Result]:
    """Apply a function to every item, in threads where the work is worth it.

    NumPy lets go of the interpreter's lock while it computes. Libraries of linear algebra are kept
    to one thread each meanwhile: several threads would wait for each other more than work.
    ``tell`` is called, in the caller's thread, with how many of the first items are done.
    """
    with _ONE_THREAD_EACH:
        if not worth_it or cores() == 1 or len(items) < 2:
            return _gathered(map(function, items), tell)
        with ThreadPoolExecutor(min(cores(), len(items))) as threads:
            return _gathered(threads.map(function, items), tell)


def _gathered(results: Iterator[Result], tell: Callable[[int], None] | None) -> list[Result]:
    gathered = []
    for result in results:
        gathered.append(result)
        if tell is not None:
            tell(len(gathered))
    return gathered


class _OneThreadEach(AbstractContextManager[None]):
    """Keeps libraries of linear algebra to one thread, from the first that enters to the last.

    The limit holds for the whole process: callers in several threads must not lift each other's.
    """

    def __init__(self) -> None:
        self._libraries: ThreadpoolController | None = None
        self._limit: Any = None
        self.begin()

    def begin(self) -> None:
        """Reset to unused: at first, and in a forked process, which has one thread only."""
        self._lock = Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                # looking for the libraries takes milliseconds: once will do
                self._libraries = self._libraries or ThreadpoolController()
                self._limit = self._libraries.limit(limits=1, user_api="blas")

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


_ONE_THREAD_EACH = _OneThreadEach()


def one_thread_each() -> AbstractContextManager[None]:
    """Keep libraries of linear algebra to one thread meanwhile.

    To set and lift the limit takes longer than to fit a view to few rows: whoever calls
    ``side_by_side`` many times sets it once.
    """
    return _ONE_THREAD_EACH


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_THREAD_EACH.begin)


def in_turn(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """One item after the other, in this process."""
    return map(function, items)


def over_processes(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """On all cores, in processes that are started once and kept for the next call."""
    from joblib import Parallel, delayed

    # a process that must not have children of its own, as in another pool, does it all itself
    if cores() == 1 or current_process().daemon:
        return in_turn(function, items)
    work = Parallel(n_jobs=cores(), return_as="generator")
    results: Iterator[Result] = work(delayed(function)(item) for item in items)
    return results


@dataclass(frozen=True, slots=True)
class Runtime:
    """Facts about the machine and the caller that a method needs.

    Parameters
    ----------
    device, precision
        Of a network: "auto" picks what the machine has.
    seed
        All randomness follows from it.
    watch
        Called as work goes on.
    map
        Spreads work over many entities: over processes, or over a cluster.
    """

    device: str = "auto"
    precision: str = "auto"
    seed: int = 0
    watch: Watch = ignore
    map: Map = over_processes
