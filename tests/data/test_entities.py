"""One value an entity, and one for entities never seen."""

from __future__ import annotations

from subadjacent.data.entities import PerEntity

UNITS = PerEntity(2.0, {"calm": 0.5, "restless": 4.0})


def test_each_entity_has_its_own_value_and_strangers_the_pooled_one() -> None:
    assert UNITS.of("calm") == 0.5
    assert UNITS.of("restless") == 4.0
    assert UNITS.of("stranger") == 2.0
    assert UNITS.of(None) == 2.0


def test_a_value_that_counts_as_false_is_a_value() -> None:
    assert PerEntity(1, {"a": 0}).of("a") == 0


def test_a_function_is_applied_to_every_value() -> None:
    halves = UNITS.map(lambda unit: unit / 2)
    assert halves == PerEntity(1.0, {"calm": 0.25, "restless": 2.0})
    assert UNITS.pooled == 2.0


def test_the_pooled_value_comes_first_then_entities_in_order() -> None:
    assert list(UNITS) == [2.0, 0.5, 4.0]
    assert list(PerEntity("alone", {})) == ["alone"]
