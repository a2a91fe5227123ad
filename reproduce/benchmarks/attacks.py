"""Labels from a table of attacks: date, start and end of each → one label for each row."""

from __future__ import annotations

import csv
import re
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduce.benchmarks.sheets import Sheet
from subadjacent.errors import InputError

COLUMNS = ("date", "start", "end")
DAY = 86_400

# the publishers' own files mix the second and the third
ORDERS = ("%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d*)?)?\s*([AaPp][Mm])?")


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
        if missing := [name for name in COLUMNS if name not in names]:
            raise InputError(f"{path}, line 1 must be {','.join(COLUMNS)}; {missing[0]} is missing")
        reader.fieldnames = names
        lines = [
            (reader.line_num, {name: str(row[name] or "").strip() for name in COLUMNS})
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
    match = _TIME.fullmatch(text)
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
