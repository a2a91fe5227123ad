"""SWaT and WADI as iTrust sends them: workbooks or CSV files, and a table of attacks."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from reproduce.benchmarks.sheets import Sheet, read_sheet
from subadjacent.errors import DataNotFound, InputError

ATTACK_COLUMNS = ("date", "start", "end")
DAY = 86_400

# the publishers' own files mix the second and the third
ORDERS = ("%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d*)?)?\s*([AaPp][Mm])?")


def attack_labels(path: Path, rows: Sheet, date_name: str, time_name: str) -> NDArray[np.uint8]:
    """1 for each row from the start of an attack to its end, both included.

    `9/10/17` may be a day of September or of October: the reading is taken in which the rows
    follow one another most closely, and all attacks lie among them.
    """
    seconds = _moments(rows, date_name, time_name)
    lines = _lines(path)
    for order in ORDERS:
        spans = [_span(line, order) for _, line in lines]
        if all(span and seconds[0] <= span[0] <= seconds[-1] for span in spans):
            break
    else:
        first, last = (datetime(1970, 1, 1) + timedelta(seconds=int(seconds[i])) for i in (0, -1))
        raise InputError(
            f"{path} must have a date such as 2017-10-09, a start and an end such as 19:25:00 in "
            f"each line, between {first} and {last}, where the rows of {rows.path} are; "
            f"line {_first_bad(lines, seconds)} has not"
        )
    labels = np.zeros(len(seconds), np.uint8)
    for start, end in filter(None, spans):
        labels[(seconds >= start) & (seconds <= end)] = 1
    return labels


def _moments(rows: Sheet, date_name: str, time_name: str) -> NDArray[np.int64]:
    """Seconds since 1970 of every row."""
    dates, times = rows.texts(date_name), rows.texts(time_name)
    readings = []
    for order in ORDERS:
        days = {text: day for text in set(dates) if (day := _day(text, order)) is not None}
        if len(days) == len(set(dates)):
            readings.append(days)
    if not readings:
        bad = next((row for row, text in enumerate(dates) if not _is_day(text)), 0)
        raise InputError(f"{rows.place(bad, date_name)} must be a date; got {dates[bad]!r}")
    days = min(readings, key=lambda reading: max(reading.values()) - min(reading.values()))
    moments = np.empty(len(dates), np.int64)
    for row, (text, time) in enumerate(zip(dates, times, strict=True)):
        second = _second(time)
        if second is None:
            raise InputError(f"{rows.place(row, time_name)} must be a time; got {time!r}")
        moments[row] = days[text] * DAY + second
    return moments


def _lines(path: Path) -> list[tuple[int, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        names = [name.strip().lower() for name in reader.fieldnames or ()]
        if missing := [name for name in ATTACK_COLUMNS if name not in names]:
            raise InputError(
                f"{path}, line 1 must be {','.join(ATTACK_COLUMNS)}; {missing[0]} is missing"
            )
        reader.fieldnames = names
        lines = [
            (reader.line_num, {name: str(row[name] or "").strip() for name in ATTACK_COLUMNS})
            for row in reader
        ]
    if not lines:
        raise InputError(f"{path} must have a line for every attack; there is none")
    return lines


def _span(line: dict[str, str], order: str) -> tuple[int, int] | None:
    day, start, end = _day(line["date"], order), _second(line["start"]), _second(line["end"])
    if day is None or start is None or end is None:
        return None
    # past midnight
    return day * DAY + start, (day + (end < start)) * DAY + end


def _first_bad(lines: list[tuple[int, dict[str, str]]], seconds: NDArray[np.int64]) -> int:
    for number, line in lines:
        spans = [_span(line, order) for order in ORDERS]
        if not any(span and seconds[0] <= span[0] <= seconds[-1] for span in spans):
            return number
    return lines[0][0]


def _is_day(text: str) -> bool:
    return any(_day(text, order) is not None for order in ORDERS)


def _day(text: str, order: str) -> int | None:
    """Days since 1970; a year may have two digits."""
    for form in (order, order.replace("%Y", "%y")):
        try:
            return (datetime.strptime(text, form).date() - date(1970, 1, 1)).days
        except ValueError:
            continue
    return None


def _second(text: str) -> int | None:
    """Second of the day of "19:25", "19:25:16" or "7:25:16.000 PM"."""
    match = _CLOCK.fullmatch(text)
    if not match:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[4]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match[4].upper() == "PM")
    if hour > 23 or minute > 59 or second > 59:
        return None
    return hour * 3600 + minute * 60 + second


SWAT_TIME, SWAT_LABEL = "Timestamp", "Normal/Attack"
TRAIN, TEST = "SWaT_Dataset_Normal_v1", "SWaT_Dataset_Attack_v0"


def read_swat(folder: Path, source: Source, *, suffix: str) -> Benchmark:
    """`SWaT_Dataset_Normal_v1` and `SWaT_Dataset_Attack_v0`, `.xlsx` or `.csv`.

    A first row of stage names is skipped, spaces around names are dropped, and everything but
    `Normal` in the last column is an attack: `A ttack` occurs.
    """
    train, test = (_swat_sheet(folder / f"{name}{suffix}", source) for name in (TRAIN, TEST))
    words = test.texts(SWAT_LABEL)
    if "" in words:
        raise InputError(f"{test.place(words.index(''), SWAT_LABEL)} must say Normal or Attack")
    labels = np.array([text != "Normal" for text in words])
    return _benchmark(folder, source, train, test, _swat_sensors, labels)


def _swat_sheet(path: Path, source: Source) -> Sheet:
    sheet = read_sheet(
        path,
        lambda cells: SWAT_TIME in cells and SWAT_LABEL in cells,
        f"{SWAT_TIME} and {SWAT_LABEL}",
        text=(SWAT_TIME, SWAT_LABEL),
    )
    if len(sensors := _swat_sensors(sheet)) != source.channels:
        raise InputError(
            f"{path}, line {sheet.first - 1} must name {source.channels} sensors between "
            f"{SWAT_TIME} and {SWAT_LABEL}; got {len(sensors)}: get it again"
        )
    return sheet


def _swat_sensors(sheet: Sheet) -> list[str]:
    return [name for name in sheet.names if name not in (SWAT_TIME, SWAT_LABEL, "")]


ROW, DATE, TIME = "Row", "Date", "Time"
LABEL = "Attack LABLE (1:No Attack, -1:Attack)"
EMPTY = ("2_LS_001_AL", "2_LS_002_AL", "2_P_001_STATUS", "2_P_002_STATUS")
ATTACKS = "WADI_attacks.csv"


def read_wadi_2017(folder: Path, source: Source) -> Benchmark:
    r"""`WADI_14days.csv`, `WADI_attackdata.csv`, and a table of attacks.

    The long `\\…\LOG_DATA\` before each sensor's name is dropped. The files have no label
    column: `WADI_attacks.csv` (columns date, start, end) says when attacks went on.
    """
    if not (folder / ATTACKS).is_file():
        raise DataNotFound(
            f"{folder / ATTACKS} is not there: the files of 2017 have no labels, so copy date, "
            "start and end of every attack from iTrust's table into a CSV file of that name, "
            "with the header date,start,end and lines such as 2017-10-09,19:25:00,19:50:16"
        )
    train = _wadi_sheet(folder / "WADI_14days.csv")
    test = _wadi_sheet(folder / "WADI_attackdata.csv")
    labels = attack_labels(folder / ATTACKS, test, DATE, TIME)
    sensors = partial(_wadi_sensors, source=source)
    return _benchmark(folder, source, train, test, sensors, labels)


def read_wadi_2019(folder: Path, source: Source) -> Benchmark:
    """`WADI_14days_new.csv` and `WADI_attackdataLABLE.csv`, whose last two rows are empty."""
    train = _wadi_sheet(folder / "WADI_14days_new.csv")
    test = _wadi_sheet(folder / "WADI_attackdataLABLE.csv")
    marks = test.texts(LABEL)
    rows = len(marks)
    while rows and not marks[rows - 1]:
        rows -= 1
    meaning = {"1": 0, "1.0": 0, "-1": 1, "-1.0": 1}
    for row, text in enumerate(marks[:rows]):
        if text not in meaning:
            raise InputError(f"{test.place(row, LABEL)} must be 1 or -1; got {text!r}")
    labels = np.array([meaning[text] for text in marks[:rows]], np.uint8)
    sensors = partial(_wadi_sensors, source=source)
    return _benchmark(folder, source, train, test.head(rows), sensors, labels)


def _wadi_sheet(path: Path) -> Sheet:
    sheet = read_sheet(
        path,
        lambda cells: tuple(cells[:3]) == (ROW, DATE, TIME),
        f"{ROW}, {DATE} and {TIME}",
        text=(DATE, TIME),
    )
    names = tuple(name.rpartition("\\")[2].strip() for name in sheet.names)
    return Sheet(path, names, sheet.frame, sheet.first)


def _benchmark(
    folder: Path,
    source: Source,
    train: Sheet,
    test: Sheet,
    sensors: Callable[[Sheet], list[str]],
    labels: np.ndarray,
) -> Benchmark:
    """A benchmark of the columns that ``sensors`` names, which must be those of both sheets."""
    names = sensors(train)
    if names != sensors(test):
        raise InputError(f"{test.path} must have the columns of {train.path}, in their order")
    return assemble(
        source,
        folder,
        [train.filled(names)],
        [test.filled(names)],
        [labels],
        channels=tuple(names),
    )


def _wadi_sensors(sheet: Sheet, source: Source) -> list[str]:
    """The sensors without the four that are empty throughout."""
    no_sensors = (ROW, DATE, TIME, LABEL, "", *EMPTY)
    names = [name for name in sheet.names if name not in no_sensors]
    if len(names) != source.channels:
        raise InputError(
            f"{sheet.path}, line {sheet.first - 1} must name {source.channels} sensors besides "
            f"{', '.join(EMPTY)}; got {len(names)}: get it again"
        )
    return names
