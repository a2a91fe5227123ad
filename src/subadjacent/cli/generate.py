"""`subadjacent generate`: made-up series with known anomalies."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_STREAM, put_table

if TYPE_CHECKING:
    import polars as pl


FEWEST_ROWS, CHANNELS = 200, 6


class Kind(StrEnum):
    """What to make."""

    plant = "plant"


def generate(
    kind: Annotated[  # noqa: ARG001 — there is one so far
        Kind, typer.Argument(help="A plant of many channels.")
    ],
    output: option.Table = STANDARD_STREAM,
    rows: Annotated[
        int,
        typer.Option(min=FEWEST_ROWS, help="Rows; the first half is clean, the second is not."),
    ] = 4_000,
    channels: Annotated[int, typer.Option(min=1, help="Channels.")] = CHANNELS,
    seed: Annotated[
        int, typer.Option(min=0, max=option.LARGEST_SEED, help="Same seed, same series.")
    ] = 0,
    label: Annotated[bool, typer.Option(help="Add a column of labels.")] = False,
) -> None:
    """Write a made-up series with known anomalies."""
    frame = plant_frame(rows, channels, seed)
    put_table(frame if label else frame.drop("label"), output)


def plant_frame(rows: int, channels: int, seed: int) -> pl.DataFrame:
    """A plant sampled every minute: a clean half, then one with anomalies."""
    from datetime import datetime, timedelta

    import numpy as np
    import polars as pl

    from subadjacent.data.plant import multivariate

    plant = multivariate(n=rows // 2, channels=channels, seed=seed)
    values = np.concatenate([plant.train, plant.test]).round(4)
    start = datetime(2026, 1, 1)
    names = [f"sensor_{number}" for number in range(1, channels + 1)]
    times = pl.datetime_range(
        start, start + timedelta(minutes=len(values) - 1), interval="1m", eager=True
    )
    labels = np.concatenate([np.zeros(len(plant.train), np.uint8), plant.labels])
    return pl.DataFrame(values, schema=names).select(
        times.alias("time"), pl.all(), pl.Series("label", labels)
    )
