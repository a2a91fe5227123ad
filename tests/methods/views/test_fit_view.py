"""What is usual of a view's residuals: of one entity, of many at once, and of no row at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from methods.views.combining import waves
from subadjacent.decision.view_facts import FORECASTING
from subadjacent.methods.views.fit_view import ViewFit, ViewResiduals, fit_view
from subadjacent.methods.views.residual_scale_fit import (
    AssessedRows,
    fit_channel_scale,
    fit_joint_scale,
)
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.view import JOINT_VIEW, parts_of
from subadjacent.ridge.companions import fit_companions
from subadjacent.ridge.sides import SidesFit

FULL = ViewSettings()
AXES = np.eye(3, dtype=np.float32)


def left(
    seed: int, lengths: Sequence[int] = (120,), assessed: slice = slice(None)
) -> ViewResiduals:
    """Noise of another size in every channel, of which some rows are assessed."""
    random = np.random.default_rng(seed)
    size = np.array([1.0, 3.0, 0.2]) * (1 + seed)
    residuals = [(size * random.normal(size=(rows, 3))).astype(np.float32) for rows in lengths]
    where = [np.zeros(rows, dtype=bool) for rows in lengths]
    for own, rows in zip(where, residuals, strict=True):
        own[assessed] = True
        rows[~own] = 0
    return ViewResiduals(None, residuals, where, AXES)


def sample_of(residuals: ViewResiduals) -> list[np.ndarray]:
    """Every third row is sampled."""
    return [np.arange(len(rows)) % 3 == 0 for rows in residuals.residuals]


def assert_same(one: ViewFit, other: ViewFit) -> None:
    for name in ("alone", "across"):
        a, b = getattr(one.view, name), getattr(other.view, name)
        np.testing.assert_allclose(a.squares, b.squares, rtol=1e-12)
        np.testing.assert_allclose(a.spread, b.spread, rtol=1e-12)
        assert a.floor == b.floor
    np.testing.assert_array_equal(one.view.companions.weights, other.view.companions.weights)
    assert (one.view.joint is None) == (other.view.joint is None)
    if one.view.joint is not None and other.view.joint is not None:
        np.testing.assert_allclose(one.view.joint.squares, other.view.joint.squares, rtol=1e-12)
        assert one.view.joint.floor == other.view.joint.floor
    assert one.independent == other.independent
    assert len(one.parts) == len(other.parts)
    for own, others in zip(one.parts, other.parts, strict=True):
        for a, b in zip(own.rows, others.rows, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", ["level", "rhythm"])
@pytest.mark.parametrize(
    ("lengths", "assessed"), [((120,), slice(None)), ((60, 45), slice(10, 40))]
)
def test_many_entities_at_once_are_each_as_alone(
    name: str, lengths: tuple[int, ...], assessed: slice
) -> None:
    entities = [left(seed, lengths, assessed) for seed in range(3)]
    together = fit_view(name, entities, FULL, sample_of(entities[0]))
    for one, found in zip(entities, together, strict=True):
        (alone,) = fit_view(name, [one], FULL, sample_of(one))
        assert_same(found, alone)
        assert found.view.joint is None or name == JOINT_VIEW
        assert len(found.parts) == len(parts_of(name))


@pytest.mark.parametrize("name", FORECASTING)
def test_a_view_of_no_row_is_what_would_be_learned_of_none(name: str) -> None:
    nothing = left(0, (50, 60), slice(0, 0))
    (found,) = fit_view(name, [nothing], FULL, sample_of(nothing))
    rows = AssessedRows(nothing.assessed)
    companions, unseen = fit_companions(nothing.residuals, nothing.assessed)
    np.testing.assert_array_equal(found.view.companions.weights, companions.weights)
    for scale, parts, floor in (
        (found.view.alone, nothing.residuals, FULL.own_floor),
        (found.view.across, unseen, FULL.related_floor),
    ):
        learned = fit_channel_scale(parts, rows, None, floor)
        np.testing.assert_array_equal(scale.squares, learned.scale.squares)
        np.testing.assert_array_equal(scale.spread, learned.scale.spread)
        assert scale.floor == learned.scale.floor
        assert not learned.surprise(1, 0, 60).any()
    assert [[rows.tolist() for rows in part.rows] for part in found.parts] == [
        [[0.0] * 50, [0.0] * 60]
    ] * len(parts_of(name))
    if name == JOINT_VIEW:
        joint = fit_joint_scale(nothing.residuals, rows, None, FULL.own_floor).scale
        assert found.view.joint is not None
        np.testing.assert_array_equal(found.view.joint.squares, joint.squares)
        assert found.view.joint.floor == joint.floor
        assert found.independent == 110
    else:
        assert found.view.joint is None
        assert found.independent == np.inf


def test_its_ridge_is_kept() -> None:
    sides = SidesFit.of_nothing([waves(40)])
    nothing = left(0, (40,), slice(0, 0))._replace(ridge=sides.ridge)
    (found,) = fit_view("slow rhythm", [nothing], FULL, sample_of(nothing))
    assert found.view.ridge is sides.ridge
