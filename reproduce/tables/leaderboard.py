"""Every detector on every dataset: what it ranks, what it alarms, what it costs; our own table."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from reproduce.benchmarks import SOURCES
from reproduce.comparison import (
    ADJUSTED,
    MAGNITUDE,
    NOT_RUN,
    PCA,
    PERCENT,
    RANDOM,
    SUB_PCA,
    UNTRAINED,
    Cell,
    ResultTable,
    Variant,
    dataset_title,
    facts_of,
    paper_value,
)
from reproduce.plan import PAPER, SYNTHETIC, Selection
from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED, Run
from reproduce.tables.decisions import Column
from reproduce.tables.main_results import ANOMALY_TRANSFORMER, DEFAULT, OTHERS, OURS, PAPERS_RIVALS

VARIANTS = (
    DEFAULT,
    OURS,
    ANOMALY_TRANSFORMER,
    *(variant for variant in PAPERS_RIVALS if CLEAN in variant.protocols),
    *OTHERS,
    RANDOM,
    UNTRAINED,
    *(replace(variant, score="error") for variant in (MAGNITUDE, PCA, SUB_PCA)),
)
LABELS = {OURS.label: "the paper's network"}

RANKING = Column("VUS-PR, %", "vus_pr_tsb_ad", PERCENT)
PRECISION = Column("average precision, %", "average_precision", PERCENT)
EVENTS = Column("F1 of events, %", "event_f1", PERCENT)
TRAINING = Column("training, s", "fit_seconds", digits=1)
OF_ALARMS = (
    EVENTS,
    Column("alarms right, %", "alarms_right_share", PERCENT),
    Column("anomalies found, %", "anomalies_found_share", PERCENT),
    Column("false alarms per 1,000 rows", "alarms_false_per_1000_rows", digits=2),
    Column("delay, rows", "alarm_delay"),
)
COLUMNS = (
    RANKING,
    PRECISION,
    Column("ROC area, %", "auroc", PERCENT),
    *OF_ALARMS,
    TRAINING,
    Column("scoring, s", "score_seconds"),
)
POINT_ADJUSTED = Column("point-adjusted F1, published protocol, %", ADJUSTED, PERCENT)


class Leaderboard:
    """One table for all datasets together, and one for each; the best ranking first."""

    name = "leaderboard"
    title = "Every detector"

    def runs(self, selection: Selection) -> list[Run]:
        """Every detector on every dataset, under both protocols."""
        datasets = selection.among(PAPER)
        return [
            run
            for protocol in selection.protocols
            for variant in VARIANTS
            for dataset in datasets
            if protocol in variant.protocols
            for run in variant.runs(dataset, protocol, selection)
        ] + [facts_of(dataset, selection.quick) for dataset in datasets]

    def result_tables(self, results: Results, selection: Selection) -> list[ResultTable]:
        """The mean over the datasets, then each by itself."""
        datasets = selection.among(PAPER)
        if not selection.clean or not datasets:
            return []
        return [
            _means(datasets, results, selection),
            *(_table(dataset, results, selection) for dataset in datasets),
        ]


def label_of(variant: Variant) -> str:
    """The label of a row in this table."""
    return LABELS.get(variant.label, variant.label)


def mean_over(
    column: Column,
    variant: Variant,
    datasets: tuple[str, ...],
    results: Results,
    selection: Selection,
) -> Cell:
    """The mean over datasets of the mean over seeds; only where every dataset has a row."""
    cells = [column.cell(results, variant.runs(dataset, CLEAN, selection)) for dataset in datasets]
    means = [cell.mean for cell in cells]
    if any(math.isnan(mean) for mean in means):
        return Cell(missing=NOT_RUN)
    return Cell((float(np.mean(means)),), digits=column.digits)


def _means(datasets: tuple[str, ...], results: Results, selection: Selection) -> ResultTable:
    shown = (RANKING, PRECISION, EVENTS, TRAINING)
    rows = [
        (
            label_of(variant),
            tuple(mean_over(column, variant, datasets, results, selection) for column in shown),
        )
        for variant in VARIANTS
    ]
    titles = ", ".join(dataset_title(dataset, results, selection.quick) for dataset in datasets)
    return ResultTable(
        f"{Leaderboard.name}-all",
        f"{Leaderboard.title}, mean over {titles} ({CLEAN} protocol)",
        "detector",
        tuple(column.heading for column in shown),
        _ordered(rows),
    )


def _table(dataset: str, results: Results, selection: Selection) -> ResultTable:
    rows = [
        (
            label_of(variant),
            (
                *(
                    column.cell(results, variant.runs(dataset, CLEAN, selection))
                    for column in COLUMNS
                ),
                published_cell(variant, dataset, results, selection),
            ),
        )
        for variant in VARIANTS
    ]
    return ResultTable(
        f"{Leaderboard.name}-{dataset}",
        f"{dataset_title(dataset, results, selection.quick)}: {Leaderboard.title.lower()}",
        "detector",
        (*(column.heading for column in COLUMNS), POINT_ADJUSTED.heading),
        _ordered(rows),
        (_random_words(dataset, results, selection),),
    )


def published_cell(variant: Variant, dataset: str, results: Results, selection: Selection) -> Cell:
    """The favourite metric of the field, and what the paper printed."""
    table = "table3" if dataset == SYNTHETIC else "table2"
    paper = paper_value(table, "F1", variant.label, SOURCES[dataset].title)
    if PUBLISHED not in variant.protocols:
        return Cell(paper=paper)
    cell = POINT_ADJUSTED.cell(results, variant.runs(dataset, PUBLISHED, selection))
    return Cell(cell.values, paper, cell.missing, cell.digits)


def _ordered(rows: list[tuple[str, tuple[Cell, ...]]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """The highest first column first; rows without one last."""
    return tuple(
        sorted(rows, key=lambda row: -math.inf if math.isnan(row[1][0].mean) else row[1][0].mean,
               reverse=True)
    )  # fmt: skip


def _random_words(dataset: str, results: Results, selection: Selection) -> str:
    cell = published_cell(RANDOM, dataset, results, selection)
    if math.isnan(cell.mean):
        return ""
    return f"A random score has a point-adjusted F1 of {cell.mean:.1f}: read that column beside it."


TABLE = Leaderboard()
