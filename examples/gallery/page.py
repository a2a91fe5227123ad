"""The page of a case, and the page that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from examples.gallery.case import SEED, SEEDS
from examples.gallery.draws import Counted
from examples.gallery.run import MARGIN, Outcome

# lines of a file that are shown
SHOWN = 5
LEGEND = """\
Data are blue, with the expected range behind them; alarms are orange; the green strip marks the
planted anomalies, which the detector did not know; a grey background marks training rows; the
dashed line is the threshold, a severity of 1. Scores look ahead, so in live use the same alarm
would come later."""
NOTE = "<!-- made by `make gallery`: change examples/gallery, not this page -->"


def page(outcome: Outcome, counts: Sequence[Counted]) -> str:
    """What it is, the file, the command, the pictures, what was found here and in other draws."""
    case, shown = outcome.case, outcome.drawn.text.splitlines()[:SHOWN]
    series = "" if case.entity is None else f" of {case.entity}"
    own = [alarm for alarm in outcome.alarms if alarm["entity"] == case.entity]
    close = f"The worst alarm{series}" if own else "The first planted anomaly"
    parts = [
        f"# {case.title}\n\n{NOTE}",
        case.story,
        _block("", "\n".join([*shown, "…"])),
        "## The command",
        _block("console", f"$ {outcome.line}\n{outcome.said}".rstrip()),
        "## The picture",
        f"![The data{series}, with alarms and planted anomalies](images/{case.name}.png)",
        f"[How to read it](index.md). {close}, enlarged:",
        f"![{close}, enlarged](images/{case.name}-close.png)",
        "## What was found",
        _planted_table(outcome),
        _alarm_table(outcome),
        case.remark,
        _other_draws([draw for draw in counts if draw.case == case.name]),
    ]
    return "\n\n".join(parts) + "\n"


def index(outcomes: Sequence[Outcome], counts: Sequence[Counted]) -> str:
    """The page of all cases, with what was counted in all draws of each."""
    rows = [
        f"| [{one.case.title}]({one.case.name}.md) | {_size(one)} | "
        f"{one.found} of {len(one.drawn.planted)} | {len(one.alarms)} | {one.false} | "
        f"{_counted([draw for draw in counts if draw.case == one.case.name])} |"
        for one in outcomes
    ]
    planted = sum(len(one.drawn.planted) for one in outcomes)
    found, alarms, false = (
        sum(counted)
        for counted in zip(
            *((one.found, len(one.alarms), one.false) for one in outcomes), strict=True
        )
    )
    table = "\n".join(
        ["| case | the file has | found | alarms | false | ten draws: found | alarms | false |",
         "|---|---|--:|--:|--:|--:|--:|--:|", *rows,
         f"| all | | {found} of {planted} | {alarms} | {false} | {_counted(counts)} |"]
    )  # fmt: skip
    pictures = "\n\n".join(
        f"[![{one.case.title}](images/{one.case.name}.png)]({one.case.name}.md)" for one in outcomes
    )
    return f"""# Gallery

{NOTE}

Each page runs `subadjacent detect` on a realistic file, with no options except names of columns,
and shows what was found and what was missed. All data are generated, so the planted anomalies are
known.

{table}

An alarm is right if it overlaps a planted anomaly, with a tolerance of {MARGIN} rows. The pages
show seed {SEED}; the columns on the right count seeds {SEEDS[0]} to {SEEDS[-1]}, none left out
([draw by draw](draws.csv)), with the same anomalies in other noise.

Two cases were changed after a first run, to make them more realistic: the web shop had twelve weeks
and now has 26, the servers had eight days and now have two weeks, which raised
[more false alarms](servers.md). The detector and its settings were not changed for any of them.

**How to read the figures.**
{LEGEND}

{pictures}
"""


def _counted(counts: Sequence[Counted]) -> str:
    planted, found, alarms, false = _sums(counts)
    return f"{found} of {planted} | {alarms} | {false}"


def _other_draws(counts: Sequence[Counted]) -> str:
    planted, found, alarms, false = _sums(counts)
    return (
        f"In {len(counts)} draws of the noise, this one included, {found} of {planted} anomalies "
        f"are found, by\n{alarms} alarms of which {false} are false ([draw by draw](draws.csv))."
    )


def _sums(counts: Sequence[Counted]) -> tuple[int, int, int, int]:
    """What was planted and found, alarms and false ones, in all draws together."""
    return (
        sum(draw.planted for draw in counts),
        sum(draw.found for draw in counts),
        sum(draw.alarms for draw in counts),
        sum(draw.false for draw in counts),
    )


def _size(outcome: Outcome) -> str:
    series = outcome.assessment.series
    size = f"{len(series[0]):,} rows of {len(series[0].channels)} channel"
    size += "s" if len(series[0].channels) > 1 else ""
    return size if len(series) == 1 else f"{size}, of {len(series)} machines each"


def _planted_table(outcome: Outcome) -> str:
    rows = ["| planted | from | to | found by |", "|---|---|---|---|"]
    for planted in outcome.drawn.planted:
        found = outcome.alarms_on(planted)
        name = planted.what if planted.entity is None else f"{planted.entity}: {planted.what}"
        by = ", ".join(f"alarm {number}" for number in found) or "**missed**"
        first, last = (outcome.time(row, planted.entity) for row in (planted.first, planted.last))
        rows.append(f"| {name} | {first} | {last} | {by} |")
    return "\n".join(rows)


def _alarm_table(outcome: Outcome) -> str:
    rows = ["| alarm | when | severity | sentence | right? |", "|--:|---|--:|---|---|"]
    for number, alarm in enumerate(outcome.alarms, 1):
        entity = "" if alarm["entity"] is None else f"{alarm['entity']}, "
        when = _when(outcome, alarm)
        if alarm["repeat_of"] is not None:
            when += f"; number {alarm['repeat']} of its kind"
        # the other channels are in the output of the command
        sentence = alarm["sentence"].partition(";")[0]
        rows.append(
            f"| {number} | {entity}{when} | {alarm['severity']:.1f} | {sentence} | "
            f"{_verdict(outcome, alarm)} |"
        )
    return "\n".join(rows)


def _when(outcome: Outcome, alarm: dict[str, Any]) -> str:
    first, last = (outcome.time(alarm[row], alarm["entity"]) for row in ("first", "last"))
    if first == last:
        return first
    day, _, clock = last.partition(" ")
    # of the same day: the time alone
    return f"{first} to {clock if clock and first.startswith(day) else last}"


def _verdict(outcome: Outcome, alarm: dict[str, Any]) -> str:
    if outcome.planted_at(alarm):
        return "yes"
    before = alarm["last"] < outcome.fitted_rows(alarm["entity"])
    return "no; among the training rows" if before else "no: a false alarm"


def _block(kind: str, text: str) -> str:
    return f"```{kind}\n{text}\n```"
