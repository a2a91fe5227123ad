"""Losses of each epoch of a training. No torch here: a report reads them without it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Epoch:
    """The results of one pass over the training windows.

    ``train_loss`` is the mean over the steps, of the sum of all losses where the network has
    several. ``validation_error`` and ``traces`` are means over the validation windows.
    """

    number: int
    train_loss: float
    validation_error: float
    seconds: float
    complete: bool = True
    traces: Mapping[str, float] = field(default_factory=dict)

    def curves(self) -> dict[str, float]:
        """The numbers to draw epoch by epoch, by name."""
        return {
            "train_loss": self.train_loss,
            "validation_error": self.validation_error,
            **self.traces,
        }


def encode_history(history: Sequence[Epoch]) -> list[dict[str, Any]]:
    """Epochs as JSON types: numbers that are not finite, after divergence, become None."""
    return [_encode(asdict(epoch)) for epoch in history]


def decode_history(history: Sequence[dict[str, Any]]) -> list[Epoch]:
    """The inverse of ``encode_history``, with NaN for None."""
    return [Epoch(**_decode(epoch)) for epoch in history]


def _encode(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _encode(entry) for name, entry in value.items()}
    return value if math.isfinite(value) else None


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _decode(entry) for name, entry in value.items()}
    return math.nan if value is None else value
