"""Models that predict values and score a row by its residuals.

All methods without a network but the default one share this. Each works entity by entity on
standardised and clipped rows; an unseen entity is scored by a predictor fitted on all entities
pooled.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import EntityScalers, Scaler, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import ERROR_FLOOR, Array, Evidence, Reach
from subadjacent.errors import FARTHEST, require_number, require_whole
from subadjacent.methods.method import Fitted, Method, Model, State, require_array
from subadjacent.methods.moving import smooth
from subadjacent.runtime import Runtime

Rows = NDArray[np.float64]


class Prediction(NamedTuple):
    """The expected rows of a segment, standardised, and the errors of the actual ones.

    ``departures`` is the part of each channel in the error, never negative: squared residuals,
    unless a method has a better measure.
    """

    expected: Rows  # (T, C)
    error: Rows  # (T,)
    departures: Rows | None = None  # (T, C)

    def by_channel(self, scaled: Rows) -> Rows:
        """How far each channel of the rows departs from its expected value."""
        if self.departures is not None:
            return self.departures
        return np.asarray(np.square(scaled - self.expected))


class Predictor(ABC):
    """A fitted predictor of standardised rows. It never changes."""

    @property
    @abstractmethod
    def reach(self) -> Reach:
        """The rows around a row that its prediction depends on."""

    @property
    def window(self) -> int:
        """Rows that must be seen together; shorter segments are continued by mirroring."""
        return 1

    @abstractmethod
    def predict(self, scaled: Rows) -> Prediction:
        """Expected values and errors of a segment of at least a window, (T, C)."""

    @abstractmethod
    def state(self) -> State:
        """The fitted state, as arrays and JSON."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidualModel(Model):
    """Scores a row by the error of its prediction, averaged over the rows before it.

    Parameters
    ----------
    scaler
        To standardised units, and back.
    predictor
        Predicts the rows.
    usual_squares
        Each channel's mean squared residual, or other departure, on the training rows of all
        entities.
    usual_error
        The mean error of all training rows; stands for the rows before the first.
    smoothing
        Number of errors that are averaged: that of the row, and those before it.
    """

    scaler: Scaler
    predictor: Predictor
    usual_squares: Rows  # (C,)
    usual_error: float
    smoothing: int

    @property
    def reach(self) -> Reach:
        """The predictor's reach, and the rows that errors are averaged over."""
        before, after, every = self.predictor.reach
        return Reach(before + self.smoothing - 1, after, every)

    @property
    def typical_values(self) -> Array:
        """The mean of each channel in training."""
        return self.scaler.center

    def assess(self, rows: Array) -> Evidence:
        """Evidence on the rows of one unbroken segment."""
        scaled = standardised(rows, self.scaler, self.predictor.window)
        prediction = self.predictor.predict(scaled)
        error = prediction.error[: len(rows)]
        return Evidence(
            smooth(error, self.smoothing, before=self.usual_error),
            prediction.by_channel(scaled)[: len(rows)] / (self.usual_squares + ERROR_FLOOR),
            self.scaler.invert(prediction.expected[: len(rows)]),
            # an error that is not averaged is the score
            {"error": error} if self.smoothing > 1 else {},
        )

    def state(self) -> State:
        """The fitted state, including the predictor's."""
        arrays, facts = self.predictor.state()
        return State(
            arrays
            | {
                "center": self.scaler.center,
                "deviation": self.scaler.deviation,
                "usual_squares": self.usual_squares,
            },
            facts
            | {
                "clip": float(self.scaler.clip),
                "usual_error": self.usual_error,
                "smoothing": int(self.smoothing),
            },
        )


@dataclass(frozen=True, kw_only=True)
class ResidualMethod(Method):
    """Fits predictors on all training rows, whose scores also set the threshold.

    Nothing is held out where there are few parameters to overfit; methods that keep the rows
    themselves choose the predictors that score the training rows (``_training_predictors``).

    Parameters
    ----------
    smoothing
        Number of scores that are averaged: that of the row, and those before it.
    clip
        Standardised values beyond this are cut.
    """

    smoothing: int = 1
    clip: float = 10.0

    def __post_init__(self) -> None:
        require_whole("smoothing", self.smoothing, least=1, most=FARTHEST)
        require_number("clip", self.clip, above=0)

    @abstractmethod
    def _learn(
        self, series: Sequence[TrainSeries], scalers: EntityScalers, run: Runtime
    ) -> PerEntity[Predictor]:
        """A predictor for each entity, and a pooled one."""

    @abstractmethod
    def _restore(self, state: State, channels: int) -> Predictor:
        """The inverse of ``Predictor.state``; refuses inconsistent arrays."""

    def _training_predictors(
        self,
        series: TrainSeries,
        scaler: Scaler,  # noqa: ARG002 — for methods that fit again without some rows
        predictor: Predictor,
        run: Runtime,  # noqa: ARG002 — likewise
    ) -> Iterator[tuple[int, int, Predictor]]:
        """Row bounds that cover a training series, each with the predictor that scores them."""
        for start, stop in series.segments:
            yield start, stop, predictor

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Learn predictors, then the mean squares of their residuals."""
        scalers = fit_scalers(series, self.clip)
        predictors = self._learn(series, scalers, run)
        squares, errors = np.zeros(series[0].values.shape[1]), []
        for one_series in series:
            scaler, row_errors = scalers.of(one_series.entity), np.empty(len(one_series))
            for start, stop, own in self._training_predictors(
                one_series, scaler, predictors.of(one_series.entity), run
            ):
                scaled = standardised(one_series.values[start:stop], scaler, own.window)
                prediction = own.predict(scaled)
                squares += prediction.by_channel(scaled)[: stop - start].sum(axis=0)
                row_errors[start:stop] = prediction.error[: stop - start]
            errors.append(row_errors)
        flat = np.concatenate(errors)
        usual_squares, usual_error = squares / len(flat), float(flat.mean())

        def model(entity: str | None) -> Model:
            return ResidualModel(
                scalers.of(entity),
                predictors.of(entity),
                usual_squares,
                usual_error,
                self.smoothing,
            )

        scores = [
            np.concatenate(
                [
                    smooth(row_errors[start:stop], self.smoothing, before=usual_error)
                    for start, stop in one_series.segments
                ]
            )
            for one_series, row_errors in zip(series, errors, strict=True)
        ]
        names = [one_series.entity for one_series in series if one_series.entity is not None]
        models = PerEntity(model(None), {name: model(name) for name in names})
        return Fitted(models, scores, scores)

    def restore(self, state: State, channels: int) -> Model:
        """The inverse of ``ResidualModel.state``; refuses inconsistent arrays."""
        arrays, facts = state
        for name in ("center", "deviation", "usual_squares"):
            require_array(name, arrays[name], (channels,))
        require_array("usual_squares", arrays["usual_squares"], (channels,), least=0)
        require_number("clip", facts["clip"], above=0)
        require_number("usual_error", facts["usual_error"])
        require_whole("smoothing", facts["smoothing"], least=1, most=FARTHEST)
        return ResidualModel(
            Scaler(arrays["center"], arrays["deviation"], float(facts["clip"])),
            self._restore(state, channels),
            arrays["usual_squares"],
            float(facts["usual_error"]),
            facts["smoothing"],
        )


def standardised(rows: NDArray[Any], scaler: Scaler, window: int) -> Rows:
    """The standardised rows of a segment; one shorter than a window is continued by mirroring.

    Values are rounded to float32, as those that networks get are.
    """
    scaled = scaler.apply(rows)
    if missing := max(window - len(rows), 0):
        scaled = np.pad(scaled, ((0, missing), (0, 0)), mode="symmetric")
    return scaled.astype(np.float64)
