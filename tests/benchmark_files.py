"""Small files in the shape that the publishers of each set gave theirs."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

SWAT_SENSORS = [f"FIT{number:03}" for number in range(51)]
WADI_PREFIX = r"\\WIN-25J4RO10SBF\LOG_DATA\SUTD_WADI\LOG_DATA" + "\\"
WADI_EMPTY = ["2_LS_001_AL", "2_LS_002_AL", "2_P_001_STATUS", "2_P_002_STATUS"]
WADI_SENSORS = [f"1_AIT_{number:03}_PV" for number in range(123)]
WADI_LABEL = "Attack LABLE (1:No Attack, -1:Attack)"

Cell = str | float


def write_lines(path: Path, lines: Sequence[Sequence[Cell]], separator: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(separator.join(str(cell) for cell in line) for line in lines)
    path.write_text(text + "\n")
    return path


def write_xlsx(path: Path, lines: Sequence[Sequence[Cell]]) -> Path:
    """The least that counts as a workbook: one sheet with inline strings."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def cell(value: Cell) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    rows = "".join(f"<row>{''.join(map(cell, line))}</row>" for line in lines)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parcels = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{parcels}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/s.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{parcels}/relationships"><Relationship Id="r1" '
        f'Type="{links}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{links}"><sheets>'
        '<sheet name="Combined Data" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{parcels}/relationships">'
        f'<Relationship Id="r1" Type="{links}/worksheet" Target="worksheets/s.xml"/>'
        "</Relationships>",
        "xl/worksheets/s.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w") as book:
        for name, text in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}')
    return path


def swat_lines(labels: Sequence[str], first: float = 0.5) -> list[list[Cell]]:
    """Stage names, column names with stray spaces, a row a label: row 0 is first, first + 1, …"""
    stages = ["", "P1", *[""] * 50, ""]
    names = [" Timestamp", *(f" {name} " for name in SWAT_SENSORS), "Normal/Attack"]
    rows = [
        [f" 28/12/2015 10:00:{row:02} AM", *(first + row + place for place in range(51)), label]
        for row, label in enumerate(labels)
    ]
    return [stages, names, *rows]


def wadi_names(prefix: str = "") -> list[str]:
    """127 sensors; the four that are always empty stand among the others."""
    sensors = [*WADI_SENSORS[:60], *WADI_EMPTY, *WADI_SENSORS[60:]]
    return ["Row", "Date", "Time", *(prefix + name for name in sensors)]


def wadi_row(number: int, date: str, time: str, value: Cell) -> list[Cell]:
    return [number, date, time, *[value] * 60, *[""] * 4, *[value] * 63]
