"""Packed files, their bounds, and the encodings of text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pytest

from subadjacent.data.files import opening
from subadjacent.data.files.opening import find_encoding, open_bytes
from subadjacent.errors import InputError

TEXT = b"a,b\n" + b"1,2\n" * 1000


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


PACKED = {
    "plain": TEXT,
    "gz": gzip.compress(TEXT),
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zip": zipped(**{"x.csv": TEXT, "__MACOSX/._x.csv": b"\0", "folder/": b""}),
}


def put(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "x"
    path.write_bytes(content)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        _read(path)
    return str(caught.value)


def _read(path: Path) -> None:
    with open_bytes(path, "x") as file:
        while file.read(1 << 16):
            pass


def test_what_is_packed_is_unpacked_whatever_its_name(tmp_path: Path) -> None:
    for kind in PACKED:
        with open_bytes(put(tmp_path, PACKED[kind]), "x") as file:
            assert file.read() == TEXT


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip"])
def test_no_more_is_unpacked_than_a_bound_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = put(tmp_path, PACKED[kind])
    monkeypatch.setattr(opening, "UNPACKED_FLOOR", len(TEXT) - 1)
    monkeypatch.setattr(opening, "MAX_UNPACK_RATIO", 2)
    assert f"x must unpack to {len(TEXT) - 1:,} bytes at most, 2 times its size" in refusal(path)
    monkeypatch.setattr(opening, "UNPACKED_FLOOR", len(TEXT))
    with open_bytes(path, "x") as file:
        assert file.read() == TEXT


def test_a_bomb_is_refused_by_what_it_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, zipped(**{"x.csv": bytes(1 << 21)}))
    monkeypatch.setattr(opening, "UNPACKED_FLOOR", 1 << 20)
    with pytest.raises(InputError, match="1,048,576 bytes at most, 100 times its size or 1 MiB"):
        open_bytes(path, "x")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r"])
def test_a_line_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr(opening, "MAX_LINE_BYTES", 1 << 17)
    path = put(tmp_path, (b"1" * (1 << 16) + end) * 8)
    if end:
        with open_bytes(path, "x") as file:
            assert len(file.read()) == 8 * (1 << 16) + 8
    else:
        assert "lines of at most 131,072 bytes" in refusal(path)


def encrypted() -> bytes:
    content = bytearray(zipped(**{"x.csv": TEXT}))
    # the flag in the local header and in the directory
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def test_other_archives_are_refused_with_a_way_out(tmp_path: Path) -> None:
    cases: list[Any] = [
        (zipped(**{"a.csv": TEXT, "b.csv": TEXT}), "it holds 2, 'a.csv', 'b.csv': unpack it"),
        (
            zipped(**{f"{n}.csv": TEXT for n in range(9)}),
            "it holds 9, '0.csv', '1.csv', '2.csv', '3.csv', '4.csv' and 4 more: unpack",
        ),
        (zipped(**{"folder/": b""}), "must hold one file; it is empty"),
        (zipped(**{"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "it is a spreadsheet"),
        (encrypted(), "'x.csv' in it is encrypted: unpack it"),
        (b"PK\x03\x04rest", "cannot be opened"),
    ]
    for content, said in cases:
        assert said in refusal(put(tmp_path, content))


def test_the_encoding_is_told_by_the_first_bytes() -> None:
    cases: list[Any] = [
        (b"a,b\n", "utf-8"), (b"\xef\xbb\xbfa,b\n", "utf-8-sig"), (b"\xff\xfea\0", "utf-16"),
        ("é,b\n".encode("latin-1"), "latin-1"), ("a,é\n1,2\n".encode("utf-16-le"), "utf-16-le"),
        ("a,é\n1,2\n".encode("utf-16-be"), "utf-16-be"), (b"a,b\n\x1a", "utf-8"),
        (b"a,b\n\x1a\x1a\r\n", "utf-8"),
    ]  # fmt: skip
    for head, encoding in cases:
        assert find_encoding(head, "x")[0] == encoding


def test_what_is_no_text_is_refused() -> None:
    for head in [bytes(100), b"a\x1ab\n", b"a\0b", b"\xef\xbb\xbfa\0", b"a\0\0\0b\0\0\0", b"\x07"]:
        with pytest.raises(InputError, match="x must be text or Parquet; it holds binary data"):
            find_encoding(head, "x")
