"""The default detector with one of its parts left out, under the clean protocol.

The score of a row is a weighted mean over the parts of views that expect values, plus terms of the
views of states and shapes. One fit serves every ablation: all terms at each test row are kept, and
summed without one or the other.

Shapes: T rows of a series, P parts of views that expect values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduce.datasets import load
from reproduce.methods import build
from reproduce.protocols.clean import as_input, mean_over_entities
from reproduce.run import Run
from subadjacent.data.series import TestSeries
from subadjacent.errors import InputError
from subadjacent.evaluation.metrics import auroc, average_precision
from subadjacent.evaluation.volume import volumes
from subadjacent.methods.views.combine import smoothed
from subadjacent.methods.views.entity import EntityViews, Looks, ViewsModel
from subadjacent.methods.views.novelty import WEIGHTS
from subadjacent.methods.views.settings import (
    LEVEL,
    LOCAL,
    RHYTHM,
    SEEKING,
    SHAPE,
    SLOW,
    STATE,
)
from subadjacent.methods.views.view import ACROSS, PARTS, WHOLE, Part
from subadjacent.scoring.moving import moving_mean

SMOOTHING = 20
# longest buffer of the volumes, as in all_metrics
BUFFER = 100
# parts whose weights add up to less than this do not judge a row
NO_WEIGHT = 1e-12

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PartScores:
    """Each part's share in the scores of one entity's test rows, before smoothing.

    Parameters
    ----------
    summands
        Each part's summand of the weighted mean, mean over channels, (P, T).
    calm_summands
        The same where a channel that varies more than usual is no surprise, (P, T).
    judged
        Rows that each part judges, (P, T).
    factors
        Learned weight of each part, (P,); already contained in ``summands``.
    novelties
        Terms of the views of states and shapes, at a learned weight of 1, by name, (T,).
    trust
        Learned weight of each of these views, by name.
    labels
        1 for every anomalous row, (T,).
    """

    summands: Scores
    calm_summands: Scores
    judged: NDArray[np.bool_]
    factors: Scores
    novelties: Mapping[str, Scores]
    trust: Mapping[str, float]
    labels: NDArray[Any]

    def score(
        self,
        keep: Callable[[Part], bool] = lambda _part: True,
        *,
        seeking: Collection[str] = SEEKING,
        spread: bool = True,
        learned_weights: bool = True,
    ) -> Scores:
        """The weighted mean over the parts to keep, plus terms of other views, before smoothing.

        The parts that are left share the weight of those that are not. Views of states and shapes
        are no part of that mean: they add the same as before, or nothing.
        """
        kept = np.array([keep(part) for part in PARTS])
        weights = np.array([part.weight for part in PARTS])[:, None] * self.judged
        summands = self.summands if spread else self.calm_summands
        if not learned_weights:
            summands = summands / self.factors[:, None]
        kept_weight = weights[kept].sum(axis=0)
        renormalised = weights.sum(axis=0) / np.maximum(kept_weight, NO_WEIGHT)
        scores = np.asarray(summands[kept].sum(axis=0) * (kept_weight > 0) * renormalised)
        for name, novelty in self.novelties.items():
            if name in seeking:
                scores += (self.trust[name] if learned_weights else 1.0) * novelty
        return scores


def _smooth(scores: Scores) -> Scores:
    return smoothed(scores, SMOOTHING, None)


# what is left out → the score without it
ABLATIONS: dict[str, Callable[[PartScores], Scores]] = {
    "nothing": lambda entity: _smooth(entity.score()),
    "level": lambda entity: _smooth(entity.score(lambda part: part.view != LEVEL)),
    "rhythm": lambda entity: _smooth(entity.score(lambda part: part.view != RHYTHM)),
    "local rhythm": lambda entity: _smooth(entity.score(lambda part: part.view != LOCAL)),
    "slow rhythm": lambda entity: _smooth(entity.score(lambda part: part.view != SLOW)),
    "state": lambda entity: _smooth(entity.score(seeking=(SHAPE,))),
    "shape": lambda entity: _smooth(entity.score(seeking=(STATE,))),
    "state and shape": lambda entity: _smooth(entity.score(seeking=())),
    "other channels": lambda entity: _smooth(entity.score(lambda part: part.form != ACROSS)),
    "all channels": lambda entity: _smooth(entity.score(lambda part: part.form != WHOLE)),
    "spread": lambda entity: _smooth(entity.score(spread=False)),
    "learned weights": lambda entity: _smooth(entity.score(learned_weights=False)),
    "other lengths": lambda entity: moving_mean(entity.score(), SMOOTHING, None),
    "smoothing": lambda entity: entity.score(),
    "all but the level": lambda entity: _smooth(
        entity.score(lambda part: part.form == LEVEL, seeking=())
    ),
}


def execute(run: Run, root: str | None, device: str) -> dict[str, Any]:
    """Fit, or use the cached fit, and evaluate the score without one part."""
    without = str(dict(run.settings).get("without"))
    if without not in ABLATIONS:
        raise InputError(f"without must be one of {', '.join(ABLATIONS)}; got {without!r}")
    metrics = []
    for entity in _part_scores(replace(run, detector="default", settings=()), root, device):
        scores = ABLATIONS[without](entity)
        metrics.append(
            {
                "average_precision": average_precision(scores, entity.labels),
                "auroc": auroc(scores, entity.labels),
                "vus_pr_tsb_ad": volumes(scores, entity.labels, BUFFER, variant="tsb-ad").pr,
            }
        )
    return mean_over_entities(metrics)


@lru_cache(maxsize=1)
def _part_scores(run: Run, root: str | None, device: str) -> tuple[PartScores, ...]:
    """The shares of all parts for every entity of a dataset, from one fit."""
    benchmark = load(run, root)
    detector = build(run, device)
    detector.fit(as_input(benchmark.train))
    scores = []
    for test in benchmark.test:
        model = detector.models_.of(test.rows.entity)
        assert isinstance(model, ViewsModel)
        scores.append(_scores_of(model, test))
    return tuple(scores)


def _scores_of(model: ViewsModel, test: TestSeries) -> PartScores:
    # test series of the benchmarks have no gaps: one segment each
    rows = model.scaler.apply(test.rows.values)
    entity = model.entity
    calm = replace(
        entity,
        expecting={
            name: replace(
                view,
                alone=view.alone.indifferent_to_spread(),
                across=view.across.indifferent_to_spread(),
            )
            for name, view in entity.expecting.items()
        },
        # the same as with the spread
        seeking={},
    )
    looks, summands = _summands(entity, model, rows)
    _, calm_summands = _summands(calm, model, rows)
    expecting = looks.expecting.values()
    return PartScores(
        summands,
        calm_summands,
        np.array([look.judged for look in expecting for _ in look.parts]),
        np.array(entity.weights.factors()),
        {name: WEIGHTS[name] * novelty.rows for name, novelty in looks.seeking.items()},
        {name: seeking.weight for name, seeking in entity.seeking.items()},
        test.labels,
    )


def _summands(entity: EntityViews, model: ViewsModel, rows: NDArray[Any]) -> tuple[Looks, Scores]:
    """Each view's evidence on the rows, and each part's term of the weighted mean, (P, T)."""
    looks = entity.look(rows, model.settings.ahead.residuals)
    return looks, entity.combine(looks, rows.shape).by_part[: len(PARTS)]
