"""The sentence on a channel in an alarm: the same in every output."""

from __future__ import annotations

import math
from collections.abc import Sequence

from subadjacent.decision.kinds import (
    DECOUPLED,
    DRIFT,
    HIGHER_VARIANCE,
    LEVEL_SHIFT,
    LOWER_VARIANCE,
    MISSING,
    OUT_OF_RANGE,
    SPIKE,
    STUCK,
    UNUSUAL_SHAPE,
)
from subadjacent.decision.view_facts import FACTS
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

_DID = {
    SPIKE: "jumped to {seen}",
    OUT_OF_RANGE: "went out of range: {seen}",
    LEVEL_SHIFT: "shifted its level permanently: {seen}",
    DRIFT: "drifted away: {seen}",
    UNUSUAL_SHAPE: "had an unusual shape: {seen}",
    DECOUPLED: "decoupled from {partner}: {seen}",
}


def sentence(
    channel: str,
    kind: str,
    *,
    seen: float,
    low: float,
    high: float,
    at_this_time: bool = False,
    lasted: str = "",
    steps: float = 1.0,
    partner: str | None = None,
    view: str | None = None,
) -> str:
    """One channel's departure, as a sentence.

    Parameters
    ----------
    channel, kind
        Which channel, and one of ``kinds.KINDS``.
    seen, low, high
        Its value where it was furthest from the expected one, and the expected range there.
    at_this_time
        Whether ``low`` and ``high`` are of the same time of other cycles.
    lasted
        How long it lasted, in words.
    steps
        Its mean step from row to row, in units of the median one.
    partner
        The channel that it decoupled from.
    view
        The view that raised the alarm.
    """
    channel = on_one_line(channel)
    if kind == MISSING:
        return f"{channel} was missing for {lasted}"
    step = _rounding(seen, low, high)
    value = number(seen, step)
    if kind == STUCK:
        return f"{channel} flatlined at {value} for {lasted}"
    if kind in (HIGHER_VARIANCE, LOWER_VARIANCE):
        size = f"its steps were {steps:.2g} times the normal size"
        return f"{channel} had {kind} than expected: {size}"
    partner_name = "" if partner is None else on_one_line(partner)
    template = _DID.get(kind, f"was {view_sentence(view)}: {{seen}}")
    clause = f"{channel} {template.format(seen=value, partner=partner_name)}"
    if low <= seen <= high:
        return clause
    bounds = dict.fromkeys((number(low, step), number(high, step)))
    compared = f"{clause}, expected {' to '.join(bounds)}"
    if kind == DECOUPLED:
        return f"{compared} given {partner_name}"
    return f"{compared} at this time" if at_this_time else compared


def view_sentence(view: str | None) -> str:
    """What the view that raised an alarm saw, read after "was"."""
    if view == PAST:
        return "unlike anything before"
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


def _rounding(seen: float, low: float, high: float) -> float:
    """The step that numbers of one sentence are rounded to: two digits of the expected range."""
    width = high - low if high > low else abs(seen - low)
    return _power(width, 2) if width > 0 else _power(seen, DIGITS)


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
