"""Parts that networks of other papers share."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from subadjacent.errors import InputError
from subadjacent.rivals.base import TINY, chain, pair_weights, require_heads, squared_error
from subadjacent.rivals.dagmm import DAGMM, DAGMMConfig
from subadjacent.rivals.thoc import THOC, THOCConfig


def test_a_chain_has_something_between_layers_and_nothing_after_the_last() -> None:
    found = chain([5, 3, 2, 1], nn.Tanh)
    assert [type(one) for one in found] == [nn.Linear, nn.Tanh, nn.Linear, nn.Tanh, nn.Linear]
    linear = [one for one in found if isinstance(one, nn.Linear)]
    assert [tuple(one.weight.shape) for one in linear] == [(3, 5), (2, 3), (1, 2)]
    assert isinstance(chain([2, 2, 2])[1], nn.ReLU)


def test_a_node_looks_with_one_number_and_is_looked_at_with_the_other() -> None:
    numbers = torch.tensor([[1.0, 10.0], [-3.0, 2.0]])
    # [from, to]: a sum below zero counts a fifth
    torch.testing.assert_close(pair_weights(numbers), torch.tensor([[11.0, 3.0], [7.0, -0.2]]))


def test_a_width_is_shared_out_evenly_among_heads() -> None:
    require_heads(6, 3)
    with pytest.raises(InputError, match="width must be a multiple of heads; got width=6, heads=4"):
        require_heads(6, 4)


def test_an_error_below_a_hundredth_of_a_deviation_counts_as_one() -> None:
    found = squared_error(torch.tensor([0.0, 0.001, 2.0]), torch.zeros(3))
    torch.testing.assert_close(found, torch.tensor([1e-4, 1e-4, 4.0]))


@pytest.mark.parametrize("window", [4, 5, 12])
def test_the_context_of_a_window(window: int) -> None:
    recurrent = THOC.seeded(THOCConfig.sized(TINY, 2, window), 0)
    assert recurrent.context == window // 2
    assert DAGMM.seeded(DAGMMConfig.sized(TINY, 2, window), 0).context == window - 1


def test_a_size_that_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match="size must be 'tiny' or 'paper'; got 'large'"):
        THOCConfig.sized("large", 2, 10)


def test_saved_settings_must_be_all_and_no_others() -> None:
    with pytest.raises(InputError, match="network must have the settings centres, channels"):
        THOCConfig.from_dict({"channels": 2})
    saved = {"channels": 2, "window": 5, "hidden": [3], "latent": 1, "mixtures": 2}
    saved |= {"estimator": 4, "dropout": 0.0, "energy_weight": 0.1, "variance_weight": 0.1}
    assert DAGMMConfig.from_dict(saved).hidden == (3,)
