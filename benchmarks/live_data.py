"""What `live.py` and `lookahead.py` share: series to watch, and where their tables go."""

from __future__ import annotations

import csv
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproduce.benchmarks import load_benchmark
from reproduce.cases.streams import LiveStream
from reproduce.live_score import LONGEST_UNASSESSED, UNASSESSED, Watched
from subadjacent.evaluation.segments import segments

SETS = ("msl", "smap", "smd")
STREAMS = "generated streams"


class Entity(NamedTuple):
    """A series to watch: rows to begin with, then rows to assess, with their labels."""

    group: str
    kind: str
    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    # whether training rows are the beginning of the series, and count among its rows
    whole: bool

    def watched(self, severity: np.ndarray) -> Watched:
        """What was said of the rows to assess, beside the anomalies."""
        before = len(self.train) if self.whole else 0
        spans = [(before + start, before + stop) for start, stop in segments(self.labels).tolist()]
        return Watched(np.append(np.zeros(before), severity), spans, before)


def of_stream(stream: LiveStream) -> Entity:
    """Its rows that are not assessed are what a detector begins with."""
    first = min(int(UNASSESSED * len(stream.values)), LONGEST_UNASSESSED)
    rows = stream.values
    return Entity(STREAMS, stream.kind, rows[:first], rows[first:], stream.labels[first:], True)


def of_set(name: str, root: Path, most: int | None = None) -> Iterator[Entity]:
    """The entities of a public set, the first ``most`` of them."""
    benchmark = load_benchmark(name, root)
    pairs = list(zip(benchmark.train, benchmark.test, strict=True))[:most]
    for train, test in pairs:
        rows, assessed = (np.asarray(part, float) for part in (train.values, test.rows.values))
        yield Entity(benchmark.title, train.entity or "", rows, assessed, test.labels, False)


@contextmanager
def quiet() -> Iterator[None]:
    """No warning for each fit of few or odd rows; the log is given back as it was."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def write_csv(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def put_between(page: Path, mark: str, text: str) -> None:
    """Put a table between a page's marks, where it replaces what was there."""
    whole = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, found, rest = whole.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found and found_end):
        raise SystemExit(f"{page} must have {begin.strip()} and, after it, {end}")
    page.write_text(f"{before}{begin}{text}\n{end}{after}", encoding="utf-8")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table: the first row has the names, columns after the first are numbers."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" + "|--:" * (len(rows[0]) - 1) + "|", *body])
