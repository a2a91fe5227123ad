"""Which statements of an alarm are false, by its file's rows alone.

Nothing of the detector is used: an alarm is read as a person would, with the chart beside it.
Where "usual" has more than one fair meaning (the rows just before or all of them, this or that
cycle), a statement is true if one of them bears it out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom
from tests.truth.grammar import (
    DECOUPLED,
    DRIFT,
    FLAT,
    HIGHER,
    LOWER,
    MISSING,
    MOVE,
    PERMANENT,
    RANGE,
    RETURN,
    SHAPE,
    SUDDEN,
    VIEW,
    Claim,
    Number,
    Sentence,
    UnknownWordsError,
    parse,
    rows_of,
    seconds_of,
)
from tests.truth.rows import LEVEL_ROWS, NEAR_ROWS, Floats, Rows, explained, longest_runs

# share of comparable rows that an expected range must hold; of few rows, as many may lie outside as
# one in a hundred such ranges would leave
HOLDS, FEW_ROWS, CHANCE = 0.95, 100, 0.99
# an expected range of more than so many times all that was seen before says nothing
MAX_WIDTH = 1.5
# rounding may take this share of a value's distance from what was expected
MAX_ROUNDED = 0.25
# a ratio or size in words may be off by this share
MAX_OFF = 0.3
# rows to either side of a spike that it moves from
AROUND = 10
# correlation that a person sees; the quantile of earlier residuals that those of a broken relation
# pass, in this share of an event
MIN_RELATION, FAR_RESIDUAL, MIN_BROKEN = 0.6, 0.99, 0.2
# a simple model that explains more than this is the better description
MIN_EXPLAINED = {HIGHER: 0.6, SHAPE: 0.8}
# the mean square of a departure to explain, in units of earlier ones; rows that are but a spike
MIN_DEPARTURE, SPIKE_ROWS = 4.0, 3
# rows of an event before its first departure, or after its last, beyond which it is too long
MAX_EARLY = 20
# departures of less than this share of the largest are chance, where an event begins and ends
SMALL_SHARE = 0.3
# steps of this many times the largest before are no chance; nor is this share of rows far out
LARGEST, MIN_OUT = 1.1, 0.02
# rows whose mean step is compared with that of as many earlier ones
STEP_WINDOW = 20
# share of a move that one step makes: less is gradual, more is sudden; and the rows of a step
SUDDEN_SHARE, STEP_ROWS = 0.65, 4
# share of rows after an event that stay away, by half of the way at least
MIN_STAYS = 0.6
# correlation of a departure with that of the row before, of a shape; and rows to tell
MIN_SMOOTH, MIN_SMOOTH_ROWS = 0.7, 12
# what a sentence may claim of each kind of the fields
SAID = {
    "spike": {MOVE},
    "abrupt change": {MOVE},
    "out of range": {MOVE, RANGE},
    "level shift (permanent)": {MOVE, PERMANENT},
    "return": {RETURN},
    "drift": {DRIFT},
    "stuck": {FLAT},
    "higher variance": {HIGHER},
    "lower variance": {LOWER},
    "unusual shape": {SHAPE},
    "decoupled": {DECOUPLED},
    "missing": {MISSING},
}
LEVEL_KINDS = (MOVE, RANGE, PERMANENT, DRIFT)


@dataclass(frozen=True, slots=True)
class FalseStatement:
    """A rule that a statement breaks, and how."""

    rule: str
    why: str


@dataclass(eq=False)
class Context:
    """One claim of an alarm's sentence, and the rows around it."""

    rows: Rows
    alarm: Any
    sentence: Sentence
    claim: Claim

    @property
    def first(self) -> int:
        return int(self.alarm.first)

    @property
    def last(self) -> int:
        return int(self.alarm.last)

    @property
    def cause(self) -> Any:
        """The fields on the claim's channel; None where the alarm has none."""
        return next((one for one in self.alarm.causes if one.channel == self.claim.channel), None)

    @cached_property
    def event(self) -> Floats:
        return self.rows.event(self.claim.channel, self.first, self.last)

    @cached_property
    def past(self) -> Floats:
        return self.rows.before(self.claim.channel, self.first)

    @cached_property
    def quoted_rows(self) -> list[int]:
        """Rows of the event with the quoted value, that of the fields first."""
        value = self.claim.value
        if value is None:
            return []
        found = [self.first + int(row) for row in np.flatnonzero(_rounded_to(self.event, value))]
        at = None if self.cause is None else self.rows.row_of(self.cause.at)
        return sorted(found, key=lambda row: row != at)

    @cached_property
    def comparable(self) -> list[Floats]:
        """Values that the quoted range should hold; one set is enough."""
        row = self.quoted_rows[0] if self.quoted_rows else self.first
        return self.rows.comparable(
            self.claim.channel, row, self.first, at_this_time=self.claim.at_this_time
        )

    @cached_property
    def expectations(self) -> list[tuple[Floats, Floats]]:
        return self.rows.expectations(self.claim.channel, self.first, self.last)


Found = Iterator[str]
Rule = Callable[[Context], Found]


def false_statements(rows: Rows, alarm: Any) -> list[FalseStatement]:
    """All statements of an alarm that its rows do not bear out; empty if it is true."""
    found = [FalseStatement(rule, why) for rule, check in OF_FIELDS for why in check(rows, alarm)]
    if any(one.rule == "extent" for one in found):
        return found
    return found + _of_sentence(rows, alarm)


def _of_sentence(rows: Rows, alarm: Any) -> list[FalseStatement]:
    try:
        sentence = parse(alarm.sentence, rows.channels)
    except UnknownWordsError as error:
        return [FalseStatement("unreadable", str(error))]
    found = []
    for claim in sentence.claims:
        context = Context(rows, alarm, sentence, claim)
        checks = OF_CLAIMS if claim.channel else (("vague", vague), ("one channel", one_channel))
        found += [FalseStatement(rule, why) for rule, check in checks for why in check(context)]
    named = sentence.claims[0].channel
    found += [FalseStatement("others", why) for why in others(rows, alarm, sentence)]
    if named and alarm.causes and named != alarm.causes[0].channel:
        found.append(FalseStatement("fields", f"first cause is {alarm.causes[0].channel}"))
    return found


def false_causes(rows: Rows, alarm: Any) -> list[FalseStatement]:
    """The same of the sentences on its single channels, as a page shows them."""
    own = dict(OF_FIELDS)
    found = []
    for cause in alarm.causes:
        shown = SimpleNamespace(
            first=alarm.first,
            last=alarm.last,
            permanent=False,
            causes=(cause,),
            sentence=cause.sentence,
        )
        statements = _of_sentence(rows, shown)
        found += [FalseStatement("fields", why) for why in own["fields"](rows, shown)]
        found += [one for one in statements if one.rule != "extent of departure"]
    return found


# the fields of an alarm


def severity(_rows: Rows, alarm: Any) -> Found:
    if not alarm.severity >= 1:
        yield f"severity {alarm.severity:.3g}"


def extent(rows: Rows, alarm: Any) -> Found:
    if not 0 <= alarm.first <= alarm.last < len(rows.values):
        yield f"rows {alarm.first} to {alarm.last} of {len(rows.values)}"
        return
    for name, row in (("start", alarm.first), ("end", alarm.last)):
        if rows.row_of(getattr(alarm, name)) != row:
            yield f"{name} is {getattr(alarm, name)}, row {row} is not"
    peak = rows.row_of(alarm.peak)
    if peak is None or not alarm.first <= peak <= alarm.last:
        yield f"peak {alarm.peak} outside rows {alarm.first} to {alarm.last}"


def fields(rows: Rows, alarm: Any) -> Found:
    for cause in alarm.causes:
        if cause.channel not in rows.channels:
            yield f"no channel {cause.channel}"
            continue
        row = rows.row_of(cause.at)
        if row is None or not alarm.first <= row <= alarm.last:
            yield f"{cause.channel} at {cause.at}, outside the event"
        elif math.isfinite(cause.seen):
            value = rows.event(cause.channel, row, row)[0]
            if not abs(value - cause.seen) <= 1e-5 * max(abs(value), 1e-9):
                yield f"{cause.channel} seen as {cause.seen:.6g}; the data have {value:.6g}"
        if not cause.low <= cause.high:
            yield f"{cause.channel}: low {cause.low} above high {cause.high}"


# what a claim says


def value(context: Context) -> Found:
    claim = context.claim
    if claim.value is not None and not context.quoted_rows:
        near = _nearest(context.event, claim.value.value)
        yield f"{claim.value.text} is not in the event; nearest {near:.6g}"
    if claim.before is not None:
        row = context.quoted_rows[0] if context.quoted_rows else context.last
        here = context.rows.event(claim.channel, max(context.first - 20, 0), row)
        near_past = context.past[-LEVEL_ROWS:]
        between = len(near_past) and near_past.min() <= claim.before.value <= near_past.max()
        if not _rounded_to(here, claim.before).any() and not between:
            yield f"{claim.before.text} is not in the rows before"


def moved_by(context: Context) -> Found:
    """A move by some amount: from the rows around, or from what was expected."""
    claim = context.claim
    if claim.by is None:
        return
    said = claim.direction * claim.by.value
    sizes = [left for _, left in context.expectations]
    here = context.rows.offset + context.first
    column = context.rows.column(claim.channel)
    around = column[max(here - AROUND, 0) : here + len(context.event) + AROUND]
    said_rows = None if claim.within is None else _rows_said(claim.within, context.rows.interval)
    within = 1 if said_rows is None else max(1, round(said_rows[0]))
    near = column[max(here - within, 0) : here + len(context.event)]
    sizes += [context.event - np.nanmedian(around), near[within:] - near[:-within]]
    if not any((np.abs(size - said) <= MAX_OFF * abs(said)).any() for size in sizes):
        moves = ", ".join(f"{_nearest(size, said):.4g}" for size in sizes if len(size))
        yield f"moved by {said:.4g}; nearest moves {moves}"


def largest_change(context: Context) -> Found:
    """Hardly any earlier change was larger than the one that was expected at most; this one is."""
    claim = context.claim
    if claim.max_step is None or claim.by is None:
        return
    said = (1.0, 0.0) if claim.within is None else _rows_said(claim.within, context.rows.interval)
    if said is None:
        yield f"{claim.within}: the rows have no clock"
        return
    within = max(1, round(said[0]))
    before = np.abs(context.past[within:] - context.past[:-within])
    most = claim.max_step.value + claim.max_step.coarse_step / 2
    if claim.by.value <= claim.max_step.value:
        yield f"{claim.by.text} is no more than {claim.max_step.text}"
    if len(before) and np.mean(before <= most) < CHANCE:
        yield f"{np.mean(before > most):.1%} of the changes before were larger than {most:.4g}"


def rounding(context: Context) -> Found:
    claim = context.claim
    if claim.value is None or not context.quoted_rows or claim.kind in (FLAT, RETURN):
        return
    exact = context.rows.event(claim.channel, context.quoted_rows[0], context.quoted_rows[0])[0]
    centres = [float(np.median(values)) for values in context.comparable]
    if claim.low is not None and claim.high is not None:
        centres = [(claim.low.value + claim.high.value) / 2]
    far = max((abs(exact - centre) for centre in centres), default=math.inf)
    if abs(claim.value.value - exact) > MAX_ROUNDED * far:
        yield f"{claim.value.text} for {exact:.6g}, only {far:.3g} from what was expected"


def digits(context: Context) -> Found:
    decimals = context.rows.decimals(context.claim.channel)
    for number in (context.claim.value, context.claim.before):
        if number is not None and number.decimals > decimals:
            yield f"{number.text} has more than the {decimals} decimals of the file"


def outside(context: Context) -> Found:
    claim = context.claim
    if None in (claim.value, claim.low, claim.high) or claim.kind == RETURN:
        return
    if claim.low.value <= claim.value.value <= claim.high.value:
        yield f"{claim.value.text} lies in {claim.low.text} to {claim.high.text}"


def expected_range(context: Context) -> Found:
    claim = context.claim
    if claim.low is None or claim.high is None:
        return
    low, high = claim.low, claim.high
    if low.value > high.value:
        yield f"{low.text} to {high.text} is no range"
        return
    sets = [*context.comparable, *_at_the_level(context)]
    if claim.partner is not None:
        sets += _given_partner(context)
    if not sets:
        return
    held = [_held(values, low, high) for values in sets]
    best = max(held, key=lambda one: one[0] - one[1])
    if best[0] < best[1]:
        shares = ", ".join(
            f"{int(inside)} of {len(of)}" for (inside, _), of in zip(held, sets, strict=True)
        )
        yield f"{low.text} to {high.text} holds {shares} comparable rows"


def wide(context: Context) -> Found:
    claim = context.claim
    if claim.low is None or claim.high is None or not len(context.past):
        return
    seen = float(np.ptp(context.past))
    width = claim.high.value - claim.low.value
    if width > MAX_WIDTH * seen + claim.low.step + claim.high.step:
        yield f"{claim.low.text} to {claim.high.text} is wider than all that was seen ({seen:.3g})"


def physical(context: Context) -> Found:
    claim, past = context.claim, context.past
    bounds = [number for number in (claim.low, claim.high) if number is not None]
    if not len(past) or not bounds:
        return
    if past.min() >= 0 and any(number.value < 0 for number in bounds):
        yield f"{bounds[0].text} is below zero; it never was"
    name = claim.channel.lower()
    is_share = past.max() == 100 or any(word in name for word in ("%", "percent", "pct"))
    if past.min() >= 0 and past.max() <= 100 and is_share and bounds[-1].value > 100:
        yield f"{bounds[-1].text} is above 100 percent"
    if np.all(past == np.round(past)) and any(number.value % 1 for number in bounds):
        yield f"{' to '.join(number.text for number in bounds)} of whole numbers"
    states = np.unique(past)
    if len(past) >= 20 and len(states) <= 2:
        for number in bounds:
            if not any(number.is_rounded(state) for state in states):
                yield f"{number.text} is none of its states {states.tolist()}"


def same_fields(context: Context) -> Found:
    """Numbers and kind of the first claim are those of the fields."""
    claim, cause = context.claim, context.cause
    if cause is None or claim is not context.sentence.claims[0]:
        return
    if cause.kind in SAID and claim.kind not in SAID[cause.kind]:
        yield f"kind is {cause.kind}, the sentence says {claim.words}"
    if (cause.kind == "level shift (permanent)") != claim.permanent:
        yield f"kind is {cause.kind}, the sentence says {claim.words}"
    if len(context.sentence.claims) > 1:
        # the fields are of one of several moves
        return
    for name, number, exact in (
        ("low", claim.low, cause.low),
        ("high", claim.high, cause.high),
        ("seen", claim.value, cause.seen),
    ):
        if number is None or not math.isfinite(exact):
            continue
        if not number.is_rounded(exact, coarse=name != "seen"):
            yield f"{name} is {exact:.6g}, the sentence says {number.text}"


def direction(context: Context) -> Found:
    claim = context.claim
    if not claim.direction or claim.value is None:
        return
    compared = [float(np.median(values)) for values in context.comparable]
    if claim.before is not None:
        compared = [claim.before.value]
    elif claim.low is not None and claim.high is not None:
        compared = [claim.low.value if claim.direction < 0 else claim.high.value]
    if compared and not any((claim.value.value - one) * claim.direction > 0 for one in compared):
        yield f"{claim.words} to {claim.value.text}, from about {compared[0]:.4g}"


def no_direction(context: Context) -> Found:
    if context.claim.kind in LEVEL_KINDS and not context.claim.direction:
        yield f"{context.claim.words}: up or down?"


def vague(context: Context) -> Found:
    claim = context.claim
    if claim.kind == VIEW and (
        not claim.channel
        or departs_clearly(context.rows, claim.channel, context.first, context.last)
    ):
        # only what no chart shows may be told by the view that saw it
        yield f"{claim.words}: a chart shows more"
    elif claim.kind in (SHAPE, RANGE, PERMANENT, DRIFT) and claim.low is None is claim.size:
        yield f"{claim.words}: no expected range"


def permanent(context: Context) -> Found:
    claim = context.claim
    if not claim.permanent and not (
        context.alarm.permanent and claim is context.sentence.claims[0]
    ):
        return
    column = context.rows.column(claim.channel)
    here = context.rows.offset + context.last
    after = column[here + 1 :]
    after = after[np.isfinite(after)]
    if claim.kind in (MISSING, FLAT, HIGHER, LOWER, DECOUPLED, VIEW):
        # of these only their own measure can say it: they say it of the level
        if claim.permanent:
            yield f"{claim.words} is no level"
        return
    if len(after) < 20:
        # it must have lasted to the end
        after = column[context.rows.offset + context.first :][-NEAR_ROWS:]
    if not any(_stays(context, after, cycle) for cycle in (0, *context.rows.cycles(claim.channel))):
        yield f"it came back: median {np.median(after):.4g} afterwards"


def decoupled(context: Context) -> Found:
    claim = context.claim
    if claim.kind != DECOUPLED or claim.partner is None:
        return
    found = relation(context.rows, claim.channel, claim.partner, context.first, context.last)
    strength = 0.0 if found is None else found.strength
    if found is None or strength < MIN_RELATION:
        yield f"never followed {claim.partner}: correlation {strength:.2f}"
    elif not is_broken(found):
        far = np.quantile(np.abs(found.before), FAR_RESIDUAL)
        largest = np.nanmax(np.abs(found.event))
        yield f"still follows {claim.partner}: residuals up to {largest:.3g}, usually {far:.3g}"


def flat(context: Context) -> Found:
    claim = context.claim
    if claim.kind != FLAT:
        return
    rows, channel = context.rows, claim.channel
    column = rows.column(channel)
    run = _run_at(column, rows.offset + context.first, rows.offset + context.last)
    if run is None:
        yield "no equal values in the event"
        return
    start, stop = run
    elsewhere = longest_runs(np.concatenate([column[:start], [np.nan], column[stop:]]))
    # a few faults of the same kind are no habit
    normal = int(elsewhere[3]) if len(elsewhere) > 3 else 1
    if stop - start <= 2 * normal:
        yield f"{stop - start} equal values; there are other runs of {elsewhere[:4].tolist()}"
    if claim.value is not None and not claim.value.is_rounded(column[start]):
        yield f"flat at {column[start]:.6g}, not {claim.value.text}"


def variance(context: Context) -> Found:
    claim = context.claim
    if claim.kind not in (HIGHER, LOWER, SHAPE):
        return
    if claim.kind in (HIGHER, SHAPE):
        for name, share in _best_shares(context).items():
            if share > MIN_EXPLAINED[claim.kind]:
                yield f"{name} explains {share:.0%} of it"
                return
    if claim.kind == SHAPE:
        yield from _size_of_shape(context)
        return
    if claim.kind == HIGHER and _is_smooth(context):
        yield "values depart smoothly: a shape"
        return
    measured = [ratio for ratio in _step_ratios(context) if math.isfinite(ratio)]
    listed = ", ".join(f"{one:.2g}" for one in measured)
    up = claim.kind == HIGHER
    # more is seen in the values themselves, the first three
    seen = measured[:3] if up else measured
    if measured and not any(ratio > 1.2 if up else ratio < 0.85 for ratio in seen):
        yield f"{claim.kind} variance: steps are {listed} times"
    elif claim.size is not None and measured:
        said, is_least = claim.size.value, "over " in claim.words
        if not any(
            abs(said - ratio) <= MAX_OFF * ratio or (is_least and ratio >= said)
            for ratio in measured
        ):
            yield f"{claim.size.text} times; steps are {listed} times"


def _size_of_shape(context: Context) -> Found:
    if context.claim.size is None:
        return
    sizes = []
    for past, left in context.expectations:
        low, high = np.quantile(past, [0.16, 0.84])
        here = math.sqrt(float(np.nanmean(np.square(left))))
        sizes += [here / one for one in (np.std(past), (high - low) / 2) if one > 0]
    said = context.claim.size.value
    if sizes and not any(abs(said - one) <= MAX_OFF * one for one in sizes):
        yield f"{said:.3g} times; it is {', '.join(f'{one:.2g}' for one in sizes)} times"


def returned(context: Context) -> Found:
    """What returns was elsewhere just before, and at that level earlier."""
    claim, past = context.claim, context.past
    if claim.kind != RETURN or claim.value is None or claim is not context.sentence.claims[0]:
        return
    low, high = np.quantile(past, [0.01, 0.99]) if len(past) else (math.nan, math.nan)
    if not low <= claim.value.value <= high:
        yield f"{claim.value.text} is no former level, {low:.4g} to {high:.4g}"
    # rows of alarms too: that is where it was
    here = context.rows.offset + context.first
    just_before = context.rows.column(claim.channel)[max(here - LEVEL_ROWS, 0) : here]
    just_before = just_before[np.isfinite(just_before)]
    if claim.low is not None:
        # at other times of a cycle it is at other levels: its range tells
        return
    if len(just_before) and just_before.min() <= claim.value.value <= just_before.max():
        yield f"it was at {claim.value.text} just before"


def missing(context: Context) -> Found:
    if context.claim.kind == MISSING and not np.isnan(context.event).mean() > 0.5:
        yield f"{int(np.isnan(context.event).sum())} of {len(context.event)} values are missing"


def duration(context: Context) -> Found:
    claim = context.claim
    column, offset = context.rows.column(claim.channel), context.rows.offset
    for said in (claim.lasted, claim.within):
        if said is None:
            continue
        length = _rows_said(said, context.rows.interval)
        if length is None:
            yield f"{said}: the rows have no clock"
            continue
        rows, slack = length
        longest = context.last - context.first + 1
        if claim.kind in (FLAT, MISSING) and said is claim.lasted:
            run = _run_at(column, offset + context.first, offset + context.last)
            if claim.kind == MISSING:
                gap = int(np.isnan(context.event).sum())
            else:
                gap = 0 if run is None else run[1] - run[0]
            if abs(rows - gap) > slack + 1:
                yield f"{said} is {rows:.4g} rows; it lasted {gap}"
        elif rows > longest + slack + 1:
            yield f"{said} is {rows:.4g} rows; the event has {longest}"


def times(context: Context) -> Found:
    for text in context.claim.times:
        if text.startswith("row "):
            inside = context.first <= int(text[4:].replace(",", "")) <= context.last
        else:
            inside = _time_inside(text, context.rows, context.alarm)
        if not inside:
            yield f"{text} is outside the event"


def one_channel(context: Context) -> Found:
    words = context.alarm.sentence
    phrases = ("other channels", "many channels", "combination", "decoupled", "given ", " as well")
    if len(context.rows.channels) == 1 and any(phrase in words for phrase in phrases):
        yield "there are no other channels"


def gradual(context: Context) -> Found:
    """What drifts goes little by little; what jumps does not."""
    claim = context.claim
    said_sudden = claim.words.split()[0] in SUDDEN and claim.kind == MOVE
    if (claim.kind != DRIFT and not said_sudden) or not context.quoted_rows:
        return
    shares = _step_shares(context)
    if not shares:
        return
    if claim.kind == DRIFT and min(shares) > SUDDEN_SHARE:
        yield f"{claim.words}, but {min(shares):.0%} of it at once"
    if said_sudden and max(shares) < 1 - SUDDEN_SHARE:
        yield f"{claim.words}, but at most {max(shares):.0%} of it at once"


def beyond(context: Context) -> Found:
    """What is out of range lies beyond what was seen."""
    claim = context.claim
    if claim.kind != RANGE or claim.value is None or len(context.past) < 20:
        return
    low, high = np.quantile(context.past, [0.005, 0.995])
    if low <= claim.value.value <= high:
        yield f"{claim.value.text} is within what was seen, {low:.4g} to {high:.4g}"


def ratio(context: Context) -> Found:
    claim = context.claim
    if claim.ratio is None or claim.value is None:
        return
    compared = [float(np.median(values)) for values in context.comparable]
    if claim.low is not None and claim.high is not None:
        compared = [claim.low.value, claim.high.value, (claim.low.value + claim.high.value) / 2]
    measured = [claim.value.value / one for one in compared if one]
    if measured and not min(measured) * (1 - MAX_OFF) <= claim.ratio <= max(measured) * (
        1 + MAX_OFF
    ):
        yield f"{claim.ratio:.3g} times; it is {measured[-1]:.3g} times"


def too_early(context: Context) -> Found:
    """The event begins, and ends, where the channels that it names depart."""
    claim = context.claim
    # what returns is as it was before, and what only a view saw has no rows that a chart shows
    if claim is not context.sentence.claims[0] or claim.kind in (RETURN, VIEW):
        return
    named = {one.channel for one in context.sentence.claims} | set(context.sentence.others)
    out = np.zeros(context.last - context.first + 1, dtype=bool)
    # a drift is small where it begins
    least = 0.0 if claim.kind == DRIFT else SMALL_SHARE
    for channel in named:
        out |= departing(context.rows, channel, context.first, context.last, least)
    for one in context.sentence.claims:
        if one.kind == DECOUPLED and one.partner is not None:
            found = relation(context.rows, one.channel, one.partner, context.first, context.last)
            if found is not None:
                out |= np.abs(found.event) > np.quantile(np.abs(found.before), FAR_RESIDUAL)
    # a value outside its expected range departs, if only a little
    if claim.low is not None and context.quoted_rows:
        out[context.quoted_rows[0] - context.first] = True
    # so do the rows of a change that is told by its size
    if claim.by is not None and claim.max_step is not None:
        said = (
            (1.0, 0.0) if claim.within is None else _rows_said(claim.within, context.rows.interval)
        )
        out |= len(out) <= 2 + (0 if said is None else round(said[0]))
    departs = np.flatnonzero(out)
    slack = max(MAX_EARLY, len(out) // 4)
    if not len(departs):
        yield "no row departs"
    elif departs[0] > slack:
        yield f"nothing departs in the first {departs[0]} of {len(out)} rows"
    elif len(out) - 1 - departs[-1] > slack:
        yield f"nothing departs in the last {len(out) - 1 - departs[-1]} of {len(out)} rows"


def others(rows: Rows, alarm: Any, sentence: Sentence) -> Found:
    """Other channels that are named or counted depart as well."""
    claimed = [one.channel for one in sentence.claims]
    if len(set(sentence.others)) < len(sentence.others) or set(claimed) & set(sentence.others):
        yield "a channel is named twice"
    for channel in sentence.others:
        if not departs(rows, channel, alarm.first, alarm.last):
            yield f"{channel} does not depart"
    if sentence.more:
        rest = [one for one in rows.channels if one not in claimed and one not in sentence.others]
        count = sum(departs(rows, one, alarm.first, alarm.last) for one in rest)
        if sentence.more > count:
            yield f"{sentence.more} more; {count} depart"


OF_FIELDS: tuple[tuple[str, Callable[[Rows, Any], Found]], ...] = (
    ("severity", severity),
    ("extent", extent),
    ("fields", fields),
)
OF_CLAIMS: tuple[tuple[str, Rule], ...] = (
    ("value", value),
    ("value", moved_by),
    ("value", largest_change),
    ("rounding", rounding),
    ("digits", digits),
    ("outside", outside),
    ("range", expected_range),
    ("wide", wide),
    ("physical", physical),
    ("fields", same_fields),
    ("direction", direction),
    ("no direction", no_direction),
    ("vague", vague),
    ("permanent", permanent),
    ("decoupled", decoupled),
    ("flat", flat),
    ("variance", variance),
    ("return", returned),
    ("missing", missing),
    ("duration", duration),
    ("time", times),
    ("one channel", one_channel),
    ("gradual", gradual),
    ("beyond", beyond),
    ("ratio", ratio),
    ("extent of departure", too_early),
)
RULES = (
    "unreadable",
    *dict.fromkeys([name for name, _ in OF_FIELDS] + [name for name, _ in OF_CLAIMS]),
    "others",
)


# measures


def departing(rows: Rows, channel: str, first: int, last: int, least: float = 0.0) -> np.ndarray:
    """Rows of an event in which a channel departs in any way that a chart shows.

    By its level, by no less than the share ``least`` of the most.
    """
    out = _departs_otherwise(rows, channel, first, last)
    # wherever its level is: as high or low as never before
    event, before = rows.event(channel, first, last), rows.before(channel, first)
    if len(before):
        out |= (event < before.min()) | (event > before.max())
    for past, left in rows.expectations(channel, first, last):
        far = max(np.quantile(np.abs(past), 0.995), least * np.nanmax(np.abs(left), initial=0.0))
        out |= np.abs(left) > far
    return out


def departs_clearly(rows: Rows, channel: str, first: int, last: int) -> bool:
    """Whether no reader overlooks that a channel departs.

    Of all ways to expect, one or another is passed by chance: what a reader goes by is the one
    that was nearest to the values before.
    """
    out = _departs_otherwise(rows, channel, first, last)
    expectations = rows.expectations(channel, first, last)
    if expectations:
        past, left = min(expectations, key=lambda pair: float(np.median(np.abs(pair[0]))))
        out |= np.abs(left) > LARGEST * np.quantile(np.abs(past), 0.995)
    return bool(out.mean() > MIN_OUT) or jumps(rows, channel, first, last)


def _departs_otherwise(rows: Rows, channel: str, first: int, last: int) -> np.ndarray:
    """Rows in which values are missing, stand still or take unusual steps."""
    event = rows.event(channel, first, last)
    out = np.isnan(event)
    past = rows.before(channel, first)
    runs = longest_runs(past)
    around = rows.column(channel)[rows.offset + first : rows.offset + last + 1]
    run = _run_at(around, 0, len(around) - 1)
    if run is not None and run[1] - run[0] > 1.5 * (runs[0] if len(runs) else 1):
        out[run[0] : run[1]] = True
    # steps: over as many rows as tell
    if len(past) > 100:
        before, here = np.abs(np.diff(past)), np.abs(np.diff(event, prepend=past[-1]))
        # a single one that is larger than any before
        out |= here > LARGEST * before.max()
        # few rows may be quiet by chance where as many as the event has are not
        for width in {min(STEP_WINDOW, len(event)), min(len(event), len(before))}:
            usual = np.convolve(before, np.ones(width) / width, "valid")
            low, high = usual.min() / LARGEST, LARGEST * usual.max()
            means = np.convolve(here, np.ones(width) / width, "valid")
            for row in np.flatnonzero((means > high) | (means < low)):
                out[row : row + width] = True
    return out


def jumps(rows: Rows, channel: str, first: int, last: int) -> bool:
    """Whether a step of the event is larger than any before."""
    past = rows.before(channel, first)
    event = rows.event(channel, max(first - 1, -rows.offset), last)
    if len(past) < 2 or len(event) < 2:
        return False
    return bool(
        np.nanmax(np.abs(np.diff(event)), initial=0) > LARGEST * np.abs(np.diff(past)).max()
    )


def departs(rows: Rows, channel: str, first: int, last: int) -> bool:
    """Whether a channel departs in an event, by itself or from one that it follows."""
    if channel not in rows.channels:
        return False
    if departing(rows, channel, first, last).mean() > MIN_OUT or jumps(rows, channel, first, last):
        return True
    related = (relation(rows, channel, one, first, last) for one in rows.channels if one != channel)
    return any(
        one.strength >= MIN_RELATION and is_broken(one) for one in related if one is not None
    )


def is_broken(found: Relation) -> bool:
    """Whether residuals in an event are larger than they ever were, or often large."""
    before, event = np.abs(found.before), np.abs(found.event)
    far = event > np.quantile(before, FAR_RESIDUAL)
    return bool(far.mean() >= MIN_BROKEN or np.nanmax(event, initial=0.0) > 1.5 * before.max())


class Relation(NamedTuple):
    """How a channel followed another before an event: correlation, and residuals.

    ``predicted`` is what the other channel leads to expect in each row of the event.
    """

    strength: float
    before: Floats
    event: Floats
    predicted: Floats


def relations(rows: Rows, channel: str, partner: str, first: int, last: int) -> list[Relation]:
    """Relations of the values themselves, and of their departures from a level or a cycle."""
    mine, other = rows.column(channel), rows.column(partner)
    start, stop = rows.offset + first, rows.offset + last + 1
    low = max(0, start - 5_000)
    found = []
    for expected in (None, 0, *rows.cycles(channel)):
        levels = [np.zeros(stop - low)] * 2
        if expected is not None:
            levels = [
                rows.expected(name, low, start, stop, expected) for name in (channel, partner)
            ]
        here, there = mine[low:stop] - levels[0], other[low:stop] - levels[1]
        past = np.isfinite(here) & np.isfinite(there)
        past[: start - low] &= rows.normal[low:start]
        past[start - low :] = False
        if past.sum() < 30 or np.ptp(here[past]) == 0 or np.ptp(there[past]) == 0:
            continue
        strength = abs(float(np.corrcoef(here[past], there[past])[0, 1]))
        slope, level = np.polyfit(there[past], here[past], 1)
        residual = here - slope * there - level
        predicted = levels[0] + slope * there + level
        found.append(
            Relation(strength, residual[past], residual[start - low :], predicted[start - low :])
        )
    return found


def relation(rows: Rows, channel: str, partner: str, first: int, last: int) -> Relation | None:
    """The strongest of the relations of two channels."""
    found = relations(rows, channel, partner, first, last)
    return max(found, key=lambda one: one.strength, default=None)


def _at_the_level(context: Context) -> list[Floats]:
    """Earlier departures from each expectation, around what is expected at the quoted row.

    The rows of a trend, and the same time of other weeks, lie at other levels.
    """
    if not context.quoted_rows:
        return []
    at = context.quoted_rows[0] - context.first
    expected = [(past, context.event[at] - left[at]) for past, left in context.expectations]
    return [value + past for past, value in expected if np.isfinite(value)]


def _given_partner(context: Context) -> list[Floats]:
    """Values in earlier rows in which the partner was as it is in the quoted one."""
    claim, rows = context.claim, context.rows
    if claim.partner is None or not context.quoted_rows:
        return []
    row = rows.offset + context.quoted_rows[0]
    past = np.flatnonzero(rows.normal[: rows.offset + context.first])
    mine, partner = rows.column(claim.channel), rows.column(claim.partner)
    sets = []
    for places in (past, past[-10 * NEAR_ROWS :], past[-NEAR_ROWS:]):
        nearest = places[np.argsort(np.abs(partner[places] - partner[row]))[:40]]
        values = mine[nearest]
        if np.isfinite(values).sum() >= 3:
            sets.append(values[np.isfinite(values)])
    # what relations leave, around what they predict for the row
    at = context.quoted_rows[0] - context.first
    found = relations(rows, claim.channel, claim.partner, context.first, context.last)
    strong = [one for one in found if one.strength >= MIN_RELATION]
    told = [one for one in strong if np.isfinite(one.predicted[at])]
    return [*sets, *(one.predicted[at] + one.before for one in told)]


def _held(values: Floats, low: Number, high: Number) -> tuple[int, int]:
    """Values that a range holds, and how many it should; of a rounded bound half a digit more."""
    low_bound, high_bound = low.value - low.coarse_step / 2, high.value + high.coarse_step / 2
    inside = (values >= low_bound) & (values <= high_bound)
    outside = math.floor((1 - HOLDS) * len(values)) + 1
    if len(values) < FEW_ROWS:
        outside = int(binom.ppf(CHANCE, len(values), 1 - HOLDS))
    return int(inside.sum()), len(values) - outside


def _rounded_to(values: Floats, number: Number) -> np.ndarray:
    return np.abs(values - number.value) <= 0.5 * number.step * (1 + 1e-6) + 1e-6 * np.abs(values)


def _nearest(values: Floats, said: float) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[np.abs(finite - said).argmin()]) if len(finite) else math.nan


def _best_shares(context: Context) -> dict[str, float]:
    """How much simple models explain of a departure from what predicts the channel best."""
    if len(context.event) <= SPIKE_ROWS:
        return {f"a spike of {len(context.event)} rows": 1.0}
    if not context.expectations:
        return {}
    past, left = min(context.expectations, key=lambda pair: float(np.median(np.abs(pair[0]))))
    usual = float(np.mean(np.square(past)))
    left = left[np.isfinite(left)]
    # a departure that is none needs no explanation
    if not len(left) or np.mean(np.square(left)) <= MIN_DEPARTURE * usual:
        return {}
    return dict(sorted(explained(left, usual).items(), key=lambda item: -item[1]))


def _is_smooth(context: Context) -> bool:
    """Whether departures go on from row to row, much more than they did before."""
    if len(context.event) < MIN_SMOOTH_ROWS or not context.expectations:
        return False
    pair = min(context.expectations, key=lambda pair: float(np.median(np.abs(pair[0]))))
    before, event = (
        float(np.corrcoef(left[:-1], left[1:])[0, 1]) if np.ptp(left) else 1.0
        for left in (one[np.isfinite(one)] for one in pair)
    )
    return event > max(MIN_SMOOTH, before + 0.2)


def _step_ratios(context: Context) -> list[float]:
    """Mean steps in the event, in units of earlier ones: of values, and without cycles."""
    ratios: list[float] = []
    past, here = np.diff(context.past), np.diff(context.event)
    pairs = [
        (past, here),
        *((np.diff(before), np.diff(left)) for before, left in context.expectations),
    ]
    for before, event in pairs:
        event = event[np.isfinite(event)]
        if not len(before) or not len(event):
            continue
        usual = np.array([np.abs(before).mean(), np.median(np.abs(before)), np.std(before)])
        here = np.array([np.abs(event).mean(), np.abs(event).mean(), np.std(event)])
        ratios += (here[usual > 0] / usual[usual > 0]).tolist()
    return ratios


def _run_at(column: Floats, first: int, last: int) -> tuple[int, int] | None:
    """The longest run of equal values that touches rows first to last; half-open."""
    changes = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    ends = np.append(changes[1:], len(column))
    touching = (changes <= last) & (ends > first) & np.isfinite(column[changes])
    if not touching.any():
        return None
    lengths = np.where(touching, ends - changes, 0)
    best = int(lengths.argmax())
    return (int(changes[best]), int(ends[best])) if lengths[best] > 1 else None


def _stays(context: Context, after: Floats, cycle: int) -> bool:
    """Whether most values afterwards are away from the level before, by half the way at least."""
    claim, rows = context.claim, context.rows
    if cycle == 0:
        level = float(np.median(context.past[-NEAR_ROWS:])) if len(context.past) else math.nan
        left = after - level
    else:
        column = rows.column(claim.channel)
        begin = rows.offset + context.last + 1
        places = np.arange(begin, len(column))
        away = np.ceil((places - rows.offset - context.first + 1) / cycle).astype(int)
        earlier = places - away * cycle
        usable = earlier >= 0
        if usable.sum() < 20:
            return False
        left = column[places[usable]] - column[earlier[usable]]
        left = left[np.isfinite(left)]
    event = context.event[np.isfinite(context.event)]
    if not len(event) or not len(left):
        return False
    if cycle == 0:
        level = float(np.median(context.past[-NEAR_ROWS:])) if len(context.past) else math.nan
        size = float(np.median(event)) - level
    else:
        size = float(np.median(left))
        pairs = [one for one in context.expectations if len(one[1])]
        if pairs:
            sizes = [float(np.nanmedian(one[1])) for one in pairs if np.isfinite(one[1]).any()]
            size = max(sizes, key=abs, default=size)
    return bool(np.mean(left * np.sign(size) > 0.4 * abs(size)) >= MIN_STAYS)


def _step_shares(context: Context) -> list[float]:
    """Largest share of a departure that a few rows make, by each expectation."""
    row = context.quoted_rows[0]
    shares = []
    begin = max(context.first - LEVEL_ROWS, -context.rows.offset)
    for past, left in (
        *context.rows.expectations(context.claim.channel, begin, context.last),
        *context.expectations,
    ):
        place = row - (context.last + 1 - len(left))
        size = left[place]
        if not np.isfinite(size) or size == 0 or not len(past):
            continue
        path = np.concatenate([[np.median(past)], left[: place + 1]])
        path = path[np.isfinite(path)] * np.sign(size)
        rows = min(STEP_ROWS, len(path) - 1)
        if rows < 1:
            continue
        steps = max(float((path[by:] - path[:-by]).max()) for by in range(1, rows + 1))
        shares.append(min(1.0, steps / abs(size)))
    return shares


def _rows_said(said: str, interval: float | None) -> tuple[float, float] | None:
    """A duration in rows, and how far it may be off, for it is rounded to its last unit."""
    rows = rows_of(said)
    if rows is not None:
        return float(rows), 0.0
    seconds = seconds_of(said)
    if seconds is None or interval is None:
        return None
    return seconds[0] / interval, seconds[1] / interval


def _time_inside(text: str, rows: Rows, alarm: Any) -> bool:
    start, end = rows.labels[alarm.first], rows.labels[alarm.last]  # type: ignore[index]
    if not isinstance(start, datetime):
        return text in (str(start), str(end)) or str(start) <= text <= str(end)
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        start, end = start.replace(tzinfo=None), end.replace(tzinfo=None)
    if len(text) == len("2026-01-01"):
        return bool(start.date() <= when.date() <= end.date())
    # a time in minutes is any second of it
    return bool(start.timestamp() - 60 < when.timestamp() < end.timestamp() + 60)
