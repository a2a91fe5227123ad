"""The base of detectors around a network: training parameters, and access to the network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.detectors.method import SeededDetector, choose_seed
from subadjacent.methods.method import Model, State
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.model import NeuralModel
from subadjacent.networks.network import Network
from subadjacent.runtime import Runtime, Watch
from subadjacent.training.device import resolve_device
from subadjacent.training.history import Epoch


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkDetector(SeededDetector):
    """A detector around a network.

    Parameters
    ----------
    window : int or "auto"
        Points in a window. "auto": as its paper has it, or a quarter of the rows when there are
        few.
    size : str
        The network's dimensions: "paper", or "tiny" for tests; Transformers have "small" too.
    epochs, patience : int
        Train at most ``epochs`` passes; stop after ``patience`` without improvement on the
        held-out end of the training rows. With 0 epochs the network keeps its initial weights:
        a control that tells what training adds.
    batch_size, learning_rate : number or "auto"
        "auto" follows the number of windows, and the network.
    decay : float
        Factor on the learning rate after every epoch.
    stride : int or "auto"
        Rows from one training window to the next. "auto" aims at 4,000 windows an epoch.
    validation_fraction : float
        Share of the training rows, at the end, held out for stopping and calibration.
    max_training_time : str or float, optional
        Longest time to train ("2m", "1h30m" or seconds); the best weights so far are kept.
    scoring_stride : int, optional
        Rows from one scored window to the next; as many as a window judges when left out. A
        smaller one averages overlapping windows: slower and steadier.
    checkpoint : path, optional
        File to keep the training's state in; a run that finds it there continues from it.
    precision : {"auto", "float32", "bfloat16"}
        Of training. "auto" takes bfloat16 on GPUs that have it.
    device : str
        "auto", "cpu", "cuda" or "mps".
    random_state : int, RandomState or None
        Decides the initial weights, the order of training and what the network draws.
    others
        As of every ``MethodDetector``.

    Attributes
    ----------
    network_ : Network
    window_ : int
        Points in a window, as chosen by ``window``.
    history_ : sequence of Epoch
    usual_error_ : ndarray
        Each channel's mean error on held-out rows, in standardised units.
    """

    window: int | Auto = "auto"
    size: str = "paper"
    epochs: int = 10
    patience: int = 3
    batch_size: int | Auto = "auto"
    learning_rate: float | Auto = "auto"
    decay: float = 1.0
    stride: int | Auto = "auto"
    validation_fraction: float = 0.2
    max_training_time: str | float | None = None
    scoring_stride: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    precision: str = "auto"
    device: str = "auto"

    @property
    def network_(self) -> Network:
        """The trained network; all entities share it."""
        return self._fitted().network

    @property
    def window_(self) -> int:
        """Points in a window."""
        return self._fitted().window

    @property
    def history_(self) -> Sequence[Epoch]:
        """Losses of each epoch of the training."""
        return self._fitted().history

    @property
    def usual_error_(self) -> NDArray[Any]:
        """Each channel's mean error on held-out rows, in standardised units."""
        return self._fitted().calibration.errors

    def _fitted(self) -> NeuralModel:
        # AttributeError, as scikit-learn asks which attributes there are
        if "models_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted")
        model = self.models_.pooled
        assert isinstance(model, NeuralModel)
        return model

    def _runtime(self, watch: Watch) -> Runtime:
        return Runtime(self.device, self.precision, choose_seed(self.random_state), watch)

    def _restore(self, state: State, device: str) -> PerEntity[Model]:
        models = super()._restore(state, device)
        assert isinstance(models.pooled, NeuralModel)
        # in place: the models of all entities share it
        models.pooled.network.to(resolve_device(device))
        return models
