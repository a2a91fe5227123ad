"""What a channel did in an alarm, in one sentence."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from subadjacent.decision.kinds import KINDS
from subadjacent.decision.sentences import and_others, lasting, number, sentence, span
from subadjacent.decision.view_facts import ONLINE, RECORDS


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (39197, 100, "39,200"),
        (24000, 1000, "24,000"),
        (0.01349, 0.001, "0.013"),
        (-0.0004, 0.01, "0.00"),
        (-12.34, 0.1, "-12.3"),
        (1234567, None, "1,235,000"),
        (3.14159, None, "3.142"),
        (0.0, None, "0"),
        (2.5e15, None, "2.5e+15"),
        (3e-9, None, "3e-09"),
        (math.nan, None, "nan"),
        (math.inf, 1.0, "inf"),
    ],
)
def test_numbers_are_written_as_people_write_them(
    value: float, step: float | None, text: str
) -> None:
    assert number(value, step) == text


def test_the_sentence_of_each_kind_by_hand() -> None:
    told = {
        kind: sentence(
            "trips",
            kind,
            seen=39197.0,
            low=24012.0,
            high=27049.0,
            at_this_time=True,
            lasted="3 h",
            steps=3.14,
            partner="fares",
            view="shape",
        )
        for kind in KINDS
    }
    usual = "39,200, expected 24,000 to 27,000 at this time"
    steps = "than expected: its steps were 3.1 times the normal size"
    assert told == {
        "spike": f"trips jumped to {usual}",
        "out of range": f"trips went out of range: {usual}",
        "level shift (permanent)": f"trips shifted its level permanently: {usual}",
        "drift": f"trips drifted away: {usual}",
        "stuck": "trips flatlined at 39,200 for 3 h",
        "higher variance": f"trips had higher variance {steps}",
        "lower variance": f"trips had lower variance {steps}",
        "unusual shape": f"trips had an unusual shape: {usual}",
        "decoupled": ("trips decoupled from fares: 39,200, expected 24,000 to 27,000 given fares"),
        "missing": "trips was missing for 3 h",
        "unusual": f"trips was of a shape never seen in training: {usual}",
    }


def test_without_a_cycle_nothing_is_said_of_the_time() -> None:
    told = sentence("x", "drift", seen=5.0, low=1.0, high=2.0)
    assert told == "x drifted away: 5.0, expected 1.0 to 2.0"


def test_a_value_that_is_usual_is_not_said_to_be_otherwise() -> None:
    assert sentence("x", "drift", seen=1.5, low=1.0, high=2.0) == "x drifted away: 1.5"


def test_a_channel_that_never_moved_has_one_usual_value() -> None:
    told = sentence("x", "spike", seen=5.24, low=1.0, high=1.0)
    assert told == "x jumped to 5.2, expected 1.0"
    assert sentence("x", "stuck", seen=4.0, low=4.0, high=4.0, lasted="1 s").startswith(
        "x flatlined at 4.000"
    )


def test_a_name_of_several_lines_is_on_one() -> None:
    assert sentence("a\nb", "missing", seen=0, low=0, high=0, lasted="1 s").startswith("a b was")


def test_other_channels_are_named_up_to_two() -> None:
    assert and_others([]) == ""
    assert and_others(["b"]) == "; b as well"
    assert and_others(["b", "c"]) == "; b and c as well"
    assert and_others(["b", "c", "d", "e"]) == "; b, c and 2 more as well"


def test_how_long_rows_last() -> None:
    assert [lasting(1, None), lasting(1200, None), lasting(5, 900)] == [
        "1 row",
        "1,200 rows",
        "1 h 15 min",
    ]
    assert [span(0.25), span(59.6), span(90_061)] == ["0.25 s", "60 s", "1 d 1 h"]


def test_each_view_of_the_default_has_words_of_its_own() -> None:
    for texts in ({facts.panel for facts in RECORDS}, {facts.name for facts in RECORDS}):
        assert len(texts - {""}) == len(RECORDS)
    # windows of two lengths see the same
    sentences = [facts.sentence for facts in RECORDS if facts.kind != ONLINE]
    assert len({*sentences} - {""}) == len(sentences)


def test_the_page_about_scoring_lists_what_views_see_in_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "decision.md").read_text(encoding="utf-8")
    listed = "\n".join(f"| `{facts.name}` | {facts.sentence} |" for facts in RECORDS)
    assert f"| `view` | what it says about the channel |\n|---|---|\n{listed}\n\n" in page
