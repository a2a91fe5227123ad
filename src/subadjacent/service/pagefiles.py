"""The page's files, read once: a request names a key of a table, never a path."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from fastapi import FastAPI, Request
from starlette.responses import Response

from subadjacent.service.problems import not_found

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "woff2": "font/woff2",
    "json": "application/json",
    "webmanifest": "application/manifest+json",
}
INDEX = "index.html"


def add_page(app: FastAPI) -> None:
    """Serve the page at ``/`` and what it needs under ``/page/``."""
    folders = files("subadjacent.service") / "page", files("subadjacent.report") / "charts"
    contents = {
        file.name: file.read_bytes()
        for folder in folders
        for file in (folder.iterdir() if folder.is_dir() else ())
        if file.is_file() and file.name.rpartition(".")[2] in TYPES
    }

    def respond(request: Request, name: str) -> Response:
        if (content := contents.get(name)) is None:
            raise not_found("file", name)
        mark = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        # asked for each time, sent only when it has changed
        headers = {"ETag": mark, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == mark:
            return Response(status_code=304, headers=headers)
        kind = TYPES[name.rpartition(".")[2]]
        return Response(content, headers=headers | {"Content-Type": kind})

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        return respond(request, INDEX)

    @app.get("/page/{name}", include_in_schema=False)
    async def file(request: Request, name: str) -> Response:
        return respond(request, name)
