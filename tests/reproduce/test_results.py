"""Rows are on disk, whole; what is damaged is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from committed import RESULTS
from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED, Run
from subadjacent.errors import InputError

RUN = Run("msl", "random", CLEAN)
OTHER = Run("msl", "random", PUBLISHED, seed=1)


def test_what_is_added_is_there_for_the_next_reader(tmp_path: Path) -> None:
    Results(tmp_path / "rows").add(RUN, {"f1": 1 / 3, "verdict": "fine, really"})
    found = Results(tmp_path / "rows")
    assert RUN in found
    assert OTHER not in found
    assert found.value(RUN, "f1") == 0.333333
    row = found.get(RUN)
    assert row is not None
    assert row["verdict"] == "fine, really"
    assert row["key"] == RUN.key


def test_a_row_replaces_an_older_one_of_its_run_and_none_of_another_writer(tmp_path: Path) -> None:
    # what a kill left behind is no row, and is written over
    (tmp_path / ".random.csv.0123abcd").write_text("key,det")
    one, two = Results(tmp_path), Results(tmp_path)
    assert len(one) == 0
    one.add(RUN, {"f1": 0.5})
    one.add(RUN, {"f1": 0.7, "seconds": 1800.0, "hardware": "CPU"})
    two.add(OTHER, {"f1": 0.6, "seconds": 3600.0, "hardware": "CPU"})
    found = Results(tmp_path)
    assert (len(found), found.value(RUN, "f1"), found.hours()) == (2, 0.7, {"CPU": 1.5})
    assert [file.name for file in tmp_path.iterdir()] == ["random.csv"]


def test_committed_files_are_written_back_as_they_are(tmp_path: Path) -> None:
    shutil.copy(RESULTS / "facts.csv", tmp_path)
    before = (tmp_path / "facts.csv").read_bytes()
    results = Results(tmp_path)
    run = Run("msl", "facts", CLEAN)
    row = results.get(run)
    assert row is not None
    own = {"key", "dataset", "detector", "protocol", "seed", "settings", "score", "train_share",
           "per_entity", "quick"}  # fmt: skip
    results.add(run, {name: text for name, text in row.items() if name not in own})
    assert (tmp_path / "facts.csv").read_bytes() == before


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(RUN, {"f1": 0.5})
    before = (tmp_path / "random.csv").read_bytes()

    class Bomb:
        def __str__(self) -> str:
            return "\ud800"  # cannot be encoded: fails after the file was opened

    with pytest.raises(UnicodeEncodeError):
        results.add(OTHER, {"f1": Bomb()})
    assert (tmp_path / "random.csv").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["random.csv"]


def test_a_damaged_file_is_named_with_a_way_out(tmp_path: Path) -> None:
    Results(tmp_path).add(RUN, {"f1": 0.5})
    file = tmp_path / "random.csv"
    whole = file.read_text()
    for damaged, rule in (
        (whole[:-8], "line 2 must have a key and one value a column"),
        (whole.replace("msl", "msl,msl", 1), "line 2 must have a key"),
        (whole.replace("protocol", "protokoll"), "must have a column 'protocol'"),
        ("", "must have a column 'key'"),
        (whole.replace("msl", "\ud8ff"), "must be a CSV file of results"),
    ):
        file.write_bytes(damaged.encode("utf-8", "surrogatepass"))
        with pytest.raises(InputError, match=rule) as found:
            Results(tmp_path)
        assert str(file) in str(found.value)
        assert "delete it and its runs are made again" in str(found.value)


def test_a_word_where_a_number_should_be_is_named(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(RUN, {"f1": "many"})
    with pytest.raises(InputError, match=rf"f1 must be a number in .*random.csv, row {RUN.key}"):
        results.value(RUN, "f1")
