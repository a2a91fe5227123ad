"""Progress in words."""

from __future__ import annotations

import pytest

from subadjacent.runtime import Progress
from subadjacent.workflow.progress import in_words, share_done, uncounted


@pytest.mark.parametrize(
    ("progress", "share", "words"),
    [
        (Progress("scoring", 300, 1200, "rows"), 0.25, "25% of 1,200 rows"),
        (Progress("training", 1, 4, "steps", "epoch 1"), 0.25, "25% of 4 steps, epoch 1"),
        (Progress("scoring", 1300, 1200, "rows"), 1.0, "100% of 1,200 rows"),
        (Progress("drawing", 0, 0, ""), None, ""),
        (Progress("drawing", 1, 1, ""), 1.0, ""),
        (Progress("fitting", 0, 0, "rows", "axes"), None, "axes"),
    ],
)
def test_progress_is_told_as_share_and_words(
    progress: Progress, share: float | None, words: str
) -> None:
    assert share_done(progress) == share
    assert in_words(progress) == words


def test_uncounted_work_tells_its_beginning_and_its_end() -> None:
    told: list[Progress] = []
    with uncounted("drawing", told.append):
        assert told == [Progress("drawing", 0, 0, "")]
    assert told[1:] == [Progress("drawing", 1, 1, "")]
