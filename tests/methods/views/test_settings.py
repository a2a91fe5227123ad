"""Settings of the views: what they refuse, and how rows ahead are shared out."""

from __future__ import annotations

from typing import Any

import pytest

from subadjacent.errors import FARTHEST, InputError
from subadjacent.methods.views.residual_scale import FLOOR
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.ridge.neighbours import Neighbours

NAMES = "level, rhythm, local rhythm, slow rhythm, state, shape"


def test_all_views_take_part_unless_some_are_named_by_hand() -> None:
    assert ", ".join(ViewSettings().names) == NAMES
    # in their own order, each once, in whatever order they were named
    assert ViewSettings(views=("shape", "level", "shape")).names == ("level", "shape")
    assert ViewSettings(views=["rhythm"]).names == ("rhythm",)


@pytest.mark.parametrize(
    ("lookahead", "rows"), [("full", None), (0, 0), (1, 0), (12, 6), (15, 10), (31, 21)]
)
def test_windows_look_as_far_ahead_as_neighbours_and_residuals_by_hand(
    lookahead: int | str, rows: int | None
) -> None:
    assert ViewSettings(lookahead=lookahead).window_ahead == rows


@pytest.mark.parametrize(
    ("lookahead", "shares"),
    [
        ("full", (None, None, None)),
        (0, (0, 0, 0)),
        # a third is nearer than the nearest neighbour, 5 rows away: averages share all of it
        (1, (0, 0, 1)),
        (2, (0, 1, 1)),
        (12, (0, 6, 6)),
        (15, (5, 5, 5)),
        (31, (11, 10, 10)),
    ],
)
def test_rows_ahead_are_shared_out_over_the_steps_by_hand(
    lookahead: int | str, shares: tuple[int | None, ...]
) -> None:
    assert ViewSettings(lookahead=lookahead).ahead == shares


@pytest.mark.parametrize(
    ("lookahead", "wanted"),
    [
        ("full", Neighbours(5, 30, 30, 2)),
        (0, Neighbours(5, 30, 0, 2)),
        # four rows ahead are nearer than the nearest neighbour
        (12, Neighbours(5, 30, 0, 2)),
        (15, Neighbours(5, 30, 5, 2)),
        (300, Neighbours(5, 30, 30, 2)),
    ],
)
def test_neighbours_reach_as_far_ahead_as_is_allowed_by_hand(
    lookahead: int | str, wanted: Neighbours
) -> None:
    assert ViewSettings(lookahead=lookahead).neighbours(5, 30, 2) == wanted


def test_what_does_not_matter_is_a_square_of_a_share_by_hand() -> None:
    settings = ViewSettings(min_deviation=0.2)
    assert settings.related_floor == pytest.approx(0.04)
    # a channel by itself is held to a tenth of the square: a third of the share
    assert settings.own_floor == pytest.approx(0.004)
    assert ViewSettings().related_floor == pytest.approx(0.01)
    assert ViewSettings().own_floor == pytest.approx(FLOOR)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"near": 0}, "near must be a whole number of at least 1; got 0"),
        ({"far": "wide"}, "far must be a whole number"),
        ({"near": 9, "far": 4}, "band needs near <= far; got near=9, far=4"),
        ({"smoothing": 0}, "smoothing must be a whole number of at least 1; got 0"),
        ({"lookahead": -1}, "lookahead must be a whole number of at least 0; got -1"),
        ({"lookahead": 1.5}, "lookahead must be a whole number of at least 0; got 1.5"),
        ({"lookahead": None}, "lookahead must be a whole number of at least 0; got None"),
        ({"lookahead": "half"}, "lookahead must be 'full' or a whole number .*; got 'half'"),
        ({"views": "rhythm"}, f"views must be 'all' or a sequence of names among {NAMES}; got 'rh"),
        (
            {"views": ("level", "mood")},
            f"views must be .* at least one name among {NAMES}; got 'mo",
        ),
        ({"views": 3}, "views must be 'all' or a sequence of names among .*; got 3"),
        ({"min_deviation": 0}, "min_deviation must be a finite number above 0; got 0"),
        ({"min_deviation": "a little"}, "min_deviation must be a finite number above 0; got 'a li"),
        ({"views": ()}, rf"views must be .* at least one name among {NAMES}; got \[\]"),
    ],
)
def test_settings_that_make_no_sense_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ViewSettings(**parameters)


@pytest.mark.parametrize("name", ["near", "far", "smoothing", "lookahead"])
def test_rows_to_look_at_have_an_upper_bound(name: str) -> None:
    settings = {"far": FARTHEST, name: FARTHEST}
    ViewSettings(**settings)
    with pytest.raises(InputError, match=f"{name} must be a whole number of at most 100,000"):
        ViewSettings(**settings | {name: FARTHEST + 1})
