"""Generated series stay as they were; their parts by hand; bad arguments are refused.

Methods were chosen and measured on these series, so that a change of one value would make the
committed reports wrong. ``python tests/reproduce/test_generated.py`` records them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduce.cases import DEVELOPMENT, KEPT_BACK, case
from reproduce.cases.departures import KINDS, departure_case
from reproduce.cases.natures import normal_plant
from reproduce.cases.normal import NORMAL, STATIONARY, WANDERING, normal_rows
from reproduce.cases.streams import (
    STREAM_KINDS,
    LiveStream,
    kept_back_streams,
    live_stream,
    live_streams,
)
from reproduce.cases.streams_kept_back import KEPT_BACK_STREAMS
from subadjacent.data.plant import Event, Floats, Plant
from subadjacent.errors import InputError

RECORDS = Path(__file__).with_name("generated.json")


def summary(values: Floats) -> dict[str, Any]:
    """Shape, missing values, size, and a weighted sum in which every value counts differently."""
    known = np.nan_to_num(values)
    weights = np.cos(np.arange(values.size)).reshape(values.shape)
    return {
        "shape": list(values.shape),
        "missing": int(np.isnan(values).sum()),
        "size": float(np.abs(known).sum()),
        "weighted": float((known * weights).sum()),
    }


def cases() -> Iterator[tuple[str, Any]]:
    for kind in (*DEVELOPMENT, *KEPT_BACK):
        for seed in (0, 1):
            drawn = case(kind, seed)
            events = [[event.start, event.stop, *event.channels] for event in drawn.events]
            arrays = [summary(rows) for rows in (drawn.train, drawn.test, drawn.base)]
            yield f"{kind}, {seed}", [*arrays, events]


def departures() -> Iterator[tuple[str, Any]]:
    for kind in KINDS:
        for seed in range(4):
            train, test, _, *where = departure_case(kind, np.random.default_rng(seed))
            yield f"{kind}, {seed}", [summary(train), summary(test), where]
        small = departure_case(kind, np.random.default_rng(3), channels=8, rows=500, test_rows=1200)
        yield f"{kind}, small", [summary(small.train), summary(small.test)]


def processes() -> Iterator[tuple[str, Any]]:
    for process in NORMAL:
        yield process, [summary(normal_rows(process, 600, 7, seed)) for seed in (0, 3)]


def streams() -> Iterator[tuple[str, Any]]:
    for kind in (*STREAM_KINDS, *KEPT_BACK_STREAMS):
        for seed in (0, 3):
            drawn = live_stream(kind, seed)
            yield f"{kind}, {seed}", [summary(drawn.values), [list(span) for span in drawn.spans]]


GENERATORS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "cases": cases,
    "departures": departures,
    "processes": processes,
    "streams": streams,
}


def compare(found: Any, recorded: Any, where: str) -> None:
    """Equal, but for the last digits of sums."""
    if isinstance(recorded, dict):
        exact = ("shape", "missing")
        assert [found[key] for key in exact] == [recorded[key] for key in exact], where
        slack = 1e-9 * recorded["size"]
        for key in ("size", "weighted"):
            assert found[key] == pytest.approx(recorded[key], rel=0, abs=slack), where
    elif recorded and isinstance(recorded[0], dict):
        assert len(found) == len(recorded), where
        for one, other in zip(found, recorded, strict=True):
            compare(one, other, where)
    else:
        assert json.loads(json.dumps(found)) == recorded, where


@pytest.mark.parametrize("name", GENERATORS)
def test_generated_series_stay_as_they_were(name: str) -> None:
    recorded = json.loads(RECORDS.read_text())[name]
    found = dict(GENERATORS[name]())
    assert list(found) == list(recorded)
    for where, parts in recorded.items():
        for one, other in zip(found[where], parts, strict=True):
            compare(one, other, where)


def test_what_is_kept_back_shares_neither_kinds_nor_seeds_with_development() -> None:
    assert not DEVELOPMENT.keys() & KEPT_BACK.keys()
    assert not STREAM_KINDS.keys() & KEPT_BACK_STREAMS.keys()
    assert {*STATIONARY, *WANDERING} == {*NORMAL}
    assert [(s.kind, s.seed) for s in live_streams([2])] == [(kind, 2) for kind in STREAM_KINDS]
    kept = [(stream.kind, stream.seed) for stream in kept_back_streams([1_000])]
    assert kept == [(kind, 1_000) for kind in [*STREAM_KINDS, *KEPT_BACK_STREAMS]]


def test_labels_spell_out_events_row_by_row() -> None:
    rows = np.zeros((6, 2))
    events = (Event(1, 3, "off the ring", (0,)), Event(4, 5, "off the ring", (0, 1)))
    assert Plant(rows, rows, rows, events).labels.tolist() == [0, 1, 1, 0, 1, 0]
    stream = LiveStream("idle", 0, np.zeros((6, 1)), ((1, 3), (5, 6)))
    assert stream.labels.tolist() == [0, 1, 1, 0, 0, 1]


def test_anomalies_of_a_case_stay_within_the_training_range_and_leave_other_rows_alone() -> None:
    for kind in (*DEVELOPMENT, *KEPT_BACK):
        drawn = case(kind, 0)
        inside = drawn.test[drawn.labels == 1]
        assert (inside >= drawn.train.min(axis=0)).all()
        assert (inside <= drawn.train.max(axis=0)).all()
        assert (drawn.test == drawn.base)[drawn.labels == 0].all()
        assert 0.01 <= drawn.labels.mean() <= 0.04
        assert 12 <= len(case(kind, 0, n=20_000).events) <= 32


def refusals() -> Iterator[tuple[str, Callable[[], object]]]:
    rng = np.random.default_rng(0)
    yield r"kind must be one of 'unseen combination', .*; got 'spike'", lambda: case("spike")
    yield r"seed must be .* at least 0; got -1", lambda: case("other wave", -1)
    yield r"n must be .* at least 5000 \(three .*got 4999", lambda: case("other wave", n=4_999)
    yield r"kind must be one of 'spike', .*; got 'x'", lambda: departure_case("x", rng)
    yield r"rows must be .* 500 .*got 499", lambda: departure_case("spike", rng, rows=499)
    yield r"test_rows must .*got 1199", lambda: departure_case("spike", rng, test_rows=1199)
    yield r"channels must be .* at least 8 .*got 7", lambda: normal_plant(rng, 1000, 7)
    yield r"rows must be a whole .* 300 .*got 299", lambda: normal_plant(rng, 299)
    yield r"process must be one of white, .*; got 'pink'", lambda: normal_rows("pink", 10, 2)
    yield "channels", lambda: normal_rows("white", 10, 0)
    yield "n must", lambda: normal_rows("white", 0, 2)
    yield r"kind must be one of .*; got 'weather'", lambda: live_stream("weather")
    yield "seed", lambda: live_stream("idle", -1)
    yield r"seeds must be below 1000, .*; got 1000", lambda: list(live_streams([1_000]))
    yield "seeds must be 1000 or more; got 999", lambda: list(kept_back_streams([999]))


def test_bad_arguments_are_refused_with_the_rule_and_the_value() -> None:
    for message, call in refusals():
        with pytest.raises(InputError, match=message):
            call()


if __name__ == "__main__":
    groups = []
    for name, draw in GENERATORS.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(parts)}" for key, parts in draw())
        groups.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    RECORDS.write_text("{\n" + ",\n".join(groups) + "\n}\n")
