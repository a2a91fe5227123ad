"""Tables of scores and alarms, and JSON."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from subadjacent.data.documents import as_json
from subadjacent.data.files import Columns
from subadjacent.decision.alarms import Alarm, Cause
from subadjacent.workflow.tables import (
    ScoreColumns,
    alarm_record,
    alarm_table,
    keys_of,
    scores_table,
)

JUDGED = ScoreColumns(
    np.array([1.0, 3.0, 5.0]), np.array([0.0, 1.0, 2.0]), np.array([False, False, True])
)
FRAME = pl.DataFrame(
    {"timestamp": [10, 20, 30], "item_id": ["a", "b", "a"], "flow": [0.1, 0.2, 0.3]}
)


def test_a_table_has_a_row_a_row_under_the_names_of_the_files() -> None:
    columns = Columns(time="when", entity="pump", label="y")
    table = scores_table(keys_of(FRAME), JUDGED, columns, np.array([0, 0, 1]))
    assert table.to_dict(as_series=False) == {
        "when": [10, 20, 30],
        "pump": ["a", "b", "a"],
        "score": [1.0, 3.0, 5.0],
        "normalized_score": [0.0, 1.0, 2.0],
        "anomalous": [0, 0, 1],
        "y": [0, 0, 1],
    }


@pytest.mark.parametrize(
    ("frame", "columns", "names"),
    [
        (FRAME.select("flow"), Columns(), []),
        (FRAME, Columns(time="score", entity="anomalous"), ["timestamp", "item_id"]),
        (FRAME.drop("item_id"), Columns(time="when"), ["when"]),
    ],
)
def test_names_that_the_table_has_itself_are_not_used_twice(
    frame: pl.DataFrame, columns: Columns, names: list[str]
) -> None:
    table = scores_table(keys_of(frame), JUDGED, columns)
    assert table.columns == [*names, "score", "normalized_score", "anomalous"]
    assert len(table) == 3


@pytest.mark.parametrize("name", ["when", "score", None])
def test_labels_whose_name_is_taken_are_called_label(name: str | None) -> None:
    columns = Columns(time="when", label=name)
    table = scores_table(keys_of(FRAME), JUDGED, columns, np.array([0, 0, 1]))
    assert table.columns[-1] == "label"


def alarm(entity: str | None = None, view: str | None = "state") -> Alarm:
    causes = (
        Cause(
            *("flow", 9.0, datetime(2026, 1, 1, 12)),
            expected=math.nan,
            seen=2.5,
            low=1.0,
            high=2.0,
            kind="spike",
            sentence="flow jumped to 2.5, expected 1.0 to 2.0",
        ),
        Cause(
            *("heat", 4.0, datetime(2026, 1, 1, 12)),
            expected=1.0,
            seen=0.5,
            low=0.9,
            high=1.1,
            kind="decoupled",
            sentence="heat decoupled from flow",
            partner="flow",
        ),
    )
    start, end = datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 13)
    return Alarm(
        *(2, entity, start, end, start, 7, 9, 2.34567, 4.0, causes),
        view=view,
        permanent=True,
        repeat_of=1,
        repeat=2,
        kind="spike",
        sentence="flow jumped to 2.5; heat as well",
    )


def test_alarms_are_a_flat_table() -> None:
    assert alarm_table([alarm()]).rows(named=True)[0] == {
        "start": "2026-01-01T12:00:00",
        "end": "2026-01-01T13:00:00",
        "peak": "2026-01-01T12:00:00",
        "rows": 3,
        "repeat": 2,
        "permanent": True,
        "severity": 2.346,
        "channel": "flow",
        "seen": 2.5,
        "expected": pytest.approx(math.nan, nan_ok=True),
        "channels": "flow heat",
        "kind": "spike",
        "sentence": "flow jumped to 2.5; heat as well",
        "view": "state",
    }
    assert alarm_table([alarm(view=None)]).rows(named=True)[0]["view"] is None
    assert alarm_table([alarm("pump")]).columns[0] == "entity"
    assert len(alarm_table([])) == 0


def test_an_alarm_is_a_record_that_json_holds() -> None:
    record = alarm_record(alarm("pump"))
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["entity"] == "pump"
    assert record["start"] == "2026-01-01T12:00:00"
    assert [cause["expected"] for cause in record["causes"]] == [None, 1.0]
    assert record["view"] == "state"
    assert (record["number"], record["repeat_of"], record["repeat"]) == (2, 1, 2)
    assert (record["status"], record["duration"]) == ("confirmed", 3)
    assert record["permanent"] is True
    assert record["kind"] == "spike"
    assert record["sentence"] == alarm("pump").sentence
    assert record["causes"][1]["kind"] == "decoupled"
    assert record["causes"][1]["partner"] == "flow"
    # whether the model fits the entity that it is of
    assert [alarm_record(alarm("pump"), said)["fits"] for said in ([], [None], ["pump"])] == [
        *(True, True, False)
    ]
    assert alarm_record(alarm(view=None))["view"] is None


@pytest.mark.parametrize(
    ("document", "json_document"),
    [
        ({"a": [np.nan, 1.5]}, {"a": [None, 1.5]}),
        ((np.float32(2), np.int64(3), True, None), [2.0, 3, True, None]),
        ({1: datetime(2026, 1, 1)}, {"1": "2026-01-01T00:00:00"}),
        (pl.Float64, "Float64"),
        (np.float64("inf"), None),
    ],
)
def test_a_document_becomes_what_json_has(document: Any, json_document: Any) -> None:
    assert as_json(document) == json_document
