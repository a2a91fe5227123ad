"""Who is sub-adjacent to whom: the points near a target, but not next to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from subadjacent.errors import InputError, require_whole

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Band:
    """Points at distance ``near`` to ``far`` from a target, both ends included.

    The paper's K1 and K2. Distance goes around the ring of the window's points (Eq. 3), so
    that every point has equally many sub-adjacent ones; ``circular=False`` measures it along
    the line instead (Eq. 1), which leaves fewer to the points at the window's ends.
    """

    near: int = 20
    far: int = 30
    circular: bool = True

    def __post_init__(self) -> None:
        require_whole("near", self.near, least=0)
        require_whole("far", self.far, least=0)
        if not isinstance(self.circular, bool):
            raise InputError(f"circular must be true or false; got {self.circular!r}")
        if self.near > self.far:
            raise InputError(f"band needs near <= far; got near={self.near}, far={self.far}")

    def check(self, n: int) -> None:
        """Refuse a window of ``n`` points in which no point has a sub-adjacent one."""
        longest = n // 2 if self.circular else n - 1
        if self.near > longest:
            raise InputError(
                f"band must hold a point: in a window of {n} the largest distance is {longest}; "
                f"got near={self.near}, far={self.far}"
            )

    def mask(self, n: int, device: torch.device | None = None) -> Tensor:
        """Whether point ``j`` (row) is sub-adjacent to point ``i`` (column), shape (n, n)."""
        # here, for a band is also used where torch is not installed
        import torch

        points = torch.arange(n, device=device)
        distance = (points[:, None] - points).abs()
        if self.circular:
            distance = torch.minimum(distance, n - distance)
        return (distance >= self.near) & (distance <= self.far)
