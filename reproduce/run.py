"""One run: a detector on a dataset, under a protocol, with a seed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from subadjacent.errors import InputError

PUBLISHED, CLEAN = "published", "clean"
PROTOCOLS = (PUBLISHED, CLEAN)
# the default detector with one of its parts left out
ABLATION = "ablation"
# the better of a random score and the input's magnitude, as labels tell
HEURISTICS = "heuristics"
# detectors that are gone: their committed rows are shown, and no more are made
RETIRED = frozenset({"default-network"})
# scores of the published protocol: the error alone, smoothed by a kernel, Eq. 6, Eq. 7
SMOOTHED = "smoothed"
SCORES = ("error", SMOOTHED, "weighted", "dynamic")

Setting = int | float | str | bool


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that a row of results depends on.

    Parameters
    ----------
    dataset
        A name in ``reproduce.benchmarks.SOURCES``, or a generated kind in ``reproduce.cases``.
    detector
        A name in ``reproduce.methods.METHODS``.
    protocol
        ``"published"`` or ``"clean"``; see ``reproduce/README.md``.
    seed
        Seed of initial weights and of the order of training; of a generated kind, the one that
        draws its series as well.
    settings
        Settings that differ from those of the protocol, by name.
    score
        The score that the published protocol evaluates; ``"dynamic"`` elsewhere.
    train_share
        Share of each entity's training rows, from the first on.
    per_entity
        One model for each entity, instead of one for all.
    quick
        On a few rows, with a small network: a trial that everything works.
    """

    dataset: str
    detector: str
    protocol: str
    seed: int = 0
    settings: tuple[tuple[str, Setting], ...] = ()
    score: str = "dynamic"
    train_share: float = 1.0
    per_entity: bool = False
    quick: bool = False

    def __post_init__(self) -> None:
        for name, known in (("protocol", PROTOCOLS), ("score", SCORES)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"{name} must be one of {', '.join(known)}; got {getattr(self, name)!r}"
                )
        if not 0 < self.train_share <= 1:
            raise InputError(f"train_share must be in (0, 1]; got {self.train_share}")
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))

    @property
    def key(self) -> str:
        """Twelve hex digits that depend on every field."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    @property
    def family(self) -> tuple[Any, ...]:
        """Equal for runs that differ in dataset, seed and score alone.

        Such runs are best made one after the other by one process: they share compiled code,
        and those that differ in the score share their training. Runs with one model for each
        entity share that training only.
        """
        if self.detector == ABLATION:
            return (self.detector, self.dataset, self.seed)
        alone = (self.dataset, self.seed) if self.per_entity else ()
        return (self.detector, self.protocol, self.settings, self.train_share, *alone)

    def describe(self) -> str:
        """Short text for a line of progress."""
        words = [self.dataset, self.detector, self.protocol]
        words += [f"{name}={value}" for name, value in self.settings]
        if self.train_share < 1:
            words.append(f"{self.train_share:.0%} of train")
        if self.per_entity:
            words.append("per entity")
        return f"{' '.join(words)}, seed {self.seed}"
