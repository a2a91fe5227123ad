"""Alarms of every detector at its label-free threshold, one table a dataset; our own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from reproduce.benchmarks import SOURCES
from reproduce.comparison import (
    CLEAN_CONTROLS,
    PERCENT,
    Cell,
    ResultTable,
    cell_of,
    dataset_title,
    facts_of,
)
from reproduce.plan import PAPER, Selection
from reproduce.results import Results
from reproduce.run import CLEAN, Run
from reproduce.tables.ablations import LOOKING_BACK
from reproduce.tables.main_results import (
    ANOMALY_TRANSFORMER,
    DEFAULT,
    OURS,
    WITH_NETWORK,
)
from subadjacent.evaluation.alarms import MARGIN


class Column(NamedTuple):
    """A heading, the column of results below it, what to multiply it by, and digits."""

    heading: str
    metric: str
    unit: float = 1.0
    digits: int = 1

    def cell(self, results: Results, runs: Iterable[Run]) -> Cell:
        """The results of a cell's runs."""
        return cell_of(runs, results, self.metric, unit=self.unit, digits=self.digits)


VARIANTS = (
    DEFAULT,
    LOOKING_BACK,
    WITH_NETWORK,
    replace(OURS, label="the paper's network"),
    ANOMALY_TRANSFORMER,
    *CLEAN_CONTROLS,
)
SHARES = (
    Column("alarms", "alarms", digits=0),
    Column("right, %", "alarms_right_share", PERCENT),
    Column("anomalies found, %", "anomalies_found_share", PERCENT),
    Column("F1 of events, %", "event_f1", PERCENT),
    Column("oracle F1, %", "oracle_event_f1", PERCENT),
    Column("normal rows in alarms, %", "normal_rows_alarmed", PERCENT),
)
PER_DAY = Column("false alarms a day", "alarms_false_per_day", digits=2)
PER_ROWS = Column("false alarms per 1,000 rows", "alarms_false_per_1000_rows", digits=2)
# rows from anomaly to anomaly below which their margins fill most of what lies between
CROWDED = 4 * MARGIN
DELAY = Column("delay, rows", "alarm_delay")


class DecisionsTable:
    """One table for each dataset; a row for each detector."""

    name = "decisions"
    title = "Alarms at the label-free threshold"

    def runs(self, selection: Selection) -> list[Run]:
        """Every detector on every dataset, under the clean protocol."""
        if not selection.clean:
            return []
        return [
            run
            for variant in VARIANTS
            for dataset in selection.among(PAPER)
            for run in variant.runs(dataset, CLEAN, selection)
        ] + [facts_of(dataset, selection.quick) for dataset in selection.among(PAPER)]

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """Counts and measures of alarms on each dataset that is there or has rows."""
        if not selection.clean:
            return []
        return [_table(dataset, results, selection) for dataset in selection.among(PAPER)]


def _table(dataset: str, results: Results, selection: Selection) -> ResultTable:
    title = dataset_title(dataset, results, selection.quick)
    false_alarms = PER_ROWS if SOURCES[dataset].interval is None else PER_DAY
    columns = (*SHARES, false_alarms, DELAY)
    return ResultTable(
        f"{DecisionsTable.name}-{dataset}",
        f"{title}: {DecisionsTable.title.lower()} ({CLEAN} protocol)",
        "detector",
        tuple(column.heading for column in columns),
        tuple(
            (
                variant.label,
                tuple(
                    column.cell(results, variant.runs(dataset, CLEAN, selection))
                    for column in columns
                ),
            )
            for variant in VARIANTS
        ),
        _notes(dataset, results, selection),
    )


def _notes(dataset: str, results: Results, selection: Selection) -> tuple[str, ...]:
    """How many anomalies there are to find, and a warning where they are everywhere."""
    facts = facts_of(dataset, selection.quick)
    segments, entities, rows = (
        results.value(facts, name) for name in ("segments", "entities", "test_rows")
    )
    if not segments or not entities or not rows:
        return ()
    extent = "one series" if entities == 1 else f"{entities:,.0f} entities"
    notes = [f"{segments:,.0f} anomalies in {extent}."]
    if rows / segments < CROWDED:
        notes.append(
            f"There is an anomaly every {rows / segments:.0f} rows, so that nearly every alarm "
            "touches one: these counts say nothing."
        )
    return tuple(notes)


TABLE = DecisionsTable()
