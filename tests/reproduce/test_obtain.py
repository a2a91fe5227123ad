"""Datasets are downloaded or generated completely, or not at all."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from file_server import FileServer, serve
from reproduce.benchmarks import SOURCES, check, load_benchmark
from reproduce.benchmarks.benchmark import Download
from reproduce.benchmarks.obtain import RETRIES, fetch, obtain, unpack
from subadjacent import DataNotFound, InputError

pytestmark = pytest.mark.usefixtures("impatient")

CONTENT = np.random.default_rng(0).bytes(300_000)
PATTERN = r"(train|test)/[A-Z]-\d+\.npy"


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_file_is_fetched_completely_over_connections_that_break(tmp_path: Path) -> None:
    checksum = hashlib.sha256(CONTENT).hexdigest()
    for broken in (0, RETRIES):
        server, folder = FileServer({"/a.txt": CONTENT}, broken), tmp_path / str(broken)
        with serve(server) as address:
            assert fetch(f"{address}/a.txt", folder, "deep/a", checksum) == folder / "deep/a"
        assert files_in(folder) == {"deep/a": CONTENT}
        assert len(server.requests) == 1 + broken


def test_a_failed_download_or_a_wrong_checksum_leaves_nothing(tmp_path: Path) -> None:
    for server, message in (
        (FileServer({"/a": CONTENT}, broken=9), "cannot be fetched"),
        (FileServer({}), "cannot be fetched .*404"),
    ):
        with serve(server) as address, pytest.raises(DataNotFound, match=message):
            fetch(f"{address}/a", tmp_path, "a")
        assert files_in(tmp_path) == {}
    psm = replace(
        SOURCES["psm"],
        downloads=(Download("https://example.org", "a", "PSM/a", sha256="00ff"),),
    )
    with (
        serve(FileServer({"/a": CONTENT})) as address,
        pytest.raises(InputError, match=r"not the published file: .*00ff"),
    ):
        obtain(psm, tmp_path, base=address)
    assert files_in(tmp_path) == {}


def test_an_address_whose_content_could_be_changed_is_refused(tmp_path: Path) -> None:
    for address in ("http://example.org/a", "file:///etc/passwd", "a", "http://"):
        with pytest.raises(InputError, match="address must begin with https://"):
            fetch(address, tmp_path, "a")


def test_files_that_are_there_are_not_fetched_again(tmp_path: Path) -> None:
    names = ("train.csv", "test.csv", "test_label.csv")
    server = FileServer({f"/{name}": b"x" for name in names})
    seen: list[tuple[int, int, str]] = []
    with serve(server) as address:
        obtain(
            SOURCES["psm"], tmp_path, base=address, watch=lambda *progress: seen.append(progress)
        )
        (tmp_path / "PSM" / "test.csv").unlink()
        server.requests.clear()
        obtain(SOURCES["psm"], tmp_path, base=f"{address}/")
    assert server.requests == ["/test.csv"]
    assert seen == [(number, 3, name) for number, name in enumerate(names, start=1)]


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_an_archive_and_a_list_become_a_dataset(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros((5, 55)))
    line = 'M-6,MSL,"[[1, 3]]",[point],5'
    server = FileServer(
        {
            "/labeled_anomalies.csv": f"chan_id,spacecraft,anomaly_sequences\n{line}\n".encode(),
            "/nasa-anomaly-detection-dataset-smap-msl": packed(
                {f"data/data/{part}/M-6.npy": stream.getvalue() for part in ("train", "test")}
            ),
        }
    )
    folder = tmp_path / "telemanom"
    with serve(server) as address:
        obtain(SOURCES["msl"], tmp_path, base=address)
        assert check(load_benchmark("msl", tmp_path)) == "1 of 27 entities"
        server.requests.clear()
        obtain(SOURCES["smap"], tmp_path, base=address)
        assert server.requests == []
        # as after a kill while it was unpacked
        archive = server.files["/nasa-anomaly-detection-dataset-smap-msl"]
        (folder / "nasa-anomaly-detection-dataset-smap-msl.zip").write_bytes(archive)
        (folder / "test" / "M-6.npy").unlink()
        obtain(SOURCES["msl"], tmp_path, base=address)
    assert set(files_in(folder)) == {"labeled_anomalies.csv", "test/M-6.npy", "train/M-6.npy"}


def test_an_archive_never_leaves_its_folder(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(
        packed(
            {
                "data/data/train/A-1.npy": b"1",
                "data/test/A-1.npy": b"2",
                "../../train/B-1.npy": b"3",
                "train/../../evil": b"4",
                "models/A-1.h5": b"5",
            }
        )
    )
    unpack(archive, tmp_path / "out", PATTERN)
    assert files_in(tmp_path) == {
        "out/train/A-1.npy": b"1",
        "out/test/A-1.npy": b"2",
        "out/train/B-1.npy": b"3",
    }


def test_an_archive_that_is_damaged_encrypted_or_of_something_else_is_refused(
    tmp_path: Path,
) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(packed({"readme": b"1"}))
    with pytest.raises(InputError, match="must hold files such as"):
        unpack(archive, tmp_path / "out", PATTERN)
    encrypted = bytearray(packed({"train/A-1.npy": b"1"}))
    # a bit of the flags, in both headers of the file
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.find(mark) + flags] |= 1
    for content in (b"PK" + bytes(100), bytes(encrypted)):
        archive.write_bytes(content)
        with pytest.raises(InputError, match=r"x\.zip is damaged .* deleted: try again"):
            unpack(archive, tmp_path / "out", PATTERN)
        assert not archive.exists()


def test_a_generated_dataset_is_written_and_one_given_out_on_request_says_how_to_ask(
    tmp_path: Path,
) -> None:
    for name in ("swat", "wadi"):
        with pytest.raises(DataNotFound, match=r"cannot be downloaded.*on request.*itrust"):
            obtain(SOURCES[name], tmp_path)
    obtain(SOURCES["nips-ts"], tmp_path)
    assert set(files_in(tmp_path)) == {"nips_ts.npz"}
    for contaminated in (False, True):
        assert check(load_benchmark("nips-ts", tmp_path, contaminated=contaminated)) == "complete"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    server = FileServer({f"/{file}.csv": b"x" for file in ("train", "test", "test_label")})
    for name in ("nips-ts", "psm"):
        with serve(server) as address, pytest.raises(InputError, match="file cannot be written"):
            obtain(SOURCES[name], tmp_path / "file", base=address)
