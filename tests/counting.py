"""Work measured by count: the same on every machine, however busy."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


def calls(function: Callable[[], Any]) -> int:
    """How many functions are called, Python's and C's: many where a loop goes over rows."""
    count = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    # what is called when garbage is collected is not the function's own work
    gc.disable()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count
