"""Settings of rival networks that make no sense are refused by their names."""

from __future__ import annotations

from typing import Any

import pytest

from subadjacent.detectors.registry import REGISTRY, detector_class
from subadjacent.errors import InputError
from subadjacent.rivals.base import TINY, RivalDetector

# registered name → settings and values that are refused
REFUSED: dict[str, dict[str, tuple[Any, ...]]] = {
    "dagmm": {
        "hidden": ([8], (0,)),
        "latent": (0,),
        "mixtures": (0,),
        "estimator": (0,),
        "dropout": (1.0,),
        "energy_weight": (-1,),
        "variance_weight": (-1,),
    },
    "gdn": {"history": (0,), "neighbours": (0,), "width": (0,), "hidden": (0,)},
    "gta": {
        "width": (0, 12),
        "heads": (0,),
        "layers": (0,),
        "levels": (0,),
        "influence": (0,),
        "draw": (0,),
    },
    "lstm-vae": {"width": (0,), "latent": (0,), "noise": (-0.1,)},
    "mad-gan": {"width": (0,), "depth": (0,), "latent": (0,), "search": (-1,), "residual": (1.5,)},
    "mscred": {
        "scales": ((30, 10), (), (0, 1)),
        "maps": ([4], (0,)),
        "steps": (0,),
        "gap": (0,),
        "likeness": (0,),
        "bad": (0, 1.5),
    },
    "mtad-gat": {"width": (0,), "layers": (0,), "gamma": (-1,)},
    "npsr": {
        "latent": (0,),
        "width": (0, 10),
        "heads": (0,),
        "layers": (0,),
        "reach": (-1,),
        "nominal": (0, 1.5),
    },
    "omni-anomaly": {"width": (0,), "latent": (0,), "flows": (-1,)},
    "thoc": {
        "width": (0,),
        "skips": ((), [1, 2, 4], (1, 0, 4)),
        "centres": ((4, 3), (4, 3, 0)),
        "orthogonal_weight": (-1.0,),
        "forecast_weight": (-1.0,),
    },
    "usad": {"latent": (0,), "second": (1.5,), "window": (1,)},
}


def test_settings_that_make_no_sense_are_refused() -> None:
    for name, settings in REFUSED.items():
        kind = detector_class(name)
        assert issubclass(kind, RivalDetector)
        config = kind.rival.configured_by
        for setting, values in settings.items():
            for value in values:
                with pytest.raises(InputError, match=setting):
                    config(**{"channels": 2, "window": 12, setting: value})
        assert config.sized(TINY, channels=2, window=12) == config.from_dict(
            vars(config.sized(TINY, channels=2, window=12))
        )


def test_every_rival_network_has_settings_for_any_number_of_channels() -> None:
    for name, entry in REGISTRY.items():
        if not entry.module.startswith("rivals."):
            continue
        kind = detector_class(name)
        if issubclass(kind, RivalDetector):
            for channels in (1, 7):
                config = kind.rival.configured_by.sized(TINY, channels=channels, window=12)
                assert kind.rival.seeded(config, 0).config.channels == channels
