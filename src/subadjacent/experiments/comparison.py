"""A table that compares variants over datasets: a list of runs, and how to lay them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from subadjacent.data.benchmarks import SOURCES
from subadjacent.experiments.asked import REAL, Asked
from subadjacent.experiments.grid import (
    NOT_HERE,
    NOT_RUN,
    PERCENT,
    Cell,
    Grid,
    paper_tables,
    paper_value,
)
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import CLEAN, PROTOCOLS, PUBLISHED, Run, Setting

Settings = tuple[tuple[str, Setting], ...]

ADJUSTED = "oracle_point_adjusted_f1"

# these do not depend on the seed: one run says all
WITHOUT_CHANCE = ("magnitude", "pca", "sub-pca", "band-ridge")
# rows of an ablation are run once on the largest set, and once under the clean protocol
ONE_SEED = ("smd",)


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of a table: all of a run but dataset, protocol and seed.

    ``published`` and ``clean`` hold what is set under one protocol alone; ``protocols`` says
    which of them the row is part of.
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

    def run(self, dataset: str, protocol: str, seed: int, quick: bool) -> Run:
        """The run of one cell and seed."""
        own = self.published if protocol == PUBLISHED else self.clean
        return Run(
            dataset,
            self.detector,
            protocol,
            seed,
            self.settings + own,
            # the clean protocol has one score, and one model
            self.score if protocol == PUBLISHED else "dynamic",
            self.train_share,
            self.per_entity and protocol == PUBLISHED,
            quick,
        )


RANDOM = Variant("random score", "random")
UNTRAINED = Variant("untrained network", "untrained")
MAGNITUDE = Variant("input magnitude", "magnitude")
PCA = Variant("PCA error", "pca")
SUB_PCA = Variant("Sub-PCA", "sub-pca")
# those that make sense under the paper's protocol, and all of them
PUBLISHED_CONTROLS = (RANDOM, UNTRAINED)
CLEAN_CONTROLS = (RANDOM, UNTRAINED, MAGNITUDE, PCA, SUB_PCA)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a grid shows of its runs, the paper's group of numbers beside it, and a remark."""

    metric: str
    words: str
    paper: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table of variants against datasets, under both protocols.

    Parameters
    ----------
    name
        The paper's: ``table4``.
    title
        What is compared.
    corner
        What the rows' labels are.
    variants
        The rows; labels are those of ``published.toml`` where the paper has the row.
    datasets
        The columns.
    published, clean
        What is shown under each protocol.
    ablation
        Whether one seed is enough on the largest set, and under the clean protocol.
    notes
        Sentences below the first grid.
    """

    name: str
    title: str
    corner: str
    variants: tuple[Variant, ...]
    datasets: tuple[str, ...] = REAL
    published: tuple[Measure, ...] = (
        Measure(ADJUSTED, "point-adjusted F1, settings and threshold picked on labels", "F1"),
    )
    clean: tuple[Measure, ...] = (
        Measure(ADJUSTED, "point-adjusted F1, threshold picked on labels"),
        Measure("average_precision", "average precision"),
    )
    ablation: bool = True
    notes: tuple[str, ...] = field(default=())

    def runs(self, asked: Asked) -> list[Run]:
        """All that the table needs, whether or not it was run before."""
        return [
            run
            for protocol in asked.protocols
            for variant in self._rows(protocol)
            for dataset in asked.among(self.datasets)
            for run in self._seeds(variant, dataset, protocol, asked)
        ] + [facts_of(dataset, asked.quick) for dataset in asked.among(self.datasets)]

    def grids(self, results: Results, asked: Asked) -> list[Grid]:
        """One grid a measure, published ones first."""
        shown = [(PUBLISHED, measure) for measure in self.published if asked.published]
        shown += [(CLEAN, measure) for measure in self.clean if asked.clean]
        return [self._grid(protocol, measure, results, asked) for protocol, measure in shown]

    def _rows(self, protocol: str) -> tuple[Variant, ...]:
        controls = PUBLISHED_CONTROLS if protocol == PUBLISHED else CLEAN_CONTROLS
        return tuple(one for one in self.variants if protocol in one.protocols) + controls

    def _seeds(self, variant: Variant, dataset: str, protocol: str, asked: Asked) -> Iterator[Run]:
        once = asked.quick or variant.detector in WITHOUT_CHANCE
        once |= self.ablation and (dataset in ONE_SEED or protocol == CLEAN)
        for seed in range(1 if once else asked.seeds):
            yield variant.run(dataset, protocol, seed, asked.quick)

    def _grid(self, protocol: str, measure: Measure, results: Results, asked: Asked) -> Grid:
        rows = []
        datasets = asked.columns(self.datasets)
        # a trial is not to be held against other methods
        if measure.paper is not None and not asked.quick:
            ours = {variant.label for variant in self.variants}
            others = [row for row in self._paper_rows(measure) if row not in ours]
            rows += [(label, self._paper_only(label, measure, datasets)) for label in others]
        for variant in self._rows(protocol):
            cells = [
                self._cell(variant, dataset, protocol, measure, results, asked)
                for dataset in datasets
            ]
            rows.append((variant.label, tuple(cells)))
        return Grid(
            f"{self.name}-{protocol}-{measure.metric.replace('_', '-')}",
            f"{self.title}: {measure.words} ({protocol} protocol, %)",
            self.corner,
            tuple(dataset_title(dataset, results, asked.quick) for dataset in datasets),
            tuple(rows),
            self._notes(protocol, measure),
        )

    def _notes(self, protocol: str, measure: Measure) -> tuple[str, ...]:
        """The table's own, once, and the measure's."""
        first = protocol == PUBLISHED and measure == self.published[0]
        return (*(self.notes if first else ()), *([measure.note] if measure.note else ()))

    def _cell(
        self,
        variant: Variant,
        dataset: str,
        protocol: str,
        measure: Measure,
        results: Results,
        asked: Asked,
    ) -> Cell:
        paper = None
        if measure.paper is not None:
            paper = paper_value(self.name, measure.paper, variant.label, SOURCES[dataset].title)
        found = [
            results.value(run, measure.metric)
            for run in self._seeds(variant, dataset, protocol, asked)
        ]
        values = tuple(PERCENT * value for value in found if value is not None)
        missing = NOT_RUN if dataset in asked.datasets else NOT_HERE
        return Cell(values, paper, "" if values else missing)

    def _paper_rows(self, measure: Measure) -> list[str]:
        return list(paper_tables()[self.name][measure.paper]["rows"])

    def _paper_only(
        self, label: str, measure: Measure, datasets: tuple[str, ...]
    ) -> tuple[Cell, ...]:
        assert measure.paper is not None
        found = (
            paper_value(self.name, measure.paper, label, SOURCES[dataset].title)
            for dataset in datasets
        )
        return tuple(Cell(paper=value) for value in found)


def facts_of(dataset: str, quick: bool = False) -> Run:
    """The run that counts what a dataset has."""
    return Run(dataset, "facts", CLEAN, quick=quick)


def dataset_title(dataset: str, results: Results, quick: bool = False) -> str:
    """A column's title; it says so where only a part of the set's entities was there."""
    source = SOURCES[dataset]
    there = results.value(facts_of(dataset, quick), "entities")
    if quick or there is None or there >= source.entities:
        return source.title
    return f"{source.title} ({there:.0f} of {source.entities})"
