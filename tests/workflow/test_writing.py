"""Whole files or none."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from subadjacent.errors import InputError
from subadjacent.workflow.writing import check_writable, filled_folder, whole_file, write_table

TABLE = pl.DataFrame({"a": range(10)})


def test_a_folder_that_nothing_came_of_is_gone_again(tmp_path: Path) -> None:
    with pytest.raises(InputError), filled_folder(tmp_path / "new"):
        raise InputError("no")
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(InputError), filled_folder(tmp_path / "old"):
        raise InputError("no")
    assert (tmp_path / "old").is_dir()


def test_only_ordinary_files_are_written_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="must be an ordinary file"):
        write_table(TABLE, tmp_path / "pipe.csv")
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


def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    def interrupted() -> None:
        with whole_file(tmp_path / "a.txt") as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_place_that_cannot_be_written_is_refused() -> None:
    # under /proc nothing can be made, not even by root
    with pytest.raises(InputError, match=r"/proc/nowhere/a\.csv cannot be written"):
        check_writable(Path("/proc/nowhere/a.csv"))
