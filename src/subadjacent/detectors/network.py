"""What detectors around a network share: a device, a seed, and a network to look into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.seed import choose_seed
from subadjacent.methods.method import Model, State
from subadjacent.methods.neural.model import NeuralModel
from subadjacent.networks.network import Network
from subadjacent.runtime import Runtime, Watch
from subadjacent.training.device import resolve_device
from subadjacent.training.history import Epoch


class NetworkDetector(BaseDetector):
    """A detector around a network.

    Attributes
    ----------
    network_ : Network
    window_ : int
        What ``window`` came to.
    history_ : sequence of Epoch
    usual_error_ : ndarray
        Each channel's mean error on held-out rows, in standardised units.
    """

    precision: str
    device: str
    random_state: Any

    @property
    def network_(self) -> Network:
        """The trained network; all entities share it."""
        return self._fitted().entity.network

    @property
    def window_(self) -> int:
        """Points in a window."""
        return self._fitted().entity.window

    @property
    def history_(self) -> Sequence[Epoch]:
        """What each epoch of the training came to."""
        return self._fitted().history

    @property
    def usual_error_(self) -> NDArray[Any]:
        """Each channel's mean error on held-out rows, in standardised units."""
        return self._fitted().calibration.errors

    def attention_around(self, series: TrainSeries, row: int) -> tuple[int, NDArray[Any]]:
        """The attention of the window that scores a row: its first row, and A[query, key].

        The mean over heads and layers.
        """
        start, stop = next(one for one in series.stretches if one[0] <= row < one[1])
        model = self.models_.of(series.entity)
        assert isinstance(model, NeuralModel)
        first, matrix = model.entity.attention_around(series.values[start:stop], row - start)
        return start + first, matrix

    def _fitted(self) -> NeuralModel:
        # not a failing check: scikit-learn asks which attributes there are
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
        models.pooled.entity.network.to(resolve_device(device))
        return models
