"""The network's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from subadjacent.core.band import Band
from subadjacent.core.mapping import MAPPINGS
from subadjacent.errors import InputError, require_whole

VANILLA = "vanilla"
ATTENTIONS = (*MAPPINGS, VANILLA)

# name → the arguments of ModelConfig it stands for
SIZES: dict[str, dict[str, Any]] = {
    "tiny": {"width": 32, "heads": 2, "layers": 1, "feedforward": 32},
    "small": {"width": 64, "heads": 2, "layers": 2, "feedforward": 64},
    "paper": {"width": 512, "heads": 8, "layers": 3, "feedforward": 512},
}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Everything that decides the network's shape.

    Parameters
    ----------
    channels
        Columns of the data.
    width, heads, layers, feedforward
        The Transformer's dimensions; the defaults are the paper's.
    attention
        One of the mappings of linear attention, or ``"vanilla"``.
    band
        Which points count as sub-adjacent.
    """

    channels: int
    width: int = 512
    heads: int = 8
    layers: int = 3
    feedforward: int = 512
    attention: str = "softmax"
    band: Band = field(default_factory=Band)

    def __post_init__(self) -> None:
        for name in ("channels", "width", "heads", "layers", "feedforward"):
            require_whole(name, getattr(self, name), least=1)
        if self.width % self.heads or self.width % 2:
            raise InputError(
                f"width must be even and a multiple of heads; "
                f"got width={self.width}, heads={self.heads}"
            )
        if not isinstance(self.attention, str) or self.attention not in ATTENTIONS:
            raise InputError(
                f"attention must be one of {', '.join(ATTENTIONS)}; got {self.attention!r}"
            )

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> ModelConfig:
        """The inverse of ``dataclasses.asdict``."""
        return cls(**saved | {"band": Band(**saved["band"])})

    @classmethod
    def sized(cls, size: str, channels: int, **others: Any) -> ModelConfig:
        """Settings of a named size."""
        if not isinstance(size, str) or size not in SIZES:
            raise InputError(f"size must be one of {', '.join(SIZES)}; got {size!r}")
        return cls(channels=channels, **SIZES[size], **others)
