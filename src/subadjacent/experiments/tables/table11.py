"""Table 11: what vanilla attention and the five mappings cost."""

from __future__ import annotations

from subadjacent.data.benchmarks import SOURCES
from subadjacent.experiments.asked import REAL, Asked
from subadjacent.experiments.comparison import NOT_HERE, NOT_RUN
from subadjacent.experiments.grid import Cell, Grid, paper_value
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import PUBLISHED, Run
from subadjacent.experiments.tables.table5 import MAPPINGS

FORMS = {"sums": "", "matrix": ", matrix formed"}
# the paper's row → ours, what one of its units is, and digits
COSTS = {
    "epoch, s": ("epoch_seconds", 1.0, 1),
    "inference, s": ("inference_seconds", 1.0, 3),
    "memory, GB": ("training_memory_gib", 1.0, 2),
    "FLOPs, M": ("multiplications", 1e-6, 0),
    "parameters, M": ("parameters", 1e-6, 2),
}


class Resources:
    """One grid a dataset: rows are costs, columns are mappings."""

    name = "table11"
    title = "Resources"

    def runs(self, asked: Asked) -> list[Run]:
        """Every mapping, with the matrix formed and avoided."""
        return [
            _run(dataset, mapping, form, asked)
            for dataset in asked.real()
            for mapping in MAPPINGS
            for form in FORMS
            # softmax attention always forms its matrix
            if not (mapping == "vanilla" and form == "sums")
        ]

    def grids(self, results: Results, asked: Asked) -> list[Grid]:
        """Ours, and the paper's numbers (on an RTX A6000) in brackets."""
        return [
            Grid(
                f"table11-{dataset}", f"Resources on {SOURCES[dataset].title}", "cost", MAPPINGS,
                tuple(
                    (f"{cost}{words}", tuple(
                        _cell(dataset, cost, mapping, form, results, asked) for mapping in MAPPINGS
                    ))
                    for cost in COSTS
                    for form, words in FORMS.items()
                    # the matrix costs time and memory, and no parameters
                    if form == "sums" or cost not in ("FLOPs, M", "parameters, M")
                ),
                ("Numbers in brackets are the paper's, measured on an RTX A6000.",),
            )
            for dataset in REAL
        ]  # fmt: skip


def _run(dataset: str, mapping: str, form: str, asked: Asked) -> Run:
    settings = (("attention", mapping), ("form", form))
    return Run(dataset, "resources", PUBLISHED, settings=settings, quick=asked.quick)


def _cell(dataset: str, cost: str, mapping: str, form: str, results: Results, asked: Asked) -> Cell:
    name, unit, digits = COSTS[cost]
    # the paper has softmax attention among the first rows
    shown = "matrix" if mapping == "vanilla" and form == "sums" else form
    found = results.value(_run(dataset, mapping, shown, asked), name)
    words = FORMS[form] if mapping != "vanilla" else ""
    paper = paper_value("table11", SOURCES[dataset].title, cost + words, mapping)
    values = () if found is None else (unit * found,)
    missing = NOT_RUN if dataset in asked.datasets else NOT_HERE
    return Cell(values, paper, "" if values else missing, digits)


TABLE = Resources()
