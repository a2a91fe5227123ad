"""Tokens for reading and for writing, compared in constant time."""

from __future__ import annotations

import hmac
import logging
from pathlib import Path

from subadjacent.errors import DataNotFound, InputError, SubAdjacentError
from subadjacent.service.problems import Refusal

log = logging.getLogger(__name__)

_, WRITE = RIGHTS = ("read", "write")
MIN_TOKEN_LENGTH = 16
"""Characters of a token: fewer could be guessed."""


class TokenFile:
    """The current tokens of a file; a removed token is refused at once.

    Without a file, everything is allowed. A file that is wrong, or gone, is logged once, and the
    earlier tokens stay: replacing the file must neither open the service nor lock everybody out.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen = self._mark()
        self._rights = {} if path is None else read_tokens(path)

    def check(self, header: bytes | None, *, writes: bool) -> None:
        """Refuse a request whose ``Authorization`` does not allow it."""
        if self._path is None:
            return
        self._read_again(self._path)
        kind, _, token = (header or b"").strip().partition(b" ")
        if kind.lower() != b"bearer" or not token:
            raise Refusal(401, "a token is needed: send it as 'Authorization: Bearer TOKEN'")
        given = token.strip()
        # every token is compared, whichever fits: time tells nothing
        rights = {
            right for known, right in self._rights.items() if hmac.compare_digest(given, known)
        }
        if not rights:
            raise Refusal(401, "the token is not known: ask whoever runs the service for one")
        if writes and WRITE not in rights:
            raise Refusal(403, "the token is for reading; this request needs one for writing")

    def _read_again(self, path: Path) -> None:
        if (mark := self._mark()) != self._seen:
            self._seen = mark
            try:
                self._rights = read_tokens(path)
            except (SubAdjacentError, OSError, UnicodeDecodeError) as error:
                log.warning("the tokens stay as they were: %s", error)

    def _mark(self) -> tuple[int, int, int] | None:
        """What differs where a file was replaced or written to."""
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def read_tokens(path: Path) -> dict[bytes, str]:
    """Tokens of a file with lines ``read TOKEN`` and ``write TOKEN``; # begins a remark."""
    if not path.is_file():
        raise DataNotFound(f"{path} is not there; --token-file needs a file of tokens")
    found: dict[bytes, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        # what stands there may be a secret: it is not repeated
        if len(words) != 2 or words[0] not in RIGHTS or len(words[1]) < MIN_TOKEN_LENGTH:
            raise InputError(
                f"{path}, line {number} must be 'read TOKEN' or 'write TOKEN' with a token of at "
                f"least {MIN_TOKEN_LENGTH} characters; it is something else"
            )
        token = words[1].encode()
        # one that stands there for both may write
        found[token] = WRITE if WRITE in (words[0], found.get(token)) else words[0]
    if not found:
        raise InputError(f"{path} must hold a token; it holds none: add a line 'write TOKEN'")
    return found
