"""The parts of the network, one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from subadjacent.core.band import Band
from subadjacent.networks.config import TransformerConfig
from subadjacent.networks.layers import Embedding, EncoderLayer, SubAdjacentAttention, positions
from subadjacent.networks.subadjacent import ATTENTIONS


@pytest.fixture(autouse=True)
def _same_weights_every_time() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


CONFIG = TransformerConfig(channels=3, width=8, heads=2, layers=2, feedforward=12)


def attention_of(attention: str = "softmax", band: Band | None = None) -> SubAdjacentAttention:
    return SubAdjacentAttention(CONFIG, attention, band or Band(1, 2))


def zero(module: nn.Module) -> None:
    """Set every weight and bias to zero, so that fingers suffice."""
    for parameter in module.parameters():
        nn.init.zeros_(parameter)


def test_the_first_positions_are_those_of_the_formula() -> None:
    # four columns: sine and cosine of the point's number, then of a hundredth of it
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    torch.testing.assert_close(positions(3, 4), torch.tensor(expected))


def test_positions_are_made_on_the_device_requested() -> None:
    assert positions(3, 4, torch.device("meta")).device.type == "meta"


@pytest.mark.parametrize(("n", "channels"), [(1, 1), (2, 5), (100, 2)])
def test_the_embedding_is_a_circular_convolution_and_positions(n: int, channels: int) -> None:
    embed = Embedding(channels, width=6)
    convolution = nn.Conv1d(channels, 6, 3, padding=1, padding_mode="circular", bias=False)
    with torch.no_grad():
        # (D, 3·C) → (D, 3, C) → (D, C, 3)
        convolution.weight.copy_(embed.tokens.weight.unflatten(1, (3, channels)).mT)
    windows = drawn(4, n, channels)
    expected = convolution(windows.mT).mT + positions(n, 6)
    torch.testing.assert_close(embed(windows), expected)


def test_the_embedding_starts_as_wide_as_the_convolution_would() -> None:
    # Kaiming: variance 2 over the 3·50 inputs; 76,800 draws tell the deviation to one per cent
    weight = Embedding(channels=50, width=512).tokens.weight
    assert weight.std().item() == pytest.approx(math.sqrt(2 / 150), rel=0.02)


@pytest.mark.parametrize("attention", ["softmax", "softmax-column", "elu", "vanilla"])
def test_equal_queries_and_keys_attend_evenly(attention: str) -> None:
    module = attention_of(attention, Band(20, 30))
    zero(module)
    _, contribution = module(drawn(2, 100, 8))
    # 22 of 100 points are in the band
    torch.testing.assert_close(contribution, torch.full((2, 100), 0.22))


def test_even_attention_gives_every_point_the_mean_of_the_values() -> None:
    module = attention_of()
    zero(module)
    with torch.no_grad():
        module.project.weight[16:] = torch.eye(8)  # values are the input
        module.mix.weight.copy_(torch.eye(8))
    x = drawn(2, 5, 8)
    attended, _ = module(x)
    torch.testing.assert_close(attended, x.mean(dim=1, keepdim=True).expand(2, 5, 8))


@pytest.mark.parametrize(
    ("n", "band"), [(60, Band(1, 2)), (150, Band(0, 40, circular=False)), (450, Band(20, 30))]
)
def test_the_packed_form_is_the_plain_one(n: int, band: Band) -> None:
    module = attention_of("softmax", band).double()
    x = drawn(3, n, 8).double()
    # points that weigh differently
    weights = [drawn(3, n, 8).double(), drawn(3, n).double()]

    def both_ways(dense: bool | None) -> list[Tensor]:
        module.dense = dense
        module.zero_grad()
        found = module(x)
        sum((one * weight).sum() for one, weight in zip(found, weights, strict=True)).backward()
        gradients = [one.grad for one in module.parameters() if one.grad is not None]
        assert len(gradients) == 5
        return [*found, *gradients]

    torch.testing.assert_close(both_ways(None), both_ways(dense=True))


def test_the_temperature_starts_at_softplus_of_one() -> None:
    temperature = attention_of().temperature
    assert temperature.item() == pytest.approx(math.log(1 + math.e))
    assert round(temperature.item(), 3) == 1.313


@pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "softmax"])
def test_other_mappings_neither_learn_nor_save_a_temperature(attention: str) -> None:
    module = attention_of(attention)
    assert sorted(dict(module.named_parameters())) == sorted(module.state_dict())
    assert "raw_temperature" not in module.state_dict()


def test_a_vanilla_layer_is_torch_s_own_post_norm_layer() -> None:
    ours = EncoderLayer(CONFIG, attention_of("vanilla"))
    for parameter in ours.parameters():
        # at birth the two norms are the same
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
    theirs = nn.TransformerEncoderLayer(
        8, 2, dim_feedforward=12, dropout=0.0, activation="gelu", batch_first=True
    )
    pairs = [
        (theirs.self_attn.in_proj_weight, ours.attention.project.weight),
        (theirs.self_attn.in_proj_bias, ours.attention.project.bias),
        (theirs.self_attn.out_proj, ours.attention.mix),
        (theirs.norm1, ours.after_attention),
        (theirs.linear1, ours.widen),
        (theirs.linear2, ours.narrow),
        (theirs.norm2, ours.after_feedforward),
    ]
    for their, our in pairs:
        if isinstance(their, nn.Module):
            their.load_state_dict(our.state_dict())
        else:
            their.data.copy_(our.data)
    x = drawn(3, 9, 8)
    torch.testing.assert_close(ours(x)[0], theirs(x))
