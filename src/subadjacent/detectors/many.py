"""One detector an entity, for many entities at a time.

A detector that is fitted on many entities has a model of each, and a threshold for all. Here each
entity has a detector of its own, fitted on its rows alone: it says what it would if there were no
others. They are learned together, for what many series of one shape cost is mostly the calls.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from subadjacent.data.frames import Table
from subadjacent.data.inputs import read
from subadjacent.data.missing import stand_in
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.seen import SeenInput
from subadjacent.errors import InputError
from subadjacent.methods.learning import learn_each
from subadjacent.runtime import ignore


def fit_each(detector: BaseDetector, X: Any) -> list[BaseDetector]:
    """Copies of a detector, each fitted on one series of ``X`` alone, in their order.

    They have no causal twin, which only rows that come one by one have a use for, and no
    ``labels_`` of the training rows. If one series cannot be fitted none is: fit the others
    without it.
    """
    blank = detector._blank()
    blank.check()
    table = blank._read(X, reset=True)
    method = blank._method()
    alone = [replace(table, series=(one,)) for one in table.series]
    fitted = [copy.copy(blank) for _ in alone]
    thresholds = [each._prepare(own) for each, own in zip(fitted, alone, strict=True)]
    learned = learn_each(method, table.series, blank._runtime(ignore))
    for each, own, found, threshold in zip(fitted, alone, learned, thresholds, strict=True):
        each._take(own, found, threshold)
    return fitted


def assess_each(detectors: Sequence[BaseDetector], X: Any) -> list[Assessment]:
    """What each detector finds in the series of ``X`` that it was fitted on, in their order."""
    first = detectors[0]
    table = read(X, fill_limit=first.fill_limit, known=first.channels_)
    return [_assess(each, replace(table, series=(one,))) for each, one in _pairs(detectors, table)]


def _pairs(
    detectors: Sequence[BaseDetector], table: Table
) -> Iterator[tuple[BaseDetector, TrainSeries]]:
    for each, one in zip(detectors, table.series, strict=True):
        SeenInput.by(each).check(table)
        if each.entities_ != (one.entity,):
            raise InputError.of("X", "must hold the entities of the detectors, in their order")
        yield each, one


def _assess(detector: BaseDetector, table: Table) -> Assessment:
    (one,) = table.series
    filled = stand_in(one, detector.models_.of(one.entity).typical_values)
    return detector._assess(replace(table, series=(filled,)))
