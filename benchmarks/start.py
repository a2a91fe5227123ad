"""Seconds until the package is imported, and until commands on the README's file are done.

    python benchmarks/start.py [--rounds 9] [--output benchmarks/reports/start.csv]

Each round is a new process. Wall time depends on what else the machine does; CPU time hardly does.
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PYTHON = (sys.executable, "-c")
COMMAND = str(Path(sys.executable).with_name("subadjacent"))
TARGETS = {
    (*PYTHON, "import subadjacent"): 0.2,
    (*PYTHON, "import subadjacent; subadjacent.SubAdjacentDetector"): 1.0,
    (COMMAND, "--help"): 0.5,
    (COMMAND, "detect", "plant.csv", "--quiet"): 2.0,
}
"""Commands, and the wall seconds that each may take on a calm machine."""


def run(command: tuple[str, ...], folder: str) -> tuple[float, float]:
    """Wall and CPU seconds of a process."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, help="CSV file to write")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run((COMMAND, "generate", "plant", "--rows", "4000", "-o", "plant.csv"), folder)
        for command, target in TARGETS.items():
            times = [run(command, folder) for _ in range(arguments.rounds)]
            wall, cpu = (statistics.median(each) for each in zip(*times, strict=True))
            name = " ".join((Path(command[0]).name, *command[1:]))
            print(f"{name:70} {wall:6.2f} s, CPU {cpu:5.2f} s   target: under {target:g} s")
            rows.append((name, round(wall, 2), round(cpu, 2), target))
    if arguments.output:
        with arguments.output.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([("command", "wall_s", "cpu_s", "target_s"), *rows])


if __name__ == "__main__":
    main()
