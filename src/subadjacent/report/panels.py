"""The figures below the channels: each trace that led to the score, and the severity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subadjacent.decision.evidence import Array, Evidence
from subadjacent.decision.view_facts import FACTS
from subadjacent.detectors.assessment import Assessment

# what traces of networks measure; those of views say so themselves
ABOUT = {
    "error": "mean squared residual of the channels, before it is averaged",
    "contribution": "from the attention; where it is low, the error counts more",
    "row score": "of the row by itself, before it is averaged or compared with others",
}

# titles and meanings of views across channels where there is one
OF_ONE_CHANNEL = {
    "other channels": ("all forecasts", "what no forecast explains"),
    "all channels": ("rhythm of the row", "how rare a departure of this size from its rhythm is"),
    "state": ("value", "how far a value is from the nearest values of training"),
}

# what the severity is: the score, in a unit in which the threshold does not move
SEVERITY = "1 is the threshold; it adapts to a permanent change"
# charts go no lower: when a level that was taken for permanent ends, severities fall to -50 and
# below, and would flatten all that matters
MIN_SHOWN_SEVERITY = -1.0


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure with one line; ``key`` names both in the page."""

    key: str
    title: str
    about: str


def shown_severity(severity: Array) -> Array:
    """Severities as charts have them, (T,)."""
    return np.maximum(severity, MIN_SHOWN_SEVERITY)


def trace_names(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Names of all traces that are not 0 throughout; series may differ in them."""
    return tuple(
        dict.fromkeys(
            name
            for series_evidence in evidence
            for name, trace in series_evidence.traces.items()
            if np.any(trace)
        )
    )


def trace_key(number: int) -> str:
    """The key of a trace in the page, from its place among all."""
    return f"trace_{number}"


def in_words(name: str, channels: int = 2) -> str:
    """The name of a trace in plain words; ``channels`` of the file."""
    if channels == 1 and name in OF_ONE_CHANNEL:
        return OF_ONE_CHANNEL[name][0]
    # not to be mistaken for the score that severity stands for
    if name in FACTS and FACTS[name].title:
        return FACTS[name].title
    return "row score" if name == "score" else name.replace("_", " ")


def panels(assessment: Assessment) -> tuple[Panel, ...]:
    """The panels below the channels: traces, then the severity."""
    channels = len(assessment.series[0].channels)
    traces = (
        _trace_panel(trace_key(number), name, channels)
        for number, name in enumerate(trace_names(assessment.evidence))
    )
    return (*traces, Panel("severity", "Severity", SEVERITY))


def trace_of(evidence: Evidence, name: str) -> Array:
    """A trace, (T,); NaN where the series has none of this name."""
    trace = evidence.traces.get(name)
    return np.full(len(evidence.score), np.nan) if trace is None else trace


def _trace_panel(key: str, name: str, channels: int) -> Panel:
    plain = in_words(name, channels)
    about = FACTS[name].panel if name in FACTS else ABOUT.get(plain, ABOUT.get(name, ""))
    if channels == 1 and name in OF_ONE_CHANNEL:
        about = OF_ONE_CHANNEL[name][1]
    return Panel(key, plain[:1].upper() + plain[1:], about)
