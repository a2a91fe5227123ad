"""Parameters that reach a method by their names."""

from __future__ import annotations

import inspect
from typing import Any

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
# what the detector itself, or the run, makes use of
SHELL = {"contamination", "adapt_after", "fill_limit", "precision", "device", "random_state"}


def settings(method: Any) -> dict[str, Any]:
    """Fields of a method, those of its network among them."""
    return {**vars(method), **getattr(method, "settings", {})}


def test_a_method_gets_what_it_takes() -> None:
    detector = KNNDetector(neighbours=3, smoothing=7, clip=5.0, fill_limit=2)
    assert detector._method() == NearestMethod(neighbours=3, smoothing=7, clip=5.0)


def test_every_parameter_but_the_shells_is_a_setting_of_the_method() -> None:
    """A parameter that nothing reads would be a lie."""
    for name in SHARED:
        detector = create(name)
        given = detector.get_params()
        assert set(given) == set(inspect.signature(type(detector)).parameters)
        own = {setting: value for setting, value in given.items() if setting not in SHELL}
        taken = settings(detector._method())
        assert {setting: taken.get(setting, "not taken") for setting in own} == own
        changed = settings(clone(create(name, clip=3.0, smoothing=6))._method())
        assert (changed["clip"], changed["smoothing"]) == (3.0, 6)


def test_a_detector_is_equal_to_itself_alone_and_prints_what_was_changed() -> None:
    for name in SHARED:
        detector = create(name, clip=3.0)
        assert detector == detector
        assert detector != create(name, clip=3.0)
        assert repr(detector) == f"{REGISTRY[name].class_name}(clip=3.0)"


def test_a_seed_may_be_anything_that_scikit_learn_takes() -> None:
    seeds = [RandomDetector(random_state=one)._runtime(print).seed for one in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
