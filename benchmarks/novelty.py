"""What the constants of the views of states and shapes are worth: each changed, one at a time.

    python benchmarks/novelty.py --output benchmarks/reports/novelty.csv

Average precision of the default on the development sets (four machines of SMD) and on generated
kinds, the mean over entities or seeds. Kinds that are kept back take no part.
"""

from __future__ import annotations

import argparse
import csv
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from reproduce.cases import DEVELOPMENT, case
from subadjacent import SubAdjacentDetector
from subadjacent.evaluation.metrics import average_precision
from subadjacent.scoring.view_facts import FACTS, FORECASTING

SETS = {"MSL": "msl.npz", "SMAP": "smap.npz", "SMD (4)": "smd19.npz", "NeurIPS-TS": "nips_ts.npz"}
MACHINES = (0, 5, 10, 15)
SEEDS = range(5)
# what is changed → module, constant, value
CHANGES: dict[str, tuple[str, str, Any]] = {
    "quantiles: 90 % as well": ("novelty", "QUANTILES", (0.9, 0.99, 0.999, 1.0)),
    "quantiles: the highest row alone": ("novelty", "QUANTILES", (1.0,)),
    "softness / 3": ("novelty", "SOFTNESS", 1.0),
    "softness x 3": ("novelty", "SOFTNESS", 9.0),
    "softness x 10": ("novelty", "SOFTNESS", 30.0),
    "weight of states / 2": ("weights", "", {"state": 0.25, "shape": 1.0}),
    "weight of states x 2": ("weights", "", {"state": 1.0, "shape": 1.0}),
    "weight of shapes / 2": ("weights", "", {"state": 0.5, "shape": 0.5}),
    "weight of shapes x 2": ("weights", "", {"state": 0.5, "shape": 2.0}),
    "states: references / 4": ("states", "MAX_REFERENCES", 1_000),
    "states: references x 2": ("states", "MAX_REFERENCES", 8_000),
    "states: guard / 5": ("states", "GUARD", 10),
    "states: prior rows / 5": ("states", "PRIOR_ROWS", 4),
    "states: prior rows x 5": ("states", "PRIOR_ROWS", 100),
    "states: one usual distance for all": ("states", "PRIOR_ROWS", 10**9),
    "shapes: references / 3": ("fit_shapes", "MAX_REFERENCES", 333),
    "shapes: references x 3": ("fit_shapes", "MAX_REFERENCES", 3_000),
    "shapes: flat / 3": ("shapes", "FLAT", 0.1),
    "shapes: flat x 2": ("shapes", "FLAT", 0.6),
    "shapes: half as long": ("fit_shapes", "NO_CYCLE", 128),
    "shapes: twice as long": ("fit_shapes", "NO_CYCLE", 400),
    "shapes: no cycle counts": ("fit_shapes", "CYCLES", (10**9, 10**9)),
    "shapes: cycles from 100 rows on": ("fit_shapes", "CYCLES", (100, 400)),
    "shapes: least moving 0.25": ("fit_shapes", "MIN_MOVING_SHARE", 0.25),
    "shapes: least moving 0.75": ("fit_shapes", "MIN_MOVING_SHARE", 0.75),
}


class Labelled(NamedTuple):
    """Rows to fit on, rows to score, and what is anomalous in these."""

    group: str
    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray


def everything(root: Path) -> list[Labelled]:
    """All entities of the sets, and all seeds of the development kinds."""
    rows = []
    for name, file in SETS.items():
        with np.load(root / file) as data:
            cuts = np.cumsum(data["train_lengths"])[:-1], np.cumsum(data["test_lengths"])[:-1]
            train = np.split(np.ascontiguousarray(data["train"]), cuts[0])
            test = np.split(np.ascontiguousarray(data["test"]), cuts[1])
            labels = np.split(data["labels"], cuts[1])
        rows += [
            Labelled(name, train[number], test[number], labels[number])
            for number in (MACHINES if "SMD" in name else range(len(train)))
        ]
    drawn = [(kind, case(kind, seed)) for kind in DEVELOPMENT for seed in SEEDS]
    return rows + [Labelled(kind, one.train, one.test, one.labels) for kind, one in drawn]


def precision(rows: Labelled, change: tuple[str, str, Any] | None, views: Any) -> float:
    """Average precision in percent, with one constant changed."""
    if change is not None:
        module, name, value = change
        if module == "weights":
            # others hold the same records
            FACTS.update({view: FACTS[view]._replace(weight=own) for view, own in value.items()})
        else:
            setattr(import_module(f"subadjacent.methods.views.{module}"), name, value)
    scores = SubAdjacentDetector(views=views).fit(rows.train).decision_function(rows.test)
    return 100 * average_precision(scores, rows.labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rows = everything(arguments.data)
    settings: list[tuple[str, tuple[str, str, Any] | None, Any]] = [
        ("as chosen", None, "all"),
        ("without states and shapes", None, FORECASTING),
        ("without states", None, (*FORECASTING, "shape")),
        ("without shapes", None, (*FORECASTING, "state")),
        *((what, change, "all") for what, change in CHANGES.items()),
    ]
    table = []
    for what, change, views in settings:
        # a process is used for one setting only: a changed constant stays changed in it
        with Parallel(n_jobs=arguments.jobs, backend="multiprocessing") as parallel:
            precisions = parallel(delayed(precision)(one, change, views) for one in rows)
        groups: dict[str, list[float]] = {}
        for labelled, value in zip(rows, precisions, strict=True):
            groups.setdefault(labelled.group, []).append(value)
        table.append(
            {"setting": what} | {name: f"{np.mean(group):.2f}" for name, group in groups.items()}
        )
        print(table[-1], flush=True)
    with arguments.output.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
