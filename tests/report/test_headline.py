"""The headline: how many alarms, the worst and the latest, or the weak sign."""

from __future__ import annotations

from dataclasses import replace

from detectors.hand import by_hand
from subadjacent.data.inputs import read
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.headline import headline


def told(*scores: float) -> str:
    """The headline of six rows; every sentence is "it was high"."""
    found = by_hand(scores)
    return headline(found, [replace(alarm, sentence="it was high") for alarm in found.alarms()])


def test_alarms_by_hand() -> None:
    # a typical row scores 1, the threshold is 2
    assert told(1, 2, 1, 1, 5, 1) == "1 alarm in 6 rows, at row 4: it was high"
    assert told(1, 2, 3, 1, 5, 1) == (
        "2 alarms in 6 rows. The worst and latest at row 4: it was high"
    )
    assert told(1, 2, 5, 1, 3, 1) == (
        "2 alarms in 6 rows. The worst at row 2: it was high. The latest at row 4"
    )


def test_withdrawn_alarms_are_counted_apart() -> None:
    found = by_hand((1, 2, 3, 1, 5, 1))
    first, worst = found.alarms()
    gone = replace(worst, status="withdrawn")
    assert headline(found, [first, gone]).startswith(
        "1 alarm in 6 rows, and 1 withdrawn, at row 2: "
    )
    assert headline(found, [gone, gone]) == "No alarms in 6 rows, and 2 withdrawn"
    assert headline(found, [first]).startswith("1 of 2 alarms in 6 rows, at row 2: ")


def test_nothing_stands_out_below_half_a_severity() -> None:
    assert told(1, 1, 1.4, 1, 1, 1) == "Nothing stands out in 6 rows"
    assert told(1, 1, 1.6, 1, 1, 1) == (
        "No alarms in 6 rows; one weak sign: channel_1 at row 2, severity 0.6"
    )


def test_the_worst_of_several_entities_is_named() -> None:
    calm, weak = by_hand((1, 1, 1, 1, 1, 1)), by_hand((1, 1, 1, 1.6, 1, 1))
    both = Assessment(
        read({name: one.series[0].values for name, one in (("a", calm), ("b", weak))}),
        calm.evidence + weak.evidence,
        calm.decisions + weak.decisions,
        calm.profiles + weak.profiles,
        calm.detector,
    )
    assert headline(both, both.alarms()) == (
        "No alarms in 12 rows of 2 entities; one weak sign: channel_1 at row 3 in b, severity 0.6"
    )
