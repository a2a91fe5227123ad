"""From a request for tables and figures to the runs that are missing.

``Selection`` is the request: datasets, seeds, protocols. ``make_plan`` compares it with the data
and the rows of results that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reproduce.benchmarks import SOURCES, data_root, find
from reproduce.benchmarks.locate import absence
from reproduce.catalogue import (
    FIGURES,
    TABLES,
    FigureDefinition,
    TableDefinition,
    figure,
    table,
)
from reproduce.datasets import KINDS, data_of, fingerprint_of, title_of
from reproduce.figures import arrays_file
from reproduce.results import Results
from reproduce.run import CLEAN, PROTOCOLS, PUBLISHED, Run
from subadjacent.errors import DataNotFound, InputError, require_whole

# in the paper's order; NeurIPS-TS has a table of its own
REAL = ("swat", "wadi", "psm", "msl", "smap", "smd")
SYNTHETIC = "nips-ts"
PAPER = (*REAL, SYNTHETIC)
# those of our own tables as well
DATASETS = (*PAPER, *KINDS)


@dataclass(frozen=True, slots=True)
class Selection:
    """Datasets, seeds and protocols to make tables for.

    Parameters
    ----------
    datasets
        Datasets to run on. A table keeps its other columns, with the paper's numbers alone.
    seeds
        Number of runs of each cell.
    protocols
        ``("published", "clean")`` or one of them.
    quick
        A few rows, a small network, one seed: a trial that everything works.
    """

    datasets: tuple[str, ...] = DATASETS
    seeds: int = 3
    protocols: tuple[str, ...] = PROTOCOLS
    quick: bool = False

    def __post_init__(self) -> None:
        require_whole("seeds", self.seeds, least=1)
        for name in self.datasets:
            if name not in DATASETS:
                raise InputError(f"datasets must be among {', '.join(DATASETS)}; got {name!r}")
        for name in self.protocols:
            if name not in PROTOCOLS:
                raise InputError(f"protocols must be among {', '.join(PROTOCOLS)}; got {name!r}")

    @property
    def published(self) -> bool:
        """Whether the paper's protocol is selected."""
        return PUBLISHED in self.protocols

    @property
    def clean(self) -> bool:
        """Whether the clean protocol is selected."""
        return CLEAN in self.protocols

    def real(self) -> tuple[str, ...]:
        """Those of the paper's six real datasets that are selected."""
        return self.among(REAL)

    def among(self, datasets: tuple[str, ...]) -> tuple[str, ...]:
        """Those of ``datasets`` that are selected; a trial without any takes the synthetic one."""
        selected = tuple(name for name in datasets if name in self.datasets)
        return selected or ((SYNTHETIC,) if self.quick else ())

    def columns(self, datasets: tuple[str, ...]) -> tuple[str, ...]:
        """Columns of a table: all of its datasets, or in a trial those that it was run on."""
        return self.among(datasets) if self.quick else datasets


def available(root: Path | str | None) -> tuple[str, ...]:
    """The paper's datasets whose files are there, and those that need none."""
    folder = data_root(root)
    sources = (SOURCES[name] for name in PAPER)
    found = (source.name for source in sources if source.generate or find(source, folder))
    return (*found, *KINDS)


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs to make, and the tables and figures to show.

    Parameters
    ----------
    tables, figures
        Tables and figures that can be shown, at least in part.
    shown
        The selection that tables are laid out for: datasets to run on, and those with rows.
    runs
        Runs to make: those that are needed and have no row.
    there
        Number of needed runs that have a row.
    compute
        Figures whose arrays must be computed.
    lacking
        Names of tables and figures that have neither data nor rows.
    """

    tables: tuple[TableDefinition, ...]
    figures: tuple[FigureDefinition, ...]
    shown: Selection
    runs: tuple[Run, ...]
    there: int
    compute: tuple[FigureDefinition, ...]
    lacking: tuple[str, ...]


def make_plan(
    names: Sequence[str],
    selection: Selection,
    results: Results,
    root: Path | str | None,
    *,
    run: bool,
) -> Plan:
    """Find the runs that some tables and figures need.

    Parameters
    ----------
    names
        Of tables and figures.
    selection
        With the datasets that were named; an empty list stands for all that are available.
    results
        The rows that are there.
    root
        Folder of the datasets.
    run
        Whether runs are to be made; if not, no dataset is looked for.

    Raises
    ------
    DataNotFound
        When a dataset that was named is not there, or nothing can be made or shown.
    InputError
        When rows that are there were made on other data than is available.
    """
    near = available(root) if run else ()
    if not selection.datasets:
        selection = replace(selection, datasets=_default_datasets(near, selection.quick))
    shown = _shown(selection, results)
    tables = [table(name) for name in names if name in TABLES]
    runs = [needed for definition in tables for needed in definition.runs(selection)] if run else []
    _refuse_other_data(runs, results, root)
    missing = results.missing(runs)
    for needed in missing:
        if needed.dataset not in near:
            raise absence(SOURCES[needed.dataset], data_root(root))
    empty = [
        definition.name
        for definition in tables
        if not _rows_of(definition, shown, results)
        and not set(missing).intersection(definition.runs(shown))
    ]
    figures = [figure(name) for name in names if name in FIGURES]
    undrawn = [
        definition
        for definition in figures
        if not arrays_file(results.folder, definition.name).is_file()
    ]
    compute = [definition for definition in undrawn if definition.dataset(selection.quick) in near]
    unseen = [definition.name for definition in undrawn if definition not in compute]
    if len(empty) + len(unseen) == len(names):
        raise _nothing_to_show(names, results.folder, root, run=run)
    return Plan(
        tuple(definition for definition in tables if definition.name not in empty),
        tuple(definition for definition in figures if definition.name not in unseen),
        shown, tuple(missing), len(set(runs)) - len(missing), tuple(compute), (*empty, *unseen),
    )  # fmt: skip


def _default_datasets(near: tuple[str, ...], quick: bool) -> tuple[str, ...]:
    """All available datasets; for a trial one real dataset, if there is any, and the synthetic."""
    if not quick:
        return near
    real = [name for name in near if name in REAL]
    return (*real[:1], SYNTHETIC)


def _shown(selection: Selection, results: Results) -> Selection:
    """The selection with every dataset that has rows; a trial shows its own rows only."""
    if selection.quick:
        return selection
    known = {*selection.datasets, *results.datasets()}
    return replace(selection, datasets=tuple(name for name in DATASETS if name in known))


def _rows_of(definition: TableDefinition, shown: Selection, results: Results) -> set[Run]:
    """Runs of a table that have a row; rows of facts count for Table 1 alone."""
    return {
        run
        for run in definition.runs(shown)
        if run in results and (run.detector != "facts" or definition.name == "table1")
    }


def _nothing_to_show(
    names: Sequence[str], folder: Path, root: Path | str | None, *, run: bool
) -> DataNotFound:
    wanted = ", ".join(names)
    if not run:
        return DataNotFound(f"{folder} has no rows of {wanted}; leave out --no-run to make them")
    return DataNotFound(
        f"no dataset of {wanted} is in {data_root(root)}, and {folder} has no rows of it. "
        "'python -m reproduce data get msl' fetches one; 'python -m reproduce data list' lists them"
    )


def _refuse_other_data(runs: Sequence[Run], results: Results, root: Path | str | None) -> None:
    """Refuse rows that were made on other data, such as fewer machines, than is available."""
    folder = None if root is None else str(root)
    fingerprints = {
        data_of(run): row["data"]
        for run in runs
        if (row := results.get(run)) is not None and row.get("data")
    }
    for data, theirs in fingerprints.items():
        try:
            ours = fingerprint_of(data, folder)
        except DataNotFound:
            continue
        if ours != theirs:
            raise InputError(
                f"{results.folder} holds rows that were made on other data of "
                f"{title_of(data.dataset)} (fingerprint {theirs}, here {ours}): "
                f"name another folder with --results"
            )
