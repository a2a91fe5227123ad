"""What clients talk to: it answers as a lone service would, and asks the replicas.

What is of one series goes to the replica that has it. What has a number is asked of all: whoever
knows it answers. What spans series is asked of all and put together. The rest, such as the page,
is answered here. While the number of replicas changes, requests wait.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

from fastapi import FastAPI, Request
from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from subadjacent.service.problems import Refusal
from subadjacent.service.replicas import merging
from subadjacent.service.replicas.asking import Asked, Told
from subadjacent.service.replicas.group import Group

log = logging.getLogger(__name__)

OF_SERIES = re.compile(r"(/api/series/)([^/]+)(/rows|/history|/mute|/model)?")
OF_NUMBER = re.compile(r"(/api/alarms/|/api/jobs/)([^/]+)(/acknowledge|/normal)?")
NAMED = {"/api/models": "name", "/api/score": "model"}
"""Posts that go where the series of this name goes: a fit makes a series of its model's name."""

ALARMS, METRICS, EVENTS = "/api/alarms", "/metrics", "/api/events"
SPANNING = {
    "/api/series": merging.all_series,
    ALARMS: merging.all_alarms,
    "/api/models": merging.all_models,
    "/ready": merging.all_ready,
}

Way = Callable[[Asked], Awaitable[Told]]


class Ingress:
    """An ASGI application in front of a group of replicas; ``app`` answers the rest."""

    def __init__(self, app: FastAPI, group: Group) -> None:
        self._app, self._group = app, group
        self._listening: set[asyncio.Future[None]] = set()
        self._asking = 0
        self._none_asks, self._may_ask = asyncio.Event(), asyncio.Event()
        self._one_scales = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._group)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as ASGI has it."""
        if scope["type"] == "http" and scope["path"] == EVENTS and scope["method"] == "GET":
            scope["route_path"] = EVENTS
            async with self._at_work():
                await self._listen(Asked.of(scope), receive, send)
        elif scope["type"] == "http" and (way := self._way(scope)) is not None:
            asked = Asked.of(scope, await Request(scope, receive).body())
            async with self._at_work():
                told = await way(asked)
            await _begin(told, send)
            await send({"type": "http.response.body", "body": told.body})
        else:
            await self._app(scope, receive, send)

    async def start(self, count: int) -> None:
        """Have so many replicas, and let requests come."""
        await self._group.start(count)
        self._may_ask.set()

    async def end(self) -> None:
        """End all replicas."""
        await self._rest()
        await self._group.end()

    async def scale(self, count: int) -> None:
        """Have so many replicas instead; what was asked is answered first, and the rest waits."""
        async with self._one_scales:
            before = len(self._group)
            await self._rest()
            await self._group.end()
            try:
                await self._group.start(count)
            except Exception as error:
                log.exception("replicas could not be started")
                await self._group.end()
                await self._group.start(before)
                raise Refusal(
                    503,
                    f"{count} replicas could not be started ({error}); there are {before} still",
                ) from error
            finally:
                self._may_ask.set()

    def let_go(self) -> None:
        """Those who listen would never end by themselves."""
        for one in self._listening:
            if not one.done():
                one.set_result(None)

    async def _rest(self) -> None:
        """Ask nothing more of replicas, once what was asked is answered."""
        self._may_ask.clear()
        self.let_go()
        while self._asking:
            self._none_asks.clear()
            await self._none_asks.wait()

    @asynccontextmanager
    async def _at_work(self) -> AsyncIterator[None]:
        while not self._may_ask.is_set():
            await self._may_ask.wait()
        if not len(self._group):
            raise Refusal(503, "no replica is at work; the log says why")
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._none_asks.set()

    def _way(self, scope: Scope) -> Way | None:
        """How a request is answered by replicas; None where they need not be asked."""
        method, path = scope["method"], scope["path"]
        if (found := OF_SERIES.fullmatch(path)) is not None:
            scope["route_path"] = f"{found[1]}{{name}}{found[3] or ''}"
            return partial(self._ask_owner, found[2])
        if (found := OF_NUMBER.fullmatch(path)) is not None:
            scope["route_path"] = f"{found[1]}{{key}}{found[3] or ''}"
            return self._ask_who_knows
        if method == "POST" and path in NAMED:
            scope["route_path"] = path
            return partial(self._ask_owner, _said(scope, NAMED[path]) or "")
        if method == "GET" and path == ALARMS and (series := _said(scope, "series")) is not None:
            scope["route_path"] = path
            return partial(self._ask_owner, series)
        if method == "GET" and (path in SPANNING or path == METRICS):
            scope["route_path"] = path
            return self._ask_all
        return None

    async def _ask_owner(self, series: str, asked: Asked) -> Told:
        return await self._group.ask(self._group.owner(series), asked)

    async def _ask_who_knows(self, asked: Asked) -> Told:
        told = await self._group.ask_all(asked)
        return next((one for one in told if one.status != 404), told[0])

    async def _ask_all(self, asked: Asked) -> Told:
        told = await self._group.ask_all(asked)
        for one in told:
            if one.status != 200:
                return one
        if asked.path == METRICS:
            own = self._app.state.measures.text()
            body = merging.metrics(own, told, len(self._listening))
        else:
            body = SPANNING[asked.path](asked, told)
        kept = [(name, value) for name, value in told[0].headers if name != b"content-length"]
        return Told(200, [*kept, (b"content-length", str(len(body)).encode())], body)

    async def _listen(self, asked: Asked, receive: Receive, send: Send) -> None:
        """Pass on events of replicas until the client goes, or one of them lets it go."""
        group, series = self._group, QueryParams(asked.query).get("series")
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listening.add(over)
        opened: list[tuple[int, Told, int]] = []
        tasks: list[asyncio.Future[None]] = [over]
        try:
            for replica in range(len(group)) if series is None else [group.owner(series)]:
                # one by one: where one fails, those before it are closed
                opened.append((replica, *await group.open(replica, asked)))  # noqa: PERF401
            # one that refuses speaks for all
            heard = [one for one in opened if one[1].status != 200][:1] or opened
            await _begin(heard[0][1], send)
            tasks.append(asyncio.ensure_future(_until_gone(receive)))
            for replica, _, key in heard:
                tasks.append(asyncio.ensure_future(self._pass_on(replica, key, send)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._listening.discard(over)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for replica, _, key in opened:
                with suppress(Refusal):
                    await group.close(replica, key)
        await send({"type": "http.response.body", "body": b""})

    async def _pass_on(self, replica: int, key: int, send: Send) -> None:
        with suppress(Refusal):
            while (part := await self._group.more(replica, key)) is not None:
                await send({"type": "http.response.body", "body": part, "more_body": True})


def _said(scope: Scope, name: str) -> str | None:
    return QueryParams(scope["query_string"]).get(name)


async def _begin(told: Told, send: Send) -> None:
    await send(
        {"type": "http.response.start", "status": told.status, "headers": list(told.headers)}
    )


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
