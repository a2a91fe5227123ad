"""What a channel did in an alarm, in one sentence."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.decision.kinds import KINDS
from subadjacent.decision.sentences import Facts, and_others, lasting, number, sentence, span
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


TRIPS = Facts(
    values=[39197.0],
    expected=25_500.0,
    low=24012.0,
    high=27049.0,
    at_this_time=True,
    lasted="3 h",
    size=3.14,
    most=1.2,
    partner="fares",
    view="shape",
)
PLAIN = Facts(values=[5.0], expected=1.5, low=1.0, high=2.0)


def test_the_sentence_of_each_kind_by_hand() -> None:
    expected = "expected 24,000 to 27,000 for this time"
    steps = "than expected: its steps were 3.1 times the normal size"
    assert {kind: sentence("trips", kind, TRIPS) for kind in KINDS} == {
        "spike": f"trips jumped to 39,200, {expected}",
        "abrupt change": "trips jumped by 3.1, expected at most 1.2 from row to row",
        "out of range": f"trips rose to 39,200, {expected}",
        "level shift (permanent)": f"trips shifted up to 39,200 permanently, {expected}",
        "return": f"trips returned to its former level: 39,200, {expected}",
        "drift": f"trips drifted up to 39,200 over 3 h, {expected}",
        "stuck": "trips flatlined at 39,200 for 3 h",
        "higher variance": f"trips had higher variance {steps}",
        "lower variance": f"trips had lower variance {steps}",
        "unusual shape": f"trips had an unusual shape: 39,200, {expected}",
        "decoupled": "trips decoupled from fares: 39,200, expected 24,000 to 27,000 given fares",
        "missing": "trips was missing for 3 h",
        "unusual": f"trips was of a shape never seen in training: 39,200, {expected}",
    }


def test_the_direction_is_that_of_the_value() -> None:
    low = PLAIN._replace(values=[-4.0], lasted="2 rows")
    assert [
        sentence("x", kind, low).split(",")[0]
        for kind in ("spike", "out of range", "level shift (permanent)", "drift")
    ] == [
        "x dropped to -4.0",
        "x fell to -4.0",
        "x shifted down to -4.0 permanently",
        "x drifted down to -4.0 over 2 rows",
    ]


def test_a_departure_to_both_sides_is_told_in_order() -> None:
    facts = Facts(values=[2.0, 100.0], expected=50.0, low=45.0, high=55.0, has_ratios=True)
    told = sentence("x", "out of range", facts)
    assert told == "x fell to 2, then rose to 100, expected 45 to 55"


@pytest.mark.parametrize(
    ("value", "times"),
    [
        (39_197, "about twice the "),
        (63_000, "about 3 times the "),
        (34_000, ""),
        (10_400, "about half the "),
        (5_100, "about a quarter of the "),
        (1_000, ""),
        (0, ""),
    ],
)
def test_how_many_times_the_expected_value_is_said_of_what_is_measured_from_zero(
    value: float, times: str
) -> None:
    facts = Facts(values=[value], expected=21_000, low=17_000, high=25_000, has_ratios=True)
    assert f", {times}expected 17,000" in sentence("x", "spike", facts)
    assert ", expected 17,000" in sentence("x", "spike", facts._replace(has_ratios=False))


def test_without_a_cycle_nothing_is_said_of_the_time() -> None:
    assert sentence("x", "out of range", PLAIN) == "x rose to 5.0, expected 1.0 to 2.0"


def test_a_value_within_its_range_is_not_compared_with_it() -> None:
    within = PLAIN._replace(values=[1.5], size=-3.2, most=0.5)
    assert [sentence("x", kind, within) for kind in ("unusual", "unusual shape", "spike")] == [
        "x stayed within its expected range, but was unlike anything in training",
        "x had an unusual shape: it departed -3.2 times as far as normal",
        "x dropped by 3.20, expected at most 0.50 from row to row",
    ]
    change = within._replace(within="20 min")
    told = "x fell by 3.20 within 20 min, expected at most 0.50"
    assert sentence("x", "abrupt change", change) == told


def test_a_return_is_told_by_the_level_that_it_leaves_or_by_the_time_of_a_cycle() -> None:
    back = PLAIN._replace(before=8.0)
    assert sentence("x", "return", back) == "x returned from 8.0 to its former level of 5.0"
    # among the values before it, only the range tells
    in_cycle = back._replace(at_this_time=True, before=math.nan)
    told = "x returned to its former level: 5.0, expected 1.0 to 2.0 for this time"
    assert sentence("x", "return", in_cycle) == told


def test_steps_of_more_than_a_hundred_times_the_normal_size_are_told_as_such() -> None:
    noisy = PLAIN._replace(size=240.0)
    assert sentence("x", "higher variance", noisy).endswith("were over 100 times the normal size")


def test_whole_numbers_are_told_as_such() -> None:
    facts = Facts(values=[9.0], expected=2.0, low=2.0, high=3.0, decimals=0)
    assert sentence("x", "spike", facts) == "x jumped to 9, expected 2 to 3"


NUMBERS = st.floats(-1e9, 1e9).map(lambda value: round(value, 6))


@given(value=NUMBERS, low=NUMBERS, width=st.floats(0, 1e6))
def test_the_quoted_value_is_outside_the_quoted_range(
    value: float, low: float, width: float
) -> None:
    high = low + width
    facts = Facts(values=[value], expected=(low + high) / 2, low=low, high=high)
    told = sentence("x", "unusual", facts)
    beyond = max(low - value, value - high)
    if ", expected" not in told:
        # within, or written as a bound is
        assert beyond <= 1e-6 * max(1.0, abs(value))
        return
    quoted, bounds = told.removeprefix("x was unlike anything in training: ").split(", expected ")
    seen, *edges = (float(text.replace(",", "")) for text in (quoted, *bounds.split(" to ")))
    # numbers that differ in the seventh digit are too close to tell apart
    if beyond > 1e-6 * max(abs(value), abs(low), abs(high)):
        assert seen < edges[0] or seen > edges[-1]


def test_a_channel_that_never_moved_has_one_expected_value() -> None:
    never = Facts(values=[5.24], expected=1.0, low=1.0, high=1.0)
    assert sentence("x", "spike", never) == "x jumped to 5.2, expected 1.0"
    still = Facts(values=[4.0], expected=4.0, low=4.0, high=4.0, lasted="1 s")
    file = Facts(values=[353.9], expected=350.0, low=348.0, high=353.85, decimals=1, lasted="1 d")
    assert sentence("x", "stuck", file) == "x flatlined at 353.9 for 1 d"
    alike = Facts(values=[0.1172], expected=0.05, low=0.0, high=0.1172 - 1.3e-7)
    assert sentence("x", "unusual", alike).startswith("x stayed within its expected range")
    assert sentence("x", "stuck", still).startswith("x flatlined at 4.000")


def test_a_name_of_several_lines_is_on_one() -> None:
    assert sentence("a\nb", "missing", PLAIN).startswith("a b was")


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
