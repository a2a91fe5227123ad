"""What the detectors around networks of other papers share: everything but the network."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from subadjacent.detectors.network import NetworkDetector
from subadjacent.methods.neural.defaults import Auto
from subadjacent.methods.neural.rivals import RivalMethod
from subadjacent.networks.rival import PAPER, Rival

# parameters that are not the method's
OF_THE_DETECTOR = ("contamination", "adapt_after", "fill_limit", "precision", "device")
OF_CHANCE = "random_state"


# a data class, since scikit-learn wants an __init__ that only stores what it is given;
# an estimator is equal to itself alone, and scikit-learn prints it
@dataclass(kw_only=True, eq=False, repr=False)
class RivalDetector(NetworkDetector):
    """A detector around a network of another paper.

    A subclass names the network, and adds the network's own settings to these parameters.

    Parameters
    ----------
    window : int or "auto"
        Points in a window. "auto": as its paper has it, or a quarter of the rows when there are
        few.
    size : {"paper", "tiny"}
        The network's dimensions; "tiny" is for tests.
    epochs, patience : int
        Train at most ``epochs`` passes; stop after ``patience`` without improvement on the
        held-out end of the training rows. With 0 epochs the network keeps its initial weights.
    batch_size, learning_rate : number or "auto"
        "auto" follows the number of windows, and is 0.001.
    decay : float
        Factor on the learning rate after every epoch.
    stride : int or "auto"
        Rows from one training window to the next. "auto" aims at 4,000 windows an epoch.
    validation_fraction : float
        Share of the training rows, at the end, held out for stopping and calibration.
    budget : str or float, optional
        Longest time to train ("2m", "1h30m" or seconds); the best weights so far are kept.
    scoring_stride : int, optional
        Rows from one scored window to the next; as many as a window judges when left out.
    smoothing : int
        Average each score with those before it, so many in all.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels. "auto": so that at most about a third of the
        alarms is false, as far as normal rows tell. A float: the share of normal rows above it.
        "1/week": a budget of false alarms. "dynamic": where the scores of a stretch stand out
        most. Or any object with ``fit(scores)`` and ``predict(scores)``.
    adapt_after : int or None
        Rows after which what has moved for good is the new normal: one alarm, not one for ever.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
    checkpoint : path, optional
        File to keep the training's state in; a run that finds it there goes on from it.
    precision : {"auto", "float32", "bfloat16"}
        Of training. "auto" takes bfloat16 on GPUs that have it.
    device : str
        "auto", "cpu", "cuda" or "mps".
    random_state : int, RandomState or None
        Decides the initial weights, the order of training and what the network draws.
    """

    rival: ClassVar[type[Rival]]

    window: int | Auto = "auto"
    size: str = PAPER
    epochs: int = 10
    patience: int = 3
    batch_size: int | Auto = "auto"
    learning_rate: float | Auto = "auto"
    decay: float = 1.0
    stride: int | Auto = "auto"
    validation_fraction: float = 0.2
    budget: str | float | None = None
    scoring_stride: int | None = None
    smoothing: int = 1
    clip: float = 10.0
    contamination: Any = "auto"
    adapt_after: int | None = 300
    fill_limit: int = 10
    checkpoint: str | os.PathLike[str] | None = None
    precision: str = "auto"
    device: str = "auto"
    random_state: Any = 0

    def _method(self) -> RivalMethod:
        left_out = {*OF_THE_DETECTOR, OF_CHANCE}
        given = {
            one.name: getattr(self, one.name) for one in fields(self) if one.name not in left_out
        }
        of_all = {one.name for one in fields(RivalMethod)}
        settings = {name: value for name, value in given.items() if name not in of_all}
        of_method = {name: value for name, value in given.items() if name in of_all}
        return RivalMethod(rival=self.rival, settings=settings, **of_method)
