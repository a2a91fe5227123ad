"""Names of arrays in a saved state."""

from __future__ import annotations

import numpy as np

from subadjacent.streaming.saved_state import join_names, split_names


def test_names_of_parts_are_joined_and_split_again() -> None:
    one, two = np.array([1]), np.array([2])
    inner = join_names({"tail": {"counts": one}})
    joined = join_names({"views": inner, "reporter": {"last": two}})
    assert list(joined) == ["views/tail/counts", "reporter/last"]
    assert split_names(joined) == {"views": {"tail/counts": one}, "reporter": {"last": two}}
    assert split_names(split_names(joined)["views"]) == {"tail": {"counts": one}}
