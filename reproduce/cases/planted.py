"""Departures of every kind in real and generated series, with known rows, channel and direction.

This module does not depend on explanations. Sizes are such that a person who looks at the channel's
chart sees the departure: at least ``SIZES`` of its noise and ``SHARES`` of the range of its values.

Shapes: T rows, C channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from reproduce.cases.backgrounds import BACKGROUNDS, KEPT_BACK_BACKGROUNDS, Background
from reproduce.cases.column import Column, local_level
from reproduce.cases.drawing import Span, plateau
from subadjacent.data.plant import Floats
from subadjacent.errors import InputError

FIRST_KEPT_BACK_SEED = 1_000
"""Seeds from here on are kept back for a final measurement, those of every kind."""

SIZES, SHARES = (8.0, 14.0), (0.5, 0.9)  # of moves: in deviations of the noise; of the value range
SPIKE_ROWS, EVENT_ROWS, SHIFT_ROWS = (1, 3), (40, 150), (250, 400)  # rows that departures last
LONG_ROWS = 450  # rows away before a return
MIN_SHIFT_ROWS = 100  # of fewer rows at the end nobody knows whether they stay
RAMP_ROWS, STILL_ROWS = (120, 300), (80, 250)
NOISIER, CALMER = (5.0, 8.0), 10.0  # times, and divided by
CYCLES = (1.5, 3.0)  # cycles that an unusual shape lasts
MIN_NOISE = 0.02  # noise in units of the value range, to see that it is smaller
MIN_CYCLE = 0.5  # share of the variance that a cycle explains
MIN_FOLLOWING = 0.75  # correlation of the noise of two channels that decouple
MAX_ODD = 0.1  # share of rows of a channel that decouples that are unusual by themselves
MARGIN = 40  # test rows before and after a departure
VISIBLE = 3.0  # deviations of the noise by which a person sees that a channel is moved
MAX_RUN = 4  # equal values of a channel that may get stuck
TRIALS, SHARE_LEFT = 4, 0.7  # for a channel; share of a size that limits must leave


@dataclass(frozen=True, slots=True, eq=False)
class PlantedCase:
    """A background with one departure.

    Parameters
    ----------
    background
        Training and test rows, with the departure.
    kind
        One of ``PLANTED_KINDS``.
    channel
        The name of the channel.
    direction
        1 up, -1 down, 0 where it has none.
    first, last
        Its test rows, both included.
    size
        How far the channel is moved, in its own units; 0 where it is not.
    visible
        The first of its rows in which a person sees it: of a ramp, later than the first.
    """

    background: Background
    kind: str
    channel: str
    direction: int
    first: int
    last: int
    size: float
    visible: int


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """New values of a span, the direction, and how far they are moved."""

    values: Floats
    direction: int = 0
    size: float = 0.0


class _UnsuitableError(Exception):
    """The channel cannot depart so that a person would see it."""


def planted_case(kind: str, background: str, seed: int, data: Path) -> PlantedCase | None:
    """Draw a background, and plant a departure; None where no channel can depart so.

    Parameters
    ----------
    kind, background
        Of ``PLANTED_KINDS`` and ``BACKGROUNDS``, or those kept back.
    seed
        Another part of a real background, and another departure.
    data
        The folder of benchmark data.
    """
    kinds, sources = PLANTED_KINDS | KEPT_BACK_KINDS, BACKGROUNDS | KEPT_BACK_BACKGROUNDS
    for name, known in ((kind, kinds), (background, sources)):
        if name not in known:
            raise InputError(f"must be one of {', '.join(map(repr, known))}; got {name!r}")
    rng = np.random.default_rng([seed, *kind.encode(), *background.encode()])
    drawn = sources[background](rng, data)
    for channel in rng.permutation(len(drawn.names)):
        # what is beyond limits here, or too small, may be possible elsewhere
        for _ in range(TRIALS):
            try:
                return _plant(rng, drawn, kind, int(channel))
            except _UnsuitableError:
                continue
    return None


def _plant(rng: np.random.Generator, drawn: Background, kind: str, channel: int) -> PlantedCase:
    column = _column(drawn, channel)
    rows, change = (PLANTED_KINDS | KEPT_BACK_KINDS)[kind]
    length = rows(rng, column)
    tested = len(column.values) - column.fitted
    if kind == RETURN and tested < length + 2 * MARGIN:
        raise _UnsuitableError
    if tested - length < 2 * MARGIN:
        length = tested // 3
    is_too_short = kind == SHIFT and length < MIN_SHIFT_ROWS
    # a part of a cycle is at another level, and of no other shape
    if is_too_short or (kind in (CYCLE_CHANGE, SHAPE_CHANGE) and length < column.cycle):
        raise _UnsuitableError
    last_start = tested - length - MARGIN
    if last_start < MARGIN:
        raise _UnsuitableError
    first = (
        tested - length if kind == SHIFT else int(rng.integers(MARGIN, last_start, endpoint=True))
    )
    span = slice(column.fitted + first, column.fitted + first + length)
    changed = change(rng, column, span)
    new = changed.values.round(column.decimals)
    low, high = column.limits
    new = np.clip(new, low, high)
    if changed.size and _moved(new, column.values[span]) < SHARE_LEFT * changed.size:
        raise _UnsuitableError
    values = drawn.values.copy()
    values[span, channel] = new
    last = first + length - 1
    visible = first
    if changed.size:
        moved = np.abs(changed.values - column.values[span])
        visible += int(np.argmax(moved > VISIBLE * column.noise))
    if kind == RETURN:
        # what is to be found is that it comes back
        first, last = last + 1, min(last + EVENT_ROWS[1], tested - 1)
        visible = first
    return PlantedCase(
        replace(drawn, values=values),
        kind,
        drawn.names[channel],
        changed.direction,
        first,
        last,
        changed.size,
        visible,
    )


def _column(drawn: Background, channel: int) -> Column:
    values = drawn.values[:, channel]
    if np.ptp(values[: drawn.fitted]) == 0 or len(np.unique(values[: drawn.fitted])) <= 2:
        raise _UnsuitableError
    cycle = drawn.cycles[channel]
    column = Column(values, drawn.fitted, cycle, drawn.decimals[channel], None)
    if cycle and _explained(column) < MIN_CYCLE:
        column = replace(column, cycle=0)
    noise = column.train - column.regular[: column.fitted]
    partners = []
    for other in range(drawn.values.shape[1]):
        if other == channel:
            continue
        beside = Column(drawn.values[:, other], drawn.fitted, drawn.cycles[other], 0, None)
        if np.ptp(beside.train) == 0:
            continue
        of_other = beside.train - beside.regular[: beside.fitted]
        strength = abs(float(np.corrcoef(noise, of_other)[0, 1]))
        raw = abs(float(np.corrcoef(column.train, beside.train)[0, 1]))
        if not drawn.cycles[channel]:
            strength = max(strength, raw)
        partners.append((strength, beside.values))
    strength, partner = max(partners, key=lambda one: one[0], default=(0.0, None))
    return replace(column, partner=partner if strength >= MIN_FOLLOWING else None)


def _explained(column: Column) -> float:
    left = column.train - column.regular[: column.fitted]
    return 1 - float(np.var(left) / np.var(column.train))


def _moved(new: Floats, old: Floats) -> float:
    return float(np.abs(new - old).max())


def _size(rng: np.random.Generator, column: Column) -> float:
    """How far a departure moves a channel."""
    return max(rng.uniform(*SIZES) * column.noise, rng.uniform(*SHARES) * column.range)


def _side(rng: np.random.Generator, column: Column, span: slice, size: float) -> int:
    """Up or down, where limits leave room."""
    low, high = column.limits
    here = column.values[span]
    ways = [
        way
        for way in (1, -1)
        if low <= (here + way * size).min() and (here + way * size).max() <= high
    ]
    if not ways:
        raise _UnsuitableError
    return int(rng.choice(ways))


def _move(rng: np.random.Generator, column: Column, span: slice, shares: Floats) -> _Change:
    """Add a size times some shares."""
    size = _size(rng, column)
    side = _side(rng, column, span, size)
    return _Change(column.values[span] + side * size * shares, side, size)


def _spike(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    return _move(rng, column, span, rng.uniform(0.8, 1, span.stop - span.start))


def _step(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    return _move(rng, column, span, np.ones(span.stop - span.start))


def _return(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    away = _step(rng, column, span)
    return replace(away, direction=-away.direction)


def _ramp(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    """It goes all the way little by little, and is back at once."""
    return _move(rng, column, span, np.linspace(0, 1.5, span.stop - span.start + 1)[1:])


def _flat(_rng: np.random.Generator, column: Column, span: slice) -> _Change:
    changes = np.flatnonzero(np.append(True, np.diff(column.train) != 0))
    if np.diff(np.append(changes, column.fitted)).max() > MAX_RUN:
        raise _UnsuitableError
    return _Change(np.full(span.stop - span.start, column.values[span.start - 1]))


def _noisier(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    if column.noise > 0.2 * column.range and column.limits[0] == 0:
        raise _UnsuitableError
    size = max(rng.uniform(*NOISIER) * column.noise, 0.15 * column.range)
    return _Change(column.values[span] + size * rng.standard_normal(span.stop - span.start))


def _calmer(_rng: np.random.Generator, column: Column, span: slice) -> _Change:
    steps = np.abs(np.diff(column.train)).mean()
    # what wanders stays as it is, or the channel would be at another level
    slow = column.regular + local_level(column.values - column.regular)
    left = column.values - slow
    if (
        left[: column.fitted].std() < MIN_NOISE * column.range
        or np.abs(np.diff(left[: column.fitted])).mean() < 0.3 * steps
    ):
        raise _UnsuitableError
    return _Change(slow[span] + left[span] / CALMER)


def _cycle(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    """Late by a part of a cycle, or twice as fast."""
    if not column.cycle:
        raise _UnsuitableError
    rows = np.arange(span.start, span.stop)
    late = int(rng.uniform(0.3, 0.5) * column.cycle)
    shown = (
        rows - late
        if rng.random() < 0.5
        else span.start - 2 * column.cycle + 2 * (rows - span.start) % (2 * column.cycle)
    )
    return _different(column, column.values[np.maximum(shown, 0)], span)


def _shape(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    """Upside down, or cut off at its middle."""
    if not column.cycle:
        raise _UnsuitableError
    low, high = np.quantile(column.train, [0.02, 0.98])
    here = column.values[span]
    if rng.random() < 0.5:
        return _different(column, low + high - here, span)
    noise = here - column.regular[span]
    return _different(column, np.minimum(column.regular[span], (low + high) / 2) + noise, span)


def _decoupled(_rng: np.random.Generator, column: Column, span: slice) -> _Change:
    """Its values of another time, as unlike these as can be; the other channel goes on.

    By itself it looks as usual.
    """
    if column.partner is None:
        raise _UnsuitableError
    length = span.stop - span.start
    step = column.cycle or max(1, column.fitted // 200)
    phase = span.start % step if column.cycle else 0
    begins = np.arange(phase, column.fitted - length, step)
    if not len(begins):
        raise _UnsuitableError
    now = column.values[span]
    shown = np.stack([column.values[begin : begin + length] for begin in begins])
    low, high = np.quantile(column.train, [0.01, 0.99])
    far = np.abs(shown - column.regular[span]) > 3 * column.noise
    odd = far if column.cycle else (shown < low) | (shown > high)
    if column.cycle:
        # nor is it far from the same time of the latest cycles
        odd |= np.abs(shown - column.of_latest_cycles(span)) > 3 * column.noise_of_cycles
    shown = shown[odd.mean(axis=1) < MAX_ODD]
    if not len(shown):
        raise _UnsuitableError
    unlike = np.abs(shown - now).mean(axis=1)
    share = plateau(length, ramp=min(8, length // 4))
    changed = share * shown[unlike.argmax()] + (1 - share) * now
    return _different(column, changed, span)


def _missing(_rng: np.random.Generator, _column: Column, span: slice) -> _Change:
    return _Change(np.full(span.stop - span.start, np.nan))


def _crash_and_rebound(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    """Down by a size, then up by as much."""
    half = (span.stop - span.start) // 2
    shares = np.where(np.arange(span.stop - span.start) < half, -1.0, 1.0)
    size = _size(rng, column)
    low, high = column.limits
    here = column.values[span]
    if (here - size).min() < low or (here + size).max() > high:
        raise _UnsuitableError
    return _Change(here + size * shares, -1, size)


def _sag(rng: np.random.Generator, column: Column, span: slice) -> _Change:
    """Little by little away, and little by little back."""
    return _move(rng, column, span, np.sin(np.linspace(0, np.pi, span.stop - span.start)))


def _different(column: Column, values: Floats, span: slice) -> _Change:
    """A change of shape that a person sees: far from what the channel does at that time."""
    apart = np.sqrt(np.mean(np.square(values - column.values[span])))
    if apart < max(0.2 * column.range, 3 * column.noise):
        raise _UnsuitableError
    return _Change(values)


def _rows(span: Span) -> Callable[[np.random.Generator, Column], int]:
    return lambda rng, _column: int(rng.integers(*span, endpoint=True))


def _of_cycles(rng: np.random.Generator, column: Column) -> int:
    tested = len(column.values) - column.fitted
    return int(min(rng.uniform(*CYCLES) * max(column.cycle, 20), 0.5 * tested))


SHIFT, RETURN, CYCLE_CHANGE, SHAPE_CHANGE = "shift", "return", "cycle change", "shape change"
_Kind = tuple[
    Callable[[np.random.Generator, Column], int],
    Callable[[np.random.Generator, Column, slice], _Change],
]
PLANTED_KINDS: dict[str, _Kind] = {
    "spike": (_rows(SPIKE_ROWS), _spike),
    "step": (_rows(EVENT_ROWS), _step),
    SHIFT: (_rows(SHIFT_ROWS), _step),
    RETURN: (_rows((LONG_ROWS, LONG_ROWS)), _return),
    "ramp": (_rows(RAMP_ROWS), _ramp),
    "flat": (_rows(STILL_ROWS), _flat),
    "higher variance": (_rows(EVENT_ROWS), _noisier),
    "lower variance": (_rows(STILL_ROWS), _calmer),
    CYCLE_CHANGE: (_of_cycles, _cycle),
    SHAPE_CHANGE: (_of_cycles, _shape),
    "decoupling": (_rows(EVENT_ROWS), _decoupled),
    "missing": (_rows(EVENT_ROWS), _missing),
}
KEPT_BACK_KINDS: dict[str, _Kind] = {
    "crash and rebound": (_rows((20, 80)), _crash_and_rebound),
    "sag": (_rows(EVENT_ROWS), _sag),
}
"""For a final measurement only."""
