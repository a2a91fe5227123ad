"""Scores and labels that measures stumble over, and the slow way through all thresholds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

Pair = tuple[list[float], list[int]]
# numbers of other packages, and the series they are of
PEERS = json.loads((Path(__file__).parent / "frozen" / "peers.json").read_text(encoding="utf-8"))


def close(found: Any, expected: Any, rel: float = 1e-11) -> bool:
    return bool(found == pytest.approx(expected, rel=rel, abs=1e-12, nan_ok=True))


def of_peer(row: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Scores, alarmed rows and labels that a row of another package is of."""
    case = PEERS["series"][row["case"]]
    scores = np.array(case["scores"])
    labels = [label for label, length in case["labels"] for _ in range(length)]
    return scores, scores > case["threshold"], labels


REFUSED_FLAGS: list[tuple[Any, str]] = [
    ([0, 2, 1], "must be 0 or 1; got 2 in row 1"),
    ([0, 1, -1], "must be 0 or 1; got -1 in row 2"),
    ([0.5, 1, 0], "must be 0 or 1; got 0.5 in row 0"),
    ([0, math.nan, 0], "must be 0 or 1; got nan in row 1"),
    ([0, math.inf, 0], "must be 0 or 1; got inf in row 1"),
    ([0, 1], "and labels must have one value for each row; got "),
    ([], r"must be 1-d, at least one; got shape \(0,\)"),
    ([[0, 1, 0]], r"must be 1-d, at least one; got shape \(1, 3\)"),
    (1, r"must be 1-d, at least one; got shape \(\)"),
    (None, r"must be 1-d, at least one|must be 0 or 1"),
    (["normal", "odd", "normal"], "must be 0 or 1, one a row; could not convert"),
    ([[0], [0, 1]], "must be 0 or 1, one a row; setting an array element"),
]

REFUSED_SCORES: list[tuple[Any, str]] = [
    ([0.1, math.nan, 0.2], "scores must be finite; got nan in row 1"),
    ([0.1, 0.2, -math.inf], "scores must be finite; got -inf in row 2"),
    ([0.1, 0.2], "scores and labels must have one value for each row; got 2 scores and 3 labels"),
    ([], r"scores must be 1-d, at least one; got shape \(0,\)"),
    ([[0.1], [0.2], [0.3]], r"scores must be 1-d, at least one; got shape \(3, 1\)"),
    (["high", "low", "low"], "scores must be numbers; could not convert"),
]


@st.composite
def scored(draw: st.DrawFn, both: bool = False) -> Pair:
    """Scores, often tied, and labels in runs, often none or only ones unless ``both``."""
    runs = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 6)), min_size=1, max_size=8))
    if both:
        runs += [(0, 1), (1, 1)]
    labels = [label for label, length in runs for _ in range(length)]
    few = st.integers(-2, 3).map(float)
    score = draw(st.sampled_from([few, st.floats(-1e300, 1e300), few.map(lambda x: x / 10)]))
    n = len(labels)
    return draw(st.lists(score, min_size=n, max_size=n)), labels


def series(n: int, seed: int, levels: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Random scores, rounded to ``levels`` different ones where given, and labels in runs."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.integers(0, 2, size=n), rng.integers(1, 5, size=n))[:n]
    scores = rng.normal(size=n) + labels
    return (scores if levels is None else np.round(scores * levels / 6)), labels


AWKWARD: list[tuple[Any, Any]] = [
    ([1.0], [1]),
    ([1.0], [0]),
    ([1.0, 1.0], [0, 1]),
    ([0.0, -0.0, 1.0], [1, 0, 0]),
    ([3.0, 2.0, 1.0], [0, 0, 1]),
    ([5.0, 5.0, 5.0, 5.0], [0, 1, 1, 0]),
    ([1.0, 2.0, 3.0], [1, 1, 1]),
    ([1.0, 2.0, 3.0], [0, 0, 0]),
    ([-1.7976931348623157e308, 0.0], [1, 1]),
    ([5e-324, 0.0, -5e-324], [1, 0, 1]),
    ([1.0, 1.0 + 2**-52, 1.0], [0, 1, 1]),
    *[series(n, seed=n, levels=levels) for n in (2, 7, 40, 60) for levels in (None, 3, 12)],
]


def every_threshold(scores: Any) -> Iterator[float]:
    """One threshold for each way of alarming rows: from none to all, high to low."""
    distinct = sorted({float(score) for score in scores}, reverse=True)
    yield from [*distinct, -math.inf]


def f1_oracle(predicted: list[bool], labels: list[int]) -> float:
    """Precision and recall by counting, then their harmonic mean."""
    hits = sum(1 for p, y in zip(predicted, labels, strict=True) if p and y)
    alarmed, anomalous = sum(map(bool, predicted)), sum(map(bool, labels))
    if not alarmed and not anomalous:
        return math.nan
    if not hits:
        return 0.0
    return 2 / (alarmed / hits + anomalous / hits)


def adjust_oracle(predicted: list[bool], labels: list[int], k: float = 0) -> list[bool]:
    """Walk to both ends of the event from each of its rows, and count."""
    adjusted = []
    for row, (p, y) in enumerate(zip(predicted, labels, strict=True)):
        start = stop = row
        while y and start > 0 and labels[start - 1]:
            start -= 1
        while y and stop < len(labels) and labels[stop]:
            stop += 1
        enough = bool(y) and 100 * sum(predicted[start:stop]) > k * (stop - start)
        adjusted.append(bool(p) or enough)
    return adjusted


def best_oracle(
    scores: Any, labels: Any, adjust: Callable[[list[bool], list[int]], list[bool]] | None = None
) -> tuple[float, list[bool]]:
    """Highest F1 and its alarms: try every threshold; the first that is better wins."""
    best, alarms = math.nan, [False] * len(scores)
    for threshold in every_threshold(scores):
        predicted = [bool(score > threshold) for score in scores]
        counted = adjust(predicted, list(labels)) if adjust else predicted
        found = f1_oracle(counted, list(labels))
        # a hair: 2 / (a + b) and 2h / (n + m) round differently
        if any(labels) and (math.isnan(best) or found > best + 1e-12):
            best, alarms = found, predicted
    return best, alarms
