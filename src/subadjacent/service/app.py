"""The application: routes, guard and hub put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI

import subadjacent
from subadjacent.service.answers import add_problems
from subadjacent.service.demo import play
from subadjacent.service.guard import Guard
from subadjacent.service.hub import Hub
from subadjacent.service.jobs import Jobs
from subadjacent.service.metrics import Measures
from subadjacent.service.pagefiles import add_page
from subadjacent.service.retention import Sweeper
from subadjacent.service.routes import alarms, events, health, models, series
from subadjacent.service.settings import Settings
from subadjacent.service.shortcut import Shortcut
from subadjacent.service.tokens import TokenFile
from subadjacent.service.webhooks import Webhooks


def build(settings: Settings) -> Guard:
    """The service as an ASGI application; it begins to work when a server starts it."""
    app = with_routes(partial(running, settings))
    tokens, measures = TokenFile(settings.token_file), app.state.measures
    guard = Guard(Shortcut(app), settings, tokens, measures.request)
    # those who listen would never end by themselves
    guard.ending.append(lambda: app.state.hub.listeners.close())
    return guard


@asynccontextmanager
async def running(settings: Settings, app: FastAPI) -> AsyncIterator[None]:
    """Have the application at work."""
    hub = Hub(settings, settings.data)
    hub.chores.append(Sweeper(hub))
    jobs, webhooks = Jobs(hub, settings.limits.jobs), Webhooks(hub, settings.webhooks)
    app.state.hub, app.state.jobs = hub, jobs
    app.state.measures.watch(hub)
    hub.start()
    played: asyncio.Task[None] | None = None
    try:
        await jobs.start()
        await hub.warm()
        webhooks.start()
        if settings.model is not None:
            await hub.enter_folder(settings.model)
        if settings.demo:
            played = asyncio.create_task(play(hub))
        yield
    finally:
        if played is not None:
            played.cancel()
        await webhooks.stop()
        await jobs.stop()
        await hub.stop()


TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Where the service has a file of tokens: one for reading, for all but GET one "
    "for writing.",
}


def with_routes(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]]) -> FastAPI:
    """All that can be asked, and the page."""
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
    add_page(app)
    _describe_tokens(app)
    app.state.measures = Measures()
    return app


def _describe_tokens(app: FastAPI) -> None:
    """Say in the description that there may be tokens: the guard asks for them, not a route."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        schema = plain()
        schema["components"]["securitySchemes"] = {"token": TOKEN}
        # none, or one: a service on this machine may have no tokens
        schema["security"] = [{}, {"token": []}]
        return schema

    app.openapi = described  # type: ignore[method-assign]
