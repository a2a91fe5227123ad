"""The mappings of queries and keys, one by one and together."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from subadjacent.core.attention import linear_attention
from subadjacent.core.band import Band
from subadjacent.core.mapping import MAPPINGS

ONE = torch.ones(())
NAMES = list(MAPPINGS)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Random numbers of both signs, none so near zero that a kink is in reach."""
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x + 0.1 * x.sign()


def test_the_table_of_mappings_is_the_paper_s() -> None:
    assert NAMES == ["softmax", "softmax-column", "power", "relu", "elu"]


def test_softmax_suppresses_negatives_divides_and_shares_over_features() -> None:
    # log 9 over a temperature of 2 is log 3; the negative feature keeps nothing
    x = torch.tensor([[math.log(9), 0.0, -1.0]])
    expected = torch.tensor([[0.75, 0.25, 0.0]])
    q, k = MAPPINGS["softmax"](x, x.flip(-1), torch.tensor(2.0))
    torch.testing.assert_close(q, expected)
    torch.testing.assert_close(k, expected.flip(-1))


def test_softmax_column_shares_queries_over_features_and_keys_over_time() -> None:
    x = torch.tensor([[0.0, math.log(3)], [math.log(4), 0.0]])
    q, k = MAPPINGS["softmax-column"](x, x, ONE)
    torch.testing.assert_close(q, torch.tensor([[0.25, 0.75], [0.8, 0.2]]))
    torch.testing.assert_close(k, torch.tensor([[0.2, 0.75], [0.8, 0.25]]))


def test_power_cubes_the_positive_part_and_gives_its_norm_back() -> None:
    # (1, 2, −5) → (1, 8, 0), scaled from a norm of √65 to one of √5
    x = torch.tensor([[1.0, 2.0, -5.0]])
    expected = torch.tensor([[1.0, 8.0, 0.0]]) * math.sqrt(5 / 65)
    q, k = MAPPINGS["power"](x, x.flip(-1), ONE)
    torch.testing.assert_close(q, expected)
    torch.testing.assert_close(k, expected.flip(-1))


def test_relu_keeps_the_positive_part() -> None:
    q, k = MAPPINGS["relu"](torch.tensor([[1.5, -2.0]]), torch.tensor([[-3.0, 0.5]]), ONE)
    assert q.tolist() == [[1.5, 0.0]]
    assert k.tolist() == [[0.0, 0.5]]


def test_elu_adds_one_above_zero_and_is_exponential_below() -> None:
    q, k = MAPPINGS["elu"](torch.tensor([[1.5, 0.0]]), torch.tensor([[-math.log(4), 3.0]]), ONE)
    torch.testing.assert_close(q, torch.tensor([[2.5, 1.0]]))
    torch.testing.assert_close(k, torch.tensor([[0.25, 4.0]]))


@pytest.mark.parametrize("name", NAMES)
def test_every_mapping_works_window_by_window_and_head_by_head(name: str) -> None:
    q, k = drawn(2, 3, 2, 6, 4)  # (3 windows, 2 heads, 6, 4) each
    together = MAPPINGS[name](q, k, ONE)
    for b in range(3):
        for h in range(2):
            apart = MAPPINGS[name](q[b, h], k[b, h], ONE)
            torch.testing.assert_close(apart, (together[0][b, h], together[1][b, h]))


@pytest.mark.parametrize("name", NAMES)
def test_every_mapping_is_finite_and_nowhere_negative(name: str) -> None:
    for scale in (1e-6, 1.0, 1e3):
        for mapped in MAPPINGS[name](*(scale * drawn(2, 50, 8)).float(), ONE):
            assert (mapped >= 0).all()
            assert mapped.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_elu_keeps_its_digits_far_below_zero(dtype: torch.dtype) -> None:
    x = torch.tensor([[-4.0, -8.0, -24.0]], dtype=dtype)
    mapped, _ = MAPPINGS["elu"](x, x, ONE)
    torch.testing.assert_close(mapped, x.exp(), rtol=torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_through_mapping_and_attention_are_right(name: str, dense: bool) -> None:
    # a query and a key without a positive feature would sit on the bound of a row's mass
    q, k = (torch.cat([x, x.abs()[:, :1]], dim=-1) for x in drawn(2, 5, 3))
    v = drawn(5, 2, seed=1)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return linear_attention(*MAPPINGS[name](q, k, ONE), v, Band(1, 2), dense=dense)

    assert torch.autograd.gradcheck(attend, [x.requires_grad_() for x in (q, k, v)])


@pytest.mark.parametrize("value", [0.0, -1.0])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_rows_without_a_positive_feature_give_finite_values_and_gradients(
    name: str, dense: bool, value: float
) -> None:
    q, k = drawn(2, 6, 4).float()
    q[2], k[4] = value, value
    q, k = q.requires_grad_(), k.requires_grad_()
    attended = linear_attention(
        *MAPPINGS[name](q, k, ONE), drawn(6, 4, seed=1).float(), Band(1, 2), dense=dense
    )
    for x in attended:
        assert x.isfinite().all()
    gradients = torch.autograd.grad(sum(x.square().sum() for x in attended), (q, k))
    assert all(x.isfinite().all() for x in gradients)
