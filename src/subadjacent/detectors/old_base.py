"""The one interface of every detector: scikit-learn's contract, the anomaly world's words."""

from __future__ import annotations

import copy
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from subadjacent.data.frames import Table
from subadjacent.data.inputs import read
from subadjacent.data.series import TrainSeries, common_interval
from subadjacent.detectors.old_integrity import BAD_VALUES, check_facts, damage
from subadjacent.detectors.persist import (
    Saved,
    Tensors,
    decode_parameters,
    encode_parameters,
    load_folder,
    save_folder,
)
from subadjacent.errors import InputError, ModelFileError, require_number, require_whole
from subadjacent.runtime import Watch, ignore
from subadjacent.scoring.alarms import Alarm, Cause, join, rows_of
from subadjacent.scoring.calibration import check_threshold, fit_threshold
from subadjacent.scoring.threshold import choose_threshold, threshold_from_dict

log = logging.getLogger(__name__)

# how steep predict_proba is: a typical row gets 1 %, a row at the threshold 50 %
STEEPNESS = float(np.log(99))
TINY = 1e-12


class Explanation(NamedTuple):
    """What each channel did at some rows of one series, (rows, channels).

    ``scores`` are squared errors in units of what is usual for the channel; ``expected`` is
    in the data's own units.
    """

    scores: NDArray[Any]
    expected: NDArray[Any]


class TrainingScores(NamedTuple):
    """Scores of the training rows, one array a series, and of those not learned from."""

    rows: list[NDArray[Any]]
    held_out: NDArray[Any]


class BaseDetector(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """A detector of anomalous rows in time series.

    Subclasses write ``_fit``, ``_score`` and ``_explain``, and have the parameters
    ``contamination`` and ``fill_limit``; input, thresholds and alarms are handled here, once.

    Attributes
    ----------
    decision_scores_ : ndarray
        Scores of the training rows, series after series.
    threshold_ : float
        Rows that score above it are anomalous. It may be changed after fitting.
    labels_ : ndarray
        1 for the training rows above the threshold, else 0.
    typical_score_ : float
        The median score of training rows that were held out.
    entities_ : tuple of str
        The entities seen in fitting; empty when there was one series without a name.
    channels_ : tuple of str
        The channels' names, in order.
    """

    contamination: Any
    fill_limit: int

    @abstractmethod
    def _fit(self, series: Sequence[TrainSeries], watch: Watch) -> TrainingScores:
        """Learn from the series, and score them."""

    @abstractmethod
    def _score(self, series: Sequence[TrainSeries]) -> list[NDArray[Any]]:
        """One array of scores a series, high = abnormal."""

    @abstractmethod
    def _explain(
        self,
        series: Sequence[TrainSeries],
        wanted: Sequence[NDArray[np.bool_]],
        *,
        expected: bool = True,
    ) -> list[Explanation]:
        """What each channel did, at the wanted rows of each series.

        Expected values are needed for alarms only; without them they may be left scaled.
        """

    @abstractmethod
    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        """What was learned: arrays, and all else as JSON holds it."""

    @abstractmethod
    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        """The inverse of ``_state``."""

    def _to_device(self, device: str) -> None:
        """Move what was learned to a device, where that makes sense."""

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002 — scikit-learn passes it
        *,
        watch: Watch = ignore,
    ) -> Self:
        """Learn what is normal.

        Parameters
        ----------
        X
            (time, channels): an array, a pandas, polars or Arrow frame, or a list or dict of
            these, one an entity.
        y
            Ignored, here for scikit-learn's sake: no label ever reaches a detector.
        watch
            Called with a ``Progress`` after every training step.
        """
        # on a copy, taken over whole: a fit that is refused, fails or is interrupted leaves
        # what was learned before
        learner = copy.copy(self)
        # nor does what another recipe learned stay behind
        for name in [one for one in vars(learner) if one.endswith("_") and one[0] != "_"]:
            delattr(learner, name)
        learner._learn(X, watch)
        self.__dict__ = learner.__dict__
        return self

    def _learn(self, X: Any, watch: Watch) -> None:
        table = self._read(X, reset=True)
        # before anything is learned: a mistake here must not cost a training
        threshold = choose_threshold(self.contamination, common_interval(table.series))
        check_threshold(threshold)
        names = [one.entity for one in table.series if one.entity is not None]
        self.entities_ = tuple(names)
        self.channels_ = table.series[0].channels
        self._entities_by_position = table.by_position
        self._named_channels = table.names is not None
        scores = self._fit(table.series, watch)
        self.decision_scores_ = np.concatenate(scores.rows)
        self.typical_score_ = float(np.median(scores.held_out))
        self.score_spread_ = float(np.std(scores.held_out))
        self.threshold_, self.threshold_rule_ = fit_threshold(threshold, scores.held_out)
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    def decision_function(self, X: Any) -> Any:
        """One score a row, high = abnormal, in the shape of the input."""
        check_is_fitted(self)
        table = self._read(X)
        return table.restore(self._score(table.series), "score")

    def normalized_score(self, X: Any) -> Any:
        """Scores on a scale that is the same for every model: 1.0 is the threshold.

        0.0 is the median of training rows that were held out, as long as it lies below the
        threshold.
        """
        check_is_fitted(self)
        table = self._read(X)
        normalized = [self.normalize(one) for one in self._score(table.series)]
        return table.restore(normalized, "normalized_score")

    def predict(self, X: Any) -> Any:
        """1 for every anomalous row, else 0."""
        check_is_fitted(self)
        table = self._read(X)
        above = [(one > self.threshold_).astype(int) for one in self._score(table.series)]
        return table.restore(above, "anomalous")

    def predict_proba(self, X: Any) -> Any:
        """How sure to be that a row is normal (first column) or anomalous (second).

        A logistic curve over the normalised score: 50 % at the threshold, 1 % at a typical
        row. It orders and compares; it is not a frequency.
        """
        check_is_fitted(self)
        table = self._read(X)
        anomalous = [
            expit(STEEPNESS * (self.normalize(one) - 1)) for one in self._score(table.series)
        ]
        pairs = [np.column_stack([1 - one, one]) for one in anomalous]
        return table.restore(pairs, ("normal", "anomalous"))

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit, and say which of the training rows are anomalous."""
        return self.fit(X, y).predict(X)

    def explain(self, X: Any) -> Any:
        """How unusual each channel is at each row, (time, channels), in the input's shape.

        A value is the channel's squared error divided by what is usual for that channel.
        """
        check_is_fitted(self)
        table = self._read(X)
        everything = [np.ones(len(one), dtype=bool) for one in table.series]
        found = self._explain(table.series, everything, expected=False)
        return table.restore([one.scores for one in found], self.channels_)

    def alarms(self, X: Any, *, gap: int = 10, shortest: int = 1, channels: int = 5) -> list[Alarm]:
        """Anomalous rows joined into events, in time order within each entity.

        Parameters
        ----------
        X
            As for ``fit``.
        gap
            Join events with at most so many rows between them.
        shortest
            Leave out events of fewer rows.
        channels
            Name so many channels as causes.
        """
        check_is_fitted(self)
        table = self._read(X)
        scores = self._score(table.series)
        events = [
            join(self._events(one, series), gap, shortest, series.stretches)
            for one, series in zip(scores, table.series, strict=True)
        ]
        wanted = [rows_of(part, len(one)) for part, one in zip(events, scores, strict=True)]
        explained = self._explain(table.series, wanted)
        return [
            alarm
            for each in zip(table.series, scores, events, explained, strict=True)
            for alarm in describe(*each, normalize=self.normalize, channels=channels)
        ]

    def _events(
        self,
        scores: NDArray[Any],
        series: TrainSeries,  # noqa: ARG002 — for those whose scores are averages
    ) -> NDArray[np.bool_]:
        """The rows that alarms are made of."""
        return np.asarray(scores > self.threshold_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted detector to a folder: JSON and safetensors, no pickle.

        Scores of the training rows are not kept.
        """
        check_is_fitted(self)
        # it may have been set to anything since
        require_number("threshold_", self.threshold_)
        threshold = float(self.threshold_)
        facts = {
            "channels": list(self.channels_),
            "named_channels": hasattr(self, "feature_names_in_"),
            "named_series": self._named_channels,
            "entities": list(self.entities_),
            "entities_by_position": self._entities_by_position,
            "threshold": threshold,
            "threshold_rule": self.threshold_rule_.to_dict(),
            "typical_score": self.typical_score_,
            "score_spread": self.score_spread_,
        }
        tensors, learned = self._state()
        parameters = encode_parameters(self.get_params(deep=False), threshold)
        saved = Saved(type(self).__name__, parameters, facts | {"learned": learned}, tensors)
        save_folder(Path(path), saved)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """Read a detector from a folder that ``save`` wrote, onto any device."""
        saved = load_folder(Path(path))
        if saved.kind != cls.__name__:
            raise ModelFileError(
                f"{path} holds a {saved.kind}, not a {cls.__name__}; subadjacent.load reads any"
            )
        try:
            detector = cls(**decode_parameters(saved.parameters))
            facts = saved.facts
            check_facts(facts)
            detector.channels_ = tuple(facts["channels"])
            detector.n_features_in_ = len(detector.channels_)
            detector._named_channels = facts["named_series"]
            if facts["named_channels"]:
                detector.feature_names_in_ = np.array(detector.channels_, dtype=object)
            detector.entities_ = tuple(facts["entities"])
            detector._entities_by_position = facts["entities_by_position"]
            detector.threshold_ = float(facts["threshold"])
            detector.threshold_rule_ = threshold_from_dict(facts["threshold_rule"])
            detector.typical_score_ = float(facts["typical_score"])
            detector.score_spread_ = float(facts["score_spread"])
            detector._restore(saved.tensors, facts["learned"])
        except BAD_VALUES as error:
            raise damage(Path(path), error) from error
        detector._to_device(device)
        return detector

    def normalize(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores that were computed already, on the scale of ``normalized_score``."""
        span = self.threshold_ - self.typical_score_
        if span <= TINY * max(abs(self.threshold_), abs(self.typical_score_)):
            # a threshold no higher than a typical row: the spread of scores is the unit then,
            # and where all were alike, the scores' own
            span = self.score_spread_ if self.score_spread_ > TINY else 1.0
        return np.asarray(1 + (scores - self.threshold_) / span)

    def _read(self, X: Any, *, reset: bool = False) -> Table:
        table = read(X, fill_limit=self.fill_limit)
        try:
            validate_data(self, table.header, reset=reset, skip_check_array=True)
        except ValueError as error:
            raise InputError(str(error)) from error
        if not reset:
            self._check_names(table)
            self._check_entities(table)
        return table

    def _name_strangers(self, series: Sequence[TrainSeries]) -> None:
        """Say which entities were not there in fitting."""
        named = {one.entity for one in series if one.entity is not None}
        unknown = named.difference(self.entities_)
        if unknown and self.entities_:
            log.warning("entities not seen in fitting are judged by all: %s", sorted(unknown))

    def _check_names(self, table: Table) -> None:
        """A frame is checked by scikit-learn; this is for names that came another way."""
        names = table.names
        if names is not None and self._named_channels and names != self.channels_:
            raise InputError(
                f"X must have the channels seen in fitting, in their order: "
                f"{', '.join(self.channels_)}; got {', '.join(names)}"
            )

    def _check_entities(self, table: Table) -> None:
        if len(self.entities_) > 1 and table.series[0].entity is None:
            raise InputError(
                f"X must name its entity, for fit saw {len(self.entities_)} and each has a scale "
                f"of its own; pass a dict of name → series"
            )
        if not table.by_position or not self.entities_:
            return
        if not self._entities_by_position or len(table.series) != len(self.entities_):
            raise InputError(
                f"X must name its entities, for they cannot be matched by position: fit saw "
                f"{len(self.entities_)} entities, X has {len(table.series)}; "
                f"pass a dict of name → series"
            )

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def describe(
    series: TrainSeries,
    scores: NDArray[Any],
    events: Sequence[tuple[int, int]],
    explained: Explanation,
    *,
    normalize: Callable[[NDArray[Any]], NDArray[Any]],
    channels: int,
) -> list[Alarm]:
    """An alarm for each event of one series; ``explained`` has the events' rows, in order."""
    require_whole("channels", channels, least=0)
    alarms, at = [], 0
    for start, stop in events:
        rows = slice(at, at := at + stop - start)
        peak = start + int(np.argmax(scores[start:stop]))
        alarms.append(
            Alarm(
                start=series.label(start),
                end=series.label(stop - 1),
                peak=series.label(peak),
                severity=float(normalize(scores[peak])),
                score=float(scores[peak]),
                duration=stop - start,
                causes=_causes(
                    series, start, stop, explained.scores[rows], explained.expected[rows], channels
                ),
                first=start,
                last=stop - 1,
                entity=series.entity,
            )
        )
    return alarms


def _causes(
    series: TrainSeries,
    start: int,
    stop: int,
    scores: NDArray[Any],
    expected: NDArray[Any],
    most: int,
) -> tuple[Cause, ...]:
    """The ``most`` channels that explain the event best."""
    means = scores.mean(axis=0)
    worst = scores.argmax(axis=0)
    seen = series.values[start:stop]
    return tuple(
        Cause(
            channel=series.channels[column],
            score=float(means[column]),
            at=series.label(start + int(worst[column])),
            expected=float(expected[worst[column], column]),
            seen=float(seen[worst[column], column]),
        )
        for column in np.argsort(-means, kind="stable")[:most].tolist()
    )
