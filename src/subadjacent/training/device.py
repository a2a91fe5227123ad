"""Where the network runs, and in which precision."""

from __future__ import annotations

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
    """A context in which matrix products run in bfloat16, where that is asked for or pays."""
    if precision not in PRECISIONS:
        raise InputError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
    pays = device.type == "cuda" and torch.cuda.is_bf16_supported()
    enabled = precision == "bfloat16" or (precision == "auto" and pays)
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)
