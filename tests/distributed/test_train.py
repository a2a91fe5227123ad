"""Workers of a Ray cluster train a network together, to the weights that one process gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

import subadjacent
import together
from subadjacent.errors import InputError, MissingPackage
from subadjacent.workflow.cluster import LostWork
from subadjacent.workflow.train import fit_together
from together import OF_KEYS, DiesOnce

# of Ray, about its own settings
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")


@pytest.fixture(autouse=True, scope="module")
def workers_without_the_folder_of_tests(cluster: int) -> None:  # noqa: ARG001 — Ray is set up
    import ray

    ray.cloudpickle.register_pickle_by_value(together)


def test_two_workers_one_of_them_killed_give_the_detector_that_one_process_gives(
    cluster: int, tmp_path: Path
) -> None:
    plant = subadjacent.multivariate(n=400, channels=3)
    settings = {"size": "tiny", "window": 20, "stride": 8, "epochs": 3, "batch_size": 7}
    detector = DiesOnce(**settings, checkpoint=tmp_path / "state")
    many = fit_together(detector, plant.train, workers=cluster, restarts=1)
    assert not hasattr(detector, "threshold_")
    # died in the second epoch, and went on after the first
    assert detector.deaths() == ["died", "epoch 2 of at most 3"]
    one = subadjacent.SubAdjacentTransformerDetector(**settings).fit(plant.train)
    assert many.threshold_ == pytest.approx(one.threshold_, rel=1e-4)
    weights = many.network_.state_dict()
    for name, value in one.network_.state_dict().items():
        if not name.endswith(OF_KEYS):
            torch.testing.assert_close(weights[name], value, rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.sweep
@pytest.mark.usefixtures("cluster")
def test_a_worker_that_dies_too_often_is_an_error(tmp_path: Path) -> None:
    plant = subadjacent.multivariate(n=200, channels=2)
    detector = DiesOnce(size="tiny", window=20, checkpoint=tmp_path / "state")
    with pytest.raises(LostWork, match=r"restarts=0 were not enough: .*[Dd]ied"):
        fit_together(detector, plant.train, workers=1, restarts=0)


@pytest.mark.sweep
def test_what_the_workers_refuse_is_an_error_here(cluster: int) -> None:
    plant = subadjacent.multivariate(n=200, channels=2)
    with pytest.raises(InputError, match=r"must be one that 2 processes .* got DAGMM"):
        fit_together(subadjacent.DAGMMDetector(size="tiny"), plant.train, workers=cluster)


def test_missing_packages_are_an_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray.train", None)
    with pytest.raises(MissingPackage, match=r"pip install 'ray\[train\]'"):
        fit_together(subadjacent.SubAdjacentTransformerDetector(), [[0.0]], workers=1)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"workers": 0}, "workers must be a whole number of at least 1; got 0"),
        ({"workers": 3}, "workers must be at most 2, the CPU cores of the cluster; got 3"),
        ({"workers": 2, "restarts": -1}, "restarts must be a whole number of at least 0; got -1"),
    ],
)
@pytest.mark.usefixtures("cluster")
def test_bad_arguments_are_refused(given: dict[str, int], rule: str) -> None:
    detector = subadjacent.SubAdjacentTransformerDetector()
    with pytest.raises(InputError, match=rule):
        fit_together(detector, [[0.0]], **given)
