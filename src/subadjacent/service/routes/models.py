"""Models: list, fit on an uploaded file, score a file."""

from __future__ import annotations

import asyncio
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from subadjacent.service.answers import PROBLEMS
from subadjacent.service.models import score_batch
from subadjacent.service.request_body import (
    CSV,
    PARQUET,
    TABLES,
    check_series_name,
    unknown_type,
)
from subadjacent.service.routes import Registry, RunningJobs
from subadjacent.service.routes.series import ROWS_BODY, read_batch
from subadjacent.service.schemas import (
    JobRecord,
    JobStarted,
    Key,
    ModelList,
    ScoresRecord,
)

router = APIRouter(prefix="/api", tags=["models"], responses=PROBLEMS)

ModelName = Annotated[
    str,
    Query(min_length=1, max_length=200, description="The name of the model.", examples=["pump"]),
]

FILE_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        CSV: {"schema": {"type": "string"}, "example": "time,flow\n1,13.0\n2,13.1\n"},
        PARQUET: {"schema": {"type": "string", "format": "binary"}},
    },
}

FILE_SCORING = asyncio.Semaphore(1)
"""Files that are scored at a time: each may take a core for seconds."""


@router.get("/models", response_model=ModelList)
async def list_models(registry: Registry, jobs: RunningJobs) -> Response:
    """All models, and the latest fits."""
    return JSONResponse({"models": registry.models.records(), "jobs": jobs.records()})


@router.post(
    "/models",
    status_code=202,
    response_model=JobStarted,
    openapi_extra={"requestBody": FILE_BODY},
)
async def fit_model(
    request: Request,
    registry: Registry,
    jobs: RunningJobs,
    name: ModelName,
    share: Annotated[
        float, Query(gt=0, le=1, description="Share of the rows, from the first on, to fit on.")
    ] = 0.5,
) -> Response:
    """Fit a model on a file in the background.

    A model of that name is replaced. Where no series has that name, the rows of the file become
    one, so that its alarms appear.
    """
    # the rows of the file may become a series of that name
    check_series_name(name)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in TABLES:
        raise unknown_type(kind, TABLES)
    jobs.check_room()
    registry.models.check_room(name, registry.settings.limits.models)
    with tempfile.NamedTemporaryFile(dir=jobs.folder, prefix="file-", delete=False) as file:
        path = Path(file.name)
    try:
        with path.open("wb") as file:
            async for part in request.stream():
                file.write(part)
        # others may have taken the last place while it came
        job = await jobs.add(name, path, share)
    except BaseException:
        path.unlink()
        raise
    return JSONResponse({"job": job}, 202)


@router.get("/jobs/{key}", response_model=JobRecord)
async def get_job(jobs: RunningJobs, key: Key) -> Response:
    """The state of a fit."""
    return JSONResponse(jobs.find(key))


@router.post("/score", response_model=ScoresRecord, openapi_extra={"requestBody": ROWS_BODY})
async def score(request: Request, registry: Registry, model: ModelName) -> Response:
    """Score rows at once, with look-ahead; nothing is stored."""
    known = registry.models.find(model)
    batch = await read_batch(request, registry, registry.settings.limits.scored_rows)
    async with FILE_SCORING:
        detector = await run_in_threadpool(registry.models.detector, known.key)
        found = await run_in_threadpool(partial(score_batch, detector, batch))
    return JSONResponse(found)
