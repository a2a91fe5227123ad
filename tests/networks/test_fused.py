"""The network in kernels against the plain one, in bfloat16 against float64."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.kernels.switch import use_kernels
from subadjacent.core.loss import loss
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

pytest.importorskip("triton", reason="the extra 'kernels' is not installed")
GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
needs_gpu = pytest.mark.skipif(not GPU, reason="needs a GPU")


@pytest.fixture(autouse=True)
def _same_numbers_every_time() -> Iterator[None]:
    # in bfloat16 a feature next to the mapping's cut may fall on either side of it
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def network(band: Band, **settings) -> SubAdjacentTransformer:
    usual = {"width": 32, "heads": 2, "layers": 2, "feedforward": 48, "band": band}
    return SubAdjacentTransformer.seeded(SubAdjacentConfig(3, **usual | settings), 0).to(DEVICE)


def autocast() -> torch.autocast:
    return torch.autocast(DEVICE, dtype=torch.bfloat16)


def learned(model: SubAdjacentTransformer, windows: Tensor) -> dict[str, Tensor]:
    """Loss, contribution and all gradients."""
    model.zero_grad()
    (loss,) = model.losses(windows, epoch=1)
    loss.backward()
    with torch.no_grad():
        contribution = model(windows).contribution
    found = {"loss": loss.detach(), "contribution": contribution}
    return found | {name: one.grad for name, one in model.named_parameters()}


@pytest.mark.parametrize(
    ("n", "band"),
    # the kernel of long windows; in Triton's interpreter it takes half a minute
    [(20, Band(4, 6)), pytest.param(150, Band(20, 30), marks=() if GPU else pytest.mark.sweep)],
)
def test_kernels_are_as_near_to_float64_as_plain_bfloat16(n: int, band: Band) -> None:
    model, windows = network(band), torch.randn(3, n, 3, device=DEVICE)
    with autocast(), use_kernels(True):
        assert model.runs_in_kernels(windows)
        ours = learned(model, windows)
    with autocast(), use_kernels(False):
        assert not model.runs_in_kernels(windows)
        theirs = learned(model, windows)
    exact = learned(copy.deepcopy(model).double(), windows.double())
    for name, value in exact.items():
        # one number, a difference of two sums: its size says nothing of its error
        if "temperature" not in name:
            scale = max(value.norm().item(), 0.5)
            allowed = 2 * (theirs[name].double() - value).norm().item() + 0.03 * scale
            assert (ours[name].double() - value).norm().item() <= allowed, name


def test_windows_that_lie_apart_in_memory_are_learned_from_as_they_are() -> None:
    model, windows = network(Band(4, 6)), torch.randn(20, 3, 3, device=DEVICE).transpose(0, 1)
    with autocast(), use_kernels(True):
        assert model.runs_in_kernels(windows)
        apart = learned(model, windows)
        close = learned(model, windows.contiguous())
    for name, one in close.items():
        torch.testing.assert_close(apart[name], one, rtol=0, atol=0)


def test_whoever_wants_gradients_of_the_windows_gets_them_from_plain_pytorch() -> None:
    model = network(Band(4, 6))
    windows = torch.randn(2, 20, 3, device=DEVICE, requires_grad=True)
    with autocast(), use_kernels(True):
        assert not model.runs_in_kernels(windows)
        model.losses(windows, 1)[0].backward()
        with torch.no_grad():
            assert model.runs_in_kernels(windows)
    assert windows.grad is not None
    assert windows.grad.abs().sum() > 0


def test_what_is_reconstructed_can_be_learned_from_as_the_loss_is() -> None:
    model, windows = network(Band(4, 6)), torch.randn(3, 20, 3, device=DEVICE)
    with autocast(), use_kernels(True):
        at_once = learned(model, windows)
        model.zero_grad()
        loss(windows, *model(windows), 10.0).backward()
    for name, one in model.named_parameters():
        assert one.grad is not None
        scale = max(at_once[name].norm().item(), 0.1)
        assert (one.grad - at_once[name]).norm().item() <= 0.03 * scale, name


def test_scoring_in_kernels_gives_what_training_in_them_does() -> None:
    model, windows = network(Band(4, 6)), torch.randn(2, 20, 3, device=DEVICE)
    with autocast(), use_kernels(True):
        trained = model(windows)
        with torch.inference_mode():
            scored = model(windows)
    torch.testing.assert_close(trained, scored, rtol=0, atol=0)


def test_windows_of_many_channels_are_embedded_too() -> None:
    model = SubAdjacentTransformer.seeded(
        SubAdjacentConfig(130, width=32, heads=2, layers=1, feedforward=32, band=Band(1, 2)), 0
    ).to(DEVICE)
    windows = torch.randn(1, 8, 130, device=DEVICE)
    with autocast(), use_kernels(True):
        ours = learned(model, windows)
    exact = learned(copy.deepcopy(model).double(), windows.double())
    name = "embed.tokens.weight"
    assert (ours[name].double() - exact[name]).norm() <= 0.1 * exact[name].norm()


def test_a_layer_alone_uses_the_kernel_of_attention() -> None:
    model, x = network(Band(4, 6)), torch.randn(2, 20, 32, device=DEVICE)
    with autocast(), use_kernels(True):
        ours = model.layers[0](x)
    with autocast(), use_kernels(False):
        plain = model.layers[0](x)
    for found, expected in zip(ours, plain, strict=True):
        assert (found - expected).norm() <= 0.05 * expected.norm()


@pytest.mark.parametrize("settings", [{"attention": "relu"}, {"attention": "vanilla"}], ids=str)
def test_other_attentions_run_in_plain_pytorch(settings) -> None:
    model, windows = network(Band(4, 6), **settings), torch.zeros(1, 20, 3, device=DEVICE)
    with autocast(), use_kernels(True):
        assert not model.runs_in_kernels(windows)


def test_float32_and_chosen_forms_run_in_plain_pytorch() -> None:
    model, windows = network(Band(4, 6)), torch.zeros(1, 20, 3, device=DEVICE)
    with use_kernels(True):
        assert not model.runs_in_kernels(windows)
        model.layers[0].attention.dense = True
        with autocast():
            assert not model.runs_in_kernels(windows)


@needs_gpu
def test_kernels_keep_to_bfloat16_at_the_papers_size() -> None:
    model = SubAdjacentTransformer.seeded(SubAdjacentConfig.sized("paper", 25), 0).to(DEVICE)
    windows = torch.randn(64, 100, 25, device=DEVICE)
    with autocast(), use_kernels(True):
        ours = learned(model, windows)
    with autocast(), use_kernels(False):
        theirs = learned(model, windows)
    exact = learned(copy.deepcopy(model).double(), windows.double())
    for name, value in exact.items():
        if "temperature" not in name:
            allowed = 2 * (theirs[name].double() - value).norm() + 0.01 * value.norm()
            assert (ours[name].double() - value).norm() <= allowed, name
