"""Where the network runs, and in which precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from subadjacent.errors import InputError

KINDS = ("cpu", "cuda", "mps")
PRECISIONS = ("auto", "float32", "bfloat16")


def resolve_device(name: str | torch.device = "auto") -> torch.device:
    """The device called ``name``; ``"auto"`` takes a GPU when there is one.

    Raises
    ------
    InputError
        When there is no such device here.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
        reason = "" if device.type in KINDS else f"{device.type} cannot train"
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        # torch reports a missing backend in several ways, none of them with our argument's name
        reason = str(error).splitlines()[0]
    if reason:
        raise InputError(
            f"device must be 'auto', 'cpu', 'cuda' or 'mps', and present; got {name!r} ({reason})"
        )
    return device


def autocast(device: torch.device, precision: str = "auto") -> torch.autocast:
    """A context in which matrix products run in bfloat16, where that is requested or pays."""
    if precision not in PRECISIONS:
        raise InputError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
    pays = device.type == "cuda" and torch.cuda.is_bf16_supported()
    enabled = precision == "bfloat16" or (precision == "auto" and pays)
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)


def take_gpu(number: int, processes: int) -> bool:
    """Assign one GPU of this host to the process; False where there are too few for all."""
    count = torch.cuda.device_count()
    if count:
        torch.cuda.set_device(number % count)
    return 0 < processes <= count


@contextmanager
def seeded(device: torch.device, seed: int) -> Iterator[None]:
    """Seed torch's global generators of the CPU and the device; put them back afterwards."""
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        # not torch.manual_seed, which reseeds every GPU
        torch.default_generator.manual_seed(seed)
        for gpu in gpus:
            with torch.cuda.device(gpu):
                torch.cuda.manual_seed(seed)
        yield
