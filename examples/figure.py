"""The five rows of the paper's figure, for a made-up plant."""

import sys
import tempfile
from pathlib import Path

from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.report.figures import figure_trace

plant = multivariate(n=2_000, channels=4, seed=5)
detector = SubAdjacentDetector(epochs=3).fit(plant.train)
rows = plant.test[:800]
figure = figure_trace(detector.trace(rows)[0], detector.alarms(rows), threshold=detector.threshold_)
with tempfile.TemporaryDirectory() as folder:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "figure.png"
    figure.savefig(target, dpi=110)
    print("wrote", target.name)
