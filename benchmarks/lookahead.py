"""What waiting for later rows is worth: quality of the default against its look-ahead.

    python benchmarks/lookahead.py --output lookahead.csv --page docs/streaming.md

By the clean protocol (reproduce/README.md): fitted on training rows, no label anywhere. Average
precision and VUS-PR (TSB-AD's variant, buffer of 100 rows) are means over the entities of a set;
alarms of all entities are counted together. What the output has already is not measured again.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from live_data import SETS, markdown, put_between, quiet, read_csv, write_csv

from reproduce.datasets import load
from reproduce.protocols import clean
from reproduce.run import CLEAN, Run

LOOKAHEADS: tuple[int | str, ...] = (0, 5, 10, 30, 100, "full")
SHARES = {
    "average_precision": "average precision",
    "vus_pr_tsb_ad": "VUS-PR",
    "event_f1": "F1 of events",
}
COUNTS = ("alarms", "alarms_right", "anomalies", "anomalies_found", "alarm_delay")
MARK = "lookahead"


def measured(dataset: str, lookahead: int | str, root: str, quick: bool) -> dict[str, Any]:
    """One fit and its figures."""
    run = Run(dataset, "default", CLEAN, settings=(("lookahead", lookahead),), quick=quick)
    with quiet():
        found = clean.execute(run, root, "cpu")
        title = load(run, root).title
    figures = {name: round(float(found[name]), 4) for name in (*SHARES, *COUNTS)}
    return {"dataset": dataset, "set": title, "lookahead": str(lookahead)} | figures


def place(row: Mapping[str, Any]) -> tuple[str, float]:
    """By set, then by rows."""
    return row["dataset"], rows_ahead(row["lookahead"])


def summary(rows: Sequence[Mapping[str, str]]) -> str:
    """One line a set and share, in percent; a column for each look-ahead."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    aheads = sorted({row["lookahead"] for row in rows}, key=rows_ahead)
    cells = {(row["set"], row["lookahead"]): row for row in rows}
    lines = [["set", "look-ahead, rows:", *aheads]]
    for name in sets:
        known = [cells.get((name, ahead)) for ahead in aheads]
        for share, title in SHARES.items():
            figures = [f"{100 * float(row[share]):.1f}" if row else "" for row in known]
            lines.append([name, title, *figures])
    return markdown(lines)


def rows_ahead(text: str) -> float:
    """As a number, all rows last."""
    return float("inf") if text == "full" else float(text)


def lookahead(text: str) -> int | str:
    return text if text == "full" else int(text)


def main() -> None:
    """Write a row for each set and look-ahead, and the table of the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="to put the table into")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--lookaheads", nargs="+", type=lookahead, default=LOOKAHEADS)
    parser.add_argument("--quick", action="store_true", help="a few rows, as a trial")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    there = read_csv(options.output) if options.output.exists() else []
    known = {(row["dataset"], row["lookahead"]) for row in there}
    missing = [
        (name, ahead)
        for name in options.sets
        for ahead in options.lookaheads
        if (name, str(ahead)) not in known
    ]
    found = Parallel(n_jobs=options.jobs, return_as="generator_unordered")(
        delayed(measured)(name, ahead, options.data, options.quick) for name, ahead in missing
    )
    for row in found:
        # a row at a time: some take many minutes
        there.append(row)
        write_csv(options.output, sorted(there, key=place))
    text = summary(read_csv(options.output))
    if options.page:
        put_between(options.page, MARK, text)
    print(text)


if __name__ == "__main__":
    main()
