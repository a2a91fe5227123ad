"""The live score: by hand, against the definition read aloud, and what it must not depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduce.live_score import (
    PROFILES,
    Span,
    Watched,
    live_score,
    live_score_at,
    windows_around,
)
from subadjacent.errors import InputError


def squashed(place: float) -> float:
    """The scaled sigmoid of the definition."""
    return -1.0 if place >= 3 else 2 / (1 + math.exp(5 * place)) - 1


def oracle(series: Sequence[Watched], threshold: float, profile: str) -> float:
    """Walk along every series, row by row, and add up what is earned and what is paid."""
    false, missed = {
        "standard": (0.11, 1.0),
        "reward low FP": (0.22, 1.0),
        "reward low FN": (0.11, 2.0),
    }[profile]
    total, count = 0.0, 0
    for given_scores, spans, unjudged in series:
        scores = np.asarray(given_scores, dtype=float).tolist()
        rows = len(scores)
        first = min(math.floor(0.15 * rows), 750) if unjudged is None else unjudged
        windows = windows_around(spans, rows, unjudged)
        earned = dict.fromkeys(windows, -missed)
        for row in range(first, rows):
            if scores[row] < threshold:
                continue
            inside = [(left, right) for left, right in windows if left <= row < right]
            before = [(left, right) for left, right in windows if right <= row]
            if inside:
                left, right = inside[0]
                # -1 at the first row of the window, a row's width from 0 at its last
                gain = squashed(-(right - 1 - row + 1) / (right - left)) / squashed(-1)
                earned[left, right] = max(earned[left, right], gain)
            elif before:
                left, right = before[-1]
                total += false * squashed((row - (right - 1)) / max(right - 1 - left, 1))
            else:
                total -= false
        total += sum(earned.values())
        count += len(windows)
    return 100 * (total + missed * count) / ((1 + missed) * count) if count else math.nan


def best_of_all(series: Sequence[Watched], profile: str) -> float:
    """Try every score as the threshold, and silence."""
    thresholds = np.concatenate([[math.inf], *(np.asarray(one.scores) for one in series)])
    return max(oracle(series, threshold, profile) for threshold in set(thresholds.tolist()))


def test_windows_around_anomalies_by_hand() -> None:
    for spans, expected in (
        # a tenth of the rows is shared by the windows
        ([(500, 501)], [(450, 551)]),
        ([(800, 801), (500, 501)], [(475, 526), (775, 826)]),
        ([], []),
        # a long anomaly widens its window to its end, with a short one inside it, too
        ([(500, 700)], [(450, 700)]),
        ([(500, 900), (520, 521)], [(475, 900)]),
        # windows that touch are one; those a row apart are two
        ([(500, 501), (551, 552)], [(475, 577)]),
        ([(500, 501), (552, 553)], [(475, 526), (527, 578)]),
        # a window ends with the series, and is left out where it begins among the first rows
        ([(990, 1_000)], [(940, 1_000)]),
        ([(199, 200)], []),
        ([(200, 201)], [(150, 251)]),
    ):
        assert windows_around(spans, 1_000) == expected
    assert windows_around([(0, 1)], 1_000, unjudged=0) == [(0, 51)]
    assert windows_around([(1_750, 1_751)], 20_000) == [(750, 2_751)]
    assert windows_around([(1_749, 1_750)], 20_000) == []


@st.composite
def watched(draw: st.DrawFn) -> Watched:
    rows = draw(st.integers(1, 60))
    scores = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    starts = draw(st.lists(st.integers(0, rows - 1), max_size=3))
    spans: list[Span] = [(at, min(rows, at + draw(st.integers(1, 8)))) for at in starts]
    unjudged = draw(st.sampled_from([None, 0, 3]))
    return Watched([float(score) for score in scores], spans, unjudged)


@given(st.lists(watched(), min_size=1, max_size=3), st.sampled_from(list(PROFILES)))
@settings(max_examples=150)
def test_it_is_the_definition_read_aloud(series: list[Watched], profile: str) -> None:
    found = live_score(series, profile)
    assert found.score == pytest.approx(best_of_all(series, profile), nan_ok=True, abs=1e-9)
    at = live_score_at(series, found.threshold, profile).score
    assert at == pytest.approx(found.score, nan_ok=True, abs=1e-9)


def test_what_it_refuses() -> None:
    cases: list[tuple[Any, str, str]] = [
        ([], "standard", "series must have at least one; got none"),
        ([Watched([1.0], [])], "strict", "profile must be one of 'standard', .*; got 'strict'"),
        ([Watched([1.0, math.nan], [])], "standard", "scores must be finite"),
        ([Watched([1.0], [(0, 2)])], "standard", r"within 1 rows, .*; got 0 to 2"),
        ([Watched([1.0], [(0, 0)])], "standard", "start before stop; got 0 to 0"),
        ([Watched([1.0], [(-1, 1)])], "standard", "got -1 to 1"),
        ([Watched([1.0], [], -1)], "standard", "unjudged"),
    ]
    for series, profile, message in cases:
        with pytest.raises(InputError, match=message):
            live_score(series, profile)
        with pytest.raises(InputError, match=message):
            live_score_at(series, 1.0, profile)
