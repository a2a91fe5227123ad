"""Seconds to fit and to score the paper's network on this machine's CPU.

python benchmarks/fit_time.py --rows 100_000 --channels 25
"""

from __future__ import annotations

import argparse
import time

import torch

from subadjacent import SubAdjacentTransformerDetector, multivariate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--channels", type=int, default=25)
    parser.add_argument("--size", default="small")
    arguments = parser.parse_args()

    plant = multivariate(n=arguments.rows, channels=arguments.channels, seed=0)
    started = time.perf_counter()
    detector = SubAdjacentTransformerDetector(size=arguments.size, stride="auto", device="cpu")
    detector.fit(plant.train)
    fitted = time.perf_counter()
    detector.decision_function(plant.test)
    scored = time.perf_counter()
    steps = sum(epoch.seconds for epoch in detector.history_)
    print(
        f"{arguments.rows:,} rows x {arguments.channels} channels, size {arguments.size}, "
        f"{torch.get_num_threads()} threads: fit {fitted - started:.1f} s "
        f"({len(detector.history_)} epochs, {steps:.1f} s of training), "
        f"score {scored - fitted:.1f} s"
    )


if __name__ == "__main__":
    main()
