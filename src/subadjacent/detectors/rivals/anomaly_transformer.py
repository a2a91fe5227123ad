"""The Anomaly Transformer as a detector: the method that the sub-adjacent one set out from."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.transformers import AnomalyTransformerMethod


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalyTransformerDetector(NetworkDetector):
    """Finds rows that reconstruct badly and whose attention stays among their neighbours.

    The baseline of Xu et al. (ICLR 2022). A Transformer learns to reconstruct windows while
    each point's attention (series association) is driven away from a Gaussian around the point
    (prior association). Anomalies cannot follow: their association discrepancy stays small, and
    a small discrepancy raises the score.

    Parameters
    ----------
    attention : {"vanilla", "linear"}
        Where the series association comes from: softmax attention, as published, or linear
        attention with the learned softmax mapping of the Sub-Adjacent Transformer.
    attention_weight : float
        k: how much the discrepancy weighs against the error.
    temperature : float
        How sharply a low discrepancy raises a score, by a softmax over the window. 0 leaves
        the plain error.
    block : int, optional
        Rows that share that softmax; the window when left out.
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7 of the sub-adjacent paper.
    memory : int
        Scores that the trailing form compares with.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given, and the
        network is "small".

    Attributes
    ----------
    history_ : sequence of Epoch
        The ``contribution`` among its traces is the mean discrepancy.
    others
        As of every ``NetworkDetector``.
    """

    method = AnomalyTransformerMethod

    size: str = "small"
    attention: str = "vanilla"
    attention_weight: float = 3.0
    temperature: float = 50.0
    block: int | None = None
    dynamic: str = "none"
    memory: int = 1000
