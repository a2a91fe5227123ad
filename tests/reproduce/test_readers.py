"""Each file format of the public sets, with its quirks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmark_files import (
    SWAT_SENSORS,
    WADI_LABEL,
    WADI_PREFIX,
    WADI_SENSORS,
    swat_lines,
    wadi_names,
    wadi_row,
    write_lines,
    write_xlsx,
)
from reproduce.benchmarks import SOURCES, Benchmark, fingerprint, load_benchmark
from reproduce.benchmarks.archive import read_npz, write_npz
from reproduce.benchmarks.itrust import TEST, TRAIN, _second
from reproduce.benchmarks.psm import read_psm
from reproduce.benchmarks.smd import read_machines
from reproduce.benchmarks.telemanom import read_telemanom
from subadjacent import DataNotFound, InputError


def refused(call: Callable[[], object], *parts: str, kind: type[Exception] = InputError) -> None:
    """Whether a call is refused with a message that has all parts, on one line."""
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


class TestPSM:
    names: tuple[str, ...] = ("timestamp_(min)", *(f"feature_{number}" for number in range(25)))
    head: tuple[str, ...] = ("timestamp_(min)", "label")

    def write(self, folder: Path, **changed: Sequence[Sequence[str | float]]) -> Path:
        files: dict[str, Sequence[Sequence[str | float]]] = {
            "train": [self.names, [0, *[0.25] * 25], [1, *[0.5] * 25]],
            "test": [self.names, [2, *[0.75] * 25], [3, *[1] * 25], [4, *[0] * 25]],
            "test_label": [self.head, ["2.0", 0], ["3.0", 1], ["4.0", 1]],
        }
        for name, lines in (files | changed).items():
            write_lines(folder / f"{name}.csv", lines)
        return folder

    def test_three_files_are_one_series_with_labels(self, tmp_path: Path) -> None:
        self.write(tmp_path / "PSM")
        psm = load_benchmark("psm", tmp_path)
        assert psm.train[0].values[:, 3].tolist() == [0.25, 0.5]
        assert psm.train[0].channels[24] == "feature_24"
        assert psm.test[0].rows.values[:, 0].tolist() == [0.75, 1, 0]
        assert psm.test[0].labels.tolist() == [0, 1, 1]
        assert psm.train[0].entity is None
        assert psm.train[0].values.dtype == np.float32

    def test_an_empty_cell_takes_the_value_above_it_or_zero(self, tmp_path: Path) -> None:
        rows = [[row, cell, *[1] * 24] for row, cell in enumerate(["", "", 7, "", "nan", 9])]
        psm = read_psm(self.write(tmp_path, train=[self.names, *rows]), SOURCES["psm"])
        assert psm.train[0].values[:, 0].tolist() == [0, 0, 7, 7, 7, 9]

    def test_files_that_do_not_fit_are_refused_by_line_and_column(self, tmp_path: Path) -> None:
        row, names, head = [0, *[1] * 25], self.names, self.head
        for name, lines, parts in (
            ("test_label", [head, [2, 0], [3, 1]], ("test_label.csv", "each of the 3", "got 2")),
            ("test_label", [head, [2, 0], [9, 1], [4, 1]], ("test_label.csv, line 3", "3; got 9")),
            ("test_label", [head, [2, 0], [3, 2], [4, 1]], ("line 3, column label", "1; got 2")),
            (
                "train",
                [names, row, [1, 1, "high", *[1] * 23]],
                ("train.csv, line 3, column feature_1 must be a number; got 'high'",),
            ),
            ("train", [names, row, [1, *[1] * 12]], ("line 3 must have 26 cells", "got 13")),
            ("train", [names, [0, "inf", *[1] * 24]], ("line 2, column feature_0", "finite")),
            ("train", [names[:2], [0, 1]], ("train.csv, line 1", "25", "got 1")),
            ("train", [names], ("train.csv must have rows",)),
            ("train", [[1, 2, 3]], ("train.csv must have a header",)),
        ):
            self.write(tmp_path, **{name: lines})
            refused(lambda: read_psm(tmp_path, SOURCES["psm"]), *parts)
        (tmp_path / "train.csv").write_bytes(b"\xff\xfe\x00\x01")
        refused(lambda: read_psm(tmp_path, SOURCES["psm"]), "train.csv must be text")


class TestSWaT:
    normal = swat_lines(["Normal"] * 3)
    attack = swat_lines(["Normal", "Attack", "A ttack", " Normal "], first=100.5)

    def check(self, swat: Benchmark) -> None:
        assert swat.train[0].channels == tuple(SWAT_SENSORS)
        assert swat.train[0].values[2].tolist() == [2.5 + place for place in range(51)]
        assert swat.test[0].rows.values[:, 0].tolist() == [100.5, 101.5, 102.5, 103.5]
        assert swat.test[0].labels.tolist() == [0, 1, 1, 0]

    def test_every_form_of_an_export_reads_the_same(self, tmp_path: Path) -> None:
        write_xlsx(tmp_path / "SWaT" / f"{TRAIN}.xlsx", self.normal)
        write_xlsx(tmp_path / "SWaT" / f"{TEST}.xlsx", self.attack)
        self.check(load_benchmark("swat", tmp_path))
        # with and without stage names, with decimal commas, with spaces around numbers
        forms = (
            ("{}", ".", ",", 0),
            ("{}", ".", ",", 1),
            ("{}", ",", ";", 0),
            (" {} ", ",", ";", 0),
        )
        for number, (form, point, separator, first) in enumerate(forms):
            folder = tmp_path / str(number)
            for name, lines in ((TRAIN, self.normal), (TEST, self.attack)):
                cells = [
                    [form.format(str(cell).replace(".", point)) for cell in line]
                    for line in lines[first:]
                ]
                write_lines(folder / f"{name}.csv", cells, separator)
            self.check(load_benchmark("swat", folder))
        # a decimal comma may come late
        for name in (TRAIN, TEST):
            lines = swat_lines(["Normal"] * 3, first=1)
            lines[4][1] = "7,5"
            write_lines(tmp_path / "late" / f"{name}.csv", lines, ";")
        late = load_benchmark("swat", tmp_path / "late")
        assert late.train[0].values[:, 0].tolist() == [1, 2, 7.5]

    def test_cells_far_down_a_sheet_are_not_taken_for_those_above(self, tmp_path: Path) -> None:
        lines = swat_lines(["Normal"] * 1_200)
        for line in lines[2:]:
            line[1] = 3
        lines[1_150][1] = 4.5
        write_xlsx(tmp_path / f"{TRAIN}.xlsx", lines)
        write_xlsx(tmp_path / f"{TEST}.xlsx", self.attack)
        found = load_benchmark("swat", tmp_path).train[0].values[:, 0]
        assert found[1_147:1_150].tolist() == [3, 4.5, 3]
        lines[1_160][1] = "off"
        write_xlsx(tmp_path / f"{TRAIN}.xlsx", lines)
        refused(lambda: load_benchmark("swat", tmp_path), "line 1161, column FIT000", "got 'off'")

    def test_files_that_do_not_fit_are_refused(self, tmp_path: Path) -> None:
        write_lines(tmp_path / f"{TRAIN}.csv", self.normal)
        write_lines(tmp_path / f"{TEST}.csv", [line[:20] + line[-1:] for line in self.attack])
        refused(lambda: load_benchmark("swat", tmp_path), f"{TEST}.csv, line 2", "51", "got 19")
        missing = [[*line[:-1], ""] if row == 3 else line for row, line in enumerate(self.attack)]
        write_lines(tmp_path / f"{TEST}.csv", missing)
        refused(lambda: load_benchmark("swat", tmp_path), "line 4, column Normal/Attack")
        write_lines(tmp_path / f"{TEST}.csv", [[*line[2:0:-1], *line[3:]] for line in self.attack])
        refused(lambda: load_benchmark("swat", tmp_path), "header with Timestamp and Normal/Attack")
        turned = [[line[0], line[2], line[1], *line[3:]] for line in self.attack]
        write_lines(tmp_path / f"{TEST}.csv", turned)
        refused(lambda: load_benchmark("swat", tmp_path), "must have the columns of")

    def test_a_workbook_is_needed_and_something_to_read_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (TRAIN, TEST):
            (tmp_path / f"{name}.xlsx").write_bytes(b"PK not a workbook")
        refused(lambda: load_benchmark("swat", tmp_path), f"{TRAIN}.xlsx is not a workbook")
        write_xlsx(tmp_path / f"{TRAIN}.xlsx", [["a", "b"], [1, 2]])
        refused(lambda: load_benchmark("swat", tmp_path), f"{TRAIN}.xlsx must have a header with")
        monkeypatch.setitem(sys.modules, "fastexcel", None)
        refused(lambda: load_benchmark("swat", tmp_path), "fastexcel", "subadjacent[datasets]")


class TestWADI2017:
    attacks: tuple[list[str | float], ...] = (
        ["date", "start", "end"], ["9/10/17", "18:00:01", "18:00:02"],
        ["10/10/17", "23:59:59", "00:00:00"],
    )  # fmt: skip
    moments = (
        ("10/9/2017", "6:00:00.000 PM"), ("10/9/2017", "6:00:01.000 PM"),
        ("10/9/2017", "6:00:02.000 PM"), ("10/9/2017", "6:00:03.000 PM"),
        ("10/10/2017", "11:59:59.000 PM"), ("10/11/2017", "12:00:00.000 AM"),
        ("10/11/2017", "12:00:01.000 AM"),
    )  # fmt: skip

    def write(self, folder: Path) -> Path:
        names = wadi_names(WADI_PREFIX)
        preamble: list[list[str | float]] = [["WADI, 14 days"], ["server time: 25 Sep"], [""]]
        rows = [
            wadi_row(number, "9/25/2017", f"6:00:0{number}.000 PM", value)
            for number, value in enumerate([1.5, "", 3])
        ]
        write_lines(folder / "WADI_14days.csv", [*preamble, names, *rows])
        tested = [wadi_row(n, date, time, n) for n, (date, time) in enumerate(self.moments)]
        write_lines(folder / "WADI_attackdata.csv", [names, *tested])
        write_lines(folder / "WADI_attacks.csv", self.attacks)
        return folder

    def test_preamble_prefix_empty_columns_gaps_and_attacks(self, tmp_path: Path) -> None:
        self.write(tmp_path / "WADI")
        wadi = load_benchmark("wadi", tmp_path)
        assert wadi.train[0].channels == tuple(WADI_SENSORS)
        assert wadi.train[0].values[:, 60].tolist() == [1.5, 1.5, 3]
        assert wadi.test[0].rows.values[:, 122].tolist() == [0, 1, 2, 3, 4, 5, 6]
        # a table of day/month beside rows of month/day; the second attack passes midnight
        assert wadi.test[0].labels.tolist() == [0, 1, 1, 0, 1, 1, 0]
        # dates that begin with the year do as well
        lines: list[list[str | float]] = [
            ["Date", " Start", "End"], ["2017-10-09", "6:00:01 PM", "6:00:02 PM"],
            ["2017-10-10", "23:59", "0:00"],
        ]  # fmt: skip
        attacks = write_lines(tmp_path / "WADI" / "WADI_attacks.csv", lines)
        assert load_benchmark("wadi", tmp_path).test[0].labels.tolist() == [0, 1, 1, 0, 1, 1, 0]
        attacks.unlink()
        words = ("WADI_attacks.csv is not there", "date,start,end")
        refused(lambda: load_benchmark("wadi", tmp_path), *words, kind=DataNotFound)

    def test_attacks_and_rows_without_a_time_are_refused(self, tmp_path: Path) -> None:
        self.write(tmp_path)
        for line, part in (
            ("9/10/17,18:00:01,late", "line 2"),
            ("1999-01-01,18:00:01,18:00:02", "line 2"),
            ("someday,18:00:01,18:00:02", "line 2"),
            ("9/10/17,25:00:00,18:00:02", "line 2"),
            ("", "a line for every attack"),
        ):
            (tmp_path / "WADI_attacks.csv").write_text(f"date,start,end\n{line}\n")
            refused(lambda: load_benchmark("wadi", tmp_path), "WADI_attacks.csv", part)
        (tmp_path / "WADI_attacks.csv").write_text("date,start\n1,2\n")
        refused(lambda: load_benchmark("wadi", tmp_path), "line 1 must be date,start,end")
        self.write(tmp_path)
        names = wadi_names(WADI_PREFIX)
        file = tmp_path / "WADI_attackdata.csv"
        write_lines(file, [names, wadi_row(1, "10/9/2017", "noon", 1)])
        refused(lambda: load_benchmark("wadi", tmp_path), "line 2, column Time", "got 'noon'")
        write_lines(file, [names, wadi_row(1, "today", "6:00:00 PM", 1)])
        refused(lambda: load_benchmark("wadi", tmp_path), "line 2, column Date", "got 'today'")
        # another number of sensors
        self.write(tmp_path)
        write_lines(tmp_path / "WADI_14days.csv", [names[:-1], wadi_row(0, "1", "2", 1)[:-1]])
        refused(lambda: load_benchmark("wadi", tmp_path), "WADI_14days.csv, line 1", "got 122")

    def test_times_of_day(self) -> None:
        seconds = {
            "12:00:00 AM": 0, "12:00:00.000 PM": 43_200, "1:02": 3_720, "23:59:59": 86_399,
            "13:00 PM": None, "24:00": None, "0:60": None, "noon": None, "0:00 AM": None,
        }  # fmt: skip
        assert {text: _second(text) for text in seconds} == seconds


class TestWADI2019:
    def write(self, folder: Path, said: tuple[str | float, ...] = (1, -1, -1, 1)) -> Path:
        rows = [wadi_row(n, "9/25/17", f"18:00:0{n}", 2) for n in range(3)]
        write_lines(folder / "WADI_14days_new.csv", [wadi_names(), *rows])
        names = [*(f"{name} " for name in wadi_names()), f'"{WADI_LABEL}"']
        tested = [
            [*wadi_row(n, "10/9/17", f"00:00:0{n}", n), label] for n, label in enumerate(said)
        ]
        nothing: list[str | float] = [""] * 131
        write_lines(
            folder / "WADI_attackdataLABLE.csv", [nothing, names, *tested, nothing, nothing]
        )
        return folder

    def test_header_in_row_two_empty_last_rows_and_a_label_column(self, tmp_path: Path) -> None:
        self.write(tmp_path / "WADI")
        wadi = load_benchmark("wadi", tmp_path)
        assert wadi.train[0].values.shape == (3, 123)
        assert wadi.test[0].rows.values[:, 5].tolist() == [0, 1, 2, 3]
        assert wadi.test[0].labels.tolist() == [0, 1, 1, 0]

    def test_another_word_for_a_label_is_refused(self, tmp_path: Path) -> None:
        self.write(tmp_path, said=(1, 0, -1))
        refused(lambda: load_benchmark("wadi", tmp_path), "line 4", "1 or -1; got '0")


class TestTelemanom:
    source = replace(SOURCES["msl"], channels=2)

    def write(self, folder: Path, *lines: str) -> Path:
        for part, rows in (("train", 4), ("test", 6)):
            (folder / part).mkdir(parents=True, exist_ok=True)
            for channel in ("B-1", "A-10", "A-2"):
                np.save(folder / part / f"{channel}.npy", np.full((rows, 2), len(channel)))
        head = "chan_id,spacecraft,anomaly_sequences,class,num_values"
        (folder / "labeled_anomalies.csv").write_text("\n".join([head, *lines]) + "\n")
        return folder

    def test_ends_are_left_out_and_a_channel_listed_twice_is_two_entities(
        self, tmp_path: Path
    ) -> None:
        self.write(
            tmp_path,
            'B-1,MSL,"[[4, 6], [0, 1]]","[point, point]",6',
            'A-2,SMAP,"[[0, 6]]",[point],6',
            'A-10,MSL,"[[1, 3]]",[point],6',
            'B-1,MSL,"[[2, 3]]",[contextual],6',
        )
        msl = read_telemanom(tmp_path, self.source)
        assert [one.entity for one in msl.train] == ["A-10", "B-1", "B-1#2"]
        assert [one.labels.tolist() for one in msl.test] == [
            [0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0],
        ]  # fmt: skip
        assert msl.train[0].values.tolist() == [[4, 4]] * 4
        assert (msl.title, msl.coverage) == ("MSL (3 of 27 entities)", "3 of 27 entities")

    def test_a_list_of_anomalies_that_makes_no_sense_is_refused(self, tmp_path: Path) -> None:
        no_list = ("[[1, 2]", "", "[[1]]", "[[1.5, 2]]", "[[True, 2]]", "__import__('os')")
        parts = dict.fromkeys(no_list, "must be a list such as")
        parts |= dict.fromkeys(("[[3, 3]]", "[[0, 7]]", "[[-1, 2]]"), "0 <= start < end <= 6")
        place = "labeled_anomalies.csv, line 3, column anomaly_sequences"
        for spans, part in parts.items():
            self.write(tmp_path, 'A-2,MSL,"[[0, 6]]",[point],6', f'B-1,MSL,"{spans}",[point],6')
            refused(lambda: read_telemanom(tmp_path, self.source), place, part)

    def test_halves_other_columns_and_damaged_arrays_are_refused(self, tmp_path: Path) -> None:
        line = 'A-2,MSL,"[[0, 6]]",[point],6'
        self.write(tmp_path, line)
        (tmp_path / "test" / "A-2.npy").write_bytes(b"\x93NUMPY")
        refused(lambda: read_telemanom(tmp_path, self.source), "A-2.npy is damaged", "get it again")
        np.save(tmp_path / "test" / "A-2.npy", np.zeros((6, 3)))
        refused(lambda: read_telemanom(tmp_path, self.source), "A-2: test must have 2 columns")
        np.save(tmp_path / "test" / "A-2.npy", np.array(["a", "b"]))
        refused(lambda: read_telemanom(tmp_path, self.source), "A-2.npy must be a .npy file of num")
        (tmp_path / "test" / "A-2.npy").unlink()
        refused(lambda: read_telemanom(tmp_path, self.source), "A-2.npy is not", kind=DataNotFound)
        (tmp_path / "train" / "A-2.npy").unlink()
        refused(lambda: read_telemanom(tmp_path, self.source), "no array", kind=DataNotFound)
        (tmp_path / "labeled_anomalies.csv").write_text("channel,spans\n")
        refused(lambda: read_telemanom(tmp_path, self.source), "line 1", "chan_id is missing")


class TestMachines:
    source = replace(SOURCES["smd"], channels=2)

    def write(self, folder: Path, *names: str) -> Path:
        for number, name in enumerate(names):
            write_lines(folder / "train" / f"{name}.txt", [[number, 0.5], [number, 0.25]])
            write_lines(folder / "test" / f"{name}.txt", [[number, 0], [number, 1], [number, 2]])
            write_lines(folder / "test_label" / f"{name}.txt", [[0], [1], [0]])
        return folder

    def test_machines_come_by_group_and_number(self, tmp_path: Path) -> None:
        self.write(tmp_path, "machine-3-10", "machine-1-2", "machine-3-2")
        (tmp_path / "train" / "README.txt").write_text("no machine")
        smd = read_machines(tmp_path, self.source)
        assert [one.entity for one in smd.train] == ["machine-1-2", "machine-3-2", "machine-3-10"]
        assert smd.train[0].values.tolist() == [[1, 0.5], [1, 0.25]]
        assert smd.test[2].rows.values.tolist() == [[0, 0], [0, 1], [0, 2]]
        assert smd.test[2].labels.tolist() == [0, 1, 0]
        assert smd.title == "SMD (3 of 28 machines)"

    def test_the_first_bad_line_is_named(self, tmp_path: Path) -> None:
        for file, text, parts in (
            ("train", "1,2\n3\n", ("line 2", "2 numbers; got 1")),
            ("train", "1,2\n3,x\n", ("line 2, column 2", "got 'x'")),
            ("train", "1,2\n3,nan\n", ("line 2, column 2", "got 'nan'")),
            ("train", "1,2,3\n", ("line 1", "2 numbers; got 3")),
            ("train", "", ("it is empty",)),
            ("test_label", "0\n1\n", ("labels must be as many as test rows, 3", "got (2,)")),
            ("test_label", "0\n1\n5\n", ("labels must be 0 or 1",)),
        ):
            self.write(tmp_path, "machine-1-1")
            (tmp_path / file / "machine-1-1.txt").write_text(text)
            refused(lambda: read_machines(tmp_path, self.source), "machine-1-1", *parts)

    def test_a_machine_with_a_part_missing_is_refused(self, tmp_path: Path) -> None:
        self.write(tmp_path, "machine-1-1")
        (tmp_path / "test" / "machine-1-1.txt").unlink()
        refused(
            lambda: read_machines(tmp_path, self.source),
            str(Path("test") / "machine-1-1.txt"), "is not there", kind=DataNotFound,
        )  # fmt: skip
        for file in tmp_path.rglob("machine*"):
            file.unlink()
        refused(lambda: read_machines(tmp_path, self.source), "no file such", kind=DataNotFound)
        self.write(tmp_path, "machine-1-1")
        (tmp_path / "train" / "machine-1-1.txt").write_bytes(b"\xff\xff")
        refused(lambda: read_machines(tmp_path, self.source), "must be text")


class TestArchives:
    source = replace(SOURCES["smd"], channels=2)

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "train": np.asfortranarray(np.arange(10, dtype=np.float32).reshape(5, 2)),
            "test": np.arange(8, dtype=np.float32).reshape(4, 2),
            "labels": np.array([0, 1, 1, 0], np.uint8),
            "train_lengths": np.array([2, 3]),
            "test_lengths": np.array([3, 1]),
            "entities": np.array(["a", "b"]),
        }

    def test_an_archive_is_cut_into_entities_and_written_back_the_same(
        self, tmp_path: Path
    ) -> None:
        np.savez(tmp_path / "x.npz", **self.arrays())
        found = read_npz(tmp_path / "x.npz", self.source)
        assert [one.entity for one in found.train] == ["a", "b"]
        assert found.train[1].values.tolist() == [[4, 5], [6, 7], [8, 9]]
        assert found.train[1].values.flags.c_contiguous
        assert [one.labels.tolist() for one in found.test] == [[0, 1, 1], [0]]
        write_npz(found, tmp_path / "y.npz")
        assert fingerprint(read_npz(tmp_path / "y.npz", self.source)) == fingerprint(found)

    def test_arrays_that_do_not_fit_are_refused(self, tmp_path: Path) -> None:
        for changed, part in (
            ({"labels": np.zeros(3)}, "lengths of labels must be"),
            ({"labels": np.array([0, 1, 2, 0])}, "labels must be 0 or 1"),
            ({"train_lengths": np.array([2, 4])}, "lengths of train must be"),
            ({"train_lengths": np.array([5])}, "lengths of train must be"),
            ({"train_lengths": np.array([0, 5])}, "lengths of train must be"),
            ({"test": np.zeros((4, 3))}, "test must have 2 columns"),
            ({"entities": np.array(["a", "a"])}, "each once"),
            ({"entities": np.array([])}, "lengths of train must be"),
            ({"labels": np.array([None, None, 1, 1])}, "is damaged"),
        ):
            np.savez(tmp_path / "x.npz", **(self.arrays() | changed))
            refused(lambda: read_npz(tmp_path / "x.npz", self.source), "x.npz", part)

    def test_damaged_and_incomplete_archives_are_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "x.npz"
        some = self.arrays()
        del some["labels"]
        np.savez(file, **some)
        refused(lambda: read_npz(file, self.source), "x.npz must hold the array 'labels'")
        np.savez_compressed(file, **self.arrays())
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        refused(lambda: read_npz(file, self.source), "x.npz is damaged", "get it again")
        file.write_bytes(whole[:60] + bytes(20) + whole[80:])
        refused(lambda: read_npz(file, self.source), "x.npz is damaged")
        file.write_bytes(b"")
        refused(lambda: read_npz(file, self.source), "x.npz is damaged")
        file.unlink()
        refused(lambda: read_npz(file, self.source), "x.npz is not there", kind=DataNotFound)

    def test_a_shared_triple_is_one_series_and_exactly_that(self, tmp_path: Path) -> None:
        np.save(tmp_path / "MSL_train.npy", np.ones((4, 55)))
        np.save(tmp_path / "MSL_test.npy", np.zeros((3, 55)))
        np.save(tmp_path / "MSL_test_label.npy", np.array([[False], [True], [True]]))
        msl = load_benchmark("MSL", tmp_path)
        assert [one.entity for one in msl.train] == [None]
        assert msl.test[0].labels.tolist() == [0, 1, 1]
        assert msl.title == "MSL"
        np.save(tmp_path / "MSL_test_label.npy", np.zeros(4))
        refused(lambda: load_benchmark("msl", tmp_path), "labels must be as many as test rows, 3")
