"""What a dataset is: the numbers of Table 1, counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from subadjacent.data.benchmarks import check
from subadjacent.evaluation.segments import segments
from subadjacent.experiments.datasets import load
from subadjacent.experiments.run import Run


def execute(run: Run, root: str | None, _device: str) -> dict[str, Any]:
    """Count rows, channels, entities and anomalies."""
    benchmark = load(run, root)
    labels = [one.labels for one in benchmark.test]
    return {
        "channels": benchmark.channels,
        "entities": len(benchmark.train),
        "train_rows": sum(len(one) for one in benchmark.train),
        "test_rows": sum(len(one) for one in labels),
        "anomalous": float(np.concatenate(labels).mean()),
        "segments": sum(len(segments(one)) for one in labels),
        "verdict": "a few rows" if run.quick else check(benchmark),
    }
