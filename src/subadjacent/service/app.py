"""The application: routes, guard and hub put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

import subadjacent
from subadjacent.service.answers import add_problems
from subadjacent.service.guard import Guard
from subadjacent.service.hub import Hub
from subadjacent.service.pagefiles import add_page
from subadjacent.service.routes import alarms, events, health, series
from subadjacent.service.settings import Settings
from subadjacent.service.tokens import read_tokens


def build(settings: Settings) -> ASGIApp:
    """The service as an ASGI application; it begins to work when a server starts it."""
    tokens = read_tokens(settings.token_file)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        hub = Hub(settings, settings.data)
        app.state.hub = hub
        hub.start()
        try:
            yield
        finally:
            await hub.stop()

    app = FastAPI(
        title="subadjacent",
        version=subadjacent.__version__,
        summary="Rows in, alarms out: anomalies in multivariate time series, while they happen.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    for part in (series, alarms, events, health):
        app.include_router(part.router)
    add_problems(app)
    add_page(app)
    return Guard(app, settings, tokens, lambda *_: None)
