"""How good alarms are: F1 of events, batch against stream, false alarms, severity, bounds, live.

    python benchmarks/decision.py events false-alarms --quick --state trial

Each measure uses what a user calls: ``fit``, ``decision_function``, ``alarms`` and ``stream``. Rows
of the output are replaced where state, measure, set and setting are the same; what is printed has a
column for each state that the output knows. ``--quick`` takes a fixed part of the series, about a
minute on one core for each measure, and says so in the name of the set.

events
    Alarms of each entity against its labels (`evaluation/alarms.py`), counted over all entities of
    a set: repeats folded under the first of their kind, as lists show them, and single ones.
    Average precision, the mean over entities. One detector is fitted on all entities of
    a set, and one on each generated plant.
agreement
    Alarms of a batch that an alarm of a stream over the same rows overlaps, and the reverse; the
    severity of the stream over that of the batch.
false-alarms
    On stationary processes: the measured rate over the requested one, of rows in alarms for a share
    and of alarms for a budget; for "auto" the alarms in 10,000 rows.
severity
    Of one jump, and of the first move of a constant channel, by the number of channels.
bounds
    Rows by which the first and the last row of an alarm miss those of a planted jump.
live
    The live score and the one of a stream's own alarms, alone and with a model, as `live.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported: jobs share the cores

import argparse
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from decision_data import (
    DEPARTURES,
    GENERATED,
    PLANTS,
    PROCESSES,
    SETS,
    Found,
    Span,
    batch_alarms,
    clock,
    generated,
    of_file,
    of_streams,
    out_of_range,
    rows_in,
    stationary_rows,
    stream_alarms,
    with_jumps,
)
from joblib import Parallel, delayed
from live import WAYS, follow, measured
from live_data import Entity, markdown, of_stream, quiet, read_csv, write_csv

from reproduce.cases.normal import normal_rows
from reproduce.cases.streams import kept_back_streams
from subadjacent import AlarmBudget, SubAdjacentDetector
from subadjacent.evaluation.alarms import AlarmCounts, count_alarms, total
from subadjacent.evaluation.metrics import average_precision
from subadjacent.evaluation.segments import segments

QUICK_ROWS = 60_000  # test rows of an entity at most, in a quick run
# of each set every so many entities: in a quick run of events, for agreement, in a quick one of it
STEPS = {"MSL": (3, 3, 9), "SMAP": (6, 6, 18), "SMD (19)": (7, 5, 19)}
STEPS |= {"web": (11, 8, 26), "recordings": (8, 9, 40)}
LOOKAHEADS: tuple[int | str, ...] = ("full", 0)
NEAR_TOP = 100  # rows from an anomaly within which the highest row of a recording must lie

TRAIN_ROWS, TEST_ROWS = 2_000, 10_000
WIDTHS = (1, 5, 20, 55)  # channels
SHARE, ROW_SECONDS, WEEK = 0.01, 600, 7 * 24 * 3600
REQUESTS: dict[str, Any] = {
    "1 %": SHARE,
    "1/week": AlarmBudget(1, "1week", ROW_SECONDS),
    "auto": "auto",
}
JUMP_AT, JUMP_FOR, JUMP_BY = 500, 20, 8.0  # row, rows, deviations of the channel
NEAR = 5  # rows by which a jump is widened to look for its alarm
STREAM_WAYS = tuple(WAYS)[:2]
KEY = ("state", "measure", "set", "setting")


class Row(NamedTuple):
    """One figure; ``n`` says over how many alarms, anomalies or series."""

    measure: str
    set: str
    setting: str
    value: float
    n: int


class Options(NamedTuple):
    """What to measure on, and how."""

    data: Path
    sets: Sequence[str]
    quick: bool
    jobs: int
    kept_back: bool

    def seeds(self, quick: int, full: int) -> int:
        """How many to draw of each generated kind."""
        return quick if self.quick else full

    def map(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Results of a function that logs nothing, in the order of the tasks."""
        return Parallel(n_jobs=self.jobs)(delayed(_quietly)(function, *task) for task in tasks)


def _quietly(function: Callable[..., Any], *task: Any) -> Any:
    with quiet():
        return function(*task)


def entities_of(name: str, options: Options, step: int) -> list[Entity]:
    """Every so many entities of a set."""
    entities = list(of_file(name, options.data))
    if options.quick:
        entities = [entity for entity in entities if len(entity.test) <= QUICK_ROWS]
    return entities[::step]


class Outcome(NamedTuple):
    """One entity's alarms against its labels: repeats folded under the first, and one by one."""

    alarms: AlarmCounts
    events: AlarmCounts
    average_precision: float
    near_top: bool


def outcomes_of(entities: Sequence[Entity], lookahead: int | str) -> list[Outcome]:
    """Fit one detector on all entities, and assess the test rows of each."""
    detector = SubAdjacentDetector(lookahead=lookahead)
    detector.fit({entity.kind: entity.train for entity in entities})
    return [_outcome(detector, entity) for entity in entities]


def _outcome(detector: SubAdjacentDetector, entity: Entity) -> Outcome:
    rows = {entity.kind: entity.test}
    alarms = batch_alarms(detector, rows)
    scores = np.asarray(detector.decision_function(rows)[entity.kind])
    anomalous = np.flatnonzero(entity.labels)
    spans = [alarm.span for alarm in alarms]
    return Outcome(
        count_alarms(spans, entity.labels, [alarm.kind for alarm in alarms]),
        count_alarms(spans, entity.labels),
        average_precision(scores, entity.labels) if len(anomalous) else np.nan,
        bool((np.abs(anomalous - scores.argmax()) <= NEAR_TOP).any()),
    )


def events(options: Options) -> Iterator[Row]:
    """F1 of events at the default, with and without rows to come."""
    fleets: list[list[Entity]] = []
    for name in options.sets:
        if name in SETS:
            fleets.append(entities_of(name, options, STEPS[name][0] if options.quick else 1))
        elif name in GENERATED:
            seeds = options.seeds(1, 3 if name == DEPARTURES else 8)
            fleets += [[entity] for entity in generated(name, seeds)]
    # long ones first, so that no core waits for the last of them
    fleets.sort(key=lambda fleet: -sum(entity.test.size for entity in fleet))
    tasks = list(product(fleets, LOOKAHEADS))
    found = list(zip(tasks, options.map(outcomes_of, tasks), strict=True))
    for name, lookahead in product(options.sets, LOOKAHEADS):
        outcomes = [
            outcome
            for (fleet, way), of_fleet in found
            if (fleet[0].group, way) == (name, lookahead)
            for outcome in of_fleet
        ]
        if outcomes:
            yield from _event_rows(name, f"lookahead={lookahead}", outcomes)


def _event_rows(name: str, setting: str, outcomes: Sequence[Outcome]) -> Iterator[Row]:
    alarms = total(one.alarms for one in outcomes)
    singles = total(one.events for one in outcomes)
    precisions = [one.average_precision for one in outcomes]
    near_top = [one.near_top for one in outcomes]
    figures = {
        "F1 of events, %": (100 * alarms.f1, alarms.anomalies),
        "alarms right, %": (100 * alarms.share_right, alarms.alarms),
        "anomalies found, %": (100 * alarms.share_found, alarms.anomalies),
        "normal rows in alarms, %": (100 * singles.share_covered, alarms.normal),
        "F1 of single events, %": (100 * singles.f1, singles.alarms),
        "average precision, %": (100 * float(np.nanmean(precisions)), len(outcomes)),
    }
    if name == "recordings":
        figures["highest row near, %"] = (100 * float(np.mean(near_top)), len(outcomes))
    for measure, (value, n) in figures.items():
        yield Row(measure, name, setting, value, n)


class Pairing(NamedTuple):
    """Which alarms of a batch and of a stream overlap, and the ratios of their severities."""

    batch: list[bool]
    stream: list[bool]
    ratios: list[float]


def pair(entity: Entity) -> Pairing:
    """Alarms of one fitted detector over the same rows, in both ways."""
    detector = SubAdjacentDetector().fit(entity.train)
    batch, stream = batch_alarms(detector, entity.test), stream_alarms(detector, entity.test)
    ratios = []
    for alarm in batch:
        others = [one.severity for one in stream if one.touches([alarm.span])]
        if others:
            ratios.append(max(others) / alarm.severity)
    return Pairing(_matched(batch, stream), _matched(stream, batch), ratios)


def _matched(alarms: Sequence[Found], others: Sequence[Found]) -> list[bool]:
    return [any(other.touches([alarm.span]) for other in others) for alarm in alarms]


def agreement(options: Options) -> Iterator[Row]:
    """Whether a stream says what a batch says."""
    entities = []
    for name in options.sets:
        if name in SETS:
            entities += entities_of(name, options, STEPS[name][2 if options.quick else 1])
        elif name in GENERATED:
            entities += generated(name, 1 if options.quick or name == DEPARTURES else 4)
        else:
            entities += list(of_streams(1))[:: options.seeds(3, 1)]
    entities.sort(key=lambda entity: -entity.test.size)
    pairings = list(zip(entities, options.map(pair, ((one,) for one in entities)), strict=True))
    for name in (*options.sets, "all"):
        of_set = [pairing for entity, pairing in pairings if name in (entity.group, "all")]
        if not of_set:
            continue
        ratios = np.array([ratio for pairing in of_set for ratio in pairing.ratios])
        within = np.abs(ratios - 1) <= 0.2
        for setting, flags in (
            ("batch alarms also live, %", [one for pairing in of_set for one in pairing.batch]),
            ("live alarms also batch, %", [one for pairing in of_set for one in pairing.stream]),
            ("severity within 20 %, %", within.tolist()),
        ):
            yield Row("agreement", name, setting, _percent(flags), len(flags))
        median = float(np.median(ratios)) if len(ratios) else np.nan
        yield Row("agreement", name, "severity live / batch, median", median, len(ratios))


def _percent(flags: Sequence[bool]) -> float:
    return 100 * float(np.mean(flags)) if len(flags) else np.nan


def false_rates(process: str, channels: int, seed: int) -> dict[tuple[str, str], float]:
    """Rate over the requested rate by request and way; of "auto" alarms in 10,000 rows."""
    rows = stationary_rows(process, TRAIN_ROWS + TEST_ROWS, channels, seed)
    test, times = rows[TRAIN_ROWS:], clock(TEST_ROWS, ROW_SECONDS)
    rates = {}
    for request, contamination in REQUESTS.items():
        detector = SubAdjacentDetector(contamination=contamination).fit(rows[:TRAIN_ROWS])
        ways = {
            "batch": batch_alarms(detector, test),
            "live": stream_alarms(detector, test, times),
        }
        for way, alarms in ways.items():
            if request == "1 %":
                rate = rows_in(alarms, TEST_ROWS).mean() / SHARE
            elif request == "1/week":
                rate = len(alarms) * WEEK / (TEST_ROWS * ROW_SECONDS)
            else:
                rate = len(alarms) * 10_000 / TEST_ROWS
            rates[request, way] = float(rate)
    return rates


def false_alarms(options: Options) -> Iterator[Row]:
    """Rates on each process and width, and over all of them."""
    seeds = options.seeds(1, 6)
    widths = WIDTHS[::2] if options.quick else WIDTHS
    cells = list(product(PROCESSES, widths))
    tasks = [
        (*cell, seed) for cell in sorted(cells, key=lambda cell: -cell[1]) for seed in range(seeds)
    ]
    found = list(zip(tasks, options.map(false_rates, tasks), strict=True))
    for request, way in product(REQUESTS, ("batch", "live")):
        means = []
        for process, channels in cells:
            rates = [rate[request, way] for task, rate in found if task[:2] == (process, channels)]
            means.append(float(np.mean(rates)))
            setting = f"{request}, {way}, {channels} channels"
            yield Row("false alarms", process, setting, means[-1], seeds)
        setting, n = f"{request}, {way}", seeds * len(cells)
        yield Row("false alarms", "all processes", f"{setting}, mean", float(np.mean(means)), n)
        if request != "auto":
            kept = [0.5 <= mean <= 2 for mean in means]
            setting = f"{setting}, within a factor of 2, %"
            yield Row("false alarms", "all processes", setting, _percent(kept), len(cells))


def severities(what: str, channels: int, seed: int) -> tuple[float, float]:
    """Severity of a planted move in a batch and live; 0 where it is not found."""
    rows = normal_rows("AR 0.5", TRAIN_ROWS + 2 * JUMP_AT, channels, seed)
    begin = TRAIN_ROWS + JUMP_AT
    if what == "first move":
        rows[:, 0] = 0.0
        rows[begin : begin + JUMP_FOR, 0] = 1.0
    else:
        rows[begin : begin + JUMP_FOR, 0] += JUMP_BY
    detector = SubAdjacentDetector().fit(rows[:TRAIN_ROWS])
    test, planted = rows[TRAIN_ROWS:], [(JUMP_AT - NEAR, JUMP_AT + JUMP_FOR - 1 + NEAR)]
    ways = batch_alarms(detector, test), stream_alarms(detector, test)
    batch, live = (
        max((alarm.severity for alarm in alarms if alarm.touches(planted)), default=0.0)
        for alarms in ways
    )
    return batch, live


def severity(options: Options) -> Iterator[Row]:
    """By channels, and the highest over the lowest of them."""
    seeds = options.seeds(3, 10)
    tasks = list(product(("jump", "first move"), WIDTHS, range(seeds)))
    found = dict(zip(tasks, options.map(severities, tasks), strict=True))
    for what, (place, way) in product(("jump", "first move"), enumerate(("batch", "live"))):
        medians = []
        for channels in WIDTHS:
            values = [found[what, channels, seed][place] for seed in range(seeds)]
            medians.append(float(np.median(values)))
            yield Row("severity", what, f"{way}, {channels} channels", medians[-1], seeds)
        spread = max(medians) / min(medians) if min(medians) else np.inf
        yield Row("severity", what, f"{way}, highest / lowest", spread, len(WIDTHS))


def bound_errors(entity: Entity) -> dict[str, list[Span | None]]:
    """Rows by which the best event misses each jump at its first and last row; None: not found."""
    detector = SubAdjacentDetector().fit(entity.train)
    ways = {
        "batch": batch_alarms(detector, entity.test),
        "live": stream_alarms(detector, entity.test),
    }
    return {
        way: [
            _miss(start, stop - 1, [alarm.span for alarm in alarms])
            for start, stop in segments(entity.labels).tolist()
        ]
        for way, alarms in ways.items()
    }


def _miss(first: int, last: int, spans: Sequence[Span]) -> Span | None:
    """Of the span that shares most rows with the jump, and is closest to it."""
    near = [span for span in spans if span[0] <= last + NEAR and span[1] >= first - NEAR]
    misses = [(begin - first, end - last) for begin, end in near]
    return min(misses, key=lambda miss: abs(miss[0]) + abs(miss[1]), default=None)


def bounds(options: Options) -> Iterator[Row]:
    """Errors of first and last rows, in rows."""
    seeds = options.seeds(4, 16)
    entities = [with_jumps(channels, seed) for channels in PLANTS for seed in range(seeds)]
    entities += [out_of_range(seed) for seed in range(2 * seeds)]
    found = list(
        zip(entities, options.map(bound_errors, ((one,) for one in entities)), strict=True)
    )
    for name, way in product(dict.fromkeys(one.group for one in entities), ("batch", "live")):
        misses = [miss for one, ways in found if one.group == name for miss in ways[way]]
        hits = np.array([miss for miss in misses if miss is not None]).reshape(-1, 2)
        flags = [miss is not None for miss in misses]
        yield Row("bounds", name, f"{way}, jumps found, %", _percent(flags), len(flags))
        for end, errors in zip(("first", "last"), hits.T, strict=True):
            for title, value in (
                ("error, median", np.median(np.abs(errors))),
                ("error, 90 %", np.quantile(np.abs(errors), 0.9)),
                ("late by, median", np.median(errors)),
            ):
                yield Row("bounds", name, f"{way}, {end} {title}", float(value), len(errors))


def live(options: Options) -> Iterator[Row]:
    """Live scores of generated streams; those kept back on demand."""
    if options.kept_back:
        name, entities = "streams kept back", [of_stream(one) for one in kept_back_streams()]
    else:
        name, entities = "generated streams", list(of_streams(2))[:: options.seeds(2, 1)]
    tasks = list(product(STREAM_WAYS, entities))
    found = list(zip(tasks, options.map(follow, tasks), strict=True))
    for way in STREAM_WAYS:
        figures = measured([(task[1], answer) for task, answer in found if task[0] == way])
        for title in ("standard", "own alarms", "alarms", "right", "found", "delay"):
            label = "live score" if title == "standard" else title
            yield Row(f"live: {label}", name, way, figures[title], len(entities))


MEASURES: dict[str, Callable[[Options], Iterator[Row]]] = {
    "events": events,
    "agreement": agreement,
    "false-alarms": false_alarms,
    "severity": severity,
    "bounds": bounds,
    "live": live,
}


def merge(
    before: Sequence[dict[str, str]], rows: Iterable[Row], state: str, quick: bool
) -> list[dict[str, str]]:
    """Rows of the output with those measured now, which replace their like."""
    anew = [
        {"state": state}
        | row._asdict()
        | {"set": row.set + ", quick" * quick, "value": f"{row.value:.4g}", "n": str(row.n)}
        for row in rows
    ]
    known = {tuple(row[name] for name in KEY) for row in anew}
    return [row for row in before if tuple(row[name] for name in KEY) not in known] + anew


def table(rows: Sequence[dict[str, str]], measured_now: Iterable[dict[str, str]]) -> str:
    """What was measured now, with a column for each state."""
    states = list(dict.fromkeys(row["state"] for row in rows))
    values = {tuple(row[name] for name in KEY): row["value"] for row in rows}
    lines = [["measure, set, setting", *states, "n"]]
    for row in measured_now:
        what = row["measure"], row["set"], row["setting"]
        cells = [values.get((state, *what), "") for state in states]
        lines.append([" · ".join(what), *cells, row["n"]])
    return markdown(lines)


def current_state() -> str:
    """The short hash of the commit."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Measure, write after each measure, and print the figures beside those of other states."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = (*SETS, *GENERATED, "generated streams")
    parser.add_argument("measures", nargs="+", choices=[*MEASURES, "all"])
    parser.add_argument("--state", help="name of the rows; the commit if none is given")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/reports/decision.csv"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=every, default=every)
    parser.add_argument("--quick", action="store_true", help="a part of the series")
    parser.add_argument("--kept-back", action="store_true", help="of live, for the end only")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    options = Options(given.data, given.sets, given.quick, given.jobs, given.kept_back)
    state = given.state or current_state()
    for name in MEASURES if "all" in given.measures else given.measures:
        rows = list(MEASURES[name](options))
        before = read_csv(given.output) if given.output.exists() else []
        merged = merge(before, rows, state, given.quick)
        write_csv(given.output, merged)
        print(table(merged, merged[len(merged) - len(rows) :]), flush=True)


if __name__ == "__main__":
    main()
