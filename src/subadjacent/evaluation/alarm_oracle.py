"""The best that any one threshold could do: F1 of events, with the threshold picked on labels.

Rows above the threshold are joined over short gaps, and alarms counted as in ``alarms``. No user
has this threshold beforehand. Far above the F1 of a detector's own alarms, it says that the scores
are good and the decision is not. A decision that does more than compare with one threshold may be
better than it.

Thresholds that alarm too many normal rows are left out. Below the lowest score one alarm an entity
covers everything: it is right, and finds every anomaly, whatever the score.

Every threshold is tried, exactly. As it falls, rows become alarmed one after the other, and alarms
come into being, grow and join: a forest of rows, in which each row is linked to the highest of the
``GAP + 1`` rows before it. The link counts once both of its ends are alarmed. Alarms at a threshold
are the alarmed rows less the links that count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import InputError
from subadjacent.evaluation.alarms import GAP, MARGIN, AlarmCounts
from subadjacent.evaluation.inputs import check_scored
from subadjacent.evaluation.segments import segments

MAX_NORMAL_SHARE = 0.2
"""Share of the normal rows that may lie above the oracle's threshold.

It is the largest at which noise gains nothing from being joined: at a third more, the oracle of a
random score begins to rise, and at one half of all rows it is 60 to 80 %. With half as much, a
detector with a permanent alarm in a few entities has hardly a threshold left. See the log, "An
oracle for events".
"""

# what an alarm spans without a row of its own is shorter than any widened anomaly: an alarm
# touches an anomaly exactly if one of its rows does
assert GAP <= 2 * MARGIN


class BestEventF1(NamedTuple):
    """The highest F1 of events over all thresholds, and the threshold that gives it."""

    f1: float
    threshold: float


class _Changes(NamedTuple):
    """Counts that change once the threshold falls below a level."""

    level: NDArray[np.float64]
    normal: NDArray[np.int64]
    alarms: NDArray[np.int64]
    right: NDArray[np.int64]
    found: NDArray[np.int64]


def measures_with_oracle(
    counts: AlarmCounts,
    scores: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    interval: float | None = None,
) -> dict[str, float]:
    """The measures of a detector's alarm counts, and ``oracle_event_f1`` beside them.

    The oracle may alarm as many normal rows as the detector does, where that is more than
    ``MAX_NORMAL_SHARE``: the detector's own threshold is always among those tried.
    """
    covered = counts.share_covered
    most = MAX_NORMAL_SHARE if math.isnan(covered) else max(MAX_NORMAL_SHARE, covered)
    best = best_event_f1(scores, labels, most=most)
    return counts.measures(interval) | {"oracle_event_f1": best.f1}


def best_event_f1(
    scores: Sequence[ArrayLike], labels: Sequence[ArrayLike], *, most: float = MAX_NORMAL_SHARE
) -> BestEventF1:
    """The highest F1 of events that one threshold gives over all series, and that threshold.

    Parameters
    ----------
    scores, labels
        For each series, one score and one label, 0 or 1, a row. Scores of all series must be in
        the same unit, since one threshold serves all.
    most
        Share of the normal rows of all series that may lie above the threshold.

    Returns
    -------
    The F1 is nan without anomalies, and 0 where every threshold with an alarm alarms too many
    normal rows; the threshold then raises no alarm. Of several that are as good it is the highest.
    """
    if not len(scores) or len(scores) != len(labels):
        raise InputError(
            f"scores and labels must be of the same series, at least one; "
            f"got {len(scores)} and {len(labels)}"
        )
    pairs = [check_scored(*pair) for pair in zip(scores, labels, strict=True)]
    anomalies = sum(len(segments(anomalous)) for _, anomalous in pairs)
    series = [_changes(*pair) for pair in pairs]
    level, *changes = (np.concatenate(column) for column in zip(*series, strict=True))
    order = np.argsort(-level, kind="stable")
    level = level[order]
    # rows of the same score are alarmed together: counts hold after the last of them
    ends = np.flatnonzero(np.append(level[1:] != level[:-1], True))
    normal, alarms, right, found = (np.cumsum(change[order])[ends] for change in changes)
    if not anomalies:
        return BestEventF1(math.nan, float(level[0]))
    # a little more, since the share may have been computed from such a count
    allowed = normal <= most * normal[-1] * (1 + 1e-9)
    share_right, share_found = right / alarms, found / anomalies
    f1 = 2 * share_right * share_found / np.where(right > 0, share_right + share_found, 1.0)
    best = int(np.argmax(np.where(allowed, f1, 0.0)))
    if not allowed[best]:
        return BestEventF1(0.0, float(level[0]))
    # a score that is not alarmed itself; there is none below the lowest
    below = level[ends[best] + 1] if best + 1 < len(ends) else math.nextafter(level[-1], -math.inf)
    return BestEventF1(float(f1[best]), float(below))


def _changes(scores: NDArray[np.float64], anomalous: NDArray[np.bool_]) -> _Changes:
    """The changes of one series' counts as the threshold falls."""
    before = np.pad(scores, (GAP + 1, 0), constant_values=-np.inf)[:-1]
    rows = np.arange(1, len(scores))
    linked = rows - (GAP + 1) + sliding_window_view(before, GAP + 1)[1:].argmax(axis=1)
    links = np.minimum(scores[rows], scores[linked])
    near = _near(anomalous)
    merged = _merged(rows, linked, links, near)
    widened = (slice(max(a - MARGIN, 0), b + MARGIN) for a, b in segments(anomalous).tolist())
    peaks = np.array([scores[rows_of_one].max() for rows_of_one in widened])
    sizes = (len(scores), len(links), len(peaks))
    none = np.zeros(len(links) + len(peaks), dtype=np.int64)
    return _Changes(
        level=np.concatenate([scores, links, peaks]),
        normal=np.append(~anomalous, none),
        alarms=np.repeat([1, -1, 0], sizes),
        right=np.concatenate([near, -1 * merged, none[: len(peaks)]]),
        found=np.repeat([0, 0, 1], sizes),
    )


def _near(anomalous: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows of the widened anomalies."""
    near = anomalous.copy()
    for start, stop in segments(anomalous).tolist():
        near[max(start - MARGIN, 0) : stop + MARGIN] = True
    return near


def _merged(
    rows: NDArray[np.int64],
    linked: NDArray[np.int64],
    links: NDArray[np.float64],
    near: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Which links join two alarms that are both right: one less is right from there on."""
    merged = np.zeros(len(links), dtype=bool)
    if not near.any():
        return merged
    # lists: single items of arrays are slow
    parent, is_right = list(range(len(near))), near.tolist()
    one_end, other_end = rows.tolist(), linked.tolist()
    for link in np.argsort(-links, kind="stable").tolist():
        root, other_root = one_end[link], other_end[link]
        while parent[root] != root:
            parent[root] = root = parent[parent[root]]
        while parent[other_root] != other_root:
            parent[other_root] = other_root = parent[parent[other_root]]
        merged[link] = is_right[root] and is_right[other_root]
        is_right[other_root] = is_right[root] or is_right[other_root]
        parent[root] = other_root
    return merged
