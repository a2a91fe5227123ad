"""The directions in which rows vary most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

# standardised values beyond this are cut where they are learned from or used as features
CLIP = 10.0
# rows handled at a time
CHUNK = 16_384
# directions that are kept at most, and the least variance of one
MOST, LEAST_VARIANCE = 12, 1e-6


def cut(rows: NDArray[Any]) -> NDArray[Any]:
    """Standardised rows without values that are far out."""
    return np.asarray(np.clip(rows, -CLIP, CLIP))


def principal_axes(parts: Sequence[Rows], most: int = MOST) -> NDArray[np.float32]:
    """The principal axes of all stretches together, (C, K), the widest first.

    At least one, also of rows that never moved.
    """
    channels = parts[0].shape[1]
    products, total, count = np.zeros((channels, channels)), np.zeros(channels), 0
    for part in parts:
        for start in range(0, len(part), CHUNK):
            rows = cut(part[start : start + CHUNK]).astype(np.float64)
            products += rows.T @ rows
            total += rows.sum(axis=0)
            count += len(rows)
    mean = total / max(count, 1)
    variances, directions = np.linalg.eigh(products / max(count, 1) - np.outer(mean, mean))
    kept = max(int((variances[-most:] > LEAST_VARIANCE).sum()), 1)
    return np.ascontiguousarray(directions[:, ::-1][:, :kept], dtype=np.float32)
