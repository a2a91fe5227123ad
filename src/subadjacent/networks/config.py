"""The dimensions that the Transformers share, and the sizes that have a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from subadjacent.errors import InputError, require_whole

# name → the dimensions it stands for
SIZES: dict[str, dict[str, int]] = {
    "tiny": {"width": 32, "heads": 2, "layers": 1, "feedforward": 32},
    "small": {"width": 64, "heads": 2, "layers": 2, "feedforward": 64},
    "paper": {"width": 512, "heads": 8, "layers": 3, "feedforward": 512},
}


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """The dimensions of a Transformer; each network adds its own settings.

    Parameters
    ----------
    channels
        Columns of the data.
    width, heads, layers, feedforward
        The defaults are the paper's.
    """

    channels: int
    width: int = 512
    heads: int = 8
    layers: int = 3
    feedforward: int = 512

    def __post_init__(self) -> None:
        for name in ("channels", "width", "heads", "layers", "feedforward"):
            require_whole(name, getattr(self, name), least=1)
        if self.width % self.heads or self.width % 2:
            raise InputError(
                f"width must be even and a multiple of heads; "
                f"got width={self.width}, heads={self.heads}"
            )

    @classmethod
    def sized(cls, size: str, channels: int, **settings: Any) -> Self:
        """Settings of a named size."""
        if not isinstance(size, str) or size not in SIZES:
            raise InputError(f"size must be one of {', '.join(SIZES)}; got {size!r}")
        return cls(channels=channels, **SIZES[size], **settings)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """The inverse of ``dataclasses.asdict``."""
        return cls(**saved)


def require_attention(attention: str, known: tuple[str, ...]) -> None:
    """Refuse an attention that is not known."""
    if not isinstance(attention, str) or attention not in known:
        raise InputError(f"attention must be one of {', '.join(known)}; got {attention!r}")
