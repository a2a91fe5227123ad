"""Attention under a hard band: two forms of one meaning, against a loop over a point's band."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from oracle import attended_oracle, in_band
from subadjacent.core.attention import Attended
from subadjacent.core.band import Band
from subadjacent.core.banded import banded_attention, banded_matrix, usable
from subadjacent.core.dispatch import DENSE_UP_TO
from subadjacent.errors import InputError

BOTH = pytest.mark.parametrize("dense", [True, False], ids=["dense", "blocks"])
# blocks have 16 points at least: windows just below, at and above a whole number of them
CASES = [
    (n, Band(near, far, circular=False))
    for n, near, far in [
        (2, 1, 1),
        (3, 2, 9),
        (7, 1, 6),
        (8, 3, 4),
        (9, 5, 5),
        (16, 2, 5),
        (17, 16, 40),
        (32, 1, 17),
        (33, 4, 21),
    ]
]


def line(near: int, far: int) -> Band:
    return Band(near, far, circular=False)


def drawn(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


class Sizes(TorchDispatchMode):
    """Notes how many numbers are in each tensor that any operation makes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[int] = []

    def __torch_dispatch__(
        self, operation: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        made = operation(*args, **(kwargs or {}))
        self.found += [one.numel() for one in tree_leaves(made) if isinstance(one, Tensor)]
        return made


@pytest.fixture
def largest() -> Iterator[list[int]]:
    with Sizes() as sizes:
        yield sizes.found


def banded_oracle(q: Tensor, k: Tensor, v: Tensor, band: Band) -> Attended:
    """Point by point: exponentials over the band, divided by their sum; nothing without any."""
    n, features = q.shape
    matrix = []
    for i in range(n):
        row = [q.new_zeros(())] * n
        for j in range(n):
            if in_band(i, j, n, band):
                row[j] = torch.exp(q[i] @ k[j] / math.sqrt(features))
        total = torch.stack(row).sum()
        matrix.append(torch.stack(row) / total if total > 0 else torch.stack(row))
    return attended_oracle(matrix, v, band, n)


def gradients(attended: tuple[Tensor, Tensor], inputs: list[Tensor]) -> tuple[Tensor, ...]:
    """Of a sum that weighs every number of the answer differently."""
    total = sum((x * torch.arange(1, x.numel() + 1).view_as(x)).sum() for x in attended)
    return torch.autograd.grad(total / 100, inputs)


@BOTH
def test_four_points_take_from_their_neighbours(dense: bool) -> None:
    # scores are 0 but for key 2, where they are log 3: points 1 and 3 can see it
    q = torch.ones(4, 1)
    k = torch.tensor([[0.0], [0.0], [math.log(3.0)], [0.0]])
    v = torch.tensor([[1.0], [2.0], [4.0], [8.0]])
    values, contribution = banded_attention(q, k, v, line(1, 1), dense=dense)
    # 0 sees 1; 1 sees 0 for a quarter and 2 for the rest; 2 sees 1 and 3 alike; 3 sees 2
    torch.testing.assert_close(values[:, 0], torch.tensor([2.0, 3.25, 5.0, 4.0]))
    torch.testing.assert_close(contribution, torch.tensor([0.25, 1.5, 1.75, 0.5]))


def test_the_matrix_of_four_points() -> None:
    even = torch.zeros(4, 1)
    assert banded_matrix(even, even, line(2, 3)).tolist() == [
        [0.0, 0.0, 0.5, 0.5],
        [0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.0, 0.0],
    ]


@pytest.mark.parametrize(("n", "band"), CASES, ids=str)
def test_both_forms_are_the_point_by_point_definition(n: int, band: Band) -> None:
    inputs = [x.requires_grad_() for x in drawn(3, n, 4)]
    theirs = banded_oracle(*inputs, band)
    expected = gradients(theirs, inputs)
    for dense in (True, False):
        ours = banded_attention(*inputs, band, dense=dense)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(gradients(ours, inputs), expected)


@pytest.mark.parametrize("n", [100, 301])
@pytest.mark.parametrize("band", [line(5, 30), line(1, 70), line(60, 61), line(20, 500)], ids=str)
def test_both_forms_give_the_same_numbers(n: int, band: Band) -> None:
    inputs = [x.requires_grad_() for x in drawn(3, 2, 3, n, 8)]  # (2 windows, 3 heads) each
    dense = banded_attention(*inputs, band, dense=True)
    blocks = banded_attention(*inputs, band, dense=False)
    torch.testing.assert_close(dense, blocks)
    torch.testing.assert_close(gradients(dense, inputs), gradients(blocks, inputs))


@BOTH
def test_points_in_the_middle_of_a_short_window_take_nothing(dense: bool) -> None:
    inputs = [x.requires_grad_() for x in drawn(3, 10, 4)]
    attended = banded_attention(*inputs, line(7, 9), dense=dense)
    assert attended.values[3:7].tolist() == [[0.0] * 4] * 4
    # six points have attention to give, and ten share it
    assert attended.contribution.sum().item() == pytest.approx(6.0)
    assert all(x.isfinite().all() for x in gradients(attended, inputs))


@BOTH
def test_the_mean_contribution_is_one(dense: bool) -> None:
    contribution = banded_attention(*drawn(3, 40, 8), line(3, 7), dense=dense).contribution
    assert contribution.mean().item() == pytest.approx(1.0)


@BOTH
def test_huge_scores_do_not_reach_over_the_band(dense: bool) -> None:
    q, k, v = drawn(3, 40, 8, dtype=torch.float32)
    k[20] *= 1e6  # whoever may look at point 20 looks nowhere else, or never
    values, contribution = banded_attention(q, k, v, line(3, 7), dense=dense)
    sees = [i for i in range(40) if torch.equal(values[i], v[20])]
    assert sees
    assert all(3 <= abs(i - 20) <= 7 for i in sees)
    assert values.isfinite().all()
    assert contribution.isfinite().all()


@BOTH
def test_half_precision_inputs_give_values_of_their_own_kind(dense: bool) -> None:
    q, k, v = drawn(3, 60, 8, dtype=torch.float32)
    exact = banded_attention(q, k, v, line(5, 30), dense=dense)
    rough = banded_attention(*(x.bfloat16() for x in (q, k, v)), line(5, 30), dense=dense)
    assert rough.values.dtype == torch.bfloat16
    assert rough.contribution.dtype == torch.float32
    torch.testing.assert_close(rough.values.float(), exact.values, rtol=0.02, atol=0.02)
    torch.testing.assert_close(rough.contribution, exact.contribution, rtol=0.05, atol=0)


@pytest.mark.parametrize(
    ("n", "band", "formed"),
    [
        (DENSE_UP_TO, line(1, 2), True),
        (DENSE_UP_TO + 1, line(1, 2), False),
        (400, line(1, 100), True),
        (401, line(1, 100), False),
    ],
    ids=str,
)
def test_the_matrix_is_formed_for_short_windows_and_wide_bands(
    n: int, band: Band, formed: bool, largest: list[int]
) -> None:
    banded_attention(*drawn(3, n, 2), band)
    assert (max(largest) == n * n) == formed


@pytest.mark.parametrize("band", [line(5, 30), line(200, 225)], ids=str)
def test_memory_of_the_blocks_grows_with_the_window_and_the_band_s_width(
    band: Band, largest: list[int]
) -> None:
    n, width = 2080, 26
    banded_attention(*drawn(3, n, 2), band, dense=False)
    # each point beside four blocks, however far away the band lies
    assert max(largest) == n * 4 * width


@pytest.mark.parametrize("band", [line(0, 3), Band(1, 3)], ids=str)
@BOTH
def test_a_band_with_the_point_itself_or_around_the_ring_is_refused(
    dense: bool, band: Band
) -> None:
    with pytest.raises(InputError, match="needs near >= 1 and circular=False; got Band"):
        banded_attention(*drawn(3, 9, 2), band, dense=dense)


@BOTH
def test_a_window_without_a_sub_adjacent_point_is_refused(dense: bool) -> None:
    with pytest.raises(InputError, match=r"in a window of 20 the largest distance is 19; got near"):
        banded_attention(*drawn(3, 20, 2), line(20, 30), dense=dense)


@pytest.mark.parametrize("n", [1, 4, 5, 6, 7, 8, 20])
@pytest.mark.parametrize("band", [line(1, 3), line(3, 3), line(2, 7)], ids=str)
def test_usable_points_have_every_point_of_the_band(n: int, band: Band) -> None:
    whole = 2 * (band.far - band.near + 1)
    counts = [sum(in_band(i, j, n, band) for j in range(n)) for i in range(n)]
    assert list(range(n))[usable(n, band)] == [i for i in range(n) if counts[i] == whole]
