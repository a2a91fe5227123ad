"""Kernels against the definition: on a GPU at full size, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from core.plainly import packed_plainly
from oracle import attention_oracle
from subadjacent.core.band import Band
from subadjacent.core.dispatch import kernel_fits, kernels_on
from subadjacent.core.kernels.switch import VARIABLE, use_kernels
from subadjacent.core.mapping import MAPPINGS
from subadjacent.errors import InputError

pytest.importorskip("triton", reason="the extra 'kernels' is not installed")
GPU = torch.cuda.is_available()

from subadjacent.core.kernels import attention  # noqa: E402
from subadjacent.core.kernels.embed import embed, neighbours  # noqa: E402
from subadjacent.core.kernels.error import squared_error  # noqa: E402
from subadjacent.core.kernels.gelu import gelu, gelu_backward  # noqa: E402
from subadjacent.core.kernels.norm import add_norm, add_norm_backward  # noqa: E402
from subadjacent.core.kernels.tiles import add_up  # noqa: E402
from subadjacent.networks.layers import Embedding, positions  # noqa: E402

DEVICE = torch.device("cuda" if GPU else "cpu")
# what kernels for short windows take: Triton's interpreter cannot multiply bfloat16
NARROW = torch.bfloat16 if GPU else torch.float32
NEAR = {"rtol": 2e-2, "atol": 2e-2} if GPU else {"rtol": 1e-4, "atol": 1e-5}
needs_gpu = pytest.mark.skipif(not GPU, reason="needs a GPU")
# windows, points, heads, features, band
CASES = [
    (2, 1, 1, 16, Band(0, 0)),
    (1, 2, 2, 32, Band(1, 1)),
    (3, 7, 2, 16, Band(2, 3)),
    (1, 16, 1, 16, Band(0, 9)),
    (2, 33, 3, 32, Band(1, 3, circular=False)),
    (1, 50, 2, 64, Band(20, 30)),
    (2, 100, 1, 16, Band(20, 30)),
    (3, 100, 1, 32, Band(20, 30)),
    (2, 100, 2, 32, Band(20, 30)),
    (1, 128, 1, 16, Band(0, 127, circular=False)),
    (1, 129, 2, 5, Band(20, 30)),
    (1, 130, 1, 1, Band(2, 40)),
    (2, 150, 1, 48, Band(1, 3, circular=False)),
    (2, 200, 1, 16, Band(3, 3)),
    (1, 257, 1, 8, Band(0, 60)),
    (1, 300, 1, 16, Band(60, 90)),
    (1, 300, 1, 8, Band(100, 120, circular=False)),
]


def drawn(*shape: int, kind: torch.dtype = torch.float32) -> Tensor:
    """Fresh numbers every time: a kernel must be right on any."""
    return torch.randn(*shape, device=DEVICE).to(kind)


def both_ways(function, projected: Tensor, heads: int, band: Band, weights: tuple[Tensor, Tensor]):
    """Values, contribution, and the gradients of the projection and the temperature."""
    projected = projected.clone().requires_grad_()
    temperature = torch.tensor(1.3, dtype=weights[1].dtype, device=DEVICE, requires_grad=True)
    found = function(projected, temperature, heads, band)
    # each number of the answer weighs differently
    total = sum((x.to(w.dtype) * w).sum() for x, w in zip(found, weights, strict=True))
    return *found, *torch.autograd.grad(total, [projected, temperature])


def check(sizes, kind: torch.dtype, tolerance: float) -> None:
    batch, n, heads, features, band = sizes
    projected = drawn(batch, n, 3 * heads * features, kind=kind)
    weights = (drawn(batch, n, heads * features), drawn(batch, heads, n))
    ours = both_ways(attention.packed_attention, projected, heads, band, weights)
    wide = (weights[0].double(), weights[1].double())
    exact = both_ways(packed_plainly, projected.double(), heads, band, wide)
    assert ours[0].dtype == kind
    # τ's gradient adds up what each feature's has times the feature, much of which cancels
    cancelling = 10 * (1 + (exact[2] * projected).abs().sum().item())
    floors = [*(0.1 * one.numel() ** 0.5 for one in exact[:3]), cancelling]
    for found, expected, floor in zip(ours, exact, floors, strict=True):
        assert found.shape == expected.shape
        assert found.isfinite().all()
        distance = (found.double() - expected).norm().item()
        assert distance <= tolerance * max(expected.norm().item(), floor)


@pytest.mark.parametrize("n", [3, 12])
def test_the_kernel_is_the_row_by_row_definition(n: int) -> None:
    projected, band = drawn(1, n, 48, kind=NARROW), Band(1, 1)
    # all have the first feature: where queries and keys share none, only the definition is exact
    projected[..., [0, 16]] = projected[..., [0, 16]].abs()
    q, k, v = projected[0].double().view(n, 3, 16).unbind(1)
    temperature = torch.tensor(0.7, device=DEVICE)
    q, k = MAPPINGS["softmax"](q, k, temperature.double())
    exact = attention_oracle(q.cpu(), k.cpu(), v.cpu(), band)
    found = attention.packed_attention(projected, temperature, 1, band)
    torch.testing.assert_close(found.values[0].cpu().double(), exact.values, **NEAR)
    torch.testing.assert_close(found.contribution[0, 0].cpu().double(), exact.contribution, **NEAR)


@pytest.mark.parametrize("sizes", CASES, ids=str)
def test_values_and_gradients_are_those_of_plain_pytorch(sizes) -> None:
    # on a GPU short windows have a kernel in bfloat16 alone
    if kernel_fits(sizes[1], sizes[3], sizes[4], torch.float32):
        check(sizes, torch.float32, 1e-5)
    else:
        check(sizes, torch.bfloat16, 1e-2)


@needs_gpu
@pytest.mark.parametrize("n", [1, 60, 100, 128, 160, 300, 5000])
def test_values_and_gradients_are_right_at_full_size_in_bfloat16(n: int) -> None:
    band = Band(20, 30) if n >= 60 else Band(0, 0)
    check((8, n, 8, 64, band), torch.bfloat16, 1e-2)


def test_queries_without_a_positive_feature_are_spread_evenly() -> None:
    projected = drawn(1, 140, 24)
    projected[..., :8] = -projected[..., :8].abs()
    found = attention.packed_attention(projected, torch.ones((), device=DEVICE), 1, Band(2, 5))
    exact = packed_plainly(projected, torch.ones((), device=DEVICE), 1, Band(2, 5))
    torch.testing.assert_close(found, exact, rtol=1e-4, atol=1e-5)


def test_a_window_without_a_sub_adjacent_point_is_refused() -> None:
    with pytest.raises(InputError, match="in a window of 39 the largest distance is 19"):
        attention.packed_attention(drawn(1, 39, 12), torch.ones(()), 1, Band(20, 30))


def test_what_no_kernel_fits_is_refused() -> None:
    with pytest.raises(InputError, match="no kernel for windows of 40 points, heads of 65"):
        attention.packed_attention(drawn(1, 40, 195), torch.ones(()), 1, Band(2, 5))


@needs_gpu
def test_short_windows_of_float32_are_refused() -> None:
    with pytest.raises(InputError, match="no kernel for windows of 40 points, heads of 16"):
        attention.packed_attention(drawn(1, 40, 48), torch.ones((), device=DEVICE), 1, Band(2, 5))


@pytest.mark.parametrize("n", [20, 150])
def test_torch_knows_shapes_and_gradients_without_running_the_kernel(n: int) -> None:
    projected = drawn(2, n, 96, kind=NARROW).requires_grad_()
    inputs = (projected, torch.ones((), device=DEVICE, requires_grad=True))
    torch.library.opcheck(
        torch.ops.subadjacent.attention.default,
        (*inputs, 2, 3, 5, True),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
    )


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (37, 64), (9, 512)])
@pytest.mark.parametrize("alone", [True, False])
def test_norm_is_layer_norm_there_and_back(rows: int, columns: int, alone: bool) -> None:
    x, y, asked = drawn(3, rows, columns).unbind()
    gain, shift = drawn(2, columns).unbind()
    out, means, scales = add_norm(x, None if alone else y, gain, shift)
    of_sum, parts = add_norm_backward(asked, x, None if alone else y, gain, means, scales)
    wide = [one.double().requires_grad_() for one in (x if alone else x + y, gain, shift)]
    exact = functional.layer_norm(wide[0], (columns,), *wide[1:])
    gradients = torch.autograd.grad(exact, wide, asked.double())
    found = (out, of_sum, *add_up(parts))
    expected = (exact, *gradients, gradients[0].sum(dim=0))
    torch.testing.assert_close(
        [one.double() for one in found], list(expected), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (37, 64), (300, 16)])
def test_gelu_is_torchs_there_and_back(rows: int, columns: int) -> None:
    x, asked = 3 * drawn(rows, columns), drawn(rows, columns)
    of_x, parts = gelu_backward(asked, x)
    wide = x.double().requires_grad_()
    exact = functional.gelu(wide)
    (gradient,) = torch.autograd.grad(exact, wide, asked.double())
    torch.testing.assert_close(gelu(x).double(), exact, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(of_x.double(), gradient, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(add_up(parts).double(), gradient.sum(dim=0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("rows", "channels", "columns"), [(1, 1, 16), (300, 25, 32), (37, 64, 64)])
def test_error_is_that_of_plain_pytorch(rows: int, channels: int, columns: int) -> None:
    values, wanted = drawn(rows, columns), drawn(rows, channels)
    difference, sums = squared_error(values, wanted)
    exact = values[:, :channels] - wanted
    torch.testing.assert_close(difference[:, :channels], exact, rtol=1e-6, atol=1e-6)
    assert not difference[:, channels:].any()
    near = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(sums[0, :channels], exact.square().sum(dim=0), **near)
    torch.testing.assert_close(sums[1, :channels], exact.sum(dim=0), **near)


@pytest.mark.parametrize(("batch", "n", "channels", "width"), [(1, 1, 1, 6), (3, 50, 25, 200)])
def test_embedding_is_that_of_the_plain_network(batch, n, channels, width) -> None:
    plain_one = Embedding(channels, width).to(DEVICE)
    windows = drawn(batch, n, channels)
    found = embed(windows, plain_one.tokens.weight.detach(), positions(n, width, DEVICE))
    torch.testing.assert_close(found, plain_one(windows).flatten(0, 1), rtol=1e-3, atol=1e-4)


def test_neighbours_are_each_point_between_those_next_to_it() -> None:
    windows = torch.tensor([[[1.0], [2.0], [3.0]]], device=DEVICE)
    three = neighbours(windows, torch.float32)
    assert three[:, [0, 8, 16]].tolist() == [[3.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 1.0]]
    assert three.sum() == 18


def test_sums_of_parts_are_sums() -> None:
    parts = drawn(300, 3, 40)
    torch.testing.assert_close(add_up(parts), parts.sum(dim=0), rtol=1e-4, atol=1e-4)


def test_kernels_run_where_they_were_tested_and_where_they_are_requested(monkeypatch) -> None:
    x = torch.zeros(1, device=DEVICE)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert kernels_on(x) == (GPU and torch.cuda.get_device_capability() == (9, 0))
    monkeypatch.setenv(VARIABLE, "0")
    assert not kernels_on(x)
    monkeypatch.setenv(VARIABLE, "1")
    # of a whole process on a GPU; the interpreter has to be asked for in the code
    assert kernels_on(x) == GPU
    monkeypatch.setenv(VARIABLE, "0")
    with use_kernels(True):
        assert kernels_on(x)
        with use_kernels(False):
            assert not kernels_on(x)
    assert not kernels_on(torch.zeros(1, device="meta"))
