"""Isolation forest: random cuts separate rows from each other, and an anomalous row needs few.

Shapes: T rows of a segment, C channels, N nodes of all trees.
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

    The error is 2 to the power of minus the mean depth at which a row is isolated, relative to the
    usual depth of a tree of as many training rows. A channel's departure is the information, in
    bits, of the cuts of this channel: a cut that sends the row where one training row in eight
    went has three. The expected values are the training means.
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
        """Errors from the depths at which rows are isolated."""
        depth, departures = np.empty(len(scaled)), np.empty_like(scaled)
        for chunk in chunks(len(scaled), CHUNK):
            depth[chunk], departures[chunk] = self._descend(scaled[chunk])
        usual = float(usual_depth(np.array([self.samples]))[0])
        # a single training row tells nothing: the depth is then the usual one, as in scikit-learn
        error = 2.0 ** -(depth / usual if usual else np.ones_like(depth))
        return Prediction(np.zeros_like(scaled), error, departures)

    def _descend(self, rows: Rows) -> tuple[Rows, Rows]:
        """Mean depth of rows over all trees, and the information in bits of each channel's cuts."""
        depth, bits = np.zeros(len(rows)), np.zeros_like(rows)
        logs, beyond = np.log2(self.count), usual_depth(self.count)
        for root in self.roots:
            node, inside = np.full(len(rows), root), np.arange(len(rows))
            while len(inside):
                parent = node[inside]
                channel = self.channel[parent]
                goes_left = rows[inside, channel] <= self.cut[parent]
                child = np.where(goes_left, self.left[parent], self.right[parent])
                moved = child != parent
                inside, parent, child = inside[moved], parent[moved], child[moved]
                node[inside] = child
                depth[inside] += 1
                bits[inside, channel[moved]] += logs[parent] - logs[child]
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
        Number of trees.
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
        return Forest(*_as_arrays([estimator.tree_ for estimator in grown.estimators_]), samples)

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
    """Mean depth of an unsuccessful search in a binary tree of ``count`` rows (paper's Eq. 1)."""
    known = np.maximum(count, 2).astype(np.float64)
    depth = 2 * (np.log(known - 1) + EULER) - 2 * (known - 1) / known
    return np.where(count < 2, 0.0, np.where(count == 2, 1.0, depth))


def _as_arrays(trees: list[Any]) -> tuple[Whole, Whole, Whole, Rows, Whole, Whole]:
    """Nodes of scikit-learn's trees: left, right, channel, cut, count; and where each begins."""
    sizes = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    lefts, rights, cut_channels, cuts, counts = [], [], [], [], []
    for tree, root, size in zip(trees, roots, sizes, strict=True):
        leaf, itself = tree.children_left < 0, np.arange(size)
        lefts.append(np.where(leaf, itself, tree.children_left) + root)
        rights.append(np.where(leaf, itself, tree.children_right) + root)
        cut_channels.append(np.where(leaf, 0, tree.feature))
        cuts.append(np.where(leaf, 0.0, tree.threshold))
        counts.append(tree.n_node_samples)
    left, right, channel, count = (
        np.concatenate(values).astype(np.int32) for values in (lefts, rights, cut_channels, counts)
    )
    return left, right, channel, np.concatenate(cuts), count, roots.astype(np.int32)
