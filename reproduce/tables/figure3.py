"""Figure 3: attention matrices of softmax attention and of linear attention, on SMAP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reproduce.run import PUBLISHED, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reproduce.runner import RunContext

ATTENTIONS = {"vanilla": "softmax attention", "softmax": "linear attention, learned softmax"}
DATASET, QUICK_DATASET = "smap", "nips-ts"


class AttentionFigure:
    """Attention of the first test window after training, mean over heads and layers."""

    name = "figure3"
    title = "Attention matrices with the band's contribution maximised"
    stems = ("figure3",)

    def dataset(self, quick: bool) -> str:
        """The paper's, or one that is always there."""
        return QUICK_DATASET if quick else DATASET

    def compute(self, place: RunContext, quick: bool) -> dict[str, NDArray[Any]]:
        """Train both networks as the paper did; return their attention on one window."""
        # drawing needs none of these
        import torch

        from reproduce.datasets import load
        from reproduce.protocols.published import fit
        from reproduce.protocols.scaling import scale_benchmark
        from subadjacent.networks.network import Attentive
        from subadjacent.training.device import resolve_device

        matrices = {}
        for attention in ATTENTIONS:
            run = Run(
                self.dataset(quick), "sub-adjacent", PUBLISHED,
                settings=(("attention", attention),), quick=quick,
            )  # fmt: skip
            device = resolve_device(place.device)
            train_rows, test_rows = scale_benchmark(load(run, place.root))
            network, window, _ = fit(run, train_rows, device)
            assert isinstance(network, Attentive)
            with torch.inference_mode():
                rows = torch.from_numpy(test_rows[:window]).to(device)[None]
                matrix = network.attention(rows).mean(dim=(0, 1, 2))
            matrices[attention] = matrix.float().cpu().numpy()
        return matrices

    def draw(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Figure]:
        """Both matrices on one scale, query by key."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.4, 3.6), layout="constrained")
        axes = figure.subplots(1, len(ATTENTIONS), sharey=True)
        highest = max(float(np.quantile(arrays[name], 0.999)) for name in ATTENTIONS)
        for axis, (name, words) in zip(axes, ATTENTIONS.items(), strict=True):
            image = axis.imshow(arrays[name], cmap="viridis", vmin=0, vmax=highest)
            axis.set_title(words, fontsize=10, loc="left")
            axis.set_xlabel("key")
        axes[0].set_ylabel("query")
        figure.colorbar(image, ax=axes, shrink=0.85, label="attention")
        return {self.stems[0]: figure}


FIGURE = AttentionFigure()
