"""Table 1: the datasets."""

from __future__ import annotations

from subadjacent.data.benchmarks import SOURCES
from subadjacent.experiments.asked import REAL, SYNTHETIC, Asked
from subadjacent.experiments.comparison import NOT_HERE, NOT_RUN
from subadjacent.experiments.grid import Cell, Grid, paper_value
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import CLEAN, Run

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
        return [self._run(dataset, asked) for dataset in asked.datasets]

    def grids(self, results: Results, asked: Asked) -> list[Grid]:
        """The paper's table, and anomalous segments beside it."""
        rows = []
        for dataset in (*REAL, SYNTHETIC):
            title, run = SOURCES[dataset].title, self._run(dataset, asked)
            missing = NOT_RUN if dataset in asked.datasets else NOT_HERE
            cells = []
            for column, (name, unit, digits) in COLUMNS.items():
                found = results.value(run, name)
                paper = paper_value(self.name, "facts", title, column)
                values = () if found is None else (unit * found,)
                cells.append(Cell(values, paper, "" if values else missing, digits))
            found = results.value(run, "segments")
            cells.append(Cell(() if found is None else (found,), digits=0))
            rows.append((title, tuple(cells)))
        note = "Of SMD, 19 of 28 machines are at hand. Numbers in brackets are the paper's."
        return [
            Grid(
                "table1-datasets", "Datasets: what was counted, and what the paper has", "dataset",
                (*COLUMNS, "segments"), tuple(rows), (note,),
            )
        ]  # fmt: skip

    def _run(self, dataset: str, asked: Asked) -> Run:
        return Run(dataset, "facts", CLEAN, quick=asked.quick)


TABLE = Datasets()
