"""What of a detector there is to show: not all have a network, a band or a training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subadjacent.core.band import Band
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.baselines.anomaly_transformer import AnomalyTransformerDetector
from subadjacent.detectors.neural import NeuralDetector, has_network
from subadjacent.scoring.standardised import smoothing_lengths
from subadjacent.training.history import Epoch

# rows shown on either side of an alarm where there is no window to go by
AROUND = 100


@dataclass(frozen=True, slots=True)
class Row:
    """One of the stacked figures; ``lines`` are fields of a trace."""

    name: str
    title: str
    about: str
    height: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Anatomy:
    """What a detector has.

    ``attentive`` is the detector where it has an attention matrix to show. ``window`` is None
    where rows are scored one by one, and ``history`` where nothing is trained step by step.
    """

    rows: tuple[Row, ...]
    window: int | None
    band: Band | None
    attentive: NeuralDetector | None
    history: Sequence[Epoch] | None

    @property
    def around(self) -> int:
        """Rows to show on either side of an alarm."""
        return self.window or AROUND

    @property
    def lines(self) -> tuple[str, ...]:
        """Fields of a trace that have one number a row."""
        return tuple(line for row in self.rows[1:] for line in row.lines)


def anatomy(detector: BaseDetector) -> Anatomy:
    """What there is to show of a fitted detector."""
    expected = "what the network expected" if has_network(detector) else "expected"
    data = Row("data", "Data", f"seen, and {expected}", 230, ("seen", "expected"))
    decision = Row(
        "decision",
        "Decision score",
        _judged(detector),
        140,
        ("decision",),
    )
    if not has_network(detector):
        usual = "mean over the channels, in units of what is usual for each"
        error = Row("error", "Error", usual, 96, ("error",))
        window = getattr(detector, "window", None)
        # left to the data, by a detector that then did without
        known = window if isinstance(window, int) else None
        return Anatomy((data, error, decision), known, None, None, None)
    error = Row("error", "Reconstruction error", "mean over the channels", 96, ("error",))
    weighing = _weighing(detector)
    score = Row(
        "score", "Score", f"error, weighted by a low {weighing.title.lower()}", 96, ("score",)
    )
    if detector.setting("temperature") == 0:
        score = Row("score", "Score", "the error itself, since temperature is 0", 96, ("score",))
    rows = (data, error, weighing, score, decision)
    band = getattr(detector, "band_", None)
    return Anatomy(rows, detector.window_, band, detector, detector.history_)


def _weighing(detector: NeuralDetector) -> Row:
    """What the error is weighted by."""
    if isinstance(detector, AnomalyTransformerDetector):
        about = "how far attention goes beyond a point's neighbours"
        return Row("contribution", "Association discrepancy", about, 96, ("contribution",))
    about = "attention that falls into the band"
    return Row("contribution", "Contribution", about, 96, ("contribution",))


def _judged(detector: BaseDetector) -> str:
    if isinstance(detector, NeuralDetector):
        smoothing, dynamic = detector.setting("smoothing"), detector.setting("dynamic")
    else:
        smoothing, dynamic = getattr(detector, "smoothing", 1), "none"
    steps = []
    if hasattr(detector, "levels_"):
        lengths = ", ".join(map(str, smoothing_lengths(smoothing)))
        steps.append(f"all views added up, mean over {lengths} rows, in the entity's own unit")
    elif smoothing > 1:
        steps.append(f"mean over {smoothing} rows")
    if dynamic != "none":
        steps.append(f"dynamic ({dynamic}, Eq. 7)")
    return "; ".join([*steps, "above the threshold is an alarm"])
