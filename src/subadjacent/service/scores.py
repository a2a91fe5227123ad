"""Scores of rows in one call, with look-ahead; nothing is kept."""

from __future__ import annotations

from typing import Any

from subadjacent.data.files import TIME
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.service.problems import Refusal, describe_error
from subadjacent.service.request_body import RowBatch
from subadjacent.service.times import TimeKind, for_stream, show_time
from subadjacent.workflow.tables import ScoreColumns, alarm_record, as_json


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
