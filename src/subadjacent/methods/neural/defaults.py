"""The values of a network's training parameters that are left at "auto"."""

from __future__ import annotations

from typing import Any, Literal

from subadjacent.core.band import Band
from subadjacent.errors import InputError, require_number, require_whole

Auto = Literal["auto"]

DEFAULT_WINDOW, MIN_WINDOW = 100, 4
# points in a window at most, and where attention forms a matrix of all pairs of them: 100 MB of it
# for each head. A window is padded to this length before it is scored, however short the data
MAX_POINTS, MAX_POINTS_OF_PAIRS = 100_000, 5_000
# windows in an epoch to aim at: enough to learn from, few enough for a laptop
WINDOWS_AN_EPOCH = 4_000
# windows validated on after every epoch, at most
VALIDATION_WINDOWS = 1_000
# steps in an epoch to aim at, with batches of these sizes
STEPS_AN_EPOCH = 32
MIN_BATCH, MAX_BATCH = 8, 128
# and fewer long windows: the memory of a step is proportional to the points
POINTS_A_BATCH = 12_800
# learning rate of each size of Transformer; the paper's for the paper's
LEARNING_RATES = {"tiny": 1e-3, "small": 1e-3, "paper": 1e-4}


def require_auto_or_whole(name: str, value: Any, least: int) -> None:
    """Refuse anything but "auto" or a whole number of at least ``least``."""
    if not _is_auto(value):
        require_whole(name, value, least)


def require_auto_or_number(name: str, value: Any) -> None:
    """Refuse anything but "auto" or a positive number."""
    if isinstance(value, str) and not _is_auto(value):
        raise InputError(f"{name} must be a number or 'auto'; got {value!r}")
    if not _is_auto(value):
        require_number(name, value, above=0)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def choose_window(window: int | Auto, rows: int, usual: int = DEFAULT_WINDOW) -> int:
    """The window length: the paper's 100 rows, or a quarter of the rows if they are few."""
    fitting = min(max(rows // 4, MIN_WINDOW), usual)
    return fitting if isinstance(window, str) else int(window)


def choose_band(near: int | Auto, far: int | Auto, window: int) -> Band:
    """A fifth to three tenths of the window, as the paper's 20 to 30 are of 100."""
    nearest = max(window // 5, 1) if isinstance(near, str) else int(near)
    farthest = max(3 * window // 10, nearest) if isinstance(far, str) else int(far)
    band = Band(nearest, farthest)
    band.check(window)
    return band


def choose_stride(stride: int | Auto, rows: int, window: int) -> int:
    """Rows between training windows, so that an epoch has about ``WINDOWS_AN_EPOCH`` of them."""
    sparse = min(max(rows // WINDOWS_AN_EPOCH, 1), window)
    return sparse if isinstance(stride, str) else int(stride)


def choose_validation_stride(rows: int, window: int) -> int:
    """Half a window, or more where there are many rows."""
    return max(window // 2, rows // VALIDATION_WINDOWS, 1)


def choose_batch_size(batch_size: int | Auto, windows: int, window: int) -> int:
    """Batches small enough that few windows still make some steps, and that long ones fit."""
    fitting = min(max(windows // STEPS_AN_EPOCH, MIN_BATCH), MAX_BATCH)
    fitting = min(fitting, max(POINTS_A_BATCH // window, 1))
    return fitting if isinstance(batch_size, str) else batch_size
