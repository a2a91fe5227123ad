"""One number that all randomness of a detector follows from."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from subadjacent.errors import InputError


def choose_seed(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state: None, a number or a generator."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(
            f"random_state must be None, a whole number of at least 0 or a RandomState; "
            f"got {random_state!r}"
        ) from error
