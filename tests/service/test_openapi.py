"""Requests drawn from the service's own description: none of them breaks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error

from live_service import LiveService, live, rows_of

EXAMPLES = 15
"""Requests of each route."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder: Path = tmp_path_factory.mktemp("described")
    (folder / "config.toml").write_text("[limits]\njobs = 1\n")
    with live(folder / "data", "--config", str(folder / "config.toml")) as service:
        service.push("pump", rows_of(20))
        yield service
        assert "Traceback" not in service.end()


@pytest.fixture
def schema(described: LiveService) -> schemathesis.BaseSchema:
    found = schemathesis.openapi.from_url(f"http://127.0.0.1:{described.port}/openapi.json")
    # it goes on for as long as somebody listens
    return found.exclude(path="/api/events")


described_requests = schemathesis.pytest.from_fixture("schema")


@described_requests.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_breaks_the_service(case: schemathesis.Case) -> None:
    response = case.call()
    case.validate_response(response, checks=[not_a_server_error])
