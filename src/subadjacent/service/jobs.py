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
import sqlite3
import sys
import time as clock
from contextlib import suppress
from pathlib import Path
from typing import Any

from subadjacent.service.body_limits import MAX_FITTED_ROWS, max_columns
from subadjacent.service.events import LiveEvent
from subadjacent.service.problems import Refusal, not_found, refusal_of
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.request_body import read_table
from subadjacent.service.schemas import JobRecord
from subadjacent.service.writer import Changes

log = logging.getLogger(__name__)

PUSHED_AT_ONCE = 250
"""Rows of a file scored in one call, while other requests wait."""

MAX_LISTED_JOBS = 50
"""Jobs in the list."""


class Jobs:
    """The fit jobs of the service; used in the event loop only."""

    def __init__(self, registry: SeriesRegistry, most: int) -> None:
        self._registry, self._most = registry, most
        self._jobs: dict[int, JobRecord] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        self.folder = registry.folder / "uploads"
        # files left behind by a service that was killed
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    async def start(self) -> None:
        """Load earlier jobs from the tables."""

        def work(changes: Changes) -> list[sqlite3.Row]:
            changes.tables.execute(
                "update jobs set state = 'failed', "
                "error = 'the service stopped during this fit: send the file again' "
                "where state = 'running'"
            )
            return changes.tables.execute(
                "select id, name, state, step, done, total, error, "
                "iif(state = 'done', name, null) as model from jobs order by id desc limit ?",
                (MAX_LISTED_JOBS,),
            ).fetchall()

        for row in reversed(await self._registry.writer.do(work)):
            self._jobs[row["id"]] = JobRecord.model_validate(dict(row))

    async def stop(self) -> None:
        """Cancel the fits, and delete their files."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def records(self) -> list[dict[str, Any]]:
        """All jobs as JSON, the newest first."""
        return [job.model_dump() for job in reversed(self._jobs.values())]

    def find(self, key: int) -> dict[str, Any]:
        """The job with this key as JSON; refuses an unknown key."""
        if (job := self._jobs.get(key)) is None:
            raise not_found("job", key)
        return job.model_dump()

    def check_room(self) -> None:
        """Refuse another fit if too many are waiting or running."""
        running = sum(job.state == "running" for job in self._jobs.values())
        if running >= self._most:
            raise Refusal(
                429, f"{running} fits are already waiting or running: send this one later"
            )

    async def add(self, name: str, file: Path, share: float) -> int:
        """Queue a fit on a file, which is deleted afterwards; return the key of the job."""
        self.check_room()

        def work(changes: Changes) -> int:
            (key,) = changes.tables.execute(
                "insert into jobs (name, state, started_at) values (?, 'running', ?) returning id",
                (name, clock.time()),
            ).fetchone()
            return int(key)

        job = JobRecord(id=await self._registry.writer.do(work), name=name)
        self._jobs[job.id] = job
        for old in list(self._jobs)[:-MAX_LISTED_JOBS]:
            if self._jobs[old].state != "running":
                del self._jobs[old]
        self._publish(job)
        task = asyncio.create_task(self._run(job, file, share))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job.id

    async def _run(self, job: JobRecord, file: Path, share: float) -> None:
        try:
            async with self._one_at_a_time:
                await self._fit_and_push(job, file, share)
            ended = job.model_copy(update={"state": "done", "model": job.name})
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status == 500:
                log.exception("a fit failed")
            ended = job.model_copy(update={"state": "failed", "error": str(refusal)})
        finally:
            file.unlink(missing_ok=True)
        await self._keep(ended)

    async def _fit_and_push(self, job: JobRecord, file: Path, share: float) -> None:
        folder = self.folder / f"model-{job.id}"
        rows = await self._fit(job, file, folder, share)
        await self._registry.enter_model(job.name, folder, rows)
        shutil.rmtree(folder, ignore_errors=True)
        # score the file's rows as a series of the model's name
        if job.name in self._registry.series:
            return
        batch = await asyncio.to_thread(read_table, file, max_rows=MAX_FITTED_ROWS)
        for start in range(0, len(batch), PUSHED_AT_ONCE):
            some = batch.part(slice(start, start + PUSHED_AT_ONCE))
            await self._registry.push(job.name, some, patient=True)
            self._progress(job, step="scoring", done=start + len(some), total=len(batch))

    async def _fit(self, job: JobRecord, file: Path, folder: Path, share: float) -> int:
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
                    self._progress(job, **message)
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

    def _progress(self, job: JobRecord, *, step: str, done: int = 0, total: int = 0) -> None:
        job.step, job.done, job.total = step, done, total
        self._publish(job)

    async def _keep(self, job: JobRecord) -> None:
        """Write the end of a job to the table, and publish it."""

        def work(changes: Changes) -> None:
            changes.tables.execute(
                "update jobs set state = ?, step = ?, done = ?, total = ?, error = ? where id = ?",
                (job.state, job.step, job.done, job.total, job.error, job.id),
            )

        with suppress(Refusal):
            # on a full disk it is known until the service ends
            await self._registry.writer.do(work)
        self._jobs[job.id] = job
        self._publish(job)

    def _publish(self, job: JobRecord) -> None:
        self._registry.listeners.publish([LiveEvent("job", job.name, job.model_dump)])


def _ended(code: int | None) -> str:
    """The error message of a fit that ended without a result."""
    if code == -signal.SIGKILL:
        return "the fit was killed, probably for lack of memory: send fewer rows or columns"
    return f"the fit crashed with exit code {code}: see the service's log"
