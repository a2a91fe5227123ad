"""The package's errors, and the two rules nearly every argument has."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subadjacent.errors import (
    DataNotFound,
    InputError,
    ModelFileError,
    SubAdjacentError,
    require_number,
    require_whole,
)


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [(InputError, ValueError), (DataNotFound, FileNotFoundError), (ModelFileError, RuntimeError)],
)
def test_an_error_can_be_caught_as_ours_or_as_the_built_in(
    ours: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(ours, SubAdjacentError)
    assert issubclass(ours, builtin)
    assert str(ours("why")) == "why"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            ("X", "must hold numbers", "got text", "drop it"),
            "X must hold numbers; got text: drop it",
        ),
        (("X", "must hold numbers", "got text"), "X must hold numbers; got text"),
        (("X", "must hold numbers"), "X must hold numbers"),
        (("X", "must hold numbers", "", "drop it"), "X must hold numbers: drop it"),
    ],
)
def test_a_message_is_made_of_its_parts(parts: tuple[str, ...], message: str) -> None:
    assert str(InputError.of(*parts)) == message


def test_a_program_rephrases_the_argument_and_the_remedy() -> None:
    error = InputError.of("X", "must hold numbers", "got text", "drop it")
    assert (error.argument, error.remedy) == ("X", "drop it")
    said = error.rephrase("a.csv", "use --without")
    assert str(said) == "a.csv must hold numbers; got text: use --without"


def test_an_error_keeps_its_parts_on_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError.of("X", "must be y", "got z", "try y")))
    assert str(error) == "X must be y; got z: try y"
    assert (error.argument, error.rule, error.came, error.remedy) == (
        "X", "must be y", "got z", "try y",
    )  # fmt: skip


def test_a_message_that_came_whole_has_no_parts() -> None:
    assert InputError("why").argument == ""


def test_numbers_of_any_type_pass() -> None:
    for value in (3, 4, 10**30, np.int8(3), np.uint64(2**63)):
        require_whole("window", value, least=3)
    for number in (0.5, 1, np.float32(0.25), np.int64(7), Fraction(1, 3), 1e308):
        require_number("clip", number, above=0)


@pytest.mark.parametrize(
    "value", [2, -3, 3.0, np.float64(3), "3", None, True, np.bool_(True), math.nan, [3], 3 + 0j]
)
def test_anything_but_a_whole_number_of_at_least_the_bound_is_refused(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        require_whole("window", value, least=3)
    assert str(caught.value) == f"window must be a whole number of at least 3; got {value!r}"


def test_true_is_no_whole_number_even_where_one_is_allowed() -> None:
    with pytest.raises(InputError, match="got True"):
        require_whole("window", True, least=0)


def test_the_message_gives_the_reason_for_a_bound() -> None:
    with pytest.raises(InputError) as caught:
        require_whole("far", 1, least=2, why="the band would be empty")
    assert str(caught.value) == (
        "far must be a whole number of at least 2 (the band would be empty); got 1"
    )


def test_one_bound_is_open_and_the_other_closed() -> None:
    require_number("clip", 0, least=0)
    with pytest.raises(InputError):
        require_number("clip", 0, above=0)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, "1", None, True, np.bool_(True), 1 + 0j, [1], Decimal(1)],
)
def test_what_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        require_number("clip", value)
    assert str(caught.value) == f"clip must be a finite number; got {value!r}"


@pytest.mark.parametrize(
    ("bounds", "rule"),
    [
        ({"above": 0}, "a finite number above 0"),
        ({"least": 0.5}, "a finite number of at least 0.5"),
        ({"above": -2, "least": -1}, "a finite number above -2 and of at least -1"),
    ],
)
def test_the_message_names_the_bounds_that_there_are(bounds: dict[str, float], rule: str) -> None:
    with pytest.raises(InputError) as caught:
        require_number("clip", -7, **bounds)
    assert str(caught.value) == f"clip must be {rule}; got -7"


def test_a_whole_number_may_have_an_upper_bound() -> None:
    require_whole("window", 1_000, least=1, most=1_000)
    with pytest.raises(
        InputError, match=r"^window must be a whole number of at most 1,000; got 1001$"
    ):
        require_whole("window", 1_001, least=1, most=1_000)
