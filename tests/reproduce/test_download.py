"""Files come whole or not at all, over connections that break."""

from __future__ import annotations

import hashlib
import io
import socket
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reproduce.benchmarks import SOURCES, check, load_benchmark
from reproduce.benchmarks.benchmark import Download
from reproduce.benchmarks.download import check_address, fetch
from reproduce.benchmarks.obtain import obtain, unpack
from serving import Behaviour, serving
from subadjacent import DataNotFound, InputError

CONTENT = np.random.default_rng(0).bytes(300_000)
QUICK = {"pause": 0.001}


def test_a_file_comes_whole_and_nothing_else_stays(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    with serving(Behaviour({"/a.txt": CONTENT})) as address:
        fetch(
            f"{address}/a.txt",
            tmp_path / "deep" / "a.txt",
            sha256=hashlib.sha256(CONTENT).hexdigest(),
            watch=lambda done, total: seen.append((done, total)),
        )
    assert (tmp_path / "deep" / "a.txt").read_bytes() == CONTENT
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["a.txt"]
    assert seen[-1] == (300_000, 300_000)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_connection_that_breaks_is_taken_up_where_it_broke(tmp_path: Path) -> None:
    how = Behaviour({"/a": CONTENT}, cut=50_000)
    with serving(how) as address:
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT
    ranges = [f"bytes={start}-" for start in range(50_000, 300_000, 50_000)]
    assert [wanted for _, wanted in how.asked] == [None, *ranges]


def test_a_server_without_ranges_is_asked_for_all_of_it_again(tmp_path: Path) -> None:
    how = Behaviour({"/a": CONTENT}, ranges=False, cut=100_000, cuts=2)
    with serving(how) as address:
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert len(how.asked) == 3


def test_what_came_before_is_kept_for_a_later_call(tmp_path: Path) -> None:
    how = Behaviour({"/a": CONTENT}, cut=100_000, cuts=1, healthy_for=1)
    with serving(how) as address:
        with pytest.raises(DataNotFound, match=r"503.*100,000 bytes are kept in .*a.part"):
            fetch(f"{address}/a", tmp_path / "a", **QUICK)
        assert not (tmp_path / "a").exists()
        assert (tmp_path / "a.part").read_bytes() == CONTENT[:100_000]
        how.asked, how.healthy_for = [], None
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
        assert how.asked == [("/a", "bytes=100000-")]
    assert (tmp_path / "a").read_bytes() == CONTENT


@pytest.mark.parametrize("kept", [1, 299_999, 300_000, 300_001])
def test_any_length_of_what_came_before_is_completed(tmp_path: Path, kept: int) -> None:
    how = Behaviour({"/a": CONTENT}, cut=10, cuts=1)
    with serving(how) as address:
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
        (tmp_path / "a").unlink()
        mark = hashlib.md5(CONTENT).hexdigest()
        (tmp_path / "a.part").write_bytes((CONTENT + b"x")[:kept])
        (tmp_path / "a.part.version").write_text(f'"{mark}"')
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_what_came_of_another_version_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "a.part").write_bytes(b"old" * 1000)
    (tmp_path / "a.part.version").write_text('"another"')
    with serving(Behaviour({"/a": CONTENT})) as address:
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_without_a_mark_of_its_version_a_file_is_fetched_from_the_start(tmp_path: Path) -> None:
    how = Behaviour({"/a": CONTENT}, marks=False, cut=100_000, cuts=1)
    with serving(how) as address:
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert [wanted for _, wanted in how.asked] == [None, None]


def test_a_server_that_never_gets_further_is_given_up_on(tmp_path: Path) -> None:
    how = Behaviour({"/a": CONTENT}, ranges=False, cut=1000)
    with serving(how) as address, pytest.raises(DataNotFound, match="broke after 1,000 of 300,000"):
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert not (tmp_path / "a").exists()
    assert len(how.asked) == 5


def test_another_part_than_was_asked_for_is_not_taken(tmp_path: Path) -> None:
    how = Behaviour({"/a": CONTENT}, cut=100_000, cuts=1, shift=5)
    with serving(how) as address, pytest.raises(DataNotFound, match="another part than was asked"):
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a.part").read_bytes() == CONTENT[:100_000]


def test_a_server_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    with serving(Behaviour({"/a": CONTENT}, refuse_with=[503, 429, 500])) as address:
        fetch(f"{address}/a", tmp_path / "a", **QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_a_file_that_is_gone_is_said_to_be_at_once(tmp_path: Path) -> None:
    how = Behaviour({})
    with serving(how) as address, pytest.raises(DataNotFound, match=r"/a is not to be had: .*404"):
        fetch(f"{address}/a", tmp_path / "a")
    assert len(how.asked) == 1


def test_nobody_there_is_said_after_some_tries(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/a"
    with pytest.raises(DataNotFound, match=r"cannot be fetched.*refused"):
        fetch(address, tmp_path / "a", **QUICK)


def test_a_wrong_checksum_leaves_nothing(tmp_path: Path) -> None:
    with serving(Behaviour({"/a": CONTENT})) as address:
        with pytest.raises(InputError, match="SHA-256 checksum 00ff; got"):
            fetch(f"{address}/a", tmp_path / "a", sha256="00ff")
        assert not (tmp_path / "a").exists()
        assert not (tmp_path / "a.part").exists()


def test_a_file_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        serving(Behaviour({"/a": CONTENT})) as address,
        pytest.raises(InputError, match="cannot be written"),
    ):
        fetch(f"{address}/a", tmp_path / "file" / "a")


@pytest.mark.parametrize(
    "address", ["https://example.org/a", "http://localhost:1/", "http://[::1]/"]
)
def test_safe_addresses_pass(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    "address",
    ["http://example.org/a", "ftp://example.org", "file:///etc/passwd", "a", "https://", "http://"],
)
def test_other_addresses_are_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(InputError, match="address must begin with https://"):
        fetch(address, tmp_path / "a")


def test_a_redirect_is_followed_only_to_a_safe_address(tmp_path: Path) -> None:
    how = Behaviour({"/b": CONTENT}, redirects={"/a": "/b", "/c": "http://example.org/b"})
    with serving(how) as address:
        fetch(f"{address}/a", tmp_path / "a")
        assert (tmp_path / "a").read_bytes() == CONTENT
        with pytest.raises(InputError, match=r"https://; got 'http://example.org/b'"):
            fetch(f"{address}/c", tmp_path / "c")


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_an_archive_gives_up_what_matches_and_never_leaves_its_folder(tmp_path: Path) -> None:
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
    unpack(archive, tmp_path / "out", r"(train|test)/[A-Z]-\d+\.npy", 100)
    found = {
        file.relative_to(tmp_path / "out").as_posix(): file.read_bytes()
        for file in (tmp_path / "out").rglob("*")
        if file.is_file()
    }
    assert found == {"train/A-1.npy": b"1", "test/A-1.npy": b"2", "train/B-1.npy": b"3"}


def test_an_archive_that_is_damaged_or_of_something_else_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(packed({"readme": b"1"}))
    with pytest.raises(InputError, match="must hold files such as"):
        unpack(archive, tmp_path / "out", r"train/.*", 100)
    archive.write_bytes(b"PK" + bytes(100))
    with pytest.raises(InputError, match=r"x\.zip is damaged .* thrown away"):
        unpack(archive, tmp_path / "out", r"train/.*", 100)
    assert not archive.exists()


def test_files_that_are_there_are_not_fetched_again(tmp_path: Path) -> None:
    psm = SOURCES["psm"]
    how = Behaviour({f"/{name}": b"x" for name in ("train.csv", "test.csv", "test_label.csv")})
    with serving(how) as address:
        obtain(psm, tmp_path, base=address)
        (tmp_path / "PSM" / "test.csv").unlink()
        how.asked.clear()
        obtain(psm, tmp_path, base=f"{address}/")
    assert how.asked == [("/test.csv", None)]


def test_an_archive_and_a_list_become_a_set(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros((5, 55)))
    line = 'M-6,MSL,"[[1, 3]]",[point],5'
    how = Behaviour(
        {
            "/labeled_anomalies.csv": f"chan_id,spacecraft,anomaly_sequences\n{line}\n".encode(),
            "/nasa-anomaly-detection-dataset-smap-msl": packed(
                {f"data/data/{part}/M-6.npy": stream.getvalue() for part in ("train", "test")}
            ),
        }
    )
    with serving(how) as address:
        obtain(SOURCES["msl"], tmp_path, base=address)
        assert check(load_benchmark("msl", tmp_path)) == "1 of 27 entities"
        how.asked.clear()
        obtain(SOURCES["smap"], tmp_path, base=address)
    assert how.asked == []
    assert sorted(file.name for file in (tmp_path / "telemanom").iterdir()) == [
        "labeled_anomalies.csv", "test", "train",
    ]  # fmt: skip


def test_a_checksum_of_the_table_is_checked(tmp_path: Path) -> None:
    wanted = replace(
        SOURCES["psm"], downloads=(Download("https://example.org", "a", "PSM/a", 9, sha256="00"),)
    )
    with (
        serving(Behaviour({"/a": b"x"})) as address,
        pytest.raises(InputError, match="checksum 00"),
    ):
        obtain(wanted, tmp_path, base=address)


def test_sets_given_out_on_request_say_how_to_ask() -> None:
    for name in ("swat", "wadi"):
        with pytest.raises(DataNotFound, match=r"cannot be downloaded.*on request.*itrust"):
            obtain(SOURCES[name], Path("nowhere"))
    assert not Path("nowhere").exists()


def test_a_generated_set_is_written_whole(tmp_path: Path) -> None:
    obtain(SOURCES["nips-ts"], tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["nips_ts.npz"]
    for contaminated in (False, True):
        assert check(load_benchmark("nips-ts", tmp_path, contaminated=contaminated)) == "complete"
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        obtain(SOURCES["nips-ts"], tmp_path / "file")
