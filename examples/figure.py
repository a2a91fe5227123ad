"""What led to the scores of a made-up plant: data, each view of them, and the score."""

import sys
import tempfile
from pathlib import Path

from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.report.figures import figure_series

plant = multivariate(n=2_000, channels=4, seed=5)
detector = SubAdjacentDetector().fit(plant.train)
figure = figure_series(detector.assess(plant.test[:800]))
with tempfile.TemporaryDirectory() as folder:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "figure.png"
    figure.savefig(target, dpi=110)
    print("wrote", target.name)
