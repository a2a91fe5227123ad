"""The base of all detectors but the default: parameters that reach their method by name."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.methods.method import Method
from subadjacent.runtime import Runtime, Watch


# data classes, since scikit-learn wants an __init__ that only stores what it is given;
# an estimator is equal to itself alone, and scikit-learn prints it
@dataclass(kw_only=True, eq=False, repr=False)
class MethodDetector(BaseDetector):
    """A detector whose parameters are settings of its method, by the same names.

    A subclass names the method, and adds its own parameters to these.

    Parameters
    ----------
    smoothing : int
        Number of scores that are averaged: that of the row, and those before it.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    adapt_after : int or None
        Rows after which a permanent level shift is the new normal: one alarm, not an endless one.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
    """

    method: ClassVar[type[Method]]

    smoothing: int = 1
    clip: float = 10.0
    contamination: Any = "auto"
    adapt_after: int | None = 300
    fill_limit: int = 10

    def _method(self) -> Method:
        return self.method(**self._taken_by(self.method))

    def _taken_by(self, kind: type) -> dict[str, Any]:
        """The parameters that are arguments of ``kind``, by name."""
        arguments = inspect.signature(kind).parameters
        parameters = self.get_params(deep=False)
        return {name: value for name, value in parameters.items() if name in arguments}


@dataclass(kw_only=True, eq=False, repr=False)
class SeededDetector(MethodDetector):
    """A detector that draws random numbers.

    Parameters
    ----------
    random_state : int, RandomState or None
        Decides what is drawn by chance.
    others
        As of every ``MethodDetector``.
    """

    random_state: Any = 0

    def _runtime(self, watch: Watch) -> Runtime:
        return Runtime(seed=choose_seed(self.random_state), watch=watch)


def choose_seed(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state: None, a number or a generator."""
    try:
        if isinstance(random_state, Integral):
            random_state = np.random.RandomState(int(random_state))
        elif random_state is None:
            random_state = np.random
        return int(random_state.randint(2**31 - 1))
    except (AttributeError, ValueError) as error:
        raise InputError(
            f"random_state must be None, a whole number of at least 0 or a RandomState; "
            f"got {random_state!r}"
        ) from error
