"""How a network is trained: on windows of normal rows, the end of them held out.

One network is trained for all entities; each entity has its own scale.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from subadjacent.data.clock import duration
from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import Scaler, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, Windows, stack, validation_starts
from subadjacent.errors import InputError, require_number, require_whole
from subadjacent.methods.method import Fitted, Method, Model, State, require_array
from subadjacent.methods.neural.defaults import (
    DEFAULT_WINDOW,
    MAX_POINTS,
    Auto,
    choose_batch_size,
    choose_stride,
    choose_validation_stride,
    choose_window,
    require_auto_or_number,
    require_auto_or_whole,
)
from subadjacent.methods.neural.model import (
    WEIGHTS,
    Calibration,
    NeuralModel,
    row_scores,
)
from subadjacent.methods.neural.paper_score import PaperScore
from subadjacent.methods.neural.row_scores import (
    POINTS_AT_ONCE,
    assess_rows,
    check_stride,
    usual_errors,
)
from subadjacent.networks.network import Network, NetworkConfig, restore_weights
from subadjacent.runtime import Runtime
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast, resolve_device
from subadjacent.training.fit import fit_network
from subadjacent.training.history import decode_history


@dataclass(frozen=True, kw_only=True)
class NeuralMethod(Method):
    """Trains a network on windows of the rows before the end, which is held out.

    A subclass names the network's class and says in ``configure`` how its own fields make up the
    network's settings.

    Settings are those of ``NetworkDetector`` and ``PaperScore``; as they are here, a row's score is
    its mean error. Eq. 7 compares it with ``memory`` scores.
    """

    window: int | Auto = "auto"
    epochs: int = 10
    patience: int = 3
    batch_size: int | Auto = "auto"
    learning_rate: float | Auto = "auto"
    decay: float = 1.0
    stride: int | Auto = "auto"
    validation_fraction: float = 0.2
    max_training_time: str | float | None = None
    temperature: float = 0.0
    block: int | None = None
    smoothing: int = 1
    dynamic: str = "none"
    scoring_stride: int | None = None
    memory: int = 1000
    clip: float = 10.0
    checkpoint: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        require_auto_or_whole("window", self.window, least=2)
        require_auto_or_whole("stride", self.stride, least=1)
        require_auto_or_whole("batch_size", self.batch_size, least=1)
        require_auto_or_number("learning_rate", self.learning_rate)
        require_whole("memory", self.memory, least=2)
        require_number("clip", self.clip, above=0)
        if self.scoring_stride is not None:
            require_whole("scoring_stride", self.scoring_stride, least=1)
        if not isinstance(self.checkpoint, str | os.PathLike | None):
            raise InputError(f"checkpoint must be a path or None; got {self.checkpoint!r}")
        # what these refuse is refused now
        self._paper()
        self._training(windows=1, window=2, seed=0)

    @property
    @abstractmethod
    def network(self) -> type[Network]:
        """The class of the network."""

    @abstractmethod
    def configure(self, channels: int, window: int) -> NetworkConfig:
        """The network's settings for some data; refuses what does not fit."""

    @abstractmethod
    def saved_config(self, saved: dict[str, Any], window: int) -> NetworkConfig:
        """The settings of a saved network; refuses what does not fit."""

    def longest_window(self, config: NetworkConfig) -> int:  # noqa: ARG002 — any, as a rule
        """The most points that a window of a network with these settings may have."""
        return MAX_POINTS

    def usual_window(self) -> int:
        """Points in a window where it is left at "auto" and there are rows enough."""
        return DEFAULT_WINDOW

    def usual_learning_rate(self) -> float:
        """The learning rate where it is left at "auto"."""
        return 1e-3

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Train the network on the rows before the end of each series; calibrate it on the rest."""
        device = resolve_device(run.device)
        mixed = autocast(device, run.precision)
        window = choose_window(self.window, max(map(len, series)), self.usual_window())
        config = self.configure(series[0].values.shape[1], window)
        require_whole("window", window, least=2, most=self.longest_window(config))
        network = self.network.seeded(config, run.seed)
        stride = check_stride(self.scoring_stride, window, network.context)
        cuts = validation_starts(series, window, self.validation_fraction)
        scalers = fit_scalers(series, self.clip)
        stacked = stack(series, scalers, window)
        windows, validation = self._windows(stacked, series, cuts)

        network.to(device, torch.float32)
        # the rows go to the device once, for both
        on_device = windows.to(device)
        history = fit_network(
            network,
            on_device,
            replace(validation, values=on_device.values).to(device),
            self._training(len(windows), window, run.seed),
            mixed,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            watch=run.watch,
        )
        with torch.no_grad():
            network.conclude(_Batches(windows, device), _Batches(validation, device))

        by_series = [
            np.arange(len(one_series)) >= cut for one_series, cut in zip(series, cuts, strict=True)
        ]
        held_out, paper = stacked.restack(by_series), self._paper()
        points = _points(network, stacked, stride, paper)
        usual = float(points[held_out].mean())
        smoothed = stacked.map_segments(points, lambda rows: paper.smoothed(rows, usual))
        warmup = _spaced(smoothed[held_out], self.memory)
        scores = stacked.map_segments(smoothed, lambda rows: paper.compared(rows, warmup))
        calibration = Calibration(usual, warmup, usual_errors(network, validation))

        def model(scaler: Scaler) -> Model:
            return NeuralModel(network, scaler, window, stride, calibration, paper, tuple(history))

        of_series = stacked.unstack(scores)
        kept = [own[rows] for own, rows in zip(of_series, by_series, strict=True)]
        return Fitted(scalers.map(model), of_series, kept)

    def pack(self, models: PerEntity[Model]) -> State:
        """The state of one model, and the scales of all entities: they share the rest."""
        arrays, facts = models.pooled.state()
        states = [model.state().arrays for model in models.by_entity.values()]
        for name in ("center", "deviation"):
            shape = (len(states), len(arrays[name]))
            arrays[f"entities.{name}"] = np.reshape([state[name] for state in states], shape)
        return State(arrays, facts)

    def unpack(self, state: State, channels: int, entities: Sequence[str]) -> PerEntity[Model]:
        """The inverse of ``pack``; refuses what does not fit."""
        scales = {}
        for name in ("center", "deviation"):
            scales[name] = state.arrays[f"entities.{name}"]
            require_array(f"entities.{name}", scales[name], (len(entities), channels))
        pooled = self.restore(state, channels)
        assert isinstance(pooled, NeuralModel)
        clip = pooled.scaler.clip
        models = [
            replace(pooled, scaler=Scaler(center, deviation, clip))
            for center, deviation in zip(*scales.values(), strict=True)
        ]
        return PerEntity(pooled, dict(zip(entities, models, strict=True)))

    def restore(self, state: State, channels: int) -> Model:
        """The inverse of ``NeuralModel.state``; refuses what does not fit."""
        arrays, facts = state
        window = facts["window"]
        require_whole("window", window, least=2, most=MAX_POINTS)
        config = self.saved_config(facts["network"], window)
        require_whole("window", window, least=2, most=self.longest_window(config))
        if config.channels != channels:
            raise InputError(
                f"channels must name the {config.channels} that the network has; got {channels}"
            )
        for name in ("center", "deviation"):
            require_array(name, arrays[name], (channels,))
        require_array("usual_errors", arrays["usual_errors"], (channels,), least=0)
        require_array("warmup", arrays["warmup"], (max(arrays["warmup"].size, 1),))
        require_number("clip", facts["clip"], above=0)
        require_number("usual_score", facts["usual_score"])
        weights = {
            name.removeprefix(WEIGHTS): torch.from_numpy(value)
            for name, value in arrays.items()
            if name.startswith(WEIGHTS)
        }
        network = restore_weights(self.network, config, weights)
        return NeuralModel(
            network.eval(),
            Scaler(arrays["center"], arrays["deviation"], float(facts["clip"])),
            window,
            check_stride(self.scoring_stride, window, network.context),
            Calibration(float(facts["usual_score"]), arrays["warmup"], arrays["usual_errors"]),
            self._paper(),
            tuple(decode_history(facts["history"])),
        )

    def _windows(
        self, stacked: Stack, series: Sequence[TrainSeries], cuts: Sequence[int]
    ) -> tuple[Windows, Windows]:
        """Training windows before the cuts, validation windows after them."""
        window = stacked.window
        stride = choose_stride(self.stride, sum(cuts), window)
        windows = stacked.windows_within([(0, cut) for cut in cuts], stride)
        held = [(cut, len(one_series)) for one_series, cut in zip(series, cuts, strict=True)]
        rows = sum(stop - start for start, stop in held)
        stride = choose_validation_stride(rows, window)
        validation = stacked.windows_within(held, stride)
        for name, cut_windows in (("learn from", windows), ("validate on", validation)):
            if not len(cut_windows):
                raise InputError(
                    f"X must have unbroken segments of at least window={window} rows to "
                    f"{name}; its clock has too many gaps"
                )
        return windows, validation

    def _training(self, windows: int, window: int, seed: int) -> TrainingConfig:
        rate = self.learning_rate
        return TrainingConfig(
            epochs=self.epochs,
            batch_size=choose_batch_size(self.batch_size, windows, window),
            learning_rate=self.usual_learning_rate() if isinstance(rate, str) else rate,
            decay=self.decay,
            patience=self.patience,
            max_training_time=None
            if self.max_training_time is None
            else duration(self.max_training_time, name="max_training_time"),
            seed=seed,
        )

    def _paper(self) -> PaperScore:
        return PaperScore(self.temperature, self.block, self.smoothing, self.dynamic)


@dataclass(frozen=True)
class _Batches:
    """Windows on a device, batch by batch; may be iterated over many times."""

    windows: Windows
    device: torch.device

    def __iter__(self) -> Iterator[Tensor]:
        for which in self.windows.batches(max(POINTS_AT_ONCE // self.windows.length, 1)):
            yield self.windows.take(which).to(self.device)


def _points(
    network: Network, stacked: Stack, stride: int, paper: PaperScore
) -> NDArray[np.float32]:
    """Eq. 6 for every stacked row; zeros on the padding."""
    assessed = assess_rows(network, stacked, stride, paper.of_windows, channels=False)
    points = np.zeros_like(assessed.score)
    for segment in stacked.segments:
        rows = slice(segment.at, segment.at + segment.rows)
        points[rows] = row_scores(assessed, rows, paper)
    return points


def _spaced(scores: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """At most ``count`` of the scores, evenly spaced, as a sample of all of them."""
    places = np.linspace(0, len(scores) - 1, min(count, len(scores)))
    return np.asarray(scores[places.round().astype(int)])
