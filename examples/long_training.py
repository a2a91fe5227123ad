"""A training that can be watched, limited in time, killed and resumed."""

import tempfile
from pathlib import Path

from subadjacent import Progress, SubAdjacentDetector, multivariate


def show(progress: Progress) -> None:
    """Print a line an epoch."""
    if epoch := progress.finished:
        print(f"epoch {epoch.number}: validation error {epoch.validation_error:.4f}")


plant = multivariate(n=2_000, channels=4, seed=0)
with tempfile.TemporaryDirectory() as folder:
    detector = SubAdjacentDetector(
        epochs=3,
        budget="1m",
        checkpoint=Path(folder) / "training.safetensors",
    )
    # kill this process and start it again: it goes on after the last finished epoch
    detector.fit(plant.train, watch=show)
    detector.save(Path(folder) / "model")
    again = SubAdjacentDetector.load(Path(folder) / "model")
print("loaded, threshold", round(again.threshold_, 4))
