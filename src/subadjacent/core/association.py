"""Association discrepancy: how far what a point attends to is from what lies near it.

The idea of the Anomaly Transformer (Xu et al., ICLR 2022), kept here as a baseline. The
*series association* is the attention matrix; the *prior association* is a Gaussian of the
distance along the line, its scale learned for every point. Anomalies attend to their neighbours
at most, so their discrepancy is small.

Shapes: … any leading dimensions, N points in a window.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

# added to every association before its logarithm; far from a point the Gaussian rounds to zero
SMALLEST = 1e-4


def scale(raw: Tensor) -> Tensor:
    """The Gaussian's scale from any number: ``3^(sigmoid(5·raw) + 1e-5) − 1``, from 1e-5 to 2.

    Computed as expm1, which keeps the digits that ``3^x − 1`` loses near zero.
    """
    squashed = torch.sigmoid(5.0 * _wide(raw)) + 1e-5
    return torch.expm1(math.log(3.0) * squashed)


def prior_association(scales: Tensor) -> Tensor:
    """Gaussian of ``|i − j|`` with scale ``scales[i]``, rows summing to 1, (…, N, N)."""
    scales = _wide(scales)
    points = torch.arange(scales.shape[-1], device=scales.device, dtype=scales.dtype)
    steps = (points[:, None] - points) / scales[..., None]
    # a softmax of the exponents is the normalised kernel; the Gaussian's factor cancels, and
    # the point itself, with exponent 0, keeps every row from vanishing
    return torch.softmax(-0.5 * steps.square(), dim=-1)


def discrepancy(series: Tensor, prior: Tensor) -> Tensor:
    """Symmetrised Kullback-Leibler divergence of each point's two associations, (…, N).

    ``KL(series ‖ prior) + KL(prior ‖ series)``, which is the sum over a row of
    ``(s − p) · (log s − log p)``: a form without a negative term. ``SMALLEST`` is added to every
    entry, so that one that is zero in one of the two and not in the other stays finite.
    """
    s, p = _wide(series) + SMALLEST, _wide(prior) + SMALLEST
    return ((s - p) * (s.log() - p.log())).sum(dim=-1)


def association_loss(
    windows: Tensor, reconstruction: Tensor, pushed: Tensor, pulled: Tensor, weight: float = 3.0
) -> Tensor:
    """``2·MSE − k·mean(pushed) + k·mean(pulled)``: both phases of the minimax in one.

    ``pushed`` is the discrepancy with the prior detached, ``pulled`` the one with the series
    detached. The published training runs two backward passes before a step: a maximise phase,
    ``MSE − k·pushed``, which drives the series association away from the prior, and a minimise
    phase, ``MSE + k·pulled``, which draws the prior to the series. Their gradients add, so one
    pass through the sum of the two losses does the same for half the work.
    """
    wide = torch.promote_types(reconstruction.dtype, torch.float32)
    error = torch.nn.functional.mse_loss(reconstruction.to(wide), windows.to(wide))
    return 2.0 * error - weight * pushed.mean() + weight * pulled.mean()


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))
