"""Folders that are replaced whole, in one step, and read whole while that happens.

The new folder and the old one change places (``renameat2`` on Linux): there is no moment without
either. Where the system or the disk cannot do that, the old one is set aside between two renames,
under a name where readers look for it too.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from subadjacent.durable import DRAFT, claim, is_at, left_overs, lock, opened, sync
from subadjacent.errors import InputError

Result = TypeVar("Result")
Ours = Callable[[str], bool]
"""Whether a name is one of those that we write; what goes by another is never deleted."""

# of Linux, see renameat2(2): paths are relative to the current folder; swap the two
AT_FDCWD, RENAME_EXCHANGE = -100, 2
# what a system, a disk or a union of disks answers that cannot swap two folders
CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV)
# replacements during one reading before it is given up: each of them is a whole save
READINGS = 1_000


@contextmanager
def whole_folder(path: Path, ours: Ours) -> Iterator[Path]:
    """An empty folder to fill; in the end it takes the place of ``path``, in one step.

    What lies at ``path`` and is not ``ours`` moves along. If the work fails, nothing changes.
    Where ``path`` is a link, the folder behind it is replaced.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    _recover(path, ours)
    with claim(path, folder=True) as draft:
        yield draft
        for file in draft.rglob("*"):
            sync(file)
        # there may be none, and others may be replacing it
        with suppress(FileNotFoundError):
            shutil.copymode(_place(path), draft)
        sync(draft)
        _put(draft, path, ours)
        sync(path.parent)
        # the old one is there now, if there was one
        _discard(draft, path, ours)


def check_replaceable(path: Path, argument: str = "path") -> None:
    """Refuse a folder that cannot be replaced by another, before any work is done for it."""
    path = Path(os.path.realpath(path))
    if not path.is_dir():
        return
    if path.samefile(Path()):
        # whoever stands in it would be left in a deleted one
        raise InputError(
            f"{argument} must not be the current folder; got {path}: name one within it"
        )
    if _is_mount_point(path):
        raise InputError(
            f"{argument} must not be a mount point, which cannot be replaced; got {path}: "
            f"name a folder within it"
        )


def read_steady(path: Path, read: Callable[[Path], Result]) -> Result:
    """Read a folder that may be replaced meanwhile: what comes is all old, or all new.

    Files are opened one after the other, and the old ones are deleted at some time. Whatever
    comes of a folder that was replaced in between is therefore read again.
    """
    for _ in range(READINGS):
        folder = _place(path)
        existed = folder.exists()
        # an open folder keeps its number: a new one cannot be taken for it
        with opened(folder) as handle:
            failure: Exception | None = None
            try:
                result = read(folder)
            except Exception as error:
                failure = error
            same = folder.exists() == existed if handle is None else is_at(handle, folder)
        if same and folder == _place(path):
            if failure is not None:
                raise failure
            return result
    raise InputError(f"{path} is replaced again and again; read it when its writers have ended")


def _place(path: Path) -> Path:
    """Where a folder lies: at its place, or set aside while it is being replaced."""
    aside = _aside(path)
    return aside if not path.exists() and aside.exists() else path


def _put(draft: Path, path: Path, ours: Ours) -> None:
    """Make ``draft`` the folder at ``path``; an older one is at ``draft`` afterwards, or gone."""
    while True:
        try:
            if _exchange(draft, path):
                return
            _rename_twice(draft, path, ours)
            return
        except FileNotFoundError:
            if not draft.exists():
                raise
        # there was none: others may be quicker, then theirs is exchanged
        try:
            draft.rename(path)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _exchange(first: Path, second: Path) -> bool:
    """Let two folders change places; False where that cannot be done here."""
    function = _renameat2()
    if function is None:
        return False
    if not function(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE):
        return True
    number = ctypes.get_errno()
    if number in CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(second))


@cache
def _renameat2() -> Any:
    """The system's function of that name; None where there is none."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def _rename_twice(draft: Path, path: Path, ours: Ours) -> None:
    """Set the old folder aside, and put the new one in its place."""
    aside = _aside(path)
    if not path.exists() and not aside.exists():
        # no need to wait for others, and ``path`` may be in a draft that this process has locked
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    with _in_turn(path.parent):
        # others may have been here since this save began
        _put_back(path, ours)
        path.rename(aside)
        try:
            draft.rename(path)
        except BaseException:
            aside.rename(path)
            raise
        _discard(aside, path, ours)


def _recover(path: Path, ours: Ours) -> None:
    """Put right what killed writers left: a folder set aside, and drafts."""
    if _aside(path).exists():
        with _in_turn(path.parent):
            _put_back(path, ours)
    for draft in left_overs(path):
        _discard(draft, path, ours)


def _put_back(path: Path, ours: Ours) -> None:
    aside = _aside(path)
    if not aside.exists():
        return
    if path.exists():
        _discard(aside, path, ours)
    else:
        aside.rename(path)


def _aside(path: Path) -> Path:
    # beside what a link points to
    real = Path(os.path.realpath(path))
    return real.parent / f".{real.name}.replaced"


@contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    """One process at a time, of those that rename in this folder."""
    with opened(folder) as handle:
        if handle is not None:
            lock(handle, wait=True)
        yield


def _discard(old: Path, new: Path, ours: Ours) -> None:
    """Delete what is ours in an old folder, and move the rest to the new one.

    Another process may be at it too: what is gone is gone. What has the name of something in the
    new folder stays where it is.
    """
    with suppress(OSError):
        for entry in list(old.iterdir()):
            with suppress(OSError):
                # what is called as a draft is ours if what it was a draft of is
                draft = DRAFT.fullmatch(entry.name)
                if not ours(draft[1] if draft else entry.name):
                    new.mkdir(exist_ok=True)
                    if not os.path.lexists(new / entry.name):
                        entry.rename(new / entry.name)
                elif entry.is_dir() and not entry.is_symlink():
                    _discard(entry, new / entry.name, ours)
                else:
                    entry.unlink()
        old.rmdir()


def _is_mount_point(path: Path) -> bool:
    if path.is_mount():
        return True
    # a folder of the same disk may be mounted as well, which only Linux tells
    return _mount(path) != _mount(path.parent)


def _mount(folder: Path) -> str:
    with opened(folder) as handle:
        try:
            facts = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="ascii")
        except OSError:
            return ""
    return next((line for line in facts.splitlines() if line.startswith("mnt_id")), "")
