"""A normal plant of channels of mixed nature: rhythms, wandering, set points, counts, followers."""

# Shapes: N rows (training and test rows together), C channels.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from reproduce.cases.drawing import consecutive
from subadjacent.data.plant import Floats
from subadjacent.errors import require_whole

CYCLE, HARMONICS = (48.0, 144.0), 3  # rows of a cycle, like a day; waves that it is the sum of
KEPT = (0.95, 0.98)  # share of a row that the next keeps, of what wanders
KEPT_STEADY = (0.0, 0.6)  # the same of noise about a level
DWELL = (30, 150)  # rows that a set point holds
RATES = (8.0, 60.0)  # counts per row
LAG = 4  # rows, at most, by which a follower comes later than what drives it
NOISE = (0.15, 0.3)  # irregular part of a channel whose regular part has deviation 1
DEVIATIONS = (0.01, 1e4)  # of channels in their own units
LEVELS = (2.0, 10.0)  # mean of a channel, in its deviations
LEADER = 1  # the channel, before shuffling, that FOLLOWERS follow and nothing else drives
FOLLOWERS = 3  # so that, when one parts from it, the others show which of the two has changed
# after the first of each kind and the followers, these in turn
FURTHER = ("steady", "rhythm", "follower", "wandering", "set points", "counts", "follower")
FEWEST = 5 + FOLLOWERS  # channels


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """One channel: a regular part, and an irregular part on top of it.

    Parameters
    ----------
    nature
        ``"rhythm"``, ``"wandering"``, ``"steady"``, ``"set points"``, ``"counts"`` or
        ``"follower"``.
    regular, irregular
        Their sum are the values, shape (N,) each.
    cycle
        Rows of a cycle, of a rhythm.
    drivers
        Numbers of the channels that a follower goes with.
    """

    nature: str
    regular: Floats
    irregular: Floats
    cycle: float = 0.0
    drivers: tuple[int, ...] = ()

    @property
    def values(self) -> Floats:
        """Both parts together, shape (N,)."""
        return np.asarray(self.regular + self.irregular)

    @property
    def usual(self) -> float:
        """Deviation of the values given the row before: the unit of departures."""
        return float(np.sqrt(self.irregular.var() + (np.diff(self.regular) ** 2).mean()))

    def scaled(self, level: float, unit: float) -> Channel:
        """The channel in other units, with the mean raised by ``level``."""
        return replace(
            self,
            regular=level + unit * self.regular,
            irregular=unit * self.irregular,
        )


def normal_plant(rng: np.random.Generator, rows: int, channels: int = 20) -> tuple[Channel, ...]:
    """A plant without any departure.

    Parameters
    ----------
    rng
        The random generator.
    rows
        Rows of every channel, of training and test together.
    channels
        How many, at least ``FEWEST``.
    """
    require_whole("rows", rows, least=2 * DWELL[1], why="two set points at least")
    require_whole("channels", channels, least=FEWEST, why="one of each nature, and followers")
    first = ["rhythm", "wandering", "steady", "set points", "counts"]
    natures = first + [FURTHER[number % len(FURTHER)] for number in range(channels - FEWEST)]
    drawn = [DRAWN[nature](rng, rows) for nature in natures if nature != "follower"]
    drives = [number for number, channel in enumerate(drawn) if channel.nature != "counts"]
    drawn += [_follower(rng, drawn, (LEADER,)) for _ in range(FOLLOWERS)]
    for _ in range(channels - len(drawn)):
        pair = rng.choice(drives, 2, replace=False)
        drawn.append(_follower(rng, drawn, tuple(int(number) for number in pair)))
    place = rng.permutation(channels)  # of each channel as drawn
    shuffled = sorted(zip(place, drawn, strict=True), key=lambda item: int(item[0]))
    return tuple(
        _in_units(
            rng, replace(channel, drivers=tuple(int(place[number]) for number in channel.drivers))
        )
        for _, channel in shuffled
    )


def _in_units(rng: np.random.Generator, channel: Channel) -> Channel:
    if channel.nature == "counts":
        return channel
    unit = float(np.exp(rng.uniform(*np.log(DEVIATIONS))))
    return channel.scaled(unit * rng.uniform(*LEVELS), unit)


def _autoregressive(rng: np.random.Generator, rows: int, kept: float) -> Floats:
    """Autoregressive noise, of unit variance from the first row on."""
    noise = rng.standard_normal(rows)
    noise[1:] *= np.sqrt(1 - kept**2)
    return np.asarray(lfilter([1.0], [1.0, -kept], noise))


def _noise(rng: np.random.Generator, rows: int) -> Floats:
    return rng.uniform(*NOISE) * rng.standard_normal(rows)


def _rhythm(rng: np.random.Generator, rows: int) -> Channel:
    cycle = float(rng.uniform(*CYCLE))
    angle = 2 * np.pi * np.arange(rows) / cycle
    # the first wave is the largest, else a cycle would be a half of one
    sizes = rng.uniform(0.1, 0.5, HARMONICS)
    sizes[0] = 1
    shifts = rng.uniform(0, 2 * np.pi, HARMONICS)
    waves = [
        size * np.sin((order + 1) * angle + shift)
        for order, (size, shift) in enumerate(zip(sizes, shifts, strict=True))
    ]
    wave = np.sum(waves, axis=0) / np.sqrt(0.5 * (sizes**2).sum())
    return Channel("rhythm", wave, _noise(rng, rows), cycle=cycle)


def _wandering(rng: np.random.Generator, rows: int) -> Channel:
    walk = _autoregressive(rng, rows, float(rng.uniform(*KEPT)))
    return Channel("wandering", walk, _noise(rng, rows))


def _steady(rng: np.random.Generator, rows: int) -> Channel:
    noise = _autoregressive(rng, rows, float(rng.uniform(*KEPT_STEADY)))
    return Channel("steady", np.zeros(rows), noise)


def _set_points(rng: np.random.Generator, rows: int) -> Channel:
    """Two to four levels in turn at random, as far apart as the others."""
    count = int(rng.integers(2, 4, endpoint=True))
    levels = np.linspace(-1, 1, count) * np.sqrt(3 * (count - 1) / (count + 1))  # deviation 1
    spans = consecutive(rng, rows + DWELL[1], *DWELL)
    # to another level, never to the same
    chosen = np.cumsum(rng.integers(1, count, len(spans))) % count
    regular = np.repeat(levels[chosen], [stop - start for start, stop in spans])[:rows]
    return Channel("set points", regular, _noise(rng, rows) / 2)


def _counts(rng: np.random.Generator, rows: int) -> Channel:
    rate = float(np.exp(rng.uniform(*np.log(RATES))))
    irregular = rng.poisson(rate, rows) - np.round(rate)
    return Channel("counts", np.full(rows, np.round(rate)), irregular)


def _follower(rng: np.random.Generator, drawn: list[Channel], drivers: tuple[int, ...]) -> Channel:
    """A mix of what drives it, some rows later, and noise of its own."""
    rows = len(drawn[0].regular)
    mixed = np.zeros(rows)
    for driver in drivers:
        driving = drawn[driver]
        source = driving.irregular if driving.nature == "steady" else driving.regular
        lag = int(rng.integers(0, LAG, endpoint=True))
        late = np.concatenate([np.full(lag, source[0]), source[: rows - lag]])
        mixed += rng.choice([-1, 1]) * rng.uniform(0.6, 1.0) * late
    return Channel("follower", mixed / mixed.std(), _noise(rng, rows), drivers=drivers)


DRAWN: dict[str, Callable[[np.random.Generator, int], Channel]] = {
    "rhythm": _rhythm,
    "wandering": _wandering,
    "steady": _steady,
    "set points": _set_points,
    "counts": _counts,
}
