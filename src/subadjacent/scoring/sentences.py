"""What a channel did in an alarm, in one sentence: the same in every output."""

from __future__ import annotations

import math
from collections.abc import Sequence

from subadjacent.scoring.kinds import (
    BROKEN_RHYTHM,
    CALMER,
    DRIFT,
    LEVEL_SHIFT,
    MISSING,
    NOISIER,
    OUT_OF_RANGE,
    PARTED,
    SPIKE,
    STUCK,
)
from subadjacent.scoring.view_facts import FACTS
from subadjacent.showing import on_one_line

# beyond these a number is easier to read with a power of ten
SMALLEST_STEP, LARGEST = 1e-6, 1e12
# other channels that a sentence names
ALSO = 2
# digits of a number without usual bounds
DIGITS = 4
# units of time in seconds
UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))

PAST = "past"
"""What stands for a view where nothing was trained, and rows are held against those before."""

_DID = {
    SPIKE: "jumped to {seen}",
    OUT_OF_RANGE: "went out of range: {seen}",
    LEVEL_SHIFT: "moved to another level for good: {seen}",
    DRIFT: "drifted away: {seen}",
    BROKEN_RHYTHM: "broke its rhythm: {seen}",
    PARTED: "parted from {partner}: {seen}",
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
        Its value where it was furthest from the expected one, and the usual bounds there.
    at_this_time
        Whether ``low`` and ``high`` are of the same time of other cycles.
    lasted
        How long it was so, in words.
    steps
        Its mean step from row to row, in units of the usual one.
    partner
        The channel that it usually goes with.
    view
        The view that raised the alarm.
    """
    channel = on_one_line(channel)
    if kind == MISSING:
        return f"{channel} was missing for {lasted}"
    step = _rounding(seen, low, high)
    value = number(seen, step)
    if kind == STUCK:
        return f"{channel} stood still at {value} for {lasted}"
    if kind in (NOISIER, CALMER):
        return f"{channel} was {kind} than usual: its steps were {steps:.2g} times the usual ones"
    partner_name = "" if partner is None else on_one_line(partner)
    template = _DID.get(kind, f"was {saw(view)}: {{seen}}")
    clause = f"{channel} {template.format(seen=value, partner=partner_name)}"
    if low <= seen <= high:
        return clause
    bounds = dict.fromkeys((number(low, step), number(high, step)))
    usual = f"{clause}, usually {' to '.join(bounds)}"
    if kind == PARTED:
        return f"{usual} when {partner_name} is as it was"
    return f"{usual} at this time" if at_this_time else usual


def saw(view: str | None) -> str:
    """What a view saw that raised an alarm, read after "was"."""
    if view == PAST:
        return "unlike anything before"
    return FACTS[view].sentence if view in FACTS else "unlike anything in training"


def also(channels: Sequence[str]) -> str:
    """Other channels that departed too, at the end of a sentence."""
    if not channels:
        return ""
    named = [on_one_line(channel) for channel in channels[:ALSO]]
    more = f" and {len(channels) - ALSO} more" if len(channels) > ALSO else ""
    return f"; {' and '.join(named) if not more else ', '.join(named)}{more} as well"


def number(value: float, step: float | None = None) -> str:
    """A number as people write it: 39,200 or 0.013, rounded to a step of a power of ten."""
    if not math.isfinite(value):
        return str(value)
    if step is None:
        step = _power(value, DIGITS)
    if abs(value) >= LARGEST or step < SMALLEST_STEP:
        return f"{value:.{DIGITS}g}"
    decimals = max(0, -round(math.log10(step)))
    rounded = round(value / step) * step if step >= 1 else value
    text = f"{rounded:,.{decimals}f}"
    # zero has no sign
    return text.removeprefix("-") if not any(digit in text for digit in "123456789") else text


def _rounding(seen: float, low: float, high: float) -> float:
    """The step that numbers of one sentence are rounded to: two digits of the usual range."""
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
