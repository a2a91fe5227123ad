"""Files that are on disk whole or not at all, whatever ends the process that writes them.

What is being written is a draft: it lies beside its place, under a hidden name that ends in eight
hex digits, and takes the place once it is whole and on disk. A process that is killed leaves its
draft behind; the next one to write to that place deletes it. Whoever writes a draft holds a lock
on it, so that nobody takes it for a left-over.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from subadjacent.errors import InputError

DRAFT = re.compile(r"\.(.+)\.[0-9a-f]{8}", re.DOTALL)
"""What a draft is called, with the name of what it is a draft of."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name to write to; the file appears under its own name only once it is whole.

    A link is followed, so that what it points to is written and the link stays.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"{path} must be an ordinary file to be written; it is something else")
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in left_overs(target):
        with suppress(OSError):
            old.unlink()
    with claim(target, folder=False) as draft:
        yield draft
        # on disk before it gets its name: a crash must not leave an empty file under it
        sync(draft)
        draft.replace(target)
        sync(target.parent)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk itself."""
    with opened(path) as handle:
        if handle is not None:
            os.fsync(handle)


@contextmanager
def claim(target: Path, *, folder: bool) -> Iterator[Path]:
    """Make an empty draft beside ``target``, locked; in the end it is deleted if it is still there.

    Another file that has taken its name is left alone.
    """
    draft, handle = _locked_draft(target, folder=folder)
    try:
        yield draft
    finally:
        if handle is None or is_at(handle, draft):
            if folder:
                shutil.rmtree(draft, ignore_errors=True)
            else:
                draft.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def left_overs(target: Path) -> Iterator[Path]:
    """Abandoned drafts of ``target``, each locked until the next one is taken."""
    with suppress(OSError):
        for draft in sorted(target.parent.iterdir()):
            name = DRAFT.fullmatch(draft.name)
            if name is None or name[1] != target.name:
                continue
            with opened(draft) as handle:
                # a lock that is held, or not to be had, means that it may be in use
                if handle is not None and lock(handle, wait=False) and is_at(handle, draft):
                    yield draft


def lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed; False where that cannot be had."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def opened(path: Path) -> Iterator[int | None]:
    """A handle of a file or folder, to lock it, sync it, or know it again; None as of ``_open``."""
    handle = _open(path)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def is_at(handle: int, path: Path) -> bool:
    """Whether ``path`` is what was opened, and nothing else that took its place."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _locked_draft(target: Path, *, folder: bool) -> tuple[Path, int | None]:
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        if folder:
            draft.mkdir()
        else:
            draft.touch(exist_ok=False)
        handle = _open(draft)
        if handle is None and draft.exists():
            return draft, None
        if handle is not None:
            lock(handle, wait=True)
            # before it was locked, another process may have taken it for a left-over
            if is_at(handle, draft):
                return draft, handle
            os.close(handle)


def _open(path: Path) -> int | None:
    """A handle to read from; None where there is nothing, or the system opens no folders."""
    try:
        # or else a pipe would be waited for
        return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, PermissionError):
        return None
