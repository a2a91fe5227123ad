"""The application: routes, guard and registry put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

import subadjacent
from subadjacent.service.answers import add_problems
from subadjacent.service.guard import Guard
from subadjacent.service.jobs import Jobs
from subadjacent.service.metrics import Measures
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.routes import alarms, events, health, models, series
from subadjacent.service.settings import Settings
from subadjacent.service.webhooks import Webhooks

Background = Callable[[SeriesRegistry, Measures], Coroutine[Any, Any, None]]
"""What runs beside the service until it ends, such as a poller."""


def build(settings: Settings, background: Background | None = None) -> Guard:
    """The service as an ASGI application; it begins to work when a server starts it."""
    return Guard(with_routes(partial(running, settings, background)), settings)


@asynccontextmanager
async def running(
    settings: Settings, background: Background | None, app: FastAPI
) -> AsyncIterator[None]:
    """Run all parts of the service."""
    registry = SeriesRegistry(settings, settings.data)
    jobs, webhooks = Jobs(registry, settings.limits.jobs), Webhooks(registry, settings.webhooks)
    app.state.registry, app.state.jobs = registry, jobs
    app.state.measures.watch(registry)
    registry.start()
    beside: asyncio.Task[None] | None = None
    try:
        await jobs.start()
        await registry.warm_up()
        webhooks.start()
        if settings.model is not None:
            await registry.enter_folder(settings.model)
        if background is not None:
            beside = asyncio.create_task(background(registry, app.state.measures))
        yield
    finally:
        if beside is not None:
            beside.cancel()
            with suppress(asyncio.CancelledError):
                await beside
        await webhooks.stop()
        await jobs.stop()
        await registry.stop()


TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Needed where the service has a file of tokens: a token for reading for GET, "
    "one for writing for all else.",
}


def with_routes(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]]) -> FastAPI:
    """The application with all HTTP routes and the page."""
    app = FastAPI(
        title="subadjacent",
        version=subadjacent.__version__,
        summary="Rows in, alarms out: anomalies in multivariate time series, while they happen.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    for part in (series, alarms, models, events, health):
        app.include_router(part.router)
    add_problems(app)
    # modules and styles of the page, and the charts that it shares with the report
    page = StaticFiles(packages=[("subadjacent.service", "page"), ("subadjacent.report", "charts")])
    app.mount("/page", page)
    index, _ = page.lookup_path("index.html")
    app.add_route("/", lambda _: FileResponse(index), include_in_schema=False)
    _describe_tokens(app)
    app.state.measures = Measures()
    return app


def _describe_tokens(app: FastAPI) -> None:
    """Add tokens to the API description: the guard requires them, not a route."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        schema = plain()
        schema["components"]["securitySchemes"] = {"token": TOKEN}
        # none, or one: a service on this machine may have no tokens
        schema["security"] = [{}, {"token": []}]
        return schema

    app.openapi = described  # type: ignore[method-assign]
