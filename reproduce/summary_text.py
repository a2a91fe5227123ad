"""The text at the top of the results page: the paper's claim, our numbers, a conclusion.

Every number comes from the rows of results or from ``published.toml``, and every sentence is
chosen by the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reproduce.benchmarks import SOURCES
from reproduce.comparison import (
    ADJUSTED,
    CLEAN_CONTROLS,
    RANDOM,
    SUB_PCA,
    UNTRAINED,
    Cell,
    ResultTable,
    Variant,
    cell_of,
    dataset_title,
    paper_value,
)
from reproduce.plan import PAPER, SYNTHETIC
from reproduce.render import markdown
from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED
from reproduce.tables.main_results import (
    ANOMALY_TRANSFORMER,
    CONTAMINATED,
    DEFAULT,
    FOUR_VIEWS,
    OURS,
    WITH_NETWORK,
)

SEEDS = range(3)
# points of F1 within which a number counts as reached
CLOSE = 1.0
# standard deviations that a difference must exceed to count
DEVIATIONS = 2
FIXED = "fixed_point_adjusted_f1"
CONTROLS = len(CLEAN_CONTROLS)
CLEAN_METRICS = {"average_precision": "average precision", "vus_pr_tsb_ad": "VUS-PR"}


class SummaryText:
    """Tables and sentences that summarise the rows of results."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.datasets = tuple(
            name for name in PAPER if self.cell(OURS, name, PUBLISHED, ADJUSTED).values
        )

    def cell(self, variant: Variant, dataset: str, protocol: str, metric: str) -> Cell:
        """Values over the seeds, in percent."""
        runs = (variant.run(dataset, protocol, seed, quick=False) for seed in SEEDS)
        return cell_of(runs, self.results, metric, missing="")

    def text(self) -> str:
        """The whole text, as Markdown."""
        if not self.datasets:
            return "Nothing was run yet.\n"
        paragraphs = [
            "## In one minute", self.claim(), markdown(self.published_table()),
            self.published_words(), *(markdown(self.clean_table(name)) for name in CLEAN_METRICS),
            self.clean_words(), self.worth(),
        ]  # fmt: skip
        return "\n\n".join(paragraph.strip() for paragraph in paragraphs) + "\n"

    def claim(self) -> str:
        """What the paper reports, and how such a number is made."""
        claimed = _listed(f"{paper_f1(name):.1f} on {_paper_title(name)}" for name in self.datasets)
        tries = self.results.value(OURS.run(self.datasets[0], PUBLISHED, 0, quick=False), "tries")
        return (
            f"The paper reports point-adjusted F1 of {claimed}. Such a number counts a whole "
            "anomalous segment as found when one of its rows is, and picks the threshold, and here "
            f"the best of {tries:.0f} pairs of block and temperature too, on the labels of the "
            "test set. We made it the same way (protocol `published`), and beside it what a user "
            "would get, without labels (protocol `clean`). Mean ± standard deviation over "
            f"{len(SEEDS)} seeds, in percent; a number without ± is of one seed."
        )

    def published_table(self) -> ResultTable:
        """The paper's numbers, ours, and those of scores without training."""
        paper = tuple(Cell((paper_f1(name),)) for name in self.datasets)
        rows = [("the paper", paper)]
        for label, variant, metric in (
            ("this code", OURS, ADJUSTED),
            ("this code, released block 200 and T = 50", OURS, FIXED),
            ("Anomaly Transformer, this code", ANOMALY_TRANSFORMER, ADJUSTED),
            ("the network, never trained", UNTRAINED, ADJUSTED),
            ("random numbers", RANDOM, ADJUSTED),
        ):
            rows.append((label, self._row(variant, PUBLISHED, metric)))
        return self._table("summary-published", "Point-adjusted F1, `published`", rows)

    def clean_table(self, metric: str) -> ResultTable:
        """The default, the paper's network and the controls."""
        variants = (DEFAULT, WITH_NETWORK, Variant("the paper's network, trained"), *CLEAN_CONTROLS)
        rows = [(variant.label, self._row(variant, CLEAN, metric)) for variant in variants]
        name = f"summary-clean-{metric.replace('_', '-')}"
        return self._table(name, f"{_sentence(CLEAN_METRICS[metric])}, `clean`", rows)

    def published_words(self) -> str:
        """How near we came to the paper, and how near scores without training come."""
        short = {
            name: paper_f1(name) - self.mean(OURS, name, PUBLISHED, ADJUSTED)
            for name in self.datasets
        }
        near = [name for name in self.datasets if short[name] <= CLOSE]
        far = [
            f"{self.title(name)} by {short[name]:.1f}"
            for name in self.datasets
            if short[name] > CLOSE
        ]
        sentences = []
        if near:
            sentences.append(
                f"The paper's number is reached to within {CLOSE:.0f} point on "
                f"{_listed(map(self.title, near))}."
            )
        if far:
            sentences.append(f"It is missed on {_listed(far)} points.")
        for variant, words in (
            (UNTRAINED, "A network that was never trained"),
            (RANDOM, "A random score, which has seen no data,"),
        ):
            sentences.append(self._against_trained(variant, words))
        contaminated = self.cell(CONTAMINATED, SYNTHETIC, PUBLISHED, ADJUSTED)
        if contaminated.values:
            sentences.append(
                f"Nobody has published the training series of {SOURCES[SYNTHETIC].title}; trained "
                f"on one with anomalies, the network gets {contaminated.mean:.1f} there."
            )
        return " ".join(filter(None, sentences))

    def _against_trained(self, variant: Variant, words: str) -> str:
        """Compare a score without training with the trained network."""
        gap = {
            name: self.mean(variant, name, PUBLISHED, ADJUSTED)
            - self.mean(OURS, name, PUBLISHED, ADJUSTED)
            for name in self.datasets
        }
        ahead = [f"{self.title(n)} (by {gap[n]:.1f})" for n in self.datasets if gap[n] > 0]
        behind = [f"{-gap[n]:.1f} on {self.title(n)}" for n in self.datasets if gap[n] <= 0]
        clauses = []
        if ahead:
            clauses.append(f"is ahead of the trained one on {_listed(ahead)}")
        if behind:
            clauses.append(f"is behind by {_listed(behind)}")
        return f"{words} {' and '.join(clauses)}." if clauses else ""

    def clean_words(self) -> str:
        """On which datasets the trained network ranks rows better than three controls."""
        lines = [
            (
                f"Where a difference of more than {DEVIATIONS} times both standard deviations "
                "together counts, the trained network is"
            ),
            "",
        ]
        for rival, name in (
            (UNTRAINED, "its untrained self"), (SUB_PCA, "Sub-PCA"), (RANDOM, "random numbers")
        ):  # fmt: skip
            outcomes = {metric: self._outcome(rival, metric) for metric in CLEAN_METRICS}
            if len(set(outcomes.values())) == 1:
                lines.append(f"- beside {name}: {next(iter(outcomes.values()))};")
            else:
                phrases = (
                    f"{outcomes[metric]} by {words}" for metric, words in CLEAN_METRICS.items()
                )
                lines.append(f"- beside {name}: {'; '.join(phrases)};")
        return "\n".join(lines).removesuffix(";") + "."

    def worth(self) -> str:
        """The conclusion: on which datasets the paper's network beats the controls."""
        metric = "average_precision"
        best = [name for name in self.datasets if self._beats_controls(OURS, name, metric)]
        close = [
            name
            for name in self.datasets
            if max(self.mean(control, name, PUBLISHED, ADJUSTED) for control in (UNTRAINED, RANDOM))
            >= self.mean(OURS, name, PUBLISHED, ADJUSTED) - 2 * CLOSE
        ]
        text = "**What the method is worth.** "
        if close:
            text += (
                "The published metric hardly sets it apart: on "
                f"{_listed(map(self.title, close))} a score without training comes "
                f"within {2 * CLOSE:.0f} points of it, or is ahead. "
            )
        if best:
            text += (
                f"By average precision it is better than all {CONTROLS} controls on "
                f"{_listed(map(self.title, best))}"
                f" ({len(best)} of {len(self.datasets)} datasets)."
            )
        else:
            text += (
                f"By average precision it is better than all {CONTROLS} controls on none of the "
                f"{len(self.datasets)} datasets: on each, one that is untrained, linear or random "
                "ranks rows as well, or better."
            )
        return text + self._default()

    def _default(self) -> str:
        """On which datasets the default beats the controls, and what to know of its numbers."""
        first = next(iter(CLEAN_METRICS))
        scored = [name for name in self.datasets if self.cell(DEFAULT, name, CLEAN, first).values]
        if not scored:
            return ""
        listed = _listed(
            f"{self._best_of(scored, metric)} by {words}" for metric, words in CLEAN_METRICS.items()
        )
        return (
            "\n\nBeyond the paper: `SubAdjacentDetector()` expects each value from its "
            "sub-adjacent neighbours by ridge regression, and measures what is left over against "
            "training rows that the model had not seen; besides, it looks for states and shapes "
            "never seen in training ([method](method.md)). It works without any label in "
            "fitting, scoring or thresholds; its form was chosen on these sets "
            "(`reproduce/log.md`), so that only other data can tell what it is worth. Its score "
            "looks ahead, where the others smooth backwards. "
            f"It is better than all {CONTROLS} controls on {listed}.{self._network_change(scored)}"
        )

    def _network_change(self, datasets: Sequence[str]) -> str:
        """What the small network adds to four views, in points of average precision."""
        metric = "average_precision"
        changes = [
            self.mean(WITH_NETWORK, name, CLEAN, metric)
            - self.mean(FOUR_VIEWS, name, CLEAN, metric)
            for name in datasets
            if self.cell(WITH_NETWORK, name, CLEAN, metric).values
            and self.cell(FOUR_VIEWS, name, CLEAN, metric).values
        ]
        if not changes:
            return ""
        return (
            " A small network beside the four views that expect values changes average "
            "precision by "
            f"{min(changes):+.1f} to {max(changes):+.1f} points."
        )

    def _best_of(self, datasets: Sequence[str], metric: str) -> str:
        """Where the default is better than every control."""
        best = [
            self.title(name) for name in datasets if self._beats_controls(DEFAULT, name, metric)
        ]
        return f"{_listed(best) if best else 'none'} ({len(best)} of {len(datasets)} datasets)"

    def mean(self, variant: Variant, dataset: str, protocol: str, metric: str) -> float:
        """Mean over the seeds, in percent."""
        return self.cell(variant, dataset, protocol, metric).mean

    def title(self, dataset: str) -> str:
        """Title of a dataset, as in the tables."""
        return dataset_title(dataset, self.results)

    def _outcome(self, rival: Variant, metric: str) -> str:
        titles: dict[str, list[str]] = {"better": [], "worse": [], "no different": []}
        words = {1: "better", -1: "worse", 0: "no different"}
        for name in self.datasets:
            titles[words[self._compare(OURS, rival, name, metric)]].append(self.title(name))
        return _listed(f"{verb} on {_listed(sets)}" for verb, sets in titles.items() if sets)

    def _beats_controls(self, variant: Variant, dataset: str, metric: str) -> bool:
        return all(
            self._compare(variant, control, dataset, metric) > 0 for control in CLEAN_CONTROLS
        )

    def _compare(self, variant: Variant, rival: Variant, dataset: str, metric: str) -> int:
        """1 when the first is better, -1 when it is worse, 0 when they are even."""
        ours, theirs = (self.cell(row, dataset, CLEAN, metric) for row in (variant, rival))
        # a single seed has no spread; its difference counts as it is
        noise = DEVIATIONS * sum(cell.spread for cell in (ours, theirs) if len(cell.values) > 1)
        difference = ours.mean - theirs.mean
        return (difference > noise) - (difference < -noise)

    def _row(self, variant: Variant, protocol: str, metric: str) -> tuple[Cell, ...]:
        return tuple(self.cell(variant, name, protocol, metric) for name in self.datasets)

    def _table(
        self, name: str, title: str, rows: Sequence[tuple[str, tuple[Cell, ...]]]
    ) -> ResultTable:
        return ResultTable(name, title, "", tuple(map(self.title, self.datasets)), tuple(rows))


def paper_f1(dataset: str) -> float:
    """The paper's main result on a dataset."""
    table = "table3" if dataset == SYNTHETIC else "table2"
    number = paper_value(table, "F1", OURS.label, SOURCES[dataset].title)
    assert number is not None
    return number


def _paper_title(dataset: str) -> str:
    source = SOURCES[dataset]
    # which entities it was measured on matters where others may have fewer
    machines = f" ({source.entities} machines)" if dataset == "smd" else ""
    return f"{source.title}{machines}"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
