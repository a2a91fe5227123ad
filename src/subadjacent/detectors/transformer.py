"""The Sub-Adjacent Transformer as a detector: the paper."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.core.band import Band
from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.networks.subadjacent import SubAdjacentTransformer


@dataclass(kw_only=True, eq=False, repr=False)
class SubAdjacentTransformerDetector(NetworkDetector):
    """Finds rows that a Transformer reconstructs badly and that contribute little to others.

    A Transformer learns to reconstruct windows of normal rows while its attention is drawn to
    *sub-adjacent* points, near but not next to each point. Anomalies are reconstructed badly and
    contribute little to the points in their band; both raise their score (Eq. 6), which is then
    compared with the scores before it (Eq. 7). The defaults are the paper's.

    Parameters
    ----------
    near, far : int or "auto"
        The band: points at a distance of ``near`` to ``far`` are sub-adjacent. "auto": a
        fifth and three tenths of the window (20 and 30 of 100).
    attention : str
        "softmax" (the paper's), "softmax-column", "power", "relu", "elu" or "vanilla".
    attention_weight : float
        λ of Eq. 5: how strongly attention is drawn into the band.
    stride : int or "auto"
        Rows from one training window to the next: all windows, as in the paper.
    temperature : float
        T of Eq. 6: how sharply a low contribution raises a score. 0 leaves the plain error.
    block : int, optional
        Rows that share the softmax of Eq. 6; the window when left out.
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7; "released" is that of the authors' code.
    memory : int
        Scores that the trailing form compares with.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given.

    Attributes
    ----------
    band_ : Band
        The band, as chosen by ``near`` and ``far``.
    others
        As of every ``NetworkDetector``.

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

    method = SubAdjacentMethod

    near: int | Auto = "auto"
    far: int | Auto = "auto"
    attention: str = "softmax"
    attention_weight: float = 10.0
    stride: int | Auto = 1
    temperature: float = 50.0
    block: int | None = None
    dynamic: str = "trailing"
    memory: int = 1000

    @property
    def band_(self) -> Band:
        """The band, as chosen by ``near`` and ``far``."""
        network = self.network_
        assert isinstance(network, SubAdjacentTransformer)
        return network.config.band
