"""Is it there, and does it work."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from subadjacent.service.answers import PROBLEMS, Json
from subadjacent.service.hub import Hub
from subadjacent.service.problems import Refusal
from subadjacent.service.schemas import Health

router = APIRouter(tags=["health"])


@router.get("/health", response_model=Health)
async def health() -> Response:
    """The process is alive."""
    return Json({"status": "ok"})


@router.get("/ready", response_model=Health, responses={503: PROBLEMS[503]})
async def ready(request: Request) -> Response:
    """Rows can be taken."""
    hub: Hub = request.app.state.hub
    if not hub.writer.is_alive:
        raise Refusal(503, "the service starts or ends: try again in a moment")
    return Json({"status": "ok"})
