"""The page of a case, and the page that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from examples.gallery.run import MARGIN, Outcome

# lines of a file that are shown
SHOWN = 6
LEGEND = """\
Blue is what was seen, the band behind it what is usual at this time. Orange rows are alarms. The
green strip marks where something was planted, which the detector did not know. It was fitted on
the rows with a grey ground. A severity of 1 (dashed) is the threshold. Scores look ahead: live,
the same alarm would come later."""
NOTE = "<!-- made by `make gallery`: change examples/gallery, not this page -->"


def page(outcome: Outcome) -> str:
    """What it is, the file, the command, the pictures, what was found."""
    case, shown = outcome.case, outcome.drawn.text.splitlines()[:SHOWN]
    series = "" if case.entity is None else f" of {case.entity}"
    parts = [
        f"# {case.title}\n\n{NOTE}",
        case.story,
        _block("", "\n".join([*shown, "…"])),
        "## The command",
        _block("console", f"$ {outcome.line}\n{outcome.said}".rstrip()),
        "## The picture",
        f"![What was seen{series}, with alarms and what was planted](images/{case.name}.png)",
        LEGEND,
        f"The worst alarm{series} from close by:",
        f"![The worst alarm{series} from close by](images/{case.name}-close.png)",
        "## What was found",
        _planted_table(outcome),
        _alarm_table(outcome),
        case.remark,
    ]
    return "\n\n".join(parts) + "\n"


def index(outcomes: Sequence[Outcome]) -> str:
    """The page of all cases."""
    rows = [
        f"| [{one.case.title}]({one.case.name}.md) | {_size(one)} | "
        f"{_found(one)} of {len(one.drawn.planted)} | {len(one.alarms)} | {len(_false(one))} |"
        for one in outcomes
    ]
    table = "\n".join(
        ["| case | the file has | planted events found | alarms | false |",
         "|---|---|--:|--:|--:|", *rows]
    )  # fmt: skip
    pictures = "\n\n".join(
        f"[![{one.case.title}](images/{one.case.name}.png)]({one.case.name}.md)" for one in outcomes
    )
    return f"""# Gallery

{NOTE}

Six files as people have them, each given to `subadjacent detect` with its defaults. No option was
tuned, and no other seed than 1 tried: the pages tell what came, with what was missed. All data
are generated, with noise, calendars and units like those of the real thing; what was planted is
known, so that the pages can say what is right.

{table}

An alarm is right if it touches something planted, with {MARGIN} rows to spare. `make gallery`
makes files, pictures and pages anew; the tests compare the pages with what it writes.

{pictures}
"""


def _size(outcome: Outcome) -> str:
    series = outcome.assessment.series
    size = f"{len(series[0]):,} rows of {len(series[0].channels)} channel"
    size += "s" if len(series[0].channels) > 1 else ""
    return size if len(series) == 1 else f"{size}, of {len(series)} machines each"


def _found(outcome: Outcome) -> int:
    return sum(bool(outcome.alarms_on(planted)) for planted in outcome.drawn.planted)


def _false(outcome: Outcome) -> list[dict[str, Any]]:
    return [alarm for alarm in outcome.alarms if not outcome.planted_at(alarm)]


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
    rows = ["| alarm | when | severity | in its own words | right? |", "|--:|---|--:|---|---|"]
    for number, alarm in enumerate(outcome.alarms, 1):
        entity = "" if alarm["entity"] is None else f"{alarm['entity']}, "
        when = "; ".join(_when(outcome, alarm, bounds) for bounds in alarm["occurrences"][:3])
        more = len(alarm["occurrences"]) - 3
        if more > 0:
            when += f"; and {more} more"
        rows.append(
            f"| {number} | {entity}{when} | {alarm['severity']:.1f} | {alarm['sentence']} | "
            f"{_verdict(outcome, alarm)} |"
        )
    return "\n".join(rows)


def _when(outcome: Outcome, alarm: dict[str, Any], bounds: Sequence[int]) -> str:
    first, last = (outcome.time(row, alarm["entity"]) for row in bounds)
    return first if first == last else f"{first} to {last}"


def _verdict(outcome: Outcome, alarm: dict[str, Any]) -> str:
    if outcome.planted_at(alarm):
        right = outcome.right_times(alarm)
        return "yes" if right == alarm["times"] else f"yes, {right} of {alarm['times']} times"
    before = alarm["last"] < outcome.fitted_rows(alarm["entity"])
    return "no; in the part that was fitted on" if before else "no: a false alarm"


def _block(kind: str, text: str) -> str:
    return f"```{kind}\n{text}\n```"
