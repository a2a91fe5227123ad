"""Whole files or none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from subadjacent.errors import InputError
from subadjacent.workflow.writing import (
    check_output_place,
    check_writable,
    whole_output,
    write_table,
    write_text,
)

TABLE = pl.DataFrame({"a": range(10)})


def test_an_output_folder_replaces_that_of_an_older_run(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with whole_output(tmp_path / "out") as draft:
            write_text(text, draft / "report.html")
            if text == "old":
                write_text(text, draft / "alarms.csv")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["report.html"]
    assert (tmp_path / "out" / "report.html").read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_an_output_folder_that_fails_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^no$"), whole_output(tmp_path / "out"):
        raise InputError("no")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["report.html/x", "x"])
def test_a_file_that_cannot_be_written_is_named_as_it_would_have_been(
    tmp_path: Path, name: str
) -> None:
    def fail() -> None:
        with whole_output(tmp_path / "out") as draft:
            (draft / "report.html").touch()
            (draft / "x").mkdir()
            write_text("", draft / name)

    where = str(tmp_path / "out" / name)
    with pytest.raises(InputError) as caught:
        fail()
    assert str(caught.value).startswith(where)

    def fill_up() -> None:
        with whole_output(tmp_path / "out"):
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="out cannot be written: No space left on device"):
        fill_up()


def test_only_what_was_written_by_detect_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    (out / ".git").mkdir(parents=True)
    for name in ("alarms.csv", "scores.csv"):
        (out / name).touch()
    check_output_place(out)
    (out / "model").mkdir()
    (out / "model" / "thesis.txt").touch()
    with pytest.raises(InputError, match=r"path must be new or a model folder; .* thesis\.txt"):
        check_output_place(out)
    (out / "notes.txt").touch()
    with pytest.raises(
        InputError,
        match=r"out must be a new folder, or hold nothing but .*; it holds notes\.txt: name an",
    ):
        check_output_place(out)
    with pytest.raises(InputError, match=r"notes\.txt must be a new folder.*; it is a file"):
        check_output_place(out / "notes.txt")
    monkeypatch.setattr("subadjacent.workflow.writing.is_output", lambda _: True)
    with pytest.raises(InputError, match="the output folder must not be a mount point"):
        check_output_place(Path("/proc"))


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_table(TABLE, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("a\n0\n")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_suffix_decides_the_kind_of_table(tmp_path: Path, name: str) -> None:
    write_table(TABLE, tmp_path / "new" / name)
    read = pl.read_csv if name.endswith("csv") else pl.read_parquet
    assert read(tmp_path / "new" / name).equals(TABLE)


def test_a_place_that_cannot_be_written_is_refused() -> None:
    # under /proc nothing can be made, not even by root
    with pytest.raises(InputError, match=r"/proc/nowhere/a\.csv cannot be written"):
        check_writable(Path("/proc/nowhere/a.csv"))


def test_a_place_on_a_full_disk_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(_self: Path, _content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"a\.csv cannot be written: No space left on device"):
        check_writable(tmp_path / "new" / "a.csv")
    assert list(tmp_path.iterdir()) == []
