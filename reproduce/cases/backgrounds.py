"""Series to plant departures into: weather, traffic of services, heartbeats, and generated ones.

Real ones come from the packages vega_datasets and statsmodels, and from files of the benchmark
data; another part of each is taken for each seed.

Shapes: T rows (training and test rows together), C channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduce.cases.natures import normal_plant
from reproduce.cases.stream_parts import counts, daily, day, slow, wander, weekend
from subadjacent.data.plant import Floats
from subadjacent.errors import DataNotFound

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MAX_DECIMALS = 6
START = datetime(2026, 3, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """A series without planted departures.

    Parameters
    ----------
    values
        (T, C), rounded as its owner would.
    fitted
        Training rows: the first ones.
    names, decimals, cycles
        Of each channel: its name, decimals, and rows of its cycle (0 without one).
    interval
        Seconds from row to row.
    start
        The time of the first row.
    """

    values: Floats
    fitted: int
    names: tuple[str, ...]
    decimals: tuple[int, ...]
    cycles: tuple[int, ...]
    interval: float
    start: datetime = START


Drawn = Callable[[np.random.Generator, Path], Background]


def _part(rng: np.random.Generator, values: Floats, fitted: int, tested: int) -> Floats:
    """Rows of a longer series."""
    spare = max(len(values) - fitted - tested, 0)
    begin = int(rng.integers(0, spare, endpoint=True))
    return values[begin : begin + fitted + tested]


def temperatures(rng: np.random.Generator, _data: Path) -> Background:
    """Hourly temperatures of San Francisco and Seattle, in Fahrenheit."""
    vega = _vega()
    both = np.column_stack([vega.sf_temps()["temp"], vega.seattle_temps()["temp"]])
    values = _part(rng, both, 1_800, 700)
    names = ("San Francisco", "Seattle")
    return Background(values, 1_800, names, (1, 1), (24, 24), HOUR)


def weather(_rng: np.random.Generator, _data: Path) -> Background:
    """Four years of Seattle's daily weather."""
    table = _vega().seattle_weather()
    names = ("precipitation", "temp_max", "temp_min", "wind")
    values = table[list(names)].to_numpy(float)
    return Background(values, 1_000, names, (1,) * 4, (0, 365, 365, 0), DAY, datetime(2012, 1, 1))


def carbon_dioxide(_rng: np.random.Generator, _data: Path) -> Background:
    """Weekly carbon dioxide over Mauna Loa, with its gaps filled: it grows from year to year."""
    values = _statsmodels().co2.load_pandas().data["co2"].interpolate().to_numpy(float)
    start = datetime(1958, 3, 29)
    return Background(values[:, None].round(1), 1_500, ("co2",), (1,), (52,), 7 * DAY, start)


def sunspots(_rng: np.random.Generator, _data: Path) -> Background:
    """Yearly sunspots since 1700; a cycle is about eleven years. The clock counts days here."""
    values = _statsmodels().sunspots.load_pandas().data["SUNACTIVITY"].to_numpy(float)
    return Background(values[:, None], 190, ("sunspots",), (1,), (0,), DAY)


def el_nino(_rng: np.random.Generator, _data: Path) -> Background:
    """Monthly temperatures of the Pacific; the clock counts days here."""
    table = _statsmodels().elnino.load_pandas().data.drop(columns="YEAR")
    values = table.to_numpy(float).reshape(-1, 1)
    return Background(values, 480, ("sea",), (2,), (12,), DAY)


def web(rng: np.random.Generator, data: Path) -> Background:
    """A service's counts and response times, a row a minute."""
    values = _part(rng, _entity(rng, data / "web.npz"), 6_000, 1_500)
    return Background(values, 6_000, ("kpi",), (_decimals(values),), (int(DAY / MINUTE),), MINUTE)


def recordings(rng: np.random.Generator, data: Path) -> Background:
    """Heartbeats, breathing and the like; the clock counts seconds here."""
    values = _part(rng, _entity(rng, data / "recordings.npz"), 3_500, 1_200)
    return Background(values, 3_500, ("signal",), (_decimals(values),), (0,), 1.0)


def taxi(rng: np.random.Generator, _data: Path) -> Background:
    """Trips every half hour, by day and week."""
    rows = 48 * 63
    days = day(rows, 30)
    weekday, free = daily(rng, days), daily(rng, days - 0.12, sharp=0.8)
    mean = 2_000 + 20_000 * np.where(weekend(days), 0.9 * free, weekday)
    mean *= slow(rng, rows, 0.95, 1.05) * (1 + 0.04 * wander(rng, rows, 20))
    values = counts(rng, mean, 0.0008)[:, None]
    return Background(values, 48 * 42, ("trips",), (0,), (336,), 30 * MINUTE)


def processor(rng: np.random.Generator, _data: Path) -> Background:
    """Load and memory in percent, requests per second, a row every five minutes."""
    rows = 288 * 14
    days = day(rows, 5)
    load = daily(rng, days) * np.where(weekend(days), 0.85, 1.0)
    noise = wander(rng, rows, 6)
    requests = 20 + 180 * load * (1 + 0.05 * noise)
    cpu = np.clip(8 + 0.2 * requests + rng.normal(0, 1.2, rows), 0, 100)
    memory = np.clip(52 + 3 * wander(rng, rows, 60), 0, 100)
    values = np.column_stack([cpu.round(1), memory.round(1), rng.poisson(requests)])
    names = ("cpu_percent", "memory_percent", "requests")
    return Background(values.astype(float), 288 * 9, names, (1, 1, 0), (288, 0, 288), 5 * MINUTE)


def plant(rng: np.random.Generator, _data: Path) -> Background:
    """Eight channels of mixed nature, a row a minute."""
    channels = normal_plant(rng, 3_400, 8)
    decimals = tuple(
        0 if one.nature == "counts" else max(0, 3 - int(np.floor(np.log10(one.values.std()))) - 1)
        for one in channels
    )
    columns = [one.values.round(places) for one, places in zip(channels, decimals, strict=True)]
    cycles = tuple(round(one.cycle) for one in channels)
    names = tuple(f"{one.nature} {number}" for number, one in enumerate(channels))
    return Background(np.column_stack(columns), 2_200, names, decimals, cycles, MINUTE)


def reservoir(rng: np.random.Generator, _data: Path) -> Background:
    """Level, inflow, outflow and gate of a reservoir, a row every ten minutes."""
    rows = 144 * 21
    days = day(rows, 10)
    demand = 40 + 30 * daily(rng, days) + 1.5 * wander(rng, rows, 4)
    inflow = 55 + 4 * wander(rng, rows, 50)
    balance = np.zeros(rows)
    for row in range(1, rows):
        balance[row] = 0.98 * balance[row - 1] + 0.02 * (inflow[row] - demand[row])
    gate = (balance > np.quantile(balance, 0.7)).astype(float)
    level = 6 + 0.2 * balance + rng.normal(0, 0.01, rows)
    values = np.column_stack([level.round(2), inflow.round(1), demand.round(1), gate])
    names = ("level_m", "inflow", "outflow", "gate_open")
    return Background(values, 144 * 13, names, (2, 1, 1, 0), (144, 0, 144, 0), 10 * MINUTE)


BACKGROUNDS: dict[str, Drawn] = {
    "temperatures": temperatures,
    "weather": weather,
    "carbon dioxide": carbon_dioxide,
    "sunspots": sunspots,
    "web": web,
    "recordings": recordings,
    "taxi": taxi,
    "processor": processor,
    "plant": plant,
}
KEPT_BACK_BACKGROUNDS: dict[str, Drawn] = {"el nino": el_nino, "reservoir": reservoir}
"""For a final measurement only."""


def _entity(rng: np.random.Generator, path: Path) -> Floats:
    """The training rows of an entity of a benchmark of one channel."""
    if not path.exists():
        raise DataNotFound(f"no file {path}")
    values, stops = _training_rows(path)
    number = int(rng.integers(len(stops)))
    first = int(stops[number - 1]) if number else 0
    # float32 has six or seven digits
    digits = [float(f"{value:.6g}") for value in values[first : stops[number], 0]]
    return np.asarray(digits).round(MAX_DECIMALS)[:, None]


@lru_cache(maxsize=2)
def _training_rows(path: Path) -> tuple[Floats, NDArray[np.int64]]:
    with np.load(path) as file:
        return file["train"], np.cumsum(file["train_lengths"])


def _decimals(values: Floats) -> int:
    finite = values[np.isfinite(values)]
    fits = (
        n for n in range(MAX_DECIMALS) if np.allclose(finite, finite.round(n), rtol=0, atol=1e-9)
    )
    return next(fits, MAX_DECIMALS)


def _vega() -> Any:
    try:
        from vega_datasets import local_data
    except ImportError as error:
        raise DataNotFound("the package vega_datasets is not installed") from error
    return local_data


def _statsmodels() -> Any:
    try:
        from statsmodels import datasets
    except ImportError as error:
        raise DataNotFound("the package statsmodels is not installed") from error
    return datasets
