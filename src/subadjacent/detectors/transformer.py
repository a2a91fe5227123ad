"""The Sub-Adjacent Transformer as a detector: the paper."""

from __future__ import annotations

import os
from typing import Any

from subadjacent.core.band import Band
from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.networks.subadjacent import SubAdjacentTransformer


class SubAdjacentTransformerDetector(NetworkDetector):
    """Finds rows that a Transformer reconstructs badly and that contribute little to others.

    A Transformer learns to reconstruct windows of normal rows while its attention is drawn to
    *sub-adjacent* points, near but not next to each point. Anomalies are reconstructed badly and
    contribute little to the points in their band; both raise their score (Eq. 6), which is then
    compared with the scores before it (Eq. 7). The defaults are the paper's.

    Parameters
    ----------
    window : int or "auto"
        Points in a window. "auto": 100, or a quarter of the rows when there are under 400.
    near, far : int or "auto"
        The band: points at a distance of ``near`` to ``far`` are sub-adjacent. "auto": a
        fifth and three tenths of the window (20 and 30 of 100).
    size : {"tiny", "small", "paper"}
        The network's dimensions.
    attention : str
        "softmax" (the paper's), "softmax-column", "power", "relu", "elu" or "vanilla".
    attention_weight : float
        λ of Eq. 5: how strongly attention is drawn into the band.
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
    temperature : float
        T of Eq. 6: how sharply a low contribution raises a score. 0 leaves the plain error.
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
    network_ : SubAdjacentTransformer
    window_ : what ``window`` came to
    history_ : sequence of Epoch
    usual_error_ : ndarray
        Each channel's mean squared error on held-out rows, in standardised units.
    band_ : what ``near`` and ``far`` came to

    Examples
    --------
    >>> import numpy as np
    >>> from subadjacent import SubAdjacentTransformerDetector
    >>> time = np.arange(2000)
    >>> normal = np.column_stack([np.sin(time / 8), np.cos(time / 8)])
    >>> broken = normal[:500].copy()
    >>> broken[300:310, 1] = 1.0
    >>> detector = SubAdjacentTransformerDetector(size="tiny", stride=4, epochs=2, temperature=0)
    >>> detector = detector.fit(normal)
    >>> worst = max(detector.alarms(broken), key=lambda alarm: alarm.severity)
    >>> worst.causes[0].channel
    'channel_1'
    """

    def __init__(
        self,
        *,
        window: int | Auto = "auto",
        near: int | Auto = "auto",
        far: int | Auto = "auto",
        size: str = "paper",
        attention: str = "softmax",
        attention_weight: float = 10.0,
        epochs: int = 10,
        patience: int = 3,
        batch_size: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        decay: float = 1.0,
        stride: int | Auto = 1,
        validation_fraction: float = 0.2,
        budget: str | float | None = None,
        temperature: float = 50.0,
        block: int | None = None,
        scoring_stride: int | None = None,
        smoothing: int = 1,
        dynamic: str = "trailing",
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
        assert isinstance(network, SubAdjacentTransformer)
        return network.config.band

    def _method(self) -> SubAdjacentMethod:
        return SubAdjacentMethod(
            window=self.window,
            near=self.near,
            far=self.far,
            size=self.size,
            attention=self.attention,
            attention_weight=self.attention_weight,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            decay=self.decay,
            stride=self.stride,
            validation_fraction=self.validation_fraction,
            budget=self.budget,
            temperature=self.temperature,
            block=self.block,
            scoring_stride=self.scoring_stride,
            smoothing=self.smoothing,
            dynamic=self.dynamic,
            memory=self.memory,
            clip=self.clip,
            checkpoint=self.checkpoint,
        )
