"""Find a dataset under the root folder, load it, and compare it with Table 1."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from reproduce.benchmarks.benchmark import Benchmark, Layout, Source
from reproduce.benchmarks.sources import SOURCES, source_named
from subadjacent.errors import DataNotFound, InputError

VARIABLE = "SUBADJACENT_DATA"
DEFAULT = "~/.cache/subadjacent"


def data_root(root: Path | str | None = None) -> Path:
    """The root folder of datasets: the one given, else $SUBADJACENT_DATA, else a default."""
    return Path(root or os.environ.get(VARIABLE) or DEFAULT).expanduser()


def find(source: Source, root: Path) -> tuple[Path, Layout] | None:
    """The first layout whose files are all under the root, and the path to read."""
    for layout in source.layouts:
        for folder in source.folders:
            if all((root / folder / file).exists() for file in layout.files):
                return layout.path(root / folder), layout
    return None


def load_benchmark(
    name: str, root: Path | str | None = None, *, contaminated: bool = False
) -> Benchmark:
    """Load a public dataset.

    Parameters
    ----------
    name
        One of ``SOURCES``, in any case.
    root
        Folder to look under; see ``data_root``.
    contaminated
        NeurIPS-TS only: train on a series with anomalies instead of a clean one.

    Raises
    ------
    DataNotFound
        When no known form of its files is there; the message says what is missing.
    InputError
        When a file is damaged or of another set; the message says where.
    """
    source = source_named(name)
    options = {"contaminated": True} if contaminated else {}
    if contaminated and source.generate is None:
        raise InputError(
            f"contaminated must be left out for {source.title}: NeurIPS-TS alone has it"
        )
    folder = data_root(root)
    if located := find(source, folder):
        path, layout = located
        return layout.read(path, source, **options)
    if source.generate is not None:
        return source.generate(source, **options)
    raise absence(source, folder)


def absence(source: Source, root: Path) -> DataNotFound:
    """The error for a missing dataset: which files are there, and how to get the others."""
    incomplete = []
    for layout in source.layouts:
        for folder in source.folders:
            present = [file for file in layout.files if (root / folder / file).exists()]
            missing = [file for file in layout.files if file not in present]
            if present and missing and len(layout.files) > 1:
                incomplete.append(
                    f"{root / folder / present[0]} is there, {missing[0]} beside it is not"
                )
    detail = f" ({'; '.join(dict.fromkeys(incomplete))})" if incomplete else ""
    return DataNotFound(f"{source.title} is not in {root}{detail}. {source.instructions}")


COMPLETE = "complete"


def fingerprint(benchmark: Benchmark) -> str:
    """Sixteen hex digits that follow from values, labels and names of entities alone.

    Files of another format that hold the same data have the same fingerprint.
    """
    digest = hashlib.sha256()
    for train, test in zip(benchmark.train, benchmark.test, strict=True):
        digest.update(f"{train.entity or ''} {train.values.shape} {len(test)}\n".encode())
        for values in (train.values, test.rows.values):
            digest.update(np.ascontiguousarray(values, dtype="<f4").data)
        digest.update(test.labels.astype(np.uint8).tobytes())
    return digest.hexdigest()[:16]


def check(benchmark: Benchmark) -> str:
    """Compare a dataset with the paper's Table 1.

    Returns
    -------
    str
        "complete"; "19 of 28 machines" where only entities are missing; or "differs: …" with
        everything that is not as published.
    """
    source = SOURCES[benchmark.name]
    if benchmark.coverage:
        wrong = _compare("channels", benchmark.channels, source.channels)
        return f"differs: {wrong}" if wrong else benchmark.coverage
    differences = [line for line in _differences(benchmark, source) if line]
    if differences:
        return f"differs: {'; '.join(differences)}"
    if source.fingerprints and fingerprint(benchmark) not in source.fingerprints:
        return "differs: sizes are right, values are not those published"
    return COMPLETE


def _differences(benchmark: Benchmark, source: Source) -> list[str]:
    rows = sum(len(test) for test in benchmark.test)
    anomalous = sum(int(test.labels.sum()) for test in benchmark.test)
    # each entity is counted by itself: its last run does not go on in the next entity
    runs = sum(
        int(np.count_nonzero(np.diff(test.labels.astype(np.int8), prepend=0) == 1))
        for test in benchmark.test
    )
    return [
        _compare("channels", benchmark.channels, source.channels),
        _compare(source.unit, len(benchmark.train), source.entities),
        _compare("train rows", sum(map(len, benchmark.train)), source.train_rows),
        _compare("test rows", rows, source.test_rows),
        _compare("% anomalous", round(100 * anomalous / max(rows, 1), 2), source.anomaly_rate),
        "" if source.segments is None else _compare("segments", runs, source.segments),
    ]


def _compare(what: str, counted: float, published: float) -> str:
    return "" if counted == published else f"{counted:,} {what}, not {published:,}"
