"""Datasets in `.npz` and `.npy` files: our archive, shared triples, generated NeurIPS-TS."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from reproduce.benchmarks.neurips_ts import neurips_ts
from subadjacent.data.plant import KINDS
from subadjacent.errors import DataNotFound, InputError

REQUIRED = ("train", "test", "labels", "train_lengths", "test_lengths", "entities")


def read_npz(path: Path, source: Source, *, train: str = "train") -> Benchmark:
    """Our archive: ``train``, ``test``, ``labels``, two arrays of lengths, and ``entities``.

    Parameters
    ----------
    path, source
        The file, and the row of the table.
    train
        Which array to take for training; NeurIPS-TS has two.
    """
    # NumPy leaves a damaged file open where it opens it itself
    with (
        _clear_errors(path),
        path.open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        missing = sorted({*REQUIRED, train} - set(archive.files))
        if missing:
            raise InputError(f"{path} must hold the array {missing[0]!r}; it has {archive.files}")
        wanted = {*REQUIRED, train}
        arrays = {name: archive[name] for name in wanted}
    entities = [str(name) for name in arrays["entities"]]
    return assemble(
        source,
        path,
        _cut(path, train, arrays[train], arrays["train_lengths"], len(entities)),
        _cut(path, "test", arrays["test"], arrays["test_lengths"], len(entities)),
        _cut(path, "labels", arrays["labels"], arrays["test_lengths"], len(entities)),
        entities=entities,
    )


def write_npz(benchmark: Benchmark, path: Path, **more_arrays: NDArray[Any]) -> None:
    """Write a benchmark as our archive, with further arrays if wanted."""
    names = [series.entity or benchmark.name for series in benchmark.train]
    arrays: dict[str, Any] = {
        "train": np.concatenate([series.values for series in benchmark.train]),
        "test": np.concatenate([series.rows.values for series in benchmark.test]),
        "labels": np.concatenate([series.labels for series in benchmark.test]),
        "train_lengths": np.array([len(series) for series in benchmark.train]),
        "test_lengths": np.array([len(series) for series in benchmark.test]),
        "entities": np.array(names),
    }
    # a stream: numpy would give another name to a path without its suffix
    with path.open("wb") as stream:
        np.savez_compressed(stream, **(arrays | more_arrays))


def read_npy_triple(folder: Path, source: Source) -> Benchmark:
    """`NAME_train.npy`, `NAME_test.npy` and `NAME_test_label.npy`, as they are.

    One concatenated series: where an entity ends is not in these files. For MSL and SMAP
    the last row of an anomaly counts as anomalous too, and SMAP lacks its two P-2 series.
    """
    train, test, labels = (
        read_npy(folder / f"{source.title}_{split}.npy")
        for split in ("train", "test", "test_label")
    )
    # some copies keep the labels as a column
    return assemble(source, folder, [train], [test], [labels.reshape(-1)])


def read_npy(path: Path) -> NDArray[Any]:
    """One array of numbers from a `.npy` file."""
    with _clear_errors(path), path.open("rb") as file:
        values = np.load(file, allow_pickle=False)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        raise InputError(f"{path} must be a .npy file of numbers; get it again")
    return values


def _cut(
    path: Path, name: str, values: NDArray[Any], lengths: NDArray[Any], entities: int
) -> list[NDArray[Any]]:
    """One array for each entity."""
    if lengths.shape != (entities,) or lengths.sum() != len(values) or (lengths < 1).any():
        raise InputError(
            f"{path}: the lengths of {name} must be one for each of {entities} entities and sum "
            f"to its {len(values)} rows; got {lengths.shape} with sum {lengths.sum()}"
        )
    # once for all entities: arrays of the archive are stored column by column
    whole = np.ascontiguousarray(values)
    return np.split(whole, np.cumsum(lengths)[:-1])


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Turn NumPy's errors about a damaged file into our own."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataNotFound(f"{path} is not there") from error
    except InputError:
        raise
    # a header may announce more than memory holds, and an archive may need a password
    except (
        ValueError, OSError, EOFError, KeyError, MemoryError, RuntimeError, zipfile.BadZipFile,
        zlib.error,
    ) as error:  # fmt: skip
        raise InputError(f"{path} is damaged ({str(error)[:100]}): get it again") from error


TEST_SEED, TRAIN_SEED = 100, 101


def generate(
    source: Source, *, contaminated: bool = False, kinds: Sequence[str] = KINDS
) -> Benchmark:
    """Seed 100 to test on, seed 101 to train on, with anomalies of some kinds.

    The paper's training series is not published. The clean one is the sine before any
    anomaly is put in; the contaminated one has as many anomalies as the test series.
    """
    test, train = (neurips_ts(seed=seed, kinds=kinds) for seed in (TEST_SEED, TRAIN_SEED))
    train_rows = train.values if contaminated else train.base
    return assemble(source, "generated", [train_rows], [test.values], [test.labels])


def read_generated(path: Path, source: Source, *, contaminated: bool = False) -> Benchmark:
    """The same dataset from the archive that ``write_generated`` writes."""
    return read_npz(path, source, train="train_contaminated" if contaminated else "train")


def write_generated(path: Path, source: Source) -> None:
    """Write both training series and the test series as one archive."""
    contaminated = generate(source, contaminated=True).train[0].values
    kinds = neurips_ts(seed=TEST_SEED).kind
    write_npz(generate(source), path, train_contaminated=contaminated, kind=kinds.astype(np.int8))
