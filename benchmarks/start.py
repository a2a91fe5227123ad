"""Seconds until the package is imported and until the command says something.

    python benchmarks/start.py [--rounds 9]

Each time in a new interpreter; medians. What is heavy is loaded when it is first used: importing
the package should load none of it. The first detector does, torch and scikit-learn above all; the
interpreter imports them on the way, so that their part is told apart.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

HEAVY = ("torch", "scipy", "sklearn", "pandas", "polars", "pyarrow", "bokeh", "matplotlib")
IMPORT_TARGET, HELP_TARGET = 0.2, 0.5
# one after the other
STEPS = (
    "import subadjacent",
    "import torch",
    "import sklearn.base, sklearn.utils.validation, scipy.special, scipy.stats",
    "from subadjacent import SubAdjacentDetector",
)


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def import_seconds() -> list[float]:
    """What each step takes, in one new interpreter."""
    code = "import time; clock = time.perf_counter; taken = [clock()]\n"
    code += "".join(f"{one}; taken.append(clock())\n" for one in STEPS)
    taken = [float(one) for one in python(f"{code}print(*taken)").split()]
    return [after - before for before, after in pairwise(taken)]


def heavy_modules() -> list[str]:
    """Large packages that importing ours loads."""
    found = python("import subadjacent, sys; print(*{one.split('.')[0] for one in sys.modules})")
    return sorted(set(HEAVY).intersection(found.split()))


def help_seconds() -> float:
    """The whole of `subadjacent --help`, from its start to its end."""
    command = Path(sys.executable).with_name("subadjacent")
    started = time.perf_counter()
    subprocess.run([command, "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def measure(rounds: int) -> list[tuple[str, float, float | None]]:
    """What, seconds, target."""
    each = [import_seconds() for _ in range(rounds)]
    ours, torch, others, detector = (statistics.median(one) for one in zip(*each, strict=True))
    return [
        (STEPS[0], ours, IMPORT_TARGET),
        (STEPS[-1], statistics.median(map(sum, each)), None),
        ("  of that, torch", torch, None),
        ("  of that, SciPy and scikit-learn", others, None),
        ("  of that, the rest", detector, IMPORT_TARGET),
        (
            "subadjacent --help",
            statistics.median(help_seconds() for _ in range(rounds)),
            HELP_TARGET,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    for name, seconds, target in measure(arguments.rounds):
        wanted = "" if target is None else f"   target: under {target:g} s"
        print(f"{name:46} {seconds:>7.3f} s{wanted}", flush=True)
    found = heavy_modules()
    print(f"heavy packages that `import subadjacent` loads: {', '.join(found) or 'none'}")


if __name__ == "__main__":
    main()
