"""The default detector without one of its parts, under the clean protocol.

A score is a mean over parts, so that one fit serves every ablation: what each part makes of the
test rows is kept, and added up without one or the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.combination import WEIGHT
from subadjacent.detectors.members import TOTAL_WEIGHT, Members
from subadjacent.detectors.subadjacent import SubAdjacentDetector
from subadjacent.errors import InputError
from subadjacent.evaluation.metrics import auroc, average_precision
from subadjacent.evaluation.volume import volumes
from subadjacent.experiments.datasets import load
from subadjacent.experiments.methods import build
from subadjacent.experiments.protocols.clean import as_input, mean_over_entities
from subadjacent.experiments.run import CLEAN, Run
from subadjacent.scoring.standardised import averaged, moving_mean

SMOOTHING = 20
# longest buffer of the volumes
BUFFER = 100

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What one part makes of a series: the mean over channels, (T), and which rows it judges."""

    view: str
    form: str
    surprise: Scores
    judged: NDArray[np.bool_]
    weight: float
    factor: float  # that was learned for it, and is in the surprise

    def constant(self) -> _Part:
        """The part as it would be without a factor."""
        return replace(self, surprise=self.surprise / self.factor)


@dataclass(frozen=True, slots=True, eq=False)
class _Entity:
    """What every part makes of one entity's test rows, with and without restlessness."""

    parts: tuple[_Part, ...]
    calm: tuple[_Part, ...]
    network: _Part
    labels: NDArray[Any]

    def score(
        self,
        keep: Callable[[_Part], bool] = lambda _part: True,
        *,
        network: bool = True,
        restless: bool = True,
        learned: bool = True,
    ) -> Scores:
        """Parts added up, before smoothing."""
        kept = [part for part in (self.parts if restless else self.calm) if keep(part)]
        added = self.network
        if not learned:
            kept, added = [part.constant() for part in kept], added.constant()
        total = sum(part.weight * part.judged * part.surprise for part in kept)
        weight = sum(part.weight * part.judged for part in kept)
        mean = np.asarray(total / np.maximum(weight, 1e-12))
        if not network:
            return mean
        return (TOTAL_WEIGHT * mean + added.weight * added.surprise) / (TOTAL_WEIGHT + added.weight)


def _smooth(scores: Scores) -> Scores:
    return averaged(scores[:, None], SMOOTHING, causal=False)


# what is left out → the score without it
ABLATIONS: dict[str, Callable[[_Entity], Scores]] = {
    "nothing": lambda one: _smooth(one.score()),
    "network": lambda one: _smooth(one.score(network=False)),
    "level": lambda one: _smooth(one.score(lambda part: part.view != "level")),
    "ridge": lambda one: _smooth(one.score(lambda part: part.view != "ridge")),
    "local": lambda one: _smooth(one.score(lambda part: part.view != "local")),
    "wide": lambda one: _smooth(one.score(lambda part: part.view != "wide")),
    "companions": lambda one: _smooth(one.score(lambda part: part.form != "given")),
    "together": lambda one: _smooth(one.score(lambda part: part.form != "together")),
    "restlessness": lambda one: _smooth(one.score(restless=False)),
    "weights": lambda one: _smooth(one.score(learned=False)),
    "other lengths": lambda one: moving_mean(one.score(), SMOOTHING, causal=False),
    "smoothing": lambda one: one.score(),
    "all but the level": lambda one: _smooth(
        one.score(lambda part: (part.view, part.form) == ("level", "alone"), network=False)
    ),
}


def execute(run: Run, root: str | None, device: str) -> dict[str, Any]:
    """Fit, or take the fit of a run before, and judge what is left without a part."""
    without = str(dict(run.settings).get("without"))
    if without not in ABLATIONS:
        raise InputError(f"without must be one of {', '.join(ABLATIONS)}; got {without!r}")
    measures = []
    for one in _entities(replace(run, detector="default", settings=()), root, device):
        scores = ABLATIONS[without](one)
        measures.append(
            {
                "average_precision": average_precision(scores, one.labels),
                "auroc": auroc(scores, one.labels),
                "vus_pr_tsb_ad": volumes(scores, one.labels, BUFFER, variant="tsb-ad").pr,
            }
        )
    return mean_over_entities(measures)


@lru_cache(maxsize=1)
def _entities(run: Run, root: str | None, device: str) -> tuple[_Entity, ...]:
    assert run.protocol == CLEAN
    benchmark = load(run, root)
    detector = build(run, device)
    assert isinstance(detector, SubAdjacentDetector)
    detector.fit(as_input(benchmark.train))
    return tuple(_look(detector, test.rows, test.labels) for test in benchmark.test)


def _look(detector: SubAdjacentDetector, rows: Any, labels: NDArray[Any]) -> _Entity:
    series = detector._read({rows.entity: rows.values} if rows.entity else rows.values).series
    # test series of the benchmarks have no gaps
    (scaled,) = detector.combination_.views.scaled(series[0])
    members = detector.combination_.views.of(series[0])
    calm = replace(
        members,
        views=tuple(
            replace(
                view,
                alone=view.alone.indifferent_to_spread(),
                given=view.given.indifferent_to_spread(),
            )
            for view in members.views
        ),
    )
    (surprise,) = detector.network_surprise(series)[0]
    factor = detector.combination_.network_factor(series[0])
    every = np.ones(len(surprise), dtype=bool)
    network = _Part("network", "alone", surprise.mean(axis=1), every, WEIGHT, factor)
    return _Entity(_parts(members, scaled), _parts(calm, scaled), network, labels)


def _parts(members: Members, rows: NDArray[np.float32]) -> tuple[_Part, ...]:
    return tuple(
        _Part(part.view, part.form, part.surprise.mean(axis=1), part.judged, part.weight, factor)
        for part, factor in zip(members.parts(rows), members.loudness.factors(), strict=True)
    )
