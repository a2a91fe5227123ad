"""The strict form of the Sub-Adjacent Transformer as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.core.band import Band
from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.transformers import StrictMethod
from subadjacent.networks.strict import StrictTransformer


@dataclass(kw_only=True, eq=False, repr=False)
class StrictTransformerDetector(NetworkDetector):
    """Finds rows that cannot be reconstructed from their sub-adjacent points alone.

    The Sub-Adjacent Transformer is drawn to its band and may still copy the point itself. Here it
    cannot: a point is reconstructed from the points at distance ``near`` to ``far`` and from no
    others, so that an anomaly has no part in what is expected of it.

    Parameters
    ----------
    near, far : int or "auto"
        The band: a point is reconstructed from points at a distance of ``near`` to ``far``,
        ``near`` at least 1. "auto": a fifth and three tenths of the window (20 and 30 of 100).
    dynamic : {"none", "trailing", "released", "printed"}
        Form of the dynamic Gaussian score, Eq. 7 of the paper.
    memory : int
        Scores that the trailing form compares with.
    others
        As of every ``NetworkDetector``. A window has 100 points, unless it is given, and the
        network is "small".

    Attributes
    ----------
    band_ : Band
        The band, as chosen by ``near`` and ``far``.
    others
        As of every ``NetworkDetector``.
    """

    method = StrictMethod

    near: int | Auto = "auto"
    far: int | Auto = "auto"
    size: str = "small"
    dynamic: str = "none"
    memory: int = 1000

    @property
    def band_(self) -> Band:
        """The band, as chosen by ``near`` and ``far``."""
        network = self.network_
        assert isinstance(network, StrictTransformer)
        return network.config.band
