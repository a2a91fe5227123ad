"""Sizes of a dataset, as in Table 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.benchmarks import check
from reproduce.datasets import load
from reproduce.run import Run
from subadjacent.evaluation.segments import segments


def execute(run: Run, root: str | None, _device: str) -> dict[str, Any]:
    """Count rows, channels, entities and anomalies."""
    benchmark = load(run, root)
    labels = [test.labels for test in benchmark.test]
    return {
        "channels": benchmark.channels,
        "entities": len(benchmark.train),
        "train_rows": sum(len(series) for series in benchmark.train),
        "test_rows": sum(len(series) for series in labels),
        "anomalous": float(np.concatenate(labels).mean()),
        "segments": sum(len(segments(series)) for series in labels),
        "verdict": "a few rows" if run.quick else check(benchmark),
    }
