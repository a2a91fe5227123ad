"""Sizes of a dataset, as in Table 1, and the cost of a network, as in Table 11.

Time and memory are those of training steps on windows of the dataset, with the matrix of linear
attention formed or avoided. A few steps are timed; an epoch takes as many as it has batches.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from reproduce.benchmarks import check
from reproduce.datasets import load
from reproduce.hardware import forget_peak_memory, peak_memory, wait_for
from reproduce.protocols.published import STRIDES, unscaled
from reproduce.protocols.scaling import scale_benchmark
from reproduce.run import Run
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, Windows, stack
from subadjacent.evaluation.segments import segments
from subadjacent.methods.neural.paper_score import PaperScore
from subadjacent.methods.neural.row_scores import assess_rows
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
from subadjacent.training.device import autocast, resolve_device
from subadjacent.training.recorded import make_pass
from subadjacent.training.step import make_optimizers

WINDOW = 100
BATCH = 128
# the first ones warm up and record
STEPS, WARM_UP = 40, 10
QUICK_STEPS, QUICK_WARM_UP = 2, 1


def count_rows(run: Run, root: str | None, _device: str) -> dict[str, Any]:
    """Count rows, channels, entities and anomalies."""
    benchmark = load(run, root)
    labels = [test.labels for test in benchmark.test]
    return {
        "channels": benchmark.channels,
        "entities": len(benchmark.train),
        "train_rows": sum(len(series) for series in benchmark.train),
        "test_rows": sum(len(series) for series in labels),
        "anomalous": float(np.concatenate(labels).mean()),
        "segments": sum(len(segments(series)) for series in labels),
        "verdict": "a few rows" if run.quick else check(benchmark),
    }


def execute(run: Run, root: str | None, device: str) -> dict[str, Any]:
    """Train some steps, score the test rows, count parameters and multiplications."""
    benchmark = load(run, root)
    settings = dict(run.settings)
    target = resolve_device(device)
    train_rows, test_rows = scale_benchmark(benchmark)
    config = SubAdjacentConfig.sized(
        "small" if run.quick else "paper", train_rows.shape[1], attention=str(settings["attention"])
    )
    network = SubAdjacentTransformer.seeded(config, run.seed).to(target)
    for attention in network.attentions():
        attention.dense = settings["form"] == "matrix"
    windows = (
        _stack(train_rows)
        .windows_within([(0, len(train_rows))], STRIDES.get(run.dataset, 1))
        .to(target)
    )
    return {
        "parameters": sum(weights.numel() for weights in network.parameters()),
        "multiplications": _multiplications(network, windows),
        "epoch_seconds": _step_seconds(network, windows, run.quick)
        * math.ceil(len(windows) / BATCH),
        "training_memory_gib": peak_memory(target),
        "inference_seconds": _inference_seconds(network, _stack(test_rows)),
    }


def _stack(rows: Any) -> Stack:
    return stack([TrainSeries(rows)], unscaled(rows.shape[1]), WINDOW)


def _multiplications(network: SubAdjacentTransformer, windows: Windows) -> int:
    """Multiply-adds of one window; the paper calls them FLOPs."""
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        network(windows.take(torch.zeros(1, dtype=torch.long, device=windows.starts.device)))
    return int(counter.get_total_flops()) // 2


def _step_seconds(network: SubAdjacentTransformer, windows: Windows, quick: bool) -> float:
    device = windows.values.device
    forget_peak_memory(device)
    size = min(BATCH, len(windows))
    whole = replace(windows, starts=windows.starts[: len(windows) // size * size])
    batches = make_pass(network, whole, make_optimizers(network, 1e-4), autocast(device), size)
    network.train()
    warm_up, steps = (QUICK_WARM_UP, QUICK_STEPS) if quick else (WARM_UP, STEPS)
    generator = torch.Generator().manual_seed(0)
    started = time.perf_counter()
    for number in range(warm_up + steps):
        if number == warm_up:
            wait_for(device)
            started = time.perf_counter()
        if number % (len(whole) // size) == 0:
            batches.begin(1, generator)
        batches.advance()
    wait_for(device)
    return (time.perf_counter() - started) / steps


def _inference_seconds(network: SubAdjacentTransformer, stacked: Stack) -> float:
    plain = PaperScore(temperature=0.0).of_windows
    assess_rows(network, stacked, WINDOW, plain, channels=False)
    started = time.perf_counter()
    assess_rows(network, stacked, WINDOW, plain, channels=False)
    return time.perf_counter() - started
