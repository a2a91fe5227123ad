"""A made-up plant: correlated channels, rare anomalies, and a record of what each one touched."""

# Shapes: n rows, C channels.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError, require_whole

KINDS = ("shapelet", "seasonal", "trend", "global", "contextual")
KIND_CODES = {name: code for code, name in enumerate(KINDS, start=1)}  # 0 is a normal row
POINT_KINDS = ("global", "contextual")  # one row each; the others last a while
LOAD_PERIOD = 250  # rows of one cycle of what all channels share
NOISE = 0.05
SLOPE = 0.15  # of a trend, in amplitudes a row
MAX_ANOMALOUS_SHARE = 0.25  # up to here the events and the gaps between them always fit

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Event:
    """One anomaly: rows ``[start, stop)`` of the test part, in these channels and no others."""

    start: int
    stop: int
    kind: str
    channels: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """A clean training part and, right after it in time, a test part with anomalies.

    Parameters
    ----------
    train
        Clean rows, shape (n, C).
    test
        Rows with the anomalies, shape (n, C).
    base
        The test rows before any anomaly, shape (n, C).
    events
        The anomalies, in time order. They never touch or overlap, and every
        row outside them is equal to ``base``.
    """

    train: Floats
    test: Floats
    base: Floats
    events: tuple[Event, ...]

    @property
    def kind(self) -> Codes:
        """The kind of each test row, shape (n,): 0 normal, else the code in ``KIND_CODES``."""
        kind = np.zeros(len(self.test), np.uint8)
        for event in self.events:
            kind[event.start : event.stop] = KIND_CODES[event.kind]
        return kind

    @property
    def labels(self) -> Codes:
        """1 for each test row inside an event, else 0; shape (n,)."""
        labels = np.zeros(len(self.test), np.uint8)
        for event in self.events:
            labels[event.start : event.stop] = 1
        return labels


def multivariate(
    n: int = 5_000,
    channels: int = 6,
    seed: int = 0,
    *,
    kinds: Sequence[str] = KINDS,
    ratio: float = 0.03,
    radius: int = 10,
) -> Plant:
    """A plant whose channels follow one shared load, each with its own rhythm and unit.

    The kinds are those of NeurIPS-TS, separated more cleanly: a trend ends
    where it ends and leaves no shift behind, and no two events overlap, so
    labels and events say exactly which values were changed.

    Parameters
    ----------
    n
        Rows of the training part, and again of the test part.
    channels
        Columns. An event touches at most half of them, and at least one.
    seed
        Same seed, same plant; ``train`` and ``base`` do not depend on the anomalies.
    kinds
        Which anomalies to put in, each equally often; none for a clean test part.
    ratio
        Share of test rows meant to be anomalous. Whole rounds are put in, one
        event of each kind a round, and at least one round unless it is 0.
    radius
        A shapelet, seasonal or trend event lasts ``radius`` to ``2 * radius`` rows.

    Examples
    --------
    >>> plant = multivariate(n=2_000, channels=4, seed=1)
    >>> plant.train.shape, plant.test.shape, plant.labels.shape
    ((2000, 4), (2000, 4), (2000,))
    >>> sorted(event.kind for event in plant.events)
    ['contextual', 'global', 'seasonal', 'shapelet', 'trend']
    """
    check_kinds(kinds)
    require_whole("channels", channels, least=1)
    require_whole("seed", seed, least=0)
    require_whole("radius", radius, least=1)
    if not 0 <= ratio <= MAX_ANOMALOUS_SHARE:
        raise InputError(f"ratio must be between 0 and {MAX_ANOMALOUS_SHARE}; got {ratio}")
    chosen = [name for name in KINDS if name in kinds] if ratio > 0 else []
    longest = sum(_duration(name, radius)[1] for name in chosen)
    require_whole("n", n, least=longest + len(chosen) + 1, why="one event of each kind, with gaps")

    rng = np.random.default_rng(seed)
    signal = _Signal.draw(rng, rows=2 * n, channels=channels)
    # drawn before the events, so that the training part does not depend on them
    level, spread = rng.uniform(10, 100, channels), rng.uniform(0.5, 5, channels)
    clean = signal.values()  # (2n, C)
    train, base = clean[:n], clean[n:]
    events = _place(rng, n, channels, _lengths(rng, n, chosen, ratio, radius))
    test = base.copy()
    for event in events:
        for channel in event.channels:
            rows = slice(event.start, event.stop)
            test[rows, channel] = _changed(rng, signal, base[:, channel], n, event, channel)
    train, test, base = (level + spread * rows for rows in (train, test, base))
    return Plant(train, test, base, tuple(events))


def check_kinds(kinds: Sequence[str]) -> None:
    """Refuse names that are not in ``KINDS``, and a bare name where several could stand."""
    # a string is a sequence too, of letters
    unknown = kinds if isinstance(kinds, str) else [name for name in kinds if name not in KINDS]
    if unknown:
        raise InputError(f"kinds must be a sequence of names among {KINDS}; got {unknown!r}")


@dataclass(frozen=True, slots=True, eq=False)
class _Signal:
    """The components of a channel, apart, so that an event can change one."""

    angle: Floats  # (rows, C), of the channel's own sine
    amplitude: Floats  # (C,)
    rest: Floats  # (rows, C), shared load and noise

    @classmethod
    def draw(cls, rng: np.random.Generator, rows: int, channels: int) -> _Signal:
        time = np.arange(rows)
        period, phase = rng.uniform(20, 60, channels), rng.uniform(0, 2 * np.pi, channels)
        angle = 2 * np.pi * time[:, None] / period + phase  # (rows, C)
        smooth = 50
        wander = np.convolve(
            rng.standard_normal(rows + smooth - 1), np.full(smooth, smooth**-0.5), "valid"
        )
        load = np.sin(2 * np.pi * time / LOAD_PERIOD + rng.uniform(0, 2 * np.pi)) + 0.3 * wander
        gain = rng.uniform(0.5, 1.0, channels) * rng.choice([-1, 1], channels)
        noise = NOISE * rng.standard_normal((rows, channels))
        return cls(angle, rng.uniform(0.5, 1.0, channels), load[:, None] * gain + noise)

    def values(self) -> Floats:
        return np.asarray(self.amplitude * np.sin(self.angle) + self.rest)


def _duration(name: str, radius: int) -> tuple[int, int]:
    """Fewest and most rows of an event."""
    return (1, 1) if name in POINT_KINDS else (radius, 2 * radius)


def _lengths(
    rng: np.random.Generator, n: int, chosen: list[str], ratio: float, radius: int
) -> list[tuple[str, int]]:
    """Kind and length of each event, in random order."""
    if not chosen:
        return []
    mean_rows = sum(sum(_duration(name, radius)) / 2 for name in chosen)
    rounds = max(1, round(n * ratio / mean_rows))
    lasting = [
        (name, int(rng.integers(*_duration(name, radius), endpoint=True)))
        for name in chosen * rounds
    ]
    return [lasting[position] for position in rng.permutation(len(lasting))]


def _place(
    rng: np.random.Generator, n: int, channels: int, lasting: list[tuple[str, int]]
) -> list[Event]:
    """Spread the events over the rows, at least one normal row before, between and after."""
    spare = n - sum(length for _, length in lasting) - len(lasting) - 1
    offsets = np.sort(rng.integers(0, spare + 1, len(lasting)))
    events, used = [], 1
    for (name, length), offset in zip(lasting, offsets, strict=True):
        start = int(offset) + used
        size = int(rng.integers(1, max(1, channels // 2) + 1))
        touched = sorted(int(c) for c in rng.choice(channels, size, replace=False))
        events.append(Event(start, start + length, name, tuple(touched)))
        used += length + 1
    return events


def _changed(
    rng: np.random.Generator, signal: _Signal, base: Floats, n: int, event: Event, channel: int
) -> Floats:
    """The values of one channel during an event, in place of ``base``."""
    rows = slice(event.start, event.stop)
    in_signal = slice(n + event.start, n + event.stop)  # the training part comes first there
    angle, rest = signal.angle[in_signal, channel], signal.rest[in_signal, channel]
    amplitude, normal = signal.amplitude[channel], base[rows]
    low, high = base.min(), base.max()
    match event.kind:
        case "shapelet":
            # higher than the sine, else the two would meet at every peak
            changed = 1.5 * amplitude * np.sign(np.sin(angle)) + rest
        case "seasonal":
            changed = amplitude * np.sin(3 * angle) + rest
        case "trend":
            ramp = amplitude * SLOPE * np.arange(1, len(normal) + 1)
            changed = normal + rng.choice([-1, 1]) * ramp
        case "global":
            jump = amplitude * rng.uniform(0.5, 1.5)
            changed = np.full_like(normal, high + jump if rng.random() < 0.5 else low - jump)
        case _:
            # contextual: towards the further end of the range, so inside it yet out of place
            far = np.where(normal - low > high - normal, low, high)
            changed = normal + rng.uniform(0.6, 0.9) * (far - normal)
    return np.asarray(changed)
