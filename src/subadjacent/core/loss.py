"""The loss of training (Eq. 5)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def loss(
    windows: Tensor, reconstruction: Tensor, contribution: Tensor, attention_weight: float = 10.0
) -> Tensor:
    """``2·MSE − λ·mean(contribution)``: reconstruct well, and from sub-adjacent points.

    Means, not the sums that Eq. 5 prints: λ = 10 was chosen on this scale, and sums would
    weigh the two terms differently for every number of channels.
    """
    wide = torch.promote_types(reconstruction.dtype, torch.float32)
    error = functional.mse_loss(reconstruction.to(wide), windows.to(wide))
    return 2.0 * error - attention_weight * contribution.mean()
