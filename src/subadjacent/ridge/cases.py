"""The rows that a ridge is learned from: those with all their neighbours, of all segments.

Few of them are laid out as one table of features. Of many only sums of products are made, piece
by piece; the two agree.

Shapes: n cases, C channels, F features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import Rows
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.moments import Moments, moments, with_constant

# rows whose moments are taken at a time
CHUNK = 65_536


class Cases(ABC):
    """Rows that have all their neighbours, counted through all segments.

    ``blank`` says which neighbours, and how they are seen.
    """

    def __init__(self, blank: BandRidge, segments: Sequence[Rows]) -> None:
        self.blank = blank
        self.segments = segments
        self.complete = [blank.neighbours.complete(len(segment)) for segment in segments]

    @abstractmethod
    def moments(self, first: int, last: int) -> Moments:
        """The moments of the cases from ``first`` to ``last``."""

    @abstractmethod
    def errors(self, first: int, last: int, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Each channel's sum of squared errors on cases, given weights."""

    def residuals(
        self,
        models: Sequence[BandRidge],
        folds: Sequence[tuple[int, int]],
        wanted: Sequence[slice] | None,
    ) -> list[Rows]:
        """Residuals of the wanted rows, by the model of their fold; 0 where a row is no case."""
        residuals = [np.zeros_like(segment) for segment in self.segments]
        for model, (first, last) in zip(models, folds, strict=True):
            for number, start, stop in self._overlaps(first, last):
                if wanted is not None:
                    start, stop = max(start, wanted[number].start), min(stop, wanted[number].stop)
                if start < stop:
                    rows = model.residuals(self.segments[number], start, stop)
                    residuals[number][start:stop] = rows
        return residuals

    def _overlaps(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The segments that some cases lie on, and from which row to which."""
        at = 0
        for number, rows in enumerate(self.complete):
            start, stop = max(first - at, 0), min(last - at, rows.stop - rows.start)
            if start < stop:
                yield number, rows.start + start, rows.start + stop
            at += rows.stop - rows.start


class FewCases(Cases):
    """Features and targets of all cases, in one table."""

    def __init__(self, blank: BandRidge, segments: Sequence[Rows]) -> None:
        super().__init__(blank, segments)
        features, targets = [], []
        for segment, rows in zip(segments, self.complete, strict=True):
            if rows.start < rows.stop:
                inputs = blank.inputs(segment)
                features.append(blank.features(inputs, rows.start, rows.stop))
                targets.append(inputs.target[rows])
        self.features = with_constant(np.concatenate(features))  # (n, F)
        self.targets = np.concatenate(targets)  # (n, C)

    def moments(self, first: int, last: int) -> Moments:
        """Multiplied out."""
        return Moments.multiplied_out(self.features[first:last], self.targets[first:last])

    def errors(self, first: int, last: int, weights: NDArray[Any]) -> NDArray[np.float64]:
        """The errors, from the residuals themselves."""
        left = self.targets[first:last] - self.features[first:last] @ weights
        return np.asarray(np.einsum("tc,tc->c", left, left), dtype=np.float64)


class ManyCases(Cases):
    """Sums of products between some edges; no more than about ``most`` cases are looked at."""

    def __init__(
        self, blank: BandRidge, segments: Sequence[Rows], edges: Collection[int], most: int
    ) -> None:
        super().__init__(blank, segments)
        self.edges = sorted(edges)
        share = max(most // (len(edges) - 1), 1)
        pieces = [
            self._piece(first, min(last, first + share)) for first, last in pairwise(self.edges)
        ]
        self.up_to = list(accumulate(pieces, initial=pieces[0] - pieces[0]))

    def moments(self, first: int, last: int) -> Moments:
        """Between two edges."""
        return self.up_to[self.edges.index(last)] - self.up_to[self.edges.index(first)]

    def errors(self, first: int, last: int, weights: NDArray[Any]) -> NDArray[np.float64]:
        """The errors, from sums of products."""
        return self.moments(first, last).errors(weights)

    def _piece(self, first: int, last: int) -> Moments:
        reach = self.blank.neighbours.reach
        total: Moments | None = None
        for number, start, stop in self._overlaps(first, last):
            for at in range(start, stop, CHUNK):
                begin, end = max(at - reach, 0), min(at + CHUNK, stop)
                inputs = self.blank.inputs(self.segments[number][begin : end + reach])
                piece = moments(self.blank, inputs, at - begin, end - begin)
                total = piece if total is None else total + piece
        assert total is not None
        return total
