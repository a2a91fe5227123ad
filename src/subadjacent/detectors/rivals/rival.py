"""What the detectors around networks of other papers share: everything but the network."""

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
        own = self._taken_by(self.rival.configured_by)
        # the data has a say in it
        del own["window"]
        return RivalMethod(rival=self.rival, settings=own, **self._taken_by(RivalMethod))
