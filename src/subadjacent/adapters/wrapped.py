"""The way back: detectors of PyOD and scikit-learn with the interface of ours.

Shapes: T rows of a segment, C channels, L rows in a window, D = L·C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from subadjacent.adapters.foreign import Foreign, library_of
from subadjacent.data.entities import PerEntity
from subadjacent.decision.evidence import Reach
from subadjacent.detectors.method import SeededDetector
from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import Model, State
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.methods.trailing import sample, trailing

OCCLUSION, DEVIATION = "occlusion", "deviation"
EXPLANATIONS = (OCCLUSION, DEVIATION)

# rows of a window, and training windows to learn from, at most
LONGEST, MAX_SAMPLES = 10_000, 10_000_000
# training windows that the spread of scores is taken over: its second digit does not matter
SPREAD_SAMPLE = 1_000
# of the scores, where it is next to nothing: nothing is divided by zero
MIN_SPREAD = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ForeignPredictor(Predictor):
    """Scores by another library of rows, each with those before it; expected are means.

    By occlusion, a channel departs by what the score loses when the channel is at its mean all
    through the window, in units of the spread of training scores; by deviation, by its squared
    distance from its mean.
    """

    foreign: Foreign
    length: int
    explained_by: str
    spread: float

    @property
    def window(self) -> int:
        """Rows in a window."""
        return self.length

    @property
    def reach(self) -> Reach:
        """The rows of a window that ends with the row."""
        return Reach(self.length - 1, 0)

    def predict(self, scaled: Rows) -> Prediction:
        """Scores of the rows, and what each channel has to do with them."""
        error = np.empty(len(scaled))
        departures = np.zeros_like(scaled) if self.explained_by == OCCLUSION else None
        for part, vectors in trailing(scaled, self.length):
            error[part] = self.foreign.score(vectors)
            if departures is not None:
                departures[part] = self._lost(vectors, error[part], scaled.shape[1])
        return Prediction(np.zeros_like(scaled), error, departures)

    def _lost(self, vectors: Rows, scores: Rows, channels: int) -> Rows:
        """What scores lose without each channel, (…, C)."""
        lost = np.empty((len(vectors), channels))
        for channel in range(channels):
            without = vectors.copy()
            # 0 is the mean of standardised rows
            without[:, channel::channels] = 0.0
            lost[:, channel] = scores - self.foreign.score(without)
        return np.maximum(lost, 0.0) / self.spread

    def state(self) -> State:
        """A description for model cards; the fitted state of another library needs a pickle."""
        return State({}, {"window": int(self.length), "explained_by": self.explained_by})


@dataclass(frozen=True, kw_only=True)
class ForeignMethod(PerEntityMethod):
    """Fits a copy of another library's detector to each entity, and one to all.

    Parameters
    ----------
    detector
        The detector, of which copies are fitted.
    window, samples, explained_by
        As of ``WrappedDetector``.
    """

    # it may memorise rows: training rows are assessed by copies that were not fitted on them
    keeps_rows: ClassVar[bool] = True

    detector: Any
    window: int = 1
    samples: int = 100_000
    explained_by: str = OCCLUSION

    def __post_init__(self) -> None:
        super().__post_init__()
        library_of(self.detector)
        require_whole("window", self.window, least=1, most=LONGEST)
        require_whole("samples", self.samples, least=1, most=MAX_SAMPLES)
        if self.explained_by not in EXPLANATIONS:
            raise InputError.of(
                "explained_by",
                f"must be one of {', '.join(EXPLANATIONS)}",
                f"got {self.explained_by!r}",
            )

    def _fit_one(self, task: Task) -> Predictor:
        vectors = sample(task, self.window, self.samples)
        foreign = Foreign.fit(self.detector, vectors, task.seed)
        spread = MIN_SPREAD
        if self.explained_by == OCCLUSION:
            some = vectors[:: -(-len(vectors) // SPREAD_SAMPLE)]
            spread = max(float(foreign.score(some).std()), MIN_SPREAD)
        return ForeignPredictor(foreign, self.window, self.explained_by, spread)

    def pack(self, models: PerEntity[Model]) -> State:  # noqa: ARG002 — whatever they are
        """Refuse to save: a model folder holds no pickle."""
        raise InputError.of(
            "detector",
            "must be one of ours to be saved in a folder",
            f"{type(self.detector).__name__} has no form but a pickle, which may run anything when "
            f"it is loaded",
            "where you trust the file, joblib.dump keeps the whole wrapped detector",
        )

    def _restore(self, state: State, channels: int) -> Predictor:  # noqa: ARG002
        raise AssertionError("never saved, so never restored")


@dataclass(kw_only=True, eq=False, repr=False)
class WrappedDetector(SeededDetector):
    """A detector of PyOD or scikit-learn with our interface: see ``subadjacent.wrap``.

    Parameters
    ----------
    detector : BaseDetector of PyOD, OutlierMixin of scikit-learn, or a pipeline that ends in one
        The detector; copies of it are fitted, the original stays unfitted.
    window : int
        Rows that are concatenated to one input vector; the window ends with the scored row. 1: each
        row is scored alone.
    samples : int
        Largest number of training windows per entity; a longer series is sampled at random.
    explained_by : "occlusion" or "deviation"
        A channel's share in an alarm: by how much the score falls when the channel is set to its
        mean, which costs one more scoring per channel; or its distance from its mean, at no cost.
    random_state : int, RandomState or None
        Seed for sampling training windows, and for the wrapped detector unless it has its own.
    others
        As for every ``MethodDetector``.
    """

    method = ForeignMethod
    saveable = False

    detector: Any = None
    window: int = 1
    samples: int = 100_000
    explained_by: str = OCCLUSION


def wrap(detector: Any, **parameters: Any) -> WrappedDetector:
    """Give a PyOD or scikit-learn detector our alarms, explanations, reports and benchmarks.

    Rows are standardised by the training rows of their entity, and clipped. A copy of the detector
    is fitted to each entity. The threshold is ours, from cross-validated scores of training rows.

    Parameters
    ----------
    detector
        An instance, fitted or not; copies of it are fitted again. Its class determines which end of
        its scores is abnormal.
    parameters
        Parameters of ``WrappedDetector``, such as ``window=10`` or ``contamination="1/week"``.

    Examples
    --------
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> from subadjacent import multivariate, wrap
    >>> plant = multivariate(n=500, channels=3, seed=1)
    >>> detector = wrap(LocalOutlierFactor(novelty=True), window=5).fit(plant.train)
    >>> detector.decision_function(plant.test).shape
    (500,)
    """
    library_of(detector)
    return WrappedDetector(detector=detector, **parameters)
