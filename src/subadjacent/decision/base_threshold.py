"""The base of all thresholds without labels: settings, and a ``fit`` to normal scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.decision.extremes import check_scores
from subadjacent.errors import InputError, require_number

MAX_LEARNED = 1_000_000
"""Numbers that a saved threshold may hold of anything, so that a forged one cannot ask for more."""


@runtime_checkable
class Threshold(Protocol):
    """Anything that learns from scores which of them are anomalous.

    Where it has a ``threshold_`` after ``fit``, scores above that are anomalous; ours all do.
    """

    def fit(self, scores: NDArray[np.float64], /) -> Any:
        """Learn from the scores of normal rows, in time order."""

    def predict(self, scores: NDArray[np.float64], /) -> Any:
        """1 for every anomalous score, else 0."""


class BaseThreshold(ABC):
    """A threshold's settings; ``fit`` adds ``threshold_`` and what is ``learned`` beside it.

    Two thresholds are equal when their settings are.
    """

    kind: ClassVar[str]
    """What it is called where it is saved."""
    learned: ClassVar[tuple[str, ...]] = ()
    """Attributes that ``fit`` adds beside ``threshold_``: tuples of numbers."""

    threshold_: float

    @abstractmethod
    def _choose(self, scores: NDArray[np.float64]) -> float:
        """Threshold for these scores."""

    def fit(self, scores: ArrayLike) -> Self:
        """Choose ``threshold_`` from the scores of normal rows, in time order."""
        self.fit_quietly(scores)
        self._warn(check_scores(scores))
        return self

    def fit_quietly(self, scores: ArrayLike) -> None:
        """Do as ``fit`` without a warning: where a threshold fitted alike has already warned."""
        self._learn(threshold_=float(self._choose(check_scores(scores))))

    def part(self, share: float) -> Self | None:  # noqa: ARG002 — most cannot be divided
        """A rule that requests a share of the false alarms; None where that cannot be requested."""
        return None

    def _warn(self, scores: NDArray[np.float64]) -> None:  # noqa: B027 — most keep what they promise
        """Log where scores are too few, or too dependent, for this threshold."""

    def predict(self, scores: ArrayLike) -> NDArray[np.int64]:
        """1 for every score above ``threshold_``, else 0."""
        self._check_fitted()
        return (check_scores(scores) > self.threshold_).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Kind, settings, fitted threshold (None before ``fit``) and what was learned beside it.

        All are plain JSON types.
        """
        settings = asdict(self)  # type: ignore[call-overload]  # every child is a dataclass
        plain = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in settings.items()
        }
        fitted = getattr(self, "threshold_", None)
        learned = {} if fitted is None else {name: list(vars(self)[name]) for name in self.learned}
        return {"kind": self.kind, "settings": plain, "threshold_": fitted} | learned

    def restore(self, saved: Mapping[str, Any]) -> Self:
        """Take over what ``to_dict`` of a fitted threshold wrote; refuses what does not fit."""
        require_number("threshold_", saved.get("threshold_"))
        for name in self.learned:
            numbers = saved.get(name)
            if not isinstance(numbers, list) or not 0 < len(numbers) <= MAX_LEARNED:
                got = "no list" if not isinstance(numbers, list) else f"{len(numbers):,}"
                raise InputError(
                    f"{name} must be a list of 1 to {MAX_LEARNED:,} numbers; got {got}"
                )
            for number in numbers:
                require_number(name, number)
            self._learn(**{name: tuple(numbers)})
        self._learn(threshold_=float(saved["threshold_"]))
        self._check_learned()
        return self

    def _check_learned(self) -> None:  # noqa: B027 — most learn nothing else
        """Refuse numbers that no fit can result in."""

    def _learn(self, **learned: Any) -> None:
        # settings are frozen; what is learned from data is not a setting
        for name, value in learned.items():
            object.__setattr__(self, name, value)

    def _check_fitted(self) -> None:
        if not hasattr(self, "threshold_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"{self} has no threshold_ yet; call fit first")
