"""Servers, archives and arrays that say one thing and hold another, or ask for too much."""

from __future__ import annotations

import io
import struct
import urllib.request
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduce.benchmarks import SOURCES
from reproduce.benchmarks.archive import read_npy, read_npz
from reproduce.benchmarks.download import _SafeRedirects, fetch
from reproduce.benchmarks.obtain import obtain, unpack
from serving import Behaviour, serving
from subadjacent import InputError

CONTENT = bytes(range(250)) * 1_000
WANTED = r"train/.*"


@pytest.mark.parametrize("length", [None, "", "\u00b2", "9" * 5_000, "-1"])
def test_a_server_may_send_so_much_and_no_more(tmp_path: Path, length: str | None) -> None:
    with serving(Behaviour({"/a": CONTENT}, length=length)) as address:
        if length is None:
            fetch(f"{address}/a", tmp_path / "a", most=len(CONTENT))
            assert (tmp_path / "a").read_bytes() == CONTENT
        with pytest.raises(InputError, match=r"at most 249,999 bytes; the server has more"):
            fetch(f"{address}/a", tmp_path / "b", most=len(CONTENT) - 1)
    assert not list(tmp_path.glob("b*"))


@pytest.mark.parametrize("length", ["", "\u00b2"])
def test_a_length_that_is_none_is_no_length(tmp_path: Path, length: str) -> None:
    seen: list[int | None] = []
    with serving(Behaviour({"/a": CONTENT}, length=length)) as address:
        fetch(f"{address}/a", tmp_path / "a", watch=lambda _, total: seen.append(total))
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert set(seen) == {None}


def test_an_announced_length_is_refused_before_anything_is_taken(tmp_path: Path) -> None:
    seen: list[int] = []
    with serving(Behaviour({"/a": CONTENT})) as address, pytest.raises(InputError):
        fetch(f"{address}/a", tmp_path / "a", most=9, watch=lambda done, _: seen.append(done))
    assert seen == []


def test_every_file_of_a_set_has_a_limit(tmp_path: Path) -> None:
    (download, *_) = SOURCES["psm"].downloads
    psm = replace(SOURCES["psm"], downloads=(replace(download, most=9),))
    with (
        serving(Behaviour({"/train.csv": CONTENT})) as address,
        pytest.raises(InputError, match=r"train\.csv must have at most 9 bytes"),
    ):
        obtain(psm, tmp_path, base=address)


def follow(first: str, then: str) -> Any:
    request = urllib.request.Request(first)
    return _SafeRedirects().redirect_request(request, io.BytesIO(), 302, "Found", {}, then)


@pytest.mark.parametrize(
    "then",
    [
        "http://127.0.0.1/a", "http://localhost/a", "https://localhost/a", "https://10.0.0.1/a",
        "https://[::1]/a", "https://169.254.169.254/latest", "https://192.168.1.1/",
    ],
)  # fmt: skip
def test_the_internet_does_not_lead_to_this_network(then: str) -> None:
    with pytest.raises(InputError, match=r"must not send on to an address of this network; got"):
        follow("https://example.org/a", then)


def test_other_redirects_are_followed() -> None:
    assert follow("https://example.org/a", "https://example.com/b").full_url.endswith("com/b")
    assert follow("http://127.0.0.1/a", "http://127.0.0.1/b").full_url.endswith("/b")
    assert follow("https://example.org/a", "https://1.1.1.1/b").full_url.endswith("/b")


def packed(files: dict[str, bytes]) -> bytearray:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return bytearray(stream.getvalue())


def test_an_archive_unpacks_to_so_much_and_no_more(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(packed({"train/a": bytes(600), "train/b": bytes(401), "c": bytes(9_000)}))
    with pytest.raises(InputError, match=r"at most 1,000 bytes; it has 1,001"):
        unpack(archive, tmp_path / "out", WANTED, 1_000)
    assert not (tmp_path / "out").exists()
    unpack(archive, tmp_path / "out", WANTED, 1_001)
    assert sum(file.stat().st_size for file in (tmp_path / "out").rglob("?")) == 1_001


def test_an_archive_that_understates_its_files_is_damaged(tmp_path: Path) -> None:
    content = packed({"train/a": bytes(100_000)})
    # the size once unpacked, in the list of files at the end
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = struct.pack("<I", 10)
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.zip is damaged .* thrown away"):
        unpack(tmp_path / "x.zip", tmp_path / "out", WANTED, 1_000)
    assert not (tmp_path / "out" / "train").exists()


def encrypted(content: bytearray) -> bytearray:
    """The same, said to need a password: a bit of the flags, in both headers of each file."""
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + flags] |= 1
    return content


def test_an_archive_with_a_password_is_said_to_have_one(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(encrypted(packed({"train/a": b"1"})))
    with pytest.raises(InputError, match=r"x\.zip must need no password; train/a in it is"):
        unpack(tmp_path / "x.zip", tmp_path / "out", WANTED, 1_000)


def npy(shape: tuple[int, ...], content: bytes = bytes(80)) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


@pytest.mark.parametrize("shape", [(10**12, 55), (11,), (2**62, 4), (-1,)])
def test_an_array_longer_than_its_file_is_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    (tmp_path / "a.npy").write_bytes(npy((10,)))
    assert read_npy(tmp_path / "a.npy").shape == (10,)
    (tmp_path / "a.npy").write_bytes(npy(shape))
    with pytest.raises(InputError, match=r"a\.npy is damaged \(an array of .* bytes in 80\)"):
        read_npy(tmp_path / "a.npy")


def test_a_form_of_arrays_that_is_not_known_is_refused(tmp_path: Path) -> None:
    content = npy((10,))
    (tmp_path / "a.npy").write_bytes(content[:6] + b"\x03" + content[7:])
    with pytest.raises(InputError, match="version 1 or 2"):
        read_npy(tmp_path / "a.npy")


def archive_of(**changed: bytes) -> bytearray:
    arrays = {
        "train": np.zeros((4, 1)), "test": np.zeros((4, 1)), "labels": np.zeros(4),
        "train_lengths": np.array([4]), "test_lengths": np.array([4]), "entities": np.array(["a"]),
    }  # fmt: skip
    files = {}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        files[f"{name}.npy"] = changed.get(name, stream.getvalue())
    return packed(files)


def test_arrays_of_an_archive_are_checked_before_they_are_unpacked(tmp_path: Path) -> None:
    file, source = tmp_path / "x.npz", replace(SOURCES["nips-ts"], train_rows=4, test_rows=4)
    file.write_bytes(archive_of())
    assert read_npz(file, source).channels == 1
    file.write_bytes(archive_of(train=npy((10**12, 1))))
    with pytest.raises(InputError, match=r"x\.npz is damaged \(an array of 8,000,000,000,000"):
        read_npz(file, source)
    file.write_bytes(archive_of(train=npy((10**6, 1), bytes(8 * 10**6))))
    with pytest.raises(InputError, match=r"x\.npz must unpack to at most 1,048,832 bytes, twice"):
        read_npz(file, source)
    file.write_bytes(encrypted(archive_of()))
    with pytest.raises(InputError, match=r"x\.npz must need no password"):
        read_npz(file, source)
