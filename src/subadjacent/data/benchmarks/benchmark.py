"""What a benchmark set is: its rows, and the facts that were published about it."""

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
    """A set in memory: rows to fit on, without labels, and rows to judge by, with them.

    Parameters
    ----------
    name
        The set's name in ``SOURCES``.
    title
        What results are reported under: "SMD (19 of 28 machines)", never plain "SMD" then.
    train, test
        One series an entity, in the same order; entities go by the same names in both.
    origin
        The file or folder that it was read from, or "generated".
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
        learned = [one.entity for one in self.train]
        judged = [one.rows.entity for one in self.test]
        if learned != judged or len(set(learned)) < len(learned):
            raise InputError(
                f"{self.origin} must have the same entities, each once, to train and to test on; "
                f"got {learned} and {judged}"
            )

    @property
    def channels(self) -> int:
        """Columns of every series."""
        return len(self.train[0].channels)


@dataclass(frozen=True, slots=True)
class Source:
    """One row of the table of public sets; the numbers are those of the paper's Table 1.

    Parameters
    ----------
    name, title
        What people type, and what tables show.
    about
        What was measured.
    channels, entities, train_rows, test_rows
        Sizes of the whole set.
    anomaly_rate
        Anomalous rows in percent, to two decimals.
    segments
        Runs of anomalous rows, over all entities; None where nobody has counted.
    licence, origin
        Terms of use, and who publishes it.
    layouts
        Every form that its files are known in, the best first.
    folders
        Where those may lie under the root; "" is the root itself.
    instructions
        How to get it, in a sentence or two.
    downloads
        Files that may be fetched; none for sets given out on request.
    fingerprints
        Of the published data, where known.
    unit
        What entities are called.
    generate
        Makes the set where no file is there.
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


@dataclass(frozen=True, slots=True)
class Layout:
    """One form of a set's files.

    ``read`` gets the file, or the folder where there are several, and the row of the table;
    that of NeurIPS-TS also whether to train on the contaminated series.
    """

    files: tuple[str, ...]
    read: Callable[..., Benchmark]

    def path(self, folder: Path) -> Path:
        """What is read, and shown to people."""
        return folder / self.files[0] if len(self.files) == 1 else folder


@dataclass(frozen=True, slots=True)
class Download:
    """A file to fetch: ``base`` + ``file`` goes to ``target`` under the root.

    An archive goes to pieces: of it only files whose name matches ``unpack`` are kept.
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
    """A benchmark of float32 rows from arrays, one an entity; refuses what does not fit.

    A set that has one entity by nature has none by name, whatever its file calls it.
    """
    names = [None] if source.entities == 1 else list(entities)
    for name, learned, judged, known in zip(names, train, test, labels, strict=True):
        where = str(origin) if name is None else f"{origin}, {name}"
        for part, values in (("train", learned), ("test", judged)):
            if values.ndim != 2 or values.shape[1] != source.channels:
                raise InputError(
                    f"{where}: {part} must have {source.channels} columns, those of "
                    f"{source.title}; got shape {values.shape}: get the file again"
                )
        if known.shape != (len(judged),):
            raise InputError(
                f"{where}: labels must be as many as test rows, {len(judged)}; "
                f"got {known.shape}: get the file again"
            )
        # NaN is no 0 and no 1 either
        if not np.isin(known, (0, 1)).all():
            raise InputError(f"{where}: labels must be 0 or 1; got {np.unique(known)[:5]}")
    missing = len(names) < source.entities and names != [None]
    coverage = f"{len(names)} of {source.entities} {source.unit}" if missing else ""
    return Benchmark(
        source.name,
        f"{source.title} ({coverage})" if coverage else source.title,
        tuple(
            TrainSeries(_rows(one), channels, name) for name, one in zip(names, train, strict=True)
        ),
        tuple(
            TestSeries(TrainSeries(_rows(one), channels, name), known.astype(np.uint8))
            for name, one, known in zip(names, test, labels, strict=True)
        ),
        str(origin),
        coverage,
    )


def _rows(values: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
