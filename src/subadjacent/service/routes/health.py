"""Health, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, Response

from subadjacent.service.answers import PROBLEMS
from subadjacent.service.problems import Refusal
from subadjacent.service.routes import Registry
from subadjacent.service.schemas import Health

router = APIRouter(tags=["health"])


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=Health)
async def health() -> Response:
    """The process is alive."""
    return JSONResponse({"status": "ok"})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Scores, alarms and the service itself, for Prometheus."""
    text = await run_in_threadpool(request.app.state.measures.text)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


@router.head("/ready", include_in_schema=False)
@router.get("/ready", response_model=Health, responses={503: PROBLEMS[503]})
async def ready(registry: Registry) -> Response:
    """Rows can be accepted."""
    if not registry.writer.is_alive:
        raise Refusal(503, "the service is starting or stopping: try again in a moment")
    return JSONResponse({"status": "ok"})
