"""A service that many tests share: each has its own series."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from live_service import LiveService, live


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live(tmp_path_factory.mktemp("service") / "data") as running:
        yield running
        said = running.end()
    assert said == ""
    assert running.process.returncode == 143
