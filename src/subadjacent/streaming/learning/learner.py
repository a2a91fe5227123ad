"""What one series usually does, learned from its rows as they come.

Each row is held against what was expected of it, and against all that happened of late. Rows are
judged as they come; what is learned changes after every ``BLOCK`` of them, so that rows one by one
and many at once get the same answers. The last row of a block is answered before the block is
learned from: that is done by whoever has time for it (``catch_up``), or before the next row is
judged. Rows of an alarm are not learned from: they only count in how rare so much surprise is.

Shapes: B rows that come together, C channels, V views.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.block import Block
from subadjacent.streaming.learning.expectation import REACH, Expectation, features
from subadjacent.streaming.learning.familiar import APART, LENGTHS, LONGEST, Familiar
from subadjacent.streaming.learning.kept import KeptRows
from subadjacent.streaming.learning.levels import TINY, Levels
from subadjacent.streaming.learning.news import News
from subadjacent.streaming.learning.peaks import Peaks
from subadjacent.streaming.learning.rarity import Rarity
from subadjacent.streaming.learning.seasons import Seasons
from subadjacent.streaming.learning.stillness import STILL_OVER, stillness
from subadjacent.streaming.learning.tails import Tails
from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

VIEWS = 3 + len(LENGTHS)
"""The near expectation, the sub-adjacent one averaged, windows of each length, and how still a
channel is."""

BLOCK = 16
"""Rows after which what they say is learned. 32 are quicker, and cost a point or two of the live
score, which is within chance (docs/log.md, "Learning while it watches")."""

MEMORY, LONG_MEMORY = 3_000.0, 6_000.0
"""Rows after which a row counts for a third: in what is expected, and in what is rare."""

FIRST = 64
"""Rows that give the units; before, nothing is said. Whole blocks."""

SURE = 200
"""Rows after which it is sure of what it says; surprise grows in proportion until then."""

OFTEN, EVERY = 1_000, 4
"""Ridges are fitted anew after each block in so many first rows, then after so many blocks."""

AVERAGED = 20
"""Rows that sub-adjacent residuals are averaged over. 10 are as good within chance (same entry)."""

SHARE, SCORE_SHARE = 0.5, 0.5
"""What the surprise of a view counts for, since views say the same in part; and that of a score."""

MOST = 40.0
"""Surprise of one view at most: one view alone may open an alarm. 15 or 20 change nothing (same
entry)."""

ALARMING = 0.1
"""What a row of an alarm counts for in what is rare: what comes again and again is not, in the
end, but an event does not become usual while it lasts."""

CUT = 6.0
"""Deviations by which a row that is learned from departs at most."""

FARTHEST = 1e12
"""In units of a channel: values beyond are cut."""

HUSHED = 16
"""Rows after a gap of which nothing is said: those before them are missing."""

RETURNS = 5_000
"""Rows in which one false alarm is accepted, where no budget was asked for."""

_PARTS = (
    "kept",
    "seasons",
    "expectation",
    "levels",
    "tails",
    "score_tails",
    "news",
    "rare_news",
    "rare_surprise",
)
"""What a learner is made of, each with a state of its own."""


class Judged(NamedTuple):
    """What the learner says of rows, before it learns from them."""

    severity: Array  # (B,), 1.0 opens an alarm: how much news a row brings
    lasting: Array  # (B,), the same without regard to what the last rows said already
    by_channel: Array  # (B, C), surprise of each channel
    expected: Array  # (B, C)
    low: Array  # (B, C)
    high: Array  # (B, C)
    sure: Array  # (B,), 0 to 1


class Learner:
    """All that is learned of one series.

    Parameters
    ----------
    channels
        C.
    returns
        Rows in which one false alarm is accepted.
    """

    def __init__(self, channels: int, returns: float = RETURNS) -> None:
        self.rows = 0
        # rows that are missing, which count in where a cycle stands
        self._skipped = 0
        self._hushed = 0
        self._center: Array = np.zeros(channels)
        self._unit: Array = np.ones(channels)
        self._late: Array = np.zeros((AVERAGED - 1, channels))
        self.kept = KeptRows(channels)
        self.seasons = Seasons(channels)
        self.expectation = Expectation(channels)
        self.levels = Levels(channels)
        self.familiar = Familiar(channels)
        self.tails = Tails((VIEWS, channels))
        self.score_tails = Tails(())
        self.news = News()
        self.rare_news = Peaks(returns, channels)
        self.rare_surprise = Rarity(returns)
        self._block = Block()

    @property
    def room(self) -> int:
        """Rows that can be judged before it has to be said which of them were calm."""
        return BLOCK - self._block.count % BLOCK

    @property
    def is_behind(self) -> bool:
        """Whether a block waits to be learned from."""
        return self._block.count == BLOCK

    def judge(self, rows: Array, scores: Array | None = None) -> Judged:
        """Judge rows that follow those before, (B, C) with B at most ``room``.

        ``scores`` are a fitted model's, (B,), where there is one. ``learn`` must follow.
        """
        assert len(rows) <= self.room
        self.catch_up()
        early = self.rows < FIRST
        count = len(rows)
        scaled = np.clip((rows - self._center) / self._unit, -FARTHEST, FARTHEST)
        self.kept.add(scaled)
        self.rows += count
        sure = np.minimum(np.arange(self.rows - count + 1, self.rows + 1) / SURE, 1)
        if early:
            self._block.add(count)
            return Judged(
                np.zeros(count), np.zeros(count), np.zeros(rows.shape), rows, rows, rows, sure
            )
        seen = self._features(count)
        near, far = self.expectation.residuals(seen, scaled)
        latest = self.kept.last(LONGEST - 1 + count)
        values = [np.abs(near), self._averaged(far), *self.familiar.distances(latest)]
        strayed = np.empty((count, VIEWS, rows.shape[1]))
        np.stack(values, axis=1, out=strayed[:, :-1])
        strayed[:, :-1] += self.levels.trifle
        strayed[:, -1] = stillness(self.kept.last(STILL_OVER - 1 + count))
        surprise = np.minimum(self.tails.surprise(strayed), MOST)  # (B, V, C)
        total = SHARE * surprise.max(axis=2).sum(axis=1)
        found = {"seen": seen, "scaled": scaled, "near": near, "far": far, "strayed": strayed}
        if scores is not None:
            total += SCORE_SHARE * np.minimum(self.score_tails.surprise(scores), MOST)
            found["scores"] = scores
        total *= sure
        # what a gap makes odd is as good as told: it lasts longer than nothing is said
        news = self.news.of(total)
        news[: self._hushed] = total[: self._hushed] = 0
        self._hushed = max(self._hushed - count, 0)
        self._block.add(count, news=news, surprise=total, **found)
        expected = (scaled - far) * self._unit + self._center
        band = self.levels.band * self._unit
        return Judged(
            self.rare_news.severity(news),
            self.rare_surprise.severity(total),
            surprise.sum(axis=1),
            expected,
            expected - band,
            expected + band,
            sure,
        )

    def _averaged(self, far: Array) -> Array:
        """Sub-adjacent residuals averaged with those before them, without sign."""
        row = np.concatenate([self._late, far])
        self._late = row[len(far) :]
        means: Array = np.abs(windows(row, AVERAGED).sum(axis=-1)) / AVERAGED
        return means

    def _features(self, count: int) -> Array:
        """Features of the last rows that are kept."""
        numbers = self._skipped + np.arange(self.rows - count, self.rows)
        return features(self.kept.last(count + REACH), self.seasons.at(numbers), count)

    def learn(self, calm: NDArray[np.bool_]) -> None:
        """Say which of the rows judged last were calm, (B,): these are learned from later."""
        self.kept.calm(len(calm))[:] = calm

    def catch_up(self) -> None:
        """Learn from the block that waits for it, if one does; what is said is the same."""
        if not self.is_behind:
            return
        if self.rows > FIRST:
            self._learn_block(self.kept.calm(BLOCK))
        elif self.rows == FIRST:
            self._begin()
        self._block = Block()
        if self.rows >= FIRST:
            self._remember(BLOCK)

    def prepare(self) -> None:
        """Catch up, and have ready what the next row is judged by."""
        self.catch_up()
        for part in (self.tails, self.score_tails, self.rare_surprise):
            part.measure()

    def _begin(self) -> None:
        """Units, from the first rows."""
        rows = self.kept.last(FIRST).copy()
        self._center = np.median(rows, axis=0)
        deviation = rows.std(axis=0)
        # a channel that stands still has a unit by its size
        size = np.where(self._center == 0, 1.0, 1e-3 * np.abs(self._center))
        self._unit = np.where(deviation > TINY * size, deviation, size)
        scaled = (rows - self._center) / self._unit
        self.kept.change(scaled)
        self.levels.begin(scaled)
        self.expectation.learn(self._features(FIRST), scaled, 1.0)
        self.expectation.solve()

    def _learn_block(self, calm: NDArray[np.bool_]) -> None:
        block = self._block.together()
        keep = math.exp(-BLOCK / LONG_MEMORY)
        if calm.any():
            numbers = np.flatnonzero(calm) + self.rows - BLOCK
            scaled, near, far = (block[name][calm] for name in ("scaled", "near", "far"))
            # a single wild value teaches little. It is cut around the level, not around what was
            # expected: whoever learns from what it said may talk itself into anything
            targets = self.levels.around(scaled, CUT)
            self._follow(numbers, block["seen"][calm], targets, near, far)
            if self.rows <= OFTEN or (self.rows // BLOCK) % EVERY == 0:
                self.expectation.solve()
        weights = np.where(calm, 1.0, ALARMING)
        self.tails.learn(block["strayed"], weights, keep)
        if "scores" in block:
            self.score_tails.learn(block["scores"], weights, keep)
        self.rare_news.learn(block["news"], keep)
        # an event is over when rows are as they were when all was calm
        self.rare_surprise.learn(block["surprise"][calm], keep)
        if self.rows >= self.seasons.next_look:
            self._look_for_seasons()

    def _follow(
        self, numbers: NDArray[np.intp], seen: Array, rows: Array, near: Array, far: Array
    ) -> None:
        """Let expectations, seasons and levels follow rows."""
        keep = math.exp(-BLOCK / MEMORY)
        self.expectation.learn(seen, rows, keep)
        self.seasons.learn(self._skipped + numbers, rows)
        levels = self.levels
        around = levels.around(rows, CUT)
        levels.follow(around, levels.usual(near, 0, CUT), levels.usual(far, 1, CUT), keep)

    def _look_for_seasons(self) -> None:
        """Look for cycles; where one is found, what is expected has to know it."""
        count = len(self.kept)
        rows, calm = self.kept.last(count), self.kept.calm(count)
        changed = self.seasons.look(rows, self._skipped + self.rows - 1)
        if len(changed):
            weights = np.exp(np.arange(-count, 0) / MEMORY) * calm
            cut = self.levels.around(rows, CUT)
            self.expectation.replace(changed, self._features(count), cut, weights)

    def _remember(self, count: int) -> None:
        """Remember the latest ``count`` windows that are far enough from the next row to judge."""
        # rows that are not learned from yet are as if they had not come
        apart = APART + self._block.count
        count = min(count, len(self.kept) - apart - LONGEST)
        if count > 0:
            rows = self.kept.last(apart + count + LONGEST - 1)[:-apart]
            calm = self.kept.calm(apart + count)[:-apart]
            self.familiar.add(rows, np.arange(-count, 0) + self.rows - apart, calm)

    def watch(self, rows: Array, scores: Array | None = None) -> None:
        """Learn from calm rows without saying anything of them, (T, C)."""
        done = 0
        while done < len(rows):
            part = slice(done, min(done + self.room, len(rows)))
            self.judge(rows[part], None if scores is None else scores[part])
            self.learn(np.ones(part.stop - part.start, dtype=bool))
            done = part.stop

    def gap(self, rows: int) -> None:
        """So many rows are missing: cycles go on, and nothing is said of the first rows after."""
        self.catch_up()
        self._skipped += rows
        self._hushed = HUSHED

    def accept(self, first: int, last: int) -> None:
        """Take rows for normal: those from ``first`` rows ago to ``last`` rows ago; 1 is the last.

        They are learned from as they are, and what is like them is familiar from now on.
        """
        self.catch_up()
        count = min(first, len(self.kept))
        if self.rows < FIRST or count < last:
            return
        some = slice(0, count - last + 1)
        self.kept.calm(count)[some] = True
        seen, scaled = self._features(count)[some], self.kept.last(count)[some]
        numbers = np.arange(self.rows - count, self.rows)[some]
        near, far = self.expectation.residuals(seen, scaled)
        self._follow(numbers, seen, scaled, near, far)
        self.expectation.solve()
        self._late = np.zeros_like(self._late)
        self._remember(self.familiar.size)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size; ``restore`` is the inverse."""
        counts = [self.rows, self._skipped, self._hushed]
        arrays: dict[str, NDArray[Any]] = {
            "counts": np.array(counts, dtype=np.int64),
            "center": self._center,
            "unit": self._unit,
            "late": self._late,
        }
        parts = {name: getattr(self, name).state() for name in _PARTS}
        parts["block"] = self._block.state()
        return arrays | {
            f"{name}.{key}": array for name, part in parts.items() for key, array in part.items()
        }

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]], returns: float = RETURNS) -> Self:
        """The inverse of ``state``, for the same ``returns``."""
        learner = cls(len(arrays["center"]), returns)
        learner.rows, learner._skipped, learner._hushed = arrays["counts"].tolist()
        learner._center, learner._unit = arrays["center"], arrays["unit"]
        learner._late = arrays["late"]
        for name in _PARTS:
            getattr(learner, name).restore(_named(arrays, name))
        learner._block = Block.restore(_named(arrays, "block"))
        if learner.rows >= FIRST:
            learner._remember(learner.familiar.size)
        return learner


def _named(arrays: dict[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """The arrays of one part, without its name."""
    return {
        key.removeprefix(f"{name}."): array
        for key, array in arrays.items()
        if key.startswith(f"{name}.")
    }
