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
from subadjacent.decision.view_facts import NOVELTIES
from subadjacent.errors import InputError
from subadjacent.evaluation.metrics import auroc, average_precision
from subadjacent.evaluation.volume import volumes
from subadjacent.methods.moving import moving_mean
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.forecasts import Forecasts, Residuals
from subadjacent.methods.views.residual_scale import UNREACHABLE_SQUARE
from subadjacent.methods.views.settings import (
    LEVEL,
    LOCAL,
    RHYTHM,
    SHAPE,
    SLOW,
    STATE,
)
from subadjacent.methods.views.smoothing import smoothed
from subadjacent.methods.views.stream import ViewsStream
from subadjacent.methods.views.view import ACROSS, PARTS, WHOLE, Part

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
    assessed
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
    assessed: NDArray[np.bool_]
    factors: Scores
    novelties: Mapping[str, Scores]
    trust: Mapping[str, float]
    labels: NDArray[Any]

    def score(
        self,
        keep: Callable[[Part], bool] = lambda _part: True,
        *,
        novelties: Collection[str] = NOVELTIES,
        spread: bool = True,
        learned_weights: bool = True,
    ) -> Scores:
        """The weighted mean over the parts to keep, plus terms of other views, before smoothing.

        The parts that are left share the weight of those that are not. Views of states and shapes
        are no part of that mean: they add the same as before, or nothing.
        """
        kept = np.array([keep(part) for part in PARTS])
        weights = np.array([part.weight for part in PARTS])[:, None] * self.assessed
        summands = self.summands if spread else self.calm_summands
        if not learned_weights:
            summands = summands / self.factors[:, None]
        kept_weight = weights[kept].sum(axis=0)
        renormalised = weights.sum(axis=0) / np.maximum(kept_weight, NO_WEIGHT)
        scores = np.asarray(summands[kept].sum(axis=0) * (kept_weight > 0) * renormalised)
        for name, novelty in self.novelties.items():
            if name in novelties:
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
    "state": lambda entity: _smooth(entity.score(novelties=(SHAPE,))),
    "shape": lambda entity: _smooth(entity.score(novelties=(STATE,))),
    "state and shape": lambda entity: _smooth(entity.score(novelties=())),
    "other channels": lambda entity: _smooth(entity.score(lambda part: part.form != ACROSS)),
    "all channels": lambda entity: _smooth(entity.score(lambda part: part.form != WHOLE)),
    "spread": lambda entity: _smooth(entity.score(spread=False)),
    "learned weights": lambda entity: _smooth(entity.score(learned_weights=False)),
    "other lengths": lambda entity: moving_mean(entity.score(), SMOOTHING, None),
    "smoothing": lambda entity: entity.score(),
    "all but the level": lambda entity: _smooth(
        entity.score(lambda part: part.form == LEVEL, novelties=())
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
    never = np.full(rows.shape[1], UNREACHABLE_SQUARE)
    calm_views = {
        name: replace(
            view,
            alone=replace(view.alone, spread=never),
            across=replace(view.across, spread=never),
        )
        for name, view in entity.forecasting.items()
    }
    calm = Forecasts(calm_views, entity.weights, rows.shape[1])
    residuals, summands = _summands(model.forecasts, model, rows)
    _, calm_summands = _summands(calm, model, rows)
    names = list(entity.forecasting)
    return PartScores(
        summands,
        calm_summands,
        np.array([residuals.assessed[:, names.index(part.view)] for part in PARTS]),
        entity.weights.factors(),
        _novelties(model, test.rows.values),
        {name: novelty.weight for name, novelty in entity.novelty.items()},
        test.labels,
    )


def _summands(
    forecasts: Forecasts, model: ViewsModel, rows: NDArray[Any]
) -> tuple[Residuals, Scores]:
    """The residuals of rows, and each part's term of the weighted mean, (P, T)."""
    residuals = forecasts.residuals(rows, 0, len(rows), expected=False)
    by_part = forecasts.combine(
        residuals.table, residuals.assessed, 0, len(rows), model.settings.ahead.residuals
    ).by_part
    return residuals, np.array([by_part[:, forecasts.parts.index(part)] for part in PARTS])


def _novelties(model: ViewsModel, rows: NDArray[Any]) -> dict[str, Scores]:
    """The terms of the novelty views, at a learned weight of 1, by name."""
    traces = ViewsStream(model).assess(rows).traces
    return {
        name: model.unit * traces[name] / novelty.weight if novelty.weight else np.zeros(len(rows))
        for name, novelty in model.entity.novelty.items()
    }
