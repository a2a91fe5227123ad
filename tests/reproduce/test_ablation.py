"""Parts of the default detector left out in turn, from one fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reproduce import catalogue
from reproduce.benchmarks import Benchmark
from reproduce.methods import build
from reproduce.plan import Selection
from reproduce.protocols import ablation
from reproduce.protocols.ablation import ABLATIONS, PartScores
from reproduce.run import ABLATION, CLEAN, Run
from reproduce.tables.ablations import LEFT_OUT
from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.decision.view_facts import FORECASTING
from subadjacent.methods.views.settings import SHAPE, STATE, VIEWS
from subadjacent.methods.views.view import PARTS

RUN = Run("msl", ABLATION, CLEAN, quick=True)


def without(name: str, **others: Any) -> Run:
    return replace(RUN, settings=(("without", name),), **others)


def plants() -> Benchmark:
    """Two entities of several channels that depend on each other."""
    drawn = {f"plant {seed}": multivariate(n=900, channels=4, seed=seed) for seed in (1, 2)}
    return Benchmark(
        "msl",
        "Plants",
        tuple(TrainSeries(plant.train, entity=name) for name, plant in drawn.items()),
        tuple(
            TestSeries(TrainSeries(plant.test, entity=name), plant.labels)
            for name, plant in drawn.items()
        ),
        "generated",
    )


@pytest.fixture(scope="module")
def fits() -> Iterator[list[int]]:
    """Runs are made on plants; one number for every fit."""
    numbers: list[int] = []
    fit = SubAdjacentDetector.fit

    def counted(self: SubAdjacentDetector, *arguments: Any, **named: Any) -> SubAdjacentDetector:
        numbers.append(len(numbers))
        return fit(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ablation, "load", lambda _run, _root: plants())
        patch.setattr(SubAdjacentDetector, "fit", counted)
        ablation._part_scores.cache_clear()
        yield numbers
    ablation._part_scores.cache_clear()


@pytest.fixture(scope="module")
def entities(fits: list[int]) -> tuple[PartScores, ...]:
    del fits
    return ablation._part_scores(replace(RUN, detector="default"), None, "cpu")


def two_parts() -> PartScores:
    """Two rows; the level judges both, its residual given the other channels the first alone.

    Surprises are 1 and 2 of the level, which has a learned weight of 1/4, and 4 of the other. The
    state adds 8 and 6 at half its weight, the shape 1 and 0.
    """
    assert [(part.weight, part.form) for part in PARTS[:2]] == [
        (1.0, "level"),
        (0.5, "other channels"),
    ]
    summands, assessed = np.zeros((len(PARTS), 2)), np.zeros((len(PARTS), 2), bool)
    assessed[0], assessed[1] = [True, True], [True, False]
    # weights add up to 1.5 in the first row and to 1 in the second
    summands[0], summands[1] = [1 / 1.5, 2 / 1], [0.5 * 4 / 1.5, 0]
    factors = np.ones(len(PARTS))
    factors[0] = 0.25
    novelties = {STATE: np.array([8.0, 6.0]), SHAPE: np.array([1.0, 0.0])}
    trust = {STATE: 0.5, SHAPE: 1.0}
    return PartScores(summands, summands / 2, assessed, factors, novelties, trust, np.array([0, 1]))


def test_parts_are_weighed_where_they_judge_by_hand() -> None:
    def score(*arguments: Any, **named: Any) -> Any:
        return two_parts().score(*arguments, novelties=(), **named)

    # (1 + 0.5 · 4) / 1.5, and 2 alone
    np.testing.assert_allclose(score(), [2, 2])
    np.testing.assert_allclose(score(spread=False), [1, 1])
    np.testing.assert_allclose(score(lambda part: part.form == "level"), [1, 2])
    # the second row is assessed by no part that is left
    np.testing.assert_allclose(score(lambda part: part.form == "other channels"), [4, 0])
    # (4 + 0.5 · 4) / 1.5, and 8 alone: without its learned weight the level is four times as large
    np.testing.assert_allclose(score(learned_weights=False), [4, 8])


def test_with_nothing_left_out_it_is_the_default_up_to_the_entity_s_unit(
    entities: tuple[PartScores, ...],
) -> None:
    benchmark = plants()
    detector = build(replace(RUN, detector="default"), "cpu")
    detector.fit({series.entity: series.values for series in benchmark.train})
    for entity, test in zip(entities, benchmark.test, strict=True):
        name = test.rows.entity
        assert name is not None
        expected = detector.decision_function({name: test.rows.values})[name]
        scores = ABLATIONS["nothing"](entity)
        np.testing.assert_allclose(scores / detector.models_.of(name).unit, expected, atol=1e-6)


def test_without_a_view_of_novelty_it_is_the_detector_that_has_no_such_view(
    entities: tuple[PartScores, ...],
) -> None:
    benchmark = plants()
    train, test = benchmark.train[0], benchmark.test[0]
    for name, novelties in (("state", [SHAPE]), ("shape", [STATE]), ("state and shape", [])):
        detector = SubAdjacentDetector(views=(*FORECASTING, *novelties)).fit(train.values)
        expected = detector.decision_function(test.rows.values)
        scores = ABLATIONS[name](entities[0]) / detector.models_.pooled.unit
        np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_a_part_that_is_left_out_makes_a_difference_and_has_no_say(
    entities: tuple[PartScores, ...],
) -> None:
    for entity in entities:
        whole = ABLATIONS["nothing"](entity)
        for name in ABLATIONS.keys() - {"nothing"}:
            rest = ABLATIONS[name](entity)
            assert rest.shape == whole.shape
            assert np.isfinite(rest).all()
            # and not by a factor alone
            assert np.corrcoef(whole, rest)[0, 1] < 1 - 1e-6, name
        for view in VIEWS:
            # a higher surprise in one view changes every score but the one without it
            of_view = np.array([part.view == view for part in PARTS])
            higher = replace(
                entity,
                summands=entity.summands + of_view[:, None],
                novelties={name: one + (name == view) for name, one in entity.novelties.items()},
            )
            both = [(ABLATIONS[one](entity), ABLATIONS[one](higher)) for one in VIEWS]
            assert [np.array_equal(*pair) for pair in both] == [one == view for one in VIEWS]


def test_runs_of_one_dataset_share_one_fit(fits: list[int]) -> None:
    ablation._part_scores.cache_clear()
    before = len(fits)
    rows = {name: ablation.execute(without(name), None, "cpu") for name in ABLATIONS}
    assert len(fits) == before + 1
    assert all(0 <= value <= 1 for row in rows.values() for value in row.values())
    assert {*rows["nothing"]} == {"average_precision", "auroc", "vus_pr_tsb_ad"}
    assert len({row["auroc"] for row in rows.values()}) > len(rows) // 2


def test_every_run_of_the_table_leaves_out_what_can_be_left_out() -> None:
    assert {"nothing", *LEFT_OUT} == {*ABLATIONS}
    table = catalogue.table("ablation-default")
    runs = [run for run in table.runs(Selection()) if run.detector == ABLATION]
    assert {dict(run.settings)["without"] for run in runs} == {*LEFT_OUT}
    assert {run.protocol for run in runs} == {CLEAN}
    # the default has no chance in it: one run is enough
    assert {run.seed for run in runs} == {0}
