"""Fitting a detector on the workers of a Ray cluster, which train its network together.

Ray Train starts the workers and connects them; what they do then is what processes do that
``torchrun`` starts.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from subadjacent.errors import InputError, MissingPackage, SubAdjacentError, require_whole
from subadjacent.runtime import needs_torch
from subadjacent.workflow.cluster import LostWork, needs_ray, resource

if TYPE_CHECKING:
    from subadjacent.detectors.base import BaseDetector

    Detector = TypeVar("Detector", bound=BaseDetector)


def fit_together(detector: Detector, X: Any, *, workers: int, restarts: int = 3) -> Detector:
    """Fit a detector on several workers of the cluster; within ``connected``.

    Each worker holds all rows, and a part of every batch. Each has a GPU of its own where the
    cluster has enough and the detector may use them.

    Parameters
    ----------
    detector
        Not changed. Where it has a ``checkpoint``, on a disk that all machines see, a worker that
        dies costs an epoch at most.
    X
        As for ``detector.fit``.
    workers
        How many to train on.
    restarts
        How often to start again after a worker has died.

    Returns
    -------
    BaseDetector
        The fitted detector, as from one process but for rounding.

    Raises
    ------
    LostWork
        When workers died or failed more often than ``restarts`` allows.
    """
    with needs_ray("training on a cluster"), needs_torch("training on a cluster"):
        import ray
        import torch  # noqa: F401 — Ray Train would not say what is missing
    try:
        from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
        from ray.train.torch import TorchTrainer
    except ImportError as error:
        raise MissingPackage(
            "training on a cluster needs Ray Train, of which some packages are not installed: "
            "pip install 'ray[train]'"
        ) from error

    require_whole("workers", workers, least=1)
    require_whole("restarts", restarts, least=0)
    if workers > (cores := int(resource("CPU"))):
        raise InputError(
            f"workers must be at most {cores}, the CPU cores of the cluster; got {workers}"
        )
    gpus = getattr(detector, "device", "cpu") != "cpu" and resource("GPU") >= workers
    kept: Any = ray.remote(num_cpus=0)(_Kept).remote()
    # of what Ray Train writes on the way, nothing is needed afterwards
    with TemporaryDirectory(prefix="subadjacent-") as folder:
        trainer = TorchTrainer(
            _fit,
            train_loop_config={"task": ray.put((detector, X)), "kept": kept},
            scaling_config=ScalingConfig(num_workers=workers, use_gpu=bool(gpus)),
            run_config=RunConfig(
                storage_path=folder, failure_config=FailureConfig(max_failures=restarts)
            ),
        )
        try:
            trainer.fit()
        except TrainingFailedError as error:
            raise LostWork(
                f"workers died or failed, and restarts={restarts} were not enough: "
                f"{' '.join(str(error).split())}"
            ) from error
    outcome = ray.get(kept.get.remote())
    if isinstance(outcome, SubAdjacentError):
        raise outcome
    fitted: Detector = outcome
    return fitted


def _fit(task: dict[str, Any]) -> None:
    """The work of each worker; the first keeps the result."""
    import ray

    from subadjacent.training.group import joined

    detector, rows = ray.get(task["task"])
    outcome: Any
    with joined() as group:
        try:
            outcome = detector.fit(rows)
        except SubAdjacentError as error:
            # all workers have it alike, and to start again would not help
            outcome = error
        if group.leads:
            ray.get(task["kept"].keep.remote(outcome))


class _Kept:
    """Holds the fitted detector, or the error, for the calling process."""

    def __init__(self) -> None:
        self._found: Any = None

    def keep(self, outcome: Any) -> None:
        self._found = outcome

    def get(self) -> Any:
        return self._found
