"""Series for `decision.py`, and alarms in the one form in which it compares them."""

# Shapes: T rows, C channels.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from live_data import Entity, of_stream
from scipy.signal import lfilter

from reproduce.cases import DEVELOPMENT, case
from reproduce.cases.departures import KINDS, departure_case
from reproduce.cases.normal import normal_rows
from reproduce.cases.streams import live_streams
from subadjacent import SubAdjacentDetector, multivariate

Span = tuple[int, int]  # first and last row, both included

# name → file
SETS = {
    "MSL": "msl",
    "SMAP": "smap",
    "SMD (19)": "smd19",
    "web": "web",
    "recordings": "recordings",
}
PLANTS = {4: "plants, 4 channels", 20: "plants, 20 channels"}
STATES, DEPARTURES = "states and shapes", "departures"
GENERATED = (*PLANTS.values(), STATES, DEPARTURES)

TOGETHER = 1_000  # rows that a stream gets at once; its answers do not depend on it
PLANT_ROWS = 4_000
SEASONAL, SLOW, KEPT = "seasonal", "AR 0.9", 0.9
PROCESSES = ("white", SLOW, SEASONAL, "counts", "heavy tails")
CLOCK = np.datetime64("2026-01-01T00:00:00")

JUMPS, JUMP_ROWS = 5, (5, 60)  # jumps of a plant, and rows that each lasts
JUMP_SIZE = (2.0, 4.0)  # in deviations of the channel, its rhythm included


class Found(NamedTuple):
    """An alarm of a batch or of a stream: its severity, its rows, and the first of its kind."""

    severity: float
    first: int
    last: int
    kind: int

    @classmethod
    def of(cls, alarm: Any) -> Self:
        """The same of any alarm; ``kind`` is the number of the first alarm that it repeats."""
        return cls(
            float(alarm.severity),
            int(alarm.first),
            int(alarm.last),
            alarm.number if alarm.repeat_of is None else alarm.repeat_of,
        )

    @property
    def span(self) -> Span:
        """Its first and last row."""
        return self.first, self.last

    def touches(self, spans: Iterable[Span]) -> bool:
        """Whether it shares a row with one of the spans."""
        return any(self.first <= end and begin <= self.last for begin, end in spans)


def batch_alarms(detector: SubAdjacentDetector, rows: Any) -> list[Found]:
    """The alarms of all rows at once."""
    return [Found.of(alarm) for alarm in detector.alarms(rows, channels=0)]


def stream_alarms(
    detector: SubAdjacentDetector, rows: np.ndarray, times: Sequence[Any] | None = None
) -> list[Found]:
    """The alarms of the same rows one after the other, as they stand after the last one.

    Alarms that were withdrawn are left out.
    """
    scorer = detector.stream()
    alarms: dict[int, Any] = {}
    for start in range(0, len(rows), TOGETHER):
        part = slice(start, start + TOGETHER)
        answers = scorer.score_many(rows[part], None if times is None else times[part])
        alarms |= _by_number(answer.alarm for answer in answers)
    alarms |= _by_number(answer.alarm for answer in scorer.finish())
    # what changed without an answer of its own
    alarms |= _by_number(scorer.alarms)
    return [Found.of(alarm) for alarm in alarms.values() if alarm.state != "withdrawn"]


def _by_number(alarms: Iterable[Any]) -> dict[int, Any]:
    return {alarm.number: alarm for alarm in alarms if alarm is not None}


def rows_in(alarms: Iterable[Found], length: int) -> np.ndarray:
    """Which rows lie in an event, (T,)."""
    covered = np.zeros(length, dtype=bool)
    for alarm in alarms:
        covered[alarm.first : alarm.last + 1] = True
    return covered


def of_file(name: str, root: Path) -> Iterator[Entity]:
    """The entities of a development set."""
    with np.load(root / f"{SETS[name]}.npz") as data:
        train = np.split(np.ascontiguousarray(data["train"]), np.cumsum(data["train_lengths"])[:-1])
        cuts = np.cumsum(data["test_lengths"])[:-1]
        test, labels = np.split(np.ascontiguousarray(data["test"]), cuts), data["labels"]
        entities = zip(data["entities"], train, test, np.split(labels, cuts), strict=True)
        for entity, rows, assessed, flags in entities:
            yield Entity(name, str(entity), rows, assessed, flags, False)


def generated(name: str, seeds: int) -> Iterator[Entity]:
    """Plants, cases and departures of development seeds, the first ``seeds`` of each kind."""
    for seed in range(seeds):
        for channels, plants in PLANTS.items():
            if name == plants:
                plant = multivariate(n=PLANT_ROWS, channels=channels, seed=seed)
                yield Entity(name, str(seed), plant.train, plant.test, plant.labels, False)
        for kind in DEVELOPMENT if name == STATES else ():
            drawn = case(kind, seed)
            yield Entity(name, f"{kind} {seed}", drawn.train, drawn.test, drawn.labels, False)
        for number, kind in enumerate(KINDS if name == DEPARTURES else ()):
            yield _departure(kind, number, seed)


def _departure(kind: str, number: int, seed: int) -> Entity:
    drawn = departure_case(kind, np.random.default_rng([seed, number]))
    labels = np.zeros(len(drawn.test), np.uint8)
    labels[drawn.start : drawn.stop] = 1
    return Entity(DEPARTURES, f"{kind} {seed}", drawn.train, drawn.test, labels, False)


def stationary_rows(process: str, n: int, channels: int, seed: int) -> np.ndarray:
    """Rows without any anomaly, (n, C)."""
    if process == SLOW:
        noise = np.random.default_rng(seed).standard_normal((n, channels))
        noise[1:] *= np.sqrt(1 - KEPT**2)
        return np.asarray(lfilter([1.0], [1.0, -KEPT], noise, axis=0))
    return normal_rows("cycles" if process == SEASONAL else process, n, channels, seed)


def clock(rows: int, seconds: int) -> list[Any]:
    """A time for each row."""
    times = CLOCK + np.arange(rows) * np.timedelta64(seconds, "s")
    return list(times.astype("datetime64[s]").tolist())


def with_jumps(channels: int, seed: int) -> Entity:
    """A plant in which one channel at a time jumps, and jumps back."""
    plant = multivariate(n=PLANT_ROWS, channels=channels, seed=seed, kinds=())
    rng = np.random.default_rng([seed, channels])
    rows, labels = plant.test.copy(), np.zeros(PLANT_ROWS, np.uint8)
    apart = PLANT_ROWS // (JUMPS + 1)
    for number in range(1, JUMPS + 1):
        start = number * apart + int(rng.integers(-apart // 4, apart // 4))
        stop = start + int(rng.integers(*JUMP_ROWS, endpoint=True))
        channel = rng.integers(channels)
        size = rng.choice([-1, 1]) * rng.uniform(*JUMP_SIZE) * plant.train[:, channel].std()
        rows[start:stop, channel] += size
        labels[start:stop] = 1
    return Entity(PLANTS[channels], str(seed), plant.train, rows, labels, False)


def out_of_range(seed: int) -> Entity:
    """A plant of mixed channels, one of which leaves its range for a while."""
    kind = "out of range"
    return _departure(kind, KINDS.index(kind), seed)


def of_streams(seeds: int) -> Iterator[Entity]:
    """Generated streams; a detector is fitted on the rows that the live score does not assess."""
    yield from map(of_stream, live_streams(range(seeds)))
