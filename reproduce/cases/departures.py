"""Plants in which one channel departs in one known way, to test explanations of alarms.

This module does not depend on explanations. Sizes are such that an engineer who looks at the
chart of the channel sees the departure and calls it by this name, and a kind is only planted on
channels of a nature where no other name would do as well.
"""

# Shapes: N rows (training and test rows together), T0 training rows, T1 test rows, C channels.

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reproduce.cases.drawing import Span, plateau
from reproduce.cases.natures import Channel, normal_plant
from subadjacent.data.plant import Floats
from subadjacent.errors import InputError, require_whole

BEFORE, AFTER = 200, 100  # normal rows before a departure, and after one that ends
FOR_GOOD = (500, 900)  # rows from a step to the end
CYCLES = (1.5, 3.5)  # cycles that a rhythm is broken for
DRIFTING = 3  # cycles that a rhythm drifts for, at least
SPIKE = (6.0, 12.0)  # in what is usual from row to row
BEYOND = (0.15, 0.5)  # how far out of the range of training rows, in that range
# a level moves by this, in deviations of the channel: a rhythm has no more than about 3 in all
STEP, STEP_OF_RHYTHM = (3.0, 5.0), (1.5, 3.0)
NOISIER, CALMER = (2.5, 4.0), (2.5, 5.0)  # deviation of the irregular part: times, divided by
SLIP = (0.3, 0.5)  # cycles by which a rhythm is late
TIMES = 8  # earlier times looked at for what a channel does that parts; the most unlike is taken
PARTING = 15  # rows over which it parts, and comes back
REACHED = 1 / 3  # share of departures that reach other channels
MOST_REACHED, DELAY, WEAKER = 4, (5, 40), (0.3, 0.6)  # channels, rows later, share of the size


class DepartureCase(NamedTuple):
    """Normal rows to fit on, rows to assess, and the one departure in them.

    Parameters
    ----------
    train, test
        Shape (T0, C) and (T1, C).
    kind
        One of ``KINDS``.
    channel
        Where it begins.
    start, stop
        Test rows ``[start, stop)`` in which this channel is changed.
    others
        Channels that the same departure reaches later and weaker; of ``"decoupled"`` those that
        the channel followed.
    """

    train: Floats
    test: Floats
    kind: str
    channel: int
    start: int
    stop: int
    others: tuple[int, ...]


class _Kind(NamedTuple):
    natures: tuple[str, ...]  # of channels that may depart so
    rows: tuple[int, int]  # fewest and most that it lasts
    change: Callable[[np.random.Generator, Channel, int, slice], Floats]
    spreads: bool = True


def departure_case(
    kind: str,
    rng: np.random.Generator,
    *,
    channels: int = 20,
    rows: int = 3000,
    test_rows: int = 1500,
) -> DepartureCase:
    """A plant in which one channel departs, by itself or before others that it reaches.

    The plant is drawn first: ``normal_plant`` with the same generator is this one before the
    departure.

    Parameters
    ----------
    kind
        One of ``KINDS``.
    rng
        The random generator.
    channels, rows, test_rows
        Channels, rows to fit on, rows to judge.

    Examples
    --------
    >>> drawn = departure_case("stuck", np.random.default_rng(1))
    >>> drawn.train.shape, drawn.test.shape
    ((3000, 20), (1500, 20))
    >>> len(set(drawn.test[drawn.start : drawn.stop, drawn.channel]))
    1
    """
    if kind not in _KINDS:
        raise InputError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
    require_whole("rows", rows, least=500, why="several cycles of every rhythm")
    require_whole("test_rows", test_rows, least=1200, why="the longest departure, and normal rows")
    plant = normal_plant(rng, rows + test_rows, channels)
    planted = _KINDS[kind]
    suitable = [
        number
        for number, drawn in enumerate(plant)
        # with two drivers, no one channel is the other of the pair
        if drawn.nature in planted.natures and (kind != PARTED or len(drawn.drivers) == 1)
    ]
    channel = int(rng.choice(suitable))
    departing = plant[channel]
    start, stop = _span(kind, rng, departing, test_rows)
    values = np.column_stack([drawn.values for drawn in plant])
    changed = values.copy()
    span = slice(rows + start, rows + stop)
    changed[span, channel] = planted.change(rng, departing, rows, span)
    if departing.nature == "counts":
        changed[span, channel] = np.round(changed[span, channel])
    others = departing.drivers if kind == PARTED else ()
    if planted.spreads and rng.random() < REACHED:
        others = _reached(rng, plant, channel)
        departed = (changed - values)[:, channel] / departing.usual
        for other in others:
            late = int(rng.integers(*DELAY, endpoint=True))
            # by the smaller measure, so that it is weaker by any
            size = rng.choice([-1, 1]) * rng.uniform(*WEAKER) * plant[other].irregular.std()
            changed[late:, other] += size * departed[:-late]
    return DepartureCase(changed[:rows], changed[rows:], kind, channel, start, stop, others)


def _span(kind: str, rng: np.random.Generator, channel: Channel, test_rows: int) -> Span:
    """The test rows in which the channel departs."""
    shortest, longest = _KINDS[kind].rows
    length = int(rng.integers(shortest, longest, endpoint=True))
    if kind == RHYTHM:
        length = round(rng.uniform(*CYCLES) * channel.cycle)
    if kind == DRIFT:
        # else it would be a cycle of another form
        length = max(length, round(DRIFTING * channel.cycle))
    if kind == MOVED or (kind == DRIFT and rng.random() < 0.5):
        return test_rows - length, test_rows
    start = int(rng.integers(BEFORE, test_rows - AFTER - length, endpoint=True))
    return start, start + length


def _reached(rng: np.random.Generator, plant: tuple[Channel, ...], channel: int) -> tuple[int, ...]:
    """Some of the channels that follow this one; where none do, of those that follow any."""
    followers = [
        number for number, drawn in enumerate(plant) if drawn.drivers and number != channel
    ]
    driven = [number for number in followers if channel in plant[number].drivers]
    chosen = rng.permutation(driven or followers)[: rng.integers(1, MOST_REACHED, endpoint=True)]
    return tuple(sorted(int(number) for number in chosen))


def _side(rng: np.random.Generator, channel: Channel) -> float:
    """Up or down; counts only up, as there are none below 0."""
    return 1.0 if channel.nature == "counts" else float(rng.choice([-1, 1]))


def _spike(rng: np.random.Generator, channel: Channel, fitted: int, span: slice) -> Floats:
    """Away from the middle, so that it is not just nearer to it than usual."""
    normal = channel.values[span]
    up = channel.nature == "counts" or normal.mean() > channel.values[:fitted].mean()
    sizes = rng.uniform(0.7, 1, len(normal))
    sizes *= rng.uniform(*SPIKE) * channel.usual / sizes.max()
    return np.asarray(normal + (sizes if up else -sizes))


def _out_of_range(rng: np.random.Generator, channel: Channel, fitted: int, span: slice) -> Floats:
    """All rows beyond every training row; its usual moves are there, the regular ones smaller."""
    low, high = channel.values[:fitted].min(), channel.values[:fitted].max()
    moves = 0.3 * channel.regular[span] + channel.irregular[span]
    beyond = rng.uniform(*BEYOND) * (high - low)
    if _side(rng, channel) > 0:
        return np.asarray(high + beyond + moves - moves.min())
    return np.asarray(low - beyond + moves - moves.max())


def _step(rng: np.random.Generator, channel: Channel, fitted: int) -> float:
    sizes = STEP_OF_RHYTHM if channel.nature == "rhythm" else STEP
    return float(_side(rng, channel) * rng.uniform(*sizes) * channel.values[:fitted].std())


def _level_moved(rng: np.random.Generator, channel: Channel, fitted: int, span: slice) -> Floats:
    return channel.values[span] + _step(rng, channel, fitted)


def _drift(rng: np.random.Generator, channel: Channel, fitted: int, span: slice) -> Floats:
    """A ramp, after which the channel is back at once; at the end of the rows it may have ended."""
    length = span.stop - span.start
    ramp = length * (rng.uniform(0.75, 1) if span.stop == len(channel.values) else 1)
    share = np.minimum(np.arange(1, length + 1) / ramp, 1)
    return np.asarray(channel.values[span] + _step(rng, channel, fitted) * share)


def _stuck(_rng: np.random.Generator, channel: Channel, _fitted: int, span: slice) -> Floats:
    return np.full(span.stop - span.start, channel.values[span.start])


def _noisier(rng: np.random.Generator, channel: Channel, _fitted: int, span: slice) -> Floats:
    return np.asarray(channel.regular[span] + rng.uniform(*NOISIER) * channel.irregular[span])


def _calmer(rng: np.random.Generator, channel: Channel, _fitted: int, span: slice) -> Floats:
    return np.asarray(channel.regular[span] + channel.irregular[span] / rng.uniform(*CALMER))


def _broken_rhythm(rng: np.random.Generator, channel: Channel, _fitted: int, span: slice) -> Floats:
    """Late by a part of a cycle, twice as quick, or without its beat; noise as ever."""
    rows = np.arange(span.start, span.stop)
    way = rng.integers(3)
    if way == 0:
        shown = rows - rng.uniform(*SLIP) * channel.cycle
    elif way == 1:
        shown = span.start + 2 * (rows - span.start) % channel.cycle
    else:
        shown = np.full(len(rows), span.start)
    regular = np.interp(shown, np.arange(len(channel.values)), channel.regular)
    return np.asarray(regular + channel.irregular[span])


def _parted(rng: np.random.Generator, channel: Channel, fitted: int, span: slice) -> Floats:
    """The channel's training values of a time when they were unlike those that it should have."""
    length = span.stop - span.start
    begins = rng.integers(0, fitted - length, TIMES, endpoint=True)
    shown = np.stack([channel.regular[begin : begin + length] for begin in begins])
    unlike = np.abs(shown - channel.regular[span]).mean(axis=1)
    # without a jump at either end, which would be an event of its own
    share = plateau(length, ramp=PARTING)
    regular = share * shown[unlike.argmax()] + (1 - share) * channel.regular[span]
    return np.asarray(regular + channel.irregular[span])


def _missing(_rng: np.random.Generator, _channel: Channel, _fitted: int, span: slice) -> Floats:
    return np.full(span.stop - span.start, np.nan)


RHYTHM, PARTED = "unusual shape", "decoupled"
MOVED, DRIFT = "level shift (permanent)", "drift"
_MOVES = ("rhythm", "wandering", "steady", "counts", "follower")
_ANY = (*_MOVES, "set points")
_KINDS: dict[str, _Kind] = {
    "spike": _Kind(_MOVES, (1, 5), _spike),
    "out of range": _Kind(_ANY, (20, 150), _out_of_range),
    MOVED: _Kind(_ANY, FOR_GOOD, _level_moved),
    # what wanders drifts anyway
    DRIFT: _Kind(("rhythm", "steady", "counts", "follower"), (200, 600), _drift),
    "stuck": _Kind(_MOVES, (60, 200), _stuck, spreads=False),
    "higher variance": _Kind(("rhythm", "steady", "follower"), (60, 300), _noisier),
    "lower variance": _Kind(("rhythm", "steady"), (100, 300), _calmer, spreads=False),
    RHYTHM: _Kind(("rhythm",), (0, 0), _broken_rhythm),
    PARTED: _Kind(("follower",), (80, 300), _parted, spreads=False),
    "missing": _Kind(_ANY, (20, 200), _missing, spreads=False),
}
KINDS = tuple(_KINDS)
