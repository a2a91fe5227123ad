"""Alarms of examples, generated plants and streams, each with the rows that it speaks of."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from examples.gallery.cases import CASES
from examples.gallery.run import run_case
from tests.truth.rows import Rows

from reproduce.cases.departures import KINDS, departure_case
from reproduce.cases.streams import STREAM_KINDS, live_stream
from subadjacent import StreamScorer, SubAdjacentDetector, multivariate
from subadjacent.cli.generate import plant_frame

# rows of a stream without a model: enough for its first anomalies
STREAM_ROWS = 3_000
# states of a live alarm in which it is shown for long
SHOWN_STATES = ("opened", "closed", "confirmed")


class Told(NamedTuple):
    """An alarm, the rows that were known when it was told, and where it is from."""

    source: str
    case: str
    rows: Rows
    alarm: Any


def in_batch(
    source: str, case: str, train: pd.DataFrame, test: pd.DataFrame, detector: Any = None
) -> list[Told]:
    """Alarms of a detector fitted on some rows, in those that follow."""
    fitted = (detector or SubAdjacentDetector()).fit(train)
    alarms = fitted.assess(test).alarms()
    return _told(source, case, test, train, alarms)


def _told(
    source: str, case: str, test: pd.DataFrame, train: pd.DataFrame | None, alarms: Sequence[Any]
) -> list[Told]:
    timed = isinstance(test.index, pd.DatetimeIndex)
    rows = Rows(
        test.to_numpy(float),
        tuple(map(str, test.columns)),
        list(test.index.to_pydatetime()) if timed else None,
        None if train is None else train.to_numpy(float),
        [(alarm.first, alarm.last) for alarm in alarms],
    )
    return [Told(source, case, rows, alarm) for alarm in alarms]


def live(
    source: str, case: str, rows: pd.DataFrame, detector: Any = None, train: Any = None
) -> Iterator[Told]:
    """Alarms of a stream as they open, close and are confirmed, with the rows known by then."""
    values, channels = rows.to_numpy(float), [str(name) for name in rows.columns]
    timed = isinstance(rows.index, pd.DatetimeIndex)
    labels = list(rows.index.to_pydatetime()) if timed else None
    scorer = StreamScorer(channels=channels) if detector is None else detector.stream()
    latest: dict[int, tuple[int, int]] = {}
    for row, one in enumerate(values):
        for answer in scorer.score_one(one, time=None if labels is None else labels[row]):
            alarm = answer.alarm
            if alarm is None:
                continue
            latest[alarm.number] = (alarm.first, alarm.last)
            if alarm.state in SHOWN_STATES:
                known = Rows(
                    values[: row + 1],
                    tuple(channels),
                    None if labels is None else labels[: row + 1],
                    None if train is None else np.asarray(train, dtype=float),
                    list(latest.values()),
                )
                yield Told(source, f"{case} {alarm.state}", known, alarm)


def frame(values: Any, *, minutes: float | None = None, names: Sequence[str] = ()) -> pd.DataFrame:
    """Rows of a plant, with a clock or without."""
    values = np.asarray(values)
    index = None
    if minutes is not None:
        index = pd.date_range("2026-03-02", periods=len(values), freq=f"{round(60 * minutes)}s")
    return pd.DataFrame(
        values, columns=list(names) or [f"channel_{n}" for n in range(values.shape[1])], index=index
    )


def readme(_seed: int) -> Iterator[Told]:
    """The example of the README, in a batch and live."""
    plant = multivariate(n=2_000, channels=4, seed=5)
    yield from in_batch("readme", "batch", frame(plant.train), frame(plant.test))
    yield from live("readme", "learning", frame(plant.test))
    detector = SubAdjacentDetector().fit(plant.train)
    yield from live("readme", "fitted", frame(plant.test), detector, plant.train)


def demo(_seed: int) -> Iterator[Told]:
    """`subadjacent demo`."""
    whole = plant_frame(8_000, channels=6, seed=0).drop("label").to_pandas().set_index("time")
    yield from in_batch("demo", "demo", whole[:4_000], whole[4_000:])


def tutorials(_seed: int) -> Iterator[Told]:
    """The data of docs/tutorials."""
    whole = plant_frame(4_000, channels=4, seed=1).drop("label").to_pandas().set_index("time")
    yield from in_batch("tutorials", "plant", whole[:2_000], whole[2_000:])
    plant = multivariate(n=4_000, channels=5, seed=1)
    yield from in_batch("tutorials", "labels", frame(plant.train[:2_000]), frame(plant.test))
    for number in (1, 3, 11, 17, 24):
        pump = multivariate(n=700, channels=3, seed=number)
        rows = pump.train.copy()
        if number in (3, 11, 17):
            rows[350:] = pump.test[350:]
        table = frame(rows.round(2), minutes=5, names=["flow", "pressure", "heat"])
        yield from in_batch("tutorials", f"fleet {number}", table[:350], table[350:])
    server = live_stream("server", seed=1)
    table = frame(server.values, minutes=5, names=["cpu", "memory", "network"])
    yield from live("tutorials", "live", table)


def gallery(number: int) -> Iterator[Told]:
    """A case of the gallery, by the command."""
    case = CASES[number]
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_case(case, Path(folder))
    for series in outcome.assessment.series:
        values = (
            np.where(series.missing, np.nan, series.values)
            if series.missing is not None
            else series.values
        )
        labels = None if series.index is None else list(series.index)
        alarms = [_parsed(one) for one in outcome.alarms if one["entity"] == series.entity]
        rows = Rows(
            np.asarray(values, dtype=float),
            series.channels,
            labels,
            events=[(one.first, one.last) for one in alarms],
        )
        for alarm in alarms:
            yield Told("gallery", f"{case.name} {series.entity or ''}".strip(), rows, alarm)


def _parsed(record: dict[str, Any]) -> Any:
    """An alarm as the command prints it, with its fields as attributes."""

    def label(text: Any) -> Any:
        try:
            return datetime.fromisoformat(text)
        except (TypeError, ValueError):
            return text

    def number(value: Any) -> float:
        return float("nan") if value is None else float(value)

    causes = [
        SimpleNamespace(
            **{
                **cause,
                "at": label(cause["at"]),
                **{name: number(cause[name]) for name in ("seen", "low", "high", "expected")},
            }
        )
        for cause in record["causes"]
    ]
    times = {name: label(record[name]) for name in ("start", "end", "peak")}
    return SimpleNamespace(**{**record, **times, "causes": causes})


def plants(seed: int) -> Iterator[Told]:
    """Generated plants with faults, one in two with a clock."""
    plant = multivariate(n=2_000, channels=(4, 8, 1, 3)[seed % 4], seed=100 + seed)
    minutes = (None, 5.0, 1.0)[seed % 3]
    train, test = frame(plant.train, minutes=minutes), frame(plant.test, minutes=minutes)
    if minutes is not None:
        whole = frame(np.concatenate([plant.train, plant.test]), minutes=minutes)
        train, test = whole[: len(train)], whole[len(train) :]
    yield from in_batch("plants", str(seed), train, test)


def departures(number: int) -> Iterator[Told]:
    """A plant of twenty channels with one departure, one kind after the other."""
    kind, seed = number % len(KINDS), number // len(KINDS)
    case = departure_case(KINDS[kind], np.random.default_rng([seed, kind]))
    name = f"{case.kind} {seed}"
    yield from in_batch("departures", name, frame(case.train), frame(case.test))


def streams(number: int) -> Iterator[Told]:
    """Live streams that are learned from their first row on, one kind after the other."""
    kinds = sorted(STREAM_KINDS)
    kind, seed = kinds[number % len(kinds)], number // len(kinds)
    values = live_stream(kind, seed).values[: STREAM_ROWS * (1 + seed)]
    yield from live("streams", f"{kind} {seed}", frame(values, minutes=5))


def fitted_streams(seed: int) -> Iterator[Told]:
    """Live rows of a plant, by a fitted model."""
    plant = multivariate(n=1_500, channels=(3, 1, 5)[seed % 3], seed=500 + seed)
    detector = SubAdjacentDetector().fit(plant.train)
    yield from live("fitted streams", str(seed), frame(plant.test), detector, plant.train)


class Source(NamedTuple):
    """Where alarms are from: of each number, those of one job; how many in each form."""

    alarms: Callable[[int], Iterator[Told]]
    quick: int
    long: int


SOURCES = {
    "readme": Source(readme, 1, 1),
    "demo": Source(demo, 1, 1),
    "tutorials": Source(tutorials, 0, 1),
    "gallery": Source(gallery, 1, len(CASES)),
    "plants": Source(plants, 12, 300),
    "departures": Source(departures, 5, 200),
    "streams": Source(streams, 1, 2 * len(STREAM_KINDS)),
    "fitted streams": Source(fitted_streams, 1, 30),
}


def told(source: str, number: int) -> list[Told]:
    """Alarms of one job, without what the library logs or warns about."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(SOURCES[source].alarms(number))
    finally:
        logging.disable(before)
