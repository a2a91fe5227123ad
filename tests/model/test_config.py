"""The network's settings, and what they refuse."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from subadjacent.core import MAPPINGS, Band
from subadjacent.errors import InputError
from subadjacent.model import SIZES, ModelConfig


def test_the_paper_s_settings_are_the_default() -> None:
    assert ModelConfig(channels=5) == ModelConfig(
        channels=5,
        width=512,
        heads=8,
        layers=3,
        feedforward=512,
        attention="softmax",
        band=Band(20, 30),
    )


def test_the_paper_s_size_is_the_default_size() -> None:
    assert ModelConfig.sized("paper", channels=5) == ModelConfig(channels=5)


def test_a_size_stands_for_its_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"width": 4, "heads": 2, "layers": 1, "feedforward": 6}
    monkeypatch.setitem(SIZES, "tiny", tiny)
    expected = ModelConfig(channels=5, width=4, heads=2, layers=1, feedforward=6)
    assert ModelConfig.sized("tiny", channels=5) == expected


@pytest.mark.parametrize("size", SIZES)
def test_a_size_leaves_the_other_settings_open(size: str) -> None:
    config = ModelConfig.sized(size, channels=5, attention="relu", band=Band(1, 2))
    assert (config.attention, config.band) == ("relu", Band(1, 2))


@pytest.mark.parametrize("attention", [*MAPPINGS, "vanilla"])
def test_every_mapping_and_vanilla_are_accepted(attention: str) -> None:
    assert ModelConfig(channels=1, attention=attention).attention == attention


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "8", None])
@pytest.mark.parametrize("name", ["channels", "width", "heads", "layers", "feedforward"])
def test_a_dimension_that_is_no_count_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} must be a whole number of at least 1; got "):
        ModelConfig(**{"channels": 3, name: value})


@pytest.mark.parametrize(("width", "heads"), [(10, 4), (7, 1), (9, 3)])
def test_a_width_that_heads_or_positions_cannot_share_is_refused(width: int, heads: int) -> None:
    message = f"width must be even and a multiple of heads; got width={width}, heads={heads}"
    with pytest.raises(InputError, match=message):
        ModelConfig(channels=3, width=width, heads=heads)


def test_an_unknown_attention_is_refused_with_the_known_ones() -> None:
    known = "softmax, softmax-column, power, relu, elu, vanilla"
    with pytest.raises(InputError, match=f"^attention must be one of {known}; got 'sofmax'$"):
        ModelConfig(channels=3, attention="sofmax")


def test_an_unknown_size_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"^size must be one of tiny, small, paper; got 'large'$"):
        ModelConfig.sized("large", channels=3)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ModelConfig(channels=3).width = 4  # type: ignore[misc]
