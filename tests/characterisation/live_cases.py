"""Twenty generated series, live: what is frozen of a stream was recorded on them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from live_plant import CHANNELS, broken, plant
from subadjacent import StreamScorer, SubAdjacentDetector

ROWS = 700

Streamed = tuple[StreamScorer, list[Any]]
Case = Callable[[], Streamed]


def _pushed(scorer: StreamScorer, *parts: tuple[Any, ...]) -> Streamed:
    """A scorer, and its answers to rows that come in parts: rows, times, entity."""
    answers = [answer for part in parts for answer in scorer.score_many(*part)]
    return scorer, answers + scorer.finish()


def _chunks(values: Any, times: list[Any] | None = None, size: int = 90) -> list[tuple[Any, ...]]:
    begins = range(0, len(values), size)
    return [(values[at : at + size], times and times[at : at + size]) for at in begins]


def _dates(minutes: Any, start: str = "2026-01-01") -> list[str]:
    moments = pd.Timestamp(start) + pd.to_timedelta(np.asarray(minutes), unit="min")
    return [moment.isoformat() for moment in moments]


def _waves(channels: int, seed: int, rows: int = ROWS) -> np.ndarray:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    return np.sin(time / (6 + np.arange(channels))) + 0.1 * rng.normal(size=(rows, channels))


def _with_gaps(rows: int) -> list[str]:
    """Times a minute apart: without 4 rows once, and without 300 twice."""
    number = np.arange(rows)
    return _dates(number + 4 * (number >= 150) + 300 * (number >= 320) + 300 * (number >= 520))


def _disordered(rows: int) -> tuple[np.ndarray, list[str]]:
    """Numbers of rows as they come, with their times: some are late, some come twice."""
    order = np.arange(rows)
    order[200:210] = order[200:210][::-1]
    order = np.insert(order, [300, 301, 450], [299, 250, 20])
    return order, _dates(order)


@cache
def _detector(**options: Any) -> SubAdjacentDetector:
    frame = pd.DataFrame(plant(1_000, seed=7), columns=list(CHANNELS))
    frame.index = pd.date_range("2025-12-01", periods=len(frame), freq="1min")
    return SubAdjacentDetector(**options).fit(frame)


@cache
def _entities_detector() -> SubAdjacentDetector:
    return SubAdjacentDetector().fit(
        {f"unit {n}": (n + 1) * plant(500, seed=30 + n) for n in range(3)}
    )


def _three_faults() -> Streamed:
    return _pushed(StreamScorer(channels=CHANNELS), *_chunks(broken(1_000)))


def _one_by_one() -> Streamed:
    scorer, values = StreamScorer(), broken(1_000)[:500]
    return scorer, [answer for row in values.tolist() for answer in scorer.score_one(row)]


def _one_channel() -> Streamed:
    values = _waves(1, seed=1)
    values[300] += 4
    values[500:540] += 1.5
    return _pushed(StreamScorer(), *_chunks(values))


def _eight_channels() -> Streamed:
    values = _waves(8, seed=2)
    values[400:430, [2, 5]] += 3
    values[600:620, 7] *= -4
    return _pushed(StreamScorer(), *_chunks(values))


def _gaps() -> Streamed:
    return _pushed(StreamScorer(channels=CHANNELS), *_chunks(broken(ROWS), _with_gaps(ROWS)))


def _late() -> Streamed:
    order, times = _disordered(ROWS)
    return _pushed(StreamScorer(channels=CHANNELS), *_chunks(broken(ROWS)[order], times, size=7))


def _missing() -> Streamed:
    """Dicts without a channel, with None, and with a column that is no channel."""
    rows: list[dict[str, Any]] = [
        dict(zip(CHANNELS, row, strict=True)) for row in plant(ROWS, seed=3).tolist()
    ]
    for number, row in enumerate(rows):
        if number % 17 == 5:
            del row["flow"]
        if 400 <= number < 440:
            row["speed"] = None
        if number % 100 == 50:
            row["remark"] = 1.0
    return _pushed(StreamScorer(), *_chunks(rows))


def _late_start() -> Streamed:
    """A channel that has its first value after 200 rows, and one that never changes."""
    values = _waves(4, seed=4)
    values[:200, 1] = np.nan
    values[:, 3] = 5.0
    values[600, 3] = 6.0
    return _pushed(StreamScorer(), *_chunks(values))


def _entities() -> Streamed:
    """A frame whose rows are of three machines in turn."""
    values = broken(900)
    frame = pd.DataFrame(values, columns=list(CHANNELS))
    frame["time"] = _dates(np.arange(900) // 3)
    frame["item_id"] = [f"unit {number % 3}" for number in range(900)]
    return _pushed(StreamScorer(), (frame[:400],), (frame[400:],))


def _budget() -> Streamed:
    values = _waves(2, seed=5)
    values[250::60] += 3.0
    return _pushed(StreamScorer(close_after=10, contamination=1 / 200), *_chunks(values))


def _budget_of_time() -> Streamed:
    values = _waves(2, seed=6)
    values[250::50, 0] += 3.0
    scorer = StreamScorer(close_after=5, contamination="2/4h")
    return _pushed(scorer, *_chunks(values, _dates(np.arange(ROWS))))


def _quick_to_adapt() -> Streamed:
    values = _waves(3, seed=8)
    values[350:] += 4
    return _pushed(StreamScorer(adapt_after=80), *_chunks(values))


def _never_adapts() -> Streamed:
    values = _waves(3, seed=9)
    values[350:, 0] += 4
    return _pushed(StreamScorer(adapt_after=None, close_after=5), *_chunks(values))


def _accepted() -> Streamed:
    """An alarm that somebody takes for normal while it is open."""
    values = _waves(3, seed=10)
    values[350:450] += 4
    values[550:600] += 4
    scorer = StreamScorer()
    answers = scorer.score_many(values[:380])
    scorer.accept(scorer.alarms[-1].number)
    return scorer, answers + scorer.score_many(values[380:])


def _stopped() -> Streamed:
    """Saved in the middle of an alarm, and restored."""
    values = broken(ROWS)
    scorer = StreamScorer(channels=CHANNELS, fill_limit=2)
    answers = scorer.score_many(values[:303])
    with tempfile.TemporaryDirectory() as folder:
        scorer.save(Path(folder) / "state")
        scorer = StreamScorer.restore(Path(folder) / "state")
    return scorer, answers + scorer.score_many(values[303:])


def _model() -> Streamed:
    return _pushed(_detector().stream(), *_chunks(broken(1_000)))


def _causal_model() -> Streamed:
    times = _with_gaps(ROWS)
    return _pushed(StreamScorer(_detector(lookahead=0)), *_chunks(broken(ROWS), times, size=11))


def _late_with_model() -> Streamed:
    order, times = _disordered(ROWS)
    return _pushed(StreamScorer(_detector()), *_chunks(broken(ROWS)[order], times, size=33))


def _budget_with_model() -> Streamed:
    values = plant(ROWS, seed=11)
    values[100::80, 2] += 12
    scorer = StreamScorer(_detector(contamination="1/4h"), close_after=10)
    return _pushed(scorer, *_chunks(values, _dates(np.arange(ROWS))))


def _entities_with_model() -> Streamed:
    """Two entities that the model knows and one that it does not."""
    scorer, values = StreamScorer(_entities_detector()), broken(1_000)[:400]
    parts = [
        (factor * values[at : at + 80], None, name)
        for at in range(0, 400, 80)
        for factor, name in ((1, "unit 0"), (3, "unit 2"), (2, "unseen"))
    ]
    return _pushed(scorer, *parts)


CASES: dict[str, Case] = {
    "faults": _three_faults,
    "one by one": _one_by_one,
    "one channel": _one_channel,
    "eight channels": _eight_channels,
    "gaps": _gaps,
    "late": _late,
    "missing": _missing,
    "late start": _late_start,
    "entities": _entities,
    "budget": _budget,
    "budget of time": _budget_of_time,
    "quick to adapt": _quick_to_adapt,
    "never adapts": _never_adapts,
    "accepted": _accepted,
    "stopped": _stopped,
    "model": _model,
    "causal model": _causal_model,
    "late with model": _late_with_model,
    "budget with model": _budget_with_model,
    "entities with model": _entities_with_model,
}
