"""Which form of the score ranks anomalies best, on plain metrics.

    python benchmarks/score_forms.py --output benchmarks/reports/score_forms.csv

One small network a set, one seed; the score's forms are then compared on the
same network: with and without the contribution (Eq. 6), dynamic scoring (Eq. 7) and smoothing.
Every number is the mean over entities, without point adjustment and without a threshold.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path

import numpy as np

from subadjacent import SubAdjacentTransformerDetector
from subadjacent.evaluation.metrics import auroc, average_precision

SETS = {"MSL": "msl.npz", "SMAP": "smap.npz"}
TEMPERATURES, SMOOTHINGS, DYNAMICS = (0.0, 50.0), (1, 20), ("none", "trailing", "released")


def entities(data: np.lib.npyio.NpzFile, part: str, lengths: str) -> dict[str, np.ndarray]:
    cuts = np.cumsum(data[lengths])[:-1]
    parts = np.split(np.ascontiguousarray(data[part]), cuts)
    return dict(zip(data["entities"].tolist(), parts, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    rows = []
    for name, file in SETS.items():
        with np.load(arguments.data / file) as data:
            train = entities(data, "train", "train_lengths")
            test = entities(data, "test", "test_lengths")
            labels = entities(data, "labels", "test_lengths")
        network = None
        for temperature, smoothing, dynamic in itertools.product(
            TEMPERATURES, SMOOTHINGS, DYNAMICS
        ):
            form = {"temperature": temperature, "smoothing": smoothing, "dynamic": dynamic}
            # the checkpoint holds the trained network: only the first of a set is trained
            network = network or arguments.output.with_name(f".{name}.checkpoint")
            detector = SubAdjacentTransformerDetector(
                **form, size="small", stride="auto", checkpoint=network
            ).fit(train)
            scores = detector.decision_function(test)
            mixed = [one for one in test if 0 < labels[one].sum() < len(labels[one])]
            row = {
                "set": name,
                **form,
                "auroc": np.mean([auroc(scores[one], labels[one]) for one in mixed]),
                "average_precision": np.mean(
                    [average_precision(scores[one], labels[one]) for one in mixed]
                ),
                "entities": len(mixed),
            }
            rows.append(row)
            print(row, flush=True)
        if network is not None:
            network.unlink()
    with arguments.output.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main()
