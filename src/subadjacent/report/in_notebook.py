"""The report as a value: a notebook shows it in a frame of its own."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from subadjacent.detectors.alarms import Alarms
from subadjacent.detectors.assessment import Assessment
from subadjacent.durable import whole_file
from subadjacent.errors import InputError
from subadjacent.report.page import page

HEIGHT = 700
"""Of the frame, in pixels."""


@dataclass(frozen=True, slots=True, repr=False)
class ReportPage:
    """The text of a report, which a notebook shows as a page.

    Parameters
    ----------
    html
        The page, to be written to a file that a browser opens.
    """

    html: str

    def __repr__(self) -> str:
        """Its size: the text is long."""
        return f"<ReportPage of {len(self.html):,} characters>"

    def save(self, path: Path) -> None:
        """Write the page to a file; bytes that are not UTF-8, as in some names, become escapes."""
        with whole_file(path) as unfinished:
            unfinished.write_text(self.html, encoding="utf-8", errors="backslashreplace")

    def _repr_html_(self) -> str:
        """A frame with the page in it, apart from the notebook's own styles and scripts."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )


def report(
    assessment: Assessment, *, title: str, alarms: Alarms | None = None, labels: Any = None
) -> ReportPage:
    """The report on an assessment."""
    return ReportPage(
        page(assessment.detector, assessment, title=title, alarms=alarms, labels=labels)
    )


def plot(
    assessment: Assessment, entity: str | None, alarms: Alarms, options: dict[str, Any]
) -> Any:
    """A figure of one entity's rows and some alarms; without matplotlib, the report."""
    try:
        from subadjacent.report.figures import figure_series
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return report(assessment, title=entity or "Anomalies", alarms=alarms)
    number = _number_of(assessment, entity, alarms)
    return figure_series(assessment, number, alarms=alarms, **options)


def _number_of(assessment: Assessment, entity: str | None, alarms: Alarms) -> int:
    entities = [series.entity for series in assessment.series]
    if entity is None and alarms:
        entity = max(alarms, key=lambda alarm: alarm.severity).entity
    if entity is None:
        return 0
    if entity not in entities:
        raise InputError(f"entity must be one of {entities}; got {entity!r}")
    return entities.index(entity)
