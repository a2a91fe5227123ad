"""The views of each channel: how far a row departs from what the channel normally does.

They are the near residual, the mean of the latest sub-adjacent residuals, the distance of windows
of two lengths to their nearest references, the residual given the other channels of the row, and
the stillness. A series of one channel has all but the last but one.

Shapes: B rows, C channels, F features, V views.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ExpectedRange
from subadjacent.methods.method import join_names, split_names
from subadjacent.methods.online.cross_channel import CrossChannelRegression, has_relations
from subadjacent.methods.online.expectation import (
    NEAREST,
    REACH,
    Expectation,
    lag_features,
)
from subadjacent.methods.online.expected_range import RowsWithoutEvent
from subadjacent.methods.online.history import MINI_BATCH, RowHistory
from subadjacent.methods.online.moments import RunningMoments, Standardiser
from subadjacent.methods.online.references import (
    EXCLUSION_ZONE,
    LENGTHS,
    LONGEST,
    ReferenceWindows,
)
from subadjacent.methods.online.seasons import Seasons
from subadjacent.methods.online.windows import STILLNESS_ROWS, stillness, windows

Array = NDArray[np.float64]

BURN_IN = 64
"""Rows that standardised units and first moments are taken from: whole mini-batches."""

TIME_CONSTANT = 3_000.0
"""Rows after which a row counts for a third in expectations and moments."""

EARLY_ROWS, REFIT_EVERY = 1_000, 4
"""In this many first rows the regressions are refitted after each mini-batch, then after every
fourth."""

AVERAGED_ROWS = 20
"""Rows that sub-adjacent residuals are averaged over. 10 are as good within chance (the log,
"Learning while it watches")."""

CLIP = 6.0
"""Deviations from the mean to which rows are clipped that are learned from."""

_FORGETTING = math.exp(-MINI_BATCH / TIME_CONSTANT)

_PARTS = (
    *("standardiser", "history", "seasons", "expectation", "relations", "moments"),
    "without_event",
)
"""Attributes with a state of their own. References are made anew from the history."""


NAMES = ("near residual", "sub-adjacent residual", "short window", "long window")
"""Of the first views, in their order."""

RELATION, STILLNESS = "relation", "stillness"


def view_names(channels: int) -> tuple[str, ...]:
    """The views of a series with ``channels`` channels, in their order."""
    return (*NAMES, *([RELATION] if has_relations(channels) else []), STILLNESS)


def view_count(channels: int) -> int:
    """The number of views of a series with ``channels`` channels: V."""
    return len(view_names(channels))


class Departures(NamedTuple):
    """How far rows depart from normal, and the features that say so; in standardised units."""

    features: Array  # (B, C, F)
    near: Array  # (B, C), residuals
    sub_adjacent: Array  # (B, C), residuals
    by_view: Array  # (B, V, C), at least 0


class ChannelViews:
    """All that is learned of what the channels of one series normally do."""

    def __init__(self, channels: int) -> None:
        self.rows = 0
        # rows that were missing, which count in the phase of a cycle
        self._missing_rows = 0
        self._last_sub_adjacent: Array = np.zeros((AVERAGED_ROWS - 1, channels))
        # which values of the rows that were added last are imputed; None if none is
        self._imputed_last: NDArray[np.bool_] | None = None
        self.standardiser = Standardiser(channels)
        self.history = RowHistory(channels)
        self.seasons = Seasons(channels)
        self.expectation = Expectation(channels)
        self.moments = RunningMoments(channels)
        self.relations = CrossChannelRegression(channels)
        self.references = ReferenceWindows(channels)
        self.without_event = RowsWithoutEvent(channels)

    def add(self, rows: Array, missing: NDArray[np.bool_] | None = None) -> Array:
        """Append rows, (B, C), to the history; they are returned in standardised units.

        Values that are ``missing`` become what the sub-adjacent regression expects of them.
        """
        standardised = self.standardiser.standardise(rows)
        self._imputed_last = missing if self.rows >= BURN_IN else None
        if self._imputed_last is not None:
            standardised = self._imputed(standardised, self._imputed_last)
        self.history.add(standardised)
        self.without_event.add(rows)
        self.rows += len(rows)
        return standardised

    def _imputed(self, standardised: Array, missing: NDArray[np.bool_]) -> Array:
        rows = np.concatenate([self.history.last(REACH), standardised])
        before, count = len(rows) - len(standardised), len(standardised)
        # no row of a block is a feature of another
        for first in range(0, count, NEAREST):
            some = slice(first, min(first + NEAREST, count))
            expected = self._expected(
                rows[: before + some.stop], self.rows + some.start, some.stop - some.start
            )
            rows[before:][some] = np.where(missing[some], expected, standardised[some])
        return rows[before:]

    def _expected(self, rows: Array, first: int, count: int) -> Array:
        """What is expected of the last ``count`` rows, from the ``first`` on, by those before."""
        seasonal = self.seasons.features(self._missing_rows + first, count)
        features = lag_features(rows, seasonal, count)
        _, residuals = self.expectation.residuals(features, rows[-count:])
        expected: Array = rows[-count:] - residuals
        return expected

    def departures(self, standardised: Array) -> Departures:
        """How far the rows that were added last depart from normal."""
        count, channels = standardised.shape
        features = self._features(count)
        near, sub_adjacent = self.expectation.residuals(features, standardised)
        by_view = np.empty((count, view_count(channels), channels))
        np.abs(near, out=by_view[:, 0])
        by_view[:, 1] = self._averaged(sub_adjacent)
        distances = self.references.nearest_distances(self.history.last(LONGEST - 1 + count))
        by_view[:, 2 : 2 + len(LENGTHS)] = distances.swapaxes(0, 1)
        if self.relations.applies:
            by_view[:, -2] = self._apart_from_others(standardised)
        by_view[:, :-1] += self.moments.negligible
        by_view[:, -1] = stillness(self.history.last(STILLNESS_ROWS - 1 + count))
        return Departures(features, near, sub_adjacent, by_view)

    def _averaged(self, sub_adjacent: Array) -> Array:
        """The absolute mean of each residual and those of the rows before it."""
        residuals = np.concatenate([self._last_sub_adjacent, sub_adjacent])
        self._last_sub_adjacent = residuals[len(sub_adjacent) :]
        means: Array = np.abs(windows(residuals, AVERAGED_ROWS).sum(axis=-1)) / AVERAGED_ROWS
        return means

    def _apart_from_others(self, standardised: Array) -> Array:
        """The absolute residual of each value given the other channels, (B, C).

        It is 0 of a channel that never moved, which has no relation to any, and of what stands in
        for a missing value, which knows nothing of the others.
        """
        residuals = np.abs(self.relations.residuals(standardised)) * self.moments.has_moved
        if self._imputed_last is not None:
            residuals[self._imputed_last] = 0
        return residuals

    def _features(self, count: int) -> Array:
        """Features of the last ``count`` rows."""
        seasonal = self.seasons.features(self._missing_rows + self.rows - count, count)
        return lag_features(self.history.last(count + REACH), seasonal, count)

    def expected_range(self, departures: Departures, normal: NDArray[np.bool_]) -> ExpectedRange:
        """The expected range of the rows added last, of which some are ``normal``, (B,)."""

        def expect(rows: Array, ago: int) -> Array:
            row: Array = self._expected(rows, self.rows - 1 - ago, 1)[0]
            return row

        half_range = self.moments.half_range
        expected = self.without_event.expected(
            self.history, departures.sub_adjacent, normal, half_range, expect
        )
        return self.without_event.expected_range(expected, half_range, self.standardiser)

    def end_burn_in(self) -> None:
        """Take units, moments and a first fit from the rows of the burn-in."""
        rows = self.history.last(BURN_IN).copy()
        self.standardiser.fit(rows)
        standardised = (rows - self.standardiser.center) / self.standardiser.unit
        self.history.replace_last(standardised)
        self.moments.begin(standardised)
        self.expectation.learn(self._features(BURN_IN), standardised, 1.0)
        self.relations.learn(standardised, 1.0)
        self._request_fit()

    def learn(self, departures: Departures, normal: NDArray[np.bool_]) -> None:
        """Learn from the normal rows of the last mini-batch; search for periods if it is due."""
        if normal.any():
            row_numbers = np.flatnonzero(normal) + self.rows - MINI_BATCH
            features, near, sub_adjacent, _ = departures
            rows = self.history.last(MINI_BATCH)
            if not normal.all():
                features, near, sub_adjacent = features[normal], near[normal], sub_adjacent[normal]
                rows = rows[normal]
            # a single wild value shall teach little. Rows are clipped around the mean, not around
            # what was expected: else a wrong expectation would confirm itself
            clipped = self.moments.clip_rows(rows, CLIP)
            self._learn_rows(row_numbers, features, clipped, near, sub_adjacent)
            if self.rows <= EARLY_ROWS or (self.rows // MINI_BATCH) % REFIT_EVERY == 0:
                self._request_fit()
        if self.rows >= self.seasons.next_search:
            self._search_periods()

    def _learn_rows(
        self,
        row_numbers: NDArray[np.intp],
        features: Array,
        rows: Array,
        near: Array,
        sub_adjacent: Array,
    ) -> None:
        self.expectation.learn(features, rows, _FORGETTING)
        self.seasons.learn(self._missing_rows + row_numbers, rows)
        clipped = self.moments.clip_rows(rows, CLIP)
        residuals = self.moments.clip_residuals(near, sub_adjacent, CLIP)
        self.moments.learn(clipped, residuals, _FORGETTING)
        self.relations.learn(rows, _FORGETTING)

    def _request_fit(self) -> None:
        """Have all regressions fitted to the rows until now, before they are used next."""
        self.expectation.request_fit()
        self.relations.request_fit()

    def fit_if_due(self) -> None:
        """Do the fits that were requested, if there are any."""
        self.expectation.fit_if_due()
        self.relations.fit_if_due()

    def _search_periods(self) -> None:
        """Search for periods; a new one changes features, so that they are learned from anew."""
        count = len(self.history)
        rows, normal = self.history.last(count), self.history.normal(count)
        changed = self.seasons.search(rows, self._missing_rows + self.rows - 1)
        if len(changed):
            weights = np.exp(np.arange(-count, 0) / TIME_CONSTANT) * normal
            clipped = self.moments.clip_rows(rows, CLIP)
            self.expectation.relearn(changed, self._features(count), clipped, weights)

    def add_references(self, count: int, waiting: int) -> None:
        """Keep the latest ``count`` windows before the exclusion zone as references.

        ``waiting`` rows that are not learned from yet count as if they had not come.
        """
        zone = EXCLUSION_ZONE + waiting
        count = min(count, len(self.history) - zone - LONGEST)
        if count > 0:
            rows = self.history.last(zone + count + LONGEST - 1)[:-zone]
            normal = self.history.normal(zone + count)[:-zone]
            self.references.add(rows, np.arange(-count, 0) + self.rows - zone, normal)

    def skip(self, rows: int) -> None:
        """Advance the phases of cycles over missing rows."""
        self._missing_rows += rows

    def align(self, count: int) -> None:
        """Shift the phases of cycles to where they explain the latest ``count`` rows best."""
        self.seasons.align(self.history.last(count), self._missing_rows + self.rows - 1)

    def accept(self, first: int, last: int) -> None:
        """Learn from rows as they are, unclipped: from ``first`` to ``last`` rows ago.

        1 is the latest row; ``first`` is at most the length of the history.
        """
        accepted = slice(0, first - last + 1)
        self.history.normal(first)[accepted] = True
        features, rows = self._features(first)[accepted], self.history.last(first)[accepted]
        row_numbers = np.arange(self.rows - first, self.rows)[accepted]
        near, sub_adjacent = self.expectation.residuals(features, rows)
        self._learn_rows(row_numbers, features, rows, near, sub_adjacent)
        self._request_fit()
        self._last_sub_adjacent = np.zeros_like(self._last_sub_adjacent)
        self.without_event.accept(self.history, first, last)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size; ``restore`` is the inverse."""
        own: dict[str, NDArray[Any]] = {
            "counts": np.array([self.rows, self._missing_rows], dtype=np.int64),
            "last_sub_adjacent": self._last_sub_adjacent,
        }
        return own | join_names({part: getattr(self, part).state() for part in _PARTS})

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace all that was learned but the references by what was saved."""
        self.rows, self._missing_rows = state["counts"].tolist()
        self._last_sub_adjacent = state["last_sub_adjacent"]
        parts = split_names(state)
        for part in _PARTS:
            getattr(self, part).restore(parts[part])
