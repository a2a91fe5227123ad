"""The sentence on a channel in an alarm: the same in every output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from subadjacent.decision.kinds import (
    ABRUPT_CHANGE,
    DECOUPLED,
    DRIFT,
    HIGHER_VARIANCE,
    LEVEL_SHIFT,
    LOWER_VARIANCE,
    MISSING,
    OUT_OF_RANGE,
    RETURN,
    SPIKE,
    STUCK,
    UNUSUAL_SHAPE,
)
from subadjacent.decision.view_facts import ACROSS_CHANNELS, FACTS
from subadjacent.showing import on_one_line

# beyond these a number is easier to read with a power of ten
MIN_STEP, MAX_PLAIN = 1e-6, 1e12
# other channels that a sentence names
MAX_OTHERS = 2
# digits of a number without an expected range
DIGITS = 4
# units of time in seconds
UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))

PAST = "past"
"""The view of a stream without a model: rows are compared with those before."""

# what a channel did that is told by a value: below its range, and above it
_MOVED = {
    SPIKE: ("dropped to {value}", "jumped to {value}"),
    OUT_OF_RANGE: ("fell to {value}", "rose to {value}"),
    LEVEL_SHIFT: ("shifted down to {value} permanently", "shifted up to {value} permanently"),
    DRIFT: ("drifted down to {value} over {lasted}", "drifted up to {value} over {lasted}"),
}
# how many times the expected value: from this on, in words
MIN_TIMES = 1.75
# times that the top of a range may be its bottom, for such words
MAX_SPAN = 2.0
# a size beyond this many times the normal one is told as more than it
MAX_TIMES = 100
_SHARES = {2: "half the", 3: "a third of the", 4: "a quarter of the", 5: "a fifth of the"}


class Facts(NamedTuple):
    """What a sentence tells of a channel in an event.

    ``values`` are those furthest to either side of the expected range, ``low`` to ``high``, in time
    order. ``size`` is the measure of a kind that has no value; of a change, ``within`` tells in how
    long, empty for one row, and ``most`` is the largest normal one. ``before`` is the level before
    a return. ``decimals`` are those of the file; negative for more than a person would read.
    """

    values: Sequence[float]
    expected: float
    low: float
    high: float
    decimals: int = -1
    has_ratios: bool = False
    at_this_time: bool = False
    lasted: str = ""
    size: float = 1.0
    within: str = ""
    most: float = 0.0
    before: float = math.nan
    partner: str | None = None
    view: str | None = None
    channels: int = 2


def sentence(channel: str, kind: str, facts: Facts) -> str:
    """One channel's departure, as a sentence; ``kind`` is one of ``kinds.KINDS``.

    A value that is compared with the expected range is outside it, as both are written.
    """
    channel = on_one_line(channel)
    if kind == MISSING:
        return f"{channel} was missing for {facts.lasted}"
    seen, low, high = facts.values[0], facts.low, facts.high
    step = _rounding(facts)
    value = number(seen, step)
    if kind == STUCK:
        in_file = step if facts.decimals < 0 else max(step, 10.0**-facts.decimals)
        return f"{channel} flatlined at {number(seen, in_file)} for {facts.lasted}"
    if kind in (HIGHER_VARIANCE, LOWER_VARIANCE):
        times = f"{facts.size:.2g}" if facts.size < MAX_TIMES else f"over {MAX_TIMES}"
        size = f"its steps were {times} times the normal size"
        return f"{channel} had {kind} than expected: {size}"
    bounds = (number(low, step), number(high, step))
    # rounding can make a value equal to a bound: a reader takes it for within the range
    is_out = not (low <= seen <= high or value in bounds)
    if kind == ABRUPT_CHANGE or (kind == SPIKE and not is_out):
        return f"{channel} {_changed(facts)}"
    if kind in _MOVED:
        moves = [
            _MOVED[kind][value > facts.expected].format(
                value=number(value, step), lasted=facts.lasted
            )
            for value in facts.values
        ]
        did = ", then ".join(moves)
    elif kind == RETURN and math.isfinite(facts.before):
        before = number(facts.before, step)
        return f"{channel} returned from {before} to its former level of {value}"
    elif kind == RETURN:
        did = f"returned to its former level: {value}"
    elif kind == DECOUPLED:
        did = f"decoupled from {on_one_line(facts.partner or '')}: {value}"
    elif kind == UNUSUAL_SHAPE:
        size = f"it departed {facts.size:.2g} times as far as normal"
        did = f"had an unusual shape: {value if is_out else size}"
    else:
        did = f"was {view_sentence(facts.view, facts.channels)}"
        did = f"{did}: {value}" if is_out else f"stayed within its expected range, but {did}"
    if not is_out:
        return f"{channel} {did}"
    compared = f"expected {' to '.join(dict.fromkeys(bounds))}"
    times = _times(facts) if len(facts.values) == 1 and kind != DECOUPLED else ""
    compared = f"{channel} {did}, {times}{compared}"
    if kind == DECOUPLED:
        return f"{compared} given {on_one_line(facts.partner or '')}"
    return f"{compared} for this time" if facts.at_this_time else compared


def _changed(facts: Facts) -> str:
    """A change within some rows, and the largest that is expected."""
    size, most = in_digits((abs(facts.size), facts.most), facts.decimals)
    if facts.within:
        verb = "rose" if facts.size > 0 else "fell"
        return f"{verb} by {size} within {facts.within}, expected at most {most}"
    verb = "jumped" if facts.size > 0 else "dropped"
    return f"{verb} by {size}, expected at most {most} from row to row"


def _times(facts: Facts) -> str:
    """How many times the expected value the value is, in words; nothing if that says little."""
    low, high = facts.low, facts.high
    # nothing is twice a range that reaches from 0 to 100
    if not facts.has_ratios or low <= 0 or high > MAX_SPAN * low or facts.values[0] <= 0:
        return ""
    ratio = 2 * facts.values[0] / (low + high)
    if ratio >= MIN_TIMES:
        return f"about {'twice' if ratio < 2.5 else f'{ratio:.0f} times'} the "
    share = _SHARES.get(round(1 / ratio))
    return f"about {share} " if share and 1 / ratio >= MIN_TIMES else ""


def view_sentence(view: str | None, channels: int = 2) -> str:
    """What the view that raised an alarm saw, read after "was"; channels of the file."""
    if view == PAST:
        return "unlike anything before"
    if channels == 1 and view in ACROSS_CHANNELS:
        return "unlike anything in training"
    return FACTS[view].sentence if view in FACTS else "unlike anything in training"


def and_others(channels: Sequence[str]) -> str:
    """Other channels that departed too, at the end of a sentence."""
    if not channels:
        return ""
    named = [on_one_line(channel) for channel in channels[:MAX_OTHERS]]
    more = f" and {len(channels) - MAX_OTHERS} more" if len(channels) > MAX_OTHERS else ""
    return f"; {' and '.join(named) if not more else ', '.join(named)}{more} as well"


def number(value: float, step: float | None = None) -> str:
    """A number as people write it: 39,200 or 0.013, rounded to a step of a power of ten."""
    if not math.isfinite(value):
        return str(value)
    if step is None:
        step = _power(value, DIGITS)
    if abs(value) >= MAX_PLAIN or step < MIN_STEP:
        return f"{value:.{DIGITS}g}"
    decimals = max(0, -round(math.log10(step)))
    rounded = round(value / step) * step if step >= 1 else value
    text = f"{rounded:,.{decimals}f}"
    # zero has no sign
    return text.removeprefix("-") if not any(digit in text for digit in "123456789") else text


def _rounding(facts: Facts) -> float:
    """The step that the numbers of one sentence are rounded to.

    It leaves two digits of the expected range, and more where a value outside it is close to it.
    """
    seen, low, high = facts.values[0], facts.low, facts.high
    width = high - low if high > low else abs(seen - low)
    step = _power(width, 2) if width > 0 else _power(seen, DIGITS)
    # a whole number keeps two digits: 34 is not rounded to 30
    smallest = min([abs(one) for one in (*facts.values, low, high) if abs(one) >= 1], default=1.0)
    while step > 1 and 10 * step > smallest:
        step /= 10
    if facts.decimals >= 0:
        step = max(step, 10.0**-facts.decimals)
    gaps = [max(low - value, value - high) for value in facts.values]
    closest = min([gap for gap in gaps if gap > 0], default=math.inf)
    # two numbers that are further apart than this are written differently
    while step > closest and step > MIN_STEP * abs(seen):
        step /= 10
    return step


def in_digits(sizes: Sequence[float], decimals: int) -> list[str]:
    """Numbers with two digits of the smallest, but no more decimals than the file has."""
    step = min(_power(size, 2) for size in sizes)
    return [number(size, max(step, 10.0**-decimals) if decimals >= 0 else step) for size in sizes]


def _power(value: float, digits: int) -> float:
    """The power of ten that leaves ``digits`` digits of a value."""
    if value == 0 or not math.isfinite(value):
        return 1.0
    return float(10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits))


def count_of(rows: int) -> str:
    """A number of rows, in words."""
    return f"{rows:,} {'row' if rows == 1 else 'rows'}"


def span(seconds: float) -> str:
    """A length of time in its two largest units: "1 h 15 min"."""
    if seconds < 1:
        return f"{seconds:.3g} s"
    words, left = [], seconds
    for size, unit in UNITS:
        count = int(left // size) if unit != "s" else round(left)
        if count:
            words.append(f"{count:,} {unit}")
        left -= count * size
    return " ".join(words[:2])


def lasting(rows: int, interval: float | None) -> str:
    """How long some rows last: a time where the clock is known, else their number."""
    return count_of(rows) if interval is None else span(rows * interval)
