"""The paper's score in tensors alone, for export to ONNX.

Twins of ``moving.smooth`` and of Eq. 6 and 7 in ``paper``, for one segment of any length:
no loop over rows, no branch on a value, no function that ONNX lacks. In float64, as they are.

Shapes: T rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray
from scipy.special import erfcx
from torch import Tensor
from torch.nn import functional

from subadjacent.scoring.paper import AHEAD, SMALLEST_SHARE, TINY

# of the polynomial that approximates erfcx; together they leave an error of 1e-14
DEGREE = 20
CENTER = 4.0


def sliding_sums(values: Tensor, length: int) -> Tensor:
    """Sums of every ``length`` consecutive values; their number is ``length - 1`` smaller.

    Sums of 1, 2, 4, … values, each made of two of the size before; those that ``length`` is
    made of are added up. Nothing is subtracted, so a huge value is forgotten once it is out.
    """
    sums, size, done = values, 1, 0
    terms = []
    while True:
        if length & size:
            done += size
            # from where the parts before end, up to where those after have room
            terms.append(sums[done - size : sums.shape[0] - (length - done)])
        if done == length:
            return torch.stack(terms).sum(dim=0)
        sums = sums[:-size] + sums[size:]
        size *= 2


def smooth(scores: Tensor, length: int, before: float) -> Tensor:
    """Mean of each score and the ``length - 1`` before it, of which the first has none."""
    return sliding_sums(functional.pad(scores, (length - 1, 0), value=before), length) / length


def blockwise(error: Tensor, contribution: Tensor, block: int, temperature: float) -> Tensor:
    """Eq. 6 over blocks of consecutive rows; the last may be shorter."""
    t = error.shape[0]
    rows = torch.arange((t + block - 1) // block * block).reshape(-1, block)
    exists = rows < t
    rows = rows.clamp(max=t - 1)
    # set after the product: a temperature of 0 times an infinite contribution would be NaN
    logits = torch.where(exists, -temperature * contribution[rows], -torch.inf)
    weights = torch.softmax(logits, dim=-1) * exists.sum(dim=-1, keepdim=True)
    return (error[rows] * weights).flatten()[:t]


def trailing(scores: Tensor, warmup: Tensor) -> Tensor:
    """Relative to mean and deviation of the scores just before, as many as ``warmup`` has."""
    mean, deviation = _before(scores, warmup)
    return tail_surprise((scores - mean) / deviation)


def printed(scores: Tensor, warmup: Tensor) -> Tensor:
    """As ``trailing``, divided by the variance."""
    mean, deviation = _before(scores, warmup)
    return tail_surprise((scores - mean) / deviation.square())


def released(scores: Tensor, _warmup: Tensor) -> Tensor:
    """Relative to the mean of the next ten scores and the deviation of all."""
    ahead = sliding_sums(functional.pad(scores, (0, AHEAD)), AHEAD + 1) - scores
    left = torch.arange(scores.shape[0]).flip(0).clamp(max=AHEAD)
    mean = torch.where(left > 0, ahead / left.clamp(min=1), scores)
    deviation = (scores - scores.mean()).square().mean().sqrt()
    return tail_surprise((scores - mean) / torch.maximum(deviation, _rounding(mean)))


def unchanged(scores: Tensor, _warmup: Tensor) -> Tensor:
    """The scores themselves."""
    return scores


FORMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "trailing": trailing,
    "released": released,
    "printed": printed,
    "none": unchanged,
}


def tail_surprise(z: Tensor) -> Tensor:
    """``-log(1 - cdf(z))``, finite far in the tail, and nothing where it is below 1e-16.

    By ``erfcx``, the scaled complementary error function, which ONNX lacks: a polynomial
    approximates it, fitted when this is called.
    """
    x = z.abs() / 2**0.5
    scaled = _polynomial((x - CENTER) / (x + CENTER)) / (1 + x)
    tail = (-x.square()).exp() * scaled / 2
    return torch.where(z > 0, x.square() - (scaled / 2).log(), -(1 - tail).log())


def _polynomial(t: Tensor) -> Tensor:
    """``(1 + x)·erfcx(x)`` at ``t = (x - CENTER) / (x + CENTER)``, by Horner's rule."""
    fitted = Chebyshev.interpolate(_flattened, DEGREE)
    *coefficients, highest = fitted.convert(kind=Polynomial).coef.tolist()
    value = torch.full_like(t, highest)
    for coefficient in reversed(coefficients):
        value = value * t + coefficient
    return value


def _flattened(t: NDArray[np.float64]) -> NDArray[np.float64]:
    x = CENTER * (1 + t) / (1 - t)
    return np.asarray((1 + x) * erfcx(x))


def _before(scores: Tensor, warmup: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation of the ``len(warmup)`` scores before each score."""
    length = warmup.shape[0]
    usual = warmup.mean()
    # from the warm-up's mean, squares are as small as they get without looking ahead
    centred = torch.cat([warmup, scores])[:-1] - usual
    shift = sliding_sums(centred, length) / length
    square = sliding_sums(centred.square(), length) / length
    mean = usual + shift
    smallest = torch.maximum(SMALLEST_SHARE * warmup.std(correction=0), _rounding(mean))
    return mean, torch.maximum(square - shift.square(), smallest.square()).sqrt()


def _rounding(mean: Tensor) -> Tensor:
    return TINY * mean.abs().clamp(min=1)
