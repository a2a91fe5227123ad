"""The paper's maths: pure functions on tensors, without state, files or a chosen device."""

from subadjacent.core.attention import (
    Attended,
    attention_matrix,
    linear_attention,
    vanilla_attention,
    vanilla_matrix,
)
from subadjacent.core.band import Band
from subadjacent.core.contribution import contribution, dense_contribution
from subadjacent.core.loss import loss
from subadjacent.core.mapping import MAPPINGS

__all__ = [
    "MAPPINGS",
    "Attended",
    "Band",
    "attention_matrix",
    "contribution",
    "dense_contribution",
    "linear_attention",
    "loss",
    "vanilla_attention",
    "vanilla_matrix",
]
