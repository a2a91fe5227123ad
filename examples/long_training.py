"""A training that can be watched, limited in time, killed and resumed."""

import tempfile
from pathlib import Path

from subadjacent import Progress, SubAdjacentTransformerDetector, multivariate


def show(progress: Progress) -> None:
    """Print a line an epoch: the last step of each has the validation error."""
    if "validation error" in progress.note:
        print(f"{progress.done} of {progress.total} {progress.unit}: {progress.note}")


plant = multivariate(n=2_000, channels=4, seed=0)
with tempfile.TemporaryDirectory() as folder:
    detector = SubAdjacentTransformerDetector(
        size="tiny",
        stride=8,
        epochs=3,
        max_training_time="1m",
        checkpoint=Path(folder) / "training.safetensors",
    )
    # kill this process and start it again: it goes on after the last finished epoch
    detector.fit(plant.train, watch=show)
    detector.save(Path(folder) / "model")
    again = SubAdjacentTransformerDetector.load(Path(folder) / "model")
print("loaded, threshold", round(again.threshold_, 4))
