"""Events while they happen."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from subadjacent.service.answers import PROBLEMS
from subadjacent.service.routes import Registry, SeriesFilter

router = APIRouter(tags=["events"], responses=PROBLEMS)

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events `answer`, `alarm`, `series`, `deleted` and `job`, "
        "until the client goes; one that does not keep up is let go.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/api/events", response_class=Response, responses=STREAM)
async def events(
    registry: Registry,
    series: SeriesFilter = None,
) -> Response:
    """Listen to all series, or to one."""
    return registry.listeners.stream(series)
