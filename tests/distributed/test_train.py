"""Workers of a Ray cluster train a network together, to the weights that one process gives."""

from __future__ import annotations

import pytest
import torch

import subadjacent
from subadjacent.distributed.train import fit_together
from subadjacent.errors import InputError
from together import OF_KEYS

# of Ray, about its own settings
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")


def test_two_workers_give_the_detector_that_one_process_gives(cluster: int) -> None:
    plant = subadjacent.multivariate(n=400, channels=3)
    detector = subadjacent.SubAdjacentTransformerDetector(
        size="tiny", window=20, stride=8, epochs=2, batch_size=7
    )
    many = fit_together(detector, plant.train, workers=cluster)
    assert not hasattr(detector, "threshold_")
    one = detector.fit(plant.train)
    assert many.threshold_ == pytest.approx(one.threshold_, rel=1e-4)
    weights = many.network_.state_dict()
    for name, value in one.network_.state_dict().items():
        if not name.endswith(OF_KEYS):
            torch.testing.assert_close(weights[name], value, rtol=1e-4, atol=1e-5, msg=name)


def test_what_the_workers_refuse_is_an_error_here(cluster: int) -> None:
    plant = subadjacent.multivariate(n=200, channels=2)
    with pytest.raises(InputError, match=r"must be one that 2 processes .* got DAGMM"):
        fit_together(subadjacent.DAGMMDetector(size="tiny"), plant.train, workers=cluster)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"workers": 0}, "workers must be a whole number of at least 1; got 0"),
        ({"workers": 3}, "workers must be at most the 2 that the cluster has; got 3"),
        ({"workers": 2, "restarts": -1}, "restarts must be a whole number of at least 0; got -1"),
    ],
)
@pytest.mark.usefixtures("cluster")
def test_bad_arguments_are_refused(given: dict[str, int], rule: str) -> None:
    detector = subadjacent.SubAdjacentTransformerDetector()
    with pytest.raises(InputError, match=rule):
        fit_together(detector, [[0.0]], **given)
