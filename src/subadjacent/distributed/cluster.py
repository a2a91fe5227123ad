"""A Ray cluster to work on, and a ``map`` for ``Runtime`` that spreads items over it.

The cluster is the one that ``RAY_ADDRESS`` names or that the caller is connected to already, else
one of this machine alone, which lasts as long as the work does.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from subadjacent.errors import InputError, MissingPackage, SubAdjacentError
from subadjacent.runtime import cores

Result = TypeVar("Result")

SECONDS = 2.0
"""How long a task should last: a thousand times what it costs Ray to start one."""

AHEAD = 2
"""Tasks of each worker that are handed out at a time: while one is done, the next is there."""

SHARES = 4
"""Packs of each worker that the items left are at least cut into, so that all end together."""

LOST_WORKERS = 3
"""How often a task is started again whose worker has died."""

PATIENCE = 10.0
"""Seconds to wait for the first answer of a cluster that was named."""

QUIET = {
    # nothing is sent to those who write Ray
    "RAY_USAGE_STATS_ENABLED": "0",
    # the devices that a task sees are those of its machine, whatever it asked for
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # an error reaches whoever asks for the result; of others there is nothing to say
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # standard output is for results: of a worker that died and was replaced nothing is said there
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}


class LostWork(SubAdjacentError, RuntimeError):  # noqa: N818 — reads as a fact
    """Every worker that tried a piece of work has died."""


@contextmanager
def needs_ray(what: str) -> Iterator[None]:
    """Raise an error that names the extra, where Ray is missing; ``what`` needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("ray", "fsspec"):
            raise
        raise MissingPackage(
            f"{what} needs {package}, which is not installed: pip install 'subadjacent[ray]'"
        ) from error


@contextmanager
def connected(workers: int | None = None) -> Iterator[int]:
    """Be connected to a cluster; gives how many workers it has, one a core.

    Parameters
    ----------
    workers
        Of a cluster that is started here; as many as this machine has cores if None.

    Raises
    ------
    MissingPackage
        When Ray is not installed.
    InputError
        When no cluster answers at ``RAY_ADDRESS``.
    """
    # some of it is read when Ray is imported
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    with needs_ray("work on a cluster"):
        import ray
    if ray.is_initialized():
        yield workers_there()
        return
    address = os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"num_cpus": workers or cores(), "include_dashboard": False}
    if address:
        _check_answers(address)
        options = {}
    ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **options)
    try:
        yield workers_there()
    finally:
        ray.shutdown()


def over_cluster(function: Callable[[Any], Result], items: Sequence[Any]) -> Iterator[Result]:
    """Apply a function to every item on the workers of the cluster; results in the items' order.

    A ``Map`` for ``Runtime``, within ``connected``. Items travel in packs, which grow until a task
    lasts ``SECONDS``. A task whose worker dies is done again by another.
    """
    import ray

    task: Any = ray.remote(max_retries=LOST_WORKERS)(_apply)
    shared = ray.put(function)
    workers = workers_there()
    size = PackSize(len(items), workers)
    under_way: deque[tuple[int, Any]] = deque()
    handed_out = 0
    try:
        while handed_out < len(items) or under_way:
            while handed_out < len(items) and len(under_way) < AHEAD * workers:
                pack = items[handed_out : handed_out + size.of_next()]
                size.hand_out(len(pack))
                handed_out += len(pack)
                under_way.append((len(pack), task.remote(shared, pack)))
            number, reference = under_way[0]
            results, seconds = take(reference)
            under_way.popleft()
            size.learn(number, seconds)
            yield from results
    finally:
        # tasks whose results nobody will ask for any more
        for _, reference in under_way:
            ray.cancel(reference)


def take(reference: Any) -> Any:
    """A task's result; raises an error of the function itself, without Ray's wrapper."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return ray.get(reference)
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        raise LostWork(
            f"the cluster gave up on a piece of work, whose workers died {LOST_WORKERS + 1} "
            f"times; perhaps they ran out of memory: {str(error).splitlines()[0]}"
        ) from error


class PackSize:
    """How many items to put into the next task: one at first, then what takes ``SECONDS``.

    Parameters
    ----------
    items
        How many there are in all.
    workers
        How many of them are worked on at a time.
    """

    def __init__(self, items: int, workers: int) -> None:
        self._left, self._workers = items, workers
        self._done, self._seconds = 0, 0.0

    def of_next(self) -> int:
        """The items of the next pack; at most a share of those left."""
        share = -(-self._left // (self._workers * SHARES))
        if not self._done:
            return 1
        fitting = int(SECONDS * self._done / max(self._seconds, 1e-9))
        return max(min(fitting, share), 1)

    def hand_out(self, items: int) -> None:
        """Note that some items were put into a pack."""
        self._left -= items

    def learn(self, items: int, seconds: float) -> None:
        """Note how long a pack took."""
        self._done += items
        self._seconds += seconds


def workers_there() -> int:
    """How many workers the cluster has, one a core."""
    return max(int(resource("CPU")), 1)


def resource(name: str) -> float:
    """How much the cluster has of something, such as CPU or GPU."""
    import ray

    resources: Any = ray.cluster_resources  # it has no type
    return float(resources().get(name, 0))


def _check_answers(address: str) -> None:
    """Refuse an address that does not answer: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except (OSError, ValueError) as error:
        raise InputError(
            f"RAY_ADDRESS must be HOST:PORT of a cluster that answers; got {address!r}: start "
            f"the cluster, or unset the variable to work on this machine alone"
        ) from error


def _apply(function: Callable[[Any], Result], pack: Sequence[Any]) -> tuple[list[Result], float]:
    started = time.perf_counter()
    return [function(item) for item in pack], time.perf_counter() - started
