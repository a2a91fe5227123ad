"""The checker itself: for each rule a true sentence that it accepts, and a false one it rejects.

All are about one hand-made file: a day of rows a cycle, a row every half hour, four weeks, of which
the event is the last but one day.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from tests.truth.checker import RULES, false_causes, false_statements
from tests.truth.rows import Rows

DAY, DAYS = 48, 28
ROWS = DAY * DAYS
FIRST, LAST = ROWS - 2 * DAY, ROWS - 2 * DAY + 19
START = datetime(2026, 3, 2)
LABELS = [START + timedelta(minutes=30) * row for row in range(ROWS)]
TIME = np.arange(ROWS)
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=(8, ROWS))


def steady() -> np.ndarray:
    """About 50, by 2; two decimals."""
    return np.round(50 + NOISE[0], 2)


def daily() -> np.ndarray:
    """From about 10 at midnight to about 50 at noon; whole numbers."""
    return np.round(30 - 20 * np.cos(2 * np.pi * TIME / DAY) + NOISE[1])


def changed(values: np.ndarray, event: Any) -> np.ndarray:
    """Rows of the event set to something; what is given is put in from its first row on."""
    values = values.copy()
    event = np.atleast_1d(np.asarray(event, dtype=float))
    values[FIRST : FIRST + len(event)] = event
    return values


def level(of: float) -> np.ndarray:
    """Twenty rows about a level, with the usual noise."""
    return np.round(of + NOISE[2, :20], 2)


@dataclass
class Cause:
    channel: str
    at: Any = LABELS[FIRST]
    kind: str = "out of range"
    sentence: str = ""
    seen: float = np.nan
    low: float = -np.inf
    high: float = np.inf


@dataclass
class Alarm:
    sentence: str
    first: int = FIRST
    last: int = LAST
    severity: float = 3.0
    permanent: bool = False
    causes: tuple[Cause, ...] = ()
    start: Any = None
    end: Any = None
    peak: Any = None

    def __post_init__(self) -> None:
        self.start = LABELS[self.first] if self.start is None else self.start
        self.end = LABELS[self.last] if self.end is None else self.end
        self.peak = LABELS[self.first] if self.peak is None else self.peak


@dataclass
class File:
    """Columns by name; ``rows`` and ``alarm`` make what the checker takes."""

    columns: dict[str, np.ndarray]
    alarm: dict[str, Any] = field(default_factory=dict)

    def broken(self, sentence: str, **fields: Any) -> set[str]:
        names = tuple(self.columns)
        rows = Rows(
            np.column_stack(list(self.columns.values())), names, LABELS, events=[(FIRST, LAST)]
        )
        alarm = Alarm(sentence, **{**self.alarm, **fields})
        return {one.rule for one in false_statements(rows, alarm)}


UP = np.round(np.linspace(51, 90, 20) + 0.01 * NOISE[2, :20], 2)
SLOWLY = np.round(np.linspace(50, 90, 90) + NOISE[5, :90], 2)
WANDERS = np.round(50 - 20 * np.cos((TIME - FIRST - 10) / 150) + NOISE[7], 1)
# loud for half of the day
BURSTS = np.round(50 + np.where(TIME % DAY < DAY // 2, 1.0, 0.1) * NOISE[0], 2)
QUIET = np.round(50 + 0.1 * NOISE[5, :80], 2)
FLOW = np.round(20 + 5 * NOISE[3].cumsum() / np.sqrt(TIME + 1) + 3 * NOISE[4], 2)
STUCK = np.where(TIME == FIRST, 51.27, steady())[FIRST]
SPIKE = File({"heat": changed(steady(), [62.5, 61.8])}, {"last": FIRST + 1})
STEP = File({"heat": changed(steady(), level(62))})
TRIPS = File({"trips": changed(daily(), daily()[FIRST : FIRST + 20] + 40)})
RAMP = File({"heat": changed(steady(), UP)})
FLAT = File({"heat": changed(steady(), np.full(20, 51.27))})
NOISY = File({"heat": changed(steady(), np.round(50 + 8 * NOISE[5, :20], 2))})
GONE = File({"heat": changed(steady(), np.full(20, np.nan))})
CALM = File({"heat": changed(steady(), np.round(50 + 0.1 * NOISE[5, :20], 2))})
PAIR = File(
    {"flow": changed(FLOW, FLOW[FIRST] + 60 + NOISE[6, :20]), "valve": 2 * FLOW + 0.1 * NOISE[7]}
)
TOGETHER = File(
    {"flow": FLOW, "valve": 2 * FLOW + 0.1 * NOISE[7], "heat": changed(steady(), level(62))}
)
FLAG = File({"valve": changed((TIME % 7 == 0).astype(float), np.full(20, 5.0))})
COUNT = File(
    {"errors": changed(RNG.poisson(0.5, ROWS).astype(float), np.full(20, 30.0) + TIME[:20] % 3)}
)
LOAD = File(
    {
        "load_percent": changed(
            np.clip(90 + 4 * NOISE[0], 0, 100).round(1), np.full(20, 25.0) + TIME[:20] % 4
        )
    }
)
CRASH = File({"heat": changed(steady(), np.append(level(20)[:10], level(80)[:10]))})


def top(file: File) -> float:
    return float(np.nanmax(next(iter(file.columns.values()))[FIRST : LAST + 1]))


LOW, HIGH = level(20)[:10].min(), level(80)[:10].max()
MOVED = File({"heat": np.where(TIME > LAST, steady() + 12, STEP.columns["heat"])})
STEADY_AT_50 = steady()
# four times as fast as the day
QUICKER = np.round(30 - 20 * np.cos(8 * np.pi * TIME[:20] / DAY))
NIGHT = daily()[FIRST] + 40
# what the valve tells of the flow where that is highest
USUAL = float(FLOW[FIRST + int(np.argmax(PAIR.columns["flow"][FIRST : LAST + 1]))])
BAND = f"{USUAL - 1:.1f} to {USUAL + 1:.1f}"
HEAT = f"{top(STEP):.2f}"

TRUE = {
    "a spike": (SPIKE, "heat jumped to 62.50, expected 47.5 to 52.5"),
    "a spike by": (SPIKE, "heat jumped by 12.3"),
    "a step": (STEP, f"heat rose to {HEAT}, expected 47.5 to 52.5"),
    "a step, from and to": (STEP, f"heat rose from 50 to {HEAT}, expected 47 to 53"),
    "at this time": (
        TRIPS,
        f"trips rose to {NIGHT:.0f}, about four times the expected 7 to 14 at this time",
    ),
    "a ramp": (RAMP, f"heat drifted up to {top(RAMP):.2f} within 9 h 30 min, expected 47 to 53"),
    "a long ramp": (
        File({"heat": changed(steady(), SLOWLY)}, {"last": FIRST + 89}),
        f"heat drifted up to {SLOWLY.max():.2f} within 44 h 30 min, expected 47 to 53",
    ),
    "flat": (FLAT, "heat flatlined at 51.27 for 10 h"),
    "noise": (
        NOISY,
        "heat had higher variance than expected: its steps were 7 times the normal size",
    ),
    "calm": (
        CALM,
        "heat had lower variance than expected: its steps were 0.1 times the normal size",
    ),
    # as quiet for some rows as in many others, but for longer
    "calm for long": (
        File({"heat": changed(BURSTS, QUIET)}, {"last": FIRST + 79}),
        "heat had lower variance than expected: its steps were 0.2 times the normal size",
    ),
    "missing": (GONE, "heat was missing for 10 h"),
    "decoupled": (
        PAIR,
        f"flow decoupled from valve: {top(PAIR):.2f}, expected {BAND} given valve",
    ),
    "other channels": (
        File({**PAIR.columns, "heat": changed(steady(), level(62))}),
        f"heat rose to {HEAT}, expected 47 to 53; flow as well",
    ),
    # it wanders far, but was never so low
    "a lowest value": (
        File(
            {
                "heat": changed(steady(), level(62)),
                "load": changed(WANDERS, WANDERS[FIRST : LAST + 1] - 2),
            }
        ),
        f"heat rose to {HEAT}, expected 47 to 53; load as well",
    ),
    "counted channels": (
        File({"heat": STEP.columns["heat"], "a": STEP.columns["heat"], "b": RAMP.columns["heat"]}),
        f"heat rose to {HEAT}, expected 47 to 53; a and 1 more as well",
    ),
    "a flag": (FLAG, "valve rose to 5, expected 0 to 1"),
    "a count": (COUNT, "errors rose to 32, expected 0 to 3"),
    "a share": (LOAD, "load_percent fell to 25.0, expected 82 to 100"),
    "a date": (STEP, f"heat rose to {HEAT} on 2026-03-28, expected 47 to 53"),
    "permanent": (MOVED, f"heat shifted up to {HEAT} permanently, expected 47 to 53"),
    "a shape": (
        File({"trips": changed(daily(), QUICKER)}),
        "trips had an unusual shape: it departed 16 times as far as normal",
    ),
    # by the latest weeks alone it would be far out
    "within its range": (
        File({"trips": daily() + np.round(np.clip(0.05 * (TIME - FIRST + 200), 0, None))}),
        "trips stayed within its expected range, but was of a shape never seen in training",
    ),
    # a row that is a little out, and many that are not
    "what a view saw": (
        File({"heat": changed(steady(), 53.1)}, {"last": FIRST + 79}),
        "heat was of a shape never seen in training: 53.10, expected 47 to 53",
    ),
    "a return": (
        File({"heat": np.where((TIME > FIRST - 300) & (TIME < FIRST), 70.0, STEADY_AT_50)}),
        f"heat returned to its former level: {STEADY_AT_50[FIRST]:.2f}",
    ),
    "two claims": (
        CRASH,
        f"heat fell from 50 to {LOW:.2f}, then rose to {HIGH:.2f}, expected 47 to 53",
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_sentences_are_accepted(name: str) -> None:
    file, sentence = TRUE[name]
    assert file.broken(sentence) == set()


# rule: a file, a false sentence, and fields of the alarm
FALSE: dict[str, list[tuple[File, str, dict[str, Any]]]] = {
    "unreadable": [
        (STEP, "heat went bananas", {}),
        (STEP, "flow rose to 62.5, expected 47 to 53", {}),
        (STEP, f"heat rose to {HEAT}, expected 47 to 53, or so", {}),
    ],
    "severity": [(STEP, f"heat rose to {HEAT}, expected 47 to 53", {"severity": 0.6})],
    "extent": [
        (STEP, f"heat rose to {HEAT}, expected 47 to 53", {"first": LAST, "last": FIRST}),
        (STEP, f"heat rose to {HEAT}, expected 47 to 53", {"start": LABELS[0]}),
        (STEP, f"heat rose to {HEAT}, expected 47 to 53", {"peak": LABELS[5]}),
    ],
    "fields": [
        (
            STEP,
            f"heat rose to {HEAT}, expected 47 to 53",
            {"causes": (Cause("heat", seen=12.0, low=47.0, high=53.0),)},
        ),
        (
            STEP,
            f"heat rose to {HEAT}, expected 47 to 53",
            {"causes": (Cause("heat", at=LABELS[3], low=47.0, high=53.0),)},
        ),
        (STEP, f"heat rose to {HEAT}, expected 47 to 53", {"causes": (Cause("heat", low=40.0),)}),
        (
            TOGETHER,
            f"heat rose to {HEAT}, expected 47 to 53",
            {"causes": (Cause("flow", low=0.0, high=1.0),)},
        ),
        *(
            (
                STEP,
                f"heat rose to {HEAT}, expected 47 to 53",
                {"causes": (Cause("heat", kind=kind, low=47.0, high=53.0),)},
            )
            for kind in ("stuck", "level shift (permanent)")
        ),
    ],
    "value": [
        (STEP, "heat rose to 75.31, expected 47 to 53", {}),
        (STEP, f"heat rose from 12 to {HEAT}, expected 47 to 53", {}),
        (SPIKE, "heat jumped by 30", {"last": FIRST + 1}),
        (SPIKE, "heat dropped by 12.3", {"last": FIRST + 1}),
    ],
    "rounding": [
        (
            File({"trips": changed(daily() + 11_400, daily()[FIRST : FIRST + 20] + 11_100)}),
            "trips fell to 11,000",
            {},
        )
    ],
    "digits": [(STEP, f"heat rose to {HEAT}00, expected 47 to 53", {})],
    "outside": [(STEP, f"heat rose to {HEAT}, expected 47 to 70", {})],
    "range": [
        (STEP, f"heat rose to {HEAT}, expected 55 to 58", {}),
        (STEP, f"heat rose to {HEAT}, expected 49.5 to 50.5", {}),
        # that of noon at midnight
        (TRIPS, f"trips rose to {NIGHT:.0f}, expected 30 to 45 at this time", {}),
        # from the event itself
        (STEP, "heat fell to 60.73, expected 61 to 65", {}),
        (PAIR, f"flow decoupled from valve: {top(PAIR):.2f}, expected 60 to 62 given valve", {}),
        (STEP, f"heat rose to {HEAT}, expected 53 to 47", {}),
    ],
    "wide": [
        (File({"heat": changed(steady(), level(90))}), "heat fell to 88.64, expected 10 to 60", {})
    ],
    "physical": [
        (COUNT, "errors rose to 32, expected -1 to 3", {}),
        (COUNT, "errors rose to 32, expected 0.0 to 2.5", {}),
        (LOAD, "load_percent fell to 25.0, expected 82 to 104", {}),
        (FLAG, "valve rose to 5, expected 0 to 3", {}),
    ],
    "direction": [
        (STEP, f"heat fell to {HEAT}, expected 47 to 53", {}),
        (LOAD, "load_percent jumped to 25.0, expected 82 to 100", {}),
        (LOAD, "load_percent rose from 90.0 to 25.0, expected 82 to 100", {}),
    ],
    "no direction": [(STEP, f"heat went out of range: {HEAT}, expected 47 to 53", {})],
    "vague": [
        (TRIPS, "trips stayed within its expected range, but was unlike anything in training", {}),
        (STEP, f"heat was of a shape never seen in training: {HEAT}, expected 47 to 53", {}),
        (STEP, f"heat had an unusual shape: {HEAT}", {}),
        (STEP, "was unlike anything in training", {}),
    ],
    "permanent": [
        (STEP, f"heat shifted its level permanently: {HEAT}, expected 47 to 53", {}),
        (STEP, f"heat rose permanently to {HEAT}, expected 47 to 53", {"permanent": True}),
        (TRIPS, f"trips rose to {NIGHT:.0f} permanently", {}),
    ],
    "decoupled": [
        (TOGETHER, "heat decoupled from flow: 62.00, expected 47 to 53 given flow", {}),
        (TOGETHER, "flow decoupled from valve: 20.00, expected 19 to 19.5 given valve", {}),
    ],
    "flat": [
        (STEP, "heat flatlined at 62.10 for 10 h", {}),
        (FLAT, "heat flatlined at 12.00 for 10 h", {}),
        # a channel of few values
        (
            File({"heat": changed(np.repeat(np.round(steady()[::24]), 24), np.full(20, 51.0))}),
            "heat flatlined at 51 for 10 h",
            {},
        ),
    ],
    "variance": [
        (
            File({"trips": changed(daily(), QUICKER)}),
            "trips had an unusual shape: it departed 90 times as far as normal",
            {},
        ),
        # half a day is but a level
        (TRIPS, "trips had an unusual shape: it departed 20 times as far as normal", {}),
        (
            STEP,
            "heat had higher variance than expected: its steps were 3 times the normal size",
            {},
        ),
        (
            SPIKE,
            "heat had higher variance than expected: its steps were 9 times the normal size",
            {},
        ),
        (
            NOISY,
            "heat had lower variance than expected: its steps were 0.1 times the normal size",
            {},
        ),
        (
            NOISY,
            "heat had higher variance than expected: its steps were 90 times the normal size",
            {},
        ),
        (
            File({"heat": changed(steady(), np.append(level(2)[:10], level(100)[:10]))}),
            "heat had higher variance than expected: its steps were 3 times the normal size",
            {},
        ),
    ],
    "return": [
        (STEP, f"heat returned to its former level: {HEAT}", {}),
        (
            File({"heat": changed(steady(), level(50))}),
            "heat returned to its former level: 50.35",
            {},
        ),
    ],
    "missing": [(STEP, "heat was missing for 10 h", {})],
    "duration": [
        (FLAT, "heat flatlined at 51.27 for 2 d", {}),
        (GONE, "heat was missing for 3 h", {}),
        (RAMP, f"heat drifted up to {top(RAMP):.2f} within 3 d, expected 47 to 53", {}),
        (RAMP, f"heat drifted up to {top(RAMP):.2f} within 50 rows, expected 47 to 53", {}),
    ],
    "time": [
        (STEP, f"heat rose to {HEAT} on 2026-03-20, expected 47 to 53", {}),
        (STEP, f"heat rose to {HEAT} at 2026-03-28 23:00, expected 47 to 53", {}),
        (STEP, f"heat rose to {HEAT} at row 12, expected 47 to 53", {}),
    ],
    "one channel": [
        (STEP, f"heat was not what the other channels predict: {HEAT}, expected 47 to 53", {}),
        (STEP, f"heat decoupled from heat: {HEAT}, expected 47 to 53 given heat", {}),
    ],
    "gradual": [
        (STEP, f"heat drifted up to {HEAT}, expected 47 to 53", {}),
        (RAMP, f"heat jumped to {top(RAMP):.2f}, expected 47 to 53", {}),
    ],
    "beyond": [
        (
            File({"trips": changed(daily(), np.full(20, 45.0) + TIME[:20] % 2)}),
            "trips went out of range: 46, expected 7 to 14 at this time",
            {},
        )
    ],
    "ratio": [(LOAD, "load_percent fell to 25.0, about half the expected 82 to 100", {})],
    "extent of departure": [
        (
            STEP,
            f"heat rose to {HEAT}, expected 47 to 53",
            {"first": FIRST - 4 * DAY, "peak": LABELS[FIRST]},
        ),
        (STEP, f"heat rose to {HEAT}, expected 47 to 53", {"last": ROWS - 1}),
    ],
    "others": [
        (TOGETHER, f"heat rose to {HEAT}, expected 47 to 53; flow as well", {}),
        (TOGETHER, f"heat rose to {HEAT}, expected 47 to 53; flow, valve and 5 more as well", {}),
        (PAIR, f"flow rose to {top(PAIR):.2f}, expected 5 to 35; flow as well", {}),
    ],
}


def test_sentences_on_single_channels_are_checked_by_themselves() -> None:
    rows = Rows(np.column_stack(list(TOGETHER.columns.values())), tuple(TOGETHER.columns), LABELS)
    true = Cause("heat", sentence=f"heat rose to {HEAT}, expected 47 to 53", low=47.0, high=53.0)
    false = Cause("flow", sentence="flow went out of range: 99.00", at=LABELS[3])
    assert false_causes(rows, Alarm("", causes=(true,))) == []
    found = false_causes(rows, Alarm("", causes=(true, false)))
    assert {one.rule for one in found} >= {"fields", "value", "no direction"}


def test_every_rule_has_a_false_sentence() -> None:
    assert set(FALSE) == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_false_sentences_break_their_rule(rule: str) -> None:
    for file, sentence, fields in FALSE[rule]:
        assert rule in file.broken(sentence, **fields), sentence


def test_a_range_holds_for_all_moves_that_are_told_in_order() -> None:
    assert "outside" in CRASH.broken(
        f"heat fell to {LOW:.2f}, then rose to {HIGH:.2f}, expected 15 to 53"
    )
