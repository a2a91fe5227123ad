"""The figures that stand below each other: the data, each trace of the score, the severity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subadjacent.detectors.assessment import Assessment
from subadjacent.scoring.evidence import Array, Evidence

# what traces measure, for those who do not know the models; one that is not here goes without
ABOUT = {
    "level": "how far they lie from their mean in training",
    "rhythm": "what neighbours near a value, but not next to it, do not explain",
    "local rhythm": "the same, where the level may move",
    "slow rhythm": "the same, from neighbours further away",
    "state": "how far a row is from the nearest training rows",
    "shape": "how far a window is from the nearest training windows",
    "other channels": "what the other channels do not explain either",
    "all channels": "what is left over of all channels together",
    "network": "what a network that rebuilds windows does not explain",
    "error": "mean squared residual of the channels, before it is averaged",
    "contribution": "from the attention; where it is low, the error counts more",
    "row score": "of the row by itself, before it is averaged or compared with others",
}

# what the severity is: the score, in a unit in which the threshold does not move
SEVERITY = "1 is the threshold; it follows a series that has moved for good"
# pixels
DATA_HEIGHT, TRACE_HEIGHT, SEVERITY_HEIGHT = 230, 96, 140


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
    about: str
    height: int
    lines: tuple[Line, ...]


def trace_names(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Names of all traces; what one series has, another may not."""
    return tuple(dict.fromkeys(name for part in evidence for name in part.traces))


def trace_key(number: int) -> str:
    """What names a trace in the page, from its place among all."""
    return f"trace_{number}"


def in_words(name: str) -> str:
    """The name of a trace in plain words."""
    # not to be mistaken for the score that severity stands for
    return "row score" if name == "score" else name.replace("_", " ")


def panels(assessment: Assessment) -> tuple[Panel, ...]:
    """What there is to show of an assessment, from the data down to the severity."""
    seen = [Line("seen", "seen", "seen")]
    if expects(assessment.evidence):
        seen.append(Line("expected", "expected", "expected"))
    traces = (
        _trace_panel(trace_key(number), name)
        for number, name in enumerate(trace_names(assessment.evidence))
    )
    line = Line("severity", "severity", "severity")
    severity = Panel("severity", "Severity", SEVERITY, SEVERITY_HEIGHT, (line,))
    return (Panel("data", "Data", "", DATA_HEIGHT, tuple(seen)), *traces, severity)


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


def _trace_panel(key: str, name: str) -> Panel:
    plain = in_words(name)
    line = Line(key, plain, "trace")
    return Panel(key, plain.capitalize(), _about(plain), TRACE_HEIGHT, (line,))


def _about(plain: str) -> str:
    """What a trace measures, in words."""
    return ABOUT.get(plain, "")
