"""Settings of rival networks that make no sense are refused by their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

import pytest

from subadjacent.detectors.registry import REGISTRY, detector_class
from subadjacent.errors import InputError
from subadjacent.rivals.base import TINY, Rival, RivalDetector

# registered name → settings with bounds of their own, and values that are refused
BOUNDED: dict[str, dict[str, tuple[Any, ...]]] = {
    "dagmm": {"dropout": (-0.1, 1.0)},
    "gta": {"width": (12,), "draw": (0,)},
    "lstm": {"dropout": (-0.1, 1.0)},
    "mad-gan": {"search": (-1,), "residual": (-0.1, 1.5)},
    "mscred": {"scales": ((30, 10),), "likeness": (0,), "bad": (0, 1.5)},
    "npsr": {"width": (10,), "reach": (-1, 5_001), "nominal": (0, 1.5)},
    "omni-anomaly": {"flows": (-1,)},
    "thoc": {"centres": ((4, 3),)},
    "usad": {"second": (-0.1, 1.5), "window": (1,)},
}
# values of a setting without bounds of its own that are refused, by its kind
UNBOUNDED: dict[type, tuple[Any, ...]] = {
    int: (0, 2.5, True),
    float: (-0.1, "1", float("nan")),
    tuple: ((), [4, 3, 2], (4, 0, 2)),
}


def rivals() -> Iterator[tuple[str, type[Rival]]]:
    for name in REGISTRY:
        kind = detector_class(name)
        if issubclass(kind, RivalDetector):
            yield name, kind.rival


def test_settings_that_make_no_sense_are_refused() -> None:
    for name, rival in rivals():
        refused = dict(BOUNDED.get(name, {}))
        for one in fields(rival.configured_by):
            if one.default is not MISSING and not one.metadata:
                refused[one.name] = refused.get(one.name, ()) + UNBOUNDED[type(one.default)]
        for setting, values in refused.items():
            for value in values:
                with pytest.raises(InputError, match=setting):
                    rival.configured_by(**{"channels": 2, "window": 12, setting: value})


def test_every_rival_network_has_settings_for_any_number_of_channels() -> None:
    for _, rival in rivals():
        for channels in (1, 7):
            config = rival.configured_by.sized(TINY, channels=channels, window=12)
            assert rival.configured_by.from_dict(vars(config)) == config
            assert rival.seeded(config, 0).config.channels == channels
