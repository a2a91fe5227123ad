"""The findings in a few words: how many alarms, the worst and the latest, or the weak sign."""

from __future__ import annotations

from collections.abc import Sequence

from subadjacent.decision.alarms import WITHDRAWN, Alarm
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.timeline import Timeline, timelines
from subadjacent.showing import on_one_line

MIN_WEAK_SIGN = 0.5
"""Severity from which a row without an alarm is a weak sign; the service's page has the same."""


def headline(
    assessment: Assessment, alarms: Sequence[Alarm], times: Sequence[Timeline] | None = None
) -> str:
    """The findings in a sentence or three; withdrawn alarms are counted apart."""
    times = timelines(assessment.series) if times is None else times
    standing = [alarm for alarm in alarms if alarm.status != WITHDRAWN]
    counted = count(assessment, alarms)
    if not standing:
        return counted if _events(assessment) else _without_alarms(assessment, times)
    worst = max(standing, key=lambda alarm: alarm.severity)
    said = f"{_when(assessment, times, worst)}: {worst.sentence}"
    if len(standing) == 1:
        return f"{counted}, {said}"
    entities = [series.entity for series in assessment.series]
    latest = max(
        standing, key=lambda alarm: times[entities.index(alarm.entity)].places[alarm.first]
    )
    if latest is worst:
        return f"{counted}. The worst and latest {said}"
    return f"{counted}. The worst {said}. The latest {_when(assessment, times, latest)}"


def count(assessment: Assessment, alarms: Sequence[Alarm]) -> str:
    """The numbers of alarms and rows, and of all alarms where only some are given."""
    withdrawn = sum(alarm.status == WITHDRAWN for alarm in alarms)
    standing, all_alarms = len(alarms) - withdrawn, _events(assessment)
    some = len(alarms) < all_alarms
    counted = f"{standing:,}" if standing or some else "No"
    counted += f" of {all_alarms:,}" if some else ""
    counted += " alarms in " if some or standing != 1 else " alarm in "
    counted += _extent(assessment)
    return counted + (f", and {withdrawn:,} withdrawn" if withdrawn else "")


def _events(assessment: Assessment) -> int:
    return sum(len(decided.events) for decided in assessment.decisions)


def _without_alarms(assessment: Assessment, times: Sequence[Timeline]) -> str:
    peaks = [float(decided.severity.max()) for decided in assessment.decisions]
    which = peaks.index(max(peaks))
    if peaks[which] < MIN_WEAK_SIGN:
        return f"Nothing stands out in {_extent(assessment)}"
    series, row = assessment.series[which], int(assessment.decisions[which].severity.argmax())
    channel = series.channels[int(assessment.evidence[which].by_channel[row].argmax())]
    place = _place(times[which], row) + (
        f" in {on_one_line(series.entity)}" if series.entity else ""
    )
    return (
        f"No alarms in {_extent(assessment)}; one weak sign: {on_one_line(channel)} {place}, "
        f"severity {peaks[which]:.1f}"
    )


def _extent(assessment: Assessment) -> str:
    series = assessment.series
    rows = sum(map(len, series))
    text = f"{rows:,} {'row' if rows == 1 else 'rows'}"
    return text + (f" of {len(series):,} entities" if len(series) > 1 else "")


def _when(assessment: Assessment, times: Sequence[Timeline], alarm: Alarm) -> str:
    entities = [series.entity for series in assessment.series]
    place = _place(times[entities.index(alarm.entity)], alarm.first)
    return place + (f" in {on_one_line(str(alarm.entity))}" if len(entities) > 1 else "")


def _place(times: Timeline, row: int) -> str:
    """When a row was, with its preposition: "on 2026-01-02 12:57", "at row 12"."""
    return f"{'on' if times.kind == 'time' else 'at'} {times.name(row)}"
