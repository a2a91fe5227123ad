"""One of several services: it has the series that belong to it, a folder of its own, and no port.

It lives in a process of its own, an actor of Ray's, and is asked by the ingress. When its process
dies, Ray starts another, which goes on from the folder.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from typing import Any

from subadjacent.service.app import running, with_routes
from subadjacent.service.replicas.asking import Asked, Conversation, Told
from subadjacent.service.replicas.placing import alone_in, home
from subadjacent.service.settings import Settings
from subadjacent.service.shortcut import Shortcut

TRIES = 100
"""To tell another replica of a model, a tenth of a second apart: it may be starting anew."""


class Replica:
    """What the ingress asks; ``name`` is that of the group, and ``number`` its own in it."""

    def __init__(self, settings: Settings, name: str, number: int, count: int) -> None:
        place = home(settings.data, number)
        self._settings = settings.model_copy(update={"data": place})
        self._name, self._number, self._count = name, number, count
        self._open: dict[int, Conversation] = {}
        self._opened = 0
        self._work: asyncio.Task[AsyncExitStack] | None = None

    async def begin(self) -> None:
        """Be at work; whoever asks first has it so."""
        if self._work is None or (self._work.done() and self._work.exception()):
            self._work = asyncio.create_task(self._begin())
        await asyncio.shield(self._work)

    async def _begin(self) -> AsyncExitStack:
        async with AsyncExitStack() as stack:
            # one that was started anew waits for the end of the one before it
            lock = alone_in(self._settings.data)
            await asyncio.to_thread(stack.enter_context, lock)
            self._app = with_routes(lambda _: nullcontext())
            work = running(self._settings, self._app, self._number, self._share)
            await stack.enter_async_context(work)
            return stack.pop_all()

    async def end(self) -> None:
        """Keep the state of every stream, and do no more."""
        for key in tuple(self._open):
            await self.close(key)
        if self._work is not None:
            await (await self._work).aclose()

    async def ask(self, asked: Asked) -> Told:
        """Answer a request."""
        await self.begin()
        return await Conversation(Shortcut(self._app), asked).whole()

    async def open(self, asked: Asked) -> tuple[Told, int]:
        """Begin to answer a request whose answer goes on and on; a key to hear more."""
        await self.begin()
        self._opened += 1
        conversation = self._open[self._opened] = Conversation(Shortcut(self._app), asked)
        return await conversation.begin(), self._opened

    async def more(self, key: int) -> bytes | None:
        """What there is to hear now, once there is something; None in the end."""
        conversation = self._open.get(key)
        return None if conversation is None else await conversation.more()

    async def close(self, key: int) -> None:
        """Nobody listens any more."""
        if (conversation := self._open.pop(key, None)) is not None:
            await conversation.end()

    async def enter(self, name: str, folder: Path, rows: int) -> None:
        """Take a model that another replica has fitted."""
        await self.begin()
        await self._app.state.hub.enter_model(name, folder, rows)

    async def _share(self, name: str, folder: Path, rows: int) -> None:
        """Tell the others of a model that was fitted here, and wait until they have it."""
        import ray
        from ray.exceptions import RayActorError

        async def tell(number: int) -> None:
            for left in reversed(range(TRIES)):
                try:
                    other: Any = ray.get_actor(actor_name(self._name, number))
                    await other.enter.remote(name, folder, rows)
                    return
                except RayActorError:
                    if not left:
                        raise
                    await asyncio.sleep(0.1)

        await asyncio.gather(*(tell(one) for one in range(self._count) if one != self._number))


def actor_name(group: str, number: int) -> str:
    """How Ray knows a replica."""
    return f"{group}-replica-{number}"
