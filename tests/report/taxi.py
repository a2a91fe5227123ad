"""Half-hourly counts of a city's taxi trips, with one night that is busier than any other."""

from __future__ import annotations

import numpy as np
import pandas as pd

DAY = 48
WEEKS = 8
# the night: from one hour to the other, on the Sunday of the last week but one
BUSY = slice((7 * (WEEKS - 1) - 1) * DAY + 1, (7 * (WEEKS - 1) - 1) * DAY + 7)


def taxi_trips(seed: int = 0) -> pd.DataFrame:
    """Trips by half hour: days and weeks are alike, but for the busy night.

    About 25,000 trips are usual at that time, and 39,000 come.
    """
    noise = np.random.default_rng(seed)
    rows = np.arange(WEEKS * 7 * DAY)
    hour, day = rows % DAY / 2, rows // DAY % 7
    working = 15_500 + 7_500 * np.sin((hour - 9.5) / 24 * 2 * np.pi) + 2_500 * np.sin(hour / 3)
    # the nights before Saturday and Sunday are the busiest of the week
    late = (day >= 5) & (hour > 0) & (hour < 4)
    trips = np.where(late, 25_000, working) + noise.normal(0, 450, len(rows))
    trips[BUSY] = 39_000 + noise.normal(0, 300, BUSY.stop - BUSY.start)
    frame = pd.DataFrame({"trips": trips.round()})
    frame.index = pd.date_range("2024-09-02", periods=len(rows), freq="30min", name="time")
    return frame
