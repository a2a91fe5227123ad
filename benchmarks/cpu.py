"""Training and inference on a CPU, beside the same network in plain PyTorch, in one process.

    python benchmarks/cpu.py --size small

The reference is the network as one would write it down from the paper: a circular convolution,
a linear map each for queries, keys and values, the attention matrix, its masked sums; float32.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from subadjacent.core.loss import loss
from subadjacent.data.windows import Windows
from subadjacent.networks.layers import positions
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
from subadjacent.training.device import autocast
from subadjacent.training.recorded import make_pass
from subadjacent.training.step import make_optimizers

CPU = torch.device("cpu")
WINDOWS, POINTS, CHANNELS = 128, 100, 25
LAMBDA = 10.0
KINDS = ("float32", "bfloat16")
# times as many windows a second as plain PyTorch
TARGETS = {"training": 2.0, "inference": 3.0}


class PlainAttention(nn.Module):
    """The paper's attention, with its matrix."""

    def __init__(self, config: SubAdjacentConfig) -> None:
        super().__init__()
        self.heads, self.band = config.heads, config.band
        self.queries, self.keys, self.values, self.mix = (
            nn.Linear(config.width, config.width) for _ in range(4)
        )
        self.raw_temperature = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The attended points, (B, N, D), and their contribution, (B, N)."""

        def split(y: Tensor) -> Tensor:
            return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        def mapped(y: Tensor) -> Tensor:
            y = torch.where(y < 0, -100.0, y) / functional.softplus(self.raw_temperature)
            return y.softmax(dim=-1)

        q, k = mapped(split(self.queries(x))), mapped(split(self.keys(x)))
        weights = q @ k.mT
        weights = weights / weights.sum(dim=-1, keepdim=True)
        attended = weights @ split(self.values(x))
        mask = self.band.mask(x.shape[1])
        contribution = (weights * mask).sum(dim=-2).mean(dim=1)
        return self.mix(attended.transpose(1, 2).flatten(2)), contribution


class PlainLayer(nn.Module):
    """Attention, then two linear maps, each added to its input and normalised after."""

    def __init__(self, config: SubAdjacentConfig) -> None:
        super().__init__()
        self.attention = PlainAttention(config)
        self.first, self.second = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.maps = nn.Sequential(
            nn.Linear(config.width, config.feedforward),
            nn.GELU(),
            nn.Linear(config.feedforward, config.width),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The encoded points, (B, N, D), and their contribution, (B, N)."""
        attended, contribution = self.attention(x)
        x = self.first(x + attended)
        return self.second(x + self.maps(x)), contribution


class PlainNetwork(nn.Module):
    """The Sub-Adjacent Transformer, module by module."""

    def __init__(self, config: SubAdjacentConfig) -> None:
        super().__init__()
        self.embed = nn.Conv1d(
            config.channels, config.width, 3, padding=1, padding_mode="circular", bias=False
        )
        self.layers = nn.ModuleList(PlainLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.reconstruct = nn.Linear(config.width, config.channels)

    def forward(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Reconstruct (B, N, C); also the contribution, (B, N)."""
        x = self.embed(windows.mT).mT
        x = x + positions(x.shape[1], x.shape[2])
        contributions = []
        for layer in self.layers:
            x, contribution = layer(x)
            contributions.append(contribution)
        return self.reconstruct(self.norm(x)), torch.stack(contributions).mean(dim=0)


def plain_step(config: SubAdjacentConfig, windows: Tensor) -> Callable[[], object]:
    """A training step of the reference."""
    network = PlainNetwork(config)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        loss(windows, *network(windows), LAMBDA).backward()
        optimizer.step()

    return step


def our_step(config: SubAdjacentConfig, windows: Tensor, precision: str) -> Callable[[], object]:
    """A training step as ``fit`` takes it."""
    network = SubAdjacentTransformer.seeded(config, 0)
    count, length, _ = windows.shape
    rows = Windows(windows.flatten(0, 1), torch.arange(count) * length, length)
    mixed = autocast(CPU, precision)
    batches = make_pass(network, rows, make_optimizers(network, 1e-3), mixed, count)

    def step() -> None:
        batches.begin(1, torch.Generator().manual_seed(0))
        batches.advance()

    return step


def plain_pass(config: SubAdjacentConfig, windows: Tensor) -> Callable[[], object]:
    """The reference's reconstruction."""
    network = PlainNetwork(config).eval()
    return torch.no_grad()(lambda: network(windows))


def our_pass(config: SubAdjacentConfig, windows: Tensor, precision: str) -> Callable[[], object]:
    """Ours."""
    network = SubAdjacentTransformer.seeded(config, 0).eval()
    reduced = autocast(CPU, precision)

    def once() -> object:
        with torch.inference_mode(), reduced:
            return network(windows)

    return once


def seconds(functions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The shortest time of each, taken in turn so that a busy moment hurts all."""
    found = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    for _ in range(rounds):
        for name, function in functions.items():
            started = time.perf_counter()
            function()
            found[name] = min(found[name], time.perf_counter() - started)
    return found


def measure(size: str, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds a batch, by what is done and by form."""
    config = SubAdjacentConfig.sized(size, CHANNELS)
    windows = torch.randn(WINDOWS, POINTS, CHANNELS)
    training = {"plain": plain_step(config, windows)}
    training |= {kind: our_step(config, windows, kind) for kind in KINDS}
    inference = {"plain": plain_pass(config, windows)}
    inference |= {kind: our_pass(config, windows, kind) for kind in KINDS}
    return {"training": seconds(training, rounds), "inference": seconds(inference, rounds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="small")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    print(f"size {arguments.size}, {torch.get_num_threads()} threads, windows a second")
    for what, found in measure(arguments.size, arguments.rounds).items():
        for form, time_taken in found.items():
            ratio = found["plain"] / time_taken
            print(f"{what:10} {form:9} {WINDOWS / time_taken:10,.0f}   {ratio:.2f} x")


if __name__ == "__main__":
    main()
