"""What is said of a segment, and of how far a model looks."""

from __future__ import annotations

import numpy as np

from subadjacent.decision.evidence import Evidence, Reach


def test_a_model_has_no_views_unless_it_names_some() -> None:
    values = np.zeros((2, 1))
    assert Evidence(values[:, 0], values, None, {"error": values[:, 0]}).views == ()


def test_most_models_score_a_piece_from_any_row_on() -> None:
    assert Reach(5, 0) == (5, 0, 1)
