"""The one interface of every detector: scikit-learn's contract around a method.

A detector holds parameters. ``fit`` turns them into a method, the method learns a model for each
entity, and all results on rows come from one assessment by these models.
"""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.frames import Table
from subadjacent.data.inputs import read
from subadjacent.data.missing import replace_missing, require_values
from subadjacent.data.series import TrainSeries, common_interval
from subadjacent.decision.alarms import REPEAT_WITHIN
from subadjacent.decision.base_threshold import Threshold
from subadjacent.decision.baseline_profile import restore_profiles
from subadjacent.decision.calibration import check_threshold, fit_threshold
from subadjacent.decision.decision import Decision, RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.normal import NormalScores, normal_scores
from subadjacent.decision.silence import silent_rows
from subadjacent.decision.threshold import choose_threshold, threshold_from_dict
from subadjacent.decision.trace_threshold import TraceThreshold, fit_strongest
from subadjacent.detectors.alarms import Alarms
from subadjacent.detectors.assessment import Assessment, check_scores
from subadjacent.detectors.estimator import Estimator, require_fitted
from subadjacent.detectors.folder import Saved, load_folder, reading, save_folder
from subadjacent.detectors.seen import SeenInput, check_header
from subadjacent.errors import MOST_ROWS, ModelFileError, require_number, require_whole
from subadjacent.methods.learning import Learned, learn
from subadjacent.methods.method import Method, Model, State, join_names, split_names
from subadjacent.methods.online.method import LastRows, OnlineMethod
from subadjacent.methods.stream import assess_series
from subadjacent.runtime import Progress, Runtime, Watch, ignore

if TYPE_CHECKING:
    from subadjacent.report.in_notebook import ReportPage
    from subadjacent.streaming.scorer import StreamScorer

MODELS, ONLINE, PROFILES = "models", "online", "profiles"
"""Names of what a folder holds: a detector's models, its online models, the channels' profiles."""


class BaseDetector(Estimator, ABC):
    """A detector of anomalous rows in time series.

    Subclasses have parameters, among them ``contamination``, ``adapt_after`` and ``fill_limit``,
    and turn them into a method.

    Attributes
    ----------
    models_ : PerEntity of Model
        What was learned of each entity, and of all for entities never seen.
    decision_scores_ : ndarray
        Scores of the training rows, series after series.
    threshold_ : float
        The score above which rows are anomalous; with ``contamination="auto"``, for a single
        alarm in as many rows as were fitted on. It may be changed after fitting, and then holds
        for all entities.
    labels_ : ndarray
        1 for the training rows that are anomalous, else 0.
    normal_scores_ : PerEntity of NormalScores
        Statistics of each entity's scores on held-out training rows.
    strongest_ : TraceThreshold or None
        Threshold and statistics of the strongest channel of a row; None where models do not tell
        it, or the threshold knows scores alone.
    profiles_ : PerEntity of BaselineProfiles
        The baseline profile of each channel of each entity, which explanations compare with.
    online_ : PerEntity of Model, or None
        Models that look back only and learn while they watch, for evidence at once in a stream.
        None where the detector's own models do so.
    held_out_scores_, held_out_rows_ : tuple of ndarray, int
        The scores that set the threshold, one a series, and of how many rows; not saved.
    seen_ : SeenInput
        The channels and entities of the rows that were fitted on.
    """

    seen_: SeenInput
    online_: PerEntity[Model] | None
    contamination: Any
    adapt_after: int | None
    fill_limit: int

    # whether a model folder can hold it
    saveable: ClassVar[bool] = True

    @abstractmethod
    def _method(self) -> Method:
        """The method that the parameters stand for; refuses bad values."""

    def _online_method(self) -> OnlineMethod | None:
        """The method of the models beside this detector; None where its own do without."""
        return OnlineMethod(lasting=None, rows=LastRows())

    def check(self) -> None:
        """Refuse parameters that are wrong for any data, before there is any."""
        self._method()
        self._check_limits()
        # alarms per time need the interval between rows, which the data has
        check_threshold(choose_threshold(self.contamination, interval=1.0))

    def _runtime(self, watch: Watch) -> Runtime:
        """How the fit runs; detectors with a device or a seed extend this."""
        return Runtime(watch=watch)

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
            Called with a ``Progress`` as the fit goes on.
        """
        # on a copy, which replaces this at the end: a fit that fails leaves the old one unchanged
        learner = self._blank()
        learner._learn(X, watch)
        self.__dict__ = learner.__dict__
        return self

    def _blank(self) -> Self:
        blank = copy.copy(self)
        for name in [name for name in vars(blank) if name.endswith("_") and name[0] != "_"]:
            delattr(blank, name)
        return blank

    def _learn(self, X: Any, watch: Watch) -> None:
        self._check_limits()
        table = self._read(X, reset=True)
        # before anything is learned: a mistake here must not cost a training
        method, threshold = self._method(), self._prepare(table)
        learned = learn(method, table.series, self._runtime(watch))
        self._take(table, learned, threshold)
        if (online := self._online_method()) is not None:
            self.online_ = online.fit(learned.series, Runtime()).models
        # what is known of training rows is one held-out score each
        decisions = self._decide(table.series, map(Evidence.of_scores, learned.fitted.scores))
        self.labels_ = np.concatenate([decided.anomalous for decided in decisions]).astype(int)

    def _prepare(self, table: Table) -> Threshold:
        """Refuse rows that cannot be fitted; keep their channels and entities."""
        for series in table.series:
            require_values(series, table.name_of(series))
        threshold = choose_threshold(self.contamination, common_interval(table.series))
        check_threshold(threshold)
        self.seen_ = SeenInput.of(table)
        return threshold

    def _take(self, table: Table, learned: Learned, threshold: Threshold) -> None:
        """Take over what was learned, and set the threshold by it."""
        fitted, self.profiles_, _ = learned
        self.models_ = fitted.models
        self.decision_scores_ = np.concatenate(fitted.scores)
        held_out = np.concatenate(fitted.held_out)
        self.held_out_scores_, self.held_out_rows_ = tuple(fitted.held_out), len(held_out)
        entities = [series.entity for series in table.series]
        self.normal_scores_ = normal_scores(entities, fitted.held_out)
        threshold, self.strongest_ = fit_strongest(threshold, entities, fitted.strongest)
        self.threshold_, self.threshold_rule_ = fit_threshold(threshold, held_out)
        self.online_ = None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    @property
    def channels_(self) -> tuple[str, ...]:
        """The channels' names, in order."""
        return self.seen_.channels

    @property
    def entities_(self) -> tuple[str, ...]:
        """The entities seen in fitting; empty when there was one series without a name."""
        return self.seen_.entities

    @property
    def decision(self) -> Decision:
        """The decision that turns scores into alarms."""
        rule = self.threshold_rule_
        holds = self.threshold_ == getattr(rule, "threshold_", None)
        score = TraceThreshold(self.threshold_, rule if holds else None, self.normal_scores_)
        return Decision(score, self.strongest_ if holds else None, self.adapt_after)

    def decide(
        self,
        evidence: Evidence,
        entity: str | None = None,
        segments: Sequence[tuple[int, int]] | None = None,
        silent: NDArray[np.bool_] | None = None,
    ) -> RowDecisions:
        """Decide on rows of one series that were assessed before, all of them in order.

        ``segments``: bounds of unbroken ones; ``silent``: rows with a missing or stuck channel.
        """
        blur = self.models_.of(entity).blur
        return self.decision.decide(evidence, entity, segments, silent, blur=blur)

    def _decide(
        self, series: Sequence[TrainSeries], evidence: Iterable[Evidence]
    ) -> list[RowDecisions]:
        return [
            self.decide(
                found, one.entity, one.segments, silent_rows(one, self.profiles_.of(one.entity))
            )
            for one, found in zip(series, evidence, strict=True)
        ]

    def assess(self, X: Any, *, watch: Watch = ignore) -> Assessment:
        """Judge rows in one pass: scores, alarms, explanations and traces are all in the result.

        ``watch`` is called with a ``Progress`` after every unbroken segment, and within long ones.
        """
        require_fitted(self)
        return self._assess(self._read(X), watch)

    def _assess(self, table: Table, watch: Watch = ignore) -> Assessment:
        evidence = tuple(self._evidence(table.series, watch))
        decisions = self._decide(table.series, evidence)
        profiles = tuple(self.profiles_.of(series.entity) for series in table.series)
        return Assessment(table, evidence, tuple(decisions), profiles, self)

    def decision_function(self, X: Any) -> Any:
        """One score a row, high = abnormal, in the shape of the input."""
        require_fitted(self)
        table = self._read(X)
        # only the score of each series is kept in memory
        scores = [evidence.score for evidence in self._evidence(table.series)]
        return table.restore(scores, "score")

    def normalized_score(self, X: Any) -> Any:
        """Severities: 1 is the level that normal rows cross as often as requested, 2 a tenth.

        0 is a typical score: the median of held-out training rows or, where the series has
        shifted permanently, of its recent rows.
        """
        return self.assess(X).normalized_scores

    def predict(self, X: Any) -> Any:
        """1 for every row of an alarm, else 0."""
        return self.assess(X).anomalous

    def predict_proba(self, X: Any) -> Any:
        """Confidence that a row is normal (first column) or anomalous (second).

        A logistic curve over the normalised score: 50 % at the threshold, 1 % at a typical
        row. It orders and compares; it is not a frequency.
        """
        return self.assess(X).probabilities

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit, and say which of the training rows are anomalous."""
        return self.fit(X, y).predict(X)

    def explain(self, X: Any) -> Any:
        """How unusual each channel is at each row, (time, channels), in the input's shape.

        A value is the channel's squared departure, divided by its usual squared departure.
        """
        return self.assess(X).by_channel

    def alarms(
        self, X: Any, *, shortest: int = 1, channels: int = 5, again: int = REPEAT_WITHIN
    ) -> Alarms:
        """One alarm for each event; parameters are those of ``Assessment.alarms``."""
        return self.assess(X).alarms(shortest=shortest, channels=channels, again=again)

    def report(self, X: Any, path: str | os.PathLike[str] | None = None) -> ReportPage:
        """The page that explains every alarm, also written to ``path``; a notebook shows it."""
        return self.assess(X).report(path)

    def stream(self, **options: Any) -> StreamScorer:
        """Score rows as they arrive, one or many at a time; options: see ``StreamScorer``."""
        # streaming is a layer above detectors: the one import upwards
        from subadjacent.streaming.scorer import StreamScorer

        require_fitted(self)
        return StreamScorer(self, **options)

    def _evidence(self, series: Sequence[TrainSeries], watch: Watch = ignore) -> Iterator[Evidence]:
        """The models' evidence on each series, every unbroken segment assessed once."""
        self.seen_.warn_of_unseen_entities(one_series.entity for one_series in series)
        done, total = 0, sum(map(len, series))

        def tell(rows: int) -> None:
            nonlocal done
            done += rows
            watch(Progress("scoring", done, total, "rows"))

        for one_series in series:
            model = self.models_.of(one_series.entity)
            evidence = assess_series(model, one_series, tell, adapt_after=self.adapt_after)
            check_scores(one_series, evidence.score)
            yield evidence

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted detector to a folder: JSON and safetensors, no pickle.

        Scores of the training rows are not kept.
        """
        require_fitted(self)
        # users may have set it to anything since the fit
        require_number("threshold_", self.threshold_)
        state, online = self._method().pack(self.models_), State({}, {})
        facts = {
            **self.seen_.to_dict(),
            "named_channels": hasattr(self, "feature_names_in_"),
            "threshold": float(self.threshold_),
            "threshold_rule": self.threshold_rule_.to_dict(),
            "normal_scores": [entity_scores.to_dict() for entity_scores in self.normal_scores_],
            "strongest": None if self.strongest_ is None else self.strongest_.to_dict(),
            "learned": state.facts,
        }
        if self.online_ is not None and (method := self._online_method()) is not None:
            online = method.pack(self.online_)
            facts[ONLINE] = online.facts
        arrays = join_names({MODELS: state.arrays, ONLINE: online.arrays})
        arrays[PROFILES] = np.stack([profiles.table for profiles in self.profiles_])
        saved = Saved(type(self).__name__, self.get_params(deep=False), facts, arrays)
        save_folder(Path(path), saved)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """Read a detector from a folder that ``save`` wrote, onto any device."""
        saved = load_folder(Path(path))
        if saved.kind != cls.__name__:
            raise ModelFileError(
                f"{path} holds a {saved.kind}, not a {cls.__name__}; subadjacent.load reads any"
            )
        with reading(Path(path)):
            detector = cls(**saved.parameters)
            detector.check()
            facts = saved.facts
            detector.seen_ = SeenInput.from_dict(facts)
            detector.n_features_in_ = len(detector.channels_)
            if facts["named_channels"]:
                detector.feature_names_in_ = np.array(detector.channels_, dtype=object)
            detector.threshold_ = float(facts["threshold"])
            detector.threshold_rule_ = threshold_from_dict(facts["threshold_rule"])
            pooled, *per_entity = map(NormalScores.from_dict, facts["normal_scores"])
            detector.normal_scores_ = PerEntity(
                pooled, dict(zip(detector.entities_, per_entity, strict=True))
            )
            detector.strongest_ = TraceThreshold.load(facts["strongest"], detector.entities_)
            arrays, channels = dict(saved.arrays), len(detector.channels_)
            detector.profiles_ = restore_profiles(
                arrays.pop(PROFILES), channels, detector.entities_
            )
            parts = split_names(arrays)
            state = State(parts.get(MODELS, {}), facts["learned"])
            detector.models_, detector.online_ = detector._restore(state, device), None
            online = detector._online_method()
            if online is not None and ONLINE in facts:
                state = State(parts[ONLINE], facts[ONLINE])
                detector.online_ = online.unpack(state, channels, detector.entities_)
        return detector

    def _restore(
        self,
        state: State,
        device: str,  # noqa: ARG002 — for those with a network
    ) -> PerEntity[Model]:
        """The models of a saved state; detectors with a network put it on the device."""
        return self._method().unpack(state, len(self.channels_), self.entities_)

    def _read(self, X: Any, *, reset: bool = False) -> Table:
        known = () if reset else self.channels_
        table = read(X, fill_limit=self.fill_limit, known=known)
        check_header(self, table.header, reset=reset)
        if not reset:
            self.seen_.check(table)
            typical = [self.models_.of(series.entity).typical_values for series in table.series]
            filled = tuple(map(replace_missing, table.series, typical))
            table = replace(table, series=filled)
        return table

    def _check_limits(self) -> None:
        require_whole("fill_limit", self.fill_limit, least=0, most=MOST_ROWS)
        if self.adapt_after is not None:
            require_whole("adapt_after", self.adapt_after, least=1, most=MOST_ROWS)
