"""Names of points that cover nothing, and are read as the names of their points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from reproduce.labels import NEAR, Box, NamePlace, place

PAGE = Box(0, 0, 100, 100)
NAME = (10.0, 2.0)


def test_a_name_alone_stands_to_the_right_of_its_point() -> None:
    # two radii off, its middle as high as the point
    assert place([(50, 50)], [NAME], PAGE, 1.0) == [NamePlace(Box(52, 49, 62, 51), None)]


def test_a_name_that_would_leave_the_figure_stands_to_the_left() -> None:
    assert place([(95, 50)], [NAME], PAGE, 1.0)[0].box == Box(83, 49, 93, 51)


def test_a_name_keeps_off_what_is_to_be_free() -> None:
    line = Box(0, 49.5, 100, 50.5)
    assert place([(50, 50)], [NAME], PAGE, 1.0, [line])[0].box == Box(45, 52, 55, 54)


def test_a_name_gives_way_to_another_point() -> None:
    (first, second) = place([(50, 50), (53, 50)], [NAME, NAME], PAGE, 1.0)
    assert first.box == Box(38, 49, 48, 51)
    assert second.box == Box(55, 49, 65, 51)


def test_a_name_that_had_to_move_far_is_joined_to_its_point() -> None:
    around = [Box(40, 40, 60, 49), Box(40, 51, 60, 60), Box(40, 49, 49, 51), Box(51, 49, 60, 51)]
    ((box, line),) = place([(50, 50)], [NAME], PAGE, 1.0, around)
    assert not any(box.meets(one) for one in around)
    assert line == ((50, 50), box.nearest((50, 50)))


def test_without_any_room_a_name_stands_at_its_favourite_place() -> None:
    assert place([(50, 50)], [NAME], Box(49, 49, 51, 51), 1.0)[0].box == Box(52, 49, 62, 51)


@pytest.mark.parametrize(
    ("line", "crossed"),
    [
        (((0, 0), (10, 10)), True),
        (((0, 5), (10, 5)), True),
        (((5, 0), (5, 3)), False),
        (((0, 0), (3, 3)), False),  # ends before
        (((4, 0), (4, 10)), False),  # along an edge
        (((0, 8), (8, 12)), False),
        (((5, 5), (5.5, 5.5)), True),  # inside
    ],
)
def test_which_lines_cross_a_rectangle(line: tuple, crossed: bool) -> None:
    assert Box(4, 4, 6, 6).is_crossed(line) is crossed
    assert Box(4, 4, 6, 6).is_crossed(line[::-1]) is crossed


def places_and_centres(
    seed: int, count: int, page: Box
) -> tuple[list[NamePlace], list[tuple[float, float]]]:
    """Names of a cloud of points, with marks of radius 3."""
    rng = np.random.default_rng(seed)
    middle, spread = ((page.right / 2, page.top / 2), (page.right / 6, page.top / 8))
    centres = [(float(x), float(y)) for x, y in rng.normal(middle, spread, size=(count, 2))]
    sizes = [(float(width), 9.0) for width in rng.uniform(20, 90, size=count)]
    return place(centres, sizes, page, 3.0), centres


@pytest.mark.parametrize(("seed", "count"), [(0, 12), (1, 29), (2, 29)])
def test_in_a_crowd_no_name_covers_anything(seed: int, count: int) -> None:
    page = Box(0, 0, 560, 330)
    places, centres = places_and_centres(seed, count, page)
    boxes = [one.box for one in places]
    assert not any(one.meets(other) for one, other in itertools.combinations(boxes, 2))
    for point, (box, line) in zip(centres, places, strict=True):
        assert page.holds(box)
        assert (line is None) == (box.distance(point) <= NEAR * 3.0)
        marks = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in centres if (x, y) != point]
        assert not any(box.meets(mark) for mark in marks)


@pytest.mark.parametrize("seed", range(2))
def test_where_there_is_room_every_name_is_read_as_that_of_its_point(seed: int) -> None:
    places, centres = places_and_centres(seed, 12, Box(0, 0, 900, 600))
    assert all(one.parts_from(other) for one, other in itertools.permutations(places, 2))
    for point, (box, line) in zip(centres, places, strict=True):
        others = [other for other in centres if other != point]
        if line is None:
            assert min(map(box.distance, others)) > box.distance(point)
        else:
            marks = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in others]
            assert not any(mark.is_crossed(line) for mark in marks)
