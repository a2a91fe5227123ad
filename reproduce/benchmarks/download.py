"""Fetch a file over HTTPS: resumes where it stopped, and is written whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from subadjacent.errors import DataNotFound, InputError

CHUNK = 1 << 16
MOST = 1 << 30
"""Bytes that are taken where nobody says how many there should be."""
# a number of bytes in a header, and none that Python would not read
NUMBER = "[0-9]{1,18}"
TIMEOUT = 30.0
TRIES = 4

Watch = Callable[[int, int | None], None]
"""Told the bytes that are there and, where the server says so, how many there will be."""


def fetch(
    address: str,
    target: Path,
    *,
    sha256: str | None = None,
    most: int = MOST,
    watch: Watch | None = None,
    pause: float = 1.0,
) -> None:
    """Fetch ``address`` to ``target``.

    The bytes received are kept in `<target>.part` until the file is complete, so that a later call
    resumes, if the server can and its file is still the same. Broken connections are retried;
    after ``TRIES`` in a row that bring nothing new, it gives up.

    Parameters
    ----------
    address
        https:, or http: on this very machine.
    target
        File to write; its folder is made.
    sha256
        The checksum of the whole file, in hex, where known.
    most
        Bytes at most: a server that sends more, whatever it announced, is refused.
    watch
        Called with every piece.
    pause
        Seconds to wait after the first failure; doubled after each further one.

    Raises
    ------
    DataNotFound
        When the server has no such file, or cannot be reached.
    InputError
        For an address that is not safe, a file that is too long, a wrong checksum, or a place
        that cannot be written to.
    """
    check_address(address)
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _persist(address, part, most, watch or (lambda _done, _total: None), pause)
        if sha256 is not None and (checksum := _digest(part)) != sha256.lower():
            part.unlink()
            raise InputError(
                f"{address} must have the SHA-256 checksum {sha256}; got {checksum}: "
                "what came was thrown away, try again later"
            )
        part.replace(target)
    except OSError as error:
        # a DataNotFound is an OSError too, with a better message
        if isinstance(error, DataNotFound):
            raise
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error
    _tag(part).unlink(missing_ok=True)


def check_address(address: str) -> None:
    """Refuse an address whose content could be changed on its way."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and _is_local(parts.hostname):
        return
    raise InputError(f"address must begin with https://; got {address!r}")


def _is_local(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _check_host(address: str, onward: str) -> None:
    """Refuse a redirect from the internet to this machine, or to its own network."""
    if _is_local(urllib.parse.urlsplit(address).hostname):
        return
    host = urllib.parse.urlsplit(onward).hostname
    try:
        inside = not ipaddress.ip_address(host or "").is_global
    except ValueError:
        inside = host == "localhost"
    if inside:
        raise InputError(
            f"{address} must not send on to an address of this network; got {onward!r}: "
            "give the address of another copy"
        )


class _TooLongError(Exception):
    """The server sends more bytes than allowed."""


class _BrokenError(Exception):
    """The connection did not bring all of the file; worth another try."""


def _persist(address: str, part: Path, limit: int, watch: Watch, pause: float) -> None:
    """Fetch a file, with further attempts as long as they bring new bytes."""
    most, failures = _size(part), 0
    while True:
        try:
            _bring(address, part, limit, watch)
            return
        except _TooLongError as error:
            part.unlink(missing_ok=True)
            _tag(part).unlink(missing_ok=True)
            raise InputError(
                f"{address} must have at most {limit:,} bytes; the server has more: what came was "
                "thrown away, get the file by hand if it is the right one"
            ) from error
        except _BrokenError as error:
            reached = _size(part)
            failures = 0 if reached > most else failures + 1
            most = max(most, reached)
            if failures == TRIES:
                raise DataNotFound(
                    f"{address} cannot be fetched ({error}); {reached:,} bytes are kept in {part}: "
                    "check the network and try again"
                ) from error
        time.sleep(pause * 2 ** max(failures - 1, 0) if failures else 0)


def _bring(address: str, part: Path, limit: int, watch: Watch) -> None:
    """Fetch over one connection; resume after the bytes received, where the server allows it."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": "identity"})
    if (received := _size(part)) and _tag(part).is_file():
        request.add_header("Range", f"bytes={received}-")
        # the rest of a file that has changed meanwhile would not fit
        request.add_header("If-Range", _tag(part).read_text(encoding="ascii"))
    else:
        received = 0
    try:
        with _opener(address).open(request, timeout=TIMEOUT) as response:
            start, total = _bounds(response, received)
            if total is not None and total > limit:
                raise _TooLongError
            _remember(response, part)
            with part.open("r+b" if start else "wb") as file:
                file.seek(start)
                file.truncate()
                done = _copy(response, file, (start, total, limit), watch)
    except urllib.error.HTTPError as error:
        error.close()
        _judge(error, address, part, received)
        return
    except (
        urllib.error.URLError,
        http.client.HTTPException,
        ConnectionError,
        TimeoutError,
    ) as error:
        raise _BrokenError(getattr(error, "reason", None) or error or "no answer") from error
    if total is not None and done < total:
        raise _BrokenError(f"the connection broke after {done:,} of {total:,} bytes")


def _bounds(response: Any, received: int) -> tuple[int, int | None]:
    """Where the answer begins in the file, and how long the file is."""
    if response.status == http.client.PARTIAL_CONTENT:
        matched = re.fullmatch(
            f"bytes ({NUMBER})-{NUMBER}/({NUMBER})", response.headers.get("Content-Range", "")
        )
        if matched and int(matched[1]) == received:
            return received, int(matched[2])
        raise _BrokenError("the server sent another part than was asked for")
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if re.fullmatch(NUMBER, length) else None


def _copy(response: Any, file: IO[bytes], bounds: tuple[int, int | None, int], watch: Watch) -> int:
    """Copy an answer to a file; return its size. ``bounds``: its begin, its end, and the limit."""
    done, total, limit = bounds
    while True:
        try:
            # as bytes arrive, without waiting for more: an interruption loses none of them
            piece = response.read1(CHUNK)
        except (http.client.HTTPException, OSError) as error:
            raise _BrokenError(f"the connection broke after {done:,} bytes") from error
        if not piece:
            break
        if done + len(piece) > limit:
            raise _TooLongError
        file.write(piece)
        # bytes received are kept, however this process ends
        file.flush()
        done += len(piece)
        watch(done, total)
    # on disk before it gets its name
    file.flush()
    os.fsync(file.fileno())
    return done


def _judge(error: urllib.error.HTTPError, address: str, part: Path, received: int) -> None:
    """Raise the error that an answer without success stands for; return if the file is complete."""
    if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and received:
        if error.headers.get("Content-Range", "") == f"bytes */{received}":
            return
        # what is there is longer than the file: begin again
        part.unlink()
        raise _BrokenError("what is there does not fit the file")
    if error.code == http.client.TOO_MANY_REQUESTS or error.code >= 500:
        raise _BrokenError(f"the server answers {error.code}")
    raise DataNotFound(
        f"{address} is not to be had: the server answers {error.code} {error.reason}"
    )


def _remember(response: Any, part: Path) -> None:
    """Keep the mark of this version of the file; without one, no download is resumed."""
    headers = response.headers
    mark = headers.get("ETag") or ""
    # a weak mark does not promise the same bytes
    mark = headers.get("Last-Modified") if not mark or mark.startswith("W/") else mark
    if mark and mark.isascii():
        _tag(part).write_text(mark, encoding="ascii")
    else:
        _tag(part).unlink(missing_ok=True)


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.version")


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to addresses that ``check_address`` accepts, and to no others."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        check_address(newurl)
        _check_host(req.full_url, newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(address: str) -> urllib.request.OpenerDirector:
    handlers: list[urllib.request.BaseHandler] = [_SafeRedirects()]
    if _is_local(urllib.parse.urlsplit(address).hostname):
        # what is on this machine needs no proxy
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)
