"""Every table and figure, the paper's and ours, by name; a module is imported when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from subadjacent.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from numpy.typing import NDArray

    from subadjacent.experiments.asked import Asked
    from subadjacent.experiments.grid import Grid
    from subadjacent.experiments.results import Results
    from subadjacent.experiments.run import Run
    from subadjacent.experiments.runner import Place

ALL = "all"

# name → what it shows, in the paper's order
PAPERS = {
    "table1": "the datasets",
    "table2": "main results, six datasets",
    "table3": "main results, NeurIPS-TS",
    "table4": "the band",
    "table5": "attention and its mapping",
    "table6": "linear attention and dynamic scoring, added in turn",
    "table7": "the window's length",
    "table8": "the weight of the contribution in the loss",
    "table9": "the share of training rows",
    "table10": "F1 without point adjustment",
    "table11": "time, memory, multiplications, parameters",
}
# not in the paper: what became of its idea
OURS = {"ablation-default": "parts of the default detector, left out in turn"}
TABLES = PAPERS | OURS
FIGURES = {
    "figure3": "attention matrices",
    "figure5": "five kinds of anomaly, and what leads to their scores",
}


class Table(Protocol):
    """A list of runs, and how to lay out what they found."""

    @property
    def name(self) -> str:
        """The paper's: ``table4``."""

    @property
    def title(self) -> str:
        """What is shown."""

    def runs(self, asked: Asked) -> list[Run]:
        """All that the table needs, whether or not it was run before."""

    def grids(self, results: Results, asked: Asked) -> list[Grid]:
        """What is there of it."""


class Figure(Protocol):
    """Arrays to compute once, and how to draw them."""

    @property
    def name(self) -> str:
        """The paper's: ``figure3``."""

    @property
    def title(self) -> str:
        """What is shown."""

    @property
    def stems(self) -> tuple[str, ...]:
        """Names of its drawings."""

    def dataset(self, quick: bool) -> str:
        """The dataset that it is computed on."""

    def compute(self, place: Place, quick: bool) -> dict[str, NDArray[Any]]:
        """All that is drawn."""

    def draw(self, found: Mapping[str, NDArray[Any]]) -> dict[str, Drawing]:
        """One or more drawings, by file name."""


def names(wanted: Sequence[str]) -> list[str]:
    """The names that were asked for, in the paper's order; ``all`` stands for every one."""
    known = [*TABLES, *FIGURES]
    for name in wanted:
        if name not in (*known, ALL):
            raise InputError(f"tables and figures are {', '.join([*known, ALL])}; got {name!r}")
    return known if ALL in wanted else [name for name in known if name in wanted]


def table(name: str) -> Table:
    """A table by its name."""
    module = name.replace("-", "_")
    found: Table = import_module(f"subadjacent.experiments.tables.{module}").TABLE
    return found


def figure(name: str) -> Figure:
    """A figure by its name."""
    found: Figure = import_module(f"subadjacent.experiments.tables.{name}").FIGURE
    return found
