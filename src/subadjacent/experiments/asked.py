"""What a person asks of a table: which datasets, how many seeds, under which protocol."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.data.benchmarks import SOURCES
from subadjacent.errors import InputError, require_whole
from subadjacent.experiments.run import CLEAN, PROTOCOLS, PUBLISHED

# the paper's own order; NeurIPS-TS has a table of its own
REAL = ("swat", "wadi", "psm", "msl", "smap", "smd")
SYNTHETIC = "nips-ts"
# those that may be had without asking anyone
AT_HAND = ("msl", "smap", "smd", SYNTHETIC)


@dataclass(frozen=True, slots=True)
class Asked:
    """Parameters of every table.

    Parameters
    ----------
    datasets
        Those to run on; tables keep their other columns, with the paper's numbers alone.
    seeds
        Runs of each cell.
    protocols
        ``("published", "clean")`` or one of them.
    quick
        A few rows, a small network, one seed: shows that all works.
    """

    datasets: tuple[str, ...] = AT_HAND
    seeds: int = 3
    protocols: tuple[str, ...] = PROTOCOLS
    quick: bool = False

    def __post_init__(self) -> None:
        require_whole("seeds", self.seeds, least=1)
        for name in self.datasets:
            if name not in SOURCES:
                raise InputError(f"datasets must be among {', '.join(SOURCES)}; got {name!r}")

    @property
    def published(self) -> bool:
        """Whether the paper's own protocol is wanted."""
        return PUBLISHED in self.protocols

    @property
    def clean(self) -> bool:
        """Whether the clean protocol is wanted."""
        return CLEAN in self.protocols

    def real(self) -> tuple[str, ...]:
        """The wanted ones of the paper's six real datasets."""
        return tuple(name for name in REAL if name in self.datasets)
