"""Alarms: list, acknowledge, mark as normal."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from subadjacent.service.alarm_store import find_alarm
from subadjacent.service.alarm_store import list_alarms as read_alarms
from subadjacent.service.answers import PROBLEMS
from subadjacent.service.routes import Registry, SeriesFilter
from subadjacent.service.schemas import Acknowledge, AlarmList, AlarmRecord, Key

DEFAULT_LIMIT = 100
"""Alarms in a list, unless a request says how many."""

router = APIRouter(prefix="/api/alarms", tags=["alarms"], responses=PROBLEMS)


@router.get("", response_model=AlarmList)
async def list_alarms(
    registry: Registry,
    series: SeriesFilter = None,
    state: Annotated[
        Literal["open", "closed", "all"], Query(description="State of the alarms.")
    ] = "all",
    limit: Annotated[
        int, Query(ge=1, le=1_000, description="The most alarms to list.")
    ] = DEFAULT_LIMIT,
    before: Annotated[
        int | None, Query(ge=1, le=2**62, description="The `id` of an alarm, to page on.")
    ] = None,
) -> Response:
    """The newest alarms first; ``before`` an alarm's id, to page on."""
    key = None if series is None else registry.find(series).id
    read = partial(read_alarms, series=key, state=state, limit=limit, before=before)
    return JSONResponse({"alarms": await registry.read(read)})


@router.get("/{key}", response_model=AlarmRecord)
async def get_alarm(registry: Registry, key: Key) -> Response:
    """One alarm, and its causes."""
    return JSONResponse(await registry.read(partial(find_alarm, key=key)))


@router.post("/{key}/acknowledge", response_model=AlarmRecord)
async def acknowledge(registry: Registry, key: Key, wanted: Acknowledge | None = None) -> Response:
    """Mark an alarm as seen, with a note."""
    return JSONResponse(await registry.acknowledge(key, "" if wanted is None else wanted.note))


@router.post("/{key}/normal", response_model=AlarmRecord)
async def mark_normal(registry: Registry, key: Key) -> Response:
    """Mark an alarm as normal: the series learns from its rows."""
    return JSONResponse(await registry.mark_normal(key))
