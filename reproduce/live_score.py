"""The score of live detection: early is better, an alarm for nothing costs, silence is 0.

This is the published score of the Numenta Anomaly Benchmark (Lavin and Ahmad, 2015), written from
its definition. Every anomaly has a window around its first row; the windows of a series are
together a tenth of it. The earliest detection in a window earns up to 1, the less the later it
is; a window without any costs a miss; a detection outside of windows costs by its distance behind
the window before. One threshold holds for all series, the one with the highest total. The total is
stated on a scale on which silence has 0 and a detection at the first row of every window 100.

The threshold is chosen with labels: the score compares detectors, none may use its threshold.
"""

# Shapes: T rows of a series, W windows of a series, N assessed rows of all series.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.decision.extremes import check_scores
from subadjacent.errors import InputError, require_whole

Span = tuple[int, int]  # rows [start, stop)
Floats = NDArray[np.float64]

WINDOWED = 0.1
"""Share of the rows of a series that its windows have together."""

UNASSESSED = 0.15
"""Share of the rows of a series, at its beginning, that are not assessed."""

LONGEST_UNASSESSED = 750
"""Rows that are not assessed at most: the share of 5,000."""

STEEPNESS = 5.0
"""How fast the worth of a detection falls over the width of its window."""

FAR = 3.0
"""Widths behind a window from which a detection costs the whole weight."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Costs to a user: of a detection far from any window, and of a missed window."""

    false: float
    missed: float


PROFILES = {
    "standard": Profile(false=0.11, missed=1.0),
    "reward low FP": Profile(false=0.22, missed=1.0),
    "reward low FN": Profile(false=0.11, missed=2.0),
}


class Watched(NamedTuple):
    """Scores of one series, (T,), high = abnormal, with its anomalies as ``[start, stop)``.

    ``unjudged`` rows at the beginning do not count; None takes the published share.
    """

    scores: ArrayLike
    spans: Sequence[Span]
    unjudged: int | None = None


class LiveScore(NamedTuple):
    """The score, and the threshold that it holds for: rows at or above it are detections."""

    score: float
    threshold: float


class _Rows(NamedTuple):
    """All assessed rows of all series, one after the other."""

    scores: Floats  # (N,)
    worth: Floats  # (N,), of a detection: in a window its gain, outside of windows minus its cost
    window: NDArray[np.int64]  # (N,), counted through all series; -1 outside of windows
    windows: int


def windows_around(spans: Sequence[Span], rows: int, unjudged: int | None = None) -> list[Span]:
    """The windows of a series, as ``[start, stop)``, in order.

    A window is centred at the first row of its anomaly; all of a series have one width. A longer
    anomaly widens its window to its end, so that an alarm may last as long as the anomaly
    without penalty. Windows that touch are one; a window that begins in rows that are not assessed
    is left out, as published.

    >>> windows_around([(500, 501), (900, 901)], rows=1_000)
    [(475, 526), (875, 926)]
    """
    require_whole("rows", rows, least=1)
    first_judged = _first_judged(rows, unjudged)
    half = int(WINDOWED * rows / max(1, len(spans))) // 2
    merged: list[Span] = []
    for start, stop in sorted(_check_span(span, rows) for span in spans):
        left, right = max(0, start - half), min(rows, max(start + half + 1, stop))
        if merged and left <= merged[-1][1]:
            left, right = merged[-1][0], max(right, merged.pop()[1])
        merged.append((left, right))
    return [window for window in merged if window[0] >= first_judged]


def live_score(series: Sequence[Watched], profile: str = "standard") -> LiveScore:
    """The score at the one threshold that is best for the profile; nan without any window.

    Parameters
    ----------
    series
        Scores and anomalies of each; scores of different series must share a unit.
    profile
        A name in ``PROFILES``.

    Examples
    --------
    The anomaly is at row 500 of 1,000; its window begins at row 450:

    >>> scores = np.zeros(1_000)
    >>> scores[500] = 1
    >>> found = live_score([Watched(scores, [(500, 501)])])
    >>> round(found.score, 1), found.threshold
    (93.2, 1.0)
    """
    weights = _profile(profile)
    rows = _gathered(series, weights)
    order = np.argsort(-rows.scores, kind="stable")
    gains = np.cumsum(_gains(rows, order, weights.missed))
    # a threshold takes all rows of one score, so only the last of them is a place to stop
    descending = rows.scores[order]
    is_last = np.ones(len(descending), bool)
    is_last[:-1] = descending[1:] != descending[:-1]
    totals, thresholds = np.append(0.0, gains[is_last]), np.append(np.inf, descending[is_last])
    best = int(totals.argmax())
    return LiveScore(_percent(float(totals[best]), rows.windows, weights), float(thresholds[best]))


def live_score_at(
    series: Sequence[Watched], threshold: float, profile: str = "standard"
) -> LiveScore:
    """The score at a threshold that a detector chose by itself; it may be far below 0."""
    weights = _profile(profile)
    rows = _gathered(series, weights)
    order = np.flatnonzero(rows.scores >= threshold)
    gain = float(_gains(rows, order, weights.missed).sum())
    return LiveScore(_percent(gain, rows.windows, weights), threshold)


def _gains(rows: _Rows, order: NDArray[np.int64], missed: float) -> Floats:
    """The gain of each row over silence, if rows become detections in ``order``."""
    gains = rows.worth[order]
    window = rows.window[order]
    inside = np.flatnonzero(window >= 0)
    # windows from the last to the first: the least row so far is then the earliest of its window
    inside = inside[np.argsort(-window[inside], kind="stable")]
    if not len(inside):
        return gains
    earned = rows.worth[np.minimum.accumulate(order[inside])]
    before = np.append(-missed, earned[:-1])
    before[1:][window[inside][1:] != window[inside][:-1]] = -missed
    gains[inside] = earned - before
    return gains


def _gathered(series: Sequence[Watched], weights: Profile) -> _Rows:
    if not series:
        raise InputError("series must have at least one; got none")
    scores, worth, window, count = [], [], [], 0
    for watched in series:
        values = check_scores(watched.scores)
        first = _first_judged(len(values), watched.unjudged)
        windows = windows_around(watched.spans, len(values), watched.unjudged)
        row_worth, row_window = _worth(windows, len(values), weights.false)
        scores.append(values[first:])
        worth.append(row_worth[first:])
        window.append(np.where(row_window < 0, -1, row_window + count)[first:])
        count += len(windows)
    return _Rows(np.concatenate(scores), np.concatenate(worth), np.concatenate(window), count)


def _worth(windows: Sequence[Span], rows: int, false: float) -> tuple[Floats, NDArray[np.int64]]:
    """The worth of a detection at each row, and its window, -1 outside."""
    worth, window = np.full(rows, -false), np.full(rows, -1)
    for number, (left, right) in enumerate(windows):
        inside = np.arange(left, right)
        worth[inside] = _sigmoid((inside - right) / (right - left)) / _sigmoid(np.array(-1.0))
        window[inside] = number
        following = windows[number + 1][0] if number + 1 < len(windows) else rows
        behind = np.arange(right, following)
        widths = (behind - (right - 1)) / max(1, right - left - 1)
        worth[behind] = false * np.where(widths >= FAR, -1.0, _sigmoid(widths))
    return worth, window


def _sigmoid(place: Floats) -> Floats:
    """From almost 1 at -1 through 0 at 0 to almost -1 at 1."""
    return np.asarray(2 / (1 + np.exp(STEEPNESS * np.minimum(place, FAR))) - 1)


def _percent(gain: float, windows: int, weights: Profile) -> float:
    """The score in per cent; ``gain`` is counted from silence, which misses every window."""
    return 100 * gain / (windows * (1 + weights.missed)) if windows else float("nan")


def _first_judged(rows: int, unjudged: int | None) -> int:
    if unjudged is None:
        return min(int(UNASSESSED * rows), LONGEST_UNASSESSED)
    require_whole("unjudged", unjudged, least=0)
    return unjudged


def _profile(name: str) -> Profile:
    if name not in PROFILES:
        raise InputError(f"profile must be one of {', '.join(map(repr, PROFILES))}; got {name!r}")
    return PROFILES[name]


def _check_span(span: Span, rows: int) -> Span:
    start, stop = span
    if not 0 <= start < stop <= rows:
        raise InputError(
            f"spans must be [start, stop) within {rows} rows, start before stop; "
            f"got {start} to {stop}"
        )
    return int(start), int(stop)
