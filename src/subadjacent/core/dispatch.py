"""Which form of attention runs where: the only module that decides this.

Every form computes the same attention, to rounding. Which is quickest depends on the device, the
precision and the length of the window. The modules that hold the forms ask here; nothing here
computes anything, and nothing here imports Triton.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E.
"""

from __future__ import annotations

import os
from enum import Enum

import torch
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.kernels import switch

# longest window, in points, for which the attention matrix is formed: on two cores it takes a
# quarter of the time of sliding sums at 64 points, and four times their time at 256
DENSE_UP_TO = 128
# longest window for which the sum over the band is a product with its mask, in the packed form
MASK_UP_TO = 400

# kernels run in this precision; in float32 plain PyTorch is as quick, and exact
KERNEL_PRECISION = torch.bfloat16
# compute capability of the GPUs that the kernels were tested on: Hopper
TESTED = (9, 0)
# the kernel of short windows: more points would not fit the registers of one program, and the
# features of a head must fill a tile
SHORT_POINTS = 128
SHORT_FEATURES = (16, 32, 64)
# the kernel of long windows: rows of a chunk, tiles that the band of one chunk may reach into
# before sliding sums are quicker, and features of a head
CHUNK = 64
LONG_TILES = 8
LONG_FEATURES = 64
# the fused network: columns that one tile of its norm can hold
FUSED_WIDTH = 4096


class Form(Enum):
    """The forms of attention, and the modules that hold them."""

    KERNEL = "one Triton kernel from the projection: core/kernels/attention"
    PACKED = "one pass over the projection, on a CPU: core/packed"
    MATRIX = "with the attention matrix: core/attention"
    SUMS = "sliding sums in place of the matrix: core/attention"


def projected_form(
    x: Tensor, heads: int, band: Band, *, softmax: bool, dense: bool | None = None
) -> Form:
    """The form for points ``x`` (B, N, D) before their projection.

    ``softmax`` tells that the mapping is the paper's own, the only one with a kernel and a packed
    form. ``dense`` asks for the matrix, or for its absence.
    """
    if softmax and dense is None:
        if attention_in_kernel(x, heads, band):
            return Form.KERNEL
        # torch.compile sees into plain operations only
        if x.device.type == "cpu" and not torch.compiler.is_compiling():
            return Form.PACKED
    return linear_form(x.shape[-2], dense)


def linear_form(n: int, dense: bool | None = None) -> Form:
    """The form of linear attention for mapped queries and keys of ``n`` points."""
    return Form.MATRIX if _or(dense, n <= DENSE_UP_TO) else Form.SUMS


def sums_by_mask(n: int) -> bool:
    """Whether the packed form sums over the band by a product with its mask."""
    return n <= MASK_UP_TO


def network_in_kernels(windows: Tensor, width: int, widest: int, heads: int, band: Band) -> bool:
    """Whether a whole network of the paper's runs in kernels on these windows (B, N, C).

    ``widest`` is the largest of its widths.
    """
    if not kernels_on(windows) or windows.dtype != torch.float32:
        return False
    if windows.requires_grad and torch.is_grad_enabled():
        # the kernel of the embedding computes no gradient of the windows
        return False
    embedded = windows.new_empty(1, 1, 1).expand(*windows.shape[:2], width)
    return widest <= FUSED_WIDTH and attention_in_kernel(embedded, heads, band)


def attention_in_kernel(x: Tensor, heads: int, band: Band) -> bool:
    """Whether the attention of points ``x`` (B, N, D) has a kernel here and now."""
    if not kernels_on(x):
        return False
    device = x.device.type
    if not torch.is_autocast_enabled(device):
        return False
    if torch.get_autocast_dtype(device) != KERNEL_PRECISION:
        return False
    return kernel_fits(x.shape[1], x.shape[2] // heads, band)


def kernel_fits(n: int, features: int, band: Band, kind: torch.dtype = KERNEL_PRECISION) -> bool:
    """Whether there is a kernel for windows of ``n`` points and heads of ``features``."""
    if short_kernel_fits(n, features, kind):
        return True
    sides, tiles = chunk_reach(band)
    # a band that meets itself around the ring has no tiles of its own
    apart = n > 2 * max(band.far, CHUNK)
    return features <= LONG_FEATURES and sides * tiles <= LONG_TILES and apart


def short_kernel_fits(n: int, features: int, kind: torch.dtype) -> bool:
    """Whether the kernel of short windows takes windows of ``n`` points."""
    # tiles of float32 would not fit the shared memory
    narrow = kind == torch.bfloat16 or switch.interpreted()
    return n <= SHORT_POINTS and features in SHORT_FEATURES and narrow


def chunk_reach(band: Band) -> tuple[int, int]:
    """Sides of the band that the kernel of long windows walks, and tiles of each."""
    together = -(-(CHUNK + 2 * band.far) // CHUNK)
    apart = -(-(CHUNK + band.far - band.near) // CHUNK)
    if band.near == 0 or together <= 2 * apart:
        return 1, together
    return 2, apart


def kernels_on(x: Tensor) -> bool:
    """Whether what is computed from ``x`` may run in a kernel.

    By default on the GPUs that the kernels were tested on; on other NVIDIA GPUs
    on request. Never inside torch.compile, which fuses plain PyTorch.
    """
    if torch.compiler.is_compiling() or not switch.triton_installed():
        return False
    chosen = switch.chosen()
    if x.device.type == "cpu":
        return chosen is True and switch.interpreted()
    if not x.is_cuda or torch.version.cuda is None:
        return False
    backend = torch.get_device_module(x.device)
    # Triton launches on the current device, wherever the numbers lie
    if x.get_device() != backend.current_device():
        return False
    # the environment is read every time, so that a test or a notebook can set it
    wanted = os.environ.get(switch.VARIABLE) if chosen is None else str(int(chosen))
    return wanted == "1" or (wanted != "0" and backend.get_device_capability(x.device) == TESTED)


def _or(dense: bool | None, by_length: bool) -> bool:
    return by_length if dense is None else dense
