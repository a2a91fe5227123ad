"""Time and memory of fitting and scoring against rows, channels, windows and entities.

    python benchmarks/growth.py measure --csv growth.csv
    python benchmarks/growth.py report --csv growth.csv --output benchmarks/reports/growth.md

Every point is measured in a process of its own, so that its peak memory is its own; what the
libraries take once they have run is not counted. One that takes longer than ``--limit`` is given
up, and larger ones are not tried. Rows that the CSV has already are kept, not measured again.

Networks train for one epoch: how long a fit takes is a multiple of that, which data decide and
their size does not. Along windows there is no detector: one training step on 100,000 points,
however many windows they make, and one pass that scores 400,000 rows as a detector does.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

AXES = {
    "rows": (10_000, 100_000, 1_000_000, 10_000_000),
    "channels": (1, 5, 25, 100, 500),
    "window": (100, 1_000, 10_000, 100_000),
    "entities": (1, 10, 100, 1_000, 10_000),
}
# what the other axes stay at
ROWS, CHANNELS, ROWS_AN_ENTITY = 10_000, 5, 300
STEP_POINTS, SCORED_ROWS = 100_000, 400_000
DETECTORS: dict[str, dict[str, Any]] = {
    "default": {},
    "fast": {"recipe": "fast"},
    "network": {"recipe": "network", "size": "small"},
}
COLUMNS = ("axis", "size", "detector", "phase", "seconds", "mib", "data_mib", "state")
MIB = 2**20

Row = dict[str, Any]


def peak_mib() -> float:
    """Highest resident memory since it was last forgotten.

    Not ``getrusage``: what that gives begins with the peak of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(one for one in lines if one.startswith("VmHWM")).split()[1]) / 1024


def forget_peak() -> float:
    """Begin anew at what is resident now, and say how much that is."""
    # what was freed but kept for later would count as if it were in use
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    Path("/proc/self/clear_refs").write_text("5")
    return peak_mib()


def made_up(rows: int, channels: int) -> Any:
    """Waves with noise, in float32, made a part at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    periods = rng.uniform(20, 200, channels)
    values = np.empty((rows, channels), np.float32)
    for start in range(0, rows, 50_000):
        part = values[start : start + 50_000]
        part[:] = np.sin(np.arange(start, start + len(part))[:, None] * (2 * np.pi / periods))
        part += 0.1 * rng.standard_normal(part.shape, np.float32)
    return values


def costs_of_detector(axis: str, size: int, name: str) -> Iterator[Row]:
    """Fit, and score the same rows."""
    from subadjacent import SubAdjacentDetector

    channels = size if axis == "channels" else CHANNELS
    rows = {"rows": size, "entities": size * ROWS_AN_ENTITY}.get(axis, ROWS)
    settings = DETECTORS[name] | {"epochs": 1, "device": "cpu"}
    # libraries and first kernels take memory of their own, which does not grow with the data
    SubAdjacentDetector(**settings).fit(made_up(500, 2))
    idle = forget_peak()
    values: Any = made_up(rows, channels)
    data = values.nbytes / MIB
    if axis == "entities":
        values = {
            f"machine_{one}": values[one * ROWS_AN_ENTITY :][:ROWS_AN_ENTITY] for one in range(size)
        }
    detector = SubAdjacentDetector(**settings)
    for phase, work in (("fit", detector.fit), ("score", detector.decision_function)):
        forget_peak()
        started = time.perf_counter()
        work(values)
        seconds = time.perf_counter() - started
        yield {"phase": phase, "seconds": seconds, "mib": peak_mib() - idle, "data_mib": data}


def costs_of_window(length: int) -> Iterator[Row]:
    """One training step, and one pass of scoring, of the small network."""
    import torch

    from subadjacent.data.scaling import fit_scalers
    from subadjacent.data.series import TrainSeries
    from subadjacent.data.windows import stack
    from subadjacent.methods.neural.defaults import choose_band
    from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
    from subadjacent.scoring.network import judge_rows
    from subadjacent.scoring.paper import PaperScore
    from subadjacent.training.device import autocast
    from subadjacent.training.step import Step, make_optimizers, plain_step

    def training(length: int) -> tuple[SubAdjacentTransformer, Step]:
        band = choose_band("auto", "auto", length)
        config = SubAdjacentConfig.sized("small", CHANNELS, band=band)
        network = SubAdjacentTransformer.seeded(config, 0).train()
        optimizers = make_optimizers(network, 1e-3)
        return network, plain_step(network, optimizers, autocast(torch.device("cpu")))

    training(AXES["window"][0])[1](torch.zeros(8, AXES["window"][0], CHANNELS), 1)
    idle = forget_peak()
    network, step = training(length)
    count = max(1, STEP_POINTS // length)
    series = [TrainSeries(made_up(max(SCORED_ROWS, length), CHANNELS))]
    stacked = stack(series, fit_scalers(series, 10.0), length)
    data = series[0].values.nbytes / MIB
    batch = stacked.windows_within([(0, len(series[0]))], length).take(torch.arange(count))
    plain = PaperScore(temperature=0.0).of_windows
    work: dict[str, tuple[Callable[[], Any], int]] = {
        "training step": (lambda: step(batch, 1), batch.shape[0] * length),
        "scoring": (lambda: judge_rows(network, stacked, length, plain), len(series[0])),
    }
    for phase, (run, points) in work.items():
        forget_peak()
        taken = []
        for _ in range(4):
            started = time.perf_counter()
            run()
            taken.append(time.perf_counter() - started)
        # the first one warms up
        seconds = statistics.median(taken[1:]) * 1e6 / points
        yield {"phase": phase, "seconds": seconds, "mib": peak_mib() - idle, "data_mib": data}


def measure_here(axis: str, size: int, name: str, gib: float) -> None:
    """One point, in this process: a line of JSON for every phase, as soon as it is known."""
    # a point that needs more is refused memory, and the machine's other work goes on
    resource.setrlimit(resource.RLIMIT_DATA, (int(gib * 2**30),) * 2)
    costs = costs_of_window(size) if axis == "window" else costs_of_detector(axis, size, name)
    for cost in costs:
        print(json.dumps(cost), flush=True)


def measure(axis: str, size: int, name: str, limit: float, gib: float) -> list[Row]:
    """One point, in a process of its own."""
    command = [sys.executable, __file__, "point", "--axis", axis, "--sizes", str(size)]
    command += ["--detector", name, "--memory", str(gib)]
    state, output = "", b""
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False)
        output = done.stdout
        if done.returncode:
            last = (done.stderr.decode().strip().splitlines() or [f"exit {done.returncode}"])[-1]
            state = f"failed: {last}"[:200]
    except subprocess.TimeoutExpired as error:
        state, output = "over the limit", error.stdout or b""
    point = {"axis": axis, "size": size, "detector": name}
    found = [point | json.loads(line) | {"state": ""} for line in output.decode().splitlines()]
    phases = ("training step", "scoring") if axis == "window" else ("fit", "score")
    return found + [point | {"phase": one, "state": state} for one in phases[len(found) :]]


def measure_all(arguments: argparse.Namespace) -> None:
    """Every point that the CSV does not have, from small to large."""
    known: dict[tuple[str, ...], str] = {}
    if arguments.csv.exists():
        with arguments.csv.open(newline="") as file:
            for row in csv.DictReader(file):
                known[row["axis"], row["size"], row["detector"]] = row["state"]
    with arguments.csv.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
            writer.writerow({"axis": "machine", "state": machine()})
        for axis in arguments.axis:
            for name in arguments.detector if axis != "window" else ("network",):
                for size in arguments.sizes or AXES[axis]:
                    state = known.get((axis, str(size), name))
                    if state is None:
                        rows = measure(axis, size, name, arguments.limit, arguments.memory)
                        writer.writerows(rows)
                        file.flush()
                        print(*map(told, rows), sep="\n", flush=True)
                        state = rows[-1]["state"]
                    if state:
                        break


def machine() -> str:
    named = platform.machine()
    if (facts := Path("/proc/cpuinfo")).exists():
        models = [one for one in facts.read_text().splitlines() if one.startswith("model name")]
        named = models[0].partition(":")[2].strip() if models else named
    cores = os.cpu_count()
    threads = os.environ.get("OMP_NUM_THREADS", cores)
    python = platform.python_version()
    return f"{named}, {cores} cores, {threads} threads, Python {python}, {date.today()}"


def told(row: Row) -> str:
    point = f"{row['axis']} {row['size']:,}, {row['detector']}, {row['phase']}: "
    return point + (row["state"] or f"{row['seconds']:.3g} s, {row['mib']:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "point", "report"))
    parser.add_argument("--csv", type=Path, default=Path("growth.csv"))
    parser.add_argument("--output", type=Path, help="of the report; drawings lie beside it")
    parser.add_argument("--axis", nargs="+", choices=list(AXES), default=list(AXES))
    parser.add_argument("--sizes", nargs="+", type=int, help="in place of each axis' own")
    parser.add_argument("--detector", nargs="+", choices=list(DETECTORS), default=list(DETECTORS))
    parser.add_argument("--limit", type=float, default=120, help="seconds for one point")
    parser.add_argument("--memory", type=float, default=12, help="GiB for one point")
    arguments = parser.parse_args()
    if arguments.what == "point":
        measure_here(arguments.axis[0], arguments.sizes[0], arguments.detector[0], arguments.memory)
    elif arguments.what == "measure":
        measure_all(arguments)
    else:
        from growth_page import write

        write(arguments.csv, arguments.output)


if __name__ == "__main__":
    main()
