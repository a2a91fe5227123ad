"""Parts of the default detector left out in turn, from one fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.data.benchmarks import Benchmark
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.detectors.combination import WEIGHT
from subadjacent.detectors.members import TOTAL_WEIGHT, VIEWS
from subadjacent.evaluation.metrics import average_precision
from subadjacent.experiments import catalogue
from subadjacent.experiments.methods import build
from subadjacent.experiments.plan import Selection
from subadjacent.experiments.protocols import ablation
from subadjacent.experiments.protocols.ablation import ABLATIONS, _Entity, _Part
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import ABLATION, CLEAN, Run
from subadjacent.experiments.runner import Place, make
from subadjacent.experiments.tables.ablation_default import LEFT_OUT

RUN = Run("msl", ABLATION, CLEAN, quick=True)


def without(name: str, **others: Any) -> Run:
    return replace(RUN, settings=(("without", name),), **others)


def plants() -> Benchmark:
    """Two entities of several channels that go together."""
    drawn = {f"plant {seed}": multivariate(n=900, channels=4, seed=seed) for seed in (1, 2)}
    return Benchmark(
        "msl",
        "Plants",
        tuple(TrainSeries(one.train, entity=name) for name, one in drawn.items()),
        tuple(
            TestSeries(TrainSeries(one.test, entity=name), one.labels)
            for name, one in drawn.items()
        ),
        "generated",
    )


@pytest.fixture(scope="module")
def fits() -> Iterator[list[int]]:
    """Runs are made on plants; one number for every fit."""
    found: list[int] = []
    whole = SubAdjacentDetector.fit

    def counted(self: SubAdjacentDetector, *arguments: Any, **named: Any) -> SubAdjacentDetector:
        found.append(len(found))
        return whole(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ablation, "load", lambda _run, _root: plants())
        patch.setattr(SubAdjacentDetector, "fit", counted)
        ablation._entities.cache_clear()
        yield found
    ablation._entities.cache_clear()


@pytest.fixture(scope="module")
def entities(fits: list[int]) -> tuple[_Entity, ...]:
    del fits
    return ablation._entities(replace(RUN, detector="default"), None, "cpu")


def test_parts_are_weighed_where_they_judge_by_hand() -> None:
    here, nowhere = np.array([True, True]), np.array([True, False])
    parts = (
        _Part("level", "alone", np.array([1.0, 2.0]), here, 1.0, 0.25),
        _Part("level", "given", np.array([4.0, 8.0]), nowhere, 0.5, 1.0),
    )
    calm = tuple(replace(part, surprise=part.surprise / 2) for part in parts)
    added = _Part("network", "alone", np.array([3.0, 0.0]), here, WEIGHT, 0.5)
    one = _Entity(parts, calm, added, np.array([0, 1]))
    # (1 + 0.5 · 4) / 1.5, and 2 alone
    assert one.score(network=False).tolist() == [2.0, 2.0]
    assert one.score(network=False, restless=False).tolist() == [1.0, 1.0]
    assert one.score(lambda part: part.form == "given", network=False).tolist() == [4.0, 0.0]
    views, network = TOTAL_WEIGHT / (TOTAL_WEIGHT + WEIGHT), WEIGHT / (TOTAL_WEIGHT + WEIGHT)
    np.testing.assert_allclose(one.score(), [2 * views + 3 * network, 2 * views])
    # (4 + 0.5 · 4) / 1.5, and 8 alone: without what was learned, four times as loud
    assert one.score(network=False, learned=False).tolist() == [4.0, 8.0]
    np.testing.assert_allclose(one.score(learned=False), [4 * views + 6 * network, 8 * views])


def test_with_nothing_left_out_it_is_the_default_up_to_the_entity_s_unit(
    entities: tuple[_Entity, ...],
) -> None:
    benchmark = plants()
    detector = build(replace(RUN, detector="default"), "cpu")
    detector.fit({one.entity: one.values for one in benchmark.train})
    assert isinstance(detector, SubAdjacentDetector)
    for one, test in zip(entities, benchmark.test, strict=True):
        entity = test.rows.entity
        assert entity is not None
        wanted = detector.decision_function({entity: test.rows.values})[entity]
        found = ABLATIONS["nothing"](one)
        np.testing.assert_allclose(
            found / detector.levels_.by_entity[entity], wanted, rtol=1e-4, atol=1e-4
        )
        assert average_precision(found, one.labels) == pytest.approx(
            average_precision(wanted, test.labels), rel=1e-3
        )


# no part of a plant is loud: what was learned of it is 1 for all
@pytest.mark.parametrize("name", [name for name in ABLATIONS if name not in ("nothing", "weights")])
def test_every_part_that_is_left_out_makes_a_difference(
    name: str, entities: tuple[_Entity, ...]
) -> None:
    for one in entities:
        whole, rest = ABLATIONS["nothing"](one), ABLATIONS[name](one)
        assert rest.shape == whole.shape
        assert np.isfinite(rest).all()
        # and not by a factor alone
        assert np.corrcoef(whole, rest)[0, 1] < 1 - 1e-6


def test_what_is_left_out_is_what_its_name_says(entities: tuple[_Entity, ...]) -> None:
    one = entities[0]
    assert {part.view for part in one.parts} == {*VIEWS}
    loud = {"level", "ridge", "local", "wide"}
    for view in loud:
        # another surprise in one view changes every score but the one without it
        parts = tuple(
            replace(part, surprise=part.surprise + (part.view == view)) for part in one.parts
        )
        other = replace(one, parts=parts)
        unmoved = {
            name for name in loud if np.array_equal(ABLATIONS[name](one), ABLATIONS[name](other))
        }
        assert unmoved == {view}


def test_runs_of_one_dataset_and_seed_share_one_fit(fits: list[int]) -> None:
    ablation._entities.cache_clear()
    before = len(fits)
    rows = {name: ablation.execute(without(name), None, "cpu") for name in ABLATIONS}
    assert len(fits) == before + 1
    assert all(0 <= value <= 1 for row in rows.values() for value in row.values())
    assert {*rows["nothing"]} == {"average_precision", "auroc", "vus_pr_tsb_ad"}
    assert len({row["auroc"] for row in rows.values()}) > len(rows) // 2
    ablation.execute(without("level", seed=1), None, "cpu")
    assert len(fits) == before + 2


def test_runs_that_share_a_fit_are_of_one_family() -> None:
    families = {without(name).family for name in ABLATIONS}
    assert len(families) == 1
    assert families.isdisjoint(
        {without("level", seed=1).family, without("level", dataset="smap").family}
    )


def test_every_run_of_the_table_leaves_out_what_can_be_left_out() -> None:
    assert {"nothing", *LEFT_OUT} == {*ABLATIONS}
    table = catalogue.table("ablation-default")
    runs = [run for run in table.runs(Selection()) if run.detector == ABLATION]
    assert {dict(run.settings)["without"] for run in runs} == {*LEFT_OUT}
    assert {run.protocol for run in runs} == {CLEAN}
    assert {run.seed for run in runs} == {0, 1, 2}


def test_a_part_that_nobody_knows_is_told_as_a_failure(tmp_path: Path) -> None:
    unknown = Run("nips-ts", ABLATION, CLEAN, settings=(("without", "soul"),), quick=True)
    failed = make([unknown], Results(tmp_path), Place(device="cpu"))
    assert [step.run for step in failed] == [unknown]
    assert "soul" in failed[0].error
    assert len(Results(tmp_path)) == 0
