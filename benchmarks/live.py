"""How well rows are assessed while they come: live score, alarms and delay of five detectors.

    python benchmarks/live.py --output benchmarks/reports/live.csv --page docs/streaming.md

On generated streams (`reproduce/cases/streams.py`) and on the test rows of MSL, SMAP and SMD, row
by row, without a look at later ones. A detector begins with the rows that are not assessed: of a
stream its first 15 %, 750 at most, of a set the training rows. Detectors that learn learn from
them, others are fitted on them. Groups and detectors in the output that are not measured this time
stay there.

``--kept-back`` measures the kinds and seeds kept back for a final measurement instead of the
streams and sets: once, when everything is decided.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from live_data import (
    SETS,
    STREAMS,
    Entity,
    markdown,
    of_set,
    of_stream,
    put_between,
    quiet,
    read_csv,
    write_csv,
)

from reproduce.cases.streams import kept_back_streams, live_streams
from reproduce.live_score import PROFILES, live_score, live_score_at
from subadjacent import SubAdjacentDetector
from subadjacent.evaluation.alarms import count_alarms, joined_runs, total
from subadjacent.streaming.scorer import StreamScorer

TOGETHER = 1_000  # rows that are pushed at once; answers do not depend on it
MEMORY = 2_000  # rows after which a row counts for a third in the running mean
FAR = 6.0  # deviations from the running mean that are an alarm
CHANCE = 1e-3  # share of the rows that random numbers call an alarm
LEAST = 1e-6  # threshold in the unit of scores, of which normal rows have about 1
ALL = "all"
MARK = "live"


class Followed(NamedTuple):
    """What was said of each row when it came."""

    severity: np.ndarray  # (T,), 1 is the detector's own threshold
    anomalous: np.ndarray  # (T,), whether an alarm was open


Way = Callable[[Entity], Followed]


def streamed(entity: Entity, detector: SubAdjacentDetector | None = None) -> Followed:
    """The first answer to each row."""
    scorer = StreamScorer(detector)
    # a model brings its training rows along; without one they are watched
    before = entity.train if detector is None else entity.train[:0]
    rows = np.concatenate([before, entity.test])
    severity, anomalous = np.full(len(rows), np.nan), np.zeros(len(rows), bool)
    for start in range(0, len(rows), TOGETHER):
        for answer in scorer.score_many(rows[start : start + TOGETHER]):
            if np.isnan(severity[answer.row]):
                severity[answer.row], anomalous[answer.row] = answer.severity, answer.anomalous
    assessed = slice(len(before), None)
    return Followed(np.nan_to_num(severity[assessed]), anomalous[assessed])


def with_a_model(entity: Entity) -> Followed:
    return streamed(entity, SubAdjacentDetector().fit(entity.train))


def fixed(entity: Entity) -> Followed:
    """The default looking back only, by the threshold of its training rows."""
    detector = SubAdjacentDetector(lookahead=0).fit(entity.train)
    # led through its training rows, so that the first rows to judge have a past as well
    scores = detector.decision_function(np.concatenate([entity.train, entity.test]))
    # rows that never change have a threshold of 0
    return flagged(np.asarray(scores)[len(entity.train) :] / max(detector.threshold_, LEAST))


def running(entity: Entity) -> Followed:
    """Deviations from a mean that forgets, of the channel that is furthest out."""
    rows = np.concatenate([entity.train, entity.test])
    mean, square, count = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), 0
    severity = np.zeros(len(rows))
    for number, row in enumerate(rows):
        apart = np.where(np.isnan(row), 0, row - mean)
        if count:
            severity[number] = np.max(np.abs(apart) / (np.sqrt(square) + 1e-9)) / FAR
        count = min(count + 1, MEMORY)
        mean = mean + apart / count
        square = square + (apart**2 * (1 - 1 / count) - square) / count
    return flagged(severity[len(entity.train) :])


def random(entity: Entity) -> Followed:
    rng = np.random.default_rng([len(entity.test), *entity.kind.encode()])
    return flagged(rng.random(len(entity.test)) / (1 - CHANCE))


def flagged(severity: np.ndarray) -> Followed:
    """Rows at or above 1 are alarms, those at most ten rows apart are one."""
    anomalous = np.zeros(len(severity), bool)
    for first, last in joined_runs(severity >= 1).tolist():
        anomalous[first : last + 1] = True
    return Followed(severity, anomalous)


WAYS: dict[str, Way] = {
    "learning alone": streamed,
    "learning, with a model": with_a_model,
    "the default looking back, fixed": fixed,
    "running mean and deviation": running,
    "random numbers": random,
}


def follow(way: str, entity: Entity) -> Followed:
    with quiet():
        return WAYS[way](entity)


def table(
    entities: Sequence[Entity], ways: Sequence[str], jobs: int
) -> Iterator[dict[str, str | float]]:
    """One row for each group and way, then one for each kind of stream and way."""
    for way in ways:
        said = Parallel(n_jobs=jobs)(delayed(follow)(way, entity) for entity in entities)
        pairs = list(zip(entities, said, strict=True))
        for group in dict.fromkeys(entity.group for entity in entities):
            members = [pair for pair in pairs if pair[0].group == group]
            whole = measured(members)
            # kinds are assessed by the threshold of all, as the score demands
            threshold = live_score([one.watched(said.severity) for one, said in members]).threshold
            yield {"group": group, "kind": ALL, "detector": way} | whole
            if group == STREAMS:
                for kind in dict.fromkeys(entity.kind for entity, _ in members):
                    few = [pair for pair in members if pair[0].kind == kind]
                    row = measured(few, threshold)
                    yield {"group": group, "kind": kind, "detector": way} | row


def measured(
    pairs: Sequence[tuple[Entity, Followed]], threshold: float | None = None
) -> dict[str, float]:
    """Live scores at the best threshold, or at the one given, and counts of alarms."""
    watched = [entity.watched(said.severity) for entity, said in pairs]
    if threshold is None:
        scores = [live_score(watched, profile) for profile in PROFILES]
    else:
        scores = [live_score_at(watched, threshold, profile) for profile in PROFILES]
    # who is called when an alarm opens is not called again by each row of it
    opened = [
        entity.watched(np.diff(said.anomalous, prepend=False) & said.anomalous)
        for entity, said in pairs
    ]
    counts = total(
        count_alarms(joined_runs(said.anomalous, gap=0), entity.labels) for entity, said in pairs
    )
    figures = {
        **{profile: score.score for profile, score in zip(PROFILES, scores, strict=True)},
        "threshold": scores[0].threshold,
        "own alarms": live_score_at(opened, 1.0).score,
        "series": len(pairs),
        "rows": counts.rows,
        "alarms": counts.alarms,
        "right": counts.right,
        "anomalies": counts.anomalies,
        "found": counts.found,
        "delay": counts.delay,
        "alarms in 1,000 rows": 1000 * counts.alarms / counts.rows,
        "normal rows alarmed": counts.share_covered,
    }
    return {name: round(figure, 4) for name, figure in figures.items()}


def merged(
    before: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Streams first, detectors in their order; what was not measured anew stays."""
    anew = {(row["group"], row["detector"]) for row in rows}
    every = [row for row in before if (row["group"], row["detector"]) not in anew] + list(rows)
    groups = sorted({row["group"] for row in every}, key=lambda group: (group != STREAMS, group))
    ways = list(WAYS)
    return sorted(every, key=lambda row: (groups.index(row["group"]), ways.index(row["detector"])))


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """The groups as a table for the page."""
    lines = [
        [
            *("rows of", "detector", "live score", "few false", "few missed", "own alarms"),
            *("alarms right", "anomalies found", "delay", "alarms in 1,000 rows"),
        ]
    ]
    for row in rows:
        if row["kind"] == ALL:
            scores = [f"{float(row[name]):.0f}" for name in (*PROFILES, "own alarms")]
            counts = [f"{row['right']} of {row['alarms']}", f"{row['found']} of {row['anomalies']}"]
            rates = [f"{float(row[name]):.1f}" for name in ("delay", "alarms in 1,000 rows")]
            rates = [rate.replace("nan", "") for rate in rates]
            lines.append([row["group"], row["detector"], *scores, *counts, *rates])
    return markdown(lines)


def seeds(text: str) -> range:
    """Such as ``0-2``, both included; or one."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    """Write a row for each group, kind and detector, and the table of the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="to put the table into")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS)
    parser.add_argument("--entities", type=int, help="of each set, the first so many")
    parser.add_argument("--seeds", type=seeds, default=seeds("0-1"), help="such as 0-1")
    parser.add_argument("--kinds", nargs="+", help="of streams, in place of all")
    parser.add_argument("--detectors", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--kept-back", action="store_true", help="for the end only")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    streams = kept_back_streams() if options.kept_back else live_streams(options.seeds)
    entities = [of_stream(one) for one in streams if one.kind in (options.kinds or [one.kind])]
    for name in [] if options.kept_back else options.sets:
        entities += of_set(name, options.data, options.entities)
    rows = list(table(entities, options.detectors, options.jobs))
    before = read_csv(options.output) if options.output.exists() else []
    write_csv(options.output, merged(before, rows))
    text = summary(read_csv(options.output))
    if options.page:
        put_between(options.page, f"{MARK} kept back" if options.kept_back else MARK, text)
    print(text)


if __name__ == "__main__":
    main()
