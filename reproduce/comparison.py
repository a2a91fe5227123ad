"""Tables that compare variants over datasets: which runs they need, and how cells are laid out."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from reproduce.benchmarks import SOURCES
from reproduce.plan import REAL, SYNTHETIC, Selection
from reproduce.results import Results
from reproduce.run import ABLATION, CLEAN, PROTOCOLS, PUBLISHED, Run, Setting

Settings = tuple[tuple[str, Setting], ...]

PERCENT = 100.0
ADJUSTED = "oracle_point_adjusted_f1"
# why a cell may be empty: the dataset is not there; it is, but the run was not made
NOT_HERE, NOT_RUN = "no data", "not run"

# these do not depend on the seed, so that one run is enough
DETERMINISTIC = (
    "default", ABLATION, "magnitude", "pca", "sub-pca", "knn", "lof", "ecod", "matrix-profile",
    "linear",
)  # fmt: skip
# rows of an ablation are run once on the largest set, and once under the clean protocol
ONE_SEED = ("smd",)


@lru_cache
def paper_tables() -> dict[str, Any]:
    """All tables of the paper: name of the table → group of numbers → columns and rows."""
    text = (Path(__file__).parent / "published.toml").read_text("utf-8")
    return tomllib.loads(text)


def paper_value(table: str, group: str, row: str, column: str) -> float | None:
    """One number of the paper; None where the paper has a dash or no such cell."""
    numbers = paper_tables()[table].get(group)
    if numbers is None or row not in numbers["rows"] or column not in numbers["columns"]:
        return None
    value = float(numbers["rows"][row][numbers["columns"].index(column)])
    return None if math.isnan(value) else value


@dataclass(frozen=True, slots=True)
class Cell:
    """One value for each seed, the paper's number, and why there is no value if there is none."""

    values: tuple[float, ...] = ()
    paper: float | None = None
    missing: str = ""
    digits: int = 1

    @property
    def mean(self) -> float:
        """Mean over the seeds; nan without any."""
        return float(np.mean(self.values)) if self.values else math.nan

    @property
    def spread(self) -> float:
        """Standard deviation over the seeds; nan with fewer than two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan


def cell_of(
    runs: Iterable[Run],
    results: Results,
    metric: str,
    *,
    unit: float = PERCENT,
    paper: float | None = None,
    missing: str = NOT_RUN,
    digits: int = 1,
) -> Cell:
    """A metric of some runs, times ``unit``; ``missing`` says why there is none."""
    by_run = (results.value(run, metric) for run in runs)
    values = tuple(unit * value for value in by_run if value is not None)
    return Cell(values, paper, "" if values else missing, digits)


def why_empty(dataset: str, selection: Selection) -> str:
    """Why a cell of a dataset has no value: it is not at hand, or the run was not made."""
    return NOT_RUN if dataset in selection.datasets else NOT_HERE


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows and columns of cells, with a title and notes.

    Parameters
    ----------
    name
        For files: letters, digits and dashes.
    title
        What is measured, and how.
    corner
        Heading of the column of labels.
    columns
        One label for each column.
    rows
        A label and one cell for each column.
    notes
        Sentences below the table.
    """

    name: str
    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of a comparison: everything of a run but dataset, protocol and seed.

    ``published`` and ``clean`` are settings under one protocol alone; ``protocols`` are those
    that the row is part of, ``datasets`` those that it is run on, and ``seeds`` is the number of
    its runs where it has one of its own, ``published_seeds`` under the published protocol alone.
    """

    label: str
    detector: str = "sub-adjacent"
    settings: Settings = ()
    published: Settings = ()
    clean: Settings = ()
    score: str = "dynamic"
    train_share: float = 1.0
    per_entity: bool = False
    protocols: tuple[str, ...] = PROTOCOLS
    datasets: tuple[str, ...] = (*REAL, SYNTHETIC)
    seeds: int | None = None
    published_seeds: int | None = None

    def run(self, dataset: str, protocol: str, seed: int, quick: bool) -> Run:
        """The run of one cell and seed."""
        protocol_settings = self.published if protocol == PUBLISHED else self.clean
        return Run(
            dataset,
            self.detector,
            protocol,
            seed,
            self.settings + protocol_settings,
            # the clean protocol has one score, and one model
            self.score if protocol == PUBLISHED else "dynamic",
            self.train_share,
            self.per_entity and protocol == PUBLISHED,
            quick,
        )

    def runs(
        self, dataset: str, protocol: str, selection: Selection, *, once: bool = False
    ) -> list[Run]:
        """The runs of one cell, one for each seed; a single one if ``once``, or without chance."""
        count = (self.published_seeds if protocol == PUBLISHED else None) or self.seeds
        if once or selection.quick or self.detector in DETERMINISTIC:
            count = 1
        seeds = range(count or selection.seeds)
        return [self.run(dataset, protocol, seed, selection.quick) for seed in seeds]


RANDOM = Variant("random score", "random")
UNTRAINED = Variant("untrained network", "untrained")
MAGNITUDE = Variant("input magnitude", "magnitude")
PCA = Variant("PCA error", "pca")
SUB_PCA = Variant("Sub-PCA", "sub-pca")
# the published protocol has scores of a network or of nothing; the clean one takes any detector
PUBLISHED_CONTROLS = (RANDOM, UNTRAINED)
CLEAN_CONTROLS = (RANDOM, UNTRAINED, MAGNITUDE, PCA, SUB_PCA)


@dataclass(frozen=True, slots=True)
class ShownMetric:
    """A metric to show: its column of results, words, the paper's group of numbers, a note.

    A metric that is ``of_settings`` differs by the score's block and temperature; rows whose score
    has neither, the error as it is, are left out.
    """

    metric: str
    words: str
    paper: str | None = None
    note: str = ""
    of_settings: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Variants against datasets, under both protocols.

    Parameters
    ----------
    name
        The paper's: ``table4``.
    title
        What is compared.
    corner
        Heading of the column of labels.
    variants
        The rows; labels are those of ``published.toml`` where the paper has the row.
    datasets
        The columns.
    published, clean
        Metrics to show under each protocol, one table each.
    ablation
        Whether one seed is enough on the largest set, and under the clean protocol.
    notes
        Sentences below the first table.
    """

    name: str
    title: str
    corner: str
    variants: tuple[Variant, ...]
    datasets: tuple[str, ...] = REAL
    published: tuple[ShownMetric, ...] = (
        ShownMetric(ADJUSTED, "point-adjusted F1, settings and threshold picked on labels", "F1"),
    )
    clean: tuple[ShownMetric, ...] = (
        ShownMetric(ADJUSTED, "point-adjusted F1, threshold picked on labels"),
        ShownMetric("average_precision", "average precision"),
    )
    ablation: bool = True
    notes: tuple[str, ...] = field(default=())

    def runs(self, selection: Selection) -> list[Run]:
        """All runs that the table needs, whether or not they were made before."""
        datasets = selection.among(self.datasets)
        return [
            run
            for protocol in selection.protocols
            for variant in self._variants(protocol)
            for dataset in datasets
            if _runs_on(variant, dataset, selection)
            for run in self._runs(variant, dataset, protocol, selection)
        ] + [facts_of(dataset, selection.quick) for dataset in datasets]

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """One table for each metric, those of the published protocol first."""
        shown = [(PUBLISHED, metric) for metric in self.published if selection.published]
        shown += [(CLEAN, metric) for metric in self.clean if selection.clean]
        return [self._table(protocol, metric, results, selection) for protocol, metric in shown]

    def _variants(self, protocol: str) -> tuple[Variant, ...]:
        # the others do not depend on the setting of an ablation, and stand in the main tables
        few = protocol == PUBLISHED or self.ablation
        controls = PUBLISHED_CONTROLS if few else CLEAN_CONTROLS
        return (
            tuple(variant for variant in self.variants if protocol in variant.protocols) + controls
        )

    def _runs(
        self, variant: Variant, dataset: str, protocol: str, selection: Selection
    ) -> list[Run]:
        once = self.ablation and (dataset in ONE_SEED or protocol == CLEAN)
        return variant.runs(dataset, protocol, selection, once=once)

    def _table(
        self, protocol: str, metric: ShownMetric, results: Results, selection: Selection
    ) -> ResultTable:
        rows = []
        datasets = selection.columns(self.datasets)
        # numbers of a trial are not comparable with those of other methods
        if metric.paper is not None and not selection.quick:
            ours = {variant.label for variant in self.variants}
            paper_only = [row for row in self._paper_rows(metric) if row not in ours]
            rows += [(label, self._paper_only(label, metric, datasets)) for label in paper_only]
        for variant in self._variants(protocol):
            if metric.of_settings and variant.score == "error":
                continue
            cells = [
                self._cell(variant, dataset, protocol, metric, results, selection)
                for dataset in datasets
            ]
            rows.append((variant.label, tuple(cells)))
        return ResultTable(
            f"{self.name}-{protocol}-{metric.metric.replace('_', '-')}",
            f"{self.title}: {metric.words} ({protocol} protocol, %)",
            self.corner,
            tuple(dataset_title(dataset, results, selection.quick) for dataset in datasets),
            tuple(rows),
            self._notes(protocol, metric),
        )

    def _notes(self, protocol: str, metric: ShownMetric) -> tuple[str, ...]:
        """Notes of the comparison, once, and those of the metric."""
        first = protocol == PUBLISHED and metric == self.published[0]
        return (*(self.notes if first else ()), *([metric.note] if metric.note else ()))

    def _cell(
        self,
        variant: Variant,
        dataset: str,
        protocol: str,
        metric: ShownMetric,
        results: Results,
        selection: Selection,
    ) -> Cell:
        paper = None
        if metric.paper is not None:
            paper = paper_value(self.name, metric.paper, variant.label, SOURCES[dataset].title)
        missing = why_empty(dataset, selection)
        if not _runs_on(variant, dataset, selection):
            return Cell(paper=paper, missing=missing if missing == NOT_HERE else "")
        runs = self._runs(variant, dataset, protocol, selection)
        return cell_of(runs, results, metric.metric, paper=paper, missing=missing)

    def _paper_rows(self, metric: ShownMetric) -> list[str]:
        return list(paper_tables()[self.name][metric.paper]["rows"])

    def _paper_only(
        self, label: str, metric: ShownMetric, datasets: tuple[str, ...]
    ) -> tuple[Cell, ...]:
        assert metric.paper is not None
        numbers = (
            paper_value(self.name, metric.paper, label, SOURCES[dataset].title)
            for dataset in datasets
        )
        return tuple(Cell(paper=number) for number in numbers)


def _runs_on(variant: Variant, dataset: str, selection: Selection) -> bool:
    """Whether a row is run on a dataset; a trial shows that every row works, wherever."""
    return selection.quick or dataset in variant.datasets


def facts_of(dataset: str, quick: bool = False) -> Run:
    """The run that counts rows, channels, entities and anomalies of a dataset."""
    return Run(dataset, "facts", CLEAN, quick=quick)


def dataset_title(dataset: str, results: Results, quick: bool = False) -> str:
    """Title of a column: "SMD (19 of 28)" where only some entities were there."""
    source = SOURCES[dataset]
    entities = results.value(facts_of(dataset, quick), "entities")
    if quick or entities is None or entities >= source.entities:
        return source.title
    return f"{source.title} ({entities:.0f} of {source.entities})"
