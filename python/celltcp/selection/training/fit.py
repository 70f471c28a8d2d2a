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

#: The congestion control of a system that nobody has changed; leaving it has to be worth it.
DEFAULT_CCA = "cubic"

#: Standard errors by which another must be better than that over the moments of a leaf, to be named.
_SURE = 2.0

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
        known = _known(tree, seen[train], measured[train], ccas)
        chosen = [known[int(leaf)] for leaf in tree.apply(seen[test])]
        got = measured[test][np.arange(len(test)), chosen]
        regret[family] = float(1 - got.sum() / best.sum())
        one = int(np.argmax(measured[train].mean(axis=0)))
        of_one[family] = float(1 - measured[test][:, one].sum() / best.sum())
    tree = _fit(seen, measured, leaves, least)
    parts = _parts(found, requirement, ccas)
    nodes = _nodes(tree, seen, parts, _better(tree, seen, measured, ccas), ccas, features)
    return Grown(requirement, nodes, regret, of_one)


def _fit(seen: Matrix, measured: Matrix, leaves: int, least: int) -> DecisionTreeRegressor:
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=least, random_state=0)
    centred = measured - measured.mean(axis=1, keepdims=True)
    tree.fit(seen, centred)
    return tree


def _better(
    tree: DecisionTreeRegressor, seen: Matrix, measured: Matrix, ccas: Sequence[str]
) -> dict[int, NDArray[np.bool_]]:
    """Per leaf, who is surely better there than the default, which is itself among them."""
    leaves = tree.apply(seen)
    if DEFAULT_CCA not in ccas:
        return {int(leaf): np.ones(len(ccas), dtype=bool) for leaf in np.unique(leaves)}
    default = list(ccas).index(DEFAULT_CCA)
    found = {}
    for leaf in np.unique(leaves):
        mine = measured[leaves == leaf]
        gain = mine - mine[:, [default]]
        error = gain.std(axis=0, ddof=1) / np.sqrt(len(mine)) if len(mine) > 1 else np.inf
        sure = gain.mean(axis=0) > _SURE * error
        sure[default] = True
        found[int(leaf)] = sure
    return found


def _known(
    tree: DecisionTreeRegressor, seen: Matrix, measured: Matrix, ccas: Sequence[str]
) -> dict[int, int]:
    """Per leaf, the number of the congestion control that the policy takes there."""
    leaves = tree.apply(seen)
    better = _better(tree, seen, measured, ccas)
    means = {int(leaf): measured[leaves == leaf].mean(axis=0) for leaf in np.unique(leaves)}
    return {leaf: int(np.argmax(np.where(better[leaf], means[leaf], -np.inf))) for leaf in means}


def _nodes(
    tree: DecisionTreeRegressor,
    seen: Matrix,
    parts: Matrix,
    better: Mapping[int, NDArray[np.bool_]],
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
                if better[number][column]
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
