"""How fast this machine runs the package, in a few minutes: what came, beside what was aimed at.

    python benchmarks/ratios.py            # or: make bench

Where it can be, a number is a ratio of two things measured one after the other in this process:
a noisy machine slows both. A part that fails says so and the others go on; speeds are no tests,
and the exit code is 0 whatever they are.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

PARTS = ("start", "attention", "metrics", "network", "latency", "fit")
REPEATS = 20
LENGTHS = (100, 400, 1_600)
# rows of 25 channels to fit, and seconds for a small network
FIT_ROWS, NETWORK_TARGET = 100_000, 60


class Line(NamedTuple):
    """One row of the table."""

    what: str
    came: str
    target: str = ""


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median of some runs, after one to warm up."""
    work()
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def attention(repeats: int) -> Iterator[Line]:
    """Attention with contributions as a CPU runs it, against the definition's matrix."""
    import torch

    from subadjacent.core.attention import linear_attention
    from subadjacent.core.band import Band
    from subadjacent.core.mapping import MAPPINGS
    from subadjacent.core.packed import packed_attention

    torch.manual_seed(0)
    for n in LENGTHS:
        # eight windows of the small network: two heads of 32
        projected, one = torch.randn(8, n, 3 * 64), torch.ones(())
        band = Band(n // 5, 3 * n // 10)

        def plainly(projected: Any = projected, one: Any = one, band: Band = band) -> None:
            q, k, v = projected.unflatten(2, (3, 2, 32)).permute(2, 0, 3, 1, 4)
            linear_attention(*MAPPINGS["softmax"](q, k, one), v, band, dense=True)

        with torch.inference_mode():
            ours = seconds(partial(packed_attention, projected, one, 2, band), repeats)
            matrix = seconds(plainly, repeats)
        what = f"attention and contribution, N = {n:,}, against the matrix"
        yield Line(what, f"{matrix / ours:.1f} x")


def measures() -> Iterator[Line]:
    """Metrics that are slow by their definition, against their slow twins."""
    import metrics

    for name, rows, kind, measure, twin in metrics.MEASURES:
        if twin is not None:
            scores, alarms, labels = metrics.series(rows)
            given = scores if kind == "scores" else alarms
            quick = metrics.seconds(measure, given, labels, repeats=5)
            slow = metrics.seconds(twin, given.tolist(), labels.tolist(), repeats=1)
            yield Line(f"{name}, {rows:,} rows, against its definition", f"{slow / quick:,.0f} x")


def network(rounds: int) -> Iterator[Line]:
    """Windows a second of the network on the CPU, against plain PyTorch in the same process."""
    import cpu

    for what, found in cpu.measure("small", rounds).items():
        for kind in cpu.KINDS:
            ratio = found["plain"] / found[kind]
            target = f"at least {cpu.TARGETS[what]:g} x"
            yield Line(f"{what} in {kind}, against plain PyTorch", f"{ratio:.2f} x", target)


def delays(repeats: int, rows: int) -> Iterator[Line]:
    """From a new row to its score."""
    import latency

    for way in latency.ways(rows):
        found = latency.measure(way, repeats, threads=1)
        came = f"{found.median:.1f} ms, 99 %: {found.slow:.1f} ms"
        target = f"99 %: at most {latency.TARGET_MS:g} ms" if "etwork" in way.name else ""
        yield Line(f"a row's score, {way.name}", came, target)


def beginning(rounds: int) -> Iterator[Line]:
    """From nothing to the first line."""
    import start

    for name, took, target in start.measure(rounds):
        wanted = "" if target is None else f"at most {target:g} s"
        yield Line(name, f"{took:.2f} s", wanted)
    heavy = start.heavy_modules()
    yield Line("heavy packages that `import subadjacent` loads", ", ".join(heavy) or "none", "none")


def fits(rows: int, few: bool) -> Iterator[Line]:
    """The default against Sub-PCA, fleets and commands; and a fit of the paper's small network."""
    import default

    from subadjacent import SubAdjacentTransformerDetector, multivariate

    for line in default.measure(rows, quick=few):
        yield Line(*line)
    series = multivariate(n=rows, channels=25, seed=0).train
    detector = SubAdjacentTransformerDetector(size="small", stride="auto", device="cpu")
    started = time.perf_counter()
    detector.fit(series)
    took = time.perf_counter() - started
    target = f"at most {NETWORK_TARGET} s" if rows == FIT_ROWS else ""
    what = f"fit of {rows:,} x 25, the paper's network, small"
    yield Line(what, f"{took:.1f} s", target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=FIT_ROWS, help="to time a fit on")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--quick", action="store_true", help="few repeats, to see that it runs")
    arguments = parser.parse_args()
    few = arguments.quick
    parts: dict[str, Callable[[], Iterator[Line]]] = {
        "start": partial(beginning, 1 if few else 5),
        "attention": partial(attention, 1 if few else REPEATS),
        "metrics": measures,
        "network": partial(network, 2 if few else REPEATS),
        "latency": partial(delays, 20 if few else 2000, min(arguments.rows, 5000)),
        "fit": partial(fits, arguments.rows, few),
    }
    began = time.perf_counter()
    print(f"{'':64} {'came':>24}   target")
    for name in arguments.parts:
        try:
            for line in parts[name]():
                print(f"{line.what:64} {line.came:>24}   {line.target}".rstrip(), flush=True)
        except Exception as error:
            # the other parts are worth having
            print(f"{name}: failed: {error!r}", flush=True)
    print(f"in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
