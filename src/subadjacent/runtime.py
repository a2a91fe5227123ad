"""How work runs: device, precision, seed, progress, and how it is spread over cores.

Nothing that is learned depends on how work is spread, or on who watches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work has come: ``done`` of ``total`` units, and a note on the latest."""

    stage: str  # "fitting", "training", "scoring"
    done: int
    total: int
    unit: str  # "entities", "steps", "rows"
    note: str = ""


Watch = Callable[[Progress], None]


def ignore(_progress: Progress) -> None:
    """Watch nothing."""


class Map(Protocol):
    """Applies a function to every item; results come in the items' order."""

    def __call__(self, function: Callable[[Any], Result], items: Sequence[Any]) -> Iterator[Result]:
        """Yield the result of every item."""


def in_turn(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """One item after the other, in this process."""
    return map(function, items)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a method is told about the machine and its caller.

    Parameters
    ----------
    device, precision
        Of a network: "auto" picks what the machine has.
    seed
        All randomness follows from it.
    watch
        Called as work goes on.
    map
        Spreads work over entities: in turn, over processes, or over a cluster.
    """

    device: str = "auto"
    precision: str = "auto"
    seed: int = 0
    watch: Watch = ignore
    map: Map = in_turn
