"""Figure 3: attention matrices of softmax attention and of linear attention, on SMAP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.experiments.run import PUBLISHED, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from subadjacent.experiments.runner import Place

ATTENTIONS = {"vanilla": "softmax attention", "softmax": "linear attention, learned softmax"}
DATASET, QUICK_DATASET = "smap", "nips-ts"


class AttentionMatrices:
    """The mean over heads and layers, for the first test window, after training."""

    name = "figure3"
    title = "Attention matrices with the band's contribution maximised"
    stems = ("figure3",)

    def dataset(self, quick: bool) -> str:
        """The paper's, or one that is always there."""
        return QUICK_DATASET if quick else DATASET

    def compute(self, place: Place, quick: bool) -> dict[str, NDArray[Any]]:
        """Train both networks as the paper did, and look at one window."""
        # drawing needs none of these
        import torch

        from subadjacent.experiments.datasets import load
        from subadjacent.experiments.protocols.published import fit
        from subadjacent.experiments.protocols.scaling import scale_benchmark
        from subadjacent.networks.network import Attentive
        from subadjacent.training.device import resolve_device

        found = {}
        for attention in ATTENTIONS:
            run = Run(
                self.dataset(quick), "sub-adjacent", PUBLISHED,
                settings=(("attention", attention),), quick=quick,
            )  # fmt: skip
            device = resolve_device(place.device)
            learned, asked = scale_benchmark(load(run, place.root))
            network, window, _ = fit(run, learned, device)
            assert isinstance(network, Attentive)
            with torch.inference_mode():
                rows = torch.from_numpy(asked[:window]).to(device)[None]
                matrix = network.attention(rows).mean(dim=(0, 1, 2))
            found[attention] = matrix.float().cpu().numpy()
        return found

    def draw(self, found: Mapping[str, NDArray[Any]]) -> dict[str, Figure]:
        """Both matrices on one scale, query by key."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.4, 3.6), layout="constrained")
        axes = figure.subplots(1, len(ATTENTIONS), sharey=True)
        highest = max(float(np.quantile(found[name], 0.999)) for name in ATTENTIONS)
        for axis, (name, words) in zip(axes, ATTENTIONS.items(), strict=True):
            image = axis.imshow(found[name], cmap="viridis", vmin=0, vmax=highest)
            axis.set_title(words, fontsize=10, loc="left")
            axis.set_xlabel("key")
        axes[0].set_ylabel("query")
        figure.colorbar(image, ax=axes, shrink=0.85, label="attention")
        return {self.stems[0]: figure}


FIGURE = AttentionMatrices()
