"""Softmax attention under a hard band: a point takes from its sub-adjacent points and no others.

Distance runs along the line, never around the ring: the two ends of a window are far apart in
time. Two forms with one meaning: the N × N matrix with all but the band struck out, and blocks
along the band, whose time and memory grow as N times the band's width.

Shapes: … any leading dimensions, N points in a window, E features of a head, W distances in the
band, M blocks of S points.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from subadjacent.core.attention import Attended
from subadjacent.core.band import Band
from subadjacent.core.dispatch import Form, banded_form, block_size
from subadjacent.errors import InputError


def check_strict(band: Band) -> None:
    """Refuse a band that holds the point itself, or that goes around the ring."""
    if band.near < 1 or band.circular:
        raise InputError(
            f"attention under a hard band needs near >= 1 and circular=False; got {band}"
        )


def usable(n: int, band: Band) -> slice:
    """The points of a window of ``n`` that have their whole band inside it, on both sides."""
    return slice(band.far, max(band.far, n - band.far))


def banded_attention(
    q: Tensor, k: Tensor, v: Tensor, band: Band, *, dense: bool | None = None
) -> Attended:
    """``A @ v`` and the contribution, A being the softmax over the band's points alone.

    Near the window's ends a point takes from the side it has. A point with no sub-adjacent one
    in the window, as in the middle of a window shorter than ``2·near``, takes nothing: its row
    of A is zero. All of A lies in the band, so the contribution is the plain column sum, and its
    mean is 1 where every point has something to take from.

    The matrix is formed when the window is short, or hardly longer than the band is wide;
    ``dense`` forces one form or the other. The numbers are the same.

    Raises
    ------
    InputError
        When the band holds the point itself or goes around the ring, and when no point of the
        window has a sub-adjacent one.
    """
    if banded_form(q.shape[-2], band, dense) is Form.BLOCKS:
        return _in_blocks(q, k, v, band)
    attention = banded_matrix(q, k, band)  # (…, N, N)
    values = attention @ v.to(attention.dtype)
    return Attended(values.to(v.dtype), attention.sum(dim=-2))


def banded_matrix(q: Tensor, k: Tensor, band: Band) -> Tensor:
    """The matrix A, [query, key]: zero outside of the band, rows summing to 1."""
    n = q.shape[-2]
    check_strict(band)
    band.check(n)
    return _softmax(_scores(q, k), band.mask(n, q.device), empty_rows=n < 2 * band.near)


def _in_blocks(q: Tensor, k: Tensor, v: Tensor, band: Band) -> Attended:
    """Block after block of queries, each beside the keys it can reach to the left and right."""
    n = q.shape[-2]
    check_strict(band)
    band.check(n)
    band = Band(band.near, min(band.far, n - 1), circular=False)
    size = block_size(band)
    count = -(-n // size)
    # the first point that the first block can reach, on either side
    starts = (-band.far, band.near)

    queries = _cut(functional.pad(q, (0, 0, 0, count * size - n)), size)
    keys = torch.cat([_reached(k, start, count, size) for start in starts], dim=-2)
    values = torch.cat([_reached(v, start, count, size) for start in starts], dim=-2)
    mask = torch.cat([_block_mask(n, start, count, size, band, q) for start in starts], dim=-1)

    # the last block may be filled up with points that are none
    attention = _softmax(_scores(queries, keys), mask, empty_rows=True)  # (…, M, S, 4·S)
    attended = (attention @ values.to(attention.dtype)).flatten(-3, -2)[..., :n, :]
    taken = attention.sum(dim=-2).chunk(2, dim=-1)  # to the left and right, (…, M, 2·S)
    left, right = (_laid_back(mass, start, n) for mass, start in zip(taken, starts, strict=True))
    return Attended(attended.to(v.dtype), left + right)


def _cut(x: Tensor, size: int) -> Tensor:
    """Rows by blocks of ``size``, which must come out even."""
    return x.reshape(*x.shape[:-2], -1, size, x.shape[-1])


def _reached(x: Tensor, start: int, count: int, size: int) -> Tensor:
    """For each block, the two blocks of rows from ``start`` on; zeros beyond the ends.

    (…, N, E) → (…, M, 2·S, E).
    """
    # a negative padding cuts off
    after = (count + 1) * size + start - x.shape[-2]
    blocks = _cut(functional.pad(x, (0, 0, -start, after)), size)  # (…, M + 1, S, E)
    return torch.cat([blocks[..., :-1, :, :], blocks[..., 1:, :, :]], dim=-2)


def _laid_back(mass: Tensor, start: int, n: int) -> Tensor:
    """Attention of each block to the rows of ``_reached``, summed by row: (…, M, 2·S) → (…, N)."""
    first, second = mass.chunk(2, dim=-1)
    total = functional.pad(first, (0, 0, 0, 1)) + functional.pad(second, (0, 0, 1, 0))
    rows = total.flatten(-2)  # (…, (M + 1)·S)
    return functional.pad(rows, (start, n - start - rows.shape[-1]))


def _block_mask(n: int, start: int, count: int, size: int, band: Band, like: Tensor) -> Tensor:
    """Whether a block's point may take from a reached one on this side, (M, S, 2·S)."""
    first = torch.arange(count, device=like.device)[:, None, None] * size
    i = first + torch.arange(size, device=like.device)[:, None]
    j = first + start + torch.arange(2 * size, device=like.device)
    # signed: where near is small, either side's rows run over into the other's
    distance = i - j if start < 0 else j - i
    return (distance >= band.near) & (distance <= band.far) & (j >= 0) & (j < n) & (i < n)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    scores: Tensor = q * q.shape[-1] ** -0.5 @ k.mT
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def _softmax(scores: Tensor, mask: Tensor, *, empty_rows: bool) -> Tensor:
    """Softmax of each row over the points in the mask; zeros in a row without any."""
    # not minus infinity: a row of nothing else has no softmax. Added, and not filled in, since
    # that costs nothing in the gradient; what it bars comes out as zero exactly either way
    lowest = torch.finfo(scores.dtype).min
    barred = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, lowest)
    attention = torch.softmax(scores + barred, dim=-1)
    return attention.masked_fill(~mask, 0.0) if empty_rows else attention
