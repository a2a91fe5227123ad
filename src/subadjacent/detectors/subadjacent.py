"""The Sub-Adjacent Transformer as a detector."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, Windows
from subadjacent.detectors.combination import Combination, NetworkResiduals
from subadjacent.detectors.levels import EntityLevels
from subadjacent.detectors.neural import NeuralDetector
from subadjacent.detectors.old_base import Explanation, TrainingScores
from subadjacent.detectors.old_defaults import Auto, choose_band
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import InputError
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
from subadjacent.runtime import Watch
from subadjacent.scoring.alarms import core_of
from subadjacent.scoring.standardised import averaged, smoothing_lengths, unusual

RECIPES = ("combined", "fast", "network", "paper")
# those that add up views, in place of scoring by a network's error
ADDED_UP = ("combined", "fast")
# what parameters come to that are left to the recipe
OURS: dict[str, Any] = {"size": "small", "temperature": 0.0, "smoothing": 20, "dynamic": "none"}
PAPERS_OWN: dict[str, Any] = {
    "size": "paper",
    "stride": 1,
    "temperature": 50.0,
    "smoothing": 1,
    "dynamic": "trailing",
}
# what windows of the shortest length need; without a network no less is asked for
FEWEST_ROWS = 8
# before the names of arrays that are not the network's
ADDED = "combination."


class SubAdjacentDetector(NeuralDetector):
    """Finds rows that cannot be expected from points near, but not next to, them.

    Ridge regressions and a small Transformer learn to expect each point of normal data from
    *sub-adjacent* points. Anomalies resemble their immediate neighbours at most, so they are
    badly expected and score high.

    Parameters
    ----------
    recipe : {"combined", "fast", "network", "paper"}
        What is held against the threshold. "combined": the plain views of
        ``BandRidgeDetector`` and the residuals of a small network, added up; ``temperature``,
        ``block``, ``dynamic`` and ``memory`` play no part in it. "fast": the views alone, seconds
        on one core; of the others only ``smoothing``, ``contamination`` and ``fill_limit`` count.
        Views have a band of their own, 5 to 30. "network": the network's
        error, weighed and compared as the parameters below say. "paper": the same, as the paper
        has it; parameters left at "auto" take its values.
    window : int or "auto"
        Points in a window. "auto": 100, or a quarter of the rows when there are under 400.
    near, far : int or "auto"
        The band: points at a distance of ``near`` to ``far`` are sub-adjacent. "auto": a
        fifth and three tenths of the window (20 and 30 of 100).
    size : {"auto", "tiny", "small", "paper"}
        The network's dimensions. "auto": small, or the paper's with its recipe.
    attention : str
        "softmax" (the paper's), "softmax-column", "power", "relu", "elu" or "vanilla".
    attention_weight : float
        λ: how strongly attention is pulled into the band.
    epochs, patience : int
        Train at most ``epochs`` passes; stop after ``patience`` without improvement on the
        held-back end of the training data. With 0 epochs the network keeps its initial
        weights: a control that tells what training adds.
    batch_size, learning_rate : number or "auto"
        "auto" follows the number of windows, and the size.
    decay : float
        Factor on the learning rate after every epoch.
    stride : int or "auto"
        Rows from one training window to the next. "auto" aims at 4,000 windows an epoch; with
        the paper's recipe it is 1.
    validation_fraction : float
        Share of the training rows, at the end, held back for stopping and calibration.
    budget : str or float, optional
        Longest time to train ("2m", "1h30m" or seconds); the best weights so far are kept.
    temperature : float or "auto"
        T of Eq. 6, with which a low contribution raises a score. "auto": 0, which scores by the
        error alone (see ``docs/decisions.md``), or 50 with the paper's recipe.
    block : int, optional
        Rows that share the softmax of Eq. 6; the window when left out.
    scoring_stride : int, optional
        Rows from one scored window to the next; the window when left out. A smaller one
        averages overlapping windows: slower and steadier.
    smoothing : int or "auto"
        Rows that scores are averaged over. "auto": 20, or 1 with the paper's recipe. A network's
        error is averaged with those before it; "combined" and "fast" take the mean of the score
        as it is, and averaged over so many and three times as many rows around it.
    dynamic : {"auto", "none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7; "released" is that of the authors' code.
        "auto": none, or trailing with the paper's recipe.
    memory : int
        Scores that the trailing form compares with.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels. "auto": by extreme-value theory. A float:
        the share of rows expected above it. "1/week": a budget of false alarms. Or any
        object with ``fit(scores)`` and ``predict(scores)``.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it.
    checkpoint : path, optional
        File to keep the training's state in; a run that finds it there goes on from it.
    precision : {"auto", "float32", "bfloat16"}
        Of training. "auto" takes bfloat16 on GPUs that have it.
    device : str
        "auto", "cpu", "cuda" or "mps".
    random_state : int, RandomState or None
        Decides the initial weights and the order of training.

    Attributes
    ----------
    network_ : SubAdjacentTransformer
        Not there with recipe "fast", and neither is what follows.
    window_, band_ : what ``window``, ``near`` and ``far`` came to
    history_ : list of Epoch
    usual_error_ : ndarray
        Each channel's mean squared error on held-out rows, in standardised units.

    Examples
    --------
    >>> import numpy as np
    >>> from subadjacent import SubAdjacentDetector
    >>> time = np.arange(2000)
    >>> normal = np.column_stack([np.sin(time / 8), np.cos(time / 8)])
    >>> broken = normal[:500].copy()
    >>> broken[300:310, 1] = 1.0
    >>> detector = SubAdjacentDetector(epochs=2).fit(normal)
    >>> worst = max(detector.alarms(broken), key=lambda alarm: alarm.severity)
    >>> worst.causes[0].channel
    'channel_1'
    """

    _kind = SubAdjacentTransformer
    _settings = SubAdjacentConfig

    def __init__(
        self,
        *,
        recipe: str = "combined",
        window: int | Auto = "auto",
        near: int | Auto = "auto",
        far: int | Auto = "auto",
        size: str = "auto",
        attention: str = "softmax",
        attention_weight: float = 10.0,
        epochs: int = 10,
        patience: int = 3,
        batch_size: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        decay: float = 1.0,
        stride: int | Auto = "auto",
        validation_fraction: float = 0.2,
        budget: str | float | None = None,
        temperature: float | Auto = "auto",
        block: int | None = None,
        scoring_stride: int | None = None,
        smoothing: int | Auto = "auto",
        dynamic: str = "auto",
        memory: int = 1000,
        clip: float = 10.0,
        contamination: Any = "auto",
        fill_limit: int = 10,
        checkpoint: str | os.PathLike[str] | None = None,
        precision: str = "auto",
        device: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.recipe = recipe
        self.window = window
        self.near = near
        self.far = far
        self.size = size
        self.attention = attention
        self.attention_weight = attention_weight
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.decay = decay
        self.stride = stride
        self.validation_fraction = validation_fraction
        self.budget = budget
        self.temperature = temperature
        self.block = block
        self.scoring_stride = scoring_stride
        self.smoothing = smoothing
        self.dynamic = dynamic
        self.memory = memory
        self.clip = clip
        self.contamination = contamination
        self.fill_limit = fill_limit
        self.checkpoint = checkpoint
        self.precision = precision
        self.device = device
        self.random_state = random_state

    def setting(self, name: str) -> Any:
        """A parameter's value; where it was left to the recipe, the recipe's."""
        value = getattr(self, name)
        if isinstance(value, str) and value == "auto":
            return (PAPERS_OWN if self.recipe == "paper" else OURS).get(name, value)
        return value

    def check(self) -> None:
        """Refuse parameters that are wrong for any data, before there is any."""
        if not isinstance(self.recipe, str) or self.recipe not in RECIPES:
            raise InputError(f"recipe must be one of {', '.join(RECIPES)}; got {self.recipe!r}")
        super().check()

    def _fit(self, series: Sequence[TrainSeries], watch: Watch) -> TrainingScores:
        self.check()
        self.recipe_ = self.recipe
        if self.recipe != "fast":
            return super()._fit(series, watch)
        if max(map(len, series)) < FEWEST_ROWS:
            raise InputError(
                f"X must have at least {FEWEST_ROWS} rows; the longest series has "
                f"{max(map(len, series))}"
            )
        return self._combine(series)

    @property
    def _adds_up(self) -> bool:
        """Whether views are added up; refuses a recipe that was changed after fitting."""
        if self.recipe != self.recipe_:
            raise InputError(
                f"recipe must be {self.recipe_!r}, which was fitted, or fit again; "
                f"got {self.recipe!r}"
            )
        return self.recipe in ADDED_UP

    def _configure(self, channels: int) -> SubAdjacentConfig:
        self.band_ = choose_band(self.near, self.far, self.window_)
        return SubAdjacentConfig.sized(
            self.setting("size"),
            channels,
            attention=self.attention,
            band=self.band_,
            attention_weight=self.attention_weight,
        )

    def _calibrate(
        self,
        stacked: Stack,
        validation: Windows,
        series: Sequence[TrainSeries],
        cuts: Sequence[int],
    ) -> TrainingScores:
        scores = super()._calibrate(stacked, validation, series, cuts)
        if not self._adds_up:
            return scores
        parts = _residuals(stacked, self._expected(stacked))
        return self._combine(series, NetworkResiduals(parts, cuts))

    def _combine(
        self, series: Sequence[TrainSeries], network: NetworkResiduals | None = None
    ) -> TrainingScores:
        self.combination_, surprise = Combination.fit(series, network)
        scores = [self._averaged(parts) for parts in surprise]
        self.levels_, found = EntityLevels.fit(series, scores)
        return found

    def _score(self, series: Sequence[TrainSeries]) -> list[NDArray[Any]]:
        if not self._adds_up:
            return super()._score(series)
        return self._added_up(series, self._surprise(series))

    def _decide(
        self,
        series: Sequence[TrainSeries],
        stacked: Stack,
        points: NDArray[Any],
        expected: NDArray[np.float32] | None = None,
    ) -> list[NDArray[Any]]:
        if not self._adds_up:
            return super()._decide(series, stacked, points, expected)
        return self._added_up(series, self._surprise(series, stacked, expected))

    def _explain(
        self,
        series: Sequence[TrainSeries],
        wanted: Sequence[NDArray[np.bool_]],
        *,
        expected: bool = True,
    ) -> list[Explanation]:
        if not self._adds_up:
            return super()._explain(series, wanted, expected=expected)
        if self.recipe == "fast":
            surprise = self._surprise(series)
            views = self.combination_.views
            values = [views.expected(one)[rows] for one, rows in zip(series, wanted, strict=True)]
        else:
            stacked = self._stack(series)
            found = self._expected(stacked)
            surprise = self._surprise(series, stacked, found)
            values = [
                self.scalers_.of(one.entity).invert(part[rows])
                for one, part, rows in zip(series, stacked.unstack(found), wanted, strict=True)
            ]
        smoothing = self.setting("smoothing")
        return [
            Explanation(unusual(parts, smoothing, causal=False)[rows], value)
            for parts, value, rows in zip(surprise, values, wanted, strict=True)
        ]

    def _events(self, scores: NDArray[Any], series: TrainSeries) -> NDArray[np.bool_]:
        above = super()._events(scores, series)
        if not self._adds_up:
            return above
        reach = max(smoothing_lengths(self.setting("smoothing")))
        return core_of(above, scores, reach, series.stretches)

    def _surprise(
        self,
        series: Sequence[TrainSeries],
        stacked: Stack | None = None,
        expected: NDArray[np.float32] | None = None,
    ) -> list[list[NDArray[np.float64]]]:
        """How surprising each value of each stretch of each series is."""
        if self.recipe == "fast":
            self._name_strangers(series)
            return [self.combination_.surprise(one) for one in series]
        stacked = self._stack(series) if stacked is None else stacked
        residuals = _residuals(stacked, self._expected(stacked) if expected is None else expected)
        return [
            self.combination_.surprise(one, parts)
            for one, parts in zip(series, residuals, strict=True)
        ]

    def network_surprise(self, series: Sequence[TrainSeries]) -> list[list[NDArray[np.float64]]]:
        """What the network alone adds to the surprise of each stretch of each series."""
        stacked = self._stack(series)
        residuals = _residuals(stacked, self._expected(stacked))
        return [
            self.combination_.network_surprise(one, parts)
            for one, parts in zip(series, residuals, strict=True)
        ]

    def _added_up(
        self, series: Sequence[TrainSeries], surprise: Sequence[Sequence[NDArray[np.float64]]]
    ) -> list[NDArray[np.float64]]:
        return [
            self.levels_.apply(one, self._averaged(parts))
            for one, parts in zip(series, surprise, strict=True)
        ]

    def _averaged(self, parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        smoothing = self.setting("smoothing")
        return np.concatenate([averaged(part, smoothing, causal=False) for part in parts])

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        adds_up = self._adds_up
        tensors, learned = ({}, {}) if self.recipe == "fast" else super()._state()
        if not adds_up:
            return tensors, learned
        others, combination = self.combination_.state()
        added = {f"{ADDED}{name}": value for name, value in others.items()}
        combination["levels"] = self.levels_.to_list()
        return tensors | added, learned | {"combination": combination}

    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        self.recipe_ = self.recipe
        added = {name: value for name, value in tensors.items() if name.startswith(ADDED)}
        if self.recipe != "fast":
            super()._restore({k: v for k, v in tensors.items() if k not in added}, learned)
            assert isinstance(self.network_, SubAdjacentTransformer)
            self.band_ = self.network_.config.band
        if self.recipe in ADDED_UP:
            combination = learned["combination"]
            self.combination_ = Combination.restore(
                {name.removeprefix(ADDED): value for name, value in added.items()},
                combination,
                self.channels_,
                self.entities_,
            )
            self.levels_ = EntityLevels.from_list(combination["levels"], self.entities_)


def _residuals(stacked: Stack, expected: NDArray[np.float32]) -> list[list[NDArray[np.float32]]]:
    """What the network's expectation leaves of each stretch of each series."""
    found: dict[int, list[NDArray[np.float32]]] = {}
    for one in stacked.stretches:
        rows = slice(one.at, one.at + one.rows)
        found.setdefault(one.series, []).append(stacked.values[rows].numpy() - expected[rows])
    return list(found.values())
