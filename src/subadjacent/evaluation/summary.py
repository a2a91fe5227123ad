"""Plain metrics of scores and alarms, and those of a random score for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import InputError
from subadjacent.evaluation.alarm_oracle import measures_with_oracle
from subadjacent.evaluation.alarms import count_alarms, joined_runs, total
from subadjacent.evaluation.inputs import check_predicted, check_scored
from subadjacent.evaluation.metrics import auroc, average_precision, best_f1, f1, precision, recall

RANDOM_SERIES = 20


def summarise(scores: ArrayLike, labels: ArrayLike, alarmed: ArrayLike) -> dict[str, float]:
    """All plain metrics, without point adjustment; ``alarmed`` marks the alarmed rows.

    ``auroc`` and ``average_precision`` do not depend on what is alarmed. ``oracle_f1`` does not
    either: it is the F1 at the threshold that the labels would choose. What is undefined is nan,
    as the docstring of each measure says.
    """
    values, anomalous = check_scored(scores, labels)
    alarmed, _ = check_predicted(alarmed, anomalous)
    # every run of alarmed rows is an alarm here, and labels are exact
    runs = count_alarms(joined_runs(alarmed, gap=0), anomalous, margin=0)
    return {
        "precision": precision(alarmed, anomalous),
        "recall": recall(alarmed, anomalous),
        "f1": f1(alarmed, anomalous),
        "average_precision": average_precision(values, anomalous),
        "auroc": auroc(values, anomalous),
        "oracle_f1": best_f1(values, anomalous).f1,
        "alarm_rate": float(alarmed.mean()),
        "events": float(runs.anomalies),
        "events_found": float(runs.found),
        "detection_delay": runs.delay,
        "false_alarms_per_1000": 1000 * (runs.covered / runs.rows),
        "false_alarm_runs": float(runs.false),
    }


def with_controls(
    scores: ArrayLike, labels: ArrayLike, alarmed: ArrayLike, rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """``summarise`` of these scores, and of 20 random scores with as many alarmed rows.

    If both agree on a metric, the detector is no better than chance. The random metrics are means,
    without undefined values, such as the delay when nothing was found.
    """
    _check_generator(rng)
    values, anomalous = check_scored(scores, labels)
    alarmed, _ = check_predicted(alarmed, anomalous)
    return {
        "this detector": summarise(values, anomalous, alarmed),
        "random score": _summarise_random(anomalous, int(alarmed.sum()), rng),
    }


def alarms_with_controls(
    flags: Sequence[ArrayLike],
    scores: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    rng: np.random.Generator,
    interval: float | None = None,
) -> dict[str, dict[str, float]]:
    """Alarm metrics of one or several entities, and of 20 random scores.

    Parameters
    ----------
    flags, scores, labels
        For each entity, one value a row. Flagged rows are joined into alarms; scores are for the
        oracle alone, and must be in one unit.
    rng
        Draws the random scores, which flag as many rows. They have no oracle.
    interval
        Seconds from row to row, where they are known.
    """
    _check_generator(rng)
    pairs = [check_predicted(*pair) for pair in zip(flags, labels, strict=True)]
    counts = total(count_alarms(joined_runs(flagged_rows), known) for flagged_rows, known in pairs)
    flagged = sum(int(flagged_rows.sum()) for flagged_rows, _ in pairs)
    ends = np.cumsum([len(known) for _, known in pairs])
    rows = []
    for _ in range(RANDOM_SERIES):
        drawn = np.split(rng.permutation(ends[-1]) < flagged, ends[:-1])
        random_counts = (
            count_alarms(joined_runs(flagged_rows), known)
            for flagged_rows, (_, known) in zip(drawn, pairs, strict=True)
        )
        rows.append(total(random_counts).measures(interval))
    return {
        "this detector": measures_with_oracle(counts, scores, labels, interval),
        "random score": {name: _mean_defined([row[name] for row in rows]) for name in rows[0]},
    }


def _check_generator(rng: Any) -> None:
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator; got {rng!r}")


def _summarise_random(
    labels: NDArray[np.bool_], alarms: int, rng: np.random.Generator
) -> dict[str, float]:
    """``summarise``, averaged over random scores that alarm on exactly ``alarms`` rows."""
    n = len(labels)
    rows = []
    for _ in range(RANDOM_SERIES):
        # the ranks of a uniform score: every measure depends on these alone
        ranks = rng.permutation(n)
        rows.append(summarise(ranks.astype(np.float64), labels, ranks >= n - alarms))
    return {name: _mean_defined([row[name] for row in rows]) for name in rows[0]}


def _mean_defined(values: list[Any]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan
