"""Growth of a tree from the measured outcomes of each congestion control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.tree import DecisionTreeRegressor

from celltcp.selection.candidates import DEFAULT
from celltcp.selection.training.counterfactual import Outcomes

Matrix = NDArray[np.float64]
Leaves = NDArray[np.int64]
Names = NDArray[np.str_]
Flags = NDArray[np.bool_]

#: Standard errors by which another must be better than that over the moments of a leaf, to be named.
_SURE = 2.0

#: Threshold that every known value is below.
_ANY = 1e300

#: Moments of a family in a leaf from which on it counts by itself.
_ENOUGH = 8

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
    #: start or flight.
    moment: str
    nodes: list[dict[str, object]]
    #: Mean loss against the best choice of each moment, by family, in parts of the measure, of the tree
    #: that was grown without that family.
    regret: dict[str, float]
    #: The same for the single congestion control that is best over the other families.
    regret_of_one: dict[str, float]
    #: Gain that a change must promise.
    margin: float = 0.0

    def with_margin(self, margin: float) -> Grown:
        """Returns this tree with another margin."""
        return replace(self, margin=margin)


def leaf_of_one(requirement: str, cca: str) -> Grown:
    """Returns a tree for the start that always takes this congestion control."""
    leaf: dict[str, object] = {"cases": 0, "take": [cca], "parts": {cca: [0.0, 0.0, 0.0]}}
    return Grown(requirement, "start", [leaf], {}, {})


def score_of(parts: tuple[float, float, float, float], requirement: str) -> float:
    """The requirement's measure of A, B, C and the use of the capacity."""
    a, b, c, use = parts
    first = use if requirement == "goodput" else a
    return float(np.array([first, b, c]) @ _shares(requirement))


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
    moment: str,
    ccas: Sequence[str],
    features: Sequence[str],
    *,
    leaves: int,
    least: int,
) -> Grown:
    """Returns the tree for a requirement and moment.

    It predicts the measure of all congestion controls at once, each moment's mean left out, so that
    splits part moments by who does better and not by how well all do. Cross-validation leaves out one
    family of networks at a time.

    Args:
        found: outcomes of the moments.
        requirement: goodput, balanced or delay.
        moment: start or flight, which the outcomes are of.
        ccas: congestion controls to choose from.
        features: names of the features that it may ask for.
        leaves: most leaves that it may have.
        least: fewest moments in a leaf.
    """
    # A feature that is unknown is missing, which scikit-learn takes as NaN.
    seen = np.array([[each.get(name, np.nan) for name in features] for each in found.features])
    measured = scores(found, requirement, ccas)
    families = np.array([point.network.family for point in found.points])
    default = list(ccas).index(DEFAULT) if DEFAULT in ccas else None
    regret, of_one = {}, {}
    for train, test in LeaveOneGroupOut().split(seen, groups=families):
        tree = _fit(seen[train], measured[train], leaves, least)
        family = str(families[test][0])
        best = measured[test].max(axis=1)
        leaves_seen = tree.apply(seen[train])
        better = _better(leaves_seen, measured[train], families[train], default)
        taken = _taken(leaves_seen, measured[train], better)
        chosen = [taken[int(leaf)] for leaf in tree.apply(seen[test])]
        got = measured[test][np.arange(len(test)), chosen]
        regret[family] = float(1 - got.sum() / best.sum())
        one = int(np.argmax(measured[train].mean(axis=0)))
        of_one[family] = float(1 - measured[test][:, one].sum() / best.sum())
    tree = _fit(seen, measured, leaves, least)
    parts = _parts(found, requirement, ccas)
    better = _better(tree.apply(seen), measured, families, default)
    nodes = _nodes(tree, seen, parts, better, ccas, features)
    return Grown(requirement, moment, nodes, regret, of_one)


def _fit(seen: Matrix, measured: Matrix, leaves: int, least: int) -> DecisionTreeRegressor:
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=least, random_state=0)
    centred = measured - measured.mean(axis=1, keepdims=True)
    tree.fit(seen, centred)
    return tree


def _better(leaves: Leaves, measured: Matrix, families: Names, default: int | None) -> dict[int, Flags]:
    """Returns per leaf the congestion controls allowed there: the default, and those surely better.

    That is over all moments; and in no family of networks with enough of them may it be surely worse.
    """
    found = {}
    for leaf in np.unique(leaves):
        mine = leaves == leaf
        if default is None:
            found[int(leaf)] = np.ones(measured.shape[1], dtype=bool)
            continue
        gain = measured[mine] - measured[mine][:, [default]]
        better = _mean_over_error(gain) > _SURE
        for family in np.unique(families[mine]):
            own = gain[families[mine] == family]
            if len(own) >= _ENOUGH:
                better &= _mean_over_error(own) > -_SURE
        better[default] = True
        found[int(leaf)] = better
    return found


def _mean_over_error(values: Matrix) -> Matrix:
    """Mean of each column over its standard error; without spread, infinite or zero by the sign."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return np.zeros_like(mean)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(error > 0, mean / error, np.sign(mean) * np.inf))


def _taken(leaves: Leaves, measured: Matrix, better: Mapping[int, Flags]) -> dict[int, int]:
    """Returns per leaf the number of the congestion control that the policy takes there."""
    means = {leaf: measured[leaves == leaf].mean(axis=0) for leaf in better}
    return {leaf: int(np.argmax(np.where(better[leaf], means[leaf], -np.inf))) for leaf in better}


def _nodes(
    tree: DecisionTreeRegressor,
    seen: Matrix,
    parts: Matrix,
    better: Mapping[int, Flags],
    ccas: Sequence[str],
    features: Sequence[str],
) -> list[dict[str, object]]:
    """Returns the nodes as policy files have them: children after their parents."""
    inner = tree.tree_
    leaves = tree.apply(seen)
    visits = tree.decision_path(seen).tocsc()
    nodes: list[dict[str, object]] = []
    for number in range(inner.node_count):
        below, above = int(inner.children_left[number]), int(inner.children_right[number])
        if below < 0:
            mine = leaves == number
            means: Mapping[str, list[float]] = {
                cca: [round(float(part), 4) for part in parts[mine, column].mean(axis=0)]
                for column, cca in enumerate(ccas)
            }
            take = [cca for column, cca in enumerate(ccas) if better[number][column]]
            nodes.append({"cases": int(mine.sum()), "take": take, "parts": means})
        else:
            column = int(inner.feature[number])
            node: dict[str, object] = {
                "feature": features[column],
                # Trees of scikit-learn go below where a value equals the threshold, policies above.
                # A split between known and unknown values has an infinite threshold there.
                "threshold": min(float(np.nextafter(inner.threshold[number], np.inf)), _ANY),
                "below": below,
                "from": above,
            }
            # A way for unknown values is learnt only where the training has met some.
            if np.isnan(seen[visits[:, number].indices, column]).any():
                node["unknown"] = below if inner.missing_go_to_left[number] else above
            nodes.append(node)
    return nodes
