"""NeurIPS-TS under the published protocol, each kind of anomaly alone; not a table of the paper.

The paper's training series is not known. So each kind, and all five together, is tested after
training on a clean series and on one with the same kinds of anomaly.
"""

from __future__ import annotations

from dataclasses import replace

from reproduce.comparison import (
    ADJUSTED,
    PERCENT,
    RANDOM,
    UNTRAINED,
    ResultTable,
    Variant,
    cell_of,
    paper_value,
    why_empty,
)
from reproduce.plan import SYNTHETIC, Selection
from reproduce.results import Results
from reproduce.run import PUBLISHED, Run
from reproduce.tables.main_results import CONTAMINATED, OURS
from subadjacent.data.plant import KINDS

# runs of a cell; more would say nothing new
SEEDS = 3
TOGETHER = "all five"
COLUMNS = (
    RANDOM,
    UNTRAINED,
    replace(OURS, label="trained on a clean series"),
    replace(CONTAMINATED, label="trained on one with such anomalies"),
)
PRECISION, RECALL = "oracle_point_adjusted_precision", "oracle_point_adjusted_recall"


class AnomalyKindsTable:
    """A row for each kind of anomaly, and one for all five together."""

    name = "nips-ts-kinds"
    title = "NeurIPS-TS, kind by kind"

    def runs(self, selection: Selection) -> list[Run]:
        """Every column on every kind, under the published protocol."""
        if not selection.published or SYNTHETIC not in selection.among((SYNTHETIC,)):
            return []
        return [
            run
            for kind in _rows(selection)
            for column in COLUMNS
            for run in _seeds(column, kind, selection)
        ]

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """Point-adjusted F1, and what the paper's would take."""
        missing = why_empty(SYNTHETIC, selection)
        rows = []
        for kind in _rows(selection):
            by_column = (_seeds(column, kind, selection) for column in COLUMNS)
            cells = tuple(cell_of(runs, results, ADJUSTED, missing=missing) for runs in by_column)
            rows.append((kind, cells))
        return [
            ResultTable(
                f"{self.name}-{PUBLISHED}-{ADJUSTED.replace('_', '-')}",
                f"{self.title}: point-adjusted F1, settings and threshold picked on labels "
                f"({PUBLISHED} protocol, %)",
                "kind",
                tuple(column.label for column in COLUMNS),
                tuple(rows),
                _needed(results, selection),
            )
        ]


def _rows(selection: Selection) -> tuple[str, ...]:
    """All kinds, and together; in a trial the last kind alone and together."""
    rows = (*KINDS, TOGETHER)
    return rows[-2:] if selection.quick else rows


def _seeds(column: Variant, kind: str, selection: Selection) -> list[Run]:
    alone = () if kind == TOGETHER else (("anomalies", kind),)
    variant = replace(column, settings=column.settings + alone)
    seeds = 1 if selection.quick else SEEDS
    return [variant.run(SYNTHETIC, PUBLISHED, seed, selection.quick) for seed in range(seeds)]


def _needed(results: Results, selection: Selection) -> tuple[str, ...]:
    """The precision or recall that the paper's F1 on all five kinds would need, given ours."""
    paper = paper_value("table3", "F1", OURS.label, "NeurIPS-TS")
    assert paper is not None
    notes = []
    for column in COLUMNS[2:]:
        precision, recall = (
            cell_of(_seeds(column, TOGETHER, selection), results, metric).mean
            for metric in (PRECISION, RECALL)
        )
        # nan without a run
        if precision > 0 and recall > 0:
            notes.append(
                f"All five, {column.label}: precision {precision:.1f}, recall {recall:.1f}. "
                f"The paper's {paper:.1f} takes {_other(paper, recall, 'precision')} at this "
                f"recall, or {_other(paper, precision, 'recall')} at this precision."
            )
    return tuple(notes)


def _other(f1: float, known: float, name: str) -> str:
    """The precision that gives ``f1`` at a recall, or the other way round, in percent."""
    needed = f1 * known / (2 * known - f1) if 2 * known > f1 else float("inf")
    return f"a {name} of {needed:.1f}" if needed <= PERCENT else f"more {name} than there is"


TABLE = AnomalyKindsTable()
