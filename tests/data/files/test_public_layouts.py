"""Tables laid out as public data sets and common tools write them are read untouched.

The numbers are ours; header, marks, words, dates and everything around them are the publishers'.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from subadjacent.data.files import Columns, open_files

ROWS = 240
JOINED = "date and clock"
START = datetime(2024, 1, 13)
WADI_LABEL = "Attack LABLE (1:No Attack, -1:Attack)"
WADI_PATH = "\\\\WIN-25J4RO10SBF\\LOG_DATA\\SUTD_WADI\\LOG_DATA\\"


def value(row: int, channel: int = 0) -> float:
    """A wave of one channel, a little out of step with the others."""
    return 50 + 10 * math.sin(row / 9 + channel) + (row * 7919 + channel * 104729) % 97 / 97


def at(row: int, minutes: float = 1) -> datetime:
    """The time of a row."""
    return START + timedelta(minutes=minutes * row)


def flagged(row: int) -> bool:
    """Whether a row of those that are not fitted on is labelled."""
    return 200 <= row < 210


def table(*head: str, row: Callable[[int], str], end: str = "\n", tail: str = "") -> str:
    """Lines of a header, a line a row, and what comes after them."""
    return end.join([*head, *map(row, range(ROWS))]) + end + tail


def german(number: float) -> str:
    """1234.5 as 1.234,5."""
    return f"{number:,.1f}".translate(str.maketrans(",.", ".,"))


def nab() -> str:
    """Numenta's benchmark: a time and a value."""
    return table("timestamp,value", row=lambda n: f"{at(n, 5):%Y-%m-%d %H:%M:%S},{value(n)}")


def skab() -> str:
    """A test bench in Skoltech: semicolons, two columns of labels."""
    return table(
        "datetime;Accelerometer1RMS;Current;Volume Flow RateRMS;anomaly;changepoint",
        row=lambda n: (
            f"{at(n, 1 / 60):%Y-%m-%d %H:%M:%S};{value(n)};{value(n, 1)};{value(n, 2)};"
            f"{int(flagged(n))}.0;{int(n == 200)}.0"
        ),
    )


def swat() -> str:
    """Water treatment in Singapore: stages above the header, spaces, AM and PM, labels as words."""
    return table(
        ",P1,,P2,",
        " Timestamp,FIT101,LIT101, MV101,Normal/Attack",
        row=lambda n: (
            f" {at(n, 1 / 60):%d/%m/%Y %I:%M:%S %p},{value(n)},{value(n, 1)},{n % 2 + 1},"
            f"{('A ttack' if n == 205 else 'Attack') if flagged(n) else 'Normal'}"
        ),
    )


def wadi() -> str:
    """Water distribution: a title, row numbers, date and time apart, a label of 1 and -1."""
    return table(
        ",,,,,",
        f'Row,Date,Time,{WADI_PATH}1_AIT_001_PV,{WADI_PATH}1_FS_001_PV,"{WADI_LABEL}"',
        row=lambda n: (
            f"{n + 1},{at(n):%m/%d/%Y},{at(n):%I:%M:%S}.000 {at(n):%p},{value(n)},{value(n, 1)},"
            f"{-1 if flagged(n) else 1}"
        ),
    )


def yahoo() -> str:
    """Yahoo's S5, benchmark A3: seconds since 1970, anomaly and changepoint beside their causes."""
    return table(
        "timestamps,value,anomaly,changepoint,trend,noise,seasonality1",
        row=lambda n: (
            f"{1416726000 + 3600 * n},{value(n)},{int(flagged(n))},{int(n == 200)},{n / 9:.3f},"
            f"{value(n, 1) - 50:.4f},{math.sin(n / 9):.4f}"
        ),
    )


def air_quality() -> str:
    """UCI's air quality: decimal commas, -200 for missing, empty columns and rows at the end."""
    return table(
        "Date;Time;CO(GT);PT08.S1(CO);T;RH;;",
        row=lambda n: (
            f"{at(n, 60):%d/%m/%Y};{at(n, 60):%H.%M.%S};"
            f"{-200 if n == 9 else f'{value(n):.1f}'.replace('.', ',')};{1000 + n};"
            f"{f'{value(n, 1):.1f}'.replace('.', ',')};{f'{value(n, 2):.1f}'.replace('.', ',')};;"
        ),
        end="\r\n",
        tail=";;;;;;;\r\n" * 20,
    )


def household() -> str:
    """UCI's household power: date and time apart, a question mark for what is missing."""
    return table(
        "Date;Time;Global_active_power;Voltage",
        row=lambda n: (
            f"{at(n):%d/%m/%Y};{at(n):%H:%M:%S};"
            + ("?;?" if n == 50 else f"{value(n):.3f};{value(n, 1):.3f}")
        ),
    )


def transformer() -> str:
    """ETTh1: an hourly date, loads, and the oil temperature."""
    return table(
        "date,HUFL,HULL,OT",
        row=lambda n: f"{at(n, 60)},{value(n):.4f},{value(n, 1):.4f},{value(n, 2):.4f}",
    )


def turbofan() -> str:
    """NASA's turbofan engines: no header, columns of spaces, two spaces at the end of a line."""
    return table(row=lambda n: f"1 {n % 9}  {value(n):.4f} {value(n, 1):.2f}  0.0003 ")


def machine_temperature() -> bytes:
    """The same as NAB's, packed as people pass it on."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("machine_temperature_system_failure.csv", nab())
        archive.writestr("__MACOSX/._machine_temperature_system_failure.csv", b"\0\0")
    return packed.getvalue()


def grafana() -> str:
    """Grafana's export: quoted names, units behind numbers, text beside them."""
    return table(
        '"Time","cpu {host=""a""}","mem","status"',
        row=lambda n: f'{at(n)},{value(n):.1f}%,"{value(n, 1):.0f},{n % 999:03}","OK, {n}"',
    )


def influx() -> str:
    """InfluxDB's annotated CSV: comments with as many cells as the table, names of hosts."""
    return table(
        "#group,false,false,false,false,true",
        "#datatype,string,long,dateTime:RFC3339,double,string",
        "#default,_result,,,,",
        ",result,table,_time,_value,host",
        row=lambda n: f",,0,{at(n):%Y-%m-%dT%H:%M:%SZ},{value(n)},server-a",
        end="\r\n",
    )


def logger() -> str:
    """Campbell's TOA5: a line about the logger, then names, units and how each was measured."""
    return table(
        '"TOA5","Station","CR1000","1234","CR1000.Std.25","CPU:met.CR1","4711","Ten_Min"',
        '"TIMESTAMP","RECORD","AirTC_Avg","WS_ms"',
        '"TS","RN","Deg C","meters/second"',
        '"","","Avg","Smp"',
        row=lambda n: f'"{at(n, 10)}",{n % 7},{"NAN" if n == 30 else value(n)},{value(n, 1)}',
        end="\r\n",
    )


def excel() -> str:
    """Excel in German: a title, thousands, per cent and errors, and an end that DOS wrote."""
    return table(
        "Messwerte Anlage 3",
        "",
        "Zeit;Leistung;Auslastung;Bemerkung",
        row=lambda n: (
            f"{at(n, 15):%d.%m.%Y %H:%M};{'#DIV/0!' if n == 3 else german(1000 + value(n))};"
            f"{value(n, 1):.0f} %;{'Wartung' if n % 5 else ''}"
        ),
        end="\r\n",
        tail="\x1a",
    )


@dataclass(frozen=True)
class Wanted:
    """What a layout is to be read as."""

    make: Callable[[], str | bytes]
    channels: tuple[str, ...]
    time: str | None
    label: str | None = None
    encoding: str = "utf-8"
    suffix: str = "csv"
    missing: tuple[str, ...] = ()


LAYOUTS = {
    "NAB": Wanted(nab, ("value",), "timestamp"),
    "SKAB": Wanted(
        skab, ("Accelerometer1RMS", "Current", "Volume Flow RateRMS"), "datetime", "anomaly"
    ),
    "SWaT": Wanted(
        swat, ("FIT101", "LIT101", "MV101"), "Timestamp", "Normal/Attack"
    ),
    "WADI": Wanted(
        wadi, (f"{WADI_PATH}1_AIT_001_PV", f"{WADI_PATH}1_FS_001_PV"), JOINED, WADI_LABEL,
    ),
    "Yahoo S5": Wanted(
        yahoo, ("value", "trend", "noise", "seasonality1"), "timestamps", "anomaly"
    ),
    "UCI air quality": Wanted(
        air_quality, ("CO(GT)", "PT08.S1(CO)", "T", "RH"), JOINED,
        missing=("-200",),
    ),
    "UCI household power": Wanted(
        household, ("Global_active_power", "Voltage"), JOINED
    ),
    "ETTh1": Wanted(transformer, ("HUFL", "HULL", "OT"), "date"),
    "NASA turbofan": Wanted(
        turbofan, tuple(f"column_{n}" for n in range(1, 6)), None, suffix="txt"
    ),
    "NAB in a zip": Wanted(machine_temperature, ("value",), "timestamp", suffix="zip"),
    "Grafana": Wanted(grafana, ('cpu {host="a"}', "mem"), "Time"),
    "InfluxDB": Wanted(influx, ("table", "_value"), "_time"),
    "TOA5 logger": Wanted(logger, ("RECORD", "AirTC_Avg", "WS_ms"), "TIMESTAMP", suffix="dat"),
    "Excel, German": Wanted(excel, ("Leistung", "Auslastung"), "Zeit", encoding="utf-16-le"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_public_layout_is_read(tmp_path: Path, name: str) -> None:
    wanted = LAYOUTS[name]
    content = wanted.make()
    file = tmp_path / f"data.{wanted.suffix}"
    file.write_bytes(content if isinstance(content, bytes) else content.encode(wanted.encoding))
    rows = open_files([str(file)], Columns(missing=wanted.missing))
    assert rows.channels == wanted.channels
    # a date and a clock are joined to a time that no column has
    assert rows.named.time == (None if wanted.time == JOINED else wanted.time)
    whole = rows.whole(labels="take")
    assert len(whole) == ROWS
    assert (whole.times is None) == (wanted.time is None)
    if wanted.label is not None:
        assert rows.named.label == wanted.label
        assert list(whole.labels) == [int(flagged(row)) for row in range(ROWS)]
