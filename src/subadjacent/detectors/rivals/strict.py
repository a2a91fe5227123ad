"""The strict form of the Sub-Adjacent Transformer as a detector."""

from __future__ import annotations

import os
from typing import Any

from subadjacent.core.band import Band
from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.transformers import StrictMethod
from subadjacent.networks.strict import StrictTransformer


class StrictTransformerDetector(NetworkDetector):
    """Finds rows that cannot be reconstructed from their sub-adjacent points alone.

    The Sub-Adjacent Transformer is drawn to its band and may still copy the point itself. Here it
    cannot: a point is reconstructed from the points at distance ``near`` to ``far`` and from no
    others, so that an anomaly has no part in what is expected of it.

    Parameters
    ----------
    window : int or "auto"
        Points in a window. "auto": 100, or a quarter of the rows when there are under 400.
    near, far : int or "auto"
        The band: a point is reconstructed from points at a distance of ``near`` to ``far``,
        ``near`` at least 1. "auto": a fifth and three tenths of the window (20 and 30 of 100).
    size : {"tiny", "small", "paper"}
        The network's dimensions.
    epochs, patience : int
        Train at most ``epochs`` passes; stop after ``patience`` without improvement on the
        held-out end of the training rows. With 0 epochs the network keeps its initial weights:
        a control that tells what training adds.
    batch_size, learning_rate : number or "auto"
        "auto" follows the number of windows, and the size.
    decay : float
        Factor on the learning rate after every epoch.
    stride : int or "auto"
        Rows from one training window to the next. "auto" aims at 4,000 windows an epoch.
    validation_fraction : float
        Share of the training rows, at the end, held out for stopping and calibration.
    budget : str or float, optional
        Longest time to train ("2m", "1h30m" or seconds); the best weights so far are kept.
    scoring_stride : int, optional
        Rows from one scored window to the next; the window when left out. A smaller one
        averages overlapping windows: slower and steadier.
    smoothing : int
        Average each score with those before it, so many in all.
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7 of the paper.
    memory : int
        Scores that the trailing form compares with.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels. "auto": so that at most about a third of the
        alarms is false, as far as normal rows tell. A float: the share of normal rows above it.
        "1/week": a budget of false alarms. "dynamic": where the scores of a stretch stand out
        most. Or any object with ``fit(scores)`` and ``predict(scores)``.
    adapt_after : int or None
        Rows after which what has moved for good is the new normal: one alarm, not one for ever.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
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
    network_ : StrictTransformer
    window_ : what ``window`` came to
    history_ : sequence of Epoch
    usual_error_ : ndarray
        Each channel's mean squared error on held-out rows, in standardised units.
    band_ : what ``near`` and ``far`` came to
    """

    def __init__(
        self,
        *,
        window: int | Auto = "auto",
        near: int | Auto = "auto",
        far: int | Auto = "auto",
        size: str = "small",
        epochs: int = 10,
        patience: int = 3,
        batch_size: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        decay: float = 1.0,
        stride: int | Auto = "auto",
        validation_fraction: float = 0.2,
        budget: str | float | None = None,
        scoring_stride: int | None = None,
        smoothing: int = 1,
        dynamic: str = "none",
        memory: int = 1000,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
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
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.decay = decay
        self.stride = stride
        self.validation_fraction = validation_fraction
        self.budget = budget
        self.scoring_stride = scoring_stride
        self.smoothing = smoothing
        self.dynamic = dynamic
        self.memory = memory
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit
        self.checkpoint = checkpoint
        self.precision = precision
        self.device = device
        self.random_state = random_state

    @property
    def band_(self) -> Band:
        """What ``near`` and ``far`` came to."""
        network = self.network_
        assert isinstance(network, StrictTransformer)
        return network.config.band

    def _method(self) -> StrictMethod:
        return StrictMethod(
            window=self.window,
            near=self.near,
            far=self.far,
            size=self.size,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            decay=self.decay,
            stride=self.stride,
            validation_fraction=self.validation_fraction,
            budget=self.budget,
            scoring_stride=self.scoring_stride,
            smoothing=self.smoothing,
            dynamic=self.dynamic,
            memory=self.memory,
            clip=self.clip,
            checkpoint=self.checkpoint,
        )
