"""NeurIPS-TS, which is generated: the paper's test series, and a series to train on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reproduce.benchmarks.archive import read_npz, write_npz
from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from subadjacent.data.synthetic import KINDS, neurips_ts

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
