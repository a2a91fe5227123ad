"""Table 1: the datasets."""

from __future__ import annotations

from subadjacent.data.benchmarks import SOURCES
from subadjacent.experiments.asked import PAPER, Asked
from subadjacent.experiments.comparison import dataset_title, facts_of
from subadjacent.experiments.grid import NOT_HERE, NOT_RUN, Cell, Grid, paper_value
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import Run

# the paper's column → ours, what one of its units is, and digits
COLUMNS = {
    "channels": ("channels", 1.0, 0),
    "entities": ("entities", 1.0, 0),
    "train, K": ("train_rows", 1e-3, 1),
    "test, K": ("test_rows", 1e-3, 1),
    "anomalous, %": ("anomalous", 100.0, 2),
}


class Datasets:
    """Rows are datasets, columns are facts."""

    name = "table1"
    title = "Datasets"

    def runs(self, asked: Asked) -> list[Run]:
        """One count a dataset."""
        return [facts_of(dataset, asked.quick) for dataset in asked.among(PAPER)]

    def grids(self, results: Results, asked: Asked) -> list[Grid]:
        """The paper's table, and anomalous segments beside it."""
        rows = []
        for dataset in asked.columns(PAPER):
            title, run = SOURCES[dataset].title, facts_of(dataset, asked.quick)
            missing = NOT_RUN if dataset in asked.datasets else NOT_HERE
            cells = []
            for column, (name, unit, digits) in COLUMNS.items():
                found = results.value(run, name)
                paper = paper_value(self.name, "facts", title, column)
                values = () if found is None else (unit * found,)
                cells.append(Cell(values, paper, "" if values else missing, digits))
            found = results.value(run, "segments")
            cells.append(Cell(() if found is None else (found,), digits=0))
            rows.append((dataset_title(dataset, results, asked.quick), tuple(cells)))
        return [
            Grid(
                "table1-datasets", "Datasets: what was counted, and what the paper has", "dataset",
                (*COLUMNS, "segments"), tuple(rows),
            )
        ]  # fmt: skip


TABLE = Datasets()
