"""Whether alarms say what was planted: in real series and generated ones.

    python benchmarks/planted.py --quick --jobs 2
    python benchmarks/planted.py --seeds 0-9 --jobs 2 --out benchmarks/reports/planted.csv
    python benchmarks/planted.py --seeds 0-4 --kept-back --jobs 2 \
        --out benchmarks/reports/planted_kept_back.csv

One departure of each kind is planted into each background (reproduce/cases/planted.py); the default
is fitted on the rows before. Of its alarms, the one that shares most rows with the departure is
assessed: the channel, the kind and the direction that it tells, whether the quoted value is in the
planted rows, how far its first row is off, and whether the checker of the tests rejects it. Other
alarms are held against their rows as well. Seeds from 1000 on, and some kinds and backgrounds, are
kept back for the end: ``--kept-back``. Prints shares by kind and by background, and what each kind
was called.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: the jobs share the cores

import argparse
import csv
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.truth.checker import false_statements
from tests.truth.grammar import UnknownWordsError, parse
from tests.truth.rows import Rows

from reproduce.cases.backgrounds import BACKGROUNDS, KEPT_BACK_BACKGROUNDS
from reproduce.cases.planted import (
    FIRST_KEPT_BACK_SEED,
    KEPT_BACK_KINDS,
    PLANTED_KINDS,
    PlantedCase,
    planted_case,
)
from subadjacent import SubAdjacentDetector
from subadjacent.errors import DataNotFound

NOT_FOUND = "not found"
QUICK_BACKGROUNDS = ("temperatures", "taxi", "processor", "plant")
# rows beside a departure in which the quoted value may be
MARGIN = 3
# what each kind may be called
NAMES = {
    "spike": ("spike",),
    "step": ("out of range", "step", "level"),
    "shift": ("level shift (permanent)",),
    "return": ("return",),
    "ramp": ("drift", "ramp"),
    "flat": ("stuck",),
    "higher variance": ("higher variance",),
    "lower variance": ("lower variance",),
    "cycle change": ("unusual shape",),
    "shape change": ("unusual shape",),
    "decoupling": ("decoupled",),
    "missing": ("missing",),
    "crash and rebound": ("out of range", "step", "level", "spike"),
    "sag": ("drift", "ramp", "out of range", "unusual shape"),
}


class Assessed(NamedTuple):
    """One planted departure, and what was said of it; empty where nothing was."""

    kind: str
    background: str
    seed: int
    channel: str
    first: int
    last: int
    direction: int
    size: float
    found: int = 0
    named_channel: str = ""
    right_channel: int = 0
    named_kind: str = ""
    right_kind: int = 0
    right_direction: int = 0
    exact: int = 0
    rows_late: int = 0
    severity: float = 0.0
    rules: str = ""
    other_alarms: int = 0
    others_rejected: int = 0
    sentence: str = ""
    why: str = ""


def assessed(kind: str, background: str, seed: int, data: Path) -> Assessed | str:
    """Plant, fit, and look at the alarms; or say why there is nothing to look at."""
    logging.disable(logging.WARNING)
    try:
        case = planted_case(kind, background, seed, data)
    except DataNotFound as error:
        return f"{background}: {error}"
    if case is None:
        return f"{background} has no channel for {kind}"
    drawn = case.background
    index = pd.date_range(drawn.start, periods=len(drawn.values), freq=f"{drawn.interval:.0f}s")
    whole = pd.DataFrame(drawn.values, columns=list(drawn.names), index=index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = SubAdjacentDetector().fit(whole[: drawn.fitted])
        alarms = detector.assess(whole[drawn.fitted :]).alarms()
    rows = Rows(
        drawn.values[drawn.fitted :],
        drawn.names,
        list(index[drawn.fitted :].to_pydatetime()),
        drawn.values[: drawn.fitted],
        [(alarm.first, alarm.last) for alarm in alarms],
    )
    return compared(case, seed, background, rows, alarms)


def compared(
    case: PlantedCase, seed: int, background: str, rows: Rows, alarms: Sequence[Any]
) -> Assessed:
    """What the alarm that shares most rows with the departure says of it."""
    result = Assessed(
        case.kind,
        background,
        seed,
        case.channel,
        case.first,
        case.last,
        case.direction,
        float(f"{case.size:.4g}"),
    )
    best = max(alarms, key=lambda alarm: (shared(case, alarm), alarm.severity), default=None)
    if best is not None and not shared(case, best):
        best = None
    others = [alarm for alarm in alarms if alarm is not best]
    rejected = sum(bool(false_statements(rows, alarm)) for alarm in others)
    result = result._replace(other_alarms=len(others), others_rejected=rejected)
    if best is None:
        return result
    channel = best.causes[0].channel if best.causes else ""
    either = case.kind == "decoupling" and len(case.background.names) == 2
    broken = false_statements(rows, best)
    return result._replace(
        found=1,
        named_channel=channel,
        right_channel=int(channel == case.channel or either),
        named_kind=best.kind,
        right_kind=int(best.kind in NAMES[case.kind]),
        right_direction=int(direction(best, rows.channels) == case.direction),
        exact=int(is_exact(case, best, rows)),
        rows_late=max(best.first - case.visible, 0) + min(best.first - case.first, 0),
        severity=round(float(best.severity), 2),
        rules="; ".join(dict.fromkeys(one.rule for one in broken)),
        sentence=best.sentence,
        why="; ".join(f"{one.rule}: {one.why}" for one in broken),
    )


def shared(case: PlantedCase, alarm: Any) -> int:
    """Rows of a departure that are rows of an alarm too."""
    return max(0, min(case.last, int(alarm.last)) + 1 - max(case.first, int(alarm.first)))


def direction(alarm: Any, channels: Sequence[str]) -> int:
    """Up or down, as the sentence says; else as its numbers say."""
    try:
        said = parse(alarm.sentence, channels).claims[0]
    except UnknownWordsError:
        return 0
    if said.direction or not alarm.causes:
        return said.direction
    if said.before is not None and said.value is not None:
        return int(np.sign(said.value.value - said.before.value))
    cause = alarm.causes[0]
    return int(np.sign(np.nan_to_num(cause.seen - cause.expected)))


def is_exact(case: PlantedCase, alarm: Any, rows: Rows) -> bool:
    """Whether the value of the planted channel is one of the planted rows, at its very time."""
    cause = next((one for one in alarm.causes if one.channel == case.channel), None)
    row = None if cause is None else rows.row_of(cause.at)
    if cause is None or row is None or not case.first - MARGIN <= row <= case.last + MARGIN:
        return False
    value = rows.event(case.channel, row, row)[0]
    return bool(np.isclose(value, cause.seen, rtol=1e-5, equal_nan=True))


def read_report(path: Path) -> list[Assessed]:
    """The rows of a report."""
    kinds = {name: type(value) for name, value in Assessed._field_defaults.items()}
    kinds |= {"kind": str, "background": str, "channel": str, "size": float}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Assessed(**{name: kinds.get(name, int)(cell) for name, cell in row.items()})
            for row in csv.DictReader(file)
        ]


def percent(values: Sequence[int]) -> str:
    return f"{100 * sum(values) / len(values):.0f} %" if values else "-"


def summary(results: Sequence[Assessed]) -> str:
    """Shares by kind, by background, and for all."""
    titles = (
        "planted", "departures", "found", "right channel", "right kind", "right direction",
        "exact value", "rows late", "rejected", "other alarms", "of them rejected",
    )  # fmt: skip
    lines = [f"| {' | '.join(titles)} |", "|---" + "|--:" * (len(titles) - 1) + "|"]
    kinds = dict.fromkeys(one.kind for one in results)
    backgrounds = dict.fromkeys(one.background for one in results)
    groups = [
        *((kind, [one for one in results if one.kind == kind]) for kind in kinds),
        *(
            (f"in {name}", [one for one in results if one.background == name])
            for name in backgrounds
        ),
        ("all", list(results)),
    ]
    for title, group in groups:
        found = [one for one in group if one.found]
        directed = [one for one in found if one.direction]
        valued = [one for one in found if one.kind not in ("missing", "flat", "lower variance")]
        late = f"{np.median([abs(one.rows_late) for one in found]):.0f}" if found else "-"
        others = sum(one.other_alarms for one in group)
        cells = [
            str(len(group)),
            percent([one.found for one in group]),
            percent([one.right_channel for one in found]),
            percent([one.right_kind for one in found]),
            percent([one.right_direction for one in directed]),
            percent([one.exact for one in valued]),
            late,
            percent([bool(one.rules) for one in found]),
            str(others),
            str(sum(one.others_rejected for one in group)),
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def confusions(results: Sequence[Assessed]) -> str:
    """How often a kind (a row of the table) was called what (a column)."""
    called = Counter((one.kind, one.named_kind if one.found else NOT_FOUND) for one in results)
    kinds = list(dict.fromkeys(one.kind for one in results))
    columns = [*sorted({name for _, name in called if name != NOT_FOUND}), NOT_FOUND]
    lines = [
        f"| planted ↓ named → | {' | '.join(columns)} |",
        "|---" + "|--:" * len(columns) + "|",
    ]
    for kind in kinds:
        cells = [str(called[kind, name] or "") for name in columns]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def wrong_ones(results: Sequence[Assessed]) -> str:
    """Every departure that was found and told wrongly."""
    lines = []
    for one in results:
        wrong = [
            name
            for name, right in (
                ("channel", one.right_channel),
                ("kind", one.right_kind),
                ("direction", one.right_direction or not one.direction),
                ("rejected", not one.rules),
            )
            if one.found and not right
        ]
        if wrong:
            lines.append(
                f"{one.kind} in {one.background} {one.seed}, {one.channel} rows {one.first} to "
                f"{one.last}, {one.size:g} {'?+-'[one.direction]}: wrong {', '.join(wrong)}\n"
                f"    {one.sentence} ({one.named_kind}, {one.rows_late:+} rows)\n    {one.why}"
            )
    return "\n".join(lines)


def seeds(text: str) -> range:
    """Such as ``0-39``, both included; or one."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    """Write a row for each departure, and print the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seeds, default=seeds("0-4"), help="such as 0-39")
    parser.add_argument("--kinds", nargs="+", choices=PLANTED_KINDS)
    parser.add_argument("--backgrounds", nargs="+", choices=BACKGROUNDS)
    parser.add_argument("--quick", action="store_true", help="four backgrounds, one seed")
    parser.add_argument("--kept-back", action="store_true", help="for the end: what is kept back")
    parser.add_argument("--wrong", action="store_true", help="print what was told wrongly")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="CSV file with a row for each departure")
    options = parser.parse_args()
    started = time.monotonic()
    kinds = options.kinds or list(PLANTED_KINDS)
    backgrounds = options.backgrounds or (QUICK_BACKGROUNDS if options.quick else list(BACKGROUNDS))
    numbers = options.seeds[:1] if options.quick else options.seeds
    if options.kept_back:
        kinds += KEPT_BACK_KINDS
        backgrounds = [*backgrounds, *KEPT_BACK_BACKGROUNDS]
        numbers = [FIRST_KEPT_BACK_SEED + number for number in numbers]
    wanted = list(product(kinds, backgrounds, numbers, [options.data.resolve()]))
    answers: list[Assessed | str] = []
    # a fresh process each: a fork of one with threads may hang
    with (
        ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool,
        Path(options.out or os.devnull).open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Assessed._fields)
        for answer in pool.map(assessed, *zip(*wanted, strict=True)):
            # what is known when it is stopped is kept
            if isinstance(answer, Assessed):
                writer.writerow(answer)
                file.flush()
            answers.append(answer)
    results = [one for one in answers if isinstance(one, Assessed)]
    parts = [summary(results), "", confusions(results)]
    if options.wrong:
        parts += ["", wrong_ones(results)]
    left_out = Counter(one for one in answers if isinstance(one, str))
    parts += ["", *(f"left out {count}: {why}" for why, count in left_out.items())]
    print("\n".join([*parts, f"\n{time.monotonic() - started:.0f} s"]))


if __name__ == "__main__":
    main()
