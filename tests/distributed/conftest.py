"""One cluster of two workers for all tests of a session: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from subadjacent.workflow.cluster import connected


@pytest.fixture(scope="session")
def cluster() -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        with connected(2) as workers:
            yield workers
