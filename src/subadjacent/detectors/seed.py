"""One number that all randomness of a detector follows from."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from subadjacent.errors import InputError


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
