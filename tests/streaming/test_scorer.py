"""Rows of many series, as people have them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from live_plant import CHANNELS, broken, plant
from subadjacent import (
    AlarmBudget,
    DataNotFound,
    InputError,
    ModelFileError,
    PCADetector,
    StreamScorer,
)
from subadjacent.detectors.base import BaseDetector
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.rules import AlarmRules

Detectors = dict[str, BaseDetector]


def dicts(rows: np.ndarray) -> list[dict[str, float]]:
    return [dict(zip(CHANNELS, row, strict=True)) for row in rows.tolist()]


def severities(answers: list[Answer]) -> list[float]:
    return [answer.severity for answer in answers]


def test_rows_of_all_kinds_say_the_same() -> None:
    rows = plant(300)
    rows[200, 2] += 50
    expected = severities(StreamScorer(channels=CHANNELS).score_many(rows))
    times = pd.date_range("2026-01-01", periods=300, freq="1min")
    frame = pd.DataFrame(rows, columns=list(CHANNELS), index=times)
    kinds: list[Any] = [
        dicts(rows),
        rows.tolist(),
        frame,
        pl.DataFrame(rows, schema=list(CHANNELS)),
        frame.reset_index(names="timestamp"),
    ]
    for kind in kinds:
        scorer = StreamScorer()
        answers = scorer.score_many(kind)
        assert severities(answers) == expected
        assert scorer.series[None].channels in (CHANNELS, ("channel_0", "channel_1", "channel_2"))
    assert answers[1].time == times[1]
    scorer = StreamScorer()
    one_by_one = [one.severity for row in dicts(rows) for one in scorer.score_one(row)]
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-9, atol=1e-12)


def test_each_entity_is_a_series_of_its_own() -> None:
    scorer = StreamScorer()
    frame = pd.DataFrame(plant(4), columns=list(CHANNELS)).assign(item_id=["a", "b", "a", "b"])
    answers = scorer.score_many(frame)
    assert [(one.entity, one.row) for one in answers] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    scorer.score_one([1.0, 2.0], entity="c")
    assert scorer.series["c"].channels == ("channel_0", "channel_1")
    assert {name: one.accepted for name, one in scorer.counts.items()} == {"a": 2, "b": 2, "c": 1}


def test_a_channel_that_a_dict_does_not_have_is_missing() -> None:
    rows = dicts(plant(3))
    expected = plant(3)
    expected[1, 1] = np.nan
    del rows[1]["flow"]
    rows[1] = dict(reversed(rows[1].items()))
    scorer, other = StreamScorer(), StreamScorer()
    scorer.score_many(rows)
    other.score_many(expected)
    state, same = scorer.state().arrays, other.state().arrays
    for name in state:
        np.testing.assert_array_equal(state[name], same[name])


def test_unknown_channels_are_left_out_counted_and_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scorer = StreamScorer(channels=["a"])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert len(scorer.score_one({"a": 1.0, "b": 2.0})) == 1
    assert scorer.counts[None].unknown == 3
    assert len(caplog.records) == 1
    assert "left out: b" in caplog.text


def test_a_row_of_unknown_channels_alone_is_refused() -> None:
    scorer = StreamScorer(channels=["a"])
    with pytest.raises(InputError, match="must have some of the channels a; got b, c"):
        scorer.score_one({"b": 1.0, "c": 2.0})
    # one without any value is a row all the same
    assert len(scorer.score_one({})) == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"a": 1.0}, {"a": "high"}], "must hold numbers; 'a' is 'high' in row 1"),
        ([{"a": [1.0]}], r"must hold numbers; 'a' is \[1.0\] in row 0"),
        ([{"a": 10**400}], r"'a' is 1000\d*\.\.\.0\d* in row 0"),
        ([{"a": 1.0}, [1.0]], "all dicts or all sequences; row 1"),
        ([[1.0], [1.0, 2.0]], "must have 1 values each, one a channel; row 1 has 2"),
        ({"a": 1.0}, "must be several rows; got a dict"),
        (np.zeros((2, 2, 2)), "must have 4 values each"),
        ([{}], "channels must be at least one"),
        ([{"a": 1e101}], "must not exceed"),
    ],
)
def test_bad_rows_are_refused_and_leave_nothing_behind(rows: Any, said: str) -> None:
    scorer = StreamScorer()
    with pytest.raises(InputError, match=said):
        scorer.score_many(rows)
    assert not scorer.series


def test_labels_never_reach_a_stream(caplog: pytest.LogCaptureFixture) -> None:
    scorer = StreamScorer()
    scorer.score_many(pd.DataFrame({"a": [1.0, 2.0], "is_anomaly": [0, 1]}))
    assert scorer.series[None].channels == ("a",)
    assert "labels never reach" in caplog.text


def test_no_rows_are_no_series() -> None:
    scorer = StreamScorer()
    assert scorer.score_many([]) == []
    assert scorer.finish() == []
    assert not scorer.series


def test_text_in_a_frame_is_refused() -> None:
    with pytest.raises(InputError, match="column 'b' does not: leave it out"):
        StreamScorer().score_many(pl.DataFrame({"a": [1.0], "b": ["x"]}))


def test_a_frame_of_several_entities_says_whose_its_rows_are() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "item_id": ["x", "y"]})
    with pytest.raises(InputError, match="must be of one entity"):
        StreamScorer().score_many(frame, entity="z")
    with pytest.raises(InputError, match="must be of one entity"):
        StreamScorer().score_many(frame, times=[1, 2])
    (answer,) = StreamScorer().score_many(frame[:1], entity="z")
    assert (answer.entity, answer.time) == ("z", None)
    # times that are given stand before those of the frame
    timed = frame[:1].assign(time=[3])
    assert StreamScorer().score_many(timed)[0].time == 3
    assert StreamScorer().score_many(timed, times=[7])[0].time == 7


def test_an_unfitted_detector_is_refused() -> None:
    with pytest.raises(NotFittedError):
        StreamScorer(PCADetector())


def test_a_stranger_is_judged_by_what_entities_share_and_needs_a_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    detector = PCADetector().fit({"a": plant(300), "b": plant(300, seed=1)})
    scorer = detector.stream()
    assert len(scorer.score_many(plant(5), entity="a")) > 0
    assert "not seen" not in caplog.text
    scorer.score_many(plant(5), entity="new")
    assert "not seen in fitting, so assessed by the model of all entities: new" in caplog.text
    with pytest.raises(InputError, match="entity must be named, for the detector was fitted on 2"):
        scorer.score_many(plant(5))
    # rows without a name are those of the one entity that there was
    caplog.clear()
    one = PCADetector().fit({"a": plant(300)})
    named, unnamed = one.stream(), one.stream()
    expected = [answer.score for answer in named.score_many(plant(5), entity="a")]
    assert [answer.score for answer in unnamed.score_many(plant(5))] == expected
    assert "not seen" not in caplog.text


def test_settings_are_the_detectors_unless_they_are_given() -> None:
    detector = PCADetector(contamination=AlarmBudget(2, "1day", "60s"), adapt_after=77).fit(
        plant(400)
    )
    scorer = StreamScorer(detector)
    assert scorer._rules == AlarmRules(30, 77, "auto", 10)
    other = StreamScorer(
        detector, close_after=5, adapt_after=None, contamination=0.01, fill_limit=3
    )
    assert other._rules == AlarmRules(5, None, 0.01, 3)


@pytest.mark.parametrize(
    "options", [{"close_after": 0}, {"adapt_after": -1}, {"contamination": "x"}, {"fill_limit": -1}]
)
def test_bad_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(options))} must be"):
        StreamScorer(**options)


def test_a_stop_in_the_middle_is_no_stop(tmp_path: Path) -> None:
    whole = StreamScorer(close_after=7)
    expected = whole.score_many(broken()) + whole.finish()
    first = StreamScorer(close_after=7)
    answers = first.score_many(broken()[:455])
    first.save(tmp_path / "state")
    second = StreamScorer.restore(tmp_path / "state")
    answers += second.score_many(broken()[455:]) + second.finish()

    def told(many: list[Answer]) -> list[Any]:
        some = sorted(many, key=lambda one: (one.row, one.final))
        return [(one.row, one.final, one.anomalous) for one in some]

    assert told(answers) == told(expected)
    assert second._rules == whole._rules
    assert [a.sentence for a in second.alarms] == [a.sentence for a in whole.alarms]
    assert second.opened == whole.opened == len(whole.alarms)


@pytest.mark.parametrize(("kind", "last"), [(None, 1200), ("pca", 500)])
def test_a_copy_goes_on_by_itself(kind: str | None, last: int, detectors: Detectors) -> None:
    detector = None if kind is None else detectors[kind]
    alone, copied = StreamScorer(detector), StreamScorer(detector)
    alone.score_many(broken()[:455])
    copied.score_many(broken()[:455])
    second = copied.copy()
    # what another copy is told changes neither
    copied.copy().score_many(1e3 * broken()[:100])
    expected = severities(alone.score_many(broken()[455:last]))
    assert severities(second.score_many(broken()[455:last])) == expected
    assert severities(copied.score_many(broken()[455:last])) == expected
    assert second.alarms == copied.alarms == alone.alarms


def test_a_saved_stream_is_restored_with_its_detector_or_refused(
    detectors: Detectors, tmp_path: Path
) -> None:
    scorer = StreamScorer(detectors["pca"])
    scorer.score_many(plant(20))
    scorer.save(tmp_path / "state")
    with pytest.raises(InputError, match="detector must be the PCADetector that"):
        StreamScorer.restore(tmp_path / "state")
    other = PCADetector().fit(plant(300)[:, :2])
    with pytest.raises(InputError, match="detector must have the channels pressure, flow, speed"):
        StreamScorer.restore(tmp_path / "state", other)
    renamed = PCADetector().fit(pd.DataFrame(plant(300), columns=["a", "b", "c"]))
    with pytest.raises(InputError, match=r"the channels pressure, .*; got a, b"):
        StreamScorer.restore(tmp_path / "state", renamed)
    again = StreamScorer.restore(tmp_path / "state", detectors["pca"], contamination=0.02)
    assert again.contamination == 0.02
    assert again.counts == scorer.counts


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataNotFound, match="nothing is not there"):
        StreamScorer.restore(tmp_path / "nothing")
    (tmp_path / "text").write_text("not a state")
    with pytest.raises(ModelFileError, match="text is damaged"):
        StreamScorer.restore(tmp_path / "text")
    StreamScorer().save(tmp_path / "state")
    whole = (tmp_path / "state").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelFileError, match="cut is damaged"):
        StreamScorer.restore(tmp_path / "cut")
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(1)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="does not hold the state of a stream"):
        StreamScorer.restore(tmp_path / "other")


def test_channels_that_were_given_hold_for_series_that_begin_after_a_stop(tmp_path: Path) -> None:
    scorer = StreamScorer(channels=["a", "b"])
    scorer.score_one([1.0, 2.0], entity="old")
    scorer.save(tmp_path / "state")
    again = StreamScorer.restore(tmp_path / "state")
    again.score_one({"b": 2.0, "a": 1.0, "c": 3.0}, entity="new")
    assert again.series["new"].channels == ("a", "b")
    assert again.counts["new"].unknown == 1


def test_alarms_of_all_series_are_read_and_accepted() -> None:
    scorer = StreamScorer()
    rows = plant(800)
    rows[600:, 2] += 60
    scorer.score_many(rows, entity="pump")
    (alarm,) = scorer.alarms
    assert alarm.entity == "pump"
    assert scorer.accept(alarm.number, "pump").permanent
    numbered = StreamScorer()
    numbered.score_many(rows, entity=7)
    assert list(numbered.series) == ["7"]
    assert numbered.accept(1, 7).entity == "7"
    with pytest.raises(InputError, match="entity must be one with rows; got 'mill' of pump"):
        scorer.accept(1, "mill")
