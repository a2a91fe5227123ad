"""HTTP routes, and what they work with: the registry of series, and the jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request

from subadjacent.service.jobs import Jobs
from subadjacent.service.registry import SeriesRegistry


async def _registry(request: Request) -> SeriesRegistry:
    registry: SeriesRegistry = request.app.state.registry
    return registry


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


Registry = Annotated[SeriesRegistry, Depends(_registry)]
RunningJobs = Annotated[Jobs, Depends(_jobs)]

SeriesFilter = Annotated[
    str | None, Query(max_length=200, description="Name of the series; by default all series.")
]
