"""Fewer points that look the same: the lowest and the highest value of every few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError, require_whole


def step_for(rows: int, bins: int) -> int:
    """Rows a bin must hold for ``rows`` rows to fit into ``bins`` bins; at least 1."""
    require_whole("bins", bins, least=1)
    return max(1, -(-rows // bins))


def min_max(values: NDArray[Any], step: int) -> NDArray[Any]:
    """Lowest and highest value of every ``step`` rows, in the order in which they come.

    No peak is lost, whatever the step. The last bin may hold fewer rows. A step of 1 or 2
    leaves nothing out: all values come back.

    Parameters
    ----------
    values
        Finite numbers, shape (rows,).
    step
        Rows in a bin.

    Returns
    -------
    Two values a bin; with a step of 1, one.

    Examples
    --------
    >>> import numpy as np
    >>> min_max(np.array([1, 5, 2, 4, 0, 3, 7]), step=3).tolist()
    [1, 5, 4, 0, 7, 7]
    """
    require_whole("step", step, least=1)
    if values.ndim != 1:
        raise InputError(f"values must be 1-d, one a row; got shape {values.shape}")
    if step == 1:
        return values
    full = len(values) // step
    body = _extremes(values[: full * step].reshape(full, step))
    rest = values[full * step :]
    return np.concatenate([body, _extremes(rest[None])]) if len(rest) else body


def _extremes(bins: NDArray[Any]) -> NDArray[Any]:
    """The lowest and the highest of each row of ``bins``, whichever came first first."""
    if not len(bins):
        return bins.ravel()
    places = np.sort(np.stack([bins.argmin(axis=1), bins.argmax(axis=1)], axis=1), axis=1)
    return np.take_along_axis(bins, places, axis=1).ravel()
