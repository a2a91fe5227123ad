"""The Anomaly Transformer as a detector: the method that the sub-adjacent one set out from."""

from __future__ import annotations

import os
from typing import Any

from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.transformers import AnomalyTransformerMethod


class AnomalyTransformerDetector(NetworkDetector):
    """Finds rows that reconstruct badly and whose attention stays among their neighbours.

    The baseline of Xu et al. (ICLR 2022). A Transformer learns to reconstruct windows while
    each point's attention (series association) is driven away from a Gaussian around the point
    (prior association). Anomalies cannot follow: their association discrepancy stays small, and
    a small discrepancy raises the score.

    Parameters
    ----------
    window : int or "auto"
        Points in a window. "auto": 100, or a quarter of the rows when there are under 400.
    size : {"tiny", "small", "paper"}
        The network's dimensions.
    attention : {"vanilla", "linear"}
        Where the series association comes from: softmax attention, as published, or linear
        attention with the learned softmax mapping of the Sub-Adjacent Transformer.
    attention_weight : float
        k: how much the discrepancy weighs against the error.
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
        How sharply a low discrepancy raises a score, by a softmax over the window. 0 leaves
        the plain error.
    block : int, optional
        Rows that share that softmax; the window when left out.
    scoring_stride : int, optional
        Rows from one scored window to the next; the window when left out. A smaller one
        averages overlapping windows: slower and steadier.
    smoothing : int
        Average each score with those before it, so many in all.
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7 of the sub-adjacent paper.
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
    network_ : AnomalyTransformer
    window_ : what ``window`` came to
    history_ : sequence of Epoch
        The ``contribution`` among its traces is the mean discrepancy.
    usual_error_ : ndarray
        Each channel's mean squared error on held-out rows, in standardised units.
    """

    def __init__(
        self,
        *,
        window: int | Auto = "auto",
        size: str = "small",
        attention: str = "vanilla",
        attention_weight: float = 3.0,
        epochs: int = 10,
        patience: int = 3,
        batch_size: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        decay: float = 1.0,
        stride: int | Auto = "auto",
        validation_fraction: float = 0.2,
        budget: str | float | None = None,
        temperature: float = 50.0,
        block: int | None = None,
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

    def _method(self) -> AnomalyTransformerMethod:
        return AnomalyTransformerMethod(
            window=self.window,
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
