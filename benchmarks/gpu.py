"""Training and inference on one GPU, beside plain PyTorch in the same process.

python benchmarks/gpu.py speed --csv benchmarks/reports/h200.csv
python benchmarks/gpu.py parity --data DIR --csv benchmarks/reports/h200.csv
python benchmarks/gpu.py report --csv benchmarks/reports/h200.csv > benchmarks/reports/h200.md

The paper's configuration: width 512, 8 heads, 3 layers, windows of 100 points, 25 channels. The
reference is the same network in plain PyTorch, bfloat16 and ``torch.compile``.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reproduce.hardware import forget_peak_memory, peak_memory
from subadjacent import SubAdjacentTransformerDetector
from subadjacent.core.band import Band
from subadjacent.core.kernels.switch import VARIABLE, use_kernels
from subadjacent.data.windows import Windows
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
from subadjacent.training.device import autocast
from subadjacent.training.recorded import Recorded, make_pass
from subadjacent.training.step import make_optimizers

GPU = torch.device("cuda")
CHANNELS, POINTS, WIDTH, HEADS = 25, 100, 512, 8
BATCHES = (128, 1024)
LENGTHS = (100, 200, 400, 1600, 6400, 25600, 100_000)
POINTS_A_STEP = 51_200
ROWS = 165_200  # of which four fifths are trained on: 132K windows
SEEDS = 3

Row = tuple[str, str, str, float, str]  # section, what, size, value, unit


def network() -> SubAdjacentTransformer:
    return SubAdjacentTransformer.seeded(SubAdjacentConfig.sized("paper", CHANNELS), 0).to(GPU)


def windows(n: int) -> Windows:
    rows = torch.randn(max(60_000, 2 * n), CHANNELS, device=GPU)
    return Windows(rows, torch.arange(len(rows) - n, device=GPU), n)


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Of one run: the median of three rounds, after some to warm up."""
    for _ in range(5):
        work()
    rounds = []
    for _ in range(3):
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(repeats):
            work()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - started) / repeats)
    return statistics.median(rounds)


def plain_step(size: int) -> Callable[[], None]:
    """One step of the reference, whose layers are compiled; the batch is gathered as ours is."""
    model, found = network().train(), windows(POINTS)
    for layer in model.layers:
        layer.compile(dynamic=False)
    (optimizer,) = make_optimizers(model, 1e-4)
    which = torch.randint(len(found), (size,), device=GPU)

    def step() -> None:
        batch = found.take(which)
        with use_kernels(False), autocast(GPU):
            (loss,) = model.losses(batch, epoch=1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def our_pass(size: int, n: int = POINTS) -> Callable[[], None]:
    """One step of training as ``fit`` takes it."""
    model = network().train()
    run = make_pass(model, windows(n), make_optimizers(model, 1e-4), autocast(GPU), size)

    def step() -> None:
        if run.left < size:
            run.begin(1, torch.Generator().manual_seed(0))
        run.advance()

    run.begin(1, torch.Generator().manual_seed(0))
    return step


def training() -> list[Row]:
    rows: list[Row] = []
    for size in BATCHES:
        repeats = 12_800 // size
        started = time.perf_counter()
        plain = plain_step(size)
        plain()
        torch.cuda.synchronize()
        rows.append(("start", "plain, compiled", f"B={size}", time.perf_counter() - started, "s"))
        forget_peak_memory(GPU)
        found = {"plain, compiled": seconds(plain, repeats)}
        memory = {"plain, compiled": peak_memory(GPU)}
        found["plain, compiled, CUDA graph"] = seconds(Recorded(plain), repeats)
        del plain
        forget_peak_memory(GPU)
        started = time.perf_counter()
        ours = our_pass(size)
        ours()
        torch.cuda.synchronize()
        rows.append(("start", "ours", f"B={size}", time.perf_counter() - started, "s"))
        found["ours"] = seconds(ours, repeats)
        memory["ours"] = peak_memory(GPU)
        for name, one in found.items():
            rows.append(("training", name, f"B={size}", size / one, "windows/s"))
        for name, one in memory.items():
            rows.append(("memory", name, f"B={size}", one, "GiB"))
    return rows


def inference() -> list[Row]:
    rows: list[Row] = []
    for size in BATCHES:
        batch = torch.randn(size, POINTS, CHANNELS, device=GPU)
        for name, on in (("plain, compiled, CUDA graph", False), ("ours", True)):
            model = network().eval()
            if not on:
                for layer in model.layers:
                    layer.compile(dynamic=False)
            with use_kernels(on):
                taken = seconds(Recorded(partial(reconstruct, model, batch)), 12_800 // size)
            rows.append(("inference", name, f"B={size}", size / taken, "windows/s"))
    return rows


@torch.inference_mode()
def reconstruct(model: SubAdjacentTransformer, batch: torch.Tensor) -> object:
    with autocast(GPU):
        return model(batch)


def lengths() -> list[Row]:
    rows: list[Row] = []
    for n in LENGTHS:
        size = max(1, POINTS_A_STEP // n)
        forget_peak_memory(GPU)
        taken = seconds(our_pass(size, n), 10)
        rows.append(("length", "ours", f"N={n}", size * n / taken, "points/s"))
        rows.append(("length", "ours", f"N={n}", peak_memory(GPU), "GiB"))
    return rows


def fitting() -> list[Row]:
    """A fit of the network to as much as PSM has, through the detector: 132K windows, one epoch."""
    generator = np.random.default_rng(0)
    waves = np.sin(np.arange(ROWS)[:, None] / generator.uniform(5, 50, CHANNELS))
    series = waves + 0.1 * generator.standard_normal((ROWS, CHANNELS))
    rows: list[Row] = []
    for name in ("first fit", "once compiled"):
        detector = SubAdjacentTransformerDetector(
            size="paper", window=POINTS, near=20, far=30, stride=1, epochs=1,
            batch_size=128, device="cuda",
        )  # fmt: skip
        started = time.perf_counter()
        detector.fit(series)
        torch.cuda.synchronize()
        rows.append(("fit", f"{name}, whole fit", "132K", time.perf_counter() - started, "s"))
        rows.append(("fit", f"{name}, the epoch", "132K", detector.history_[0].seconds, "s"))
    return rows


# what a kernel's name begins with or holds, and what it does; the first that fits
DOES = {
    "_short_backward": "attention, back",
    "_short_forward": "attention",
    "_norm_backward": "sum and norm, back",
    "_norm_forward": "sum and norm",
    "_gelu_backward": "GELU, back",
    "_gelu_forward": "GELU",
    "_embed_forward": "embedding",
    "_add_up": "sums of parts",
    "nvjet": "matrix products",
    "splitKreduce": "matrix products",
    "Memset": "matrix products",
    "FusedAdam": "Adam",
    "CopyFunctor": "weights to bfloat16",
}


def steps() -> list[Row]:
    """Where the time of one step goes, by torch's profiler."""
    rows: list[Row] = []
    for size in BATCHES:
        step = our_pass(size)
        seconds(step, 3)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(5):
                step()
            torch.cuda.synchronize()
        taken: dict[str, float] = {}
        kernels = 0
        for one in profile.key_averages():
            if one.self_device_time_total:
                does = next((does for name, does in DOES.items() if name in one.key), "the rest")
                taken[does] = taken.get(does, 0.0) + one.self_device_time_total / 5
                kernels += one.count // 5
        for name, each in sorted(taken.items(), key=lambda one: -one[1]):
            rows.append(("step", name, f"B={size}", each, "µs"))
        rows.append(("step", "all kernels", f"B={size}", sum(taken.values()), "µs"))
        rows.append(("step", "the step", f"B={size}", 1e6 * seconds(step, 20), "µs"))
        rows.append(("step", "number of kernels", f"B={size}", kernels, ""))
    return rows


def products() -> list[Row]:
    """The vendor's matrix products at the sizes of a step, forward, back and of weights."""
    rows: list[Row] = []
    for size in BATCHES:
        count = size * POINTS
        for wide in (WIDTH, 3 * WIDTH):
            x, of_out = (torch.randn(count, one, device=GPU).bfloat16() for one in (WIDTH, wide))
            weight, bias = torch.randn(wide, WIDTH, device=GPU).bfloat16(), of_out[0].clone()
            work = {
                "forward": partial(torch.addmm, bias, x, weight.T),
                "back": partial(torch.mm, of_out, weight),
                "weights": partial(torch.mm, of_out.T, x, out_dtype=torch.float32),
            }
            for name, run in work.items():
                rate = 2 * count * WIDTH * wide / seconds(Recorded(run), 20) / 1e12
                rows.append(("products", f"{WIDTH} → {wide}, {name}", f"B={size}", rate, "TFLOP/s"))
    return rows


def roofline() -> list[Row]:
    """Each kernel at B = 1,024: what it moves and multiplies, over its time."""
    from subadjacent.core.kernels import error, gelu, long, long_backward, norm, short
    from subadjacent.core.kernels.embed import embed
    from subadjacent.core.kernels.long_tiles import CHUNK
    from subadjacent.networks.layers import positions

    size, kind = 1024, torch.bfloat16
    count, each = size * POINTS, WIDTH // HEADS

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=GPU).to(kind)

    packed, points = drawn(size, POINTS, 3 * WIDTH), drawn(count, WIDTH)
    other, asked = drawn(count, WIDTH), drawn(size, POINTS, WIDTH)
    gain, tau, band = torch.ones(WIDTH, device=GPU), torch.tensor(1.3, device=GPU), Band()
    share = torch.randn(size, 1, POINTS, device=GPU).expand(size, HEADS, POINTS)
    _, means, scales = norm.add_norm(points, other, gain, gain)
    tall = packed.view(size // 16, 16 * POINTS, 3 * WIDTH)
    tall_share = torch.randn(size // 16, 1, 16 * POINTS, device=GPU).expand(-1, HEADS, -1)
    _, _, *sums = long.forward(tall, tau, HEADS, band)
    weight = drawn(WIDTH, WIDTH)
    raw = torch.randn(size, POINTS, CHANNELS, device=GPU)
    first = torch.randn(WIDTH, 3 * CHANNELS, device=GPU)
    places = positions(POINTS, WIDTH, GPU).to(kind)
    flat, narrow = raw.flatten(0, 1), drawn(count, 32)
    narrow_bytes = 4 * flat.numel() + 4 * narrow.numel()
    pairs = size * HEADS
    square, wide = 2 * POINTS * POINTS * each * pairs, 2 * POINTS * each * each * pairs
    tiles = 2 * (2 * CHUNK) * each * count * HEADS  # of the band, in long windows
    unit = 2 * count * WIDTH  # bytes of one tensor of points
    product = 2 * count * WIDTH * WIDTH
    work: dict[str, tuple[Callable[[], Any], float, float]] = {
        # name: work, bytes, floating-point operations of matrix products
        "copy (ceiling)": (lambda: other.copy_(points), 2 * unit, 0),
        "matrix product, 512 by 512": (lambda: points @ weight, 2 * unit, product),
        "attention": (lambda: short.forward(packed, tau, HEADS, band), 4 * unit, square + 2 * wide),
        "attention, back": (
            lambda: short.backward(packed, tau, HEADS, band, asked, share),
            7 * unit, 2 * square + 5 * wide,
        ),
        "attention, N=1600": (
            lambda: long.forward(tall, tau, HEADS, band), 8 * unit, tiles + 2 * wide,
        ),
        "attention, N=1600, back": (
            lambda: long_backward.backward(
                tall, tau, HEADS, band, asked.view(size // 16, -1, WIDTH), tall_share, *sums
            ),
            9 * unit, 2 * tiles + 5 * wide,
        ),
        "sum and norm": (lambda: norm.add_norm(points, other, gain, gain), 3 * unit, 0),
        "sum and norm, back": (
            lambda: norm.add_norm_backward(points, other, points, gain, means, scales),
            4 * unit, 0,
        ),
        "GELU": (lambda: gelu.gelu(points), 2 * unit, 0),
        "GELU, back": (lambda: gelu.gelu_backward(points, other), 3 * unit, 0),
        "error": (lambda: error.squared_error(narrow, flat), narrow_bytes, 0),
        "embedding": (
            lambda: embed(raw, first, places), unit, 6 * count * CHANNELS * WIDTH,
        ),
    }  # fmt: skip
    rows: list[Row] = []
    for name, (run, moved, multiplied) in work.items():
        taken = seconds(Recorded(run), 20)
        rows.append(("kernel", name, "B=1024", 1e6 * taken, "µs"))
        rows.append(("kernel", name, "B=1024", moved / taken / 1e9, "GB/s"))
        if multiplied:
            rows.append(("kernel", name, "B=1024", multiplied / taken / 1e12, "TFLOP/s"))
    return rows


def parity(data: str) -> list[Row]:
    """The same fits on MSL with and without kernels, under the protocol without label leaks."""
    return [
        one for on in (True, False) for seed in range(SEEDS) for one in assessed(data, on, seed)
    ]


def assessed(data: str, on: bool, seed: int) -> list[Row]:
    """One fit, and what it is worth."""
    from reproduce.protocols.clean import execute
    from reproduce.run import Run

    name = "with kernels" if on else "without"
    run = Run("msl", "sub-adjacent", "clean", seed, settings=(("size", "paper"),))
    with use_kernels(on):
        found = execute(run, data, "cuda")
    measures = ("auroc", "average_precision", "oracle_f1", "vus_pr_tsb_ad")
    rows = [("parity", f"{one}, {name}", f"seed {seed}", found[one], "") for one in measures]
    return [*rows, ("parity", f"fit, {name}", f"seed {seed}", found["fit_seconds"], "")]


SECTIONS = (training, inference, lengths, fitting, steps, products, roofline)


def speed() -> list[Row]:
    rows: list[Row] = [
        ("machine", torch.cuda.get_device_name(), "", 0.0, ""),
        ("machine", f"torch {torch.__version__}, Python {platform.python_version()}", "", 0.0, ""),
    ]
    for section in SECTIONS:
        try:
            rows += section()
        except Exception as error:
            # the other sections are worth having
            rows.append(("failed", f"{section.__name__}: {error!r}"[:300], "", 0.0, ""))
        print(f"{section.__name__} done", file=sys.stderr, flush=True)
    return rows


def add_rows(path: Path, rows: list[Row]) -> None:
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(("section", "what", "size", "value", "unit"))
        writer.writerows((*one[:3], f"{one[3]:.6g}", one[4]) for one in rows)


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def report(path: Path) -> str:
    """The tables, in Markdown."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [f"- {one['what']}" for one in rows if one["section"] in ("machine", "failed")]
    for section in dict.fromkeys(one["section"] for one in rows):
        if section in ("machine", "failed"):
            continue
        part = [one for one in rows if one["section"] == section]
        columns = list(dict.fromkeys((one["size"], one["unit"]) for one in part))
        lines += ["", f"## {section}", "", "| |" + "".join(f" {a} {b} |" for a, b in columns)]
        lines.append("|---|" + "---|" * len(columns))
        for what in dict.fromkeys(one["what"] for one in part):
            cells = {
                (one["size"], one["unit"]): shown(float(one["value"]))
                for one in part
                if one["what"] == what
            }
            lines.append(f"| {what} |" + "".join(f" {cells.get(one, '')} |" for one in columns))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("speed", "parity", "report"))
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--data", help="folder with the benchmark sets, for parity")
    arguments = parser.parse_args()
    # what is called ours below runs in kernels, also in processes that are started for it
    os.environ[VARIABLE] = "1"
    if arguments.what == "report":
        print(report(arguments.csv))
    else:
        rows = speed() if arguments.what == "speed" else parity(arguments.data)
        add_rows(arguments.csv, rows)


if __name__ == "__main__":
    main()
