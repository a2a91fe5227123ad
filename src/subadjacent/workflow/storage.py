"""Files of a lake: plain paths, or any address that fsspec knows.

A file at an address such as ``s3://lake/day.parquet`` is fetched to a temporary one while it is
read, and written to a temporary one before it is sent: workers hold one file at a time on disk.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subadjacent.data.files.paths import expand
from subadjacent.durable import whole_file
from subadjacent.errors import DataNotFound, InputError, SubAdjacentError
from subadjacent.workflow.cluster import needs_ray

PROTOCOL = "://"


def find(patterns: Sequence[str]) -> list[tuple[str, str]]:
    """The files that patterns match: address and what messages call it, by name for each pattern.

    Addresses are whole, for workers may stand in other folders.
    """
    files = []
    for pattern in patterns:
        if is_path(pattern):
            files += [(str(Path(name).absolute()), name) for name in expand(pattern)]
            continue
        system, path = _system(pattern)
        with _errors_of(pattern, "listed"):
            matches = sorted(map(str, system.glob(path)))
        if not matches:
            raise DataNotFound(f"no file matches {pattern!r}; check the address and the pattern")
        addresses = [str(system.unstrip_protocol(name)) for name in matches]
        files += list(zip(addresses, addresses, strict=True))
    return files


def is_path(address: str) -> bool:
    """Whether it is a plain path, and no address that only fsspec knows."""
    return PROTOCOL not in address


def absolute(address: str) -> str:
    """The address, independent of the current folder."""
    return str(Path(address).absolute()) if is_path(address) else address


def within(folder: str, *names: str) -> str:
    """The address of something in a folder."""
    return "/".join((folder.rstrip("/"), *names))


@contextmanager
def fetched(address: str) -> Iterator[Path]:
    """A file on this machine with what lies at an address."""
    if is_path(address):
        yield Path(address)
        return
    system, path = _system(address)
    with tempfile.TemporaryDirectory(prefix="subadjacent-") as folder:
        local = Path(folder, "fetched.parquet")
        system.get_file(path, str(local))
        yield local


@contextmanager
def sent(address: str) -> Iterator[Path]:
    """A local name to write to; the file then replaces the one at the address.

    On plain paths the file appears whole or not at all.
    """
    with _errors_of(address, "written"):
        if is_path(address):
            with whole_file(Path(address)) as draft:
                yield draft
            return
        system, path = _system(address)
        with tempfile.TemporaryDirectory(prefix="subadjacent-") as folder:
            local = Path(folder, "to-send")
            yield local
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
            system.put_file(str(local), path)


def names_in(folder: str) -> list[str]:
    """The sorted names in a folder; empty if there is no such folder."""
    if is_path(folder):
        place = Path(folder)
        return sorted(file.name for file in place.iterdir()) if place.is_dir() else []
    system, path = _system(folder)
    if not system.isdir(path):
        return []
    return sorted(
        str(name).rstrip("/").rpartition("/")[2] for name in system.ls(path, detail=False)
    )


def is_file(address: str) -> bool:
    """Whether a file lies there, and no folder."""
    if is_path(address):
        return Path(address).is_file()
    system, path = _system(address)
    return bool(system.isfile(path))


def remove(address: str) -> None:
    """Delete a file, or a folder and all in it, if it is there."""
    if not is_path(address):
        system, path = _system(address)
        if system.exists(path):
            system.rm(path, recursive=True)
    elif is_file(address):
        Path(address).unlink()
    else:
        shutil.rmtree(address, ignore_errors=True)


@contextmanager
def _errors_of(address: str, done: str) -> Iterator[None]:
    """Say of an address what went wrong there; every file system has errors of its own."""
    try:
        yield
    except SubAdjacentError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{address} cannot be {done}; {reason}: check the address, and who may use it"
        ) from error


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    with needs_ray(f"reading {address}"):
        from fsspec.core import url_to_fs
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"{address} must be an address that fsspec knows; {error}: install what it names, "
            f"or copy the files"
        ) from error
    return system, str(path)
