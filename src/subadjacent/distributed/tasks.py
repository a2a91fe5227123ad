"""Long pieces of work on a cluster: each is a task, and comes back as soon as it is done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from subadjacent.distributed.cluster import (
    AHEAD,
    LOST_WORKERS,
    LostWork,
    resource,
    take,
    workers_there,
)

Result = TypeVar("Result")


def as_ready(
    function: Callable[[Any], Result], items: Sequence[Any], *, accelerated: bool = False
) -> Iterator[tuple[int, Result | LostWork]]:
    """Apply a function to every item, each in a task of its own, and give results as they come.

    Parameters
    ----------
    function, items
        What to do, and with what.
    accelerated
        Whether a task takes a GPU for itself, where the cluster has any.

    Yields
    ------
    tuple
        The place of an item among all, and its result; an error where all workers that tried it
        have died, which stops no other item.
    """
    import ray

    gpus = int(accelerated and resource("GPU") >= 1)
    task: Any = ray.remote(max_retries=LOST_WORKERS, num_gpus=gpus)(_call)
    shared = ray.put(function)
    waiting = deque(enumerate(items))
    under_way: dict[Any, int] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < AHEAD * workers_there():
                place, item = waiting.popleft()
                under_way[task.remote(shared, item)] = place
            (reference, *_), _ = ray.wait(list(under_way))
            place = under_way.pop(reference)
            try:
                yield place, take(reference)
            except LostWork as lost:
                yield place, lost
    finally:
        for reference in under_way:
            ray.cancel(reference)


def over_actors(
    make: Callable[[], Any], apply: Callable[[Any, Any], Result], items: Sequence[Any]
) -> Iterator[tuple[int, Result]]:
    """Apply a function to every item on workers that each hold something, as a model, meanwhile.

    Parameters
    ----------
    make
        Makes what a worker holds: once on every worker, and again where one has died.
    apply
        Called with what is held and with an item.
    items
        What to work on, the longest first if all are to end together.

    Yields
    ------
    tuple
        The place of an item among all, and its result, as soon as it is there.
    """
    import ray

    actor: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=LOST_WORKERS)(_Holder)
    # in a list it is fetched by whoever asks for it, once, rather than with every item
    shared = [ray.put((make, apply))]
    idle = [actor.remote() for _ in range(min(workers_there(), len(items)))]
    started = list(idle)
    waiting = deque(enumerate(items))
    busy: dict[Any, tuple[int, Any]] = {}
    try:
        while waiting or busy:
            while waiting and idle:
                place, item = waiting.popleft()
                holder = idle.pop()
                busy[holder.work.remote(shared, item)] = place, holder
            (reference, *_), _ = ray.wait(list(busy))
            place, holder = busy.pop(reference)
            idle.append(holder)
            yield place, take(reference)
    finally:
        for holder in started:
            ray.kill(holder)


class _Holder:
    def __init__(self) -> None:
        self._apply: Callable[[Any], Any] | None = None

    def work(self, shared: list[Any], item: Any) -> Any:
        if self._apply is None:
            import ray

            make, apply = ray.get(shared[0])
            self._apply = partial(apply, make())
        return self._apply(item)


def _call(function: Callable[[Any], Result], item: Any) -> Result:
    return function(item)
