"""The first page of the results: what the paper claims, what we got, what it is worth.

Numbers come from the rows and from ``published.toml``; a sentence that depends on a number is
chosen by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from subadjacent.data.benchmarks import SOURCES
from subadjacent.experiments.asked import PAPER, SYNTHETIC
from subadjacent.experiments.comparison import (
    ADJUSTED,
    CLEAN_CONTROLS,
    RANDOM,
    SUB_PCA,
    UNTRAINED,
    Variant,
    dataset_title,
)
from subadjacent.experiments.grid import PERCENT, Cell, Grid, paper_value
from subadjacent.experiments.render import markdown
from subadjacent.experiments.results import Results
from subadjacent.experiments.run import CLEAN, PUBLISHED
from subadjacent.experiments.tables.table2 import ANOMALY_TRANSFORMER, BAND_RIDGE, DEFAULT, OURS
from subadjacent.experiments.tables.table3 import CONTAMINATED

SEEDS = range(3)
# points of F1 that make no difference worth a word
CLOSE = 1.0
# standard deviations that a difference must exceed to count
DEVIATIONS = 2
FIXED = "fixed_point_adjusted_f1"
CLEAN_MEASURES = {"average_precision": "average precision", "vus_pr_tsb_ad": "VUS-PR"}


class Opening:
    """The rows behind the first page, and the sentences they lead to."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.datasets = tuple(
            name for name in PAPER if self.cell(OURS, name, PUBLISHED, ADJUSTED).values
        )

    def cell(self, variant: Variant, dataset: str, protocol: str, metric: str) -> Cell:
        """Values over the seeds, in percent."""
        runs = (variant.run(dataset, protocol, seed, quick=False) for seed in SEEDS)
        found = (self.results.value(run, metric) for run in runs)
        return Cell(tuple(PERCENT * value for value in found if value is not None))

    def text(self) -> str:
        """The page."""
        if not self.datasets:
            return "Nothing was run yet.\n"
        parts = [
            "## In one minute", self.claim(), markdown(self.published_grid()),
            self.published_words(), *(markdown(self.clean_grid(name)) for name in CLEAN_MEASURES),
            self.clean_words(), self.worth(),
        ]  # fmt: skip
        return "\n\n".join(part.strip() for part in parts) + "\n"

    def claim(self) -> str:
        """What the paper says, and how such a number is made."""
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

    def published_grid(self) -> Grid:
        """The paper's numbers, ours, and those of scores that have learned nothing."""
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
        return self._grid("opening-published", "Point-adjusted F1, `published`", rows)

    def clean_grid(self, metric: str) -> Grid:
        """The network among the controls."""
        variants = (DEFAULT, BAND_RIDGE, Variant("the paper's network, trained"), *CLEAN_CONTROLS)
        rows = [(one.label, self._row(one, CLEAN, metric)) for one in variants]
        name = f"opening-clean-{metric.replace('_', '-')}"
        return self._grid(name, f"{_sentence(CLEAN_MEASURES[metric])}, `clean`", rows)

    def published_words(self) -> str:
        """How near we came, and who else comes near."""
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
            sentences.append(self._rival(variant, words))
        learned = self.cell(CONTAMINATED, SYNTHETIC, PUBLISHED, ADJUSTED)
        if learned.values:
            sentences.append(
                f"Nobody has published the training series of {SOURCES[SYNTHETIC].title}; trained "
                f"on one with anomalies, the network gets {learned.mean:.1f} there."
            )
        return " ".join(filter(None, sentences))

    def _rival(self, variant: Variant, words: str) -> str:
        """How a score that learned nothing fares against the trained network."""
        gap = {
            name: self.mean(variant, name, PUBLISHED, ADJUSTED)
            - self.mean(OURS, name, PUBLISHED, ADJUSTED)
            for name in self.datasets
        }
        ahead = [f"{self.title(n)} (by {gap[n]:.1f})" for n in self.datasets if gap[n] > 0]
        behind = [f"{-gap[n]:.1f} on {self.title(n)}" for n in self.datasets if gap[n] <= 0]
        parts = []
        if ahead:
            parts.append(f"is ahead of the trained one on {_listed(ahead)}")
        if behind:
            parts.append(f"is behind by {_listed(behind)}")
        return f"{words} {' and '.join(parts)}." if parts else ""

    def clean_words(self) -> str:
        """Where training helps the ranking, and where a linear method is as good."""
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
            found = {metric: self._verdict(rival, metric) for metric in CLEAN_MEASURES}
            if len(set(found.values())) == 1:
                lines.append(f"- beside {name}: {next(iter(found.values()))};")
            else:
                each = (f"{found[one]} by {words}" for one, words in CLEAN_MEASURES.items())
                lines.append(f"- beside {name}: {'; '.join(each)};")
        return "\n".join(lines).removesuffix(";") + "."

    def worth(self) -> str:
        """What the numbers come to, in plain words."""
        metric = "average_precision"
        best = [
            name
            for name in self.datasets
            if all(self._compare(OURS, one, name, metric) > 0 for one in CLEAN_CONTROLS)
        ]
        close = [
            name
            for name in self.datasets
            if max(self.mean(one, name, PUBLISHED, ADJUSTED) for one in (UNTRAINED, RANDOM))
            >= self.mean(OURS, name, PUBLISHED, ADJUSTED) - 2 * CLOSE
        ]
        text = "**What the method is worth.** "
        if close:
            text += (
                "The published metric hardly sets it apart: on "
                f"{_listed(map(self.title, close))} something that has learned nothing comes "
                f"within {2 * CLOSE:.0f} points of it, or is ahead. "
            )
        if best:
            text += (
                "On plain average precision it is better than all five controls on "
                f"{_listed(map(self.title, best))}"
                f" ({len(best)} of {len(self.datasets)} datasets)."
            )
        else:
            text += (
                f"On plain average precision it is better than all five controls on none of the "
                f"{len(self.datasets)} datasets: on each, one that is untrained, linear or random "
                "ranks rows as well, or better."
            )
        return text + self._default()

    def _default(self) -> str:
        """What became of the idea in our hands, and what to think of its numbers."""
        first = next(iter(CLEAN_MEASURES))
        there = [name for name in self.datasets if self.cell(DEFAULT, name, CLEAN, first).values]
        if not there:
            return ""
        each = _listed(
            f"{self._best_of(there, metric)} by {words}" for metric, words in CLEAN_MEASURES.items()
        )
        return (
            "\n\nBeyond the paper: the default of `SubAdjacentDetector` enforces its idea by ridge "
            "regression, adds the network as one view among others, and scores in units of what is "
            f"usual ([method](method.md)). It is better than all five controls on {each}. Two "
            "things to know: its score looks ahead, where the others smooth backwards; and its "
            "form was chosen on these very sets ([log](log.md)), so that only other data can tell "
            "what it is worth."
        )

    def _best_of(self, datasets: Sequence[str], metric: str) -> str:
        """Where the default is better than every control."""
        best = [
            self.title(name)
            for name in datasets
            if all(self._compare(DEFAULT, one, name, metric) > 0 for one in CLEAN_CONTROLS)
        ]
        return f"{_listed(best) if best else 'none'} ({len(best)} of {len(datasets)} datasets)"

    def mean(self, variant: Variant, dataset: str, protocol: str, metric: str) -> float:
        """Over the seeds."""
        return self.cell(variant, dataset, protocol, metric).mean

    def title(self, dataset: str) -> str:
        """As in the tables."""
        return dataset_title(dataset, self.results)

    def _verdict(self, rival: Variant, metric: str) -> str:
        found: dict[str, list[str]] = {"better": [], "worse": [], "no different": []}
        words = {1: "better", -1: "worse", 0: "no different"}
        for name in self.datasets:
            found[words[self._compare(OURS, rival, name, metric)]].append(self.title(name))
        return _listed(f"{verb} on {_listed(sets)}" for verb, sets in found.items() if sets)

    def _compare(self, one: Variant, rival: Variant, dataset: str, metric: str) -> int:
        """1 when the first is better, -1 when it is worse, 0 when they are even."""
        ours, theirs = (self.cell(each, dataset, CLEAN, metric) for each in (one, rival))
        # a single seed has no spread; its difference counts as it is
        noise = DEVIATIONS * sum(one.spread for one in (ours, theirs) if len(one.values) > 1)
        difference = ours.mean - theirs.mean
        return (difference > noise) - (difference < -noise)

    def _row(self, variant: Variant, protocol: str, metric: str) -> tuple[Cell, ...]:
        return tuple(self.cell(variant, name, protocol, metric) for name in self.datasets)

    def _grid(self, name: str, title: str, rows: Sequence[tuple[str, tuple[Cell, ...]]]) -> Grid:
        return Grid(name, title, "", tuple(map(self.title, self.datasets)), tuple(rows))


def paper_f1(dataset: str) -> float:
    """The paper's main result on a dataset."""
    table = "table3" if dataset == SYNTHETIC else "table2"
    found = paper_value(table, "F1", OURS.label, SOURCES[dataset].title)
    assert found is not None
    return found


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
