"""Check that a dataset is the published one: sizes, anomaly rate, fingerprint."""

from __future__ import annotations

import hashlib

import numpy as np

from reproduce.benchmarks.benchmark import Benchmark, Source
from reproduce.benchmarks.sources import SOURCES

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
