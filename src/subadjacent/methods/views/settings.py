"""Settings of the default's views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from subadjacent.decision.view_facts import VIEWS
from subadjacent.errors import FARTHEST, InputError, require_number, require_whole
from subadjacent.ridge.neighbours import Neighbours

FULL = "full"

# What each view asks of a value:
#   level         how far out it is
#   rhythm        can it be forecast from its sub-adjacent neighbours?
#   local rhythm  from how they depart from their own mean, so that a level may move?
#   slow rhythm   from neighbours further away?
#   state         was there ever a row like this one, all channels together?
#   shape         was there ever a window like this one, in this channel?
LEVEL, RHYTHM, LOCAL, SLOW = "level", "rhythm", "local rhythm", "slow rhythm"
STATE, SHAPE = "state", "shape"
ALL = "all"
# the floor of a channel's own squared residuals, as a share of the floor of residuals given other
# channels: noise sets the scale of a channel by itself, and there is always some. A share of 1
# costs 1.7 points on SMAP, a quarter 0.6 (reproduce/log.md, "Robust learning")
OWN_SHARE = 0.1


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
    views
        Names of the views that take part, or ``"all"``.
    min_deviation
        Share of a channel's usual deviation: a smaller departure from what the other channels say
        does not matter, however exactly they said it in training.
    """

    near: int = 5
    far: int = 30
    smoothing: int = 20
    lookahead: int | str = FULL
    views: str | Sequence[str] = ALL
    min_deviation: float = 0.1

    def __post_init__(self) -> None:
        # nearer than 1 is the point itself, which would explain itself
        require_whole("near", self.near, least=1, most=FARTHEST)
        require_whole("far", self.far, least=1, most=FARTHEST)
        require_whole("smoothing", self.smoothing, least=1, most=FARTHEST)
        if self.near > self.far:
            raise InputError(f"band needs near <= far; got near={self.near}, far={self.far}")
        if isinstance(self.lookahead, str):
            if self.lookahead != FULL:
                raise InputError(
                    f"lookahead must be 'full' or a whole number of at least 0; "
                    f"got {self.lookahead!r}"
                )
        else:
            require_whole("lookahead", self.lookahead, least=0, most=FARTHEST)
        _check_views(self.views)
        # at 0 a relation that was exact would make any departure from it an infinite surprise
        require_number("min_deviation", self.min_deviation, above=0)

    @property
    def related_floor(self) -> float:
        """The square of a residual given the other channels that does not matter."""
        return self.min_deviation**2

    @property
    def own_floor(self) -> float:
        """The square of a residual of a channel by itself that does not matter."""
        return OWN_SHARE * self.related_floor

    @property
    def names(self) -> tuple[str, ...]:
        """The views that take part, in their order."""
        return VIEWS if isinstance(self.views, str) else tuple(v for v in VIEWS if v in self.views)

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

    @property
    def window_ahead(self) -> int | None:
        """Rows after a row that a window may take in, before scores are averaged."""
        neighbours, residuals, _ = self.ahead
        return None if neighbours is None or residuals is None else neighbours + residuals

    def neighbours(self, near: int, far: int, step: int = 1) -> Neighbours:
        """Neighbours from ``near`` to ``far`` rows away, as far ahead as is allowed."""
        allowed = self.ahead.neighbours
        ahead = far if allowed is None else min(far, allowed)
        return Neighbours(near, far, ahead if ahead >= near else 0, step)


def _check_views(views: str | Sequence[str]) -> None:
    known = ", ".join(VIEWS)
    if isinstance(views, str) or not isinstance(views, Sequence):
        if views != ALL:
            raise InputError(
                f"views must be 'all' or a sequence of names among {known}; got {views!r}"
            )
        return
    unknown = [name for name in views if name not in VIEWS]
    if unknown or not len(views):
        raise InputError(
            f"views must be 'all' or at least one name among {known}; "
            f"got {unknown[0] if unknown else list(views)!r}"
        )
