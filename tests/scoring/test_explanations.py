"""Every view that can raise an alarm has words of its own."""

from __future__ import annotations

from pathlib import Path

from subadjacent.methods.views.settings import VIEWS
from subadjacent.methods.views.view import ACROSS, NETWORK, WHOLE
from subadjacent.report.panels import ABOUT
from subadjacent.scoring.explanations import EXPLANATIONS

NAMES = {*VIEWS, ACROSS, WHOLE, NETWORK}


def test_each_view_of_the_default_has_an_explanation_and_nothing_else_has() -> None:
    assert set(EXPLANATIONS) == NAMES
    assert len(set(EXPLANATIONS.values())) == len(NAMES)


def test_each_view_of_the_default_has_a_caption_in_the_report() -> None:
    assert set(ABOUT) >= NAMES


def test_what_was_never_seen_is_called_so() -> None:
    assert EXPLANATIONS["state"] == "a combination of values never seen in training"
    assert EXPLANATIONS["shape"] == "a shape never seen in training"


def test_the_page_about_scoring_lists_them_all_in_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")
    listed = "\n".join(f"| `{view}` | {words} |" for view, words in EXPLANATIONS.items())
    assert f"| `view` | `explanation` |\n|---|---|\n{listed}\n\n" in page
