"""What each part of the online score is worth, and in which units to add them.

    python benchmarks/online.py --output benchmarks/reports/online.csv

Average precision in percent, the mean over entities with anomalies, of scores that look back only:
fitted on training rows, no label anywhere. Units were chosen on every second entity (of SMD and the
recordings on every fourth); the other half took no part in that. Sets that the output has already
are not measured again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from live_data import quiet, read_csv, write_csv

from reproduce.cases import DEVELOPMENT, case
from subadjacent.data.series import TrainSeries
from subadjacent.evaluation.metrics import average_precision
from subadjacent.methods.learning import learn
from subadjacent.methods.method import Method
from subadjacent.methods.online.method import OnlineMethod
from subadjacent.methods.stream import assess_series
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.runtime import Runtime

# set → file, and how many entities lie between two that are measured, in each half
SETS = {
    "MSL": ("msl.npz", 2),
    "SMAP": ("smap.npz", 2),
    "web": ("web.npz", 2),
    "SMD": ("smd19.npz", 4),
    "recordings": ("recordings.npz", 4),
}
GENERATED = "generated"
SEEDS = range(4)
CHOSEN, KEPT = "chosen on", "kept back"


class Labelled(NamedTuple):
    """Rows to fit on, rows to score, and what is anomalous in these."""

    half: str
    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray


class Scores(NamedTuple):
    """Scores of held-out training rows and of test rows."""

    train: np.ndarray
    test: np.ndarray

    def in_unit(self, share: float) -> np.ndarray:
        """Test scores in units of a quantile of the training scores."""
        scores: np.ndarray = self.test / max(float(np.quantile(self.train, share)), 1e-3)
        return scores

    def beyond(self, rows: int) -> np.ndarray:
        """Test scores in units of the level that this many training rows exceed."""
        return self.in_unit(max(1 - rows / len(self.train), 0.99))


def scores(method: Method, entity: Labelled) -> Scores:
    learned = learn(method, [TrainSeries(entity.train)], Runtime())
    evidence = assess_series(learned.fitted.models.pooled, TrainSeries(entity.test))
    return Scores(np.concatenate(learned.fitted.held_out), np.asarray(evidence.score))


def beyond_1(scores: np.ndarray) -> np.ndarray:
    excess: np.ndarray = np.maximum(scores - 1, 0)
    return excess


def forms(entity: Labelled) -> dict[str, float]:
    """Average precision of every form of the score."""
    with quiet():
        averaged = scores(ViewsMethod(ViewSettings(lookahead=0)), entity)
        new = scores(OnlineMethod(lasting=None), entity)
        lasting = scores(ViewsMethod(ViewSettings(lookahead=0, smoothing=1)), entity)
    found = {
        "views, averaged over 20 rows (0.2)": averaged.test,
        "what is new": new.test,
        "what lasts": lasting.test,
        "both, new + 0.2's views": new.in_unit(0.99) + averaged.in_unit(0.99),
        "both, 99 % each": new.in_unit(0.99) + lasting.in_unit(0.99),
        "both, what lasts at 50 rows": new.in_unit(0.99) + lasting.beyond(50),
        "both, what lasts at 20 rows (taken)": new.in_unit(0.99) + lasting.beyond(20),
        "both, what lasts at 5 rows": new.in_unit(0.99) + lasting.beyond(5),
        "both, the higher one": np.maximum(new.in_unit(0.99), lasting.in_unit(0.99)),
        "both at 20 rows, half of what is new": new.in_unit(0.99) / 2 + lasting.beyond(20),
        "both at 20 rows, new at 99.9 %": new.in_unit(0.999) + lasting.beyond(20),
        "both at 20 rows, new beyond 1": beyond_1(new.in_unit(0.99)) + lasting.beyond(20),
        "both at 20 rows, 2-norm": np.hypot(new.in_unit(0.99), lasting.beyond(20)),
    }
    return {form: average_precision(score, entity.labels) for form, score in found.items()}


def of_set(name: str, root: Path) -> Iterator[Labelled]:
    file, step = SETS[name]
    with np.load(root / file) as data:
        cuts = np.cumsum(data["train_lengths"])[:-1], np.cumsum(data["test_lengths"])[:-1]
        train = np.split(np.ascontiguousarray(data["train"]).astype(float), cuts[0])
        test = np.split(np.ascontiguousarray(data["test"]).astype(float), cuts[1])
        labels = np.split(data["labels"], cuts[1])
    for half, first in ((CHOSEN, 0), (KEPT, 1)):
        for number in range(first, len(train), step):
            if labels[number].any():
                yield Labelled(half, train[number], test[number], labels[number])


def generated() -> Iterator[Labelled]:
    """Kinds of anomaly that were drawn; no unit was chosen on them."""
    for kind in DEVELOPMENT:
        for seed in SEEDS:
            drawn = case(kind, seed)
            yield Labelled(KEPT, drawn.train, drawn.test, drawn.labels)


def measured(name: str, root: Path, jobs: int) -> list[dict[str, Any]]:
    """A row for each half and form."""
    entities = list(generated() if name == GENERATED else of_set(name, root))
    found = Parallel(n_jobs=jobs)(delayed(forms)(entity) for entity in entities)
    rows = []
    for half in dict.fromkeys(entity.half for entity in entities):
        own = [one for one, entity in zip(found, entities, strict=True) if entity.half == half]
        rows += [
            {
                "set": name,
                "half": half,
                "entities": len(own),
                "form": form,
                "average_precision": round(100 * float(np.mean([one[form] for one in own])), 1),
            }
            for form in own[0]
        ]
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a row for each set, half and form."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", default=[*SETS, GENERATED])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    there: list[Any] = read_csv(options.output) if options.output.exists() else []
    for name in options.sets:
        if name not in {row["set"] for row in there}:
            there += measured(name, options.data, options.jobs)
            write_csv(options.output, there)


if __name__ == "__main__":
    main()
