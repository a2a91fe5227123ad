"""Models that score a row by its residuals: by hand, in parts, saved and restored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from methods.streams import assert_same, in_parts
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Reach
from subadjacent.errors import InputError
from subadjacent.methods.method import Fitted, State
from subadjacent.methods.residuals import ResidualMethod
from subadjacent.rivals.controls import MagnitudeMethod, RandomMethod
from subadjacent.rivals.knn import NearestMethod
from subadjacent.rivals.linear import ForecastMethod
from subadjacent.rivals.matrix_profile import ProfileMethod
from subadjacent.rivals.pca import SubspaceMethod
from subadjacent.runtime import Progress, Runtime

METHODS: dict[str, ResidualMethod] = {
    "pca": SubspaceMethod(smoothing=4),
    "sub_pca": SubspaceMethod(window=7, components=3, smoothing=4),
    "magnitude": MagnitudeMethod(smoothing=4),
    "random": RandomMethod(smoothing=4),
}
# what these learn they know by heart: training rows are assessed by others (test_per_entity.py)
KEEPING: dict[str, ResidualMethod] = {
    "nearest": NearestMethod(window=3, smoothing=4),
    "profile": ProfileMethod(window=5, smoothing=4),
    "forecast": ForecastMethod(window=3, smoothing=4),
}
ALL = METHODS | KEEPING
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))


def walk(n: int = 200, channels: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=(n, channels)), axis=0) % 7


def fitted(method: ResidualMethod, **series: np.ndarray) -> Fitted:
    return method.fit([TrainSeries(rows, entity=name) for name, rows in series.items()], Runtime())


def test_a_residual_model_by_hand() -> None:
    """Mean 1 and deviation 1 in training, where each squared residual is 1."""
    method = MagnitudeMethod(smoothing=2)
    model = method.fit([TrainSeries(np.array([[0.0], [2.0]] * 5))], Runtime()).models.pooled
    found = model.assess(np.array([[3.0], [1.0], [4.0]]))
    # squares 4, 0, 9; the mean square of training stands for the row before the first
    np.testing.assert_allclose(found.traces["error"], [4, 0, 9])
    np.testing.assert_allclose(found.score, [2.5, 2, 4.5])
    np.testing.assert_allclose(found.by_channel, [[4 / 1.001], [0], [9 / 1.001]])
    assert found.expected is not None
    np.testing.assert_allclose(found.expected, [[1], [1], [1]])


def test_an_error_that_is_not_averaged_is_no_trace_beside_the_score() -> None:
    model = fitted(MagnitudeMethod(), a=walk()).models.of("a")
    assert model.assess(walk(seed=1)).traces == {}


@every_method
def test_training_scores_are_those_of_the_models(method: ResidualMethod) -> None:
    series = {"a": walk(seed=1), "b": 5 * walk(90, seed=2)}
    found = fitted(method, **series)
    for scores, (name, rows) in zip(found.scores, series.items(), strict=True):
        np.testing.assert_array_equal(scores, found.models.of(name).assess(rows).score)
    for held_out, scores in zip(found.held_out, found.scores, strict=True):
        np.testing.assert_array_equal(held_out, scores)


@pytest.mark.parametrize(
    ("name", "reach"),
    [
        ("pca", (3, 0)),
        ("sub_pca", (9, 6)),
        ("magnitude", (3, 0)),
        ("random", (3, None)),
        ("nearest", (5, 0)),
        ("profile", (7, 4)),
        ("forecast", (6, 0)),
    ],
)
def test_a_model_knows_how_far_it_reaches(name: str, reach: Any) -> None:
    assert fitted(ALL[name], a=walk()).models.of("a").reach == Reach(*reach)


@pytest.mark.parametrize("name", [name for name in ALL if name != "random"])
@pytest.mark.parametrize("size", [1, 30])
def test_rows_that_come_in_parts_are_judged_as_all_at_once(name: str, size: int) -> None:
    model = fitted(ALL[name], a=walk()).models.of("a")
    rows = walk(70, seed=1)
    assert_same(in_parts(model.stream(), rows, size), model.assess(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_a_segment_shorter_than_a_window_is_continued_by_its_mirror_image(n: int) -> None:
    model = fitted(METHODS["sub_pca"], a=walk()).models.of("a")
    rows = walk(n, seed=1)
    # there and back again, until there are seven rows
    turns = np.concatenate([rows, rows[::-1]] * 7)[:7]
    np.testing.assert_allclose(model.assess(rows).score, model.assess(turns).score[:n])
    assert model.assess(rows).by_channel.shape == (n, 3)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("center", np.zeros(2), r"center must have shape \(3,\); got \(2,\)"),
        ("deviation", np.array([1.0, 0.0, 1.0]), "deviation must be above 0"),
        ("deviation", np.array([1.0, np.nan, 1.0]), "deviation must be finite"),
        ("usual_squares", np.array([1.0, -1.0, 1.0]), "usual_squares must be finite and at least"),
        ("mean", np.zeros(5), r"mean must have shape \(21,\); got \(5,\)"),
        ("directions", np.zeros((5, 3)), r"directions must have shape \(21, 3\); got \(5, 3\)"),
        ("clip", 0, "clip must be a finite number above 0"),
        ("smoothing", 0, "smoothing must be a whole number of at least 1"),
        ("usual_error", float("nan"), "usual_error must be a finite number"),
        ("window", 2.5, "window must be a whole number"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(name: str, value: Any, message: str) -> None:
    method = METHODS["sub_pca"]
    arrays, facts = fitted(method, a=walk()).models.pooled.state()
    changed = State(arrays | {name: value}, facts) if name in arrays else None
    with pytest.raises(InputError, match=message):
        method.restore(changed or State(arrays, facts | {name: value}), 3)


@pytest.mark.parametrize("name", ["seed", "entity"])
def test_a_state_of_chance_that_is_no_number_is_refused(name: str) -> None:
    method = METHODS["random"]
    arrays, facts = fitted(method, a=walk()).models.pooled.state()
    with pytest.raises(InputError, match=f"{name} must be a whole number"):
        method.restore(State(arrays, facts | {name: "7"}), 3)


def test_a_fit_says_how_far_it_has_come() -> None:
    seen: list[Progress] = []
    series = [TrainSeries(walk(seed=seed), entity=str(seed)) for seed in range(3)]
    METHODS["pca"].fit(series, Runtime(watch=seen.append))
    assert [(one.done, one.total, one.unit) for one in seen] == [
        (number, 3, "entities") for number in (1, 2, 3)
    ]


def test_entities_may_be_fitted_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.methods.per_entity.MANY_ENTITIES", 2)

    def backwards(function: Any, items: Any) -> Any:
        return iter([function(item) for item in reversed(items)][::-1])

    series = [TrainSeries(walk(seed=seed), entity=str(seed)) for seed in range(3)]
    plain = METHODS["sub_pca"].fit(series, Runtime())
    other = METHODS["sub_pca"].fit(series, Runtime(map=backwards))
    np.testing.assert_array_equal(plain.held_out, other.held_out)
