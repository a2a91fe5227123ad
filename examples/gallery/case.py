"""What a case of the gallery is, and the noises and calendars that all of them are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

SEED = 1
"""Of what the pages show."""
SEEDS = range(1, 11)
"""Of the draws that are counted; none was left out, and no other tried."""

Values = NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Planted:
    """Something that was put into a file: rows ``first`` to ``last`` of one series."""

    what: str
    first: int
    last: int
    entity: str | None = None

    @classmethod
    def over(cls, what: str, rows: slice, entity: str | None = None) -> Planted:
        """What was put over the rows of a slice."""
        return cls(what, rows.start, rows.stop - 1, entity)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A file as its owner has it, and what was planted in it."""

    text: str
    planted: tuple[Planted, ...]
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Case:
    """A page of the gallery.

    ``draw`` makes its file from a seed. ``options`` are those of ``subadjacent detect``;
    ``channels`` those in the picture, of the series ``entity`` where there are several. ``remark``
    is what there is to learn from it.
    """

    name: str
    title: str
    story: str
    draw: Callable[[int], Drawn]
    channels: tuple[str, ...]
    remark: str
    options: tuple[str, ...] = ()
    entity: str | None = None
    suffix: str = field(default=".csv")

    @property
    def file(self) -> str:
        """The name of the data file."""
        return self.name + self.suffix


def clock(start: str, rows: int, step: timedelta) -> list[datetime]:
    """The times of evenly spaced rows."""
    first = datetime.fromisoformat(start)
    return [first + number * step for number in range(rows)]


def hours(times: Sequence[datetime]) -> Values:
    """The time of day in hours."""
    return np.array([when.hour + when.minute / 60 for when in times])


def weekend(times: Sequence[datetime]) -> NDArray[np.bool_]:
    """Whether a time is on a Saturday or Sunday."""
    return np.array([when.weekday() >= 5 for when in times])


def row_at(times: Sequence[datetime], when: str) -> int:
    """The row of a time."""
    return times.index(datetime.fromisoformat(when))


def wandering(random: Random, rows: int, keeps: float) -> Values:
    """Noise with a memory (autoregressive, of deviation 1): ``keeps`` of a row goes to the next."""
    steps = random.normal(size=rows) * np.sqrt(1 - keeps**2)
    values = np.empty(rows)
    value = random.normal()
    for row, step in enumerate(steps):
        value = keeps * value + step
        values[row] = value
    return values


def lagging(target: Values, share: float) -> Values:
    """What follows a target slowly: ``share`` of the way in every row."""
    values = np.empty_like(target)
    value = target[0]
    for row, wanted in enumerate(target):
        value += share * (wanted - value)
        values[row] = value
    return values


def hump(hour: Values, centre: float, width: float) -> Values:
    """A rise around an hour of the day, 1 at its top; the day is a ring."""
    away = np.abs(hour - centre)
    away = np.minimum(away, 24 - away)
    return np.exp(-0.5 * (away / width) ** 2)


def lines(header: Iterable[str], rows: Iterable[Sequence[str]], separator: str) -> str:
    """A table as text; lines of the header come as they are."""
    return "".join(f"{line}\n" for line in [*header, *(separator.join(row) for row in rows)])
