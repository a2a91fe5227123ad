"""The texts of the report: facts about the data, and warnings."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from contextlib import suppress
from datetime import timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from subadjacent.data.scaling import chunks, constant
from subadjacent.data.series import TrainSeries
from subadjacent.decision import sentences
from subadjacent.decision.sentences import span
from subadjacent.decision.threshold import AlarmBudget, AutoRate, ExtremeValue
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.report import model_facts
from subadjacent.report.timeline import Timeline
from subadjacent.showing import listed

# fewer training rows than this multiple of those that a score depends on are few to learn from
MIN_REACHES = 3
# with fewer alarms expected in the held-out rows than this, the threshold is an extrapolation
MIN_EXPECTED_ALARMS = 0.1
# series that a model does not fit, each with a sentence of its own
MAX_MISFIT_SENTENCES = 5
LIBRARIES = ("subadjacent", "torch", "numpy", "scipy", "scikit-learn")


def constant_channels(series: Sequence[TrainSeries]) -> list[str]:
    """Channels that never move in any of the series."""
    low = np.full(len(series[0].channels), np.inf)
    high = -low
    for one_series in series:
        for rows in chunks(len(one_series)):
            low = np.minimum(low, one_series.values[rows].min(axis=0))
            high = np.maximum(high, one_series.values[rows].max(axis=0))
    still = constant(low, high, [one_series.values.dtype for one_series in series])
    return [name for name, never in zip(series[0].channels, still, strict=True) if never]


def data_facts(series: Sequence[TrainSeries], times: Sequence[Timeline]) -> dict[str, str]:
    """Rows, channels, times and gaps of the data shown."""
    rows = sum(len(one_series) for one_series in series)
    facts = {"Rows": f"{rows:,}", "Channels": f"{len(series[0].channels):,}"}
    if len(series) > 1:
        facts["Entities"] = f"{len(series):,}"
    elif times[0].kind != "row":
        facts["From"], facts["To"] = times[0].name(0), times[0].name(rows - 1)
    if times[0].kind == "time":
        hours = times[0].offset
        facts["Clock"] = "as given" if hours is None else str(timezone(hours))
    intervals = sorted(
        {one_series.interval for one_series in series if one_series.interval is not None}
    )
    if intervals:
        ends = dict.fromkeys((span(intervals[0]), span(intervals[-1])))
        facts["Interval"] = " to ".join(ends)
    facts["Gaps in the clock"] = f"{_gaps(series):,}"
    still = constant_channels(series)
    facts["Constant channels"] = listed(still) if still else "none"
    return facts


def warnings(
    detector: BaseDetector, assessment: Assessment, remarks: Sequence[str] = ()
) -> list[str]:
    """Warnings to read before trusting the alarms, the most important first.

    ``remarks`` are further ones, such as those logged in fitting.
    """
    # what was logged may be among them
    messages = list(dict.fromkeys([*misfits(assessment.misfits), *remarks]))
    series = assessment.series
    if still := constant_channels(series):
        messages.append(
            f"{len(still)} of {len(series[0].channels)} channels never move in this data and "
            f"cannot show anything: {listed(still)}."
        )
    if gaps := _gaps(series):
        messages.append(
            f"The clock has {gaps:,} {'gap' if gaps == 1 else 'gaps'}. Each segment between "
            f"gaps is scored by itself; no alarm reaches across one."
        )
    reach = model_facts.reach_before(detector)
    short = [one_series for one_series in series if len(one_series) < reach]
    if short:
        which = f"{len(short)} of {len(series)} series" if len(series) > 1 else "The series"
        messages.append(
            f"{which} {'has' if len(short) == 1 else 'have'} fewer rows than a score depends on "
            f"({reach:,}); scores there are less sure."
        )
    unseen = detector.seen_.unseen_warning(one_series.entity for one_series in series)
    if unseen and unseen not in messages:
        messages.append(unseen)
    return messages + _about_training(detector)


def misfits(entities: Sequence[str | None]) -> list[str]:
    """A sentence for each of the first series that a model does not fit, and one for the rest."""
    messages = [_misfit(entity) for entity in entities[:MAX_MISFIT_SENTENCES]]
    if more := [str(entity) for entity in entities[MAX_MISFIT_SENTENCES:]]:
        messages.append(f"Nor does it fit {len(more):,} more: {listed(more)}.")
    return messages


def _misfit(entity: str | None) -> str:
    whose = "this data" if entity is None else entity
    return (
        f"Most rows of {whose} are unlike those that the model learned from, and more of them than "
        f"it learned from. If that is how it runs now, fit on recent rows."
    )


def settings(detector: BaseDetector) -> dict[str, str]:
    """Every parameter, with the value that "auto" chose."""
    shown = {"detector": type(detector).__name__}
    shown |= {name: _plain(value) for name, value in detector.get_params(deep=False).items()}
    fitted_settings = model_facts.fitted_settings(detector)
    for name, value in shown.items():
        if value == "auto" and name in fitted_settings:
            shown[name] = f"auto: {fitted_settings[name]}"
    shown["threshold"] = number(detector.threshold_, digits=6)
    rule = detector.decision.score.rule
    if rule is None:
        shown["threshold"] += ", set by hand"
    elif isinstance(rule, AutoRate):
        shown["contamination"] += ": about one false alarm in twice the rows fitted on"
        shown["threshold"] += " for all series together; each has its own"
    else:
        shown["contamination"] += f": {rule!r}"
    return shown | ({"seed": str(fitted_settings["seed"])} if "seed" in fitted_settings else {})


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that are installed."""
    installed = {"Python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


def number(value: float, digits: int = 4) -> str:
    """A number as people write it, without zeros at its end."""
    return sentences.number(value) if abs(value) >= 10**digits else f"{value:,.{digits}g}"


def curve(name: str) -> str:
    """The name of a training curve on the page."""
    return name.replace("_", " ").replace("train ", "training ").capitalize()


def _about_training(detector: BaseDetector) -> list[str]:
    messages = []
    # a detector read from a file no longer has the scores of its training rows
    rows, reach = len(getattr(detector, "decision_scores_", ())), model_facts.reach_before(detector)
    if 0 < rows < MIN_REACHES * reach:
        messages.append(
            f"Fitted on {rows:,} rows, few to learn from where a score depends on {reach:,}. "
            f"More normal data makes scores steadier."
        )
    rule, held_out = detector.threshold_rule_, getattr(detector, "held_out_rows_", 0)
    if (
        isinstance(rule, AlarmBudget | ExtremeValue)
        and 0 < rule.risk * held_out < MIN_EXPECTED_ALARMS
    ):
        messages.append(
            f"The threshold is extrapolated: it stands for one false alarm in "
            f"{1 / rule.risk:,.0f} rows, estimated from {held_out:,} rows."
        )
    history = model_facts.history(detector)
    if history and not history[-1].complete:
        messages.append("Training reached its time limit before it was done.")
    return messages


def _gaps(series: Sequence[TrainSeries]) -> int:
    return sum(len(one_series.starts) - 1 for one_series in series)


def _plain(value: Any) -> str:
    return "none" if value is None else str(value)
