"""A real HTTP server on this machine, well-behaved or not."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Behaviour:
    """What the server has, and how it treats those who ask.

    ``cut`` is how many bytes of an answer are sent before the connection is dropped; ``cuts``
    how often that happens, for ever when left out. Where ``stalls`` is set, nothing more comes
    then, but the connection stays open. After ``healthy_for`` questions, all are answered with
    503; ``shift`` makes an answer begin that many bytes too late. ``length`` is what the header
    says instead of the length; where it is empty, there is no such header.
    """

    files: dict[str, bytes]
    ranges: bool = True
    cut: int | None = None
    cuts: int | None = None
    marks: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    refuse_with: list[int] = field(default_factory=list)
    healthy_for: int | None = None
    stalls: threading.Event | None = None
    shift: int = 0
    length: str | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        how = self.server.how
        wanted = self.headers.get("Range")
        how.asked.append((self.path, wanted))
        if how.healthy_for is not None and len(how.asked) > how.healthy_for:
            self.send_error(503)
            return
        if how.refuse_with:
            self.send_error(how.refuse_with.pop(0))
            return
        if self.path in how.redirects:
            self.send_response(302)
            self.send_header("Location", how.redirects[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path not in how.files:
            self.send_error(404)
            return
        self._send(how, how.files[self.path], wanted)

    def _send(self, how: Behaviour, whole: bytes, wanted: str | None) -> None:
        mark = f'"{hashlib.md5(whole).hexdigest()}"'
        start = 0
        if how.ranges and wanted and self.headers.get("If-Range", mark) == mark:
            found = re.fullmatch(r"bytes=(\d+)-", wanted)
            assert found
            start = int(found[1])
            if start >= len(whole):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(whole)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        if start:
            start += how.shift
        body = whole[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
        if how.marks:
            self.send_header("ETag", mark)
        if how.length != "":
            self.send_header("Content-Length", how.length or str(len(body)))
        if how.length is not None:
            # nothing but the end of the connection says where the answer ends
            self.send_header("Connection", "close")
        self.end_headers()
        if how.cut is not None and len(body) > how.cut and how.cuts != 0:
            how.cuts = None if how.cuts is None else how.cuts - 1
            self.wfile.write(body[: how.cut])
            if how.stalls is not None:
                how.stalls.wait(30)
            self.close_connection = True
            return
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    how: Behaviour


@contextmanager
def serving(how: Behaviour) -> Iterator[str]:
    """Serve for a while; gives the address."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.how = how
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
