"""Files that are whole or not there, drafts that have an owner, and left-overs that have none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from subadjacent import durable
from subadjacent.durable import DRAFT, claim, left_overs, sync, whole_file
from subadjacent.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_file_appears_under_its_name_once_it_is_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with whole_file(tmp_path / "a.txt") as draft:
        draft.write_text("new")
        assert DRAFT.fullmatch(draft.name)
        assert draft.name.startswith(".a.txt.")
        assert (tmp_path / "a.txt").read_text() == "old"
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_file_and_folder_are_on_disk_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, bool]] = []

    def note(handle: int) -> None:
        # whether it is a folder, and whether the file had its name by then
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), (tmp_path / "a").exists()))

    monkeypatch.setattr(os, "fsync", note)
    with whole_file(tmp_path / "a") as draft:
        draft.write_text("new")
    assert synced == [(False, False), (True, True)]


def test_what_fails_leaves_the_old_file_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def fail() -> None:
        with whole_file(tmp_path / "a") as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_only_ordinary_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="must be an ordinary file"), whole_file(tmp_path / "pipe"):
        pass


def test_left_overs_are_those_of_this_name_that_nobody_writes(tmp_path: Path) -> None:
    others = [".a.txt.0123abc", ".a.txt.0123ABCD", ".b.txt.0123abcd", "a.txt.0123abcd"]
    for name in [".a.txt.0123abcd", *others]:
        (tmp_path / name).touch()
    with claim(tmp_path / "a.txt", folder=False) as draft:
        assert [one.name for one in left_overs(tmp_path / "a.txt")] == [".a.txt.0123abcd"]
        with whole_file(tmp_path / "a.txt"):
            pass
        assert names(tmp_path) == sorted([*others, "a.txt", draft.name])
    assert names(tmp_path) == sorted([*others, "a.txt"])


def test_where_there_are_no_locks_nothing_is_taken_for_a_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "lock", lambda _handle, **_: False)
    (tmp_path / ".a.0123abcd").touch()
    with whole_file(tmp_path / "a") as draft:
        draft.write_text("new")
    assert names(tmp_path) == [".a.0123abcd", "a"]


def test_a_draft_that_was_swept_before_it_was_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = durable.lock, []

    def sweep_first(handle: int, *, wait: bool) -> bool:
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].rmdir()
        return lock(handle, wait=wait)

    monkeypatch.setattr(durable, "lock", sweep_first)
    with claim(tmp_path / "a", folder=True) as draft:
        assert draft.is_dir()
        assert draft != swept[0]
    assert names(tmp_path) == []


def test_what_took_the_place_of_a_draft_is_not_deleted_with_it(tmp_path: Path) -> None:
    with claim(tmp_path / "a", folder=True) as draft:
        draft.rename(tmp_path / "a")
        draft.mkdir()
        (draft / "thesis.txt").write_text("years of work")
    assert (draft / "thesis.txt").read_text() == "years of work"


def test_what_is_gone_needs_no_sync(tmp_path: Path) -> None:
    sync(tmp_path / "nothing")
