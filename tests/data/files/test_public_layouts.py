"""Tables laid out as public data sets and common tools write them are read untouched.

The numbers are ours; header, marks, words, dates and everything around them are the publishers'.
"""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from subadjacent.data.files import Columns, open_files

ROWS = 240
JOINED = "date and clock"
WADI_LABEL = "Attack LABLE (1:No Attack, -1:Attack)"
WADI_PATH = "\\\\WIN-25J4RO10SBF\\LOG_DATA\\SUTD_WADI\\LOG_DATA\\"


@dataclass(frozen=True)
class Layout:
    """A layout, as a header and a template of its rows, and how it is read."""

    head: str
    row: str
    """With the number ``n``, time ``t``, values ``a``, ``b``, ``c`` and label ``y`` of a row."""
    channels: tuple[str, ...]
    time: str | None
    label: str | None = None
    step: timedelta = timedelta(minutes=1)
    labels: tuple[str, str] = ("0", "1")
    odd: tuple[int, str] = (-1, "")
    """One row that is written otherwise."""
    end: str = "\n"
    tail: str = ""
    encoding: str = "utf-8"
    suffix: str = "csv"
    missing: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [*self.head.splitlines(), *map(self.line, range(ROWS))]
        return self.end.join(lines) + self.end + self.tail

    def line(self, n: int) -> str:
        numbers = {
            name: 50 + 10 * math.sin(n / 9 + place) + (n * 7919 + place * 104729) % 97 / 97
            for place, name in enumerate("abc")
        }
        template = self.odd[1] if n == self.odd[0] else self.row
        t, y = datetime(2024, 1, 13) + n * self.step, self.labels[is_anomalous(n)]
        return template.format(n=n, t=t, y=y, **numbers)


def is_anomalous(row: int) -> bool:
    return 200 <= row < 210


SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
NAB = Layout("timestamp,value", "{t:%Y-%m-%d %H:%M:%S},{a}", ("value",), "timestamp")
LAYOUTS = {
    "NAB": NAB,
    "SKAB": Layout(
        "datetime;Accelerometer1RMS;Current;Volume Flow RateRMS;anomaly;changepoint",
        "{t:%Y-%m-%d %H:%M:%S};{a};{b};{c};{y}.0;0.0",
        ("Accelerometer1RMS", "Current", "Volume Flow RateRMS"), "datetime", "anomaly",
        SECOND, odd=(200, "{t:%Y-%m-%d %H:%M:%S};{a};{b};{c};1.0;1.0"),
    ),
    # stages above the header, spaces, AM and PM, labels as words
    "SWaT": Layout(
        ",P1,,P2,\n Timestamp,FIT101,LIT101, MV101,Normal/Attack",
        " {t:%d/%m/%Y %I:%M:%S %p},{a},{b},1,{y}",
        ("FIT101", "LIT101", "MV101"), "Timestamp", "Normal/Attack",
        SECOND, ("Normal", "Attack"), (205, " {t:%d/%m/%Y %I:%M:%S %p},{a},{b},2,A ttack"),
    ),
    # a title, row numbers, date and time apart, a label of 1 and -1
    "WADI": Layout(
        f',,,,,\nRow,Date,Time,{WADI_PATH}1_AIT_001_PV,{WADI_PATH}1_FS_001_PV,"{WADI_LABEL}"',
        "{n},{t:%m/%d/%Y},{t:%I:%M:%S}.000 {t:%p},{a},{b},{y}",
        (f"{WADI_PATH}1_AIT_001_PV", f"{WADI_PATH}1_FS_001_PV"), JOINED, WADI_LABEL,
        labels=("1", "-1"),
    ),
    # seconds since 1970, anomaly and changepoint beside their causes
    "Yahoo S5": Layout(
        "timestamps,value,anomaly,changepoint,trend,noise,seasonality1",
        "{t:%s},{a},{y},0,{b:.3f},{c:.4f},0.5",
        ("value", "trend", "noise", "seasonality1"), "timestamps", "anomaly", HOUR,
        odd=(200, "{t:%s},{a},1,1,{b:.3f},{c:.4f},0.4"),
    ),
    # decimal commas, -200 for missing, empty columns and rows at the end
    "UCI air quality": Layout(
        "Date;Time;CO(GT);PT08.S1(CO);T;RH;;",
        "{t:%d/%m/%Y};{t:%H.%M.%S};{a:.0f},6;1360;{b:.0f},6;{c:.0f},9;;",
        ("CO(GT)", "PT08.S1(CO)", "T", "RH"), JOINED, step=HOUR,
        odd=(9, "{t:%d/%m/%Y};{t:%H.%M.%S};-200;1292;{b:.0f},9;{c:.0f},7;;"),
        end="\r\n", tail=";;;;;;;\r\n" * 20, missing=("-200",),
    ),
    "UCI household power": Layout(
        "Date;Time;Global_active_power;Voltage",
        "{t:%d/%m/%Y};{t:%H:%M:%S};{a:.3f};{b:.3f}",
        ("Global_active_power", "Voltage"), JOINED,
        odd=(50, "{t:%d/%m/%Y};{t:%H:%M:%S};?;?"),
    ),
    "ETTh1": Layout(
        "date,HUFL,HULL,OT", "{t},{a:.4f},{b:.4f},{c:.4f}", ("HUFL", "HULL", "OT"), "date",
        step=HOUR,
    ),
    # no header, columns of spaces, two spaces at the end of a line
    "NASA turbofan": Layout(
        "", "1 {n}  {a:.4f} {b:.2f}  0.0003 ", tuple(f"column_{n}" for n in range(1, 6)), None,
        suffix="txt",
    ),
    # quoted names, units behind numbers, text beside them
    "Grafana": Layout(
        '"Time","cpu {host=""a""}","mem","status"', '{t},{a:.1f}%,"{b:.0f},123","OK, {n}"',
        ('cpu {host="a"}', "mem"), "Time",
    ),
    # comments with as many cells as the table, names of hosts
    "InfluxDB": Layout(
        "#group,false,false,false,false,true\n"
        "#datatype,string,long,dateTime:RFC3339,double,string\n"
        "#default,_result,,,,\n,result,table,_time,_value,host",
        ",,0,{t:%Y-%m-%dT%H:%M:%SZ},{a},server-a", ("table", "_value"), "_time", end="\r\n",
    ),
    # a line about the logger, then names, units and how each was measured
    "TOA5 logger": Layout(
        '"TOA5","Station","CR1000","1234","CR1000.Std.25","CPU:met.CR1","4711","Ten_Min"\n'
        '"TIMESTAMP","RECORD","AirTC_Avg","WS_ms"\n'
        '"TS","RN","Deg C","meters/second"\n"","","Avg","Smp"',
        '"{t}",3,{a},{b}', ("RECORD", "AirTC_Avg", "WS_ms"), "TIMESTAMP",
        odd=(30, '"{t}",4,NAN,{b}'), end="\r\n", suffix="dat",
    ),
    # a title, thousands, per cent and errors, and an end that DOS wrote
    "Excel, German": Layout(
        "Messwerte Anlage 3\n\nZeit;Leistung;Auslastung;Bemerkung",
        "{t:%d.%m.%Y %H:%M};1.0{a:02.0f},5;{b:.0f} %;Wartung",
        ("Leistung", "Auslastung"), "Zeit", odd=(3, "{t:%d.%m.%Y %H:%M};#DIV/0!;{b:.0f} %;"),
        end="\r\n", tail="\x1a", encoding="utf-16-le",
    ),
}  # fmt: skip


def read(layout: Layout, file: Path) -> None:
    rows = open_files([str(file)], Columns(missing=layout.missing))
    assert rows.channels == layout.channels
    # a date and a clock are joined to a time that no column has
    assert rows.named.time == (None if layout.time == JOINED else layout.time)
    whole = rows.whole(labels="take")
    assert len(whole) == ROWS
    assert (whole.times is None) == (layout.time is None)
    if layout.label is not None:
        assert rows.named.label == layout.label
        assert list(whole.labels) == [int(is_anomalous(row)) for row in range(ROWS)]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_public_layout_is_read(tmp_path: Path, name: str) -> None:
    layout = LAYOUTS[name]
    file = tmp_path / f"data.{layout.suffix}"
    file.write_bytes(layout.text().encode(layout.encoding))
    read(layout, file)


def test_a_table_in_a_zip_of_a_mac_is_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("machine_temperature_system_failure.csv", NAB.text())
        archive.writestr("__MACOSX/._machine_temperature_system_failure.csv", b"\0\0")
    (tmp_path / "data.zip").write_bytes(packed.getvalue())
    read(NAB, tmp_path / "data.zip")
