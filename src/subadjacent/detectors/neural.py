"""What detectors around a network share: windows, training, calibration, scoring, files."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from subadjacent.data.clock import duration
from subadjacent.data.scaling import EntityScalers, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.split import validation_starts
from subadjacent.data.windows import Stack, Windows, stack
from subadjacent.detectors.defaults import (
    Auto,
    check_parameters,
    choose_batch_size,
    choose_learning_rate,
    choose_seed,
    choose_stride,
    choose_validation_stride,
    choose_window,
)
from subadjacent.detectors.old_base import BaseDetector, Explanation, TrainingScores
from subadjacent.detectors.old_integrity import check_learned
from subadjacent.detectors.persist import Tensors, decode_history, encode_history
from subadjacent.errors import InputError
from subadjacent.model.config import ModelConfig
from subadjacent.model.network import Network
from subadjacent.scoring.alarms import ERROR_FLOOR
from subadjacent.scoring.dynamic import dynamic
from subadjacent.scoring.moving import smooth
from subadjacent.scoring.point import (
    PointConfig,
    Trace,
    channel_errors,
    expected_values,
    score_points,
)
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast, resolve_device
from subadjacent.training.fit import fit_network
from subadjacent.training.loop import Watch


def has_network(detector: BaseDetector) -> TypeGuard[NeuralDetector]:
    """Whether a fitted detector has a network to look into."""
    return isinstance(detector, NeuralDetector) and hasattr(detector, "network_")


class NeuralDetector(BaseDetector):
    """A detector around a network that reconstructs windows.

    Subclasses name the network's class, have the parameters below, and say in ``_configure``
    how these make up its settings.
    """

    _kind: ClassVar[type[Network]]

    window: int | Auto
    size: str
    attention: str
    attention_weight: float
    epochs: int
    patience: int
    batch_size: int | Auto
    learning_rate: float | Auto
    decay: float
    stride: int | Auto
    validation_fraction: float
    budget: str | float | None
    temperature: float | Auto
    block: int | None
    scoring_stride: int | None
    smoothing: int | Auto
    dynamic: str
    memory: int
    clip: float
    checkpoint: str | os.PathLike[str] | None
    precision: str
    device: str
    random_state: Any

    def setting(self, name: str) -> Any:
        """A parameter's value; detectors that have recipes know more."""
        return getattr(self, name)

    def check(self) -> None:
        """Refuse parameters that are wrong for any data, before there is any."""
        given = self.get_params(deep=False)
        check_parameters({name: self.setting(name) for name in given})

    @abstractmethod
    def _configure(self, channels: int) -> ModelConfig:
        """The network's settings, once the window is chosen; refuses what cannot be."""

    def trace(self, X: Any) -> list[Trace]:
        """What led to the scores of each series: expected values, error, contribution, score."""
        self._require_network()
        series = self._read(X).series
        stacked = self._stack(series)
        found = score_points(self.network_, stacked, self._points())
        expected = self._expected(stacked)
        parts = [
            stacked.unstack(one) for one in (expected, found.error, found.contribution, found.score)
        ]
        parts.append(self._decide(series, stacked, found.score, expected))
        return [
            Trace(one, self.scalers_.of(one.entity).invert(scaled), *others)
            for one, scaled, *others in zip(series, *parts, strict=True)
        ]

    def attention_around(self, series: TrainSeries, row: int) -> tuple[int, NDArray[Any]]:
        """The attention of the window around a row: its first row, and A[query, key].

        The mean over heads and layers. The window is the one that the row is scored by.
        """
        self._require_network()
        start, stop = next(one for one in series.stretches if one[0] <= row < one[1])
        first = start + (row - start) // self.window_ * self.window_
        first = max(min(first, stop - self.window_), start)
        rows = TrainSeries(series.values[first : first + self.window_], entity=series.entity)
        window = self._stack([rows]).values[None]
        with torch.inference_mode():
            matrices = self.network_.attention(window.to(next(self.network_.parameters()).device))
        return first, matrices.mean(dim=(0, 1, 2)).cpu().numpy()

    def _require_network(self) -> None:
        check_is_fitted(self)
        if not has_network(self):
            raise InputError(f"the detector must have a network to look into; {self} has none")

    def _fit(self, series: Sequence[TrainSeries], watch: Watch) -> TrainingScores:
        self.check()
        self.seed_ = choose_seed(self.random_state)
        self.window_ = choose_window(self.window, max(len(one) for one in series))
        config = self._configure(len(series[0].channels))
        self._points().stride_within(self.window_)
        cuts = validation_starts(series, self.window_, self.validation_fraction)
        self.scalers_ = fit_scalers(series, self.clip)
        stacked = stack(series, self.scalers_, self.window_)
        windows, validation = self._windows(stacked, series, cuts)

        device = resolve_device(self.device)
        network = self._kind.seeded(config, self.seed_)
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
        self.usual_error_ = channel_errors(self.network_, validation, self._points())
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
        return self._decide(series, stacked, points)

    def _decide(
        self,
        series: Sequence[TrainSeries],  # noqa: ARG002 — for those that look past the network
        stacked: Stack,
        points: NDArray[Any],
        expected: NDArray[np.float32] | None = None,  # noqa: ARG002 — likewise
    ) -> list[NDArray[Any]]:
        """What is held against the threshold, one array a series.

        Given are the rows, scaled and below each other, their scores by Eq. 6 and, where they
        are known already, the values that the network expects.
        """
        return stacked.unstack(self._judge(stacked, self._smooth(stacked, points)))

    def _expected(self, stacked: Stack) -> NDArray[np.float32]:
        """What the network expects at every stacked row, scaled; zeros on the padding."""
        rows = np.zeros(len(stacked.values), dtype=bool)
        for one in stacked.stretches:
            rows[one.at : one.at + one.rows] = True
        expected = np.zeros(stacked.values.shape, dtype=np.float32)
        expected[rows] = expected_values(self.network_, stacked, self._points(), rows)
        return expected

    def _smooth(self, stacked: Stack, points: NDArray[Any]) -> NDArray[np.float64]:
        # each stretch by itself: what lies before a break in the clock is another time
        return stacked.map_stretches(
            points, lambda rows: smooth(rows, self.setting("smoothing"), before=self.usual_score_)
        )

    def _judge(self, stacked: Stack, smoothed: NDArray[np.float64]) -> NDArray[np.float64]:
        return stacked.map_stretches(
            smoothed, lambda rows: dynamic(rows, self.warmup_, self.setting("dynamic"))
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
        self.network_ = self._kind.seeded(config, 0).eval()
        self.network_.load_state_dict(tensors)
        self.window_ = int(learned["window"])
        self.seed_ = int(learned["seed"])
        self.scalers_ = EntityScalers.from_dict(learned["scalers"])
        self.usual_score_ = float(learned["usual_score"])
        self.warmup_ = np.array(learned["warmup"], dtype=float)
        self.usual_error_ = np.array(learned["usual_error"], dtype=float)
        self.history_ = decode_history(learned["history"])

    def _to_device(self, device: str) -> None:
        if has_network(self):
            self.network_.to(resolve_device(device))

    def _stack(self, series: Sequence[TrainSeries]) -> Stack:
        self._name_strangers(series)
        return stack(series, self.scalers_, self.window_)

    def _windows(
        self, stacked: Stack, series: Sequence[TrainSeries], cuts: Sequence[int]
    ) -> tuple[Windows, Windows]:
        """Training windows before the cuts, validation windows after them."""
        stride = choose_stride(self.setting("stride"), sum(cuts), self.window_)
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
            batch_size=choose_batch_size(self.batch_size, windows, self.window_),
            learning_rate=choose_learning_rate(self.learning_rate, self.setting("size")),
            decay=self.decay,
            attention_weight=self.attention_weight,
            patience=self.patience,
            budget=None if self.budget is None else duration(self.budget, name="budget"),
            seed=self.seed_,
        )

    def _points(self) -> PointConfig:
        return PointConfig(self.setting("temperature"), self.block, self.scoring_stride)
