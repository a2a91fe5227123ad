"""The default with a network's residuals added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from subadjacent.data.entities import PerEntity
from subadjacent.detectors.default import SubAdjacentDetector
from subadjacent.detectors.method import choose_seed
from subadjacent.methods.method import Method, Model, State
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.methods.views.entity import ViewsModel
from subadjacent.methods.views.with_network import NetworkedViewsMethod
from subadjacent.runtime import Runtime, Watch
from subadjacent.training.device import resolve_device


class SubAdjacentHybridDetector(SubAdjacentDetector):
    """The default detector, with the residuals of a Sub-Adjacent Transformer added to its views.

    One network is trained for all entities. Its residuals have half the weight of a linear model.
    It takes torch and many times as long, and changes little (``docs/method.md``).

    Parameters
    ----------
    size : str
        The network's dimensions: "small", "paper", or "tiny" for tests.
    epochs : int
        Longest training, in passes over the training rows.
    max_training_time : str or float, optional
        Longest time to train the network ("2m", "1h30m" or seconds).
    device : str
        Where the network runs: "auto", "cpu", "cuda" or "mps".
    random_state : int, RandomState or None
        Decides the network's initial weights and the order of its training.
    others
        As of ``SubAdjacentDetector``; without ``lookahead``, for the network's windows reach ahead.

    Examples
    --------
    >>> from subadjacent import SubAdjacentHybridDetector, multivariate
    >>> plant = multivariate(n=600, channels=3)
    >>> detector = SubAdjacentHybridDetector(max_training_time="1s").fit(plant.train)
    >>> len(detector.decision_function(plant.test))
    600
    """

    def __init__(
        self,
        *,
        size: str = "small",
        epochs: int = 10,
        near: int = 5,
        far: int = 30,
        smoothing: int = 20,
        views: str | Sequence[str] = "all",
        min_deviation: float = 0.1,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
        max_training_time: str | float | None = None,
        device: str = "auto",
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            near=near,
            far=far,
            smoothing=smoothing,
            views=views,
            min_deviation=min_deviation,
            contamination=contamination,
            adapt_after=adapt_after,
            fill_limit=fill_limit,
        )
        self.size = size
        self.epochs = epochs
        self.max_training_time = max_training_time
        self.device = device
        self.random_state = random_state

    def _method(self) -> Method:
        neural = SubAdjacentMethod(
            size=self.size, epochs=self.epochs, max_training_time=self.max_training_time
        )
        return NetworkedViewsMethod(self._settings(), neural=neural)

    def _runtime(self, watch: Watch) -> Runtime:
        return Runtime(device=self.device, seed=choose_seed(self.random_state), watch=watch)

    def _restore(self, state: State, device: str) -> PerEntity[Model]:
        models = super()._restore(state, device)
        assert isinstance(models.pooled, ViewsModel)
        assert models.pooled.network is not None
        # in place: the models of all entities share it
        models.pooled.network.network.network.to(resolve_device(device))
        return models
