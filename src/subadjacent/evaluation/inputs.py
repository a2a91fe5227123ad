"""Checks the input of every measure: one score, label or alarm flag per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.decision.extremes import check_scores
from subadjacent.errors import InputError


def check_flags(name: str, flags: ArrayLike) -> NDArray[np.bool_]:
    """Zeros and ones, of any type, as a new boolean array; anything else is refused."""
    try:
        values = np.asarray(flags, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be 0 or 1, one a row; {error}") from error
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} must be 1-d, at least one; got shape {values.shape}")
    allowed = (values == 0) | (values == 1)
    if not allowed.all():
        row = int(allowed.argmin())
        raise InputError(f"{name} must be 0 or 1; got {values[row]:g} in row {row}")
    return values.astype(bool)


def check_predicted(
    predicted: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Alarmed rows and labels, both boolean and of one length."""
    alarmed, anomalous = check_flags("predicted", predicted), check_flags("labels", labels)
    _same_length("predicted", alarmed, anomalous)
    return alarmed, anomalous


def check_scored(
    scores: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Finite scores and boolean labels, of one length. The scores may be the caller's own array."""
    values, anomalous = check_scores(scores), check_flags("labels", labels)
    _same_length("scores", values, anomalous)
    return values, anomalous


def _same_length(name: str, values: NDArray[Any], labels: NDArray[np.bool_]) -> None:
    if len(values) != len(labels):
        raise InputError(
            f"{name} and labels must have one value for each row; "
            f"got {len(values)} {name} and {len(labels)} labels"
        )
