"""An HTTP server of files on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class FileServer:
    """Files by path; the first ``broken`` answers stop half-way; ``requests`` are recorded."""

    files: dict[str, bytes]
    broken: int = 0
    requests: list[str] = field(default_factory=list)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Send the file that was requested, or 404."""
        self.requests.append(handler.path)
        content = self.files.get(handler.path)
        if content is None:
            handler.send_error(404)
            return
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        if self.broken:
            self.broken -= 1
            content = content[: len(content) // 2]
        handler.wfile.write(content)
        handler.close_connection = True


@contextmanager
def serve(files: FileServer) -> Iterator[str]:
    """Serve files for a while; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            files.answer(self)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
