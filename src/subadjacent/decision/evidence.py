"""A model's evidence on one segment of rows, from one pass.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# added to a channel's baseline squared error: one that never moved in training is not explained
# by its first ripple
ERROR_FLOOR = 1e-3


class Reach(NamedTuple):
    """The rows around a row that its score depends on.

    ``after`` is 0 for a causal model and None for one that needs the whole segment. A piece of a
    segment is scored as the whole is if it begins at a multiple of ``every`` rows: 1 for most
    models, the stride of the windows for networks.
    """

    before: int
    after: int | None
    every: int = 1


class Evidence(NamedTuple):
    """A model's evidence on every row of a segment.

    ``by_channel`` is how unusual each channel is: its squared departure in units of the normal
    one. ``expected``, and the expected range from ``low`` to ``high``, are in the data's own
    units, as if no anomaly had happened; None where a model expects nothing, or no range.
    ``traces`` are named rows, (T,) each, that led to the score. ``views`` names those of them that
    add up to the score of a row before it is averaged over rows; none where a score is no such sum.

    ``strongest`` is the departure of the channel that stands out most, in units that one of its
    own normal values in a hundred exceeds, and not averaged over rows; None where a model does not
    tell. A row among many quiet channels has a low score and may have a strong channel.

    A model that learns while it watches knows more: ``log_period``, the natural logarithm of the
    rows in which a departure that begins at this row is to be expected once; ``goes_on``, whether
    the row keeps an event going; and ``warm_up``, the share of the rows that it has needed so far.
    """

    score: Array  # (T,), high = abnormal
    by_channel: Array  # (T, C)
    expected: Array | None  # (T, C)
    traces: Mapping[str, Array]
    views: tuple[str, ...] = ()
    low: Array | None = None  # (T, C)
    high: Array | None = None  # (T, C)
    strongest: Array | None = None  # (T,)
    log_period: Array | None = None  # (T,)
    goes_on: Array | None = None  # (T,), yes or no
    warm_up: Array | None = None  # (T,), 0 to 1

    @classmethod
    def of_scores(cls, scores: Array, strongest: Array | None = None) -> Evidence:
        """Evidence that says nothing of channels: for decisions alone."""
        return cls(scores, np.zeros((len(scores), 0)), None, {}, strongest=strongest)
