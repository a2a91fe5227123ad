"""Make the gallery: `python -m examples.gallery` writes docs/gallery.

With --draws, every case is drawn by ten seeds, and what is found is counted anew (some minutes).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from examples.gallery.case import SEEDS
from examples.gallery.cases import CASES
from examples.gallery.draws import count, read_counts, write_counts
from examples.gallery.page import index, page
from examples.gallery.picture import draw_close, draw_whole
from examples.gallery.run import run_case

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
COUNTS = GALLERY / "draws.csv"


def main() -> None:
    """Draw each case, run the command on it, and write pictures and pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=GALLERY, help="folder to write")
    parser.add_argument("--draws", action="store_true", help="count in all draws, too")
    options = parser.parse_args()
    output: Path = options.output
    images = output / "images"
    images.mkdir(parents=True, exist_ok=True)
    if options.draws:
        write_counts(COUNTS, count(CASES, SEEDS))
    counts, outcomes = read_counts(COUNTS), []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            outcome = run_case(case, Path(folder))
            draw_whole(outcome, images / f"{case.name}.png")
            draw_close(outcome, images / f"{case.name}-close.png")
            (output / f"{case.name}.md").write_text(page(outcome, counts), encoding="utf-8")
            print(f"{case.name}: {len(outcome.alarms)} alarms")
            outcomes.append(outcome)
    (output / "index.md").write_text(index(outcomes, counts), encoding="utf-8")


if __name__ == "__main__":
    main()
