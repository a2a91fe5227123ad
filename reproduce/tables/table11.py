"""Table 11: what vanilla attention and the five mappings cost."""

from __future__ import annotations

from reproduce.benchmarks import SOURCES
from reproduce.comparison import (
    Cell,
    ResultTable,
    cell_of,
    dataset_title,
    facts_of,
    paper_value,
    why_empty,
)
from reproduce.plan import REAL, Selection
from reproduce.results import Results
from reproduce.run import PUBLISHED, Run
from reproduce.tables.ablations import MAPPINGS

FORMS = {"sums": "", "matrix": ", matrix formed"}
# the paper's row → our column of results, factor to the paper's unit, digits
COSTS = {
    "epoch, s": ("epoch_seconds", 1.0, 1),
    "inference, s": ("inference_seconds", 1.0, 3),
    "memory, GB": ("training_memory_gib", 1.0, 2),
    "FLOPs, M": ("multiplications", 1e-6, 0),
    "parameters, M": ("parameters", 1e-6, 2),
}


class ResourcesTable:
    """One table for each dataset: rows are costs, columns are mappings."""

    name = "table11"
    title = "Resources"

    def runs(self, selection: Selection) -> list[Run]:
        """Every mapping, with the matrix formed and avoided."""
        return [
            _run(dataset, mapping, form, selection)
            for dataset in selection.real()
            for mapping in MAPPINGS
            for form in FORMS
            # softmax attention always forms its matrix
            if not (mapping == "vanilla" and form == "sums")
        ] + [facts_of(dataset, selection.quick) for dataset in selection.real()]

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """Ours, and the paper's numbers (on an RTX A6000) in brackets."""
        return [
            ResultTable(
                f"table11-{dataset}",
                f"Resources on {dataset_title(dataset, results, selection.quick)}",
                "cost",
                MAPPINGS,
                tuple(
                    (
                        f"{cost}{words}",
                        tuple(
                            _cell(dataset, cost, mapping, form, results, selection)
                            for mapping in MAPPINGS
                        ),
                    )
                    for cost in COSTS
                    for form, words in FORMS.items()
                    # the matrix costs time and memory, and no parameters
                    if form == "sums" or cost not in ("FLOPs, M", "parameters, M")
                ),
                () if place else (_note(results, selection),),
            )
            for place, dataset in enumerate(selection.columns(REAL))
        ]


def _note(results: Results, selection: Selection) -> str:
    """Below the first table: on what all were measured."""
    rows = (results.get(run) for run in TABLE.runs(selection) if run.detector == "resources")
    ours = sorted({row["hardware"] for row in rows if row})
    measured = f"Ours: {', '.join(ours)}. " if ours else ""
    return (
        f"{measured}Numbers in brackets are the paper's, measured on an RTX A6000. Memory is what "
        "tensors take, in GiB; multiplications are counted for one window."
    )


def _run(dataset: str, mapping: str, form: str, selection: Selection) -> Run:
    settings = (("attention", mapping), ("form", form))
    return Run(dataset, "resources", PUBLISHED, settings=settings, quick=selection.quick)


def _cell(
    dataset: str, cost: str, mapping: str, form: str, results: Results, selection: Selection
) -> Cell:
    name, unit, digits = COSTS[cost]
    if mapping == "vanilla":
        # it always forms its matrix; the paper has it among the first rows
        if form == "matrix":
            return Cell()
        words, form = "", "matrix"
    else:
        words = FORMS[form]
    return cell_of(
        [_run(dataset, mapping, form, selection)],
        results,
        name,
        unit=unit,
        paper=paper_value("table11", SOURCES[dataset].title, cost + words, mapping),
        missing=why_empty(dataset, selection),
        digits=digits,
    )


TABLE = ResourcesTable()
