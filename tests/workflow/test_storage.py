"""Plain paths and addresses of fsspec: files are found, fetched, sent and deleted alike."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from subadjacent.errors import DataNotFound, InputError, MissingPackage
from subadjacent.workflow import storage

both = pytest.mark.parametrize("protocol", ["", "file://"])


@both
def test_files_are_found_by_name_in_all_folders(protocol: str, tmp_path: Path) -> None:
    for name in ("b/2.parquet", "a/3.parquet", "1.parquet", "a/other.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    folder = f"{protocol}{tmp_path}"
    wanted = [f"{folder}/{name}" for name in ("1.parquet", "a/3.parquet", "b/2.parquet")]
    assert storage.find([f"{folder}/**/*.parquet"]) == [(name, name) for name in wanted]
    # patterns keep their order
    found = storage.find([f"{folder}/b/*", f"{folder}/a/*.parquet"])
    assert [address for address, _ in found] == [wanted[2], wanted[1]]
    with pytest.raises(DataNotFound, match=r"^no file matches '.*/c/[*]'"):
        storage.find([f"{folder}/c/*"])


def test_a_path_is_called_as_it_was_given_and_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.parquet").touch()
    monkeypatch.chdir(tmp_path)
    assert storage.find(["*.parquet"]) == [(f"{tmp_path}/1.parquet", "1.parquet")]
    assert storage.absolute("scores") == f"{tmp_path}/scores"
    assert storage.absolute("s3://lake/scores") == "s3://lake/scores"


@both
def test_what_is_sent_can_be_fetched_and_deleted(protocol: str, tmp_path: Path) -> None:
    folder = f"{protocol}{tmp_path}/new"
    assert storage.names_in(folder) == []
    address = storage.within(f"{folder}/", "deep", "one.parquet")
    assert address == f"{folder}/deep/one.parquet"
    for text in ("first", "second"):
        with storage.sent(address) as path:
            path.write_text(text)
        with storage.fetched(address) as path:
            assert path.read_text() == text
    assert storage.names_in(folder) == ["deep"]
    assert storage.names_in(f"{folder}/deep") == ["one.parquet"]
    assert storage.is_file(address)
    assert not storage.is_file(folder)
    storage.remove(address)
    assert storage.names_in(f"{folder}/deep") == []
    storage.remove(folder)
    assert not (tmp_path / "new").exists()
    # what is not there need not be deleted
    storage.remove(folder)


@both
def test_what_was_not_written_to_its_end_is_not_sent(protocol: str, tmp_path: Path) -> None:
    address = f"{protocol}{tmp_path}/one.parquet"

    def write() -> None:
        with storage.sent(address) as path:
            path.write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(tmp_path.iterdir()) == []


@both
def test_a_place_that_cannot_be_written_to_is_named(protocol: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    address = f"{protocol}{tmp_path}/file/one.parquet"
    with (
        pytest.raises(InputError, match=rf"^{address} cannot be written; .*: check the address"),
        storage.sent(address) as path,
    ):
        path.write_text("something")


def test_an_address_without_fsspec_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingPackage, match=r"^reading file:///x needs fsspec.*pip install"):
        storage.find(["file:///x"])
