"""What benchmarks calculate, by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.truth.rows import Rows

from benchmark_scripts import Load, page_with
from reproduce.cases.backgrounds import Background
from reproduce.cases.planted import PlantedCase
from reproduce.cases.streams import LiveStream
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

# a ramp in rows 40 to 59, which is seen from row 45 on
TEST_ROWS = np.random.default_rng(0).normal(50, 1, (100, 2)).round(1)
RAMP = PlantedCase(
    Background(TEST_ROWS, 0, ("flow", "heat"), (1, 1), (0, 0), 60.0),
    kind="ramp",
    channel="heat",
    direction=1,
    first=40,
    last=59,
    size=9.0,
    visible=45,
)


def told(first: int, last: int, sentence: str, channel: str = "heat", **more: object) -> Any:
    """An alarm as far as the script, and the checker, look at it."""
    seen = TEST_ROWS[first, ("flow", "heat").index(channel)]
    cause = SimpleNamespace(
        channel=channel, kind="drift", at=first, seen=seen, low=0, high=1, expected=0.5
    )
    fields = {"first": first, "last": last, "causes": (cause,), "severity": 1.5, "kind": "drift"}
    fields |= {"start": first, "end": last, "peak": first, "permanent": False}
    return SimpleNamespace(**fields, sentence=sentence, **more)


def test_the_alarm_that_shares_most_rows_with_a_departure_is_assessed_by_hand(load: Load) -> None:
    planted = load("planted")
    rows = Rows(TEST_ROWS, ("flow", "heat"))
    before = told(30, 40, "heat fell to 12")  # row 40 only
    within = told(47, 50, "heat drifted up to 59")
    after = told(60, 99, "flow rose to 70", "flow")  # the first row after it
    assert [planted.shared(RAMP, alarm) for alarm in (before, within, after)] == [1, 4, 0]
    found = planted.compared(RAMP, 7, "a plant", rows, [before, within, after])
    assert (found.found, found.named_channel, found.right_channel) == (1, "heat", 1)
    assert (found.named_kind, found.right_kind, found.right_direction) == ("drift", 1, 1)
    # two rows after a person would have seen it; none if it is found between
    assert (found.exact, found.rows_late, found.other_alarms) == (1, 2, 2)
    assert planted.compared(RAMP, 7, "a plant", rows, [told(43, 50, "")]).rows_late == 0
    early = planted.compared(RAMP, 7, "a plant", rows, [before])
    assert (early.rows_late, early.right_direction, early.exact) == (-10, 0, 0)
    # no sentence like these is true of noise
    assert found.rules
    assert found.others_rejected == 2
    missed = planted.compared(RAMP, 7, "a plant", rows, [after])
    assert (missed.found, missed.other_alarms, missed.sentence) == (0, 1, "")


def test_what_returns_has_the_direction_from_the_level_before(load: Load) -> None:
    direction, channels = load("planted").direction, ("flow", "heat")
    back = told(40, 59, "heat returned from 70 to its former level of 50")
    assert direction(back, channels) == -1
    assert direction(told(40, 59, "heat rose to 70"), channels) == 1
    assert direction(told(40, 59, "heat did something"), channels) == 0


def test_planted_departures_are_counted_by_kind_and_background_by_hand(load: Load) -> None:
    planted = load("planted")
    none = planted.Assessed("ramp", "a plant", 0, "heat", 40, 59, 1, 9.0, other_alarms=1)
    right = none._replace(
        found=1, named_kind="drift", right_channel=1, right_kind=1, right_direction=1, exact=1
    )
    late = right._replace(named_kind="spike", right_kind=0, rows_late=-6, rules="value; range")
    flat = right._replace(kind="flat", background="the web", direction=0, named_kind="stuck")
    results = [none, right, late, flat]
    cells = [line.split(" | ") for line in planted.summary(results).splitlines()]
    lines = {first: rest for first, *rest in cells}
    assert lines["| ramp"][:5] == ["3", "67 %", "100 %", "50 %", "100 %"]
    assert lines["| ramp"][5:] == ["100 %", "3", "50 %", "3", "0 |"]
    assert lines["| flat"][1:6] == ["100 %", "100 %", "100 %", "-", "-"]
    assert lines["| in the web"][0] == "1"
    assert lines["| all"][:2] == ["4", "75 %"]
    header, _, ramps, flats = planted.confusions(results).split("\n")
    assert header == "| planted ↓ named → | drift | spike | stuck | not found |"
    assert (ramps, flats) == ("| ramp | 1 | 1 |  | 1 |", "| flat |  |  | 1 |  |")


def test_the_plain_network_is_ours_written_down_plainly(load: Load) -> None:
    cpu = load("cpu")
    config = SubAdjacentConfig.sized("tiny", 3)
    ours, plain = SubAdjacentTransformer.seeded(config, 0), cpu.PlainNetwork(config)
    with torch.no_grad():
        plain.embed.weight.copy_(ours.embed.tokens.weight.unflatten(1, (3, 3)).mT)
        for one, other in zip(plain.layers, ours.layers, strict=True):
            for name, weight, bias in zip(
                ("queries", "keys", "values"),
                other.attention.project.weight.chunk(3),
                other.attention.project.bias.chunk(3),
                strict=True,
            ):
                linear = getattr(one.attention, name)
                linear.weight.copy_(weight)
                linear.bias.copy_(bias)
            one.attention.mix.load_state_dict(other.attention.mix.state_dict())
            one.first.load_state_dict(other.after_attention.state_dict())
            one.second.load_state_dict(other.after_feedforward.state_dict())
            one.maps[0].load_state_dict(other.widen.state_dict())
            one.maps[2].load_state_dict(other.narrow.state_dict())
        plain.norm.load_state_dict(ours.norm.state_dict())
        plain.reconstruct.load_state_dict(ours.reconstruct.state_dict())
    windows = torch.randn(2, 100, 3)
    torch.testing.assert_close(tuple(ours(windows)), plain(windows), rtol=1e-4, atol=1e-5)


def test_a_stream_begins_with_what_is_not_assessed(load: Load) -> None:
    values = np.arange(100.0)[:, None]
    entity = load("live_data").of_stream(LiveStream("idle", 0, values, ((40, 42), (99, 100))))
    assert (len(entity.train), entity.train[-1, 0], entity.test[0, 0]) == (15, 14, 15)
    assert np.flatnonzero(entity.labels).tolist() == [25, 26, 84]
    watched = entity.watched(np.ones(85))
    assert watched.spans == [(40, 42), (99, 100)]
    assert np.asarray(watched.scores).tolist() == [0.0] * 15 + [1.0] * 85
    assert watched.unjudged == 15
    # training rows of a set are another series
    apart = entity._replace(whole=False).watched(np.ones(85))
    assert apart.spans == [(25, 27), (84, 85)]
    assert (len(np.asarray(apart.scores)), apart.unjudged) == (85, 0)
    long = LiveStream("idle", 0, np.zeros((20_000, 1)), ())
    assert len(load("live_data").of_stream(long).train) == 750


def test_tables_replace_what_is_between_the_marks(load: Load, tmp_path: Path) -> None:
    page = page_with("live", tmp_path)
    table = load("live_data").markdown([["of", "came"], ["rows", "3"]])
    assert table == "| of | came |\n|---|--:|\n| rows | 3 |"
    load("live_data").put_between(page, "live", table)
    expected = f"before\n<!-- live -->\n{table}\n<!-- /live -->\nafter\n"
    assert page.read_text() == expected
    load("live_data").put_between(page, "live", table)
    assert page.read_text() == expected
    with pytest.raises(SystemExit, match="must have <!-- other -->"):
        load("live_data").put_between(page, "other", table)


def test_an_alarm_counts_once_by_the_row_that_opens_it(load: Load) -> None:
    live, data = load("live"), load("live_data")
    labels = np.zeros(100, int)
    labels[50:60] = 1
    entity = data.Entity("g", "k", np.zeros((0, 1)), np.zeros((100, 1)), labels, False)
    severity = np.zeros(100)
    severity[45:100] = 2.0  # from the first row of the window to the end
    found = live.measured([(entity, live.flagged(severity))])
    assert found["own alarms"] == pytest.approx(100)
    assert found["standard"] < 50  # each of the rows behind the window costs
    assert (found["alarms"], found["right"], found["found"], found["delay"]) == (1, 1, 1, 0)
    assert found["alarms in 1,000 rows"] == 10
    assert found["normal rows alarmed"] == pytest.approx(45 / 90)
    at_most = live.measured([(entity, live.flagged(severity))], threshold=3.0)
    assert (at_most["standard"], at_most["threshold"]) == (0, 3.0)


def test_alarms_are_compared_by_their_rows_and_their_kind_by_hand(load: Load) -> None:
    data = load("decision_data")
    said = {"severity": 2.0, "number": 3}
    first = data.Found.of(SimpleNamespace(first=10, last=12, repeat_of=None, **said))
    again = data.Found.of(SimpleNamespace(first=30, last=40, repeat_of=1, **said))
    assert (first.span, first.kind, again.kind) == ((10, 12), 3, 1)
    assert [again.touches([span]) for span in ((0, 30), (13, 29), (40, 50))] == [True, False, True]
    assert np.flatnonzero(data.rows_in([first, again], 35)).tolist() == [10, 11, 12, *range(30, 35)]


def test_a_mutant_has_one_thing_changed_by_hand(load: Load, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1 if not a < b else f(c, d)\n")
    assert {after for *_, after in load("mutants").changes(tmp_path / "a.py")} == {
        "x = (2) if not a < b else f(c, d)",
        "x = 1 if (a < b) else f(c, d)",
        "x = 1 if not (a <= b) else f(c, d)",
        "x = 1 if not a < b else (f(d, c))",
    }


def test_an_odd_file_follows_from_its_number(load: Load) -> None:
    made = load("odd_files").made
    assert made("CSV", 3) == made("CSV", 3) != made("CSV", 4)
