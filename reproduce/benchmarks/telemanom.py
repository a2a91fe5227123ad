"""MSL and SMAP as published by NASA: one array for each channel, and a list of anomalies."""

from __future__ import annotations

import ast
import csv
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduce.benchmarks.archive import read_npy
from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from subadjacent.errors import DataNotFound, InputError

ANOMALIES = "labeled_anomalies.csv"
COLUMNS = ("chan_id", "spacecraft", "anomaly_sequences")


@dataclass(frozen=True, slots=True)
class _AnomalyLine:
    """One line of the list of anomalies."""

    channel: str
    entity: str
    spans: list[tuple[int, int]]
    place: str


def read_telemanom(folder: Path, source: Source) -> Benchmark:
    """`{train,test}/<channel>.npy` and `labeled_anomalies.csv`, entities sorted by name.

    The end of an anomaly is left out, and a channel that is listed twice (SMAP's P-2) is two
    entities, the second called `P-2#2`: the paper's anomaly rates come out so and not
    otherwise. Arrays that are not in the list are left out, as are listed channels
    without any array.
    """
    # as unpacked from the archive, or moved up beside the list
    places = (folder / "data", folder / "data" / "data", folder)
    arrays = next((place for place in places if _has_arrays(place)), folder)
    kept, train, test, labels = [], [], [], []
    for line in sorted(_lines(folder / ANOMALIES, source.title), key=lambda line: line.entity):
        files = [arrays / split / f"{line.channel}.npy" for split in ("train", "test")]
        missing = [file for file in files if not file.is_file()]
        if len(missing) == 1:
            raise DataNotFound(f"{missing[0]} is not there, but its other half is: get it again")
        if missing:
            continue
        kept.append(line.entity)
        train.append(read_npy(files[0]))
        test.append(read_npy(files[1]))
        labels.append(_labels(line, len(test[-1])))
    if not kept:
        raise DataNotFound(f"{arrays} has no array of a channel that {ANOMALIES} lists")
    return assemble(source, folder, train, test, labels, entities=kept)


def _has_arrays(folder: Path) -> bool:
    return (folder / "train").is_dir() and (folder / "test").is_dir()


def _lines(path: Path, spacecraft: str) -> list[_AnomalyLine]:
    """The lines of one spacecraft."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
                raise InputError(
                    f"{path}, line 1 must name the columns {', '.join(COLUMNS)}; "
                    f"{missing[0]} is missing: get it again"
                )
            rows = [(reader.line_num, row) for row in reader if row["spacecraft"] == spacecraft]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} must be a CSV file; {error}: get it again") from error
    parsed: list[_AnomalyLine] = []
    taken: set[str] = set()
    for number, row in rows:
        channel = str(row["chan_id"]).strip()
        names = (channel if turn == 1 else f"{channel}#{turn}" for turn in count(1))
        entity = next(name for name in names if name not in taken)
        taken.add(entity)
        place = f"{path}, line {number}, column anomaly_sequences"
        spans = _spans(row["anomaly_sequences"], place)
        parsed.append(_AnomalyLine(channel, entity, spans, place))
    return parsed


def _spans(text: str | None, place: str) -> list[tuple[int, int]]:
    try:
        spans = [(start, end) for start, end in ast.literal_eval((text or "").strip())]
        if not all(type(number) is int for span in spans for number in span):
            raise ValueError(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(
            f"{place} must be a list such as [[10, 20], [50, 60]]; "
            f"got {str(text)[:80]!r}: get it again"
        ) from error
    return spans


def _labels(line: _AnomalyLine, rows: int) -> NDArray[np.uint8]:
    labels = np.zeros(rows, np.uint8)
    for start, end in line.spans:
        if not 0 <= start < end <= rows:
            raise InputError(
                f"{line.place} must have 0 <= start < end <= {rows}, the rows of "
                f"{line.channel}; got [{start}, {end}]"
            )
        labels[start:end] = 1
    return labels
