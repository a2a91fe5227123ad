"""Peak memory of fitting and scoring a network, as a multiple of the data itself.

    python benchmarks/memory.py --rows 10_000_000 --channels 40

Windows are places in the rows, not copies of them: one scaled copy of the data is all that a
fit should add, however much its windows overlap.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

from subadjacent import SubAdjacentTransformerDetector


def peak_gib() -> float:
    """Highest resident memory of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--channels", type=int, default=40)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--max-training-time", default="30s")
    arguments = parser.parse_args()

    # torch and the first kernels take memory of their own; it does not grow with the data
    small = SubAdjacentTransformerDetector(size="small", epochs=1)
    small.fit(np.zeros((500, arguments.channels), np.float32))
    idle = peak_gib()

    rng = np.random.default_rng(0)
    rows = np.empty((arguments.rows, arguments.channels), np.float32)
    for start in range(0, len(rows), 100_000):
        part = rows[start : start + 100_000]
        part[:] = rng.standard_normal(part.shape, np.float32)
    data = rows.nbytes / 2**30
    print(f"data: {len(rows):,} rows x {rows.shape[1]} channels, {data:.2f} GiB", flush=True)
    before = peak_gib()

    started = time.perf_counter()
    detector = SubAdjacentTransformerDetector(
        stride=arguments.stride, max_training_time=arguments.max_training_time, size="small"
    ).fit(rows)
    fitted = peak_gib()
    print(
        f"fit:   peak {fitted:.2f} GiB, {fitted - before:.2f} GiB above data and libraries "
        f"({(fitted - before) / data:.2f} x the data), {time.perf_counter() - started:.0f} s, "
        f"stride {arguments.stride}, at most {arguments.max_training_time}",
        flush=True,
    )
    started = time.perf_counter()
    scores = detector.decision_function(rows)
    scored = peak_gib()
    print(
        f"score: peak {scored:.2f} GiB ({(scored - before) / data:.2f} x the data), "
        f"{time.perf_counter() - started:.0f} s, {len(scores):,} scores"
    )
    print(f"libraries alone: {idle:.2f} GiB")


if __name__ == "__main__":
    main()
