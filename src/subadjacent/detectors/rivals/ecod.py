"""Tail probabilities of each channel's value among its training values."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.tails import TailsMethod


@dataclass(kw_only=True, eq=False, repr=False)
class ECODDetector(MethodDetector):
    """Scores a row by the chances of values as extreme as its own, multiplied over channels.

    Li et al., "ECOD: unsupervised outlier detection using empirical cumulative distribution
    functions" (TKDE 2022), of single rows: minus the logarithm of the share of values at least as
    low or as high, added up over channels, for lower tails, upper tails, and the longer tail of
    each; the largest of the three counts. The terms of that sum are the channels' parts in an
    alarm. Ours is that shares are among training rows and the row itself, 10,000 of a long
    series. Beyond all that was seen, farther is no worse.

    Parameters
    ----------
    references : int
        Training rows to keep at most, an entity.
    others
        As of every ``MethodDetector``.
    """

    method = TailsMethod

    references: int = 10_000
