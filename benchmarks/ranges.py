"""Whether expected ranges hold normal rows that were not seen: wanted are 95 to 99.5 % of them.

    python benchmarks/ranges.py --quick --jobs 2
    python benchmarks/ranges.py --seeds 0-4 --jobs 2 --out benchmarks/reports/ranges.csv

The default is fitted on the first rows, and its alarms on later ones decide which of these a range
may follow, as in a report. Series are those that departures are planted into, with nothing planted
(reproduce/cases/backgrounds.py), and the test rows of two benchmarks of one channel, without their
labelled rows. A range may hold rows because it is wide: its width is told as well, in units of the
range of the same rows.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: the jobs share the cores

import argparse
import csv
import logging
import re
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from planted import seeds

sys.path.insert(0, str(Path(__file__).parents[1]))

from reproduce.cases.backgrounds import BACKGROUNDS, KEPT_BACK_BACKGROUNDS, MINUTE, Background
from reproduce.cases.planted import FIRST_KEPT_BACK_SEED
from subadjacent import SubAdjacentDetector
from subadjacent.decision.causes import Explainer
from subadjacent.decision.references import SHORT_MEMORY
from subadjacent.errors import DataNotFound

LEAST, MOST = 0.95, 0.995
# of each benchmark every third series, its last training rows and first test rows
STRIDE, TRAIN_ROWS, TEST_ROWS = 3, 15_000, 6_000
# rows beside labelled ones that are not counted either
MARGIN = 30
QUICK = ("temperatures", "taxi", "plant")
# series of which every seed takes all
WHOLE = ("weather", "carbon dioxide", "sunspots", "el nino")


class Benchmark(NamedTuple):
    """A file of series of one channel, and seconds from row to row."""

    file: str
    series: int
    interval: float


BENCHMARKS = {
    "web, test": Benchmark("web.npz", 53, MINUTE),
    "recordings, test": Benchmark("recordings.npz", 36, 1.0),
}


class Held(NamedTuple):
    """The share of one channel's normal rows in its expected range, and how wide that is."""

    source: str
    case: str
    channel: str
    cycle: int
    wanders: int
    rows: int
    inside: float
    below: float
    width: float


def held(source: str, case: int, data: Path) -> list[Held] | str:
    """The shares of the channels of one case, or why there are none."""
    logging.disable(logging.WARNING)
    try:
        drawn, normal = drawn_case(source, case, data)
    except DataNotFound as error:
        return f"{source}: {error}"
    index = pd.date_range(drawn.start, periods=len(drawn.values), freq=f"{drawn.interval:.0f}s")
    whole = pd.DataFrame(drawn.values, columns=list(drawn.names), index=index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = SubAdjacentDetector().fit(whole[: drawn.fitted])
        assessment = detector.assess(whole[drawn.fitted :])
    (series,), (evidence,), (profiles,), (decided,) = (
        assessment.series,
        assessment.evidence,
        assessment.profiles,
        assessment.decisions,
    )
    explainer = Explainer.of(series, evidence, profiles, decided.anomalous)
    results = []
    for channel, name in enumerate(drawn.names):
        profile, expected = profiles.of(channel), explainer.expected_range(channel)
        values = drawn.values[drawn.fitted :, channel]
        known = normal & np.isfinite(values)
        below, above = values < expected.low, values > expected.high
        lowest, highest = np.quantile(values[known], [0.005, 0.995])
        widths = (expected.high - expected.low)[known]
        results.append(
            Held(
                source,
                str(case),
                name,
                int(profile.cycle),
                int(profile.memory == SHORT_MEMORY),
                int(known.sum()),
                round(float(1 - (below | above)[known].mean()), 4),
                round(float(below[known].mean()), 4),
                round(float(np.median(widths)) / max(highest - lowest, 1e-12), 3),
            )
        )
    return results


def drawn_case(source: str, case: int, data: Path) -> tuple[Background, NDArray[np.bool_]]:
    """A series, and which of its test rows are normal."""
    if source in BENCHMARKS:
        return _benchmark_case(data / BENCHMARKS[source].file, case, BENCHMARKS[source].interval)
    rng = np.random.default_rng([case, *source.encode()])
    drawn = (BACKGROUNDS | KEPT_BACK_BACKGROUNDS)[source](rng, data)
    return drawn, np.ones(len(drawn.values) - drawn.fitted, dtype=bool)


def _benchmark_case(path: Path, case: int, interval: float) -> tuple[Background, NDArray[np.bool_]]:
    if not path.exists():
        raise DataNotFound(f"no file {path}")
    with np.load(path) as file:
        parts = {
            name: np.split(file[name], np.cumsum(file[f"{lengths}_lengths"])[:-1])[case]
            for name, lengths in (("train", "train"), ("test", "test"), ("labels", "test"))
        }
    train, test = parts["train"][-TRAIN_ROWS:, 0], parts["test"][:TEST_ROWS, 0]
    # float32 has six or seven digits
    values = np.array([float(f"{value:.6g}") for value in np.concatenate([train, test])])
    labels = parts["labels"][:TEST_ROWS]
    normal = np.convolve(labels, np.ones(2 * MARGIN + 1), "same") < 0.5
    return Background(values[:, None], len(train), ("value",), (6,), (0,), interval), normal


def summary(results: Sequence[Held]) -> str:
    """Shares by source and channel, or nature of a generated channel."""
    titles = ("series", "cases", "median inside", "least", "most", "as wanted", "width")
    lines = [f"| {' | '.join(titles)} |", "|---" + "|--:" * (len(titles) - 1) + "|"]
    groups: dict[str, list[Held]] = {}
    for one in results:
        # a channel of a generated plant is called "rhythm 3"
        name = re.sub(r" \d+$", "", one.channel)
        groups.setdefault(f"{one.source}: {name}", []).append(one)
    for name, group in [*groups.items(), ("all", list(results))]:
        shares = [one.inside for one in group]
        wanted = np.mean([LEAST <= share <= MOST for share in shares])
        cells = [f"{100 * share:.1f} %" for share in (np.median(shares), min(shares), max(shares))]
        width = float(np.median([one.width for one in group]))
        lines.append(
            f"| {name} | {len(group)} | {' | '.join(cells)} | {100 * wanted:.0f} % | {width:.2f} |"
        )
    return "\n".join(lines)


def cases_of(source: str, numbers: Sequence[int]) -> Sequence[int]:
    """The cases of a source: seeds, or numbers of series."""
    if source in BENCHMARKS:
        return range(0, BENCHMARKS[source].series, STRIDE)
    return numbers[:1] if source in WHOLE else numbers


def main() -> None:
    """Write a row for each channel, and print the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seeds, default=seeds("0-4"), help="such as 0-4")
    parser.add_argument("--sources", nargs="+", choices=[*BACKGROUNDS, *BENCHMARKS])
    parser.add_argument("--quick", action="store_true", help="three sources, one seed")
    parser.add_argument("--kept-back", action="store_true", help="for the end: what is kept back")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="CSV file with a row for each channel")
    options = parser.parse_args()
    started = time.monotonic()
    sources = options.sources or (QUICK if options.quick else [*BACKGROUNDS, *BENCHMARKS])
    numbers = list(options.seeds[:1] if options.quick else options.seeds)
    if options.kept_back:
        sources = [*sources, *KEPT_BACK_BACKGROUNDS]
        numbers = [FIRST_KEPT_BACK_SEED + number for number in numbers]
    wanted = [
        (source, case, options.data.resolve())
        for source in sources
        for case in cases_of(source, numbers)
    ]
    results: list[Held] = []
    left_out: list[str] = []
    # a fresh process each: a fork of one with threads may hang
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for answer in pool.map(held, *zip(*wanted, strict=True)):
            if isinstance(answer, str):
                left_out.append(answer)
            else:
                results += answer
    if options.out is not None:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Held._fields)
            writer.writerows(results)
    print("\n".join([summary(results), *dict.fromkeys(left_out)]))
    print(f"\n{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
