"""Files of every kind: those that work, those that are refused, and what is said of them."""

from __future__ import annotations

import gc
import gzip
import io
import logging
import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subadjacent.data.files import Columns, FileRows, Rows, open_files
from subadjacent.data.files.columnar import Decoder
from subadjacent.errors import DataNotFound, InputError

PLAIN = "time,a,b\n2024-01-01 00:00:00,1,2\n2024-01-01 00:01:00,3,4.5\n2024-01-01 00:02:00,5,6\n"


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def put(content: str | bytes, name: str = "plant.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return put


def refused(path: str, **columns: str) -> str:
    with pytest.raises(InputError) as caught:
        open_files([path], Columns(**columns)).whole()
    message = str(caught.value)
    assert "\n" not in message
    assert Path(path).name in message
    return message


def put_parquet(path: Path, data: dict[str, Any], **options: Any) -> str:
    pl.DataFrame(data).write_parquet(path, **options)
    return str(path)


def same(left: FileRows, right: FileRows) -> None:
    assert left.frame.equals(right.frame)
    assert left.frame.schema == right.frame.schema
    np.testing.assert_array_equal(left.labels, right.labels)  # type: ignore[arg-type]


def together(rows: Rows, size: int) -> FileRows:
    parts = list(rows.chunks(size))
    assert len({tuple(part.frame.schema.items()) for part in parts}) == 1
    assert all(len(part) <= size for part in parts)
    labels = [part.labels for part in parts if part.labels is not None]
    frame = pl.concat([part.frame for part in parts])
    return FileRows(frame, np.concatenate(labels) if labels else None)


# what works


def test_a_plain_file_is_read_as_it_stands(write: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="subadjacent")
    rows = open_files([write(PLAIN)])
    part = rows.whole()
    assert (rows.time, rows.entity, rows.label, rows.channels) == ("time", None, None, ("a", "b"))
    assert part.frame.columns == ["timestamp", "a", "b"]
    assert part.frame["b"].to_list() == [2.0, 4.5, 6.0]
    assert part.times is not None
    assert part.times.to_list()[1] == datetime(2024, 1, 1, 0, 1)
    assert part.labels is None
    assert rows.notes == ("column 'time' is the time (found): dates without a time zone",)
    assert caplog.messages == list(rows.notes)


def test_text_is_read_however_it_is_written(write: Any) -> None:
    numbers = [(1.0, 2.0), (3.0, 4.0)]
    times = "time,a\n2024-01-01,1\n2024-01-02,3\n"
    cases: list[Any] = [
        ("a,b\n1,2\n3,4\n", numbers, ""),
        ("a;b\n1;2\n3;4\n", numbers, "separated by semicolons"),
        ("a\tb\n1\t2\n3\t4\n", numbers, "separated by tabs"),
        ("a|b\n1|2\n3|4\n", numbers, "separated by bars"),
        ("a;b\n1,5;2,5\n-3,25;4,0\n", [(1.5, 2.5), (-3.25, 4.0)], "decimal marks"),
        ("1,5;2,5\n-3,25;4,0\n", [(1.5, 2.5), (-3.25, 4.0)], "decimal marks"),
        ("température,b\n1,2\n3,4\n", numbers, ""),
        ("température,b\n1,2\n3,4\n".encode("utf-8-sig"), numbers, "byte order mark"),
        ("température,b\n1,2\n3,4\n".encode("latin-1"), numbers, "Latin-1"),
        ("température,b\n1,2\n3,4\n".encode("utf-16"), numbers, "UTF-16"),
        ("1,2\n3,4\n", numbers, "first line holds data"),
        ("0,1,2\n5,6,7\n", [(5.0, 6.0, 7.0)], ""),
        (",0,1\n0,6,7\n1,8,9\n", [(0, 6.0, 7.0), (1, 8.0, 9.0)], "a counter"),
        ('"a, in °C","b"\n"1","2"\n3,4\n"5\n",6\n', [*numbers, (5.0, 6.0)], ""),
        ("\na,b\n\n1,2\n\n3,4\n\n\n", numbers, ""),
        ("a\n1\n\n3\n\n", [(1.0,), (None,), (3.0,)], ""),
        ("a,b\r\n1,2\r\n3,4\r\n", numbers, ""),
        ("a,b\r1,2\r3,4\r", numbers, ""),
        ("item_id,a\n#1,2\n#N/A,4\n# a remark\n", [("#1", 2.0), ("#N/A", 4.0)], "'item_id'"),
        (times, [(datetime(2024, 1, 1), 1.0), (datetime(2024, 1, 2), 3.0)], "without a time zone"),
        (times.split("\n", 1)[1], [(datetime(2024, 1, 1), 1.0), (datetime(2024, 1, 2), 3.0)], ""),
    ]
    for content, expected, said in cases:
        rows = open_files([write(content)])
        assert rows.whole().frame.rows() == expected, content
        assert said in " ".join(rows.notes)
        assert said or not any("separated" in note for note in rows.notes)
        assert rows.channels[0] == "température" or "temp" not in str(content)
    assert open_files([write("1700000000,2\n1700000060,4\n")]).time == "column_1"


def test_standard_input_is_read_once_and_used_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(PLAIN.encode())))
    rows = open_files(["-"])
    same(rows.whole(), together(rows, 2))


def test_the_copy_of_standard_input_goes_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for content in (PLAIN, "", "a,a\n1,2\n"):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
        if content == PLAIN:
            assert len(open_files("-").whole()) == 3
        else:
            with pytest.raises(InputError, match="standard input must"):
                open_files("-")
        gc.collect()
        assert not list(tmp_path.iterdir())


def test_a_pipe_is_read_as_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"printf 'a,b\\n1,2\\n' > {pipe}"]):
        assert open_files([str(pipe)]).whole().frame.rows() == [(1.0, 2.0)]


# parts


def test_the_time_column_may_be_named(write: Any) -> None:
    path = write("a,when,time\n1,0,2\n3,1,4\n")
    rows = open_files([path], Columns(time="when"))
    assert (rows.time, rows.channels) == ("when", ("a",))
    assert "given" in rows.notes[0]
    assert "column 'time' is left out: another column has that part" in rows.notes[1]


def test_a_first_column_of_times_is_the_time_whatever_its_name(write: Any) -> None:
    rows = open_files([write("Zeitpunkt,a\n2024-01-01T00:00Z,1\n2024-01-01T00:01Z,2\n")])
    assert rows.time == "Zeitpunkt"
    assert rows.whole().frame["timestamp"][0] == datetime(2024, 1, 1, tzinfo=UTC)


# bad text files


def test_a_bad_file_is_refused_in_one_sentence(write: Any) -> None:
    packed = gzip.compress("\n".join(["a,b", *(f"{n},{n * n}" for n in range(5000))]).encode())
    cases: list[Any] = [
        ("", "it is empty"),
        ("\n \n", "it is empty"),
        ("a,b\n", "a header and nothing else"),
        (bytes(range(256)) * 4, "binary data"),
        (b"PK\x03\x04rest", "export the sheet as CSV"),
        (random.Random(0).randbytes(5000), "binary data"),
        ("a,b\n1,2\n3\n4,5\n", "line 3, must have 2 cells as line 1 has; it has 1"),
        ("a,b\n1,2\n3,4,5\n", "line 3, must have 2 cells as line 1 has; it has 3"),
        ('a,b\n1,2\n"3"\n4,5\n', "line 3, must have 2 cells as line 1 has; it has 1"),
        ("a,b\n1,2\n3,4\n5", "line 4, must have 2 cells as line 1 has; it has 1: the file"),
        ('a,b\n1,2\n"3,4\n', "line 3, must have its quotes"),
        ('{"a": 1, "b": 2}\n{"a": 3}\n', "it holds rows as JSON: 'subadjacent stream' takes them"),
        ('[\n  {"a": 1}, {"a": 3}\n]', "it holds rows as JSON"),
        ("a,b\n1,2\n3,on\n", "line 3, column 'b', must hold a number"),
        ("a,b\n\n1,2\n\n3," + "x" * 99, "it holds '" + "x" * 39 + "…'"),
        ("a,b,a\n1,2,3\n", "name every column once; line 1 has 'a'"),
        ("name,b\nx,y\nz,w\n", "at least one column of numbers"),
        ("time\n1\n2\n", "at least one column of numbers beside time"),
        ("time,a\n0,1\nnever,2\n", "column 'time', must have times such as"),
        ("time,a\n2024-01-01,1\nnever,2\n", "line 3, column 'time', must have times such as"),
        ("time,a\n2024-01-01,1\n,2\n", "line 3, column 'time'"),
        ("time,a\n2024-01-01 00:00,1\n2024-01-01 00:00Z,2\n", "with an offset, or none"),
        ("item_id,a\nx,1\n,2\n", "line 3, column 'item_id', must name an entity"),
        (b"item_id,a\n" + b"x,1\n" * 30_000 + b"\xe9,2\n", "save the file as UTF-8"),
        (packed[: len(packed) // 2], "cannot be read to its end"),
        *(
            (f"a,label\n1,0\n2,{cell}\n", "line 3, column 'label', must hold 0 or 1, true or fal")
            for cell in ("2", "x", "", "0.5")
        ),
        *(
            (f"time,a\n2024-10-27 02:59,1\n2024-10-27 {second},2\n", said)
            for second, said in (
                ("02:59", "line 3, column 'time': times must increase from row to row; got"),
                ("02:00", "if clocks were put back there for winter"),
                ("01:00", "sort the rows by time"),
                ("02:59", "drop duplicates"),
            )
        ),
    ]
    for content, said in cases:
        assert said in refused(write(content))
    assert "time column 'when'; it has time, a, b" in refused(write(PLAIN), time="when")
    assert "one column for each part" in refused(write(PLAIN), time="time", label="time")


def test_times_are_compared_across_parts_and_files(write: Any) -> None:
    paths = [write(PLAIN, name) for name in ("one.csv", "two.csv")]
    with pytest.raises(InputError, match=r"two\.csv, line 2, column 'time': times must increase"):
        list(open_files(paths).chunks(1))


# paths


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    for path in ("none.csv", "none.parquet", "*.csv"):
        with pytest.raises(DataNotFound, match=r"none|no file matches"):
            open_files([str(tmp_path / path)])
    with pytest.raises(InputError, match="at least one file"):
        open_files([])
    assert "it is a folder: name the files in it" in refused(str(tmp_path))


def test_an_unreadable_file_is_refused(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(PLAIN)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert "permission is denied" in refused(path)


def test_several_files_follow_one_another(write: Any, tmp_path: Path) -> None:
    write("time,a,label\n2,3,1\n3,4,0\n", "day-2.csv")
    write("label;a;time\n0;1,5;0\n0;2,5;1\n", "day-1.csv")
    rows = open_files([str(tmp_path / "day-*.csv")])
    part = rows.whole()
    assert sorted(part.frame.columns) == ["a", "timestamp"]
    assert part.frame["a"].to_list() == [1.5, 2.5, 3.0, 4.0]
    assert part.labels is not None
    assert part.labels.tolist() == [0, 0, 1, 0]
    assert any("day-1.csv: commas" in note for note in rows.notes)
    same(part, together(rows, 1))


def test_several_files_must_have_the_same_columns_and_kind_of_time(write: Any) -> None:
    first = write(PLAIN, "one.csv")
    with pytest.raises(InputError, match=r"two\.csv must have the same columns as .*'b', 'c'"):
        open_files([first, write(PLAIN.replace("b", "c"), "two.csv")])
    zoned = PLAIN.replace(":00,", ":00Z,").replace("2024", "2025")
    with pytest.raises(InputError, match="must hold times of one kind in all files"):
        open_files([first, write(zoned, "two.csv")])


# Parquet


def test_parquet_is_read_with_its_types(tmp_path: Path) -> None:
    start = datetime(2024, 1, 1)
    data = {
        "id": pl.Series(["x", "x"], dtype=pl.Categorical),
        "at": [start, start + timedelta(hours=1)],
        "small": pl.Series([1.5, None], dtype=pl.Float32),
        "count": [1, 2],
        "on": [True, False],
        "nothing": pl.Series([None, None], dtype=pl.Null),
        "other": [start.date(), start.date()],
        "label": [False, True],
    }
    rows = open_files([put_parquet(tmp_path / "x.pq", data)], Columns(time="at", entity="id"))
    part = rows.whole()
    assert rows.channels == ("small", "count", "on")
    assert list(part.frame.dtypes[2:]) == [pl.Float32, pl.Float64, pl.Float64]
    assert part.labels is not None
    assert part.labels.tolist() == [0, 1]
    assert "column 'other' is left out: it holds Date and is not the time" in rows.notes


def test_parquet_dates_are_found_whatever_their_name(tmp_path: Path) -> None:
    zoned = pl.Series([datetime(2024, 1, 1)]).dt.replace_time_zone("Europe/Berlin")
    rows = open_files([put_parquet(tmp_path / "x.parquet", {"a": [1.0], "when": zoned})])
    assert rows.time == "when"
    assert rows.whole().frame.schema["timestamp"] == pl.Datetime("us", "Europe/Berlin")


def test_a_bad_parquet_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    cases: list[Any] = [
        ({"b": [[1, 2]], "c": [b"x"]}, "at least one column of numbers beside time"),
        ({"b": ["x"]}, "at least one column of numbers; row 1, column 'b', holds 'x': check"),
        ({"time": [True], "a": [1.0]}, "must have times such as"),
        ({"time": ["never"], "a": [1.0]}, "row 1, column 'time'"),
        ({"time": [1, None], "a": [1.0, 2.0]}, "row 2, column 'time'"),
        ({"a": pl.Series([], dtype=pl.Float64)}, "it has a header and nothing else"),
        ({"item_id": [[1]], "a": [1.0]}, "plain values in column 'item_id'"),
        ({"label": [[1]], "a": [1.0]}, "plain values in column 'label'"),
    ]
    for data, message in cases:
        assert message in refused(put_parquet(tmp_path / "x.parquet", data))


def test_a_parquet_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    for keep, said in [(0, "is empty"), (3, "else"), (0.5, "cut"), (-1, "cut")]:
        path = Path(put_parquet(tmp_path / "x.parquet", {"a": np.arange(1000.0)}))
        whole = path.read_bytes()
        path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
        assert said in refused(str(path))


def test_text_called_parquet_is_refused_and_parquet_called_csv_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_text(PLAIN)
    assert "it is something else" in refused(str(path))
    assert len(open_files([put_parquet(tmp_path / "x.csv", {"a": [1.0]})]).whole()) == 1


# chunks


def test_chunks_together_are_the_whole(tmp_path: Path) -> None:
    for kind in ("csv", "parquet"):
        paths = []
        for number in range(3):
            start = datetime(2024, 1, 1 + number)
            frame = pl.DataFrame(
                {
                    "time": [start + timedelta(minutes=minute) for minute in range(40)],
                    "a": np.random.default_rng(number).normal(size=40),
                    "b": [None if minute % 9 == 0 else minute for minute in range(40)],
                    "label": [int(minute > 30) for minute in range(40)],
                }
            )
            path = tmp_path / f"{number}.{kind}"
            frame.write_csv(path) if kind == "csv" else frame.write_parquet(path, row_group_size=15)
            paths.append(str(path))
        rows = open_files(paths)
        whole = rows.whole()
        assert len(whole) == 120
        for size in (1, 7, 40, 1000):
            same(whole, together(rows, size))


def test_chunks_need_a_whole_number_of_rows(write: Any) -> None:
    with pytest.raises(InputError, match="rows must be a whole number of at least 1"):
        open_files([write(PLAIN)]).chunks(0)


PEAK = """
import sys
from subadjacent.data.files import open_files

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

for path in sys.argv[1:]:
    rows = open_files([path])
    before = peak = resident()
    count = 0
    for part in rows.chunks(2_000):
        count += len(part)
        peak = max(peak, resident())
    print(count, peak - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's own figures")
def test_chunks_need_little_memory(tmp_path: Path) -> None:
    length, width = 120_000, 20
    values = np.random.default_rng(0).normal(size=length).round(4)
    frame = pl.DataFrame({f"c{number}": values + number for number in range(width)})
    frame.write_parquet(tmp_path / "x.parquet", row_group_size=10_000)
    frame.write_csv(tmp_path / "x.csv")
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / "x.parquet"), str(tmp_path / "x.csv")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )
    for line in done.stdout.splitlines():
        count, growth = map(int, line.split())
        assert count == length
        # the whole is 19 MB; a part, with its text, some 5
        assert growth < length * width * 8 / 2


# anything at all

GOOD = "\n".join(
    [
        "time,a,b,label",
        *(f"2024-01-01 00:{n:02d}:00,{n / 7:.3f},{n * n},{n % 2}" for n in range(40)),
    ]
).encode()


def good_parquet() -> bytes:
    out = io.BytesIO()
    pl.read_csv(GOOD, try_parse_dates=True).write_parquet(out, row_group_size=15)
    return out.getvalue()


@st.composite
def mutated(draw: st.DrawFn, original: bytes) -> bytes:
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["flip", "cut", "insert", "line"])):
            case "flip" if data:
                data[place] ^= draw(st.integers(1, 255))
            case "cut":
                del data[place : place + draw(st.integers(1, 200))]
            case "insert":
                data[place:place] = draw(st.binary(min_size=1, max_size=8))
            case _:
                lines = bytes(data).split(b"\n")
                lines.insert(place % len(lines), lines[place % len(lines)])
                data = bytearray(b"\n".join(lines))
    return bytes(data)


def only_our_errors(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    message = path.name
    try:
        assert len(open_files([str(path)]).whole()) > 0
    except (InputError, DataNotFound) as error:
        message = str(error)
    assert path.name in message
    assert "\n" not in message


# always the same examples: see the class Parquet for the damage that polars does not survive,
# about one random file in 2,600
SLOWLY = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@SLOWLY
@given(data=mutated(GOOD))
def test_a_damaged_csv_file_works_or_is_refused(tmp_path: Path, data: bytes) -> None:
    only_our_errors(tmp_path / "x.csv", data)


@SLOWLY
@given(data=mutated(good_parquet()))
def test_a_damaged_parquet_file_works_or_is_refused(tmp_path: Path, data: bytes) -> None:
    only_our_errors(tmp_path / "x.parquet", data)


def test_arrow_files_are_read_as_parquet_files_are(tmp_path: Path) -> None:
    frame = pl.DataFrame({"time": [datetime(2024, 1, 1), datetime(2024, 1, 2)], "a": [1.0, 2.5]})
    path = tmp_path / "a[1].arrow"
    frame.write_ipc(path)
    rows = open_files([str(path)])
    assert (rows.time, rows.channels, rows.count) == ("time", ("a",), 2)
    assert rows.whole().frame.rows() == frame.rows()
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    with pytest.raises(InputError, match="must be a whole Arrow file; it is cut off"):
        open_files([str(path)])
    (tmp_path / "b.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match="it is a packed Arrow file: unpack it"):
        open_files([str(tmp_path / "b.gz")])


def test_rows_are_counted_before_they_are_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    frame.write_parquet(tmp_path / "one.parquet")
    frame.write_csv(tmp_path / "two.csv")
    parquet, both = str(tmp_path / "one.parquet"), str(tmp_path / "two.csv")
    assert open_files([parquet, parquet]).count == 6
    assert open_files([parquet, both]).count == 6


def test_a_date_that_python_does_not_have_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ticks = pl.Series([0, 10**9, 3 * 10**17])
    frame = pl.DataFrame({"time": ticks.cast(pl.Datetime("us")), "a": [1.0, 2.0, 3.0]})
    frame.write_parquet(tmp_path / "far.parquet")
    with pytest.raises(InputError, match=r"row 3, column 'time', .* outside the years 1 to 9999"):
        open_files([str(tmp_path / "far.parquet")]).whole()
    assert capfd.readouterr().err == ""


def test_the_decoder_outlives_a_process_that_ended(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(tmp_path / "a.parquet")
    decoder = Decoder()
    path = tmp_path / "a.parquet"
    assert decoder.request("a", path, "scan_parquet")[1] == 2
    assert decoder.process is not None
    first = decoder.process
    first.kill()
    first.wait()
    # whoever asked then hears of it; the next finds another process
    with pytest.raises(InputError, match="a is damaged: it cannot be decoded"):
        decoder.request("a", path, "scan_parquet")
    assert decoder.request("a", path, "scan_parquet", ("a",), 1, 5)["a"].to_list() == [2.0]
    assert decoder.process is not first
    decoder.stop()
