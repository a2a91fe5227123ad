"""Fitted detectors; folders have numbers, names are keys of a table."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from subadjacent.data.documents import as_json
from subadjacent.data.files import TIME
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.folder import CONFIG, WEIGHTS
from subadjacent.detectors.registry import load
from subadjacent.errors import InputError
from subadjacent.service.problems import Refusal, describe_error, not_found
from subadjacent.service.request_body import RowBatch
from subadjacent.service.schemas import ModelRecord
from subadjacent.service.times import TimeKind, for_stream, show_time
from subadjacent.workflow.tables import ScoreColumns, alarm_record


class KnownModel(ModelRecord):
    """A model, as clients read it, and its key in the table."""

    key: int = Field(exclude=True)


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
        """All models as JSON, by name."""
        return [
            model.model_dump()
            for model in sorted(self._models.values(), key=lambda model: model.name)
        ]

    def find(self, name: str) -> KnownModel:
        """The model of a name."""
        if (key := self.key_of(name)) is None:
            raise not_found("model", name)
        return self._models[key]

    def key_of(self, name: str) -> int | None:
        """The key of the model of a name, if there is one."""
        return next((model.key for model in self._models.values() if model.name == name), None)

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
        fits = [model for model in self._models.values() if set(model.channels) == wanted]
        return max(fits, key=lambda model: model.key, default=None)

    def detector(self, key: int | None) -> BaseDetector | None:
        """The detector of a model, loaded if need be; None without a model."""
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
        """Save a detector in a folder of its own, and enter it in the table under a name.

        An older model of that name loses it, and is deleted once no series needs it.
        """
        tables.execute("update models set name = '/' || id where name = ?", (name,))
        (key,) = tables.execute(
            "insert into models (name, detector, channels, rows, fitted_at) "
            "values (?, ?, ?, ?, ?) returning id",
            (name, type(detector).__name__, json.dumps(detector.channels_), rows, clock.time()),
        ).fetchone()
        place = self.folder / str(key)
        shutil.rmtree(place, ignore_errors=True)
        detector.save(place)
        self._detectors[key] = detector
        self.read(tables)
        return self._models[key]

    def read(self, tables: sqlite3.Connection) -> None:
        """Read all models from the table."""
        # in one step: other threads read it meanwhile
        self._models = {
            row["id"]: KnownModel(
                key=row["id"],
                name=row["name"],
                detector=row["detector"],
                channels=json.loads(row["channels"]),
                fitted_at=str(show_time(row["fitted_at"], TimeKind.utc)),
                rows=row["rows"],
            )
            for row in tables.execute("select * from models order by id")
        }

    def clear(self) -> None:
        """Delete folders that are not in the table: of replaced models, or left by a kill."""
        for place in self.folder.iterdir():
            if not place.name.isdigit() or int(place.name) not in self._models:
                shutil.rmtree(place, ignore_errors=True)
        for key in tuple(self._detectors):
            if key not in self._models:
                self._detectors.pop(key, None)


def score_batch(detector: BaseDetector | None, batch: RowBatch) -> dict[str, Any]:
    """Scores and alarms of rows, as the command writes them."""
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
    assessed = ScoreColumns.of(assessment)
    shown = [show_time(time, own.kind) for time in own.times or ()]
    return {
        "times": shown if own.kind is not TimeKind.none else None,
        "scores": as_json(assessed.scores.tolist()),
        "severity": as_json(assessed.normalized.tolist()),
        "anomalous": [bool(flag) for flag in assessed.anomalous.tolist()],
        "alarms": [alarm_record(alarm) for alarm in assessment.alarms()],
    }
