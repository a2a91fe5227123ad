"""Seconds for the measures that are slow by their definition, beside their slow twins.

    python benchmarks/metrics.py --output benchmarks/reports/metrics.csv

The twins are those of the tests: the definitions read aloud, in loops. They run on few rows, and
the measures on the same rows; the ratio says what was gained there, and grows with the rows.
``seconds_long`` is the measure alone on ``--rows`` rows.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.evaluation.affiliation import affiliation
from subadjacent.evaluation.all_metrics import all_metrics
from subadjacent.evaluation.metrics import best_pa_k_area, best_point_adjusted_f1, pa_k_area
from subadjacent.evaluation.ranges import range_f1
from subadjacent.evaluation.volume import volumes

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from evaluation.awkward import adjust_oracle, best_oracle
from evaluation.slow import (
    affiliation_oracle,
    best_pa_k_area_oracle,
    pa_k_area_oracle,
    reward_oracle,
    volumes_oracle,
)


def series(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, alarms and labels: events of 1 % of the rows each, or of 200 rows at most."""
    rng = np.random.default_rng(seed)
    length = min(max(rows // 100, 2), 200)
    labels = np.zeros(rows, int)
    for start in rng.choice(rows - length, size=max(rows // (20 * length), 2), replace=False):
        labels[start : start + length] = 1
    scores = rng.normal(size=rows) + labels
    return scores, (scores > np.quantile(scores, 0.95)).astype(int), labels


def both(predicted: list[int], labels: list[int]) -> None:
    """Range-based precision and recall, the slow way."""
    reward_oracle(predicted, labels, 0, "reciprocal", "flat")
    reward_oracle(labels, predicted, 0, "reciprocal", "flat")


Measure = Callable[..., Any]
# name, rows for the twin, whether it takes scores or alarms, the measure, its twin
MEASURES: list[tuple[str, int, str, Measure, Measure | None]] = [
    (
        "VUS, tsb-ad, window 100",
        500,
        "scores",
        lambda s, y: volumes(s, y, 100, variant="tsb-ad"),
        lambda s, y: volumes_oracle(s, y, 100, "tsb-ad"),
    ),
    (
        "VUS, original, window 100",
        500,
        "scores",
        lambda s, y: volumes(s, y, 100, variant="original"),
        lambda s, y: volumes_oracle(s, y, 100, "original"),
    ),
    ("range-based F1", 5_000, "alarms", range_f1, both),
    ("affiliation", 5_000, "alarms", affiliation, affiliation_oracle),
    (
        "best point-adjusted F1",
        500,
        "scores",
        best_point_adjusted_f1,
        lambda s, y: best_oracle(s, y, adjust_oracle),
    ),
    ("PA%K area", 5_000, "alarms", pa_k_area, pa_k_area_oracle),
    ("best PA%K area", 150, "scores", best_pa_k_area, best_pa_k_area_oracle),
    ("all_metrics", 2_000, "scores", lambda s, y: all_metrics(s, y, 1.5), None),
]


def seconds(measure: Measure, given: Any, labels: Any, repeats: int) -> float:
    """The least of several runs."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        measure(given, labels)
        taken.append(time.perf_counter() - started)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    long_scores, long_alarms, long_labels = series(arguments.rows)
    rows = []
    print(
        f"{'measure':26} {'rows':>6} {'slow s':>9} {'s':>9} {'ratio':>8} {arguments.rows:>9,} rows"
    )
    for name, count, kind, measure, twin in MEASURES:
        scores, alarms, labels = series(count)
        given = scores if kind == "scores" else alarms
        quick = seconds(measure, given, labels, repeats=5)
        slow = twin and seconds(twin, given.tolist(), labels.tolist(), repeats=1)
        long_given = long_scores if kind == "scores" else long_alarms
        long = seconds(measure, long_given, long_labels, repeats=3)
        row = {
            "measure": name,
            "rows": count,
            "seconds_slow": "" if slow is None else f"{slow:.3f}",
            "seconds": f"{quick:.5f}",
            "ratio": "" if slow is None else f"{slow / quick:.0f}",
            "rows_long": arguments.rows,
            "seconds_long": f"{long:.4f}",
        }
        rows.append(row)
        print(
            f"{name:26} {count:>6} {row['seconds_slow']:>9} {row['seconds']:>9} "
            f"{row['ratio']:>8} {row['seconds_long']:>9} s",
            flush=True,
        )
    with arguments.output.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
