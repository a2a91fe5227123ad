"""The page's text: it needs nothing from outside, and says what was found."""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import pytest

from report.attentive import EPOCHS, AttentiveDetector
from report.sample import dated
from subadjacent import InputError, MagnitudeDetector, RandomDetector, SubAdjacentDetector
from subadjacent.data.inputs import read
from subadjacent.data.plant import Plant
from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.threshold import ExtremeValue
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.registry import REGISTRY, create
from subadjacent.networks.network import Attentive
from subadjacent.report import text as words
from subadjacent.report.headline import headline
from subadjacent.report.marks import MAX_LISTED_ALARMS, alarm_rows, marked_segments
from subadjacent.report.page import page
from subadjacent.report.panels import panels as panels_of
from subadjacent.report.timeline import timelines
from subadjacent.runtime import Progress


def own(text: str) -> str:
    """The page without its script and data."""
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_a_page_fetches_nothing_and_has_its_headline_and_the_warnings_that_it_is_given(
    named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    text = page(named, assessed, title="Plant", alarms=alarms, remarks=["too <few> rows"])
    assert not re.search(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)\s*=""", text)
    assert not re.search(r"https?:|url\(|@import", own(text))
    assert "default-src 'none'" in text
    assert "What each view adds to the score" in text
    assert f"<h1>{escape(headline(assessed, alarms))}</h1>" in text
    assert "<li>too &lt;few&gt; rows</li>" in text


def test_withdrawn_alarms_are_greyed_and_counted_apart(
    named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    stands = replace(alarms[0], severity=2.0, permanent=True)
    gone = replace(alarms[1], severity=9.0, status="withdrawn", permanent=False)
    early = replace(gone, number=3, severity=1.5, status="provisional")
    text = own(page(named, assessed, title="", alarms=[stands, gone, early]))
    heading = re.search("<h1>(.*)</h1>", text)
    assert heading is not None
    told = "2 alarms in 1,000 rows, and 1 withdrawn. The worst on "
    assert heading[1].startswith(told + f"{stands.start:%Y-%m-%d %H:%M}")
    assert re.findall('<tr .*data-status="(.*?)"', text) == [
        "confirmed",
        "withdrawn",
        "provisional",
    ]
    assert re.findall('class="tag">(permanent)<', text) == ["permanent"]
    # of what stands nothing need be said
    assert re.findall('class="tag status">(.*?)<', text) == ["withdrawn", "provisional"]
    only = own(page(named, assessed, title="", alarms=[gone] * 3))
    assert "<h1>No alarms in 1,000 rows, and 3 withdrawn</h1>" in only


def test_repeats_are_listed_under_the_first_of_their_kind(assessed: Assessment) -> None:
    (series,), alarm = assessed.series, assessed.alarms()[0]
    other = TrainSeries(series.values, entity="other", channels=series.channels)
    # number and the number of the first: the third repeats the first, and so does the fourth
    alarms = [
        replace(alarm, number=number, repeat_of=repeat_of, repeat=repeat)
        for number, repeat_of, repeat in ((1, None, 1), (2, None, 1), (3, 1, 2), (4, 1, 3))
    ]
    alarms.append(replace(alarm, entity="other", number=3, repeat_of=1, repeat=2))
    both = [series, other]
    rows = alarm_rows(alarms, both, timelines([series, series]))
    assert [row.head for row in rows] == [0, 1, 0, 0, 4]


def test_metrics_and_facts_are_shown_and_names_are_text_and_never_markup(
    named: SubAdjacentDetector, assessed: Assessment, plant: Plant
) -> None:
    text = page(
        named,
        assessed,
        title="</script><i>x",
        labels=plant.labels,
        metrics={"this detector": {"F1": 0.8125, "VUS-PR": 0.5}, "random score": {"F1": 0.05}},
        facts={"File": "<u>note.csv"},
    )
    row = re.search(r"VUS-PR</th>(.*?)</tr>", text)
    assert row is not None
    assert re.findall(r">([^<]+)</td>", row[1]) == ["0.5", "—"]
    assert "labelled as anomalous" in own(text)
    for shown in ("&lt;i&gt;x", "&lt;u&gt;note.csv", "\\u003cb>&valve"):
        assert shown in text
    for markup in ("<i>x", "<u>note", "<b>&valve"):
        assert markup not in text


def test_a_series_without_alarms_shorter_than_a_window_still_has_a_page(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    text = page(named, named.assess(dated(plant.train[:5])), title="Short")
    assert "<h1>Nothing stands out in 5 rows</h1>" in text
    assert "The series has fewer rows than a score depends on" in text


def test_warnings_say_what_to_be_wary_of(named: SubAdjacentDetector, plant: Plant) -> None:
    frame = dated(plant.test)
    frame["heat"] = 7.0
    frame = pd.concat([frame[:300], frame[500:]])
    told = " ".join(words.warnings(named, named.assess(frame)))
    assert "1 of 4 channels never move in this data and cannot show anything: heat." in told
    assert "The clock has 1 gap." in told
    facts = words.data_facts(read(frame).series, timelines(read(frame).series))
    assert (facts["Gaps in the clock"], facts["Constant channels"]) == ("1", "heat")
    assert (facts["Rows"], facts["Interval"], facts["Clock"]) == ("800", "5 min", "as given")
    series = read(dated(plant.test).tz_localize("America/New_York")).series
    assert words.data_facts(series, timelines(series))["Clock"] == "UTC-05:00"
    texts = [words.number(value) for value in (0.5, 0.81254, 9_999.0, 39_187.0, -2e6)]
    assert texts == ["0.5", "0.8125", "9,999", "39,190", "-2,000,000"]


def test_few_training_rows_and_unseen_entities_are_warned_of(plant: Plant) -> None:
    parts = {"a": plant.train[:150], "b": plant.train[150:300]}
    detector = SubAdjacentDetector(contamination=ExtremeValue()).fit(parts)
    told = " ".join(words.warnings(detector, detector.assess({"z": plant.test})))
    assert "Fitted on 300 rows, few to learn from where a score depends on" in told
    assert (
        "The threshold is extrapolated: it stands for one false alarm in 10,000 rows, "
        "estimated from 300 rows." in told
    )
    assert "not seen in fitting, so assessed by the model of all entities: z" in told
    auto = SubAdjacentDetector().fit(parts)
    # assessed in hindsight, it stands for no chance of a row
    assert "extrapolated" not in " ".join(words.warnings(auto, auto.assess({"z": plant.test})))


def test_a_series_that_the_model_does_not_fit_is_warned_of_first(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    usual, moved = dated(plant.train), dated(plant.train)
    moved["heat"] = 7.0
    found = named.assess({"usual": usual, "moved": moved})
    first, second = found.decisions
    found = replace(found, decisions=(first, replace(second, fits=False)))
    assert found.misfits == ["moved"]
    sentence = (
        "Most rows of moved are unlike those that the model learned from, and more of them than "
        "it learned from. If that is how it runs now, fit on recent rows."
    )
    assert words.warnings(named, found)[0] == sentence
    assert sentence in own(page(named, found, title=""))
    assert "are unlike those" not in own(page(named, named.assess(usual), title=""))
    assert words.misfits([]) == []
    assert words.misfits([None])[0].startswith("Most rows of this data are unlike those")
    # of very many, the first have a sentence each
    *each, rest = words.misfits([f"m{number}" for number in range(7)])
    assert [f"rows of m{number} are" in told for number, told in enumerate(each)] == [True] * 5
    assert rest == "Nor does it fit 2 more: m5, m6."


def test_settings_show_what_auto_came_to_and_versions_what_is_installed(
    named: SubAdjacentDetector,
    attentive: AttentiveDetector,
    plant: Plant,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = words.settings(named)
    assert told["detector"] == "SubAdjacentDetector"
    assert told["near"] == "5"
    rate = "auto: about one false alarm in twice the rows fitted on"
    assert told["contamination"] == rate
    each = f"{named.threshold_:.6g} for all series together; each has its own"
    assert told["threshold"] == each
    assert words.settings(attentive)["contamination"] == "0.01: Quantile(q=0.99)"
    assert words.settings(attentive)["threshold"] == f"{attentive.threshold_:.6g}"
    by_hand = copy(named)
    by_hand.threshold_ = 2.5
    told = words.settings(by_hand)
    assert (told["contamination"], told["threshold"]) == ("auto", "2.5, set by hand")
    assert words.settings(attentive)["window"] == "auto: 20"
    assert words.settings(attentive)["near"] == "auto: 4"
    chance = RandomDetector().fit(plant.train)
    assert words.settings(chance)["seed"] == str(chance.models_.pooled.state().facts["seed"])
    monkeypatch.setattr(words, "LIBRARIES", ("numpy", "no-such-library"))
    assert list(words.versions()) == ["Python", "numpy"]


def test_only_the_worst_of_very_many_alarms_are_listed(
    assessed: Assessment, alarms: list[Alarm]
) -> None:
    many = alarms[:2] * MAX_LISTED_ALARMS
    rows = alarm_rows(many, assessed.series, timelines(assessed.series))
    assert len(rows) == MAX_LISTED_ALARMS
    assert {row.alarm for row in rows} == {max(many, key=lambda alarm: alarm.severity)}


def test_a_row_says_how_long_and_how_bad_in_words(assessed: Assessment) -> None:
    (series,), alarm = assessed.series, assessed.alarms()[0]
    short = replace(alarm, first=10, last=10, severity=-2.0)
    huge = replace(alarm, first=280, last=300, severity=123_456.0)
    one, other = alarm_rows([short, huge], [series], timelines([series]))
    assert (one.when, one.lasted, one.severity, one.share) == (
        "2026-01-01 00:50",
        "5 min",
        "-2.0",
        0,
    )
    assert (other.when, other.until) == ("2026-01-01 23:20", "2026-01-02 01:00")
    assert (other.lasted, other.severity, other.share) == ("1 h 45 min", "123,500", 100)
    bare = TrainSeries(series.values, channels=series.channels)
    row, rows = alarm_rows([short, huge], [bare], timelines([bare]))
    assert (row.when, row.lasted) == ("row 10", "1 row")
    assert (rows.until, rows.lasted) == ("row 300", "21 rows")
    # in the training part where they share a row
    tagged = {(0, 280): False, (0, 281): True, (300, 310): True, (301, 310): False}
    for fitted, expected in tagged.items():
        (row,) = alarm_rows([huge], [series], timelines([series]), [[fitted]])
        assert row.fitted == expected


def read_of(text: str) -> dict[str, Any]:
    """What the page's script reads beside the lines."""
    found = re.search('id="payload">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def test_bands_are_the_rows_of_alarms_each_linked_to_its_own(
    named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    other = replace(alarms[1], first=300, last=304)
    long = replace(alarms[0], first=100, last=349)
    read = read_of(page(named, assessed, title="", alarms=[long, other]))
    assert read["series"][0]["bands"] == [[100, 350, 0], [300, 305, 1]]
    # to either side as many rows as it has, or as a score depends on
    assert [(one["first"], one["last"], one["margin"]) for one in read["alarms"]] == [
        (100, 349, 250),
        (300, 304, read["window"]),
    ]
    assert "threshold" not in read


def test_labels_come_in_the_shape_of_the_input() -> None:
    mixed = pd.DataFrame({"item_id": ["b", "a", "b", "a"], "x": [1.0, 2, 3, 4]})
    assert marked_segments([1, 0, 1, 1], read(mixed)) == [[(0, 2)], [(1, 2)]]
    rows = np.zeros((3, 1))
    assert marked_segments([[0, 1, 1], [0, 0, 0]], read([rows, rows])) == [[(1, 3)], []]
    assert marked_segments({"a": [1, 0, 1]}, read({"a": rows})) == [[(0, 1), (2, 3)]]
    with pytest.raises(InputError, match="labels must be a dict with the keys of X"):
        marked_segments([0, 0, 0], read({"a": rows}))
    with pytest.raises(InputError, match="labels must be a list of 2"):
        marked_segments([[0, 0, 0]], read([rows, rows]))
    with pytest.raises(InputError, match="labels must be 0 or 1, one for each of 3 rows"):
        marked_segments([0, 1], read(rows))


def test_the_part_fitted_on_marks_the_alarms_that_touch_it(
    named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    until = alarms[1].first
    text = page(named, assessed, title="", alarms=alarms, fitted=np.arange(1_000) < until)
    assert own(text).count("in training part") == 1
    assert f'"fitted":[[0,{until}]]' in text
    without = own(page(named, assessed, title=""))
    assert "in training part" not in without
    assert "fitted on this part" not in without
    assert "labelled as anomalous" not in without
    with pytest.raises(InputError, match="fitted must be 0 or 1, one for each of 1000 rows"):
        page(named, assessed, title="", fitted=[1, 0])


def test_a_training_without_a_course_has_a_sentence(plant: Plant) -> None:
    for epochs, told in (
        (EPOCHS[:0], "The network was not trained"),
        (EPOCHS[:1], "One has no course to draw"),
        (EPOCHS, "2 epochs in"),
        ((replace(EPOCHS[0], complete=False),), "Training reached its time limit before it was do"),
    ):
        short = AttentiveDetector(history=epochs).fit(dated(plant.train))
        text = page(short, short.assess(dated(plant.test[:300])), title="")
        assert told in text
        assert ("Validation error by epoch" in own(text)) == (len(epochs) > 1)
        assert "Complete" not in own(text)


def test_progress_counts_all_the_work_and_nothing_is_assessed_again(
    named: SubAdjacentDetector, assessed: Assessment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("rows were assessed twice")

    heard: list[Progress] = []
    monkeypatch.setattr(type(named.models_.pooled), "assess", refuse)
    page(named, assessed, title="", watch=heard.append)
    traces = len(assessed.evidence[0].traces)
    # four channels: seen, expected, and how far below and above is usual; traces; the severity
    assert [one.done for one in heard] == [1_000 * n for n in range(1, 16 + traces + 2)]
    assert {(one.stage, one.total, one.unit) for one in heard} == {
        ("drawing", heard[-1].done, "values")
    }


def panels(text: str) -> list[str]:
    """Titles of the figures below the channels."""
    return re.findall(r"<figcaption><b>([^<]+?) *<", text[text.index('id="detail"') :])


def test_a_trace_that_one_entity_has_and_another_has_not_is_left_blank(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    found = named.assess({"a": dated(plant.test[:300]), "b": dated(plant.test[300:600])})
    traces = {"rhythm_of_day": found.evidence[1].score}
    only = found.evidence[1]._replace(traces=traces, views=("rhythm_of_day",))
    mixed = replace(found, evidence=(found.evidence[0], only))
    text = page(named, mixed, title="")
    *titles, _, last = panels(text)
    assert [*titles, last] == [one.title for one in panels_of(found)]
    assert panels(text)[-2] == "Rhythm of day"
    # a constant NaN, in base64, where there is nothing to draw
    assert text.count(">cAAAAAAAA+H8=<") == len(titles) + 1


def test_the_sentence_of_an_alarm_comes_before_the_buttons_of_its_channels(
    named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    kinds = zip(alarms[0].causes, (10.0, 2.9, 3.0, 0.0), strict=False)
    causes = [
        replace(cause, score=score, kind="drift", low=cause.seen - 2, high=cause.seen - 1)
        for cause, score in kinds
    ]
    alarm = replace(alarms[0], causes=tuple(causes))
    text = own(page(named, assessed, title="", alarms=[alarm]))
    cell = re.search('class="causes">(.*?)</td>', text, re.DOTALL)
    assert cell is not None
    told, *buttons = re.findall("<(?:span|button)[^>]*>(.*?)</(?:span|button)>", cell[1])
    # as the sentence is everywhere: its first word is the name of a channel
    assert told == escape(alarm.sentence)
    # those that the sentence speaks of, and no others
    assert buttons == [f"<b>{escape(one.channel)}</b> {one.kind}" for one in causes[::2]]


def test_views_are_distinguished_from_other_traces(plant: Plant) -> None:
    averaged = MagnitudeDetector(smoothing=5).fit(plant.train)
    assert "What led to the score" in page(averaged, averaged.assess(plant.test), title="")
    # nothing but the severity
    plain = MagnitudeDetector().fit(plant.train)
    text = own(page(plain, plain.assess(plant.test), title=""))
    assert "What led to the score" not in text
    assert "What each view adds" not in text


def test_as_many_attention_matrices_are_kept_as_there_is_room_for(
    attentive: AttentiveDetector, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = attentive.assess(dated(plant.test))
    alarm = found.alarms()[0]
    alarms = [replace(alarm, number=1 + at, first=100 * at, last=100 * at + 9) for at in range(4)]
    for room, most in ((0, 1), (2 * 400, 2), (3 * 400 - 1, 2)):
        monkeypatch.setattr("subadjacent.report.payload.ATTENTION_BUDGET", room)
        assert page(attentive, found, title="", alarms=alarms).count('"shades"') == most


def test_attention_is_that_of_the_worst_row(attentive: AttentiveDetector, plant: Plant) -> None:
    found = attentive.assess(dated(plant.test))
    severity = np.zeros(1_000)
    severity[[22, 30, 50]] = [2.0, 9.0, 9.5]
    (decided,) = found.decisions
    alarm = replace(found.alarms()[0], first=15, last=45)
    rows = decided.rows._replace(severity=severity)
    found = replace(found, decisions=(replace(decided, rows=rows),))
    (looked,) = read_of(page(attentive, found, title="", alarms=[alarm]))["attention"]
    # windows begin at rows 0, 20, 40, …, every five minutes
    assert looked["from"] == "2026-01-01 01:40"
    assert (looked["at"], looked["until"]) == (0, 19)
    severity[44] = 9.25
    (looked,) = read_of(page(attentive, found, title="", alarms=[alarm]))["attention"]
    assert looked["from"] == "2026-01-01 03:20"
    assert (looked["at"], looked["until"]) == (0, 5)


QUICK = ("default", "sub-adjacent-transformer", "lof")
CHEAP = {"window": 20, "near": 2, "far": 5, "epochs": 2, "stride": 8, "size": "tiny"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.sweep) for name in REGISTRY],
)
def test_every_detector_has_a_page(name: str, plant: Plant) -> None:
    known = create(name).get_params()
    detector = create(name, **{key: CHEAP[key] for key in CHEAP.keys() & known.keys()})
    detector.fit(plant.train)
    found = detector.assess(plant.test)
    # some of them find nothing at the threshold that they choose
    detector.threshold_ = float(np.quantile(found.scores, 0.98))
    text = page(detector, detector.assess(plant.test), title="")
    titles = [one.title for one in panels_of(found)]
    assert panels(text)[: len(titles)] == titles
    assert titles[-1] == "Severity"
    network = "epochs" in known
    attentive = isinstance(getattr(detector, "network_", None), Attentive)
    assert ('id="attention-title"' in text) == attentive
    assert ('id="training-title"' in text) == network
    assert ("the band of sub-adjacent points" in text) == (network and "near" in known)
    # of a wrapped one all parameters are told
    assert f"<dd>{type(getattr(detector, 'detector', detector)).__name__}" in text
