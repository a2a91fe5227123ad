"""Fitted detectors; folders have numbers, names are keys of a table."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from subadjacent.data.files import TIME
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.folder import CONFIG, WEIGHTS
from subadjacent.detectors.registry import load
from subadjacent.errors import InputError
from subadjacent.service.problems import Refusal, describe_error, not_found
from subadjacent.service.request_body import RowBatch
from subadjacent.service.times import TimeKind, for_stream, show_time
from subadjacent.workflow.tables import ScoreColumns, alarm_record, as_json


class KnownModel(NamedTuple):
    """A model, as the table has it."""

    key: int
    name: str
    detector: str
    channels: tuple[str, ...]
    fitted_at: float
    rows: int | None

    def record(self) -> dict[str, Any]:
        """As clients read it."""
        record = self._asdict() | {"fitted_at": show_time(self.fitted_at, TimeKind.utc)}
        del record["key"]
        return record


class Models:
    """All models. Detectors are loaded when they are needed, and kept."""

    def __init__(self, tables: sqlite3.Connection, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._models: dict[int, KnownModel] = {}
        self._detectors: dict[int, BaseDetector] = {}
        self.read(tables)
        self.clear()

    def __len__(self) -> int:
        return len(self._models)

    def records(self) -> list[dict[str, Any]]:
        """All, by name."""
        return [one.record() for one in sorted(self._models.values(), key=lambda one: one.name)]

    def find(self, name: str) -> KnownModel:
        """The model of a name."""
        if (key := self.key_of(name)) is None:
            raise not_found("model", name)
        return self._models[key]

    def key_of(self, name: str) -> int | None:
        """The key of the model of a name, if there is one."""
        return next((one.key for one in self._models.values() if one.name == name), None)

    def has(self, name: str, folder: Path) -> bool:
        """Whether the model of a name is the one in a folder, file by file."""
        if (key := self.key_of(name)) is None:
            return False
        own = self.folder / str(key)
        return all(
            (own / file).is_file() and (own / file).read_bytes() == (folder / file).read_bytes()
            for file in (CONFIG, WEIGHTS)
        )

    def name_of(self, key: int | None) -> str | None:
        """The name of a series' model."""
        return None if key is None or key not in self._models else self._models[key].name

    def fitting(self, channels: Sequence[str]) -> KnownModel | None:
        """The newest model for these channels, in whatever order."""
        wanted = set(channels)
        fits = [one for one in self._models.values() if set(one.channels) == wanted]
        return max(fits, key=lambda one: one.key, default=None)

    def detector(self, key: int | None) -> BaseDetector | None:
        """The detector of a model; None for what learns from its rows alone."""
        if key is None:
            return None
        if key not in self._detectors:
            self._detectors[key] = load(self.folder / str(key))
        return self._detectors[key]

    def check_room(self, name: str, most: int) -> None:
        """Refuse a model beyond the limit; one that replaces another is always accepted."""
        if len(self) >= most and self.key_of(name) is None:
            raise Refusal(429, f"there are {most:,} models already: fit one of their names anew")

    def place(self, key: int | None) -> Path | None:
        """The folder of a model."""
        return None if key is None else self.folder / str(key)

    def enter(
        self, tables: sqlite3.Connection, name: str, detector: BaseDetector, rows: int | None
    ) -> KnownModel:
        """Keep a detector in a folder of ours, and enter it under a name.

        A model that has the name gives it away; it goes once no series needs it.
        """
        kind, channels = type(detector).__name__, tuple(detector.channels_)
        now = clock.time()
        tables.execute("update models set name = '/' || id where name = ?", (name,))
        (key,) = tables.execute(
            "insert into models (name, detector, channels, rows, fitted_at) "
            "values (?, ?, ?, ?, ?) returning id",
            (name, kind, json.dumps(channels), rows, now),
        ).fetchone()
        place = self.folder / str(key)
        shutil.rmtree(place, ignore_errors=True)
        detector.save(place)
        self._detectors[key] = detector
        return KnownModel(key, name, kind, channels, now, rows)

    def read(self, tables: sqlite3.Connection) -> None:
        """Take over what the table says."""
        found = {}
        for row in tables.execute(
            "select id, name, detector, channels, fitted_at, rows from models order by id"
        ):
            model = KnownModel(*row)
            found[model.key] = model._replace(channels=tuple(json.loads(row["channels"])))
        # all at once: others read it while the writer does this
        self._models = found

    def clear(self) -> None:
        """Delete folders that the table does not have: of models that were replaced, or a kill."""
        for place in self.folder.iterdir():
            if not place.name.isdigit() or int(place.name) not in self._models:
                shutil.rmtree(place, ignore_errors=True)
        for key in tuple(self._detectors):
            if key not in self._models:
                self._detectors.pop(key, None)


def score_batch(detector: BaseDetector | None, batch: RowBatch) -> dict[str, Any]:
    """Scores and alarms of rows, as the command has them."""
    import polars as pl

    assert detector is not None
    own = batch.of_channels(tuple(detector.channels_))
    frame = pl.DataFrame(own.values, schema=list(own.channels), orient="row")
    times = None if own.times is None else for_stream(own.times, own.kind)
    if times is not None:
        frame = frame.insert_column(0, pl.Series(TIME, times))
    try:
        assessment = detector.assess(frame)
    except InputError as error:
        raise Refusal(422, describe_error(error, "the body")) from error
    judged = ScoreColumns.of(assessment)
    shown = [show_time(time, own.kind) for time in own.times or ()]
    return {
        "times": shown if own.kind is not TimeKind.none else None,
        "scores": as_json(judged.scores.tolist()),
        "severity": as_json(judged.normalized.tolist()),
        "anomalous": [bool(one) for one in judged.anomalous.tolist()],
        "alarms": [alarm_record(alarm) for alarm in assessment.alarms()],
    }
