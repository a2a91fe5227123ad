"""Random trees that cut rows off from one another: an odd row is alone after few cuts.

Shapes: T rows of a stretch, C channels, N nodes of all trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import State, require_array, require_places
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.methods.trailing import CHUNK, sample
from subadjacent.scoring.evidence import Reach

Whole = NDArray[np.int32]

# trees of a forest, and training rows of a tree, at most
MOST_TREES, MOST_SAMPLES = 10_000, 100_000
# training rows that trees draw theirs from, at most
POOL = 100_000
# of the mean depth of an unsuccessful search in a binary tree
EULER = 0.5772156649015329


@dataclass(frozen=True, slots=True, eq=False)
class Forest(Predictor):
    """Trees as arrays, one after the other; a leaf is its own child.

    The error is 2 to the power of minus the mean depth at which a row ends up alone, in units of
    what is usual for as many training rows as a tree has. A channel departs by the bits that
    cuts of it tell of the row: a cut that sends it where one in eight went tells three. Expected
    are means of training.
    """

    left: Whole  # (N,)
    right: Whole  # (N,)
    channel: Whole  # (N,), which is cut
    cut: Rows  # (N,), up to here a row goes left
    count: Whole  # (N,), training rows that came there
    roots: Whole  # one a tree
    samples: int  # training rows of each tree

    @property
    def reach(self) -> Reach:
        """The row itself."""
        return Reach(0, 0)

    def predict(self, scaled: Rows) -> Prediction:
        """How soon rows end up alone."""
        depth, departures = np.empty(len(scaled)), np.empty_like(scaled)
        for part in chunks(len(scaled), CHUNK):
            depth[part], departures[part] = self._descend(scaled[part])
        usual = float(usual_depth(np.array([self.samples]))[0])
        # one row alone tells nothing: neither odd nor usual, as scikit-learn has it
        error = 2.0 ** -(depth / usual if usual else np.ones_like(depth))
        return Prediction(np.zeros_like(scaled), error, departures)

    def _descend(self, rows: Rows) -> tuple[Rows, Rows]:
        """Mean depth of rows over all trees, and the bits that cuts of each channel tell."""
        depth, bits = np.zeros(len(rows)), np.zeros_like(rows)
        logs, beyond = np.log2(self.count), usual_depth(self.count)
        for root in self.roots:
            node, inside = np.full(len(rows), root), np.arange(len(rows))
            while len(inside):
                here = node[inside]
                channel = self.channel[here]
                goes_left = rows[inside, channel] <= self.cut[here]
                there = np.where(goes_left, self.left[here], self.right[here])
                moved = there != here
                inside, here, there = inside[moved], here[moved], there[moved]
                node[inside] = there
                depth[inside] += 1
                bits[inside, channel[moved]] += logs[here] - logs[there]
            depth += beyond[node]
        return depth / len(self.roots), bits / len(self.roots)

    def state(self) -> State:
        """All nodes."""
        return State(
            {
                "left": self.left,
                "right": self.right,
                "channel": self.channel,
                "cut": self.cut,
                "count": self.count,
                "roots": self.roots,
            },
            {"samples": self.samples},
        )


@dataclass(frozen=True, kw_only=True)
class ForestMethod(PerEntityMethod):
    """Grows an isolation forest.

    Parameters
    ----------
    trees
        How many.
    samples
        Training rows of each tree, drawn by chance.
    """

    trees: int = 100
    samples: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("trees", self.trees, least=1, most=MOST_TREES)
        require_whole("samples", self.samples, least=2, most=MOST_SAMPLES)

    def _fit_one(self, task: Task) -> Predictor:
        # here: importing it draws from Python's random numbers, and is slow
        from sklearn.ensemble import IsolationForest

        rows = sample(task, 1, POOL)
        samples = min(int(self.samples), len(rows))
        grown = IsolationForest(
            n_estimators=int(self.trees), max_samples=samples, random_state=task.seed
        ).fit(rows)
        return Forest(*_as_arrays([one.tree_ for one in grown.estimators_]), samples)

    def _restore(self, state: State, channels: int) -> Predictor:
        arrays, facts = state
        require_whole("samples", facts["samples"], least=1, most=MOST_SAMPLES)
        nodes = len(arrays["cut"])
        for name in ("left", "right", "channel", "count", "cut"):
            require_array(name, arrays[name], (nodes,))
        for name in ("left", "right", "channel", "count", "roots"):
            require_places(name, arrays[name])
        roots, places = arrays["roots"], np.arange(nodes)
        require_array("roots", roots, roots.shape[:1], least=0)
        require_array("count", arrays["count"], (nodes,), least=1)
        require_array("channel", arrays["channel"], (nodes,), least=0)
        # a child comes after its parent, or a row would go round for ever
        for name in ("left", "right"):
            if (arrays[name] < places).any() or (arrays[name] >= nodes).any():
                raise InputError(f"{name} must name nodes that come later, of {nodes}")
        if not 1 <= len(roots) <= MOST_TREES or (roots >= nodes).any():
            raise InputError(f"roots must be some of {nodes} nodes")
        if (arrays["channel"] >= channels).any():
            raise InputError(f"channel must be below {channels}")
        return Forest(
            arrays["left"],
            arrays["right"],
            arrays["channel"],
            arrays["cut"],
            arrays["count"],
            roots,
            facts["samples"],
        )


def usual_depth(count: NDArray[Any]) -> Rows:
    """Mean depth of a search that fails in a binary tree of so many: Eq. 1 of the paper."""
    known = np.maximum(count, 2).astype(np.float64)
    depth = 2 * (np.log(known - 1) + EULER) - 2 * (known - 1) / known
    return np.where(count < 2, 0.0, np.where(count == 2, 1.0, depth))


def _as_arrays(trees: list[Any]) -> tuple[Whole, Whole, Whole, Rows, Whole, Whole]:
    """Nodes of scikit-learn's trees: left, right, channel, cut, count; and where each begins."""
    sizes = [one.node_count for one in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    lefts, rights, cut_channels, cuts, counts = [], [], [], [], []
    for one, root, size in zip(trees, roots, sizes, strict=True):
        leaf, own = one.children_left < 0, np.arange(size)
        lefts.append(np.where(leaf, own, one.children_left) + root)
        rights.append(np.where(leaf, own, one.children_right) + root)
        cut_channels.append(np.where(leaf, 0, one.feature))
        cuts.append(np.where(leaf, 0.0, one.threshold))
        counts.append(one.n_node_samples)
    left, right, channel, count = (
        np.concatenate(one).astype(np.int32) for one in (lefts, rights, cut_channels, counts)
    )
    return left, right, channel, np.concatenate(cuts), count, roots.astype(np.int32)
