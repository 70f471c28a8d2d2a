"""Cost-sensitive tree: splits by the worth of the best choice on each side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass
class Split:
    """Split of the moments of a node: below a threshold, or from it on.

    `unknown_below` places unknown values.
    """

    feature: int
    threshold: float
    unknown_below: bool
    #: Whether the node had moments at which the feature was unknown.
    met_unknown: bool
    #: By how much the sum of the best means grows.
    gain: float

    def is_below(self, seen: Matrix) -> NDArray[np.bool_]:
        """Returns which rows go below."""
        values = seen[:, self.feature]
        unknown = np.isnan(values)
        return np.where(unknown, self.unknown_below, values < self.threshold)


@dataclass
class Node:
    """Node of a tree: the rows of the training that reach it, and its split unless it is a leaf."""

    rows: Rows
    split: Split | None = None
    below: Node | None = None
    above: Node | None = None


def grow_tree(seen: Matrix, measured: Matrix, home: int | None, leaves: int, least: int) -> Node:
    """Returns a tree that is grown where a split is worth most, up to so many leaves.

    A side of a split is worth the measure of its best choice. So a split after which both sides choose
    the same is worth nothing, other than in a regression tree.

    Args:
        seen: features per moment (rows); NaN is unknown.
        measured: measures per moment and choice.
        home: choice that is worth a little more than it was measured, against splits by chance.
        leaves: most leaves.
        least: fewest moments of a leaf.
    """
    worth = measured.copy()
    if home is not None:
        worth[:, home] += _STAY
    root = Node(np.arange(len(seen)))
    open_leaves = [(root, _best_split(seen, worth, root.rows, least))]
    count = 1
    while count < leaves:
        place = max(range(len(open_leaves)), key=lambda at: _gain(open_leaves[at][1]))
        node, split = open_leaves[place]
        if split is None or split.gain <= _LEAST_GAIN:
            break
        is_below = split.is_below(seen[node.rows])
        node.split = split
        node.below, node.above = Node(node.rows[is_below]), Node(node.rows[~is_below])
        open_leaves[place : place + 1] = [
            (each, _best_split(seen, worth, each.rows, least)) for each in (node.below, node.above)
        ]
        count += 1
    return root


#: Worth of staying with the home CCA, in parts of the best measure, and least gain of a split.
_STAY = 0.005
_LEAST_GAIN = 1e-9


def _gain(split: Split | None) -> float:
    return split.gain if split else -np.inf


def _best_split(seen: Matrix, worth: Matrix, rows: Rows, least: int) -> Split | None:
    """Returns the split of these rows with the highest gain; None where they are too few."""
    if len(rows) < 2 * least:
        return None
    mine = worth[rows]
    total = mine.sum(axis=0)
    result: Split | None = None
    for feature in range(seen.shape[1]):
        values = seen[rows, feature]
        unknown = np.isnan(values)
        known = np.flatnonzero(~unknown)
        order = known[np.argsort(values[known], kind="stable")]
        missing, nowhere = mine[unknown].sum(axis=0), np.zeros_like(total)
        sums = np.vstack([nowhere, np.cumsum(mine[order], axis=0)])
        ordered = values[order]
        places = np.arange(len(order) + 1)
        # A threshold lies between different values; beyond the last one it parts known from unknown.
        between = np.ones(len(order) + 1, dtype=bool)
        between[1:-1] = ordered[1:] > ordered[:-1]
        between[0] = False
        for unknown_below in (False, True) if unknown.any() else (False,):
            below = sums + (missing if unknown_below else nowhere)
            sizes = places + (int(unknown.sum()) if unknown_below else 0)
            fits = between & (sizes >= least) & (len(rows) - sizes >= least)
            if not fits.any():
                continue
            gains = below.max(axis=1) + (total - below).max(axis=1) - total.max()
            gains = np.where(fits, gains, -np.inf)
            at = int(np.argmax(gains))
            if result is None or gains[at] > result.gain + 1e-12:
                threshold = 1e300 if at == len(order) else float((ordered[at - 1] + ordered[at]) / 2)
                result = Split(feature, threshold, unknown_below, bool(unknown.any()), float(gains[at]))
    return result


def leaf_of(node: Node, values: Matrix) -> Node:
    """Returns the leaf that a row of features reaches."""
    while node.split is not None and node.below is not None and node.above is not None:
        node = node.below if bool(node.split.is_below(values[None, :])[0]) else node.above
    return node


def leaves_of(node: Node) -> list[Node]:
    """Returns the leaves, those below first."""
    if node.below is None or node.above is None:
        return [node]
    return leaves_of(node.below) + leaves_of(node.above)
