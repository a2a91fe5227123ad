"""What one series usually does, learned from its rows as they come.

Each row is held against what was expected of it, and against all that happened of late. Rows are
judged as they come; what is learned changes after every ``BLOCK`` of them, so that rows one by one
and many at once get the same answers. Rows of an alarm are not learned from: they only count in how
rare so much surprise is.

Shapes: B rows that come together, C channels, V views.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from subadjacent.streaming.expectation import REACH, Expectation, features
from subadjacent.streaming.familiar import APART, LENGTHS, LONGEST, Familiar
from subadjacent.streaming.kept import KeptRows
from subadjacent.streaming.returns import Returns
from subadjacent.streaming.seasons import Seasons
from subadjacent.streaming.tails import Tails

Array = NDArray[np.float64]

VIEWS = 2 + len(LENGTHS)
"""The near expectation, the sub-adjacent one averaged, and windows of each length."""

BLOCK = 16
"""Rows after which what they say is learned."""

MEMORY, LONG_MEMORY = 3_000.0, 6_000.0
"""Rows after which a row counts for a third, in what is expected and in what is rare."""

FIRST = 64
"""Rows that give the unit; before, nothing is said."""

SURE = 200
"""Rows after which it is sure of what it says; surprise grows in proportion until then."""

COUNTED = 128
"""Rows before how rare surprise is begins to be counted."""

OFTEN, EVERY = 1_000, 4
"""Ridges are fitted anew after each block in so many first rows, then after so many blocks."""

AVERAGED = 10
"""Rows that sub-adjacent residuals are averaged over."""

TRIFLE = 0.1
"""Share of a channel's deviation that does not matter."""

MOST = 40.0
"""Surprise of one view at most."""

CUT_RESIDUAL = 6.0
"""Deviations by which a row that is learned from departs at most."""

BAND = 3.0
"""Deviations around what is expected that are usual."""

FARTHEST = 1e12
"""In units of a channel: values beyond are cut."""

TINY = 1e-6
"""In units of a channel: rounding errors are less."""

HUSHED = 16
"""Rows after a gap of which nothing is said: those before them are missing."""

RETURNS = 2_000
"""Rows in which one false alarm is accepted, where no budget was asked for."""


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
        self._channels = channels
        self._skipped = 0
        self._hushed = 0
        self._center: Array = np.zeros(channels)
        self._unit: Array = np.ones(channels)
        self._level: Array = np.zeros(channels)
        self._square: Array = np.ones(channels)
        self._residuals: Array = np.ones((2, channels))
        self._late: Array = np.zeros((0, channels))
        self._learned = 0.0
        self.kept = KeptRows(channels)
        self.seasons = Seasons(channels)
        self.expectation = Expectation(channels)
        self.familiar = Familiar(channels)
        self.tails = Tails((VIEWS, channels))
        self.score_tails = Tails(())
        self.returns = Returns(returns)
        self._block = _Block()

    @property
    def room(self) -> int:
        """Rows that can be judged before it has to be said which of them were calm."""
        return BLOCK - self._block.count

    def judge(self, rows: Array, scores: Array | None = None) -> Judged:
        """Judge rows that follow those before, (B, C) with B at most ``room``.

        ``scores`` are a fitted model's, (B,), where there is one.
        """
        assert len(rows) <= self.room
        first = self.rows < FIRST
        scaled = np.clip((rows - self._center) / self._unit, -FARTHEST, FARTHEST)
        self.kept.add(scaled)
        numbers = self._skipped + np.arange(self.rows, self.rows + len(rows))
        self.rows += len(rows)
        if first:
            self._block.count += len(rows)
            return self._nothing(rows)
        seen = features(self.kept.last(REACH + len(rows)), self.seasons.at(numbers), len(rows))
        near = scaled - np.einsum("bcf,cf->bc", seen, self.expectation.near)
        far = scaled - np.einsum("bcf,cf->bc", seen, self.expectation.sub_adjacent)
        values = np.stack(
            [
                np.abs(near),
                self._averaged(far),
                *self.familiar.distances(self.kept.last(LONGEST - 1 + len(rows))),
            ],
            axis=1,
        )
        values += TRIFLE * np.sqrt(self._square) + TINY
        surprise = np.minimum(self.tails.surprise(values), MOST)  # (B, V, C)
        total = surprise.max(axis=2).sum(axis=1) / 2
        if scores is not None:
            total += np.minimum(self.score_tails.surprise(scores), MOST) / 2
        sure = np.minimum((np.arange(self.rows - len(rows), self.rows) + 1) / SURE, 1)
        total *= sure
        hushed = min(self._hushed, len(rows))
        total[:hushed] = 0
        self._hushed -= hushed
        news = self.returns.news(total)
        self._block.add(_Part(seen, scaled, near, far, values, news, scores))
        expected = (scaled - far) * self._unit + self._center
        band = BAND * np.sqrt(self._residuals[1]) * self._unit
        return Judged(
            self.returns.severity(news),
            self.returns.severity(total),
            surprise.sum(axis=1),
            expected,
            expected - band,
            expected + band,
            sure,
        )

    def _nothing(self, rows: Array) -> Judged:
        """Of rows too early to say anything."""
        zeros = np.zeros(len(rows))
        sure = np.minimum(np.arange(self.rows - len(rows), self.rows) + 1, FIRST) / SURE
        return Judged(zeros, zeros, np.zeros_like(rows), rows, rows, rows, sure)

    def _averaged(self, far: Array) -> Array:
        """Sub-adjacent residuals averaged with those before them, without sign."""
        row = np.concatenate([self._late, far])
        missing = AVERAGED - 1 + len(far) - len(row)
        if missing > 0:
            row = np.concatenate([np.zeros((missing, self._channels)), row])
        self._late = row[1 - AVERAGED :]
        means: Array = np.abs(sliding_window_view(row, AVERAGED, axis=0).mean(axis=-1))
        return means

    def learn(self, calm: NDArray[np.bool_]) -> None:
        """Say which of the rows judged last were calm, (B,); after a block, learn from these."""
        self.kept.calm(len(calm))[:] = calm
        if self._block.count < BLOCK:
            return
        if self.rows == FIRST:
            self._begin()
        elif self.rows > FIRST:
            self._learn_block(self.kept.calm(BLOCK))
            self._remember(BLOCK)
        self._block = _Block()

    def _begin(self) -> None:
        """Units, from the first rows."""
        rows = self.kept.last(FIRST).copy()
        self._center = np.median(rows, axis=0)
        deviation = rows.std(axis=0)
        # a channel that stands still has a unit by its size
        size = np.where(self._center == 0, 1.0, 1e-3 * np.abs(self._center))
        self._unit = np.where(deviation > TINY * size, deviation, size)
        scaled = (rows - self._center) / self._unit
        self.kept = KeptRows(self._channels)
        self.kept.add(scaled)
        self.kept.calm(FIRST)[:] = True
        self._level, self._square = scaled.mean(axis=0), scaled.var(axis=0)
        self.expectation.learn(self._features(FIRST), scaled, 1.0)
        self.expectation.solve()
        self._learned = float(FIRST)

    def _remember(self, count: int) -> None:
        """Remember windows that ended at the last ``count`` rows that are far enough away."""
        count = min(count, len(self.kept) - APART - LONGEST + 1)
        if count < 1:
            return
        rows = self.kept.last(APART + count + LONGEST - 1)[:-APART]
        calm = self.kept.calm(APART + count)[:-APART]
        self.familiar.add(rows, np.arange(-count, 0) + self.rows - APART, calm)

    def _features(self, count: int) -> Array:
        """Features of the last rows that are kept; rows before the first are like it."""
        rows = self.kept.last(count + REACH)
        numbers = self._skipped + np.arange(self.rows - count, self.rows)
        missing = max(count + REACH - len(rows), 0)
        rows = np.concatenate([np.repeat(rows[:1], missing, axis=0), rows])
        return features(rows, self.seasons.at(numbers), count)

    def _learn_block(self, calm: NDArray[np.bool_]) -> None:
        block = self._block.rows()
        keep = math.exp(-BLOCK / LONG_MEMORY)
        if calm.any():
            some = _Part(*(None if one is None else one[calm] for one in block))
            self._follow(some, np.flatnonzero(calm) + self.rows - BLOCK, CUT_RESIDUAL)
            if self.rows <= OFTEN or (self.rows // BLOCK) % EVERY == 0:
                self.expectation.solve()
        self.tails.learn(block.values, keep)
        if block.scores is not None:
            self.score_tails.learn(block.scores, keep)
        if self.rows > COUNTED:
            self.returns.learn(block.news, keep)
        if self.rows >= self.seasons.next_look:
            self._look_for_seasons()

    def _follow(self, rows: _Part, numbers: NDArray[np.intp], cut: float) -> None:
        """Let level, units, expectations and seasons follow calm rows.

        One that departs by more than ``cut`` deviations counts as if it departed by these: a single
        wild value teaches little.
        """
        count = len(numbers)
        keep = math.exp(-BLOCK / MEMORY)
        self._learned = self._learned * keep + count
        share = count / self._learned
        most = cut * np.sqrt(self._residuals)
        near, far = np.clip(rows.near, -most[0], most[0]), np.clip(rows.far, -most[1], most[1])
        self.expectation.learn(rows.seen, rows.scaled - rows.near + near, keep)
        most_level = cut * (np.sqrt(self._square) + TRIFLE)
        level = self._level + np.clip(rows.scaled - self._level, -most_level, most_level)
        self._level = self._level + share * (level.mean(axis=0) - self._level)
        self._square = self._square + share * (
            np.square(level - self._level).mean(axis=0) - self._square
        )
        squares = np.stack([np.square(near).mean(axis=0), np.square(far).mean(axis=0)])
        self._residuals = np.maximum(self._residuals + share * (squares - self._residuals), TINY**2)
        self.seasons.learn(self._skipped + numbers, rows.scaled, most[1])

    def _look_for_seasons(self) -> None:
        """Look for cycles; where one is found, what was learned has to know it."""
        count = len(self.kept)
        rows, calm = self.kept.last(count), self.kept.calm(count)
        deviation = np.sqrt(self._square)
        changed = self.seasons.look(rows, self._skipped + self.rows - 1)
        if not len(changed):
            return
        weights = np.exp(np.arange(-count, 0) / MEMORY) * calm
        most = CUT_RESIDUAL * (deviation + TRIFLE)
        cut = np.clip(rows, self._level - most, self._level + most)
        self.expectation.replace(changed, self._features(count), cut, weights)

    def watch(self, rows: Array, calm: NDArray[np.bool_] | None = None) -> None:
        """Learn from rows without saying anything of them, (T, C); all are calm if not told."""
        for begin, end in self._parts(len(rows)):
            self.judge(rows[begin:end])
            self.learn(np.ones(end - begin, bool) if calm is None else calm[begin:end])

    def _parts(self, count: int) -> Iterator[tuple[int, int]]:
        done = 0
        while done < count:
            end = min(done + self.room, count)
            yield done, end
            done = end

    def gap(self, rows: int) -> None:
        """So many rows are missing: cycles go on, and nothing is said of the first rows after."""
        self._skipped += rows
        self._hushed = HUSHED

    def accept(self, first: int, last: int) -> None:
        """Take rows for normal that are so many rows ago, the first at least as many as the last.

        They are learned from as they are, and what is like them is familiar from now on.
        """
        oldest = min(first, len(self.kept))
        if self.rows < FIRST or oldest < last:
            return
        some = slice(len(self.kept) - oldest, len(self.kept) - last + 1)
        self.kept.calm(len(self.kept))[some] = True
        count = len(self.kept)
        seen = self._features(count)[some]
        scaled = self.kept.last(count)[some]
        near = scaled - np.einsum("bcf,cf->bc", seen, self.expectation.near)
        far = scaled - np.einsum("bcf,cf->bc", seen, self.expectation.sub_adjacent)
        numbers = np.arange(self.rows - oldest, self.rows - last + 1)
        self._follow(_Part(seen, scaled, near, far), numbers, math.inf)
        self.expectation.solve()
        self._remember(self.familiar.size)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size; ``restore`` is the inverse."""
        numbers = [self.rows, self._skipped, self._hushed, self._learned, self.returns.period]
        arrays: dict[str, NDArray[Any]] = {
            "numbers": np.array(numbers, dtype=np.float64),
            "center": self._center,
            "unit": self._unit,
            "level": self._level,
            "square": self._square,
            "residuals": self._residuals,
            "late": self._late,
        }
        for name in _PARTS:
            part = getattr(self, name).state()
            arrays |= {f"{name}.{key}": array for key, array in part.items()}
        return arrays | self._block.state()

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of ``state``."""
        rows, skipped, hushed, learned, period = arrays["numbers"].tolist()
        learner = cls(len(arrays["center"]), period)
        learner.rows, learner._skipped, learner._hushed = int(rows), int(skipped), int(hushed)
        learner._learned = learned
        for name in ("center", "unit", "level", "square", "residuals", "late"):
            setattr(learner, f"_{name}", np.array(arrays[name], dtype=np.float64))
        for name in _PARTS:
            part = {
                key.removeprefix(f"{name}."): array
                for key, array in arrays.items()
                if key.startswith(f"{name}.")
            }
            getattr(learner, name).restore(part)
        learner._block = _Block.restore(arrays)
        if learner.rows > FIRST:
            learner._remember(learner.familiar.size + learner._block.count)
        return learner


_PARTS = ("kept", "seasons", "expectation", "tails", "score_tails", "returns")
"""What a learner is made of, each with a state of its own."""


class _Part(NamedTuple):
    """What was found in rows that are not learned from yet."""

    seen: Array  # (B, C, F)
    scaled: Array  # (B, C)
    near: Array  # (B, C)
    far: Array  # (B, C)
    values: Array | None = None  # (B, V, C)
    news: Array | None = None  # (B,)
    scores: Array | None = None  # (B,)


class _Block:
    """Rows since it was learned last."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[_Part] = []

    def add(self, part: _Part) -> None:
        """Some more rows."""
        self.count += len(part.scaled)
        self._parts.append(part)

    def rows(self) -> _Part:
        """All of them together."""
        return _Part(
            *(
                None if any(one is None for one in field) else np.concatenate(field)
                for field in zip(*self._parts, strict=True)
            )
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """As arrays."""
        arrays = {"block.count": np.array([self.count])}
        if self._parts:
            together = self.rows()._asdict()
            arrays |= {f"block.{key}": one for key, one in together.items() if one is not None}
        return arrays

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of ``state``."""
        block = cls()
        block.count = int(arrays["block.count"][0])
        if "block.seen" in arrays:
            block._parts = [_Part(*(arrays.get(f"block.{key}") for key in _Part._fields))]
        return block
