"""Background fits, one at a time, each in its own process.

A job that is running when the service stops is marked as failed, and its file deleted. Each job
fits a model, registers it, and pushes the rows of the file as a series of that name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import signal
import sys
import time as clock
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.service.body_limits import MAX_FITTED_ROWS, max_columns
from subadjacent.service.events import LiveEvent
from subadjacent.service.problems import Refusal, not_found, refusal_of
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.request_body import read_table
from subadjacent.service.writer import Changes

log = logging.getLogger(__name__)

PUSHED_AT_ONCE = 250
"""Rows of a file scored in one call, while other requests wait."""

MAX_LISTED_JOBS = 50
"""Jobs in the list."""


@dataclass(frozen=True, slots=True)
class FitJob:
    """A fit and its progress."""

    id: int
    name: str
    state: str = "running"
    step: str = "waiting"
    done: int = 0
    total: int = 0
    error: str | None = None

    def record(self) -> dict[str, Any]:
        """The job as JSON for clients."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "step": self.step,
            "done": self.done,
            "total": self.total,
            "error": self.error,
            "model": self.name if self.state == "done" else None,
        }


class Jobs:
    """The fit jobs of the service; used in the event loop only."""

    def __init__(self, registry: SeriesRegistry, most: int) -> None:
        self._registry, self._most = registry, most
        self._jobs: dict[int, FitJob] = {}
        self._files: dict[int, tuple[Path, float]] = {}
        self._waiting: deque[int] = deque()
        self._wake = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None
        self.folder = registry.folder / "uploads"
        # files left behind by a service that was killed
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    async def start(self) -> None:
        """Load earlier jobs from the tables, then start running queued ones."""

        def work(changes: Changes) -> list[tuple[Any, ...]]:
            changes.tables.execute(
                "update jobs set state = 'failed', "
                "error = 'the service stopped during this fit: send the file again' "
                "where state = 'running'"
            )
            return changes.tables.execute(
                "select id, name, state, step, done, total, error from jobs "
                "order by id desc limit ?",
                (MAX_LISTED_JOBS,),
            ).fetchall()

        for row in reversed(await self._registry.writer.do(work)):
            self._jobs[row[0]] = FitJob(*row)
        self._runner = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Cancel the running fit, and delete its files."""
        if self._runner is not None:
            self._runner.cancel()
            with suppress(asyncio.CancelledError):
                await self._runner
        shutil.rmtree(self.folder, ignore_errors=True)

    def records(self) -> list[dict[str, Any]]:
        """All jobs as JSON, the newest first."""
        return [job.record() for job in reversed(self._jobs.values())]

    def find(self, key: int) -> FitJob:
        """The job with this key; refuses an unknown key."""
        if (job := self._jobs.get(key)) is None:
            raise not_found("job", key)
        return job

    def check_room(self) -> None:
        """Refuse another fit if too many are waiting or running."""
        running = sum(job.state == "running" for job in self._jobs.values())
        if running >= self._most:
            raise Refusal(
                429, f"{running} fits are already waiting or running: send this one later"
            )

    async def add(self, name: str, file: Path, share: float) -> FitJob:
        """Queue a fit on a file, which is deleted afterwards."""
        self.check_room()

        def work(changes: Changes) -> int:
            (key,) = changes.tables.execute(
                "insert into jobs (name, state, started_at) values (?, 'running', ?) returning id",
                (name, clock.time()),
            ).fetchone()
            return int(key)

        job = FitJob(await self._registry.writer.do(work), name)
        self._jobs[job.id] = job
        for old in list(self._jobs)[:-MAX_LISTED_JOBS]:
            if self._jobs[old].state != "running":
                del self._jobs[old]
        self._files[job.id] = (file, share)
        self._waiting.append(job.id)
        self._wake.set()
        self._publish(job)
        return job

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                key = self._waiting.popleft()
                file, share = self._files.pop(key)
                try:
                    await self._run_job(key, file, share)
                    await self._end(key, "done", None)
                except Exception as error:
                    refusal = refusal_of(error)
                    if refusal.status == 500:
                        log.exception("a fit failed")
                    await self._end(key, "failed", str(refusal))
                finally:
                    file.unlink(missing_ok=True)

    async def _run_job(self, key: int, file: Path, share: float) -> None:
        name = self._jobs[key].name
        folder = self.folder / f"model-{key}"
        rows = await self._fit(key, file, folder, share)
        await self._registry.enter_model(name, folder, rows)
        shutil.rmtree(folder, ignore_errors=True)
        await self._push(key, name, file)

    async def _fit(self, key: int, file: Path, folder: Path, share: float) -> int:
        columns = max_columns(self._registry.settings.limits.channels)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "subadjacent.service.fitting"),
            *(str(file), str(folder), str(share), str(columns)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        message: dict[str, Any] = {}
        try:
            async for line in process.stdout:
                message = json.loads(line)
                if "step" in message:
                    self._progress(key, **message)
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if "error" in message:
            raise Refusal(422, message["error"])
        if "rows" not in message:
            raise Refusal(422, _ended(process.returncode))
        return int(message["rows"])

    async def _push(self, key: int, name: str, file: Path) -> None:
        """Score the file's rows as a series of the model's name, unless it exists."""
        if name in self._registry.series:
            return
        batch = await asyncio.to_thread(read_table, file, max_rows=MAX_FITTED_ROWS)
        for start in range(0, len(batch), PUSHED_AT_ONCE):
            part = slice(start, start + PUSHED_AT_ONCE)
            times = None if batch.times is None else batch.times[part]
            some = replace(batch, values=np.array(batch.values[part]), times=times)
            await self._registry.push(name, some, patient=True)
            self._progress(key, step="scoring", done=start + len(some), total=len(batch))

    def _progress(self, key: int, *, step: str, done: int = 0, total: int = 0) -> None:
        self._jobs[key] = replace(self._jobs[key], step=step, done=done, total=total)
        self._publish(self._jobs[key])

    async def _end(self, key: int, state: str, error: str | None) -> None:
        job = replace(self._jobs[key], state=state, error=error)

        def work(changes: Changes) -> None:
            changes.tables.execute(
                "update jobs set state = ?, step = ?, done = ?, total = ?, error = ? where id = ?",
                (job.state, job.step, job.done, job.total, job.error, job.id),
            )

        with suppress(Refusal):
            # on a full disk it is known until the service ends
            await self._registry.writer.do(work)
        self._jobs[key] = job
        self._publish(job)

    def _publish(self, job: FitJob) -> None:
        self._registry.publish([LiveEvent("job", job.name, job.record)])


def _ended(code: int | None) -> str:
    """The error message of a fit that ended without a result."""
    if code == -signal.SIGKILL:
        return "the fit was killed, probably for lack of memory: send fewer rows or columns"
    return f"the fit crashed with exit code {code}: see the service's log"
