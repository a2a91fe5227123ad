"""Normal rows and nothing else: processes on which every alarm is a false one."""

# Shapes: n rows, C channels.

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from subadjacent.data.plant import Floats
from subadjacent.errors import InputError, require_whole

Drawing = Callable[[np.random.Generator, int, int], Floats]

CYCLE, HARMONICS = (30.0, 60.0), 3  # rows of a cycle, and parts of it that a channel is made of
CYCLES = (20.0, 120.0)  # rows, where every channel has a cycle of its own
NOISE = 0.3  # of a cycle, whose deviation is about 1
RATES = (1.0, 10.0)  # of counts, per row
# how many there are, and rows that one lasts on average: so short that a few hundred rows see each
# of them several times
REGIMES, DWELL = 2, 25
FACTORS = 3
HEAVY = 3  # degrees of freedom: the fewest with a variance


def _white(rng: np.random.Generator, n: int, channels: int) -> Floats:
    return rng.standard_normal((n, channels))


def _autoregressive(rng: np.random.Generator, n: int, channels: int, kept: float) -> Floats:
    """Autoregressive noise of unit variance; each row keeps a share of the one before."""
    noise = rng.standard_normal((n, channels))
    noise[1:] *= np.sqrt(1 - kept**2)
    return np.asarray(lfilter([1.0], [1.0, -kept], noise, axis=0), dtype=np.float64)


def _calm(rng: np.random.Generator, n: int, channels: int) -> Floats:
    return _autoregressive(rng, n, channels, 0.5)


def _slow(rng: np.random.Generator, n: int, channels: int) -> Floats:
    return _autoregressive(rng, n, channels, 0.95)


def _cycles(rng: np.random.Generator, n: int, channels: int) -> Floats:
    """One clock for all channels, each with its own waveform."""
    angle = 2 * np.pi * np.arange(n) / rng.uniform(*CYCLE)
    multiples = np.outer(angle, np.arange(1, HARMONICS + 1))
    harmonics = np.hstack([np.sin(multiples), np.cos(multiples)])
    waves = harmonics @ rng.standard_normal((2 * HARMONICS, channels)) / np.sqrt(HARMONICS)
    return np.asarray(waves + NOISE * rng.standard_normal((n, channels)))


def _clocks(rng: np.random.Generator, n: int, channels: int) -> Floats:
    """A clock for each channel: two that go nearly alike are in step for long, and then not."""
    angle = 2 * np.pi * np.arange(n)[:, None] / rng.uniform(*CYCLES, channels)
    waves = np.sin(angle + rng.uniform(0, 2 * np.pi, channels))
    return np.asarray(np.sqrt(2) * waves + NOISE * rng.standard_normal((n, channels)))


def _counts(rng: np.random.Generator, n: int, channels: int) -> Floats:
    rates = rng.uniform(*RATES, channels)
    return rng.poisson(rates, (n, channels)).astype(np.float64)


def _regimes(rng: np.random.Generator, n: int, channels: int) -> Floats:
    """All channels switch together, each to its own level in every regime."""
    switches = rng.random(n) < 1 / DWELL
    # to another regime, never to the same
    regime = np.cumsum(switches * rng.integers(1, REGIMES, n)) % REGIMES
    levels = 2 * rng.standard_normal((REGIMES, channels))
    return np.asarray(levels[regime] + rng.standard_normal((n, channels)))


def _heavy(rng: np.random.Generator, n: int, channels: int) -> Floats:
    return rng.standard_t(HEAVY, (n, channels))


def _factors(rng: np.random.Generator, n: int, channels: int) -> Floats:
    """Slow factors that all channels share, half of the variance, and noise of their own."""
    factors = _autoregressive(rng, n, FACTORS, 0.8)
    shared = factors @ rng.standard_normal((FACTORS, channels)) / np.sqrt(FACTORS)
    return np.asarray(shared + rng.standard_normal((n, channels)))


def _walk(rng: np.random.Generator, n: int, channels: int) -> Floats:
    return np.cumsum(rng.standard_normal((n, channels)), axis=0)


# rows to come are like those before: a promise about them can be kept
STATIONARY: dict[str, Drawing] = {
    "white": _white,
    "AR 0.5": _calm,
    "AR 0.95": _slow,
    "cycles": _cycles,
    "counts": _counts,
    "regimes": _regimes,
    "heavy tails": _heavy,
    "factors": _factors,
}
# they are not: where a walk will be, or when two clocks fall out of step, nobody can know
WANDERING: dict[str, Drawing] = {"clocks": _clocks, "random walk": _walk}
NORMAL = {**STATIONARY, **WANDERING}


def normal_rows(process: str, n: int, channels: int, seed: int = 0) -> Floats:
    """Rows of a process, shape (n, C): the first of them to fit on, those that follow to judge.

    Parameters
    ----------
    process
        One of ``NORMAL``.
    n, channels
        Rows and channels.
    seed
        The same rows for the same seed.
    """
    if process not in NORMAL:
        raise InputError(f"process must be one of {', '.join(NORMAL)}; got {process!r}")
    require_whole("n", n, least=1)
    require_whole("channels", channels, least=1)
    return NORMAL[process](np.random.default_rng(seed), n, channels)
