"""How the service bears a load: many series that push a row a second, each over its own connection.

    python benchmarks/service_load.py                       # 1,000 series x 5 channels, 60 s
    python benchmarks/service_load.py --kill                # the same, killed and started halfway

Latency is counted from the moment when a row was due, so that a service that stalls is blamed for
every row that it held up. In the end every series is asked how many rows it has: what was
acknowledged must be there. With ``--kill`` the process is ended by SIGKILL in the middle and
started again; clients send again what was not acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

TRIES = 600
"""Of one row, a tenth of a second apart: a service that was killed is back long before."""

SETTLED = 5
"""Rows of a series after which it is no newcomer: all of them come in the first second here."""


@dataclass
class Found:
    """What clients saw."""

    seconds: list[float] = field(default_factory=list)
    # of rows of series that are a while old
    later: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    again: int = 0


class Service:
    """The real process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.address = folder, "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        words = ("serve", "--data", str(self.folder), "--listen", self.address)
        command = [sys.executable, "-m", "subadjacent.cli.start", *words]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        match = re.search(r"http://(127\.0\.0\.1:(\d+))", line)
        assert match, line
        self.address, self.port = match[1], int(match[2])
        # it is answered once the service works
        urllib.request.urlopen(f"http://{self.address}/ready").close()

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.process.kill()
        self.process.communicate()

    def cpu_seconds(self) -> float:
        """Of the process that answers and writes; not of the one that scores."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """The most memory that it had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        match = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(match[1]) / 1024 if match else 0.0

    def end(self) -> None:
        """End it as an operator does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()


class Client:
    """One series with a connection of its own."""

    def __init__(self, service: Service, number: int, channels: int) -> None:
        self.service, self.name = service, f"series-{number:04d}"
        self.names = [f"channel_{n}" for n in range(channels)]
        self.values = np.random.default_rng(number)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def push(self) -> int:
        """Push the row; the status of the answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.service.port)
        reader, writer = self.streams
        writer.write(self.request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length
        self.body = await reader.readexactly(int(length[1]))
        return int(head[9:12])

    def prepare(self, moment: int) -> None:
        """Write the request of a row."""
        wave = np.sin(moment / np.arange(3, 3 + len(self.names)))
        values = (wave + 0.1 * self.values.standard_normal(len(self.names))).round(4).tolist()
        row = {"time": moment, **dict(zip(self.names, values, strict=True))}
        body = json.dumps({"rows": [row]}).encode()
        head = (
            f"POST /api/series/{self.name}/rows HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.request = head.encode() + body

    async def run(self, found: Found, begin: float, phase: float, rows: int) -> None:
        """Push a row a second."""
        for moment in range(rows):
            due = begin + phase + moment
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            self.prepare(moment)
            await self._until_taken(found)
            waited = time.perf_counter() - due
            found.seconds.append(waited)
            if moment >= SETTLED:
                found.later.append(waited)
        self.close()

    def close(self) -> None:
        """End the connection, if there is one."""
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None

    async def _until_taken(self, found: Found) -> None:
        for _ in range(TRIES):
            try:
                status = await self.push()
            except (OSError, asyncio.IncompleteReadError):
                self.close()
                found.again += 1
                await asyncio.sleep(0.1)
                continue
            if status != 200:
                found.errors.append(self.body.decode())
            return
        found.errors.append("no answer")


async def load(service: Service, series: int, channels: int, rows: int, *, kill: bool) -> Found:
    """Push rows of all series, spread over each second."""
    found = Found()
    clients = [Client(service, number, channels) for number in range(series)]
    begin = time.perf_counter() + 1
    work = [
        client.run(found, begin, number / series, rows) for number, client in enumerate(clients)
    ]

    async def killer() -> None:
        await asyncio.sleep(1 + rows / 2)
        service.kill()
        await asyncio.to_thread(service.start)

    await asyncio.gather(*work, *([killer()] if kill else []))
    return found


async def kept(service: Service) -> dict[str, int]:
    """How many rows each series has."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port, limit=1 << 26)
    writer.write(b"GET /api/series HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    answer = await reader.read(-1)
    writer.close()
    return {
        one["name"]: one["rows"] for one in json.loads(answer.partition(b"\r\n\r\n")[2])["series"]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--series", type=int, default=1_000)
    parser.add_argument("--channels", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--kill", action="store_true", help="kill and start again halfway")
    parser.add_argument("--output", type=Path, help="Markdown file to write")
    options = parser.parse_args()
    # what else the machine does is part of the result
    others = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="subadjacent-load-") as folder:
        service = Service(Path(folder))
        try:
            found = asyncio.run(
                load(service, options.series, options.channels, options.seconds, kill=options.kill)
            )
            rows = asyncio.run(kept(service))
            cpu, memory = service.cpu_seconds(), service.megabytes()
        finally:
            service.end()
    wanted = options.series * options.seconds
    lost = wanted - sum(rows.values())
    p50, p99, worst = np.quantile(found.seconds, [0.5, 0.99, 1.0]) * 1_000
    later = float(np.quantile(found.later or [np.nan], 0.99)) * 1_000
    text = f"""# The service under load

{options.series:,} series x {options.channels} channels, a row a second each over its own
connection, {options.seconds} s{", killed by SIGKILL and started again halfway" * options.kill};
{os.cpu_count()} cores of {platform.machine()}, clients on the same machine. Before it began,
{others:.1f} processes of others wanted these cores (load average of a minute).

| | |
|---|--:|
| rows sent | {wanted:,} |
| errors | {len(found.errors)} |
| lost | {lost} |
| sent again | {found.again} |
| p50, ms | {p50:.1f} |
| p99, ms | {p99:.1f} |
| p99 of rows after the first {SETTLED} of each series, ms | {later:.1f} |
| worst, ms | {worst:.1f} |
| processor seconds of the service | {cpu:.1f} |
| memory of the service, MB | {memory:.0f} |
"""
    print(text)
    for error in found.errors[:5]:
        print("error:", error)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
