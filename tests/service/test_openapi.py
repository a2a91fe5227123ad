"""Requests drawn from the service's own description: none of them breaks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

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


def test_all_that_can_be_asked_is_described(described: LiveService) -> None:
    schema = described.get("/openapi.json")
    lacking = [
        (path, parameter["name"])
        for path, operations in schema["paths"].items()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]
    assert lacking == []
    assert all(
        operation["description"]
        for operations in schema["paths"].values()
        for operation in operations.values()
    )
    # a client that is made from it knows of tokens, and that there may be none
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert schema["security"] == [{}, {"token": []}]


def test_no_request_breaks_the_service(described: LiveService) -> None:
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{described.port}/openapi.json")
    asked = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        # it goes on for as long as somebody listens
        if operation.path == "/api/events":
            continue

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            response = case.call()
            assert response.status_code < 500, response.text
            if response.status_code >= 400:
                assert set(response.json()) == {"error"}

        ask()
        asked.add((operation.method, operation.path))
    assert len(asked) >= 18
