"""Responses: JSON, and every error as one sentence."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from subadjacent.errors import SubAdjacentError
from subadjacent.service.problems import refusal_of
from subadjacent.service.schemas import Problem
from subadjacent.service.settings import rule_of

log = logging.getLogger(__name__)

MAX_SHOWN = 50
"""Characters of a bad value that a message repeats."""

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": meaning}
    for status, meaning in (
        (400, "The request cannot be understood."),
        (401, "A token is needed."),
        (403, "The token does not allow it."),
        (404, "There is nothing of that name or number."),
        (408, "The body took too long to arrive."),
        (413, "The body is too large."),
        (415, "The body is of a type that cannot be read."),
        (422, "A value breaks a rule."),
        (429, "Too much at once: try again later."),
        (503, "The service cannot do it now: try again later."),
        (507, "The disk is full."),
    )
}


def respond_to(error: Exception) -> Response:
    """The response for an error; unexpected ones are logged as well."""
    refusal = refusal_of(error)
    if refusal.status == 500:
        log.error("a request failed", exc_info=error)
    return JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers)


def describe_fault(fault: Mapping[str, Any]) -> str:
    """A fault that FastAPI found in a request, as one sentence."""
    _, *path = fault["loc"]
    kind = fault["type"]
    if kind == "json_invalid":
        return f"the body must be JSON; {fault.get('ctx', {}).get('error', 'it cannot be read')}"
    if not path or kind == "model_attributes_type":
        return "the body must be a JSON object, sent with Content-Type: application/json"
    name = ".".join(str(part) for part in path)
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"{name} is not known here"
    return f"{name} {rule_of(fault)}; got {str(fault['input'])[:MAX_SHOWN]!r}"


def add_problems(app: FastAPI) -> None:
    """Turn every error into ``{"error": sentence}``."""

    async def ours(_request: Request, error: Exception) -> Response:
        return respond_to(error)

    async def invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return JSONResponse({"error": describe_fault(error.errors()[0])}, 422)

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path, where = request.url.path[:200], "GET /openapi.json says what can be asked"
        sentence = {
            404: f"there is nothing at {path!r}: {where}",
            405: f"{request.method} is not answered at {path!r}: {where}",
        }.get(error.status_code, str(error.detail))
        return JSONResponse({"error": sentence}, error.status_code, error.headers)

    app.add_exception_handler(SubAdjacentError, ours)
    app.add_exception_handler(Exception, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, of_http)
