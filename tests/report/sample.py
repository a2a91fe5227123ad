"""Rows with names and times, as somebody would hand them in."""

from __future__ import annotations

import pandas as pd

CHANNELS = ["flow", "pressure", "heat", "<b>&valve"]


def dated(values: object, start: str = "2026-01-01") -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=CHANNELS)
    frame.index = pd.date_range(start, periods=len(frame), freq="5min")
    return frame
