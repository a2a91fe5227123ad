"""What a person asks of a table: which datasets, how many seeds, under which protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from subadjacent.data.benchmarks import SOURCES, data_root, find
from subadjacent.errors import InputError, require_whole
from subadjacent.experiments.run import CLEAN, PROTOCOLS, PUBLISHED

# the paper's own order; NeurIPS-TS has a table of its own
REAL = ("swat", "wadi", "psm", "msl", "smap", "smd")
SYNTHETIC = "nips-ts"
PAPER = (*REAL, SYNTHETIC)


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

    datasets: tuple[str, ...] = PAPER
    seeds: int = 3
    protocols: tuple[str, ...] = PROTOCOLS
    quick: bool = False

    def __post_init__(self) -> None:
        require_whole("seeds", self.seeds, least=1)
        for name in self.datasets:
            if name not in SOURCES:
                raise InputError(f"datasets must be among {', '.join(SOURCES)}; got {name!r}")
        for name in self.protocols:
            if name not in PROTOCOLS:
                raise InputError(f"protocols must be among {', '.join(PROTOCOLS)}; got {name!r}")

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
        return self.among(REAL)

    def among(self, datasets: tuple[str, ...]) -> tuple[str, ...]:
        """The wanted ones of some datasets; in a quick trial without any, the synthetic one."""
        wanted = tuple(name for name in datasets if name in self.datasets)
        return wanted or ((SYNTHETIC,) if self.quick else ())

    def columns(self, datasets: tuple[str, ...]) -> tuple[str, ...]:
        """What a table shows: all of its datasets, or in a quick trial those it was made on."""
        return self.among(datasets) if self.quick else datasets


def at_hand(root: Path | str | None) -> tuple[str, ...]:
    """The paper's datasets whose files are there, or that need none."""
    folder = data_root(root)
    sources = (SOURCES[name] for name in PAPER)
    return tuple(one.name for one in sources if one.generate or find(one, folder))
