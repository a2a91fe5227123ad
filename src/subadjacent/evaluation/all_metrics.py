"""All metrics of this folder for one series of scores, as one dict."""

from __future__ import annotations

from numpy.typing import ArrayLike

from subadjacent.evaluation.adjust import point_adjust
from subadjacent.evaluation.affiliation import affiliation
from subadjacent.evaluation.inputs import check_predicted, check_scored
from subadjacent.evaluation.metrics import (
    best_pa_k_area,
    best_point_adjusted_f1,
    f1,
    pa_k_area,
    precision,
    recall,
)
from subadjacent.evaluation.ranges import range_f1, range_precision, range_recall
from subadjacent.evaluation.summary import summarise
from subadjacent.evaluation.volume import volumes


def all_metrics(
    scores: ArrayLike, labels: ArrayLike, alarmed: ArrayLike, *, window: int = 100
) -> dict[str, float]:
    """``summarise``, and the measures that published tables are made of; all in one dict.

    ``alarmed`` says which rows are. ``window`` is the longest buffer of the volumes. Names
    that begin with ``oracle_`` are of the threshold that the labels would choose for that measure.
    What is undefined is nan, as the docstring of each measure says.

    Point adjustment makes random scores look good: its numbers, and those of affiliation, are for
    comparison with published ones, beside the same numbers of a random score.
    """
    values, anomalous = check_scored(scores, labels)
    alarmed, _ = check_predicted(alarmed, anomalous)
    adjusted = point_adjust(alarmed, anomalous)
    best = best_point_adjusted_f1(values, anomalous)
    best_adjusted = point_adjust(values > best.threshold, anomalous)
    tsb_ad = volumes(values, anomalous, window, variant="tsb-ad")
    original = volumes(values, anomalous, window, variant="original")
    nearness = affiliation(alarmed, anomalous)
    return {
        **summarise(values, anomalous, alarmed),
        "vus_roc_tsb_ad": tsb_ad.roc,
        "vus_pr_tsb_ad": tsb_ad.pr,
        "vus_roc_original": original.roc,
        "vus_pr_original": original.pr,
        "range_precision": range_precision(alarmed, anomalous),
        "range_recall": range_recall(alarmed, anomalous),
        "range_f1": range_f1(alarmed, anomalous),
        "affiliation_precision": nearness.precision,
        "affiliation_recall": nearness.recall,
        "affiliation_f1": nearness.f1,
        "point_adjusted_precision": precision(adjusted, anomalous),
        "point_adjusted_recall": recall(adjusted, anomalous),
        "point_adjusted_f1": f1(adjusted, anomalous),
        "oracle_point_adjusted_precision": precision(best_adjusted, anomalous),
        "oracle_point_adjusted_recall": recall(best_adjusted, anomalous),
        "oracle_point_adjusted_f1": best.f1,
        "pa_k_area": pa_k_area(alarmed, anomalous),
        "oracle_pa_k_area": best_pa_k_area(values, anomalous),
    }
