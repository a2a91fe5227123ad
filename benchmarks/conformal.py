"""What conformal thresholds and false discovery rates promise, and what comes of it.

    python benchmarks/conformal.py --output benchmarks/reports/conformal.csv

Scores that are normal throughout, drawn many times: the share of rows (or blocks) that are alarms,
as a mean over draws and what one draw in ten exceeds. The default detector on normal processes.
Fleets with and without entities that stand out: the mean share of false discoveries, the share of
entities that stand out which are found, and how many normal entities have a p-value of up to 0.05.
"""

from __future__ import annotations

import argparse
import csv
import logging
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from subadjacent import AdaptiveConformal, Conformal, SubAdjacentDetector
from subadjacent.data.cases.normal import NORMAL, normal_rows
from subadjacent.detectors.many import assess_each, fit_each
from subadjacent.scoring import discoveries
from subadjacent.scoring.base_threshold import BaseThreshold
from subadjacent.scoring.conformal import block_maxima
from subadjacent.scoring.discoveries import Worst, benjamini_hochberg, p_values_of, worst_of

Scores = NDArray[np.float64]

ALPHA, BLOCK, RATE = 0.01, 25, 0.1
# rows to judge, in each draw
FRESH = 5_000
# entities, rows fitted on, rows tested
FLEETS = ((100, 100, 100), (100, 1_000, 100), (30, 500, 500), (200, 200, 200))
CHOSEN, RANKS = "as chosen", "ranks only"
# constants of the p-values of entities, each changed by itself, where rows are few
CHANGES = {"2 folds": ("FOLDS", 2), "no guard": ("GUARD", 0)}
BAD, DEVIATIONS, LONG = 5, 30.0, 10
WARM_UP = 500


def draw(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Scores:
    """Normal scores of one kind, time along the last axis."""
    noise = rng.normal(size=(*shape[:-1], shape[-1] + WARM_UP))
    if kind == "heavy tails":
        noise = rng.standard_t(3, size=noise.shape)
    if kind.startswith("AR"):
        noise = lfilter([1], [1, -float(kind.split()[1])], noise)
    scores = lfilter(np.ones(20) / 20, 1, noise**2) if kind == "means of 20 rows" else noise**2
    return np.asarray(scores[..., WARM_UP:])


def row(about: str, data: str, form: str, asked: float, found: Any, **more: Any) -> dict[str, Any]:
    """A line of the table; what was found in each run, as a mean and what one in ten exceeds."""
    values = np.asarray(found, dtype=float)
    return {
        "about": about,
        "data": data,
        "form": form,
        "asked": asked,
        "mean": round(float(values.mean()), 4),
        "one in ten": round(float(np.quantile(values, 0.9)), 4),
        "power": "",
        "p <= 0.05": "",
        "runs": len(values),
    } | more


def of_rows(runs: int) -> Iterator[dict[str, Any]]:
    """Split-conformal thresholds on scores that do and do not remember."""
    for kind in ("independent", "AR 0.9", "AR 0.99", "means of 20 rows"):
        for rows in (200, 1_000, 10_000):
            by_row, by_block = [], []
            for seed in range(runs):
                scores = draw(kind, np.random.default_rng(seed), (rows + FRESH,))
                fresh = scores[rows:]
                by_row.append(Conformal(ALPHA).fit(scores[:rows]).predict(fresh).mean())
                level = Conformal(0.05, BLOCK).fit(scores[:rows]).threshold_
                by_block.append((block_maxima(fresh, BLOCK) > level).mean())
            yield row("rows", f"{kind}, {rows:,} held out", "split", ALPHA, by_row)
            yield row("blocks", f"{kind}, {rows:,} held out", f"block {BLOCK}", 0.05, by_block)


def of_drift(runs: int) -> Iterator[dict[str, Any]]:
    """The split and the adaptive form where normal scores grow, jump, or come and go."""
    time = np.linspace(0, 1, FRESH)
    drifts = {
        "none": np.ones(FRESH),
        "scores grow to 4 times": 1 + 3 * time,
        "scores jump to 4 times": np.where(time < 0.2, 1.0, 4.0),
        "scores come and go by 4 times": 1 + 1.5 * (1 - np.cos(8 * np.pi * time)),
    }
    forms: dict[str, BaseThreshold] = {
        "split": Conformal(ALPHA),
        "adaptive": AdaptiveConformal(ALPHA),
    }
    for name, scale in drifts.items():
        for form, rule in forms.items():
            found = []
            for seed in range(runs):
                scores = draw("AR 0.9", np.random.default_rng(seed), (1_000 + FRESH,))
                found.append(rule.fit(scores[:1_000]).predict(scores[1_000:] * scale).mean())
            yield row("drift", name, form, ALPHA, found)


def of_default(runs: int, rows: int) -> Iterator[dict[str, Any]]:
    """The default detector on normal processes: rows that are alarms."""
    for process in NORMAL:
        for asked in ("1%", "1% adaptive"):
            found = []
            for seed in range(runs):
                values = normal_rows(process, 2 * rows, 5, seed)
                detector = SubAdjacentDetector(contamination=asked).fit(values[:rows])
                found.append(np.mean(detector.predict(values[rows:])))
            form = "adaptive" if "adaptive" in asked else "split"
            yield row("default", f"{process}, {rows:,} rows", form, ALPHA, found)


def of_fleets(runs: int) -> Iterator[dict[str, Any]]:
    """Fleets of scores; each entity has a unit of its own."""
    for kind in ("independent", "heavy tails", "AR 0.9", "means of 20 rows"):
        for count, fitted, tested in FLEETS:
            for bad in (0, BAD):
                fleets = [
                    _fleet(kind, np.random.default_rng(seed), count, fitted, tested, bad)
                    for seed in range(runs)
                ]
                data = f"{kind}, {count} entities, {fitted} + {tested} rows, {bad} stand out"
                worst = _worst(fleets, fitted)
                yield _counted("fleet", data, CHOSEN, worst, bad)
                yield _counted("fleet", data, RANKS, worst, bad, extrapolate=False)
                if (count, fitted, tested) != FLEETS[0]:
                    continue
                for form, (name, value) in CHANGES.items():
                    yield _counted("fleet", data, form, _changed(fleets, fitted, name, value), bad)


def _fleet(
    kind: str, rng: np.random.Generator, count: int, fitted: int, tested: int, bad: int
) -> Scores:
    scores = draw(kind, rng, (count, fitted + tested)) * np.exp(rng.normal(size=(count, 1)))
    deviations = scores[:bad, :fitted].std(axis=1, keepdims=True)
    scores[:bad, fitted + 5 : fitted + 5 + LONG] += DEVIATIONS * deviations
    return scores


def _worst(fleets: list[Scores], fitted: int) -> list[list[Worst]]:
    return [[worst_of(one[:fitted], one[fitted:]) for one in fleet] for fleet in fleets]


def _changed(fleets: list[Scores], fitted: int, name: str, value: int) -> list[list[Worst]]:
    """The same with one constant changed, and changed back."""
    before = getattr(discoveries, name)
    try:
        setattr(discoveries, name, value)
        return _worst(fleets, fitted)
    finally:
        setattr(discoveries, name, before)


def _counted(
    about: str,
    data: str,
    form: str,
    fleets: list[list[Worst]],
    bad: int,
    *,
    extrapolate: bool = True,
) -> dict[str, Any]:
    false, right, low = [], [], []
    for worst in fleets:
        p_values = p_values_of(worst, extrapolate=extrapolate)
        low.append(np.mean(p_values[bad:] <= 0.05))
        kept = benjamini_hochberg(p_values, RATE)
        false.append(kept[bad:].sum() / max(kept.sum(), 1))
        right.append(kept[:bad].mean() if bad else np.nan)
    power = round(float(np.mean(right)), 3) if bad else ""
    more = {"power": power, "p <= 0.05": round(float(np.mean(low)), 4)}
    return row(about, data, form, RATE, false, **more)


def of_fleets_by_default(runs: int, entities: int, rows: int) -> Iterator[dict[str, Any]]:
    """Fleets of the default detector: one model an entity, half of the rows fitted on."""
    for process in ("white", "AR 0.5", "cycles"):
        for bad in (0, BAD):
            fleets = []
            for seed in range(runs):
                values = {
                    str(number): normal_rows(process, 2 * rows, 3, 1000 * seed + number)
                    for number in range(entities)
                }
                for number in range(bad):
                    values[str(number)][rows + 20 : rows + 20 + LONG] += 4
                detectors = fit_each(
                    SubAdjacentDetector(), {name: one[:rows] for name, one in values.items()}
                )
                found = assess_each(detectors, values)
                fleets.append(
                    [
                        worst_of(one.held_out_scores_[0], judged.judgements[0].scores[rows:])
                        for one, judged in zip(detectors, found, strict=True)
                    ]
                )
            data = f"{process}, {entities} entities, {rows} + {rows} rows, {bad} stand out"
            yield _counted("fleet of defaults", data, CHOSEN, fleets, bad)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=60, help="draws of scores, and fleets")
    parser.add_argument("--fits", type=int, default=4, help="fits of the default, and its fleets")
    parser.add_argument("--entities", type=int, default=40, help="of a fleet of defaults")
    parser.add_argument("--rows", type=int, default=1_000, help="that a default is fitted on")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    lines = chain(
        of_rows(options.runs),
        of_drift(options.runs),
        of_fleets(options.runs),
        of_fleets_by_default(options.fits, options.entities, options.rows // 5),
        of_default(options.fits, options.rows),
    )
    try:
        with options.output.open("w", newline="") as file:
            first = next(lines)
            writer = csv.DictWriter(file, first, lineterminator="\n")
            writer.writeheader()
            for line in chain([first], lines):
                writer.writerow(line)
                file.flush()
    finally:
        logging.disable(logging.NOTSET)


if __name__ == "__main__":
    main()
