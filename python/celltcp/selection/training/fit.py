"""A tree per requirement from what would have come of each congestion control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.tree import DecisionTreeRegressor

from celltcp.selection.training.counterfactual import Outcomes

Matrix = NDArray[np.float64]

#: Weights of A, B and C per requirement; goodput counts what was delivered over what could have been.
WEIGHTS: dict[str, tuple[float, float, float]] = {
    "goodput": (1.0, 0.0, 0.0),
    "balanced": (1.0, 1.0, 1.0),
    "delay": (1.0, 10.0, 1.0),
}


@dataclass(frozen=True)
class Grown:
    """A tree and how it does on families that it has not seen."""

    requirement: str
    nodes: list[dict[str, object]]
    #: Mean loss against the best choice of each moment, by family, in parts of the measure, of the tree
    #: that was grown without that family.
    regret: dict[str, float]
    #: The same for the single congestion control that is best over the other families.
    regret_of_one: dict[str, float]


def scores(found: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """The requirement's measure per moment (rows) and congestion control (columns)."""
    return _parts(found, requirement, ccas) @ _shares(requirement)


def _shares(requirement: str) -> Matrix:
    weights = np.array(WEIGHTS[requirement])
    return np.asarray(weights / weights.sum())


def _parts(found: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """A, B and C; for goodput, A is the share of the capacity over the whole horizon."""
    first = 3 if requirement == "goodput" else 0
    return np.array(
        [[[each[cca][first], each[cca][1], each[cca][2]] for cca in ccas] for each in found.parts]
    )


def grow(
    found: Outcomes,
    requirement: str,
    ccas: Sequence[str],
    features: Sequence[str],
    *,
    leaves: int,
    least: int,
) -> Grown:
    """The tree for a requirement.

    It predicts the measure of all congestion controls at once, each moment's mean left out, so that
    splits part moments by who does better and not by how well all do. Cross-validation leaves out one
    family of networks at a time.

    Args:
        found: outcomes of the moments.
        requirement: goodput, balanced or delay.
        ccas: congestion controls to choose from.
        features: names of the features that it may ask for.
        leaves: most leaves that it may have.
        least: fewest moments in a leaf.
    """
    seen = np.array([[each[name] for name in features] for each in found.features])
    measured = scores(found, requirement, ccas)
    families = np.array([point.network.family for point in found.points])
    regret, of_one = {}, {}
    for train, test in LeaveOneGroupOut().split(seen, groups=families):
        tree = _fit(seen[train], measured[train], leaves, least)
        family = str(families[test][0])
        best = measured[test].max(axis=1)
        chosen = np.argmax(_leaf_means(tree, seen[train], measured[train], seen[test]), axis=1)
        got = measured[test][np.arange(len(test)), chosen]
        regret[family] = float(1 - got.sum() / best.sum())
        one = int(np.argmax(measured[train].mean(axis=0)))
        of_one[family] = float(1 - measured[test][:, one].sum() / best.sum())
    tree = _fit(seen, measured, leaves, least)
    parts = _parts(found, requirement, ccas)
    return Grown(requirement, _nodes(tree, seen, parts, ccas, features), regret, of_one)


def _fit(seen: Matrix, measured: Matrix, leaves: int, least: int) -> DecisionTreeRegressor:
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=least, random_state=0)
    centred = measured - measured.mean(axis=1, keepdims=True)
    tree.fit(seen, centred)
    return tree


def _leaf_means(tree: DecisionTreeRegressor, seen: Matrix, measured: Matrix, asked: Matrix) -> Matrix:
    """Mean measure of each congestion control in the leaf that each of `asked` comes to."""
    leaves = tree.apply(seen)
    means = {leaf: measured[leaves == leaf].mean(axis=0) for leaf in np.unique(leaves)}
    return np.array([means[leaf] for leaf in tree.apply(asked)])


def _nodes(
    tree: DecisionTreeRegressor,
    seen: Matrix,
    parts: Matrix,
    ccas: Sequence[str],
    features: Sequence[str],
) -> list[dict[str, object]]:
    """The nodes as policy files have them: children after their parents."""
    inner = tree.tree_
    leaves = tree.apply(seen)
    nodes: list[dict[str, object]] = []
    for number in range(inner.node_count):
        below, above = int(inner.children_left[number]), int(inner.children_right[number])
        if below < 0:
            mine = leaves == number
            means: Mapping[str, list[float]] = {
                cca: [round(float(part), 4) for part in parts[mine, column].mean(axis=0)]
                for column, cca in enumerate(ccas)
            }
            nodes.append({"cases": int(mine.sum()), "parts": means})
        else:
            nodes.append(
                {
                    "feature": features[int(inner.feature[number])],
                    # Trees of scikit-learn go below where a value equals the threshold, policies above.
                    "threshold": float(np.nextafter(inner.threshold[number], np.inf)),
                    "below": below,
                    "from": above,
                }
            )
    return nodes
