"""Files and folders are written whole or not at all, and read whole while they are replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from running import GENEROUS
from subadjacent import durable
from subadjacent.durable import check_replaceable, read_whole, sync, whole_file, whole_folder
from subadjacent.errors import DataNotFound, InputError

OURS = {"a", "b"}
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def put(path: Path, text: str) -> None:
    with whole_folder(path, OURS.__contains__) as draft:
        for name in sorted(OURS):
            (draft / name).write_text(text)


def texts(path: Path) -> set[str]:
    return {(path / name).read_text() for name in sorted(OURS)}


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_replaces_another_once_it_is_whole_and_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, str]] = []
    file = tmp_path / "new" / "a.txt"

    def record(handle: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), file.read_text()))

    with whole_file(file) as draft:
        draft.write_text("old")
    monkeypatch.setattr(os, "fsync", record)
    with whole_file(file) as draft:
        draft.write_text("new")
        assert file.read_text() == "old"
    assert synced == [(False, "old"), (True, "new")]
    assert names(tmp_path / "new") == ["a.txt"]
    sync(tmp_path / "nothing")  # what is gone needs no sync


def test_only_ordinary_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="must be an ordinary file"), whole_file(tmp_path / "pipe"):
        pass


def test_folders_replace_each_other_and_nothing_else_is_left(tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        put(tmp_path / "new" / "m", text)
        assert texts(tmp_path / "new" / "m") == {text}
        assert names(tmp_path / "new") == ["m"]


def test_work_that_fails_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path / "m", "old")
    (tmp_path / "f").write_text("old")
    drafts = whole_folder(tmp_path / "m", OURS.__contains__), whole_file(tmp_path / "f")
    for draft in drafts:
        with pytest.raises(KeyboardInterrupt), draft:
            raise KeyboardInterrupt
    assert texts(tmp_path / "m") == {"old"}
    assert (tmp_path / "f").read_text() == "old"
    assert names(tmp_path) == ["f", "m"]


def test_a_rename_that_fails_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
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


def test_everything_is_on_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
    synced: list[tuple[str, set[str]]] = []
    monkeypatch.setattr(
        durable, "sync", lambda path: synced.append((path.name[:3], texts(tmp_path / "m")))
    )
    put(tmp_path / "m", "new")
    assert sorted(synced[:2]) == [("a", {"old"}), ("b", {"old"})]
    assert synced[2:] == [(".m.", {"old"}), (tmp_path.name[:3], {"new"})]


def test_files_of_others_move_along_and_the_folder_keeps_its_mode(tmp_path: Path) -> None:
    put(tmp_path / "m", "old")
    (tmp_path / "m" / ".git").mkdir()
    (tmp_path / "m" / ".git" / "HEAD").write_text("main")
    (tmp_path / "m").chmod(0o750)
    put(tmp_path / "m", "new")
    assert (tmp_path / "m" / ".git" / "HEAD").read_text() == "main"
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o750
    assert names(tmp_path) == ["m"]


def test_abandoned_drafts_of_this_name_are_removed_with_nothing_of_others_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "m", "old")
    killed = tmp_path / ".m.0123abcd"
    killed.mkdir()
    (tmp_path / ".m.4567cdef").touch()
    (killed / "a").write_text("half")
    (killed / ".git").write_text("kept")
    (killed / ".a.89abcdef").write_text("half")
    (killed / ".cache.89abcdef").write_text("kept")
    others = [".f.0123abc", ".f.0123ABCD", ".g.0123abcd", "f.0123abcd"]
    for name in (".f.0123abcd", *others):
        (tmp_path / name).touch()
    with monkeypatch.context() as without_locks:
        without_locks.setattr(durable, "lock", lambda _handle, **_: False)
        put(tmp_path / "m", "new")
        with whole_file(tmp_path / "f"):
            pass
    assert killed.exists()
    assert (tmp_path / ".f.0123abcd").exists()
    put(tmp_path / "m", "new")
    with whole_file(tmp_path / "f"):
        pass
    assert names(tmp_path / "m") == [".cache.89abcdef", ".git", "a", "b"]
    assert names(tmp_path) == sorted([*others, "f", "m"])


def test_drafts_of_writers_at_work_are_left_alone(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "m", OURS.__contains__) as draft:
        (draft / "a").write_text("slow")
        (draft / "b").write_text("slow")
        put(tmp_path / "m", "quick")
        assert texts(tmp_path / "m") == {"quick"}
    assert texts(tmp_path / "m") == {"slow"}
    assert names(tmp_path) == ["m"]


@pytest.mark.parametrize("step", ["opened", "lock"])
def test_a_draft_removed_before_it_was_locked_is_made_again(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[Path] = []
    original = getattr(durable, step)

    def remove_first(*arguments: Any, **options: Any) -> Any:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        return original(*arguments, **options)

    monkeypatch.setattr(durable, step, remove_first)
    with whole_file(tmp_path / "a") as draft:
        assert draft.exists()
        assert draft != removed[0]
    assert names(tmp_path) == ["a"]


def test_a_file_in_the_place_of_a_draft_is_not_deleted_with_it(tmp_path: Path) -> None:
    with suppress(FileNotFoundError), whole_folder(tmp_path / "m", bool) as draft:
        draft.rename(tmp_path / "moved")
        draft.mkdir()
        (draft / "thesis.txt").write_text("years of work")
        raise FileNotFoundError
    assert (draft / "thesis.txt").read_text() == "years of work"


def test_a_folder_set_aside_is_read_there_and_put_back(tmp_path: Path) -> None:
    put(tmp_path / "out" / "m", "old")
    (tmp_path / "out" / "m").rename(tmp_path / "out" / ".m.replaced")
    (tmp_path / "link").symlink_to("out/m")
    for path in ("out/m", "link"):
        assert read_whole(tmp_path / path, texts) == {"old"}
    with (
        pytest.raises(KeyboardInterrupt),
        whole_folder(tmp_path / "out" / "m", OURS.__contains__),
    ):
        raise KeyboardInterrupt
    assert names(tmp_path / "out") == ["m"]
    (tmp_path / "out").rename(tmp_path / ".out.replaced")
    assert read_whole(tmp_path / "out" / "m", texts) == {"old"}


def test_a_folder_set_aside_and_replaced_is_deleted(tmp_path: Path) -> None:
    put(tmp_path / ".m.replaced", "older")
    put(tmp_path / "m", "old")
    assert read_whole(tmp_path / "m", texts) == {"old"}
    put(tmp_path / "m", "new")
    assert names(tmp_path) == ["m"]


def test_a_folder_replaced_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    put(tmp_path / "m", "old")
    readings: list[set[str]] = []

    def read(folder: Path) -> set[str]:
        first = (folder / "a").read_text()
        if not readings:
            put(tmp_path / "m", "new")
        readings.append({first, (folder / "b").read_text()})
        return readings[-1]

    assert read_whole(tmp_path / "m", read) == {"new"}
    assert readings == [{"old", "new"}, {"new"}]


def test_errors_of_a_folder_are_raised_if_it_was_not_replaced(tmp_path: Path) -> None:
    tries: list[Path] = []

    def read(folder: Path) -> set[str]:
        tries.append(folder)
        if len(tries) == 1:
            put(folder, "new")
            raise DataNotFound("there is no such folder")
        return texts(folder)

    # there is none at first, and an older one the second time
    for _ in range(2):
        assert read_whole(tmp_path / "m", read) == {"new"}
        assert len(tries) == 2
        tries.clear()
    tries.append(tmp_path)
    for name in ("none", "."):
        with pytest.raises(FileNotFoundError):
            read_whole(tmp_path / name, read)
    assert len(tries) == 3


def test_a_folder_replaced_without_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "MAX_ATTEMPTS", 3)
    with pytest.raises(InputError, match="is replaced again and again"):
        read_whole(tmp_path / "m", lambda folder: put(folder, "new"))
    put(tmp_path / ".m.replaced", "older")
    monkeypatch.setattr(durable, "_delete", lambda _path: None)
    with pytest.raises(OSError, match="cannot be deleted"):
        put(tmp_path / "m", "newer")
    assert texts(tmp_path / "m") == {"new"}


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


def python(script: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(BENCHMARKS), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_forked_during_a_save_keeps_no_lock(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from subadjacent.durable import whole_folder
        from test_durable import put

        place = Path(sys.argv[1]) / "m"
        with whole_folder(place, bool):
            child = os.fork()
            if not child:
                signal.pause()
        put(place, "new")
        os.kill(child, signal.SIGKILL)
    """
    python(script, tmp_path)
    assert texts(tmp_path / "m") == {"new"}


def test_a_kill_before_any_line_leaves_the_old_folder_or_the_new_one(tmp_path: Path) -> None:
    script = """
        import os, sys
        from pathlib import Path
        from kills import forked, lines_of, until_line
        from subadjacent.durable import read_whole
        from test_durable import names, put, texts

        # what a kill leaves does not depend on it, and disks take their time
        os.fsync = lambda _handle: None
        place = Path(sys.argv[1]) / "m"
        put(place, "0")
        (place / ".git").write_text("kept")
        lines, old, seen = lines_of(lambda: put(place, "0")), "0", set()
        for line in range(1, lines + 1, 3):
            new = str(line)
            status = forked(lambda: until_line(lambda: put(place, new), line))
            assert os.WIFSIGNALED(status), line
            (now,) = read_whole(place, texts)
            assert now in (old, new), (line, old, now)
            seen.add(now == new)
            old = now
        assert seen == {False, True}
        put(place, "end")
        assert names(place) == [".git", "a", "b"], names(place)
        assert names(place.parent) == ["m"], names(place.parent)
        print(lines)
    """
    assert int(python(script, tmp_path)) > 100


@pytest.mark.parametrize("kills", [20, pytest.param(300, marks=pytest.mark.sweep)])
def test_a_model_whose_saving_is_killed_is_the_old_or_the_new_one(
    kills: int, tmp_path: Path
) -> None:
    script = """
        import random, sys
        from pathlib import Path
        from kills import POINTS, kills_of_save

        for by in POINTS:
            folder = Path(sys.argv[1], by)
            folder.mkdir()
            found = kills_of_save(folder, int(sys.argv[2]) // 2, by, random.Random(0))
            assert not +found & {"none": 1, "mixed": 1, "errors": 1, "left_overs": 1}.keys(), found
            print(found["killed"])
    """
    by_line, by_moment = map(int, python(script, tmp_path, kills).split())
    assert by_line == kills // 2
    assert by_moment <= kills // 2
