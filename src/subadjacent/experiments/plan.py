"""What must be made for the tables and figures that a person asks for, and what cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from subadjacent.data.benchmarks import SOURCES, data_root
from subadjacent.data.benchmarks.locate import absence
from subadjacent.errors import DataNotFound, InputError
from subadjacent.experiments.asked import PAPER, SYNTHETIC, Asked, at_hand
from subadjacent.experiments.catalogue import FIGURES, TABLES, Figure, Table, figure, table
from subadjacent.experiments.datasets import fingerprint_of, is_contaminated
from subadjacent.experiments.figures import arrays_file
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import Run


@dataclass(frozen=True, slots=True)
class Plan:
    """What to make, and what to show.

    Parameters
    ----------
    tables, figures
        Those that can be shown, in part at least.
    shown
        How tables are laid out: the datasets to run on, and those that have rows.
    runs
        Runs that are wanted and have no row.
    there
        How many wanted runs have one.
    compute
        Figures without arrays.
    lacking
        Names of tables and figures that have neither data nor rows.
    """

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    shown: Asked
    runs: tuple[Run, ...]
    there: int
    compute: tuple[Figure, ...]
    lacking: tuple[str, ...]


def make_plan(
    names: Sequence[str], asked: Asked, results: Results, root: Path | str | None, *, run: bool
) -> Plan:
    """Decide what is to be done for some tables and figures.

    Parameters
    ----------
    names
        Of tables and figures.
    asked
        With the datasets that were named; without any, all that are at hand are taken.
    results
        Rows that are there.
    root
        Folder of the datasets.
    run
        Whether runs are to be made; if not, no dataset is looked for.

    Raises
    ------
    DataNotFound
        When a dataset that was named is not there, or nothing can be made or shown.
    InputError
        When rows that are there were made on other data than is at hand.
    """
    near = at_hand(root) if run else ()
    wanted = asked if asked.datasets else replace(asked, datasets=_usual(near, asked.quick))
    shown = wanted
    if not asked.quick:
        known = {*wanted.datasets, *results.datasets()}
        shown = replace(wanted, datasets=tuple(name for name in PAPER if name in known))
    tables = [table(name) for name in names if name in TABLES]
    runs = [one for each in tables for one in each.runs(wanted)] if run else []
    _refuse_other_data(runs, results, root)
    lacking = results.missing(runs)
    for one in lacking:
        if one.dataset not in near:
            raise absence(SOURCES[one.dataset], data_root(root))
    empty = [
        each.name
        for each in tables
        if not _rows(each, shown, results) and not set(lacking).intersection(each.runs(shown))
    ]
    figures = [figure(name) for name in names if name in FIGURES]
    undrawn = [each for each in figures if not arrays_file(results.folder, each.name).is_file()]
    compute = [each for each in undrawn if each.dataset(asked.quick) in near]
    unseen = [each.name for each in undrawn if each not in compute]
    if len(empty) + len(unseen) == len(names):
        raise _nothing(names, results.folder, root, run=run)
    return Plan(
        tuple(each for each in tables if each.name not in empty),
        tuple(each for each in figures if each.name not in unseen),
        shown, tuple(lacking), len(set(runs)) - len(lacking), tuple(compute), (*empty, *unseen),
    )  # fmt: skip


def _usual(near: tuple[str, ...], quick: bool) -> tuple[str, ...]:
    """All that are at hand; for a trial a real one, if there is any, and the synthetic one."""
    if not quick:
        return near
    real = [name for name in near if name != SYNTHETIC]
    return (*real[:1], SYNTHETIC)


def _rows(found: Table, shown: Asked, results: Results) -> set[Run]:
    """Runs of a table that say something of it; what a dataset has is said by Table 1 alone."""
    return {
        run
        for run in found.runs(shown)
        if run in results and (run.detector != "facts" or found.name == "table1")
    }


def _nothing(
    names: Sequence[str], folder: Path, root: Path | str | None, *, run: bool
) -> DataNotFound:
    what = ", ".join(names)
    if not run:
        return DataNotFound(f"{folder} has nothing of {what}; without --no-run it is made")
    return DataNotFound(
        f"no dataset of {what} is in {data_root(root)}, and {folder} has no rows of it. "
        "'subadjacent data get msl' fetches one; 'subadjacent data list' shows them all"
    )


def _refuse_other_data(runs: Sequence[Run], results: Results, root: Path | str | None) -> None:
    """Rows of other data, of fewer machines say, must not pass for rows of what is at hand."""
    folder = None if root is None else str(root)
    made = {
        (run.dataset, is_contaminated(run)): row["data"]
        for run in runs
        if (row := results.get(run)) is not None and row.get("data")
    }
    for (dataset, contaminated), theirs in made.items():
        try:
            ours = fingerprint_of(dataset, folder, contaminated)
        except DataNotFound:
            continue
        if ours != theirs:
            raise InputError(
                f"{results.folder} holds rows that were made on other data of "
                f"{SOURCES[dataset].title} (fingerprint {theirs}, here {ours}): "
                f"name another folder with --results"
            )
