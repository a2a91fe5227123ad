"""Words that are labels, and values that are not."""

from __future__ import annotations

import pytest

from subadjacent.data.names import as_word, look_like_labels


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (1, "1"), (1.0, "1"), ("-1.00", "-1"), (True, "true"), (" Normal ", "normal"),
        ("A ttack", "attack"), ("\u22121", "-1"), (0.5, "0.5"), ("v1.0", "v1"), ("", ""),
    ],
)  # fmt: skip
def test_a_label_is_one_word_however_it_is_written(value: object, word: str) -> None:
    assert as_word(value) == word


@pytest.mark.parametrize(
    "values",
    [[0, 1], [1], [0.0], [-1, 1], ["yes", "NO"], ["Normal", "Attack"], [True, False], ["0", 0, 1]],
)
def test_two_words_for_labels_at_most_look_like_labels(values: list[object]) -> None:
    assert look_like_labels(values)


@pytest.mark.parametrize("values", [[], [0, 1, 2], [-1, 0, 1], [20], [0.5, 1], ["on", "off"]])
def test_other_values_do_not(values: list[object]) -> None:
    assert not look_like_labels(values)
