"""Parameters that reach a method by their names."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from sklearn.base import clone

from subadjacent.detectors.method import MethodDetector
from subadjacent.detectors.registry import REGISTRY, create, detector_class
from subadjacent.rivals.controls import RandomDetector
from subadjacent.rivals.knn import KNNDetector, NearestMethod

SHARED = [
    name
    for name, entry in REGISTRY.items()
    if issubclass(detector_class(name), MethodDetector) and not entry.library
]
every_shared = pytest.mark.parametrize("name", SHARED)

# what the detector itself, or the run, makes use of
SHELL = {"contamination", "adapt_after", "fill_limit", "precision", "device", "random_state"}


def settings(method: Any) -> dict[str, Any]:
    """Fields of a method, those of its network among them."""
    return {**vars(method), **getattr(method, "settings", {})}


def test_a_method_gets_what_it_takes() -> None:
    detector = KNNDetector(neighbours=3, smoothing=7, clip=5.0, fill_limit=2)
    assert detector._method() == NearestMethod(neighbours=3, smoothing=7, clip=5.0)


@every_shared
def test_every_parameter_but_the_shells_is_a_setting_of_the_method(name: str) -> None:
    """A parameter that nothing reads would be a lie."""
    detector = create(name)
    given = detector.get_params()
    assert set(given) == set(inspect.signature(type(detector)).parameters)
    taken = settings(detector._method())
    assert {one: taken.get(one, "not taken") for one in given if one not in SHELL} == {
        one: value for one, value in given.items() if one not in SHELL
    }


@every_shared
def test_what_is_given_is_what_the_method_gets(name: str) -> None:
    detector = clone(create(name, clip=3.0, smoothing=6))
    taken = settings(detector._method())
    assert (taken["clip"], taken["smoothing"]) == (3.0, 6)


@every_shared
def test_a_detector_is_equal_to_itself_alone_and_prints_what_was_changed(name: str) -> None:
    one, other = create(name, clip=3.0), create(name, clip=3.0)
    assert one == one
    assert one != other
    assert repr(one) == f"{REGISTRY[name].class_name}(clip=3.0)"


def test_a_seed_may_be_anything_that_scikit_learn_takes() -> None:
    seeds = [RandomDetector(random_state=one)._runtime(print).seed for one in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
