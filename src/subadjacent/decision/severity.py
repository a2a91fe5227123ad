"""Severity: how much rarer than requested a departure is.

Severity 1 is the level that normal rows cross as often as was requested; 2 is crossed a tenth as
often, 3 a hundredth, and so on. Below 1 it is the share of the way from a typical row to the level.

Shapes: T rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.normal import NormalScores

# shapes of the tail that severity believes in. A lighter tail than the least would make severities
# of hundreds of a jump that is a few times as high as another; half and twice of it change F1 of
# events by less than two points (reproduce/log.md, "One decision")
MIN_SHAPE, MAX_SHAPE = 0.1, 1.0
# the tail's scale is at least this share of the way from a typical row to the level
MIN_SCALE_SHARE = 0.1
# a difference of scores below this, or below this share of them, is rounding: those of networks
# have six or seven digits
TINY, TINY_SHARE = 1e-12, 1e-6
# the severity of a row with a silent channel. Less would rank it below the weakest findings, as its
# score says nothing; more, above departures that were measured
SILENT_SEVERITY = 2.0


def severity(
    scores: NDArray[np.float64], level: float | NDArray[np.float64], normal: NormalScores
) -> NDArray[np.float64]:
    """The severity of scores, (T,), given the level of severity 1: one, or one a row.

    Beyond the level, normal scores are taken to have the generalised Pareto tail that was fitted to
    them, but none that ends or is lighter than ``MIN_SHAPE``.
    """
    way = np.asarray(level - normal.typical)
    rounding = np.maximum(TINY, TINY_SHARE * np.maximum(np.abs(level), abs(normal.typical)))
    # a level no higher than a typical row: the spread of scores is the unit then, and where all
    # were alike, the scores' own
    spread = np.where(normal.spread > rounding, normal.spread, 1.0)
    way = np.where(way <= rounding, spread, way)
    shape = min(max(normal.tail.shape, MIN_SHAPE), MAX_SHAPE)
    beyond_base = np.maximum(level - normal.tail.base, 0)
    scale = np.maximum(normal.tail.scale, MIN_SCALE_SHARE * way) + shape * beyond_base
    decades = np.log1p(shape * np.maximum(scores - level, 0) / scale) / (shape * np.log(10))
    return np.asarray(1 + np.where(scores > level, decades, (scores - level) / way))


def as_severity(log_period: NDArray[Any], log_requested: float) -> NDArray[np.float64]:
    """The severity of departures with these natural logarithms of return periods, (T,)."""
    beyond = (log_period - log_requested) / np.log(10)
    return np.asarray(np.where(beyond > 0, 1 + beyond, log_period / log_requested))
