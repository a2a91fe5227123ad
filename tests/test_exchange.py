"""Folders that are replaced whole, in both ways of doing it, and read whole meanwhile."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from running import GENEROUS
from subadjacent import exchange
from subadjacent.errors import DataNotFound, InputError
from subadjacent.exchange import check_replaceable, read_steady, whole_folder

OURS = {"a", "b"}
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(params=["exchange", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to replace a folder."""
    if request.param == "two renames":
        monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    return str(request.param)


def put(path: Path, text: str) -> None:
    with whole_folder(path, OURS.__contains__) as draft:
        for name in sorted(OURS):
            (draft / name).write_text(text)


def texts(path: Path) -> set[str]:
    return {(path / name).read_text() for name in sorted(OURS)}


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_folder_replaces_another_and_nothing_else_is_left(way: str, tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        put(tmp_path / "new" / "m", text)
        assert texts(tmp_path / "new" / "m") == {text}
        assert names(tmp_path / "new") == ["m"], way


def test_linux_has_the_call_that_is_used_here(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux can let two folders change places")
    put(tmp_path / "one", "1")
    put(tmp_path / "two", "2")
    assert exchange._exchange(tmp_path / "one", tmp_path / "two")
    assert (texts(tmp_path / "one"), texts(tmp_path / "two")) == ({"2"}, {"1"})
    with pytest.raises(FileNotFoundError):
        exchange._exchange(tmp_path / "one", tmp_path / "none")


@pytest.mark.parametrize("number", exchange.CANNOT_EXCHANGE)
def test_a_disk_that_cannot_exchange_gets_two_renames(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
    monkeypatch.setattr(exchange, "_renameat2", lambda: lambda *_: -1)
    monkeypatch.setattr(exchange.ctypes, "get_errno", lambda: number)
    put(tmp_path / "m", "new")
    assert texts(tmp_path / "m") == {"new"}


def test_what_the_system_refuses_for_another_reason_is_raised_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
    monkeypatch.setattr(exchange, "_renameat2", lambda: lambda *_: -1)
    monkeypatch.setattr(exchange.ctypes, "get_errno", lambda: errno.EBUSY)
    with pytest.raises(OSError, match="busy"):
        put(tmp_path / "m", "new")
    assert texts(tmp_path / "m") == {"old"}
    assert names(tmp_path) == ["m"]


def test_a_second_rename_that_fails_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
    monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    rename = Path.rename

    def fail_into_place(self: Path, target: Path) -> Path:
        if target.name == "m" and not self.name.endswith(".replaced"):
            raise OSError("Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_into_place)
    with pytest.raises(OSError, match="busy"):
        put(tmp_path / "m", "new")
    assert texts(tmp_path / "m") == {"old"}
    assert names(tmp_path) == ["m"]


def test_work_that_fails_changes_nothing(way: str, tmp_path: Path) -> None:
    put(tmp_path / "m", "old")

    def fail() -> None:
        with whole_folder(tmp_path / "m", OURS.__contains__) as draft:
            (draft / "a").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert texts(tmp_path / "m") == {"old"}
    assert names(tmp_path) == ["m"], way


def test_what_is_not_ours_moves_along_with_the_folder_s_mode(way: str, tmp_path: Path) -> None:
    put(tmp_path / "m", "old")
    (tmp_path / "m" / ".git").mkdir()
    (tmp_path / "m" / ".git" / "HEAD").write_text("main")
    (tmp_path / "m").chmod(0o750)
    put(tmp_path / "m", "new")
    assert (tmp_path / "m" / ".git" / "HEAD").read_text() == "main"
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o750
    assert names(tmp_path) == ["m"], way


def test_everything_is_on_disk_before_it_takes_its_place(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
    synced: list[tuple[str, set[str]]] = []
    monkeypatch.setattr(
        exchange, "sync", lambda path: synced.append((path.name, texts(tmp_path / "m")))
    )
    put(tmp_path / "m", "new")
    assert [(name[:3], *text) for name, text in synced if name != tmp_path.name] == [
        *((name, "old") for name, _ in synced[:2]),
        (".m.", "old"),
    ], way
    assert {name for name, _ in synced[:2]} == OURS
    assert synced[-1] == (tmp_path.name, {"new"})


def test_left_overs_of_the_killed_are_cleared_and_what_is_not_ours_in_them_is_not_lost(
    way: str, tmp_path: Path
) -> None:
    put(tmp_path / "m", "old")
    killed = tmp_path / ".m.0123abcd"
    (killed / ".a.89abcdef").mkdir(parents=True)
    (killed / "a").write_text("half")
    (killed / ".git").write_text("kept")
    (killed / ".cache.01234567").write_text("kept")
    (killed / ".both").write_text("theirs")
    (tmp_path / "m" / ".both").write_text("ours")
    put(tmp_path / "m", "new")
    for name in (".git", ".cache.01234567"):
        assert (tmp_path / "m" / name).read_text() == "kept"
    assert (tmp_path / "m" / ".both").read_text() == "ours"
    # two of one name cannot both be there: it stays where it was
    assert names(killed) == [".both"]
    assert names(tmp_path) == [killed.name, "m"], way


def test_the_draft_of_another_who_is_at_work_is_left_alone(way: str, tmp_path: Path) -> None:
    with whole_folder(tmp_path / "m", OURS.__contains__) as draft:
        (draft / "a").write_text("slow")
        (draft / "b").write_text("slow")
        put(tmp_path / "m", "quick")
        assert texts(tmp_path / "m") == {"quick"}
    assert texts(tmp_path / "m") == {"slow"}
    assert names(tmp_path) == ["m"], way


def test_a_folder_that_was_set_aside_is_read_there_and_put_back(tmp_path: Path) -> None:
    put(tmp_path / "m", "old")
    (tmp_path / "m").rename(tmp_path / ".m.replaced")
    (tmp_path / "link").symlink_to("m")
    assert read_steady(tmp_path / "m", texts) == {"old"}
    assert read_steady(tmp_path / "link", texts) == {"old"}

    def fail() -> None:
        with whole_folder(tmp_path / "m", OURS.__contains__):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert texts(tmp_path / "m") == {"old"}
    assert names(tmp_path) == ["link", "m"]


def test_one_that_was_set_aside_and_replaced_is_cleared(tmp_path: Path) -> None:
    put(tmp_path / ".m.replaced", "older")
    put(tmp_path / "m", "old")
    assert read_steady(tmp_path / "m", texts) == {"old"}
    put(tmp_path / "m", "new")
    assert names(tmp_path) == ["m"]


def test_what_was_replaced_while_it_was_read_is_read_again(way: str, tmp_path: Path) -> None:
    put(tmp_path / "m", "old")
    readings: list[set[str]] = []

    def read(folder: Path) -> set[str]:
        first = (folder / "a").read_text()
        if not readings:
            put(tmp_path / "m", "new")
        readings.append({first, (folder / "b").read_text()})
        return readings[-1]

    assert read_steady(tmp_path / "m", read) == {"new"}
    assert readings == [{"old", "new"}, {"new"}], way


def test_an_error_of_a_folder_that_was_replaced_is_not_raised(tmp_path: Path) -> None:
    tries: list[Path] = []

    def read(folder: Path) -> set[str]:
        tries.append(folder)
        if len(tries) == 1:
            put(folder, "new")
            raise DataNotFound("there is no such folder")
        return texts(folder)

    # there is none at first, and an older one the second time
    for _ in range(2):
        assert read_steady(tmp_path / "m", read) == {"new"}
        assert len(tries) == 2
        tries.clear()


def test_an_error_of_a_folder_that_stays_is_raised_at_once(tmp_path: Path) -> None:
    tries: list[Path] = []

    def read(folder: Path) -> None:
        tries.append(folder)
        raise DataNotFound("no")

    for name in ("none", "."):
        with pytest.raises(DataNotFound, match="no"):
            read_steady(tmp_path / name, read)
    assert len(tries) == 2


def test_a_folder_that_never_stays_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "READINGS", 3)
    with pytest.raises(InputError, match="is replaced again and again"):
        read_steady(tmp_path / "m", lambda folder: put(folder, "new"))


def test_folders_that_cannot_be_replaced_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("/proc")
    for path in ("/proc", tmp_path / "link"):
        with pytest.raises(InputError, match=r"-o must not be a mount point.*name a folder within"):
            check_replaceable(Path(path), "-o")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="path must not be the current folder"):
        check_replaceable(Path("../" + tmp_path.name))
    (tmp_path / "file").touch()
    for path in ("new", "file"):
        check_replaceable(Path(path))


def test_a_folder_of_the_same_disk_that_is_mounted_is_a_mount_point(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    bind = ["mount", "--bind", str(tmp_path / "here"), str(tmp_path / "there")]
    try:
        done = subprocess.run(bind, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(InputError, match="must not be a mount point"):
            check_replaceable(tmp_path / "there")
        check_replaceable(tmp_path / "here")
    finally:
        subprocess.run(["umount", str(tmp_path / "there")], check=True)


def test_a_kill_leaves_the_old_folder_or_the_new_one(way: str, tmp_path: Path) -> None:
    """Every third line of what replaces a folder, each in a process that is killed before it."""
    script = textwrap.dedent("""
        import os, sys
        from pathlib import Path
        sys.path[:0] = sys.argv[1:3]
        from kills import forked, lines_of, until_line
        from subadjacent import exchange
        from test_exchange import names, put, texts

        # what a kill leaves does not depend on it, and disks take their time
        os.fsync = lambda _handle: None
        if sys.argv[3] == "two renames":
            exchange._renameat2 = lambda: None
        place = Path(sys.argv[4]) / "m"
        put(place, "0")
        (place / ".git").write_text("kept")
        lines, old, seen = lines_of(lambda: put(place, "0")), "0", set()
        for line in range(1, lines + 1, 3):
            new = str(line)
            status = forked(lambda: until_line(lambda: put(place, new), line))
            assert os.WIFSIGNALED(status), line
            (now,) = exchange.read_steady(place, texts)
            assert now in (old, new), (line, old, now)
            seen.add(now == new)
            old = now
        assert seen == {False, True}
        put(place, "end")
        assert names(place) == [".git", "a", "b"], names(place)
        assert names(place.parent) == ["m"], names(place.parent)
        print(lines)
    """)
    done = subprocess.run(
        [sys.executable, "-c", script, BENCHMARKS, Path(__file__).parent, way, tmp_path],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
