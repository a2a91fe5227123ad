"""The base of the detectors around networks of other papers: everything but the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.rivals import RivalMethod
from subadjacent.networks.rival import Rival


@dataclass(kw_only=True, eq=False, repr=False)
class RivalDetector(NetworkDetector):
    """A detector around a network of another paper.

    A subclass names the network, and adds the network's own settings to the parameters of every
    ``NetworkDetector``.
    """

    rival: ClassVar[type[Rival]]

    def _method(self) -> RivalMethod:
        settings = self._taken_by(self.rival.configured_by)
        # it depends on the data as well
        del settings["window"]
        return RivalMethod(rival=self.rival, settings=settings, **self._taken_by(RivalMethod))
