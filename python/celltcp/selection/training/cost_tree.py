"""Cost-sensitive decision tree: splits maximise the measures of the best choice on each side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass
class Split:
    """Split of the points of a node: below a threshold, or at least the threshold."""

    #: Column of the feature.
    feature: int
    threshold: float
    #: Whether points with an unknown feature are below.
    unknown_below: bool
    #: Whether the node has points with an unknown feature.
    has_unknown: bool
    #: Increase of the sum of the best choices' measures.
    gain: float

    def is_below(self, features: Matrix) -> NDArray[np.bool_]:
        """Returns whether each row is below the threshold."""
        values = features[:, self.feature]
        return np.where(np.isnan(values), self.unknown_below, values < self.threshold)


@dataclass
class Node:
    """Node of a tree: the training points (rows) that reach it, and its split unless it is a leaf."""

    rows: Rows
    split: Split | None = None
    below: Node | None = None
    above: Node | None = None


def grow_tree(
    features: Matrix, measured: Matrix, baseline: int | None, max_leaves: int, min_samples_leaf: int
) -> Node:
    """Returns a tree, grown best-first up to `max_leaves`.

    The score of a side is the measure of its best choice. Unlike in a regression tree, a split whose
    sides have the same best choice has no gain.

    Args:
        features: features per point (rows); NaN is unknown.
        measured: measures per point (rows) and choice (columns).
        baseline: choice with a small bonus to its measure, against splits by chance.
        max_leaves: maximum number of leaves.
        min_samples_leaf: minimum number of points in a leaf.
    """
    scores = measured.copy()
    if baseline is not None:
        scores[:, baseline] += _BASELINE_BONUS
    root = Node(np.arange(len(features)))
    leaves = [(root, _best_split(features, scores, root.rows, min_samples_leaf))]
    while len(leaves) < max_leaves:
        index = max(range(len(leaves)), key=lambda index: _gain(leaves[index][1]))
        node, split = leaves[index]
        if split is None or split.gain <= _MIN_GAIN:
            break
        is_below = split.is_below(features[node.rows])
        node.split = split
        node.below, node.above = Node(node.rows[is_below]), Node(node.rows[~is_below])
        leaves[index : index + 1] = [
            (child, _best_split(features, scores, child.rows, min_samples_leaf))
            for child in (node.below, node.above)
        ]
    return root


#: Bonus of the baseline relative to the best measure, and minimum gain of a split.
_BASELINE_BONUS = 0.005
_MIN_GAIN = 1e-9


def _gain(split: Split | None) -> float:
    return split.gain if split else -np.inf


def _best_split(features: Matrix, scores: Matrix, rows: Rows, min_samples_leaf: int) -> Split | None:
    """Returns the split of these points with the highest gain; None if they are too few."""
    if len(rows) < 2 * min_samples_leaf:
        return None
    selected = scores[rows]
    total = selected.sum(axis=0)
    result: Split | None = None
    for feature in range(features.shape[1]):
        values = features[rows, feature]
        is_unknown = np.isnan(values)
        known = np.flatnonzero(~is_unknown)
        order = known[np.argsort(values[known], kind="stable")]
        ordered = values[order]
        # Sums of scores, and numbers of points, below the threshold before each ordered value.
        known_sums = np.vstack([np.zeros_like(total), np.cumsum(selected[order], axis=0)])
        known_counts = np.arange(len(order) + 1)
        # A threshold is between different values. The last one separates known from unknown values.
        is_threshold = np.ones(len(order) + 1, dtype=bool)
        is_threshold[1:-1] = ordered[1:] > ordered[:-1]
        is_threshold[0] = False
        for unknown_below in (False, True) if is_unknown.any() else (False,):
            below, counts = known_sums, known_counts
            if unknown_below:
                below, counts = below + selected[is_unknown].sum(axis=0), counts + is_unknown.sum()
            is_allowed = is_threshold & (counts >= min_samples_leaf)
            is_allowed &= len(rows) - counts >= min_samples_leaf
            if not is_allowed.any():
                continue
            gains = below.max(axis=1) + (total - below).max(axis=1) - total.max()
            gains = np.where(is_allowed, gains, -np.inf)
            best = int(np.argmax(gains))
            if result is None or gains[best] > result.gain + 1e-12:
                is_last = best == len(order)
                threshold = 1e300 if is_last else float((ordered[best - 1] + ordered[best]) / 2)
                has_unknown = bool(is_unknown.any())
                result = Split(feature, threshold, unknown_below, has_unknown, float(gains[best]))
    return result


def leaf_of(node: Node, values: Matrix) -> Node:
    """Returns the leaf that a row of features reaches."""
    while node.split is not None and node.below is not None and node.above is not None:
        node = node.below if bool(node.split.is_below(values[None, :])[0]) else node.above
    return node


def leaves_of(node: Node) -> list[Node]:
    """Returns the leaves from left to right."""
    if node.below is None or node.above is None:
        return [node]
    return leaves_of(node.below) + leaves_of(node.above)
