"""One real server with a history that never changes, for all tests that bring their own clock."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from service.watch.past import Past, history
from service.watch.servers import Prometheus, prometheus


@pytest.fixture(scope="session")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """A server and the second at which its history begins."""
    begin = int(time.time()) - 3600
    folder = tmp_path_factory.mktemp("past")
    with prometheus(folder, history(begin)) as server:
        yield Past(server, begin)


@pytest.fixture(scope="session")
def server(past: Past) -> Prometheus:
    return past.server
