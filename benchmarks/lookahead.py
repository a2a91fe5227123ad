"""What waiting for later rows is worth: quality of the default against its look-ahead.

    python benchmarks/lookahead.py --output lookahead.csv --page docs/streaming.md

By the clean protocol of the experiments: fitted on training rows, no label anywhere. Average
precision and VUS-PR (TSB-AD's variant, buffer of 100 rows) are means over the entities of a set;
alarms of all entities are counted together.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from live_data import SETS, markdown, put_between, quiet, read_csv, write_csv

from subadjacent.experiments.datasets import load
from subadjacent.experiments.protocols import clean
from subadjacent.experiments.run import CLEAN, Run

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
    return {"set": title, "lookahead": lookahead} | figures


def summary(rows: Sequence[Mapping[str, str]]) -> str:
    """One line a look-ahead, the three shares of each set in percent."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    cells = {(row["set"], row["lookahead"]): row for row in rows}
    head = ["look-ahead, rows", *(f"{name}: {share}" for name in sets for share in SHARES.values())]
    lines = [head]
    for lookahead in dict.fromkeys(row["lookahead"] for row in rows):
        line = [lookahead]
        for name in sets:
            line += [f"{100 * float(cells[name, lookahead][share]):.1f}" for share in SHARES]
        lines.append(line)
    return markdown(lines)


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
    rows = Parallel(n_jobs=options.jobs)(
        delayed(measured)(name, ahead, options.data, options.quick)
        for name in options.sets
        for ahead in options.lookaheads
    )
    write_csv(options.output, rows)
    text = summary(read_csv(options.output))
    if options.page:
        put_between(options.page, MARK, text)
    print(text)


if __name__ == "__main__":
    main()
