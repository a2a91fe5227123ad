"""MAD-GAN as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.mad_gan import MADGAN


@dataclass(kw_only=True, eq=False, repr=False)
class MADGANDetector(RivalDetector):
    """Finds rows that cannot be generated, or that a discriminator takes for generated.

    Li et al. (ICANN 2019); see ``networks/mad_gan.py`` for what is faithful.

    Parameters
    ----------
    residual : float
        Weight in the score of what the nearest generated window leaves, 0 to 1; the
        discriminator has the rest.
    others
        As of every ``NetworkDetector``. A window has 30 points, unless it is given.
    """

    rival = MADGAN

    residual: float = 0.5
