"""No alarm of the examples says anything false."""

from __future__ import annotations

import pytest
from tests.truth.alarms import SOURCES, told
from tests.truth.checker import false_statements

# what a reader sees first
SHORT = [("demo", 0), ("plants", 0), ("plants", 1), ("plants", 2)]
LONG = [(name, number) for name in SOURCES for number in range(SOURCES[name].quick or 1)]


def check(source: str, number: int) -> None:
    rejected = [
        f"{one.case}, rows {one.alarm.first}-{one.alarm.last}: {one.alarm.sentence} "
        f"({'; '.join(f'{false.rule}: {false.why}' for false in found)})"
        for one in told(source, number)
        if (found := false_statements(one.rows, one.alarm))
    ]
    assert not rejected, "\n".join(rejected)


@pytest.mark.parametrize(("source", "number"), SHORT)
def test_sentences_of_a_few_examples_are_true(source: str, number: int) -> None:
    check(source, number)


REJECTED = {
    ("readme", 0): "a stream without a model knows a cycle from few of them: its range is narrow",
    ("gallery", 0): "two thirds of a drift in noise come at once, by its highest row",
    ("plants", 3): "a weak relation is called broken",
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("source", "number"),
    [
        pytest.param(*one, marks=pytest.mark.xfail(reason=REJECTED[one], strict=True))
        if one in REJECTED
        else one
        for one in LONG
        if one not in SHORT
    ],
)
def test_sentences_of_examples_gallery_and_tutorials_are_true(source: str, number: int) -> None:
    check(source, number)
