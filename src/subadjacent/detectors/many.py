"""One detector an entity, for many entities at a time.

A detector that is fitted on many entities has a model of each, and a threshold for all. Here each
entity has a detector of its own, fitted on its rows alone, with the same results as if there were
no others. They are fitted together: with many short series, the number of calls decides the time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from subadjacent.data.frames import Table
from subadjacent.data.inputs import read
from subadjacent.data.missing import replace_missing
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.methods.learning import learn_each
from subadjacent.runtime import ignore


def fit_each(detector: BaseDetector, X: Any) -> list[BaseDetector]:
    """Copies of a detector, each fitted on one series of ``X`` alone, in their order.

    They have no online models, which only streams use, and no ``labels_`` of the training rows. If
    one series cannot be fitted none is: fit the others without it.
    """
    blank = detector._blank()
    blank.check()
    table = blank._read(X, reset=True)
    method = blank._method()
    alone = [replace(table, series=(series,)) for series in table.series]
    fitted = [copy.copy(blank) for _ in alone]
    thresholds = [
        entity_detector._prepare(single)
        for entity_detector, single in zip(fitted, alone, strict=True)
    ]
    learned = learn_each(method, table.series, blank._runtime(ignore))
    for entity_detector, single, result, threshold in zip(
        fitted, alone, learned, thresholds, strict=True
    ):
        entity_detector._take(single, result, threshold)
    return fitted


def assess_each(detectors: Sequence[BaseDetector], X: Any) -> list[Assessment]:
    """Each detector's assessment of the series of ``X`` that it was fitted on, in their order."""
    first = detectors[0]
    table = read(X, fill_limit=first.fill_limit, known=first.channels_)
    return [
        _assess(detector, replace(table, series=(series,)))
        for detector, series in _pairs(detectors, table)
    ]


def _pairs(
    detectors: Sequence[BaseDetector], table: Table
) -> Iterator[tuple[BaseDetector, TrainSeries]]:
    for detector, series in zip(detectors, table.series, strict=True):
        detector.seen_.check(table)
        if detector.entities_ != (series.entity,):
            raise InputError.of("X", "must hold the entities of the detectors, in their order")
        yield detector, series


def _assess(detector: BaseDetector, table: Table) -> Assessment:
    (series,) = table.series
    filled = replace_missing(series, detector.models_.of(series.entity).typical_values)
    return detector._assess(replace(table, series=(filled,)))
