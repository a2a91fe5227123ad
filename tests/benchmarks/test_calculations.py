"""What benchmarks calculate, by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchmark_scripts import Load, page_with
from reproduce.cases.departures import DepartureCase
from reproduce.cases.streams import LiveStream
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer


def departed(kind: str, start: int, stop: int, others: tuple[int, ...] = ()) -> DepartureCase:
    rows = np.zeros((100, 3))
    return DepartureCase(rows, rows, kind, 1, start, stop, others)


def said(first: int, last: int, *causes: tuple[str, str], **more: object) -> SimpleNamespace:
    """An alarm as far as the script looks at it."""
    found = [SimpleNamespace(channel=channel, kind=kind) for channel, kind in causes]
    fields = {"first": first, "last": last, "causes": found, "severity": 1.5}
    return SimpleNamespace(**fields | more)


def test_the_alarm_that_shares_most_rows_with_a_departure_is_assessed_by_hand(
    load: Load,
) -> None:
    explanations = load("explanations")
    case = departed("drift", 40, 60, others=(0, 2))
    before = said(30, 40, ("channel_1", "drift"))  # row 40 only
    within = said(41, 42, ("channel_2", "spike"), ("channel_1", "drift"), severity=3.456)
    after = said(60, 99, ("channel_1", "drift"))  # the first row after it
    assert [explanations.shared(case, alarm) for alarm in (before, within, after)] == [1, 2, 0]
    assert explanations.compared(case, 7, [before, within, after]) == (
        *("drift", 7, 1, 2, 1),
        *("channel_2", 0, "spike", 0, 3.46, 2),
    )
    assert explanations.compared(case, 7, [after, before]) == (
        *("drift", 7, 1, 2, 1),
        *("channel_1", 1, "drift", 1, 1.5, 1),
    )
    nothing = ("drift", 7, 1, 2, 0, "", 0, "", 0, 0.0)
    assert explanations.compared(case, 7, [after]) == (*nothing, 1)
    assert explanations.compared(case, 7, []) == (*nothing, 0)
    # of two that share as many, the more severe
    mild = said(50, 50, ("channel_0", "stuck"))
    severe = said(51, 51, ("channel_1", "drift"), severity=2.0)
    assert explanations.compared(case, 7, [severe, mild]).severity == 2.0
    # what it parted from is not reached later
    parted = departed("decoupled", 40, 60, others=(0,))
    assert explanations.compared(parted, 7, []).reached == 0


def test_explanations_are_counted_by_kind_by_hand(load: Load) -> None:
    explanations = load("explanations")
    none = explanations.Judged("spike", 0, 1, 0, 0, "", 0, "", 0, 0.0, 1)
    results = [
        none,
        none,
        none._replace(found=1, named_kind="spike", right_kind=1, right_channel=1, reached=2),
        none._replace(found=1, named_kind="drift", right_channel=1),
        none._replace(found=1, named_kind="unusual", other_alarms=4),
        none._replace(kind="stuck", found=1, named_kind="missing"),
    ]
    lines = explanations.summary(results).splitlines()
    assert "| spike | 5 | 60 % | 67 % | 33 % | 1.6 |" in lines
    assert "| stuck | 1 | 100 % | 0 % | 0 % | 1.0 |" in lines
    assert "| drift | 0 | none | none | none | 0.0 |" in lines
    assert "| reaches others later | 1 | 100 % | 100 % | 100 % | 1.0 |" in lines
    assert "| all | 6 | 67 % | 50 % | 25 % | 1.5 |" in lines
    assert lines[-1].startswith("| all |")
    first, _, *rows = explanations.confusions(results)
    header = first.split(" | ")
    assert header[0] == "| planted ↓ named →"
    assert header[-3:] == ["missing", "unusual", "not found |"]
    cells = {
        line.split(" | ")[0]: dict(zip(header[1:], line.split(" | ")[1:], strict=True))
        for line in rows
    }
    assert {name: count for name, count in cells["| spike"].items() if count.strip(" |")} == {
        "spike": "1",
        "drift": "1",
        "unusual": "1",
        "not found |": "2 |",
    }
    assert cells["| stuck"]["missing"] == "1"


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
