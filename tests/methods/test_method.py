"""Models of all entities become one state, and come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.errors import InputError
from subadjacent.methods.method import Arrays, Fitted, Method, Model, State, join_names, split_names
from subadjacent.runtime import Runtime


@dataclass(frozen=True, eq=False)
class Kept(Model):
    """A model that is nothing but its state."""

    arrays: Arrays
    facts: dict[str, Any]
    channels: int = 2

    @property
    def reach(self) -> Reach:
        return Reach(0, 0)

    @property
    def typical_values(self) -> Array:
        return np.zeros(self.channels)

    def assess(self, rows: Array) -> Evidence:
        return Evidence(rows[:, 0], rows, None, {})

    def state(self) -> State:
        return State(self.arrays, self.facts)


class Keep(Method):
    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        raise NotImplementedError

    def restore(self, state: State, channels: int) -> Model:
        return Kept(state.arrays, state.facts, channels)


def model(**arrays: Any) -> Kept:
    return Kept({name: np.asarray(value) for name, value in arrays.items()}, {"names": [*arrays]})


def round_trip(models: PerEntity[Model]) -> PerEntity[Model]:
    method = Keep()
    return method.unpack(method.pack(models), 2, list(models.by_entity))


def assert_same(found: PerEntity[Model], wanted: PerEntity[Model]) -> None:
    assert list(found.by_entity) == list(wanted.by_entity)
    for one, other in zip(found, wanted, strict=True):
        assert one.state().facts == other.state().facts
        arrays, originals = one.state().arrays, other.state().arrays
        assert set(arrays) == set(originals)
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, originals[name])
            assert array.dtype == originals[name].dtype


FLEET: PerEntity[Model] = PerEntity(
    model(center=[0.0, 0.0]), {"a": model(center=[1.0, 2.0]), "b": model(center=[3.0, 4.0])}
)


def test_arrays_that_agree_in_shape_are_stacked_by_hand() -> None:
    state = Keep().pack(FLEET)
    assert list(state.arrays) == ["center"]
    assert state.arrays["center"].tolist() == [[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]
    assert state.facts == {"models": [{"names": ["center"]}] * 3}


@pytest.mark.parametrize(
    "other",
    [
        model(center=[1.0, 2.0, 3.0]),
        model(center=np.array([1.0, 2.0], np.float32)),
        model(deviation=[1.0, 2.0]),
        model(),
    ],
    ids=["shape", "kind", "name", "missing"],
)
def test_arrays_that_differ_are_kept_one_by_one(other: Model) -> None:
    models: PerEntity[Model] = PerEntity(model(center=[0.0, 0.0]), {"a": other})
    names = set(Keep().pack(models).arrays)
    assert "center#0" in names
    assert "center" not in names
    assert_same(round_trip(models), models)


def test_what_is_packed_comes_back() -> None:
    assert_same(round_trip(FLEET), FLEET)
    alone: PerEntity[Model] = PerEntity(model(center=[1.0], spread=[[2.0]]), {})
    assert_same(round_trip(alone), alone)


def test_entities_go_by_their_order_and_not_by_name() -> None:
    found = Keep().unpack(Keep().pack(FLEET), 5, ["z", "y"])
    assert found.of("z").state().arrays["center"].tolist() == [1.0, 2.0]
    assert found.of("y").state().arrays["center"].tolist() == [3.0, 4.0]
    assert found.of("a").state().arrays["center"].tolist() == [0.0, 0.0]
    assert all(isinstance(one, Kept) and one.channels == 5 for one in found)


@pytest.mark.parametrize(
    ("arrays", "facts", "entities", "message"),
    [
        *(({}, {}, names, f"models must be a list of {1 + len(names)}, one an")
          for names in ([], ["a"], ["a", "b", "c"])),
        *(({}, {"models": facts}, ["a", "b"], "models must be a list of 3")
          for facts in ({}, "three", None, 3)),
        ({"center": np.zeros((2, 2))}, {}, ["a", "b"], "center must hold 3 arrays; got 2"),
        *(({f"center#{place}": np.zeros(2)}, {}, ["a", "b"], f"center#{place} must name one of 3")
          for place in ("3", "-1", "x", "1.0")),
    ],
)  # fmt: skip
def test_a_state_that_does_not_fit_is_refused(
    arrays: Arrays, facts: dict[str, Any], entities: list[str], message: str
) -> None:
    state = Keep().pack(FLEET)
    changed = State(arrays or state.arrays, {**state.facts, **facts})
    with pytest.raises(InputError, match=message):
        Keep().unpack(changed, 2, entities)


def test_a_model_without_averages_has_no_blur() -> None:
    assert model().blur == 0


# ---- the same method, looking back only


def test_names_of_parts_are_joined_and_split_again() -> None:
    one, two = np.array([1]), np.array([2])
    inner = join_names({"tail": {"counts": one}})
    joined = join_names({"views": inner, "reporter": {"last": two}})
    assert list(joined) == ["views/tail/counts", "reporter/last"]
    assert split_names(joined) == {"views": {"tail/counts": one}, "reporter": {"last": two}}
    assert split_names(split_names(joined)["views"]) == {"tail": {"counts": one}}
