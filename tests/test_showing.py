"""Names that came from outside, as a terminal, a page and JSON get them."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from subadjacent.showing import in_json, in_markdown, listed, on_one_line, visible

ANYTHING = st.text(st.characters(codec=None))


def test_what_is_unsafe_is_escaped_and_all_else_stays() -> None:
    for text, shown in [
        ("a\u202eb", "a\\u202eb"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud800", "\\ud800"),
        ("\udc80\udcff", "\\x80\\xff"),
        ("\x7f\x80", "\\x7f\\x80"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("Größe №1 温度 \u202f", "Größe №1 温度 \u202f"),
        ("a\rb", "a\\x0db"),
        ("\x1b]0;owned\x07 pump\x9b2J", "\\x1b]0;owned\\x07 pump\\x9b2J"),
    ]:
        assert visible(text) == shown


@given(ANYTHING)
def test_nothing_visible_is_a_control_character_or_turns_the_direction(text: str) -> None:
    shown = visible(text)
    kinds = {unicodedata.category(one) for one in shown if one not in "\n\t"}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not {unicodedata.bidirectional(one) for one in shown} & turning
    assert visible(shown) == shown


@given(st.dictionaries(ANYTHING, ANYTHING))
def test_json_means_the_same_with_its_escapes(document: dict[str, str]) -> None:
    text = in_json(json.dumps(document, ensure_ascii=False))
    assert json.loads(text) == document
    assert visible(text) == text


def test_a_name_takes_one_line_and_is_no_markup_on_a_page() -> None:
    assert on_one_line(" a\n\tb \x1b") == "a b \\x1b"
    for name, written in [
        ("<img src=x> & [a](b)\n# `c`", "&lt;img src=x\\> &amp; \\[a\\](b) # \\`c\\`"),
        # an underscore within a word is no markup
        ("channel_3 _x_", "channel_3 \\_x\\_"),
    ]:
        assert in_markdown(name) == written


def test_of_many_names_the_first_few_are_listed() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed("abcdef") == "a, b, c, d, e and 1 more"
    assert listed([str(n) for n in range(5_005)]) == "0, 1, 2, 3, 4 and 5,000 more"
