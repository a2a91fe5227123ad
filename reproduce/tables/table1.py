"""Table 1: the datasets."""

from __future__ import annotations

from reproduce.benchmarks import SOURCES
from reproduce.comparison import (
    ResultTable,
    cell_of,
    dataset_title,
    facts_of,
    paper_value,
    why_empty,
)
from reproduce.plan import PAPER, Selection
from reproduce.results import Results
from reproduce.run import Run

# the paper's column → our column of results, factor to the paper's unit, digits
COLUMNS = {
    "channels": ("channels", 1.0, 0),
    "entities": ("entities", 1.0, 0),
    "train, K": ("train_rows", 1e-3, 1),
    "test, K": ("test_rows", 1e-3, 1),
    "anomalous, %": ("anomalous", 100.0, 2),
}


class DatasetsTable:
    """One row for each dataset, one column for each count."""

    name = "table1"
    title = "Datasets"

    def runs(self, selection: Selection) -> list[Run]:
        """One run for each dataset."""
        return [facts_of(dataset, selection.quick) for dataset in selection.among(PAPER)]

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """The paper's table, with the number of anomalous segments added."""
        rows = []
        for dataset in selection.columns(PAPER):
            title, run = SOURCES[dataset].title, facts_of(dataset, selection.quick)
            cells = [
                cell_of(
                    [run],
                    results,
                    name,
                    unit=unit,
                    paper=paper_value(self.name, "facts", title, column),
                    missing=why_empty(dataset, selection),
                    digits=digits,
                )
                for column, (name, unit, digits) in COLUMNS.items()
            ]
            cells.append(cell_of([run], results, "segments", unit=1, missing="", digits=0))
            rows.append((dataset_title(dataset, results, selection.quick), tuple(cells)))
        return [
            ResultTable(
                "table1-datasets", "Datasets: our counts, and the paper's in brackets", "dataset",
                (*COLUMNS, "segments"), tuple(rows),
            )
        ]  # fmt: skip


TABLE = DatasetsTable()
