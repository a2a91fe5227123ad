"""The figures that stand below each other: the data, each trace of the score, the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subadjacent.detectors.assessment import Assessment
from subadjacent.scoring.evidence import Array, Evidence

# pixels
DATA_HEIGHT, TRACE_HEIGHT, SCORE_HEIGHT = 230, 96, 140


class Line(NamedTuple):
    """One line of a panel.

    ``key`` names it in the page's data; ``role`` decides its colour.
    """

    key: str
    label: str
    role: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure of the stack; ``key`` names it in the page."""

    key: str
    title: str
    height: int
    lines: tuple[Line, ...]


def trace_names(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Names of all traces; what one series has, another may not."""
    return tuple(dict.fromkeys(name for part in evidence for name in part.traces))


def in_words(name: str) -> str:
    """The name of a trace as a title."""
    return name.replace("_", " ").capitalize()


def panels(assessment: Assessment) -> tuple[Panel, ...]:
    """What there is to show of an assessment, from the data down to the score."""
    seen = [Line("seen", "seen", "seen")]
    if expects(assessment.evidence):
        seen.append(Line("expected", "expected", "expected"))
    traces = (
        Panel(f"trace_{number}", in_words(name), TRACE_HEIGHT, (_trace_line(number, name),))
        for number, name in enumerate(trace_names(assessment.evidence))
    )
    score = Panel("score", "Score", SCORE_HEIGHT, (Line("score", "score", "score"),))
    return (Panel("data", "Data", DATA_HEIGHT, tuple(seen)), *traces, score)


def expects(evidence: Sequence[Evidence]) -> bool:
    """Whether any series has expected values."""
    return any(part.expected is not None for part in evidence)


def expected_of(evidence: Evidence) -> Array:
    """Expected values, (T, C); NaN where nothing is expected."""
    if evidence.expected is None:
        return np.full(evidence.by_channel.shape, np.nan)
    return evidence.expected


def trace_of(evidence: Evidence, name: str) -> Array:
    """A trace, (T,); NaN where the series has no such one."""
    found = evidence.traces.get(name)
    return np.full(len(evidence.score), np.nan) if found is None else found


def _trace_line(number: int, name: str) -> Line:
    return Line(f"trace_{number}", name.replace("_", " "), "trace")
