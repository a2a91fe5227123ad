"""How many replicas there are, and how many there are to be."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from subadjacent.service.answers import PROBLEMS, Json
from subadjacent.service.numbers import MOST_REPLICAS

router = APIRouter(tags=["replicas"], responses=PROBLEMS)


class ReplicaCount(BaseModel):
    """So many replicas."""

    model_config = ConfigDict(extra="forbid")

    replicas: Annotated[int, Field(ge=1, le=MOST_REPLICAS, examples=[2])]


@router.get("/api/replicas", response_model=ReplicaCount)
async def get_replicas(request: Request) -> Response:
    """How many replicas there are."""
    return Json({"replicas": len(request.app.state.ingress)})


@router.put("/api/replicas", response_model=ReplicaCount)
async def set_replicas(request: Request, wanted: ReplicaCount) -> Response:
    """Have more replicas, or fewer: series move, and requests wait meanwhile."""
    await request.app.state.ingress.scale(wanted.replicas)
    return Json({"replicas": wanted.replicas})
