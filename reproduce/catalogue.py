"""All tables and figures, the paper's and ours, by name; their modules are imported on use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from subadjacent.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from numpy.typing import NDArray

    from reproduce.comparison import ResultTable
    from reproduce.plan import Selection
    from reproduce.results import Results
    from reproduce.run import Run
    from reproduce.runner import RunContext

ALL = "all"

# name → what is shown, in the paper's order
PAPERS = {
    "table1": "the datasets",
    "table2": "main results, six datasets",
    "table3": "main results, NeurIPS-TS",
    "table4": "the band",
    "table5": "attention and its mapping",
    "table6": "linear attention and dynamic scoring, added in turn",
    "table7": "the window's length",
    "table8": "the weight of the attention term in the loss",
    "table9": "the share of training rows",
    "table10": "F1 without point adjustment",
    "table11": "time, memory, multiplications, parameters",
}
# not in the paper
OURS = {
    "leaderboard": "every detector on every dataset",
    "decisions": "alarms at the label-free threshold, and the anomalies they find",
    "nips-ts-kinds": "each kind of anomaly in NeurIPS-TS alone, trained with and without",
    "ablation-default": "parts of the default detector, left out in turn",
    "ablation-kinds": "states and shapes never seen, on generated kinds of anomaly",
}
TABLES = PAPERS | OURS
# table → the module that has it, where it shares one
SHARED_MODULES = dict.fromkeys(("table2", "table3"), "main_results") | dict.fromkeys(
    ("table4", "table5", "table6", "table7", "table8", "table9", "ablation-default"), "ablations"
)
FIGURES = {
    "figure3": "attention matrices",
    "figure5": "five kinds of anomaly, and what leads to their scores",
}


class TableDefinition(Protocol):
    """The runs that a table needs, and how their results are laid out."""

    @property
    def name(self) -> str:
        """The paper's: ``table4``."""

    @property
    def title(self) -> str:
        """What is shown."""

    def runs(self, selection: Selection) -> list[Run]:
        """All runs that the table needs, whether or not they were made before."""

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """The rows that are there, laid out; one table for each metric or dataset."""


class FigureDefinition(Protocol):
    """Arrays that are computed once, and how they are drawn."""

    @property
    def name(self) -> str:
        """The paper's: ``figure3``."""

    @property
    def title(self) -> str:
        """What is shown."""

    @property
    def stems(self) -> tuple[str, ...]:
        """File names of the drawings, without an ending."""

    def dataset(self, quick: bool) -> str:
        """The dataset that the arrays are computed on."""

    def compute(self, place: RunContext, quick: bool) -> dict[str, NDArray[Any]]:
        """The arrays to draw."""

    def draw(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Drawing]:
        """One or more drawings, by file name."""


def names(wanted: Sequence[str]) -> list[str]:
    """Wanted names in the paper's order; ``all`` stands for every one."""
    known = [*TABLES, *FIGURES]
    for name in wanted:
        if name not in (*known, ALL):
            raise InputError(f"tables and figures are {', '.join([*known, ALL])}; got {name!r}")
    return known if ALL in wanted else [name for name in known if name in wanted]


def table(name: str) -> TableDefinition:
    """A table by its name."""
    module = import_module(f"reproduce.tables.{SHARED_MODULES.get(name, name.replace('-', '_'))}")
    definition: TableDefinition = module.TABLES[name] if name in SHARED_MODULES else module.TABLE
    return definition


def figure(name: str) -> FigureDefinition:
    """A figure by its name."""
    definition: FigureDefinition = import_module(f"reproduce.tables.{name}").FIGURE
    return definition
