"""The paper's maths: pure functions on tensors, without state, files or a chosen device."""

from subadjacent.core.association import (
    association_loss,
    discrepancy,
    prior_association,
    scale,
)
from subadjacent.core.attention import (
    Attended,
    attention_matrix,
    linear_attention,
    vanilla_attention,
    vanilla_matrix,
)
from subadjacent.core.band import Band
from subadjacent.core.banded import banded_attention, banded_matrix, usable
from subadjacent.core.contribution import contribution, dense_contribution
from subadjacent.core.loss import loss
from subadjacent.core.mapping import MAPPINGS

__all__ = [
    "MAPPINGS",
    "Attended",
    "Band",
    "association_loss",
    "attention_matrix",
    "banded_attention",
    "banded_matrix",
    "contribution",
    "dense_contribution",
    "discrepancy",
    "linear_attention",
    "loss",
    "prior_association",
    "scale",
    "usable",
    "vanilla_attention",
    "vanilla_matrix",
]
