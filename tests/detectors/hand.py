"""An assessment made by hand, of six rows of two channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from subadjacent import SubAdjacentDetector
from subadjacent.data.entities import PerEntity
from subadjacent.data.inputs import read
from subadjacent.data.series import TrainSeries
from subadjacent.decision.decision import Decision
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.extremes import Tail
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.threshold import Quantile
from subadjacent.decision.trace_threshold import TraceThreshold
from subadjacent.detectors.assessment import Assessment

NORMAL = NormalScores(1.0, 2.0, 0.5, 4, Tail(2.0, 0.0, 1.0, 0.01))
# of a share of rows, every run is an event
DECISION = Decision(TraceThreshold(2.0, Quantile(0.99), PerEntity(NORMAL, {})), None, None)


def by_hand(
    score: Any = (1.0, 2.0, 3.0, 1.0, 5.0, 1.0),
    blur: int = 0,
    expected: bool = True,
    decision: Decision = DECISION,
) -> Assessment:
    """Six rows of two channels; the threshold is 2, a typical row scores 1."""
    score = np.array(score)
    rows = np.arange(2.0 * len(score)).reshape(-1, 2)
    by_channel = np.column_stack([score, 10 * score])
    evidence = Evidence(score, by_channel, rows + 100 if expected else None, {"level": score / 2})
    decided = decision.decide(evidence, blur=blur)
    profiles = learn_profiles(TrainSeries(rows))
    return Assessment(read(rows), (evidence,), (decided,), (profiles,), SubAdjacentDetector())
