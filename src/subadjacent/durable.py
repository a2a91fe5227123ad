"""Writes files and folders completely or not at all, even if the process is killed.

A draft is written beside its place, under a hidden name that ends in eight hex digits, and is
renamed once it is whole and on disk. A folder's old version is first renamed to ``.NAME.replaced``,
where readers look for it too. The next writer removes what a killed one left behind.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from subadjacent.errors import InputError

Result = TypeVar("Result")
Ours = Callable[[str], bool]
"""Whether we write files of this name; others are kept when a folder is replaced."""

DRAFT = re.compile(r"\.(.+)\.[0-9a-f]{8}", re.DOTALL)
"""The name of a draft, with the name of its place."""

MAX_ATTEMPTS = 1_000
"""Attempts to read or replace a folder that others replace meanwhile; each costs them a save."""

PROBE_BYTES = 4096
"""Size of a file that tries a disk: one block of most file systems."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft to write to, which replaces ``path`` at the end; links are followed."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"{path} must be an ordinary file to be written; it is something else")
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in _abandoned_drafts(target):
        _delete(old)
    with _draft(target, Path.touch) as draft:
        yield draft
        # on disk before it gets its name: a crash must not leave an empty file under it
        sync(draft)
        draft.replace(target)
        sync(target.parent)


@contextmanager
def whole_folder(path: Path, ours: Ours) -> Iterator[Path]:
    """An empty draft folder, which replaces ``path`` at the end; links are followed.

    Files in the old folder that are not ``ours`` move along. If the work fails, nothing changes.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    _restore(path, ours)
    for old in _abandoned_drafts(path):
        _discard(old, path, ours)
    with _draft(path, Path.mkdir) as draft:
        yield draft
        for file in draft.rglob("*"):
            sync(file)
        with suppress(FileNotFoundError):
            shutil.copymode(path, draft)
        sync(draft)
        for _ in range(MAX_ATTEMPTS):
            if _replace(path, draft, ours):
                break
            _restore(path, ours)
        else:
            raise OSError(errno.ENOTEMPTY, f"{_aside(path)} cannot be deleted", str(path))
        sync(path.parent)


def read_whole(path: Path, read: Callable[[Path], Result]) -> Result:
    """The result of reading a folder's old or new version, if it is replaced meanwhile."""
    for _ in range(MAX_ATTEMPTS):
        folder, before = _version(path)
        try:
            result = read(folder)
        except Exception:
            if _version(path) == (folder, before):
                raise
        else:
            if _version(path) == (folder, before):
                return result
    raise InputError(f"{path} is replaced again and again; read it when its writers have ended")


def check_replaceable(path: Path, argument: str = "path") -> None:
    """Refuse a folder that cannot be replaced by another, before any work is done for it."""
    path = Path(os.path.realpath(path))
    if not path.is_dir():
        return
    if path.samefile(Path()):
        # a process with this working directory would be left in a deleted one
        raise InputError(
            f"{argument} must not be the current folder; got {path}: name one within it"
        )
    if path.is_mount():
        raise InputError(
            f"{argument} must not be a mount point, which cannot be replaced; got {path}: "
            f"name a folder within it"
        )


def try_writing(path: Path) -> None:
    """Write and delete a file beside ``path``; raises the system's error where that fails."""
    with _draft(path, Path.touch) as probe:
        # a full disk lets files be made as long as they are empty
        probe.write_bytes(bytes(PROBE_BYTES))
        sync(probe)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk itself."""
    with opened(path) as handle:
        if handle is not None:
            os.fsync(handle)


def lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed; False where that cannot be had."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _unlock(handle: int) -> None:
    """Release a lock, also where a forked process has a copy of the handle."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def opened(path: Path) -> Iterator[int | None]:
    """A handle to lock or sync; None if the path cannot be opened."""
    try:
        # without NONBLOCK a pipe would be waited for
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, PermissionError):
        yield None
        return
    try:
        yield handle
    finally:
        _unlock(handle)
        os.close(handle)


@contextmanager
def _draft(target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A new draft, locked while in use; deleted at the end unless it was renamed."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        make(draft)
        with opened(draft) as handle:
            if handle is not None:
                lock(handle, wait=True)
            if not (draft.exists() if handle is None else _is_at(handle, draft)):
                continue  # removed as abandoned before it was locked
            try:
                yield draft
            finally:
                if handle is None or _is_at(handle, draft):
                    _delete(draft)
            return


def _abandoned_drafts(target: Path) -> Iterator[Path]:
    """Drafts of ``target`` that no process has locked."""
    for draft in sorted(target.parent.iterdir()):
        name = DRAFT.fullmatch(draft.name)
        if name is not None and name[1] == target.name:
            with opened(draft) as handle:
                if handle is not None and lock(handle, wait=False) and _is_at(handle, draft):
                    yield draft


def _replace(path: Path, draft: Path, ours: Ours) -> bool:
    """Rename ``draft`` to ``path``, and the old folder aside; False if another writer was first."""
    aside = _aside(path)
    try:
        with opened(path) as handle:
            if handle is not None:
                # other writers wait here
                lock(handle, wait=True)
                if not _is_at(handle, path):
                    return False
                path.rename(aside)
            elif aside.exists():
                return False
            try:
                draft.rename(path)
            except OSError:
                if handle is not None:
                    aside.rename(path)
                raise
            if handle is not None:
                _discard(aside, path, ours)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _restore(path: Path, ours: Ours) -> None:
    """Finish what a killed writer began: put the old folder back, or delete it."""
    aside = _aside(path)
    with opened(aside) as handle:
        # a writer that is at work has it locked
        if handle is not None and lock(handle, wait=True) and _is_at(handle, aside):
            if path.exists():
                _discard(aside, path, ours)
            else:
                aside.rename(path)


def _discard(old: Path, new: Path, ours: Ours) -> None:
    """Delete a draft or an old folder; move files of others to the new one."""
    with suppress(OSError):
        for entry in old.iterdir() if old.is_dir() else ():
            draft = DRAFT.fullmatch(entry.name)
            if not ours(draft[1] if draft else entry.name):
                new.mkdir(exist_ok=True)
                if not os.path.lexists(new / entry.name):
                    entry.rename(new / entry.name)
            elif entry.is_dir() and not entry.is_symlink():
                _discard(entry, new / entry.name, ours)
        _delete(old)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return real.with_name(f".{real.name}.replaced")


def _version(path: Path) -> tuple[Path, tuple[int, ...] | None]:
    """A folder's path and numbers unique to its version; None if there is no folder."""
    # it may be set aside itself, or the folder that it is in
    for place in (path, _aside(path), _aside(path.parent) / path.name):
        with suppress(FileNotFoundError, NotADirectoryError):
            facts = place.stat()
            return place, (facts.st_dev, facts.st_ino, facts.st_ctime_ns)
    return path, None


def _is_at(handle: int, path: Path) -> bool:
    """Whether ``path`` is what was opened, and nothing else that took its place."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
