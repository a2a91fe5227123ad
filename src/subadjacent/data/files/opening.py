"""Packed and plain files → bytes and their encoding, within bounds.

A few kilobytes can unpack to more than any machine holds, and a line may never end. Both are
refused when the bound is passed, with no more than that in memory, and nothing on disk.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from subadjacent.errors import InputError
from subadjacent.showing import listed

HEAD_BYTES = 1 << 16
MAX_LINE_BYTES = 1 << 24
"""Bytes; a row of a million cells has about half as many."""

UNPACKED_FLOOR = 1 << 28
"""Bytes that any packed file may unpack to: 256 MiB, which every machine can hold."""

MAX_UNPACK_RATIO = 100
"""A packed file may unpack to this many times its size. PSM comes to 3 times, a sine with times to
21, 50 columns of zeros to 102.
"""

ZIPPED = b"PK\x03\x04"
PACKED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}

BOMS = {
    codecs.BOM_UTF8: ("utf-8-sig", "text begins with a byte order mark, which is left out"),
    codecs.BOM_UTF16_LE: ("utf-16", "text is read as UTF-16"),
    codecs.BOM_UTF16_BE: ("utf-16", "text is read as UTF-16"),
}
# what an editor of DOS wrote after the last line
END_OF_FILE = "\x1a"


def open_bytes(path: Path, name: str) -> io.BufferedReader:
    """The content of a file, decompressed if need be; ``name`` is its name in messages."""
    with path.open("rb") as file:
        begin = file.read(6)
        size = file.seek(0, io.SEEK_END)
    if begin.startswith(ZIPPED):
        return _open_zip(path, name)
    for magic, opener in PACKED.items():
        if begin.startswith(magic):
            return io.BufferedReader(
                _BoundedReader(opener(path), name, _unpacked_bound(size)), HEAD_BYTES
            )
    return io.BufferedReader(_BoundedReader(path.open("rb"), name), HEAD_BYTES)


def find_encoding(head: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The encoding of a file's first bytes, and notes on it; refuses binary data."""
    for mark, (known, note) in BOMS.items():
        if head.startswith(mark):
            if known != "utf-16":
                _refuse_binary(head, name)
            return known, (note,)
    for encoding, zeros, letters in (
        ("utf-16-le", head[1::2], head[::2]),
        ("utf-16-be", head[::2], head[1::2]),
    ):
        # letters of Latin have a zero beside them, and nothing else in text has
        if letters and 2 * zeros.count(0) > len(letters) and not letters.count(0):
            return encoding, ("text is read as UTF-16, though no byte order mark says so",)
    _refuse_binary(head, name)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1", ("text is read as Latin-1, since it is not UTF-8",)
    return "utf-8", ()


class _BoundedReader(io.RawIOBase):
    """Bytes of a stream; refuses more than ``most``, and a line without an end."""

    def __init__(self, stream: IO[bytes], name: str, most: int | None = None) -> None:
        self._stream, self._name, self._most = stream, name, most
        self._total = self._line = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._total += len(data)
        end = data.rfind(b"\n")
        end = data.rfind(b"\r") if end < 0 else end
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        if self._most is not None and self._total > self._most:
            raise _unpacks_too_far(self._name, self._most)
        if self._line > MAX_LINE_BYTES:
            raise InputError(
                f"{self._name} must have lines of at most {MAX_LINE_BYTES:,} bytes; one of them "
                f"is longer: write one line a row"
            )
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _open_zip(path: Path, name: str) -> io.BufferedReader:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise InputError(
            f"{name} must be text or Parquet; it is a zip or spreadsheet file that cannot be "
            f"opened: get it again, or export the sheet as CSV"
        ) from error
    with archive:
        member = _only_member(archive, name)
        most = _unpacked_bound(member.compress_size)
        # what it says of itself is believed only where that is too much
        if member.file_size > most:
            raise _unpacks_too_far(name, most)
        # a member may be read on when its archive is closed
        return io.BufferedReader(_BoundedReader(archive.open(member), name, most), HEAD_BYTES)


def _only_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    members = [
        member
        for member in archive.infolist()
        # what macOS keeps beside each file
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    names = [repr(member.filename) for member in members]
    if repr("[Content_Types].xml") in names:
        raise InputError(
            f"{name} must be text or Parquet; it is a spreadsheet: export the sheet as CSV"
        )
    if len(members) != 1:
        held = f"it holds {len(names)}, {listed(names)}" if names else "it is empty"
        raise InputError(f"{name} must hold one file; {held}: unpack it, and name those to read")
    if members[0].flag_bits & 1:
        raise InputError(f"{name} must be readable; {names[0]} in it is encrypted: unpack it")
    return members[0]


def _unpacked_bound(packed: int) -> int:
    return max(UNPACKED_FLOOR, MAX_UNPACK_RATIO * packed)


def _unpacks_too_far(name: str, most: int) -> InputError:
    return InputError(
        f"{name} must unpack to {most:,} bytes at most, {MAX_UNPACK_RATIO} times its size or "
        f"{UNPACKED_FLOOR >> 20} MiB; it holds more: unpack it yourself if that is right"
    )


def _refuse_binary(head: bytes, name: str) -> None:
    text = head.rstrip(END_OF_FILE.encode() + b"\r\n")
    if any(code not in b"\t\n\r\f" and code in text for code in range(32)):
        raise InputError(
            f"{name} must be text or Parquet; it holds binary data: export the data as CSV"
        )
