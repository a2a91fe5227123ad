"""In a real notebook alarms are a table, a plot is an image, and a report is a page in a frame."""

from __future__ import annotations

from typing import Any

import nbclient
import nbformat
import pytest
from nbformat import v4

CELLS = (
    """
import pandas as pd
from subadjacent import SubAdjacentDetector, multivariate
plant = multivariate(n=1_000, channels=3, seed=5)
names = ["<b>flow</b>", "<b>heat</b>", "<b>speed</b>"]
train, test = (pd.DataFrame(rows, columns=names) for rows in (plant.train, plant.test))
detector = SubAdjacentDetector().fit(train)
assessment = detector.assess(test)
alarms = assessment.alarms()""",
    "alarms",
    "assessment",
    "alarms[:1].plot()",
    "detector.report(test)",
    """
import sys
sys.modules["matplotlib"] = None
sys.modules.pop("subadjacent.report.figures")
assessment.plot()""",
)


@pytest.fixture(scope="module")
def outputs() -> list[dict[str, Any]]:
    """What each cell but the first shows."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(text.strip()) for text in CELLS])
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    nbformat.validate(notebook)
    return [cell.outputs[0]["data"] for cell in notebook.cells[1:]]


def test_alarms_and_assessments_are_tables_with_escaped_names(
    outputs: list[dict[str, Any]],
) -> None:
    for shown in outputs[:2]:
        assert "<table>" in shown["text/html"]
        assert "&lt;b&gt;" in shown["text/html"]
        assert "<b>" not in shown["text/html"]
    assert "what happened" in outputs[0]["text/plain"]
    assert outputs[1]["text/plain"].startswith("<Assessment of ")


def test_a_plot_is_an_image_and_without_matplotlib_the_report(
    outputs: list[dict[str, Any]],
) -> None:
    assert outputs[2]["image/png"]
    for shown in outputs[3:]:
        assert shown["text/html"].startswith("<iframe srcdoc=")
        assert shown["text/plain"].startswith("<ReportPage of ")
