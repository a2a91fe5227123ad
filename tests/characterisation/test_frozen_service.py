"""What the service answers over HTTP stays as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from characterisation import adapter
from characterisation.records import Near, check
from live_service import Answered, LiveService, as_csv, live, rows_of, with_a_jump

NEAR: Near = {"rtol": 2e-3, "atol": 5e-4}
VOLATILE = ("step", "done", "total", "fitted_at", "muted_until")
"""Keys whose values differ from run to run, or say how far a fit has come."""
THINNED = 40
"""Of a longer list of answers or scores, every so manieth is recorded, and those with an alarm."""


class Transcript:
    """Requests to a service, and its answers without what differs from run to run."""

    def __init__(self, service: LiveService) -> None:
        self.service = service
        self.lines: list[dict[str, Any]] = []

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        answer = self.service.ask(method, path, body, kind)
        self.lines.append(
            {
                "request": f"{method} {path}",
                "status": answer.status,
                "type": answer.headers.get("content-type"),
                "body": _body(answer),
            }
        )
        return answer


def test_the_service_answers_as_it_did(tmp_path: Path) -> None:
    with live(tmp_path / "data") as service:
        said = Transcript(service)
        _series_and_alarms(said)
        _refusals(said)
        _models(said)
        # the model's own series alone is left
        said.ask("DELETE", "/api/series/jump")
        said.ask("GET", "/api/series")
        names = re.findall(
            r"^# TYPE (\S+ \S+)$", service.ask("GET", "/metrics").body.decode(), re.M
        )
        paths = service.get("/openapi.json")["paths"]
    metrics = [_metric(name) for name in names if name.startswith(("subadjacent", "anomaly"))]
    routes = [f"{method} {path}" for path, methods in paths.items() for method in methods]
    # replicas go away
    routes = sorted(route for route in routes if "/api/replicas" not in route)
    check("service", NEAR, {"transcript": said.lines, "metrics": sorted(metrics), "routes": routes})


def _series_and_alarms(said: Transcript) -> None:
    rows = with_a_jump()
    said.ask("GET", "/health")
    said.ask("GET", "/ready")
    said.ask("GET", "/api/series")
    said.ask("POST", "/api/series/jump/rows", {"rows": rows[:410]})
    said.ask("GET", "/api/series/jump")
    said.ask("GET", "/api/alarms?state=open")
    # the first of them are duplicates, one is late, and one column is unknown
    said.ask("POST", "/api/series/jump/rows", rows[405:560])
    said.ask("POST", "/api/series/jump/rows", [rows[561], rows[563] | {"remark": 1}])
    said.ask("POST", "/api/series/jump/rows", as_csv(rows[560:]), "text/csv")
    said.ask("GET", "/api/series/jump/history?limit=150&points=12")
    said.ask("GET", "/api/series/jump/history?limit=3&before=420")
    said.ask("GET", "/api/alarms?series=jump&limit=5")
    said.ask("POST", "/api/alarms/1/acknowledge", {"note": "seen"})
    said.ask("POST", "/api/alarms/1/normal")
    said.ask("POST", "/api/series/jump/mute", {"for": "1h"})
    said.ask("POST", "/api/series/jump/mute", {"for": None})
    numbered = [{"t": number, "a": float(number % 7), "b": None} for number in range(60)]
    said.ask("POST", "/api/series/numbered/rows", "\n".join(map(json.dumps, numbered)).encode(),
             "application/x-ndjson")  # fmt: skip
    said.ask("GET", "/api/series")


def _refusals(said: Transcript) -> None:
    said.ask("GET", "/api/series/none")
    said.ask("GET", "/api/alarms/99")
    said.ask("GET", "/api/jobs/99")
    said.ask("GET", "/nowhere")
    said.ask("PATCH", "/api/series/jump")
    said.ask("GET", "/api/alarms?limit=0")
    said.ask("GET", "/api/alarms/word")
    said.ask("POST", "/api/series/jump/rows", {"rows": [{"time": "x", "flow": 1.0}]})
    said.ask("POST", "/api/series/jump/rows", {"rows": [{"time": 1, "other": 1.0}]})
    said.ask("POST", "/api/series/jump/rows", {"rows": rows_of(2), "more": 1})
    said.ask("POST", "/api/series/jump/rows", b"{")
    said.ask("POST", "/api/series/jump/rows", b"x", "text/plain")
    said.ask("POST", "/api/series/jump/mute", {"for": "soon"})
    said.ask("PUT", "/api/series/jump/model", {"model": "none"})
    said.ask("POST", "/api/score?model=none", b"t,a\n1,2\n", "text/csv")
    said.ask("POST", "/api/models?name=m", b"{}")


def _models(said: Transcript) -> None:
    rows = with_a_jump()
    said.service.fit("m", as_csv(rows))
    said.ask("GET", "/api/jobs/1")
    said.ask("GET", "/api/models")
    said.ask("GET", "/api/series/m")
    said.ask("GET", "/api/alarms?series=m")
    said.ask("PUT", "/api/series/jump/model", {"model": "m"})
    said.ask("POST", "/api/series/jump/rows", {"rows": rows_of(120, first=570)})
    said.ask("POST", "/api/score?model=m", as_csv(rows[300:]), "text/csv")


def _body(answer: Answered) -> Any:
    if not answer.body:
        return None
    # messages may be worded better: that there is one is what counts
    document = {"error": "..."} if set(answer.json) == {"error"} else answer.json
    return _steady(adapter.rename_keys(document))


def _steady(value: Any) -> Any:
    """A document without what differs from run to run, its long lists thinned."""
    if isinstance(value, dict):
        return {
            name: "..." if name in VOLATILE and one is not None else _steady(one)
            for name, one in value.items()
        }
    if not isinstance(value, list):
        return value
    if len(value) <= THINNED:
        return [_steady(one) for one in value]
    kept = [
        one
        for number, one in enumerate(value)
        if number % THINNED == 0 or (isinstance(one, dict) and one.get("alarm"))
    ]
    return {"length": len(value), "some": [_steady(one) for one in kept]}


def _metric(line: str) -> str:
    name, kind = line.split()
    return f"{adapter.recorded_name(name)} {kind}"
