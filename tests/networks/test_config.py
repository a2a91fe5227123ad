"""The network's settings, and what they refuse."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from subadjacent.core.band import Band
from subadjacent.errors import InputError
from subadjacent.networks.config import SIZES
from subadjacent.networks.subadjacent import SubAdjacentConfig
from subadjacent.rivals.anomaly_transformer import AnomalyTransformerConfig


def test_the_paper_s_settings_are_the_default() -> None:
    assert SubAdjacentConfig(channels=5) == SubAdjacentConfig(
        channels=5,
        width=512,
        heads=8,
        layers=3,
        feedforward=512,
        attention="softmax",
        band=Band(20, 30),
    )
    assert SubAdjacentConfig.sized("paper", channels=5) == SubAdjacentConfig(channels=5)


def test_a_size_stands_for_its_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"width": 4, "heads": 2, "layers": 1, "feedforward": 6}
    monkeypatch.setitem(SIZES, "tiny", tiny)
    expected = SubAdjacentConfig(channels=5, width=4, heads=2, layers=1, feedforward=6)
    assert SubAdjacentConfig.sized("tiny", channels=5) == expected


def test_a_dimension_that_is_no_count_is_refused_by_name() -> None:
    for name in ("channels", "width", "heads", "layers", "feedforward"):
        for value in (0, -1, 2.0, True, "8", None):
            rule = f"^{name} must be a whole number of at least 1; got "
            with pytest.raises(InputError, match=rule):
                SubAdjacentConfig(**{"channels": 3, name: value})


def test_a_width_that_heads_or_positions_cannot_share_is_refused() -> None:
    for width, heads in ((10, 4), (7, 1), (9, 3)):
        rule = f"width must be even and a multiple of heads; got width={width}, heads={heads}"
        with pytest.raises(InputError, match=rule):
            SubAdjacentConfig(channels=3, width=width, heads=heads)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    known = "softmax, softmax-column, power, relu, elu, vanilla"
    with pytest.raises(InputError, match=f"^attention must be one of {known}; got 'sofmax'$"):
        SubAdjacentConfig(channels=3, attention="sofmax")
    with pytest.raises(
        InputError, match=r"^attention must be one of vanilla, softmax; got 'relu'$"
    ):
        AnomalyTransformerConfig(channels=3, attention="relu")
    with pytest.raises(InputError, match=r"^size must be one of tiny, small, paper; got 'large'$"):
        SubAdjacentConfig.sized("large", channels=3)


@pytest.mark.parametrize("config", [SubAdjacentConfig, AnomalyTransformerConfig])
def test_a_negative_attention_weight_is_refused(config) -> None:
    with pytest.raises(InputError, match="attention_weight must be a finite number of at least 0"):
        config(channels=3, attention_weight=-0.1)


@pytest.mark.parametrize(
    "config",
    [
        SubAdjacentConfig(channels=3, band=Band(1, 2), attention_weight=2.0),
        AnomalyTransformerConfig(channels=3, attention="softmax"),
    ],
    ids=lambda config: type(config).__name__,
)
def test_settings_come_back_from_json(config) -> None:
    assert type(config).from_dict(json.loads(json.dumps(asdict(config)))) == config
