"""A Ray cluster: connect to it, and spread items over its workers.

The cluster is the one that ``RAY_ADDRESS`` names or that the caller is connected to already, else
one of this machine alone, which lasts as long as the work does.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from subadjacent.errors import InputError, SubAdjacentError, needs
from subadjacent.runtime import cores

Result = TypeVar("Result")

TASKS_PER_WORKER = 2
"""Tasks handed out at a time for each worker: while one runs, the next is there."""

MAX_RETRIES = 3
"""How often a task is started again after its worker has died."""

CONNECT_SECONDS = 10.0
"""How long to wait for the first answer of a cluster that was named."""

RAY_SETTINGS = {
    # no usage statistics are sent
    "RAY_USAGE_STATS_ENABLED": "0",
    # the devices that a task sees are those of its machine, whatever was requested
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # errors are raised where the result is requested, and nowhere else
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # standard output is for results: replaced workers are not mentioned there
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}


class LostWork(SubAdjacentError, RuntimeError):  # noqa: N818 — reads as a fact
    """Every worker that tried a task has died."""


@contextmanager
def connected(workers: int | None = None) -> Iterator[int]:
    """Connect to a cluster; gives its number of workers, one per core.

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
    os.environ.update({name: os.environ.get(name, value) for name, value in RAY_SETTINGS.items()})
    with needs("work on a cluster"):
        import ray
    if ray.is_initialized():
        yield count_workers()
        return
    address = os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"num_cpus": workers or cores(), "include_dashboard": False}
    if address:
        _check_answers(address)
        options = {}
    ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **options)
    try:
        yield count_workers()
    finally:
        ray.shutdown()


def over_cluster(function: Callable[[Any], Result], items: Sequence[Any]) -> Iterator[Result]:
    """Apply a function to every item on the cluster's workers; results in the items' order.

    A ``Map`` for ``Runtime``, within ``connected``.
    """
    finished: dict[int, Any] = {}
    following = 0
    for place, reference in _finished_tasks(function, items):
        finished[place] = reference
        while following in finished:
            yield _result(finished.pop(following))
            following += 1


def as_ready(
    function: Callable[[Any], Result], items: Sequence[Any], *, accelerated: bool = False
) -> Iterator[tuple[int, Result | LostWork]]:
    """Apply a function to every item, each in a task of its own; results as they come.

    Parameters
    ----------
    function, items
        The function, and its arguments.
    accelerated
        Whether a task takes a GPU for itself, where the cluster has any.

    Yields
    ------
    tuple
        The place of an item among all, and its result; ``LostWork`` where all workers that tried
        it have died, which stops no other item.
    """
    gpus = int(accelerated and resource("GPU") >= 1)
    for place, reference in _finished_tasks(function, items, gpus):
        try:
            yield place, _result(reference)
        except LostWork as lost:
            yield place, lost


def _finished_tasks(
    function: Callable[[Any], Any], items: Sequence[Any], gpus: int = 0
) -> Iterator[tuple[int, Any]]:
    """Start a task for every item; yields place and reference of each that has ended."""
    import ray

    task: Any = ray.remote(max_retries=MAX_RETRIES, num_gpus=gpus)(_call)
    shared = ray.put(function)
    waiting = deque(enumerate(items))
    running: dict[Any, int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < TASKS_PER_WORKER * count_workers():
                place, item = waiting.popleft()
                running[task.remote(shared, item)] = place
            (reference, *_), _ = ray.wait(list(running))
            yield running.pop(reference), reference
    finally:
        # these results are not needed any more
        for reference in running:
            ray.cancel(reference)


def count_workers() -> int:
    """How many workers the cluster has, one per core."""
    return max(int(resource("CPU")), 1)


def resource(name: str) -> float:
    """How much the cluster has of a resource, such as CPU or GPU."""
    import ray

    resources: Any = ray.cluster_resources  # it has no type
    return float(resources().get(name, 0))


def _call(function: Callable[[Any], Result], item: Any) -> Result:
    return function(item)


def _result(reference: Any) -> Any:
    """A task's result; raises an error of the function itself, without Ray's wrapper."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return ray.get(reference)
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        raise LostWork(
            f"the cluster gave up on a piece of work, whose workers died {MAX_RETRIES + 1} "
            f"times; perhaps they ran out of memory: {str(error).splitlines()[0]}"
        ) from error


def _check_answers(address: str) -> None:
    """Refuse an address that does not answer: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise InputError(
            f"RAY_ADDRESS must be HOST:PORT of a cluster that answers; got {address!r}: start "
            f"the cluster, or unset the variable to work on this machine alone"
        ) from error
