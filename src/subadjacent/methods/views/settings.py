"""Settings of the default's views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from subadjacent.errors import InputError, require_whole
from subadjacent.ridge.neighbours import Neighbours

FULL = "full"


class Lookahead(NamedTuple):
    """Rows after a row that each step may look at; None for as many as before it.

    The steps follow each other, so that the whole looks as far ahead as all of them together.
    """

    neighbours: int | None
    residuals: int | None
    score: int | None


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """How rows are expected from their neighbours, and how scores are averaged.

    Parameters
    ----------
    near, far
        Neighbours stand at a distance of ``near`` to ``far`` rows.
    smoothing
        Rows that the score is averaged over.
    lookahead
        Rows after a row that its score may depend on; ``"full"`` for as many as before it.
    """

    near: int = 5
    far: int = 30
    smoothing: int = 20
    lookahead: int | str = FULL

    def __post_init__(self) -> None:
        # nearer than 1 is the point itself, which would explain itself
        require_whole("near", self.near, least=1)
        require_whole("far", self.far, least=1)
        require_whole("smoothing", self.smoothing, least=1)
        if self.near > self.far:
            raise InputError(f"band needs near <= far; got near={self.near}, far={self.far}")
        if isinstance(self.lookahead, str):
            if self.lookahead != FULL:
                raise InputError(
                    f"lookahead must be 'full' or a whole number of at least 0; "
                    f"got {self.lookahead!r}"
                )
        else:
            require_whole("lookahead", self.lookahead, least=0)

    @property
    def ahead(self) -> Lookahead:
        """How the rows that a score may look ahead are shared out: a third to each step.

        Where that is less than the nearest neighbour is away, averages get a half each.
        """
        if isinstance(self.lookahead, str):
            return Lookahead(None, None, None)
        third, half = self.lookahead // 3, self.lookahead // 2
        neighbours = self.lookahead - 2 * third
        if neighbours < self.near:
            return Lookahead(0, half, self.lookahead - half)
        return Lookahead(neighbours, third, third)

    def neighbours(self, near: int, far: int, step: int = 1) -> Neighbours:
        """Neighbours from ``near`` to ``far`` rows away, as far ahead as is allowed."""
        allowed = self.ahead.neighbours
        ahead = far if allowed is None else min(far, allowed)
        return Neighbours(near, far, ahead if ahead >= near else 0, step)
