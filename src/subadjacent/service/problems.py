"""Refusals and their HTTP status, in one place."""

from __future__ import annotations

import errno
import sqlite3

from subadjacent.errors import DataNotFound, InputError, ModelFileError, SubAdjacentError

RETRY_AFTER = 1
"""Seconds after which a refused client may try again: a queue empties in less."""


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""The system's error codes for a file that cannot be written."""


class Refusal(SubAdjacentError):  # noqa: N818 — reads as a fact
    """A request that cannot be met; ``status`` is HTTP's number for why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status

    def __reduce__(self) -> tuple[type[Refusal], tuple[int, str]]:
        return Refusal, (self.status, str(self))

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the response."""
        if self.status in (429, 503):
            return {"Retry-After": str(RETRY_AFTER)}
        if self.status in (408, 413):
            # the rest of the request is not waited for
            return {"Connection": "close"}
        return {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}


def not_found(what: str, name: object) -> Refusal:
    """The refusal of a request for an unknown series, alarm, model or job."""
    return Refusal(404, f"there is no {what} {name!r}")


def _no_room(why: str) -> Refusal:
    return Refusal(
        507,
        f"the disk of the data folder cannot be written ({why}); nothing of this request "
        f"was kept: make room, then send it again",
    )


def describe_error(error: SubAdjacentError, what: str) -> str:
    """The sentence of an error, with ``what`` in place of the library's ``X``."""
    if isinstance(error, InputError) and error.argument.partition("[")[0] in ("X", "times of X"):
        argument = error.argument.replace("X", what, 1)
        return str(error.rephrase(argument, error.remedy))
    return str(error)


def refusal_of(error: Exception) -> Refusal:
    """Any error as a refusal: the caller's mistakes by their kind, ours as 500."""
    match error:
        case Refusal():
            return error
        case DataNotFound():
            return Refusal(404, str(error))
        case InputError() | ModelFileError():
            return Refusal(422, str(error))
        case sqlite3.Error():
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                return _no_room(str(error))
            return Refusal(503, f"the data folder cannot be used just now ({error}): send it again")
        case OSError() if error.errno in NO_ROOM:
            # its own text would name a file of ours
            return _no_room(error.strerror or "it is full")
    return Refusal(500, f"the service made a mistake ({type(error).__name__}); its log says where")
