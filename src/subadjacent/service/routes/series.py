"""Series: rows in, history out, mute, model."""

from __future__ import annotations

import time as clock
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from subadjacent.data.clock import DAY, duration
from subadjacent.errors import InputError
from subadjacent.service import records
from subadjacent.service.answers import PROBLEMS, Json
from subadjacent.service.bodies import CSV, JSON, LINES, PARQUET, TABLES, read_rows
from subadjacent.service.hub import Hub
from subadjacent.service.moments import check_ahead
from subadjacent.service.schemas import (
    ROWS_EXAMPLE,
    HistoryRecord,
    Mute,
    SeriesList,
    SeriesRecord,
    Switch,
    TakenRecord,
)
from subadjacent.service.widths import most_columns

PREFIX = "/api/series"
ROWS_PATH = f"{PREFIX}/{{name}}/rows"

router = APIRouter(prefix=PREFIX, tags=["series"], responses=PROBLEMS)

SeriesName = Annotated[str, Path(description="The name of the series.", examples=["pump"])]

MOST_HISTORY, MOST_POINTS = 100_000, 20_000
"""Rows that are read at once, and points that are sent: a chart of a screen shows fewer."""

LONGEST_MUTE = 366 * DAY
INLINE_BYTES = 64_000
"""A JSON body up to here is read where it comes in: handing it to a thread would cost more."""

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
async def list_series(request: Request) -> Response:
    """All series, the worst first."""
    return Json({"series": _hub(request).all_series()})


@router.get("/{name}", response_model=SeriesRecord)
async def get_series(request: Request, name: SeriesName) -> Response:
    """One series."""
    hub = _hub(request)
    return Json(hub.record(hub.find(name)))


@router.delete("/{name}", status_code=204)
async def delete_series(request: Request, name: SeriesName) -> Response:
    """Forget a series with its rows and alarms."""
    await _hub(request).delete(name)
    return Response(status_code=204)


@router.post(
    ROWS_PATH.removeprefix(PREFIX),
    response_model=TakenRecord,
    openapi_extra={"requestBody": ROWS_BODY},
)
async def push_rows(request: Request, name: SeriesName) -> Response:
    """Push rows of a series; a new name is a new series.

    The answer comes when the rows are on disk. All rows of a request are taken, or none; late
    and duplicate ones are counted and left out.
    """
    hub = _hub(request)
    body, kind = await request.body(), request.headers.get("content-type", "")
    limits = hub.settings.limits
    read = partial(
        read_rows,
        body,
        kind,
        most_rows=limits.rows,
        most_columns=most_columns(limits.channels),
        folder=hub.folder,
    )
    long = len(body) > INLINE_BYTES or kind.startswith(TABLES)
    batch = await run_in_threadpool(read) if long else read()
    check_ahead(batch.times, batch.kind, limits.days_ahead, clock.time())
    taken = await hub.push(name, batch)
    request.app.state.measures.rows(taken.taken, taken.late, taken.duplicates)
    return Json(
        {
            "taken": taken.taken,
            "late": taken.late,
            "duplicates": taken.duplicates,
            "left_out": list(taken.left_out),
            "answers": taken.answers,
        }
    )


@router.get("/{name}/history", response_model=HistoryRecord)
async def get_history(
    request: Request,
    name: SeriesName,
    before: Annotated[
        int | None, Query(ge=0, le=2**62, description="A row's number; the newest if left out.")
    ] = None,
    limit: Annotated[
        int, Query(ge=1, le=MOST_HISTORY, description="Rows that are looked at.")
    ] = 2_000,
    points: Annotated[
        int, Query(ge=10, le=MOST_POINTS, description="Rows that are sent, about.")
    ] = 2_000,
) -> Response:
    """The newest rows before row ``before``, thinned so that no peak is lost."""
    hub = _hub(request)
    series = hub.find(name)

    def read() -> Json:
        with hub.reader() as tables:
            return Json(
                records.history(
                    tables,
                    series.id,
                    series.channels,
                    series.time_kind,
                    before=before,
                    limit=limit,
                    points=points,
                )
            )

    return await run_in_threadpool(read)


@router.post("/{name}/mute", response_model=SeriesRecord)
async def mute(request: Request, name: SeriesName, wanted: Mute) -> Response:
    """Do not tell of alarms of a series for a while; ``{"for": null}`` ends that."""
    seconds = None if wanted.length is None else duration(wanted.length, name="for")
    if seconds is not None and seconds > LONGEST_MUTE:
        raise InputError.of("for", "must be a year at most", f"got {wanted.length!r}")
    return Json(await _hub(request).mute(name, seconds))


@router.put("/{name}/model", response_model=SeriesRecord)
async def switch_model(request: Request, name: SeriesName, wanted: Switch) -> Response:
    """Judge a series by another model, or by what it learns alone."""
    return Json(await _hub(request).switch(name, wanted.model))


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub
