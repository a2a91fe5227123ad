"""A benchmark dataset: its rows, and what was published about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """A dataset in memory: training rows without labels, test rows with labels.

    Parameters
    ----------
    name
        The set's name in ``SOURCES``.
    title
        Title of results: "SMD (19 of 28 machines)" where entities are missing, else "SMD".
    train, test
        One series for each entity, with the same names in the same order in both.
    origin
        File or folder of the dataset, or "generated".
    coverage
        "19 of 28 machines" where entities are missing, else empty.
    """

    name: str
    title: str
    train: tuple[TrainSeries, ...]
    test: tuple[TestSeries, ...]
    origin: str
    coverage: str = ""

    def __post_init__(self) -> None:
        if not self.train:
            raise InputError(f"{self.origin} must hold at least one series; got none")
        trained = [series.entity for series in self.train]
        tested = [series.rows.entity for series in self.test]
        if trained != tested or len(set(trained)) < len(trained):
            raise InputError(
                f"{self.origin} must have the same entities, each once, to train and to test on; "
                f"got {trained} and {tested}"
            )

    @property
    def channels(self) -> int:
        """Columns of every series."""
        return len(self.train[0].channels)


@dataclass(frozen=True, slots=True)
class Source:
    """Facts about a public dataset; sizes are those of the paper's Table 1.

    Parameters
    ----------
    name, title
        Name on the command line, and title in tables.
    about
        What was measured.
    channels, entities, train_rows, test_rows
        Sizes of the whole set.
    anomaly_rate
        Anomalous rows in percent, to two decimals.
    segments
        Runs of anomalous rows, over all entities; None where it is not known.
    licence, origin
        Terms of use, and who publishes it.
    layouts
        Known forms of its files, the best first.
    folders
        Folders under the root to look in; "" is the root itself.
    instructions
        How to get it, in a sentence or two.
    downloads
        Files that may be downloaded; none for datasets given out on request.
    fingerprints
        Of the published data, where known.
    unit
        The word for entities, in the plural.
    generate
        Generates the dataset where there is no file.
    interval
        Seconds from row to row; None where it is not published.
    """

    name: str
    title: str
    about: str
    channels: int
    entities: int
    train_rows: int
    test_rows: int
    anomaly_rate: float
    segments: int | None
    licence: str
    origin: str
    layouts: tuple[Layout, ...]
    folders: tuple[str, ...]
    instructions: str
    downloads: tuple[Download, ...] = ()
    fingerprints: tuple[str, ...] = ()
    unit: str = "entities"
    generate: Callable[..., Benchmark] | None = None
    interval: float | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """One form of a dataset's files.

    ``read`` takes the file, or the folder where there are several, and the source; that of
    NeurIPS-TS also whether to train on the contaminated series.
    """

    files: tuple[str, ...]
    read: Callable[..., Benchmark]

    def path(self, folder: Path) -> Path:
        """The path to read: the file, or the folder where there are several."""
        return folder / self.files[0] if len(self.files) == 1 else folder


@dataclass(frozen=True, slots=True)
class Download:
    """A file to fetch: ``base`` + ``file`` goes to ``target`` under the root.

    With ``unpack`` the file is an archive: files in it whose name matches are kept.
    """

    base: str
    file: str
    target: str
    sha256: str | None = None
    unpack: str | None = None


def assemble(
    source: Source,
    origin: Path | str,
    train: Sequence[NDArray[Any]],
    test: Sequence[NDArray[Any]],
    labels: Sequence[NDArray[Any]],
    *,
    entities: Sequence[str | None] = (None,),
    channels: tuple[str, ...] = (),
) -> Benchmark:
    """A benchmark of float32 rows from arrays, one for each entity; wrong shapes are refused.

    The entity of a dataset that has only one stays without a name.
    """
    names = [None] if source.entities == 1 else list(entities)
    for name, *arrays in zip(names, train, test, labels, strict=True):
        _check_entity(source, str(origin) if name is None else f"{origin}, {name}", *arrays)
    missing = len(names) < source.entities and names != [None]
    coverage = f"{len(names)} of {source.entities} {source.unit}" if missing else ""
    return Benchmark(
        source.name,
        f"{source.title} ({coverage})" if coverage else source.title,
        tuple(
            TrainSeries(_rows(values), channels, name)
            for name, values in zip(names, train, strict=True)
        ),
        tuple(
            TestSeries(TrainSeries(_rows(values), channels, name), known.astype(np.uint8))
            for name, values, known in zip(names, test, labels, strict=True)
        ),
        str(origin),
        coverage,
    )


def _check_entity(
    source: Source,
    where: str,
    train: NDArray[Any],
    test: NDArray[Any],
    labels: NDArray[Any],
) -> None:
    """Refuse arrays of one entity that have another shape, or labels other than 0 and 1."""
    for split, values in (("train", train), ("test", test)):
        if values.ndim != 2 or values.shape[1] != source.channels:
            raise InputError(
                f"{where}: {split} must have {source.channels} columns, those of "
                f"{source.title}; got shape {values.shape}: get the file again"
            )
    if labels.shape != (len(test),):
        raise InputError(
            f"{where}: labels must be as many as test rows, {len(test)}; "
            f"got {labels.shape}: get the file again"
        )
    # refuses NaN too
    if not np.isin(labels, (0, 1)).all():
        raise InputError(f"{where}: labels must be 0 or 1; got {np.unique(labels)[:5]}")


def _rows(values: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
