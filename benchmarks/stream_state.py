"""How many bytes the saved state of a stream takes, after few rows and after many.

    python benchmarks/stream_state.py --write benchmarks/reports/stream_state.csv

One series of `StreamScorer` each, with and without a model, saved after so many rows. The file does
not depend on the machine: what is in it does not grow once the history is full.
"""

from __future__ import annotations

import argparse
import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from streaming import CHANNELS, Setting

ROWS = (100, 1_000, 5_000, 20_000)
HEADER = ("channels", "model", "rows", "bytes")


def sizes(settings: Sequence[Setting], rows: Sequence[int]) -> Iterator[tuple[int, bool, int, int]]:
    """Channels, whether there is a model, rows so far, and bytes of the saved state."""
    for setting in settings:
        scorer, values, done = setting.scorer(), setting.rows(max(rows)), 0
        for count in sorted(rows):
            scorer.score_many(values[done:count])
            done = count
            with tempfile.TemporaryDirectory() as folder:
                scorer.save(Path(folder) / "state")
                size = (Path(folder) / "state").stat().st_size
            yield setting.channels, setting.model, count, size


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--channels", type=int, nargs="+", default=CHANNELS)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    settings = [
        Setting(channels, model) for channels in options.channels for model in (False, True)
    ]
    table = io.StringIO()
    lines = csv.writer(table, lineterminator="\n")
    lines.writerow(HEADER)
    for channels, model, rows, size in sizes(settings, options.rows):
        lines.writerow((channels, "yes" if model else "no", rows, size))
    print(table.getvalue(), end="")
    if options.write:
        options.write.write_text(table.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()
