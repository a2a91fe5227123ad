"""The package's errors, and the two rules nearly every argument has."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subadjacent.errors import (
    DataNotFound,
    InputError,
    MissingPackage,
    ModelFileError,
    SubAdjacentError,
    needs,
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


def test_a_message_is_made_of_its_parts() -> None:
    for parts, message in [
        (("got text", "drop it"), "X must hold numbers; got text: drop it"),
        (("got text",), "X must hold numbers; got text"),
        ((), "X must hold numbers"),
        (("", "drop it"), "X must hold numbers: drop it"),
    ]:
        assert str(InputError.of("X", "must hold numbers", *parts)) == message
    assert InputError("why").argument == ""


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


def test_numbers_of_any_type_pass() -> None:
    for value in (3, 4, 10**30, np.int8(3), np.uint64(2**63)):
        require_whole("window", value, least=3)
    for number in (0.5, 1, np.float32(0.25), np.int64(7), Fraction(1, 3), 1e308):
        require_number("clip", number, above=0)


def refusal(check: Callable[..., None], *arguments: Any, **bounds: Any) -> str:
    with pytest.raises(InputError) as caught:
        check(*arguments, **bounds)
    return str(caught.value)


def test_what_breaks_a_rule_is_refused_with_the_rule_and_what_came() -> None:
    whole = (2, -3, 3.0, np.float64(3), "3", None, True, np.bool_(True), math.nan, [3], 3 + 0j)
    number = (
        *(math.nan, math.inf, -math.inf, "1", None, True, np.bool_(True), 1 + 0j, [1]),
        Decimal(1),
    )
    cases: list[Any] = [
        *((require_whole, one, {"least": 3}, "a whole number of at least 3") for one in whole),
        # True is no whole number even where one is allowed
        (require_whole, True, {"least": 0}, "a whole number of at least 0"),
        (
            *(require_whole, 1, {"least": 2, "why": "an empty band"}),
            "a whole number of at least 2 (an empty band)",
        ),
        (require_whole, 1_001, {"least": 1, "most": 1_000}, "a whole number of at most 1,000"),
        *((require_number, one, {}, "a finite number") for one in number),
        (require_number, 0, {"above": 0}, "a finite number above 0"),
        (require_number, -7, {"least": 0.5}, "a finite number of at least 0.5"),
        (
            *(require_number, -7, {"above": -2, "least": -1}),
            "a finite number above -2 and of at least -1",
        ),
    ]
    for check, value, bounds, rule in cases:
        assert refusal(check, "window", value, **bounds) == f"window must be {rule}; got {value!r}"
    # a closed bound may be reached
    require_number("clip", 0, least=0)
    require_whole("window", 1_000, least=1, most=1_000)


def test_what_needs_torch_says_what_to_install() -> None:
    with (
        pytest.raises(MissingPackage, match=r"network needs torch.* pip install 'subadjacent"),
        needs("network"),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    # another module that is missing is another matter
    with pytest.raises(ModuleNotFoundError, match="numpie"), needs("network"):
        raise ModuleNotFoundError("No module named 'numpie'", name="numpie")
