"""The slow twins of volumes, ranges and affiliation: definitions read aloud, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evaluation.awkward import adjust_oracle, best_oracle, f1_oracle

Run = tuple[int, int]


def runs(flags: Sequence[float]) -> list[Run]:
    """First and last row of each run of rows that are not 0, walking along them."""
    found: list[Run] = []
    for row, flag in enumerate(flags):
        if flag and row and flags[row - 1]:
            found[-1] = (found[-1][0], row)
        elif flag:
            found.append((row, row))
    return found


def softened(labels: Sequence[int], width: int, variant: str) -> list[float]:
    """Labels with a buffer: add up the share that each event gives to each row around it."""
    shares = [float(y) for y in labels]
    after = width // 2 - 1 if variant == "original" else width // 2
    for first, last in runs(labels):
        for row in range(len(labels)):
            if first - width // 2 <= row < first:
                shares[row] += math.sqrt(1 - (first - row) / width)
            if last < row <= last + after:
                shares[row] += math.sqrt(1 - (row - last) / width)
    return [min(1.0, share) for share in shares]


def merged(labels: Sequence[int], width: int, variant: str) -> list[Run]:
    """Events with their buffers, rows of the series alone; those whose buffers meet are one."""
    half, n = width // 2, len(labels)
    after = max(half - 1, 0) if variant == "original" else half
    events: list[Run] = []
    for first, last in runs(labels):
        # at equality the buffers share a row, or touch where that after an event is shorter
        if events and first - half <= events[-1][1] + (half - after):
            events[-1] = (events[-1][0], last + after)
        else:
            events.append((first - half, last + after))
    return [(max(0, first), min(n - 1, last)) for first, last in events]


def volumes_oracle(
    scores: Sequence[float],
    labels: Sequence[int],
    window: int,
    variant: str,
    thresholds: int = 250,
) -> tuple[float, float]:
    """ROC and precision-recall areas for each buffer and threshold in turn, then their means."""
    n, anomalous = len(scores), sum(labels)
    if not anomalous:
        return math.nan, math.nan
    falling = sorted(scores, reverse=True)
    # equal steps of rank, rounded down; the last is the lowest score itself
    ranks = [int(i * ((n - 1) / (thresholds - 1))) for i in range(thresholds - 1)] + [n - 1]
    roc = pr = 0.0
    for width in range(window + 1):
        shares = softened(labels, width, variant)
        events = merged(labels, width, variant)
        recalls, false_rates, precisions = [0.0], [0.0], [1.0]
        for rank in ranks:
            alarmed = [score >= falling[rank] for score in scores]
            credit = sum(share for share, alarm in zip(shares, alarmed, strict=True) if alarm)
            counted = [
                share
                for share, label, alarm in zip(shares, labels, alarmed, strict=True)
                if label or alarm or variant == "original"
            ]
            positives = (anomalous + sum(counted)) / 2
            found = sum(any(alarmed[first : last + 1]) for first, last in events)
            recalls.append(min(credit / positives, 1) * found / len(events))
            precisions.append(credit / sum(alarmed))
            room = n - positives
            false_rates.append((sum(alarmed) - credit) / room if anomalous < n else math.nan)
        for i in range(1, len(recalls)):
            height = precisions[i]
            if variant == "original":
                height = (precisions[i] + precisions[i - 1]) / 2
            pr += (recalls[i] - recalls[i - 1]) * height
        recalls.append(1.0)
        false_rates.append(1.0)
        for i in range(1, len(recalls)):
            width_of_step = false_rates[i] - false_rates[i - 1]
            roc += width_of_step * (recalls[i] + recalls[i - 1]) / 2
    return roc / (window + 1), pr / (window + 1)


def weight_oracle(place: int, length: int, bias: str) -> int:
    """What the row at a place, from 1 on, weighs in its range."""
    return {
        "flat": 1,
        "front": length - place + 1,
        "back": place,
        "middle": min(place, length - place + 1),
    }[bias]


def reward_oracle(
    ranges: Sequence[int], cover: Sequence[int], alpha: float, cardinality: str, bias: str
) -> float:
    """Mean reward of each run of ``ranges`` for the runs of ``cover`` that overlap it."""
    rewards = []
    for first, last in runs(ranges):
        rows = range(first, last + 1)
        overlaps = sum(a <= last and b >= first for a, b in runs(cover))
        weights = [weight_oracle(row - first + 1, len(rows), bias) for row in rows]
        got = sum(w for w, row in zip(weights, rows, strict=True) if cover[row]) / sum(weights)
        if cardinality == "reciprocal" and overlaps > 1:
            got /= overlaps
        rewards.append(alpha * (overlaps > 0) + (1 - alpha) * got)
    return sum(rewards) / len(rewards) if rewards else math.nan


def affiliation_oracle(predicted: Sequence[int], labels: Sequence[int]) -> tuple[float, float]:
    """Chances at the middle of each eighth of a row, averaged.

    Everything bends at quarters of a row at the finest, and is straight between: the mean over
    middles of eighths is exact.
    """
    events = [(first, last + 1) for first, last in runs(labels)]
    alarms = [(first, last + 1) for first, last in runs(predicted)]
    precisions, recalls = [], []
    for i, (start, stop) in enumerate(events):
        left = (events[i - 1][1] + start) / 2 if i else 0
        right = (stop + events[i + 1][0]) / 2 if i + 1 < len(events) else len(labels)
        inside = [(max(a, left), min(b, right)) for a, b in alarms if a < right and b > left]
        times = [left + (step + 0.5) / 8 for step in range(round(8 * (right - left)))]
        near: list[float] = []
        missed: list[float] = []
        for x in times:
            if any(a <= x < b for a, b in inside):
                far = max(start - x, x - stop, 0)
                nearer = min(stop + far, right) - max(start - far, left) if far else 0
                near.append(1 - nearer / (right - left))
            if start <= x < stop:
                far = min((max(a - x, x - b, 0) for a, b in inside), default=math.inf)
                nearer = min(x + far, right) - max(x - far, left)
                missed.append(1 - nearer / (right - left))
        if near:
            precisions.append(sum(near) / len(near))
        recalls.append(sum(missed) / len(missed))
    if not events:
        return math.nan, math.nan
    precision = sum(precisions) / len(precisions) if precisions else math.nan
    return precision, sum(recalls) / len(recalls)


def area_oracle(f1_at: Callable[[int], float]) -> float:
    """Trapezoids under F1 at K = 0, 1, ..., 100, of a base of length 1."""
    return sum((f1_at(k) + f1_at(k + 1)) / 2 for k in range(100)) / 100


def pa_k_area_oracle(predicted: Sequence[int], labels: Sequence[int]) -> float:
    """Adjust, count, for every K."""
    alarmed = [bool(p) for p in predicted]
    return area_oracle(lambda k: f1_oracle(adjust_oracle(alarmed, list(labels), k), list(labels)))


def best_pa_k_area_oracle(scores: Sequence[float], labels: Sequence[int]) -> float:
    """Every threshold, adjusted, for every K."""
    return area_oracle(
        lambda k: best_oracle(scores, labels, lambda p, y: adjust_oracle(p, y, k))[0]
    )
