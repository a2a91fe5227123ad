"""The Sub-Adjacent Transformer as a detector: network, training and scoring, wired together."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from subadjacent.data.clock import duration
from subadjacent.data.scaling import EntityScalers, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.split import validation_starts
from subadjacent.data.windows import Stack, Windows, stack
from subadjacent.detectors.base import BaseDetector, TrainingScores
from subadjacent.detectors.defaults import (
    Auto,
    check_parameters,
    choose_band,
    choose_batch_size,
    choose_learning_rate,
    choose_seed,
    choose_stride,
    choose_validation_stride,
    choose_window,
)
from subadjacent.detectors.integrity import check_learned
from subadjacent.detectors.persist import Tensors, decode_history, encode_history
from subadjacent.errors import InputError
from subadjacent.model.config import ModelConfig
from subadjacent.model.transformer import SubAdjacentTransformer
from subadjacent.scoring.alarms import Explanation
from subadjacent.scoring.dynamic import dynamic
from subadjacent.scoring.point import (
    PointConfig,
    Trace,
    channel_errors,
    expected_values,
    score_points,
)
from subadjacent.scoring.smoothing import smooth
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast, resolve_device
from subadjacent.training.fit import fit_network
from subadjacent.training.loop import Watch

log = logging.getLogger(__name__)

# added to a channel's usual squared error: one that never moved in training is not explained
# by its first ripple
ERROR_FLOOR = 1e-3


class SubAdjacentDetector(BaseDetector):
    """Finds rows that cannot be reconstructed from points near, but not next to, them.

    A small Transformer learns to reconstruct windows of normal data while its attention is
    pulled onto a band of *sub-adjacent* points. Anomalies resemble their immediate
    neighbours at most, so they reconstruct badly and score high.

    Parameters
    ----------
    window : int or "auto"
        Points in a window. "auto": 100, or a quarter of the rows when there are under 400.
    near, far : int or "auto"
        The band: points at a distance of ``near`` to ``far`` are sub-adjacent. "auto": a
        fifth and three tenths of the window (20 and 30 of 100).
    size : {"small", "paper"}
        The network's dimensions.
    attention : str
        "softmax" (the paper's), "softmax-column", "power", "relu", "elu" or "vanilla".
    attention_weight : float
        λ: how strongly attention is pulled into the band.
    epochs, patience : int
        Train at most ``epochs`` passes; stop after ``patience`` without improvement on the
        held-back end of the training data.
    batch_size, learning_rate : number or "auto"
        "auto" follows the number of windows, and the size.
    decay : float
        Factor on the learning rate after every epoch.
    stride : int or "auto"
        Rows from one training window to the next. "auto" aims at 4,000 windows an epoch.
    validation_fraction : float
        Share of the training rows, at the end, held back for stopping and calibration.
    budget : str or float, optional
        Longest time to train ("2m", "1h30m" or seconds); the best weights so far are kept.
    temperature : float
        T of Eq. 6, with which a low contribution raises a score. The authors' code has 50;
        the default, 0, scores by the error alone: see ``docs/decisions.md``.
    block : int, optional
        Rows that share the softmax of Eq. 6; the window when left out.
    scoring_stride : int, optional
        Rows from one scored window to the next; the window when left out. A smaller one
        averages overlapping windows: slower and steadier.
    smoothing : int
        Average each score with those before it, so many in all.
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7; "released" is that of the authors' code.
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
    >>> alarm = detector.alarms(broken)[0]
    >>> alarm.causes[0].channel
    'channel_1'
    """

    def __init__(
        self,
        *,
        window: int | Auto = "auto",
        near: int | Auto = "auto",
        far: int | Auto = "auto",
        size: str = "small",
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
        temperature: float = 0.0,
        block: int | None = None,
        scoring_stride: int | None = None,
        smoothing: int = 20,
        dynamic: str = "none",
        memory: int = 1000,
        clip: float = 10.0,
        contamination: Any = "auto",
        fill_limit: int = 10,
        checkpoint: str | os.PathLike[str] | None = None,
        precision: str = "auto",
        device: str = "auto",
        random_state: Any = 0,
    ) -> None:
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

    def trace(self, X: Any) -> list[Trace]:
        """What led to the scores of each series: expected values, error, contribution, score."""
        check_is_fitted(self)
        series = self._read(X).series
        stacked = self._stack(series)
        found = score_points(self.network_, stacked, self._points())
        decision = self._judge(stacked, self._smooth(stacked, found.score))
        everything = stacked.restack([np.ones(len(one), dtype=bool) for one in series])
        expected = np.zeros(stacked.values.shape, dtype=np.float32)
        expected[everything] = expected_values(self.network_, stacked, self._points(), everything)
        parts = [
            stacked.unstack(one)
            for one in (expected, found.error, found.contribution, found.score, decision)
        ]
        return [
            Trace(one, self.scalers_.of(one.entity).invert(scaled), *others)
            for one, scaled, *others in zip(series, *parts, strict=True)
        ]

    def attention_around(self, series: TrainSeries, row: int) -> tuple[int, NDArray[Any]]:
        """The attention of the window around a row: its first row, and A[query, key].

        The mean over heads and layers. The window is the one that the row is scored by.
        """
        check_is_fitted(self)
        start, stop = next(one for one in series.stretches if one[0] <= row < one[1])
        first = start + (row - start) // self.window_ * self.window_
        first = max(min(first, stop - self.window_), start)
        rows = TrainSeries(series.values[first : first + self.window_], entity=series.entity)
        window = self._stack([rows]).values[None]
        with torch.inference_mode():
            matrices = self.network_.attention(window.to(next(self.network_.parameters()).device))
        return first, matrices.mean(dim=(0, 1, 2)).cpu().numpy()

    def _fit(self, series: Sequence[TrainSeries], watch: Watch) -> TrainingScores:
        check_parameters(self.get_params(deep=False))
        self.seed_ = choose_seed(self.random_state)
        self.window_ = choose_window(self.window, max(len(one) for one in series))
        self.band_ = choose_band(self.near, self.far, self.window_)
        self._points().stride_within(self.window_)
        cuts = validation_starts(series, self.window_, self.validation_fraction)
        self.scalers_ = fit_scalers(series, self.clip)
        stacked = stack(series, self.scalers_, self.window_)
        windows, validation = self._windows(stacked, series, cuts)

        device = resolve_device(self.device)
        config = ModelConfig.sized(
            self.size, len(series[0].channels), attention=self.attention, band=self.band_
        )
        network = SubAdjacentTransformer.seeded(config, self.seed_)
        self.network_ = network.to(device, torch.float32)
        # the rows go to the device once, for both
        windows = windows.to(device)
        on_device = replace(validation, values=windows.values).to(device)
        self.history_ = fit_network(
            self.network_,
            windows,
            on_device,
            self._training_config(len(windows)),
            autocast(device, self.precision),
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            watch=watch,
        )
        return self._calibrate(stacked, validation, series, cuts)

    def _calibrate(
        self,
        stacked: Stack,
        validation: Windows,
        series: Sequence[TrainSeries],
        cuts: Sequence[int],
    ) -> TrainingScores:
        """Learn from the rows held back what scores and errors are usual."""
        held_back = stacked.restack(
            [np.arange(len(one)) >= cut for one, cut in zip(series, cuts, strict=True)]
        )
        self.usual_error_ = channel_errors(self.network_, validation, self._points().batch_size)
        points = score_points(self.network_, stacked, self._points()).score
        self.usual_score_ = float(points[held_back].mean())
        smoothed = self._smooth(stacked, points)
        usual = smoothed[held_back]
        # evenly spaced, so that the warm-up stands for all of them
        spaced = np.linspace(0, len(usual) - 1, min(self.memory, len(usual)))
        self.warmup_ = usual[spaced.round().astype(int)]
        scores = self._judge(stacked, smoothed)
        return TrainingScores(stacked.unstack(scores), scores[held_back])

    def _score(self, series: Sequence[TrainSeries]) -> list[NDArray[Any]]:
        stacked = self._stack(series)
        points = score_points(self.network_, stacked, self._points()).score
        return stacked.unstack(self._judge(stacked, self._smooth(stacked, points)))

    def _smooth(self, stacked: Stack, points: NDArray[Any]) -> NDArray[np.float64]:
        # each stretch by itself: what lies before a break in the clock is another time
        return stacked.map_stretches(
            points, lambda rows: smooth(rows, self.smoothing, before=self.usual_score_)
        )

    def _judge(self, stacked: Stack, smoothed: NDArray[np.float64]) -> NDArray[np.float64]:
        return stacked.map_stretches(
            smoothed, lambda rows: dynamic(rows, self.warmup_, self.dynamic)
        )

    def _explain(
        self,
        series: Sequence[TrainSeries],
        wanted: Sequence[NDArray[np.bool_]],
        *,
        expected: bool = True,
    ) -> list[Explanation]:
        stacked = self._stack(series)
        rows = stacked.restack(wanted)
        found = expected_values(self.network_, stacked, self._points(), rows)
        unusual = stacked.values.numpy()[rows]
        unusual -= found
        unusual *= unusual
        unusual /= (self.usual_error_ + ERROR_FLOOR).astype(np.float32)
        ends = np.cumsum([int(one.sum()) for one in wanted])[:-1]
        return [
            Explanation(scores, self.scalers_.of(one.entity).invert(part) if expected else part)
            for one, scores, part in zip(
                series, np.split(unusual, ends), np.split(found, ends), strict=True
            )
        ]

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        learned = {
            "network": asdict(self.network_.config),
            "window": self.window_,
            "seed": self.seed_,
            "scalers": self.scalers_.to_dict(),
            "usual_score": self.usual_score_,
            "warmup": self.warmup_.tolist(),
            "usual_error": self.usual_error_.tolist(),
            "history": encode_history(self.history_),
        }
        return self.network_.state_dict(), learned

    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        check_learned(learned, self.channels_, self.entities_)
        config = ModelConfig.from_dict(learned["network"])
        self.band_ = config.band
        self.network_ = SubAdjacentTransformer.seeded(config, 0).eval()
        self.network_.load_state_dict(tensors)
        self.window_ = int(learned["window"])
        self.seed_ = int(learned["seed"])
        self.scalers_ = EntityScalers.from_dict(learned["scalers"])
        self.usual_score_ = float(learned["usual_score"])
        self.warmup_ = np.array(learned["warmup"], dtype=float)
        self.usual_error_ = np.array(learned["usual_error"], dtype=float)
        self.history_ = decode_history(learned["history"])

    def _to_device(self, device: str) -> None:
        self.network_.to(resolve_device(device))

    def _stack(self, series: Sequence[TrainSeries]) -> Stack:
        named = {one.entity for one in series if one.entity is not None}
        unknown = named.difference(self.entities_)
        if unknown and self.entities_:
            log.warning("entities not seen in fitting are scaled by all: %s", sorted(unknown))
        return stack(series, self.scalers_, self.window_)

    def _windows(
        self, stacked: Stack, series: Sequence[TrainSeries], cuts: Sequence[int]
    ) -> tuple[Windows, Windows]:
        """Training windows before the cuts, validation windows after them."""
        stride = choose_stride(self.stride, sum(cuts), self.window_)
        windows = stacked.windows_within([(0, cut) for cut in cuts], stride)
        held = [(cut, len(one)) for one, cut in zip(series, cuts, strict=True)]
        rows = sum(stop - start for start, stop in held)
        stride = choose_validation_stride(rows, self.window_)
        validation = stacked.windows_within(held, stride)
        for name, found in (("learn from", windows), ("validate on", validation)):
            if not len(found):
                raise InputError(
                    f"X must have unbroken stretches of at least window={self.window_} rows to "
                    f"{name}; its clock has too many gaps"
                )
        return windows, validation

    def _training_config(self, windows: int) -> TrainingConfig:
        return TrainingConfig(
            epochs=self.epochs,
            batch_size=choose_batch_size(self.batch_size, windows),
            learning_rate=choose_learning_rate(self.learning_rate, self.size),
            decay=self.decay,
            attention_weight=self.attention_weight,
            patience=self.patience,
            budget=None if self.budget is None else duration(self.budget, name="budget"),
            seed=self.seed_,
        )

    def _points(self) -> PointConfig:
        return PointConfig(self.temperature, self.block, self.scoring_stride)
