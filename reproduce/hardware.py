"""The hardware of a run, and what it is measured with: time and memory of a GPU."""

from __future__ import annotations

import math

import torch


def hardware(device: torch.device) -> str:
    """The hardware's name for a report: the GPU's own name, or "CPU"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()


def wait_for(device: torch.device) -> None:
    """Wait until a GPU has done all its work; other devices work synchronously."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def forget_peak_memory(device: torch.device) -> None:
    """Begin to measure ``peak_memory`` anew."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: torch.device) -> float:
    """Peak memory of tensors on a GPU, in GiB; nan elsewhere."""
    if device.type != "cuda":
        return math.nan
    return torch.cuda.max_memory_allocated(device) / 2**30
