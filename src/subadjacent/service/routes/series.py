"""Series: rows in, history out, mute, model."""

from __future__ import annotations

import time as clock
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from subadjacent.data.clock import DAY, duration
from subadjacent.errors import InputError
from subadjacent.service.answers import PROBLEMS
from subadjacent.service.body_limits import max_columns
from subadjacent.service.request_body import CSV, JSON, LINES, PARQUET, TABLES, RowBatch, read_rows
from subadjacent.service.routes import Registry
from subadjacent.service.row_store import history
from subadjacent.service.schemas import (
    ROWS_EXAMPLE,
    HistoryRecord,
    Mute,
    PushRecord,
    SeriesList,
    SeriesRecord,
    Switch,
)
from subadjacent.service.times import check_ahead

PREFIX = "/api/series"
ROWS_PATH = f"{PREFIX}/{{name}}/rows"

router = APIRouter(prefix=PREFIX, tags=["series"], responses=PROBLEMS)

SeriesName = Annotated[str, Path(description="The name of the series.", examples=["pump"])]

MAX_HISTORY, MAX_POINTS = 100_000, 20_000
"""Rows that are read at once, and points that are sent: a chart of a screen shows fewer."""

LONGEST_MUTE = 366 * DAY
INLINE_BYTES = 64_000
"""Bytes up to which a JSON body is read in the event loop: a thread would cost more."""

ROWS_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        JSON: {
            "schema": {
                "anyOf": [
                    {
                        "type": "object",
                        "required": ["rows"],
                        "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
                    },
                    {"type": "array", "items": {"type": "object"}},
                ]
            },
            "example": ROWS_EXAMPLE,
        },
        LINES: {"schema": {"type": "string"}, "example": '{"time": 1, "flow": 13.0}\n'},
        CSV: {"schema": {"type": "string"}, "example": "time,flow\n1,13.0\n"},
        PARQUET: {"schema": {"type": "string", "format": "binary"}},
    },
}


@router.get("", response_model=SeriesList)
async def list_series(registry: Registry) -> Response:
    """All series, the worst first."""
    return JSONResponse({"series": registry.all_series()})


@router.get("/{name}", response_model=SeriesRecord)
async def get_series(registry: Registry, name: SeriesName) -> Response:
    """One series."""
    return JSONResponse(registry.record(registry.find(name)))


@router.delete("/{name}", status_code=204)
async def delete_series(registry: Registry, name: SeriesName) -> Response:
    """Delete a series with its rows and alarms."""
    await registry.delete(name)
    return Response(status_code=204)


@router.post(
    ROWS_PATH.removeprefix(PREFIX),
    response_model=PushRecord,
    openapi_extra={"requestBody": ROWS_BODY},
)
async def push_rows(request: Request, registry: Registry, name: SeriesName) -> Response:
    """Push rows of a series; a new name is a new series.

    The answer comes when the rows are on disk. All rows of a request are accepted, or none; late
    and duplicate ones are counted and dropped.
    """
    limits = registry.settings.limits
    batch = await read_batch(request, registry, limits.rows)
    check_ahead(batch.times, batch.kind, limits.days_ahead, clock.time())
    record = await registry.push(name, batch)
    request.app.state.measures.count_rows(record)
    return JSONResponse(record)


@router.get("/{name}/history", response_model=HistoryRecord)
async def get_history(
    registry: Registry,
    name: SeriesName,
    before: Annotated[
        int | None,
        Query(ge=0, le=2**62, description="Rows before this row number; by default the newest."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_HISTORY, description="Rows to read.")] = 2_000,
    points: Annotated[int, Query(ge=10, le=MAX_POINTS, description="Rows to send, about.")] = 2_000,
) -> Response:
    """The newest rows before row ``before``, thinned so that no peak is lost."""
    series = registry.find(name)
    read = partial(
        history,
        series=series.id,
        channels=series.channels,
        kind=series.time_kind,
        before=before,
        limit=limit,
        points=points,
    )
    # encoded in the thread too: it may be long
    return await registry.read(lambda tables: JSONResponse(read(tables)))


@router.post("/{name}/mute", response_model=SeriesRecord)
async def mute(registry: Registry, name: SeriesName, wanted: Mute) -> Response:
    """Mute the alarms of a series for a while; ``{"for": null}`` ends that."""
    seconds = None if wanted.length is None else duration(wanted.length, name="for")
    if seconds is not None and seconds > LONGEST_MUTE:
        raise InputError.of("for", "must be a year at most", f"got {wanted.length!r}")
    return JSONResponse(await registry.mute(name, seconds))


@router.put("/{name}/model", response_model=SeriesRecord)
async def switch_model(registry: Registry, name: SeriesName, wanted: Switch) -> Response:
    """Assess a series with another model, or by what it learns from its rows alone."""
    return JSONResponse(await registry.switch(name, wanted.model))


async def read_batch(request: Request, registry: Registry, max_rows: int) -> RowBatch:
    """The rows of a request."""
    body, kind = await request.body(), request.headers.get("content-type", "")
    read = partial(
        read_rows,
        body,
        kind,
        max_rows=max_rows,
        max_columns=max_columns(registry.settings.limits.channels),
        folder=registry.folder,
    )
    long = len(body) > INLINE_BYTES or kind.startswith(TABLES)
    return await run_in_threadpool(read) if long else read()
