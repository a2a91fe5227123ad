"""From a new row to its score on a CPU, a row at a time: median and 99th percentile.

    python benchmarks/latency.py [--repeats 2000] [--profile]

The last rows are kept; a new one pushes the oldest out, and the last one's score is asked for.
Two threads are of use on idle cores only: with so little to do, each waits for the other.
``--profile`` also says where the time of each detector goes, on one thread, by cProfile.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from subadjacent import BandRidgeDetector, SubAdjacentDetector, multivariate
from subadjacent.detectors.piecewise import grid_of
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

POINTS, CHANNELS = 100, 25
TARGET_MS = 5.0

Score = Callable[[NDArray[np.float32]], float]


class Way(NamedTuple):
    """A way to score the newest of some rows."""

    name: str
    rows: int
    score: Score


class Latency(NamedTuple):
    """How long it takes, in milliseconds."""

    name: str
    threads: int
    median: float
    slow: float  # one in a hundred takes longer


def network_alone() -> Way:
    """One window through the small network in inference mode, and the last point's error."""
    network = SubAdjacentTransformer.seeded(SubAdjacentConfig.sized("small", CHANNELS), 0).eval()

    @torch.inference_mode()
    def score(rows: NDArray[np.float32]) -> float:
        window = torch.from_numpy(rows)[None]
        return float((network(window).values[0, -1] - window[0, -1]).square().mean())

    return Way("small network alone", POINTS, score)


def last_score(detector: Any) -> Score:
    return lambda rows: float(detector.decision_function(rows)[-1])


def network_detector(rows: int) -> Way:
    """The public way, with a network."""
    detector = SubAdjacentDetector(
        recipe="network", size="small", window=POINTS, epochs=1, device="cpu"
    ).fit(multivariate(n=rows, channels=CHANNELS, seed=0).train)
    return Way('SubAdjacentDetector(recipe="network")', POINTS, last_score(detector))


def causal_ridge(rows: int) -> Way:
    """The public way, without: on as many rows as the last one's score depends on."""
    detector = BandRidgeDetector(causal=True).fit(
        multivariate(n=rows, channels=CHANNELS, seed=0).train
    )
    grid = grid_of(detector)
    assert grid is not None
    return Way("BandRidgeDetector(causal=True)", grid.before + 1, last_score(detector))


def ways(rows: int) -> list[Way]:
    return [network_alone(), network_detector(rows), causal_ridge(rows)]


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """So many threads for torch, and for the algebra of NumPy."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


def measure(way: Way, repeats: int, threads: int, warm_up: int = 100) -> Latency:
    """Feed one row after the other, and time each."""
    rng = np.random.default_rng(0)
    coming = rng.standard_normal((repeats + warm_up, CHANNELS), np.float32)
    kept = rng.standard_normal((way.rows, CHANNELS), np.float32)
    taken = []
    with limited(threads):
        for row in coming:
            started = time.perf_counter()
            kept[:-1] = kept[1:]
            kept[-1] = row
            way.score(kept)
            taken.append(time.perf_counter() - started)
    median, slow = np.percentile(np.array(taken[warm_up:]) * 1000, [50, 99])
    return Latency(way.name, threads, float(median), float(slow))


def profiled(way: Way, repeats: int, lines: int = 25) -> str:
    """Where the time goes: functions by what they themselves take."""
    rows = np.random.default_rng(0).standard_normal((way.rows, CHANNELS), np.float32)
    profile = cProfile.Profile()
    with limited(1):
        way.score(rows)
        profile.enable()
        for _ in range(repeats):
            way.score(rows)
        profile.disable()
    text = io.StringIO()
    for key in ("cumulative", "tottime"):
        pstats.Stats(profile, stream=text).strip_dirs().sort_stats(key).print_stats(lines)
    return f"{way.name}, {repeats} times\n{text.getvalue()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=5000, help="to fit on")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    found = ways(arguments.rows)
    print(f"{CHANNELS} channels, windows of {POINTS}; target: under {TARGET_MS:g} ms at 99 %")
    print(f"{'':40} {'rows':>5} {'threads':>7} {'median ms':>10} {'99 % ms':>9}")
    for way in found:
        for threads in arguments.threads:
            one = measure(way, arguments.repeats, threads)
            print(
                f"{one.name:40} {way.rows:>5} {threads:>7} {one.median:>10.2f} {one.slow:>9.2f}",
                flush=True,
            )
    if arguments.profile:
        for way in found[1:]:
            print(profiled(way, min(arguments.repeats, 300)))


if __name__ == "__main__":
    main()
