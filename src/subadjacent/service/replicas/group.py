"""All replicas, as actors of a Ray cluster: started, asked and ended.

Actors and not deployments of Ray Serve: a replica has a number and a folder that are its own,
whichever process it lives in, and must not outlive the process that started it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any

from subadjacent.service.problems import Refusal
from subadjacent.service.replicas.asking import Asked, Told
from subadjacent.service.replicas.handover import hand_over
from subadjacent.service.replicas.placing import owner
from subadjacent.service.replicas.replica import Replica, actor_name
from subadjacent.service.settings import Settings

AT_ONCE = 10_000
"""Requests that a replica may have at a time: its queue has bounds of its own."""

WAKE_EVERY = 1.0
"""Seconds from one look at all replicas to the next."""


class Group:
    """The replicas that work now; within ``connected``."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._actors: list[Any] = []
        self._waking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._actors)

    async def start(self, count: int) -> None:
        """Have so many at work, each with the series that belong to it."""
        import ray

        await asyncio.to_thread(hand_over, self._settings.data, count)
        group = f"subadjacent-{secrets.token_hex(8)}"
        kind: Any = ray.remote(Replica)
        self._actors = [
            kind.options(
                name=actor_name(group, number),
                # it waits more than it works, and its process that scores is not Ray's
                num_cpus=0,
                max_restarts=-1,
                max_concurrency=AT_ONCE,
            ).remote(self._settings, group, number, count)
            for number in range(count)
        ]
        await asyncio.gather(*(self._call(number, "begin") for number in range(count)))
        self._waking = asyncio.create_task(self._wake())

    async def end(self) -> None:
        """End all; those that are dead have nothing to keep."""
        import ray

        if self._waking is not None:
            self._waking.cancel()
        await self._call_all("end")
        actors, self._actors = self._actors, []
        for actor in actors:
            ray.kill(actor)

    async def _wake(self) -> None:
        """Have those work that were started anew, also where nobody asks: webhooks may wait."""
        while True:
            await asyncio.sleep(WAKE_EVERY)
            await self._call_all("begin")

    async def _call_all(self, method: str) -> None:
        """Call a method of all that are not dead."""
        calls = (self._call(replica, method) for replica in range(len(self)))
        await asyncio.gather(*calls, return_exceptions=True)

    def owner(self, series: str) -> int:
        """The replica of a series."""
        return owner(series, len(self))

    async def ask(self, replica: int, asked: Asked) -> Told:
        """The answer of one."""
        told: Told = await self._call(replica, "ask", asked)
        return told

    async def ask_all(self, asked: Asked) -> Sequence[Told]:
        """The answers of all, in their order."""
        return await asyncio.gather(*(self.ask(replica, asked) for replica in range(len(self))))

    async def open(self, replica: int, asked: Asked) -> tuple[Told, int]:
        """The beginning of an answer that goes on, and the key for ``more``."""
        found: tuple[Told, int] = await self._call(replica, "open", asked)
        return found

    async def more(self, replica: int, key: int) -> bytes | None:
        """The next bytes of it."""
        found: bytes | None = await self._call(replica, "more", key)
        return found

    async def close(self, replica: int, key: int) -> None:
        """Hear no more."""
        await self._call(replica, "close", key)

    async def _call(self, replica: int, method: str, *words: Any) -> Any:
        from ray.exceptions import RayActorError, RayTaskError

        try:
            return await getattr(self._actors[replica], method).remote(*words)
        except RayActorError as error:
            raise Refusal(
                503, f"replica {replica} has ended, and is started anew: send this again"
            ) from error
        except RayTaskError as error:
            raise error.cause from error
