"""The ingress and its replicas put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from subadjacent.service.app import with_routes
from subadjacent.service.guard import Guard
from subadjacent.service.replicas.group import Group
from subadjacent.service.replicas.ingress import Ingress
from subadjacent.service.replicas.routes import router
from subadjacent.service.settings import Settings
from subadjacent.service.tokens import TokenFile


def build_group(settings: Settings) -> Guard:
    """Several replicas as one ASGI application; within ``connected``."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            await ingress.start(settings.replicas)
            yield
        finally:
            await ingress.end()

    app = with_routes(lifespan)
    app.include_router(router)
    ingress = app.state.ingress = Ingress(app, Group(settings))
    tokens = TokenFile(settings.token_file)
    guard = Guard(ingress, settings, tokens, app.state.measures.request)
    guard.ending.append(ingress.let_go)
    return guard
