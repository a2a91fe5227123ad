"""What the constants of the decision are worth: each changed, one at a time.

    python benchmarks/decision.py --output benchmarks/reports/decision.csv

F1 of events at the default threshold, in percent: of the share of alarms that touch an anomaly and
the share of anomalies that an alarm touches, both within five rows, counted over all entities of a
set. For random walks, the share of rows that are anomalous where 1 % is asked for. Scores are
computed once; kinds that are kept back take no part.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from reproduce.cases import DEVELOPMENT, case
from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.data.series import TrainSeries
from subadjacent.evaluation.segments import segments
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.runtime import Runtime
from subadjacent.scoring.alarms import describe
from subadjacent.scoring.baseline_profile import BaselineProfiles, learn_profiles
from subadjacent.scoring.decision import Decision
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.normal import normal_scores
from subadjacent.scoring.threshold import BaseThreshold, ExtremeValue, FalseShare, Quantile

SETS = {"MSL": "msl.npz", "SMAP": "smap.npz", "SMD (19)": "smd19.npz"}
WALKS = "random walks, %"
NEAR = 5
# what is changed → modules that hold it, constant, value
CHANGES: dict[str, tuple[tuple[str, ...], str, Any]] = {
    "tail above 95 %": (("normal",), "TAIL_QUANTILE", 0.95),
    "tail above 90 %": (("normal",), "TAIL_QUANTILE", 0.9),
    "excursions: rows / 2": (("normal",), "EXCURSION_GAP", 12),
    "excursions: rows x 2": (("normal",), "EXCURSION_GAP", 50),
    "excursions: rows x 4": (("normal",), "EXCURSION_GAP", 100),
    "never below 98 %": (("normal",), "HIGH_QUANTILE", 0.98),
    "never below 99.5 %": (("normal",), "HIGH_QUANTILE", 0.995),
    "followed at one speed": (("recent_baseline",), "SPEED_UP", 1),
    "followed 4 times as quickly": (("recent_baseline",), "SPEED_UP", 4),
    "followed 16 times as quickly": (("recent_baseline",), "SPEED_UP", 16),
    "the same thing within 500 rows": (("alarms",), "REPEAT_WITHIN", 500),
    "the same thing within 2,000 rows": (("alarms",), "REPEAT_WITHIN", 2000),
    "each event by itself": (("alarms",), "REPEAT_WITHIN", 0),
    "close: rows / 2": (("alarms",), "JOIN_WITHIN", 50),
    "close: rows x 2": (("alarms",), "JOIN_WITHIN", 200),
    "alike: 0.5": (("alarms",), "MIN_SIMILARITY", 0.5),
    "alike: 0.9": (("alarms",), "MIN_SIMILARITY", 0.9),
    "misfit: 20 % of the rows": (("decision",), "MAX_UNLIKE_SHARE", 0.2),
    "misfit: 50 % of the rows": (("decision",), "MAX_UNLIKE_SHARE", 0.5),
}
SHARES = (0.1, 0.2, 0.5)
CHOSEN = SubAdjacentDetector().adapt_after
ADAPT_AFTER = (100, 200, 300, 500, 700, 1000, None)


class Scored(NamedTuple):
    """One entity: scores of normal rows, and what was found in rows to judge."""

    group: str
    held_out: np.ndarray
    series: TrainSeries
    evidence: Evidence
    labels: np.ndarray
    blur: int
    habits: BaselineProfiles


def score(group: str, train: np.ndarray, test: np.ndarray, labels: np.ndarray) -> Scored:
    """Fit, and keep what a decision needs."""
    fitted = ViewsMethod(ViewSettings()).fit([TrainSeries(train)], Runtime())
    model = fitted.models.pooled
    evidence = model.assess(test)
    # traces take most of the memory, and no decision looks at them
    evidence = evidence._replace(expected=None, traces={}, views=())
    return Scored(
        group,
        fitted.held_out[0],
        TrainSeries(test),
        evidence,
        np.asarray(labels),
        model.blur,
        learn_profiles(TrainSeries(train)),
    )


def everything(root: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """All entities of the sets, plants, development kinds and random walks."""
    for name, file in SETS.items():
        with np.load(root / file) as data:
            cuts = np.cumsum(data["train_lengths"])[:-1], np.cumsum(data["test_lengths"])[:-1]
            train = np.split(np.ascontiguousarray(data["train"]), cuts[0])
            test = np.split(np.ascontiguousarray(data["test"]), cuts[1])
            labels = np.split(data["labels"], cuts[1])
        for number in range(len(train)):
            yield name, train[number], test[number], labels[number]
    for channels in (4, 20):
        for seed in range(10):
            plant = multivariate(n=4000, channels=channels, seed=seed)
            yield f"plant, {channels} channels", plant.train, plant.test, plant.labels
    for kind in DEVELOPMENT:
        for seed in range(5):
            one = case(kind, seed)
            yield "states and shapes", one.train, one.test, one.labels
    for seed in range(16):
        rng = np.random.default_rng(seed)
        walk = np.cumsum(rng.normal(size=(6000, 1 + seed % 4)), axis=0)
        yield WALKS, walk[:3000], walk[3000:], np.zeros(3000, dtype=int)


def judge(entities: list[Scored], rule: BaseThreshold, adapt_after: int | None) -> dict[str, float]:
    """F1 of events of each group, or the share of anomalous rows of random walks."""
    groups: dict[str, list[Scored]] = {}
    for one in entities:
        groups.setdefault(one.group, []).append(one)
    found = {}
    for name, members in groups.items():
        # machines of one set have normal scores in common; what was drawn apart has not
        together = [members] if name in SETS else [[one] for one in members]
        counts = np.sum([_count(some, name, rule, adapt_after) for some in together], axis=0)
        right, alarms, caught, anomalies, rows, total = counts
        if name == WALKS:
            found[name] = 100 * rows / total
            continue
        precision, recall = right / max(alarms, 1), caught / max(anomalies, 1)
        found[name] = 200 * precision * recall / max(precision + recall, 1e-12)
    return found


def _count(
    entities: list[Scored], group: str, rule: BaseThreshold, adapt_after: int | None
) -> np.ndarray:
    """Alarms that are right, alarms, anomalies found, anomalies, anomalous rows, rows."""
    names = [str(number) for number in range(len(entities))]
    held_out = [one.held_out for one in entities]
    rule = Quantile(0.99) if group == WALKS else rule
    threshold = rule.fit(np.concatenate(held_out)).threshold_
    decision = Decision(threshold, rule, normal_scores(names, held_out), adapt_after)
    total = np.zeros(6)
    for name, one in zip(names, entities, strict=True):
        judgement = decision.decide(one.evidence.score, name, blur=one.blur)
        alarms = describe(
            one.series,
            one.evidence,
            judgement,
            one.habits,
            judgement.events(),
            channels=0,
            again=import_module("subadjacent.scoring.alarms").REPEAT_WITHIN,
        )
        bounds = [(alarm.first, alarm.last) for alarm in alarms]
        anomalies = [(start - NEAR, stop - 1 + NEAR) for start, stop in segments(one.labels)]
        total += [
            sum(any(_touch(a, b) for b in anomalies) for a in bounds),
            len(bounds),
            sum(any(_touch(a, b) for a in bounds) for b in anomalies),
            len(anomalies),
            judgement.anomalous.sum(),
            len(judgement.anomalous),
        ]
    return total


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and one[1] >= other[0]


def changed(entities: list[Scored], modules: tuple[str, ...], name: str, value: Any) -> Any:
    """With one constant changed, and changed back."""
    owners = [import_module(f"subadjacent.scoring.{module}") for module in modules]
    before = getattr(owners[0], name)
    try:
        for owner in owners:
            setattr(owner, name, value)
        return judge(entities, FalseShare(), CHOSEN)
    finally:
        for owner in owners:
            setattr(owner, name, before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    with Parallel(n_jobs=arguments.jobs) as parallel:
        entities = parallel(delayed(score)(*one) for one in everything(arguments.data))
        settings: dict[str, Any] = {
            "as chosen": delayed(judge)(entities, FalseShare(), CHOSEN),
            "one false alarm in 10,000 rows, never adapts": delayed(judge)(
                entities, ExtremeValue(), None
            ),
            "one false alarm in 10,000 rows": delayed(judge)(entities, ExtremeValue(), CHOSEN),
        }
        for share in SHARES:
            settings[f"false share {share}"] = delayed(judge)(entities, FalseShare(share), CHOSEN)
        for rows in ADAPT_AFTER:
            what = "never adapts" if rows is None else f"adapts after {rows} rows"
            settings[what] = delayed(judge)(entities, FalseShare(), rows)
        for what, change in CHANGES.items():
            settings[what] = delayed(changed)(entities, *change)
        results = parallel(settings.values())
    table = [
        {"setting": what} | {name: f"{value:.1f}" for name, value in found.items()}
        for what, found in zip(settings, results, strict=True)
    ]
    for row in table:
        print(*row.values(), sep=" | ")
    with arguments.output.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
