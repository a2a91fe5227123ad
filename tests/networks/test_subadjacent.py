"""The whole network."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from subadjacent.core.band import Band
from subadjacent.core.contribution import dense_contribution
from subadjacent.core.dispatch import DENSE_UP_TO
from subadjacent.core.loss import loss
from subadjacent.networks.subadjacent import ATTENTIONS, SubAdjacentConfig, SubAdjacentTransformer

KINDS = pytest.mark.parametrize("attention", ATTENTIONS)
# the longest window whose matrix is formed, and the shortest whose is not
LENGTHS = pytest.mark.parametrize("n", [DENSE_UP_TO, DENSE_UP_TO + 1])


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def network(channels: int = 3, seed: int = 0, **others: Any) -> SubAdjacentTransformer:
    config = SubAdjacentConfig(channels, width=32, heads=2, layers=2, feedforward=8, **others)
    return SubAdjacentTransformer.seeded(config, seed)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_without_weights_the_network_gives_its_last_bias() -> None:
    model = network(channels=2)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    with torch.no_grad():
        model.reconstruct.bias.copy_(torch.tensor([3.0, 4.0]))
    values, contribution = model(drawn(1, 100, 2))
    assert values[0].tolist() == [[3.0, 4.0]] * 100
    # attention is even: 22 of 100 points are in the band
    torch.testing.assert_close(contribution, torch.full((1, 100), 0.22))


@pytest.mark.parametrize(
    ("channels", "millions"), [(51, 4.84), (123, 4.98), (25, 4.78), (55, 4.84), (38, 4.81)]
)
def test_the_paper_s_network_has_the_paper_s_number_of_parameters(
    channels: int, millions: float
) -> None:
    with torch.device("meta"):
        model = SubAdjacentTransformer(SubAdjacentConfig.sized("paper", channels))
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count / 1e6 == pytest.approx(millions, abs=0.01)


def test_the_layers_run_one_after_the_other_between_embedding_and_norm() -> None:
    model = network()
    windows = drawn(2, 50, 3)
    x = model.embed(windows)
    contributions = []
    for layer in model.layers:
        x, contribution = layer(x)
        contributions.append(contribution)
    # a norm that does nothing at birth would go unseen if it were left out
    nn.init.constant_(model.norm.weight, 2.0)
    values, contribution = model(windows)
    torch.testing.assert_close(values, model.reconstruct(2.0 * nn.functional.layer_norm(x, [32])))
    torch.testing.assert_close(contribution, sum(contributions) / 2)


def test_windows_of_a_batch_do_not_mix() -> None:
    model, windows = network(), drawn(3, 60, 3)
    together = model(windows)
    for i in range(3):
        alone = model(windows[i : i + 1])
        torch.testing.assert_close(alone.values[0], together.values[i])
        torch.testing.assert_close(alone.contribution[0], together.contribution[i])


@LENGTHS
@KINDS
def test_every_parameter_of_every_kind_gets_a_finite_gradient(attention: str, n: int) -> None:
    model, windows = network(attention=attention), drawn(2, n, 3)
    loss(windows, *model(windows)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@LENGTHS
@KINDS
def test_the_attention_matrices_explain_the_contribution(attention: str, n: int) -> None:
    model, windows = network(attention=attention), drawn(2, n, 3)
    expected = dense_contribution(model.attention(windows), Band()).mean(dim=(0, 2))
    torch.testing.assert_close(model(windows).contribution, expected)


def test_weights_depend_on_the_seed_and_on_nothing_else() -> None:
    before = weights(network(seed=7))
    torch.rand(3)
    assert torch.equal(weights(network(seed=7)), before)
    assert not torch.equal(weights(network(seed=8)), before)


def test_seeding_leaves_the_global_generator_as_it_was() -> None:
    before = torch.get_rng_state()
    network(seed=11)  # no other test leaves this seed's state behind
    assert torch.equal(torch.get_rng_state(), before)


def test_seeding_leaves_the_generators_of_gpus_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    reseeded: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", reseeded.append)
    network(seed=7)
    assert reseeded == []


@LENGTHS
@KINDS
def test_autocast_stays_near_single_precision(attention: str, n: int) -> None:
    model, windows = network(attention=attention), drawn(2, n, 3)
    exact = model(windows)
    with torch.autocast("cpu", torch.bfloat16):
        rough = model(windows)
        objective = loss(windows, *rough)
    objective.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    assert (rough.values - exact.values).abs().mean() < 0.03 * exact.values.abs().mean()
    torch.testing.assert_close(rough.contribution, exact.contribution, rtol=0, atol=0.02)


@LENGTHS
@KINDS
def test_a_network_turned_to_half_precision_runs(attention: str, n: int) -> None:
    values, _ = network(attention=attention).bfloat16()(drawn(2, n, 3).bfloat16())
    assert values.dtype == torch.bfloat16
    assert values.isfinite().all()
