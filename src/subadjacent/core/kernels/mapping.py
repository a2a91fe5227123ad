"""The paper's mapping (Eq. 4) inside a kernel, forward and backward, and products of tiles.

Shapes: N rows of a tile, E features of a head, both rounded up to powers of two.
"""

from __future__ import annotations

import triton
import triton.language as tl

from subadjacent.core.attention import SMALLEST_MASS as _SMALLEST_MASS
from subadjacent.core.mapping import SUPPRESSED as _SUPPRESSED

SUPPRESSED = tl.constexpr(_SUPPRESSED)
SMALLEST_MASS = tl.constexpr(_SMALLEST_MASS)
LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def focus(x, tau, rows, FEATURES: tl.constexpr):
    """Suppress negatives, divide by τ, softmax over the features; zeros outside the window.

    Written with few operations an element, of which this kernel has most to do: divisions are
    by row, and the mask too.
    """
    x = x.to(tl.float32)
    positive = tl.where(x < 0, SUPPRESSED, x)
    if x.shape[1] > FEATURES:
        inside = tl.arange(0, x.shape[1]) < FEATURES
        positive = tl.where(inside[None, :], positive, float("-inf"))
    rate = LOG2_E / tau
    powers = tl.exp2(positive * rate - (tl.max(positive, 1) * rate)[:, None])
    # rows that are none must add nothing to any sum over rows
    scale = tl.where(rows, 1.0 / tl.sum(powers, 1), 0.0)
    return powers * scale[:, None]


@triton.jit
def focus_backward(x, focused, gradient, tau):
    """Gradients of ``focus``: of x, and of τ, a number."""
    inner = tl.sum(focused * gradient, 1)
    return _through_softmax(x, focused * (gradient - inner[:, None]), tau)


@triton.jit
def _through_softmax(x, scaled, tau):
    x = x.to(tl.float32)
    of_tau = tl.sum(scaled * tl.where(x < 0, SUPPRESSED, x)) * (-1.0 / (tau * tau))
    return tl.where(x < 0, 0.0, scaled) * (1.0 / tau), of_tau


@triton.jit
def laid_out_as(x, other):
    """``x``, its elements with the threads that hold those of ``other``.

    Nothing is added. Said once, before a row of operations on both, it saves moving the
    outcome of each through shared memory, which these kernels have least of.
    """
    return (x.to(tl.float32) + other * 0.0).to(x.dtype)


@triton.jit
def normalised(q, total, tau, rows, FEATURES: tl.constexpr):
    """Mapped queries, and one over the mass of their rows of A."""
    pq = focus(q, tau, rows, FEATURES)
    mass = tl.sum(pq * total[None, :], 1)
    return pq, (1.0 / tl.maximum(mass, SMALLEST_MASS))[:, None]


@triton.jit
def normalised_backward(q, pq, scale, total, of_qn, tau):
    """Gradients of q, of τ, and of each row's mass, which add up to the total's.

    ``focus_backward`` after the quotient's rule. A quotient does not change with the size of
    its query, so what the softmax takes off is zero, and one sum over the features is saved.
    """
    along = tl.sum(of_qn * pq, 1)[:, None] * scale
    # a mass under its bound is a constant, and has no gradient
    free = scale * SMALLEST_MASS < 1.0
    slope = tl.where(free, -along * scale, 0.0)
    inner = tl.where(free, 0.0, along)
    scaled = pq * (of_qn * scale + (slope * total[None, :] - inner))
    of_q, of_tau = _through_softmax(q, scaled, tau)
    return of_q, of_tau, slope


@triton.jit
def product(a, b, KIND: tl.constexpr):
    """Matrix product of two tiles rounded to ``KIND``, added up in float32."""
    return tl.dot(a.to(KIND), b.to(KIND), input_precision="ieee")
