"""Placement of the names of points in a figure, so that each is read as that of its point."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

Spot = tuple[float, float]

# directions from a point to its name that are tried, as (x, y), the favourites first: beside it,
# above and below it, then in between
DIRECTIONS = (
    (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1),
    (1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (0.5, -1), (-0.5, 1), (-0.5, -1),
)  # fmt: skip
# how much farther each next try is, in heights of a name, and how many there are: up to about a
# third of a page
STEP, TRIES = 0.35, 60
# a name farther from its point than this many radii of a mark is joined to it by a line
NEAR = 4


class Box(NamedTuple):
    """A rectangle: left, bottom, right, top."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """Whether they have more than an edge in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def holds(self, other: Box) -> bool:
        """Whether the other is inside."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.bottom <= other.bottom
            and other.top <= self.top
        )

    def nearest(self, spot: Spot) -> Spot:
        """The spot of this rectangle that is nearest to another."""
        x, y = spot
        return min(max(x, self.left), self.right), min(max(y, self.bottom), self.top)

    def distance(self, spot: Spot) -> float:
        """How far a spot is from it; 0 inside."""
        return math.dist(self.nearest(spot), spot)

    def is_crossed(self, line: tuple[Spot, Spot]) -> bool:
        """Whether a straight line passes through it, more than its edge."""
        entry, leave = 0.0, 1.0
        for axis, (low, high) in enumerate(((self.left, self.right), (self.bottom, self.top))):
            start, way = line[0][axis], line[1][axis] - line[0][axis]
            if way == 0:
                if not low < start < high:
                    return False
                continue
            first, last = sorted(((low - start) / way, (high - start) / way))
            entry, leave = max(entry, first), min(leave, last)
        return entry < leave


class NamePlace(NamedTuple):
    """Where a name goes, and the line that leads there from its point if that is not near."""

    box: Box
    line: tuple[Spot, Spot] | None

    def parts_from(self, other: NamePlace) -> bool:
        """Whether the line to neither name crosses the other name."""
        return not (
            (self.line and other.box.is_crossed(self.line))
            or (other.line and self.box.is_crossed(other.line))
        )


def place(
    points: Sequence[Spot],
    sizes: Sequence[tuple[float, float]],
    within: Box,
    radius: float,
    kept_free: Sequence[Box] = (),
) -> list[NamePlace]:
    """A place for the name of each point, in any unit of length that is the same both ways.

    Points with the most neighbours come first. A name takes the nearest place where it covers
    nothing and is nearest to its own point, or is joined to it by a line that crosses nothing.
    Where there is none, it may be near to other points and its line may cross them; where no place
    is free at all, it takes its first choice.

    Parameters
    ----------
    points
        Their centres.
    sizes
        Width and height of each name.
    within
        The area that no name may leave.
    radius
        Of a point's mark.
    kept_free
        Areas that no name may cover, beside the marks.
    """
    company = [_company(number, points, sizes) for number in range(len(points))]
    taken: dict[int, NamePlace] = {}
    for number in sorted(range(len(points)), key=lambda which: -company[which]):
        point, others = points[number], [*points[:number], *points[number + 1 :]]
        covered = [*kept_free, *(spot.box for spot in taken.values())]
        covered += [_mark(other, radius) for other in others]
        tries = partial(_tries, point, sizes[number], radius)
        free = partial(_free, tries, within, covered)
        plain = (
            candidate
            for candidate in free()
            if _is_its_own(candidate, point, others, radius)
            and all(candidate.parts_from(settled) for settled in taken.values())
        )
        taken[number] = next(itertools.chain(plain, free(), tries()))
    return [taken[number] for number in range(len(points))]


def _company(number: int, points: Sequence[Spot], sizes: Sequence[tuple[float, float]]) -> int:
    """The number of points within the length of a name."""
    (x, y), (width, height) = points[number], sizes[number]
    return sum(abs(x - other) < width and abs(y - up) < 2 * height for other, up in points)


def _is_its_own(candidate: NamePlace, point: Spot, others: Sequence[Spot], radius: float) -> bool:
    """Whether a name cannot be taken for that of another point."""
    if candidate.line is None:
        distance = candidate.box.distance(point)
        return all(candidate.box.distance(other) > distance for other in others)
    return not any(_mark(other, radius).is_crossed(candidate.line) for other in others)


def _free(
    tries: Callable[[], Iterator[NamePlace]], within: Box, covered: Sequence[Box]
) -> Iterator[NamePlace]:
    """Places for a name at which it covers nothing."""
    for candidate in tries():
        if within.holds(candidate.box) and not any(candidate.box.meets(other) for other in covered):
            yield candidate


def _mark(point: Spot, radius: float) -> Box:
    x, y = point
    return Box(x - radius, y - radius, x + radius, y + radius)


def _tries(point: Spot, size: tuple[float, float], radius: float) -> Iterator[NamePlace]:
    """Places for a name, the nearest first."""
    (x, y), (width, height) = point, size
    for number in range(TRIES):
        away = 2 * radius + number * STEP * height
        for right, up in DIRECTIONS:
            length = math.hypot(right, up)
            # from the point to the side of the name that faces it
            left = x + right / length * away - _facing(right) * width
            bottom = y + up / length * away - _facing(up) * height
            box = Box(left, bottom, left + width, bottom + height)
            far = box.distance(point) > NEAR * radius
            yield NamePlace(box, (point, box.nearest(point)) if far else None)


def _facing(direction: float) -> float:
    """Which part of a name faces the point: its beginning 0, its middle, or its end 1."""
    return (1 - math.copysign(1, direction)) / 2 if direction else 0.5
