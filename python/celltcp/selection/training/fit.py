"""Growth of a tree from the measured outcomes of each congestion control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut

from celltcp.scenarios.requirements import OWN
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.slot_measures import Parts
from celltcp.selection.training.cost_tree import Node, grow_tree, leaf_of, leaves_of
from celltcp.selection.training.counterfactual import PARTS, Outcomes

Matrix = NDArray[np.float64]
Names = NDArray[np.str_]

#: Standard errors by which another must be better than that over the moments of a leaf, to be named.
_SURE = 2.0

#: Networks of a family in a leaf from which on it counts by itself.
_ENOUGH = 4

#: Weights of A, B and C per requirement; goodput counts what was delivered over what could have been,
#: and requirements with a measure of their own have it, over that of the best, in place of A.
WEIGHTS: dict[str, tuple[float, float, float]] = {
    "goodput": (1.0, 0.0, 0.0),
    "balanced": (1.0, 1.0, 1.0),
    "delay": (1.0, 10.0, 1.0),
    **dict.fromkeys(OWN, (1.0, 0.0, 0.0)),
}

#: Shares of a fair share below which a flow starves beside others, and above which it takes too much.
FLOORS = {
    **dict.fromkeys(("goodput", "balanced", "goodput@", "power"), 0.5),
    **dict.fromkeys(("delay", "delay@"), 0.2),
}
_CEILING = 1.5


@dataclass(frozen=True)
class FittedTree:
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

    def with_margin(self, margin: float) -> FittedTree:
        """Returns this tree with another margin."""
        return replace(self, margin=margin)


def constant_tree(requirement: str, cca: str, paths: Outcomes) -> FittedTree:
    """Returns a tree for the start that always takes this congestion control.

    It expects what whole runs with this congestion control had on these paths.
    """
    names = list(paths.parts[0])
    parts = _parts(paths, requirement, names).mean(axis=0)[names.index(cca)]
    expected = {cca: [round(float(part), 4) for part in parts]}
    leaf: dict[str, object] = {"cases": len(paths.points), "take": [cca], "parts": expected}
    return FittedTree(requirement, "start", [leaf], {}, {})


def score_of(parts: Parts, requirement: str, fair_share: float = 1.0) -> float:
    """Returns the requirement's measure of an outcome.

    Beside other flows it is lowered by as much as the flow has less than the floor or more than the
    ceiling of a fair share, since PM leaves out what others took.
    """
    a, b, c, use = parts[:4]
    if requirement in OWN:
        measure = parts[PARTS.index(requirement)]
    else:
        first = use if requirement == "goodput" else a
        measure = float(np.array([first, b, c]) @ _shares(requirement))
    if fair_share >= 1.0:
        return measure
    share = max(use / fair_share, 1e-9)
    return measure * min(1.0, share / FLOORS[requirement]) * min(1.0, _CEILING / share)


def scores(result: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """Returns the requirement's measure per moment (rows) and congestion control (columns)."""
    fair = {point.network: point.network.fair_share for point in result.points}
    return np.array(
        [
            [score_of(each[cca], requirement, fair[point.network]) for cca in ccas]
            for point, each in zip(result.points, result.parts, strict=True)
        ]
    )


def _shares(requirement: str) -> Matrix:
    weights = np.array(WEIGHTS[requirement])
    return np.asarray(weights / weights.sum())


def _parts(result: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """A, B and C; for goodput, A is the share of the capacity over the whole horizon.

    For a requirement with a measure of its own, A is that measure over that of the best.
    """
    first = 3 if requirement == "goodput" else 0
    parts = np.array(
        [[[each[cca][first], each[cca][1], each[cca][2]] for cca in ccas] for each in result.parts]
    )
    if requirement in OWN:
        parts[:, :, 0] = relative_to_best(scores(result, requirement, ccas))
    return parts


def fit_tree(
    result: Outcomes,
    requirement: str,
    moment: str,
    ccas: Sequence[str],
    features: Sequence[str],
    *,
    leaves: int,
    least: int,
    home: str | None = DEFAULT,
) -> FittedTree:
    """Returns the tree for a requirement and moment.

    Measures are taken over the best of each moment. Splits part moments so that the best CCA on each
    side is worth most, and not by how well all do. Cross-validation leaves out one family of networks
    at a time.

    Args:
        result: outcomes of the moments.
        requirement: goodput, balanced, delay, or one of `celltcp.scenarios.requirements.OWN`.
        moment: start or flight, which the outcomes are of.
        ccas: congestion controls to choose from.
        features: names of the features that it may ask for.
        leaves: most leaves that it may have.
        least: fewest moments in a leaf.
        home: CCA that is kept unless another one is surely better; with None each leaf takes its best.
    """
    # A feature that is unknown is missing, which scikit-learn takes as NaN.
    seen = np.array([[each.get(name, np.nan) for name in features] for each in result.features])
    measured = relative_to_best(scores(result, requirement, ccas))
    families = np.array([point.network.family for point in result.points])
    networks = np.array([f"{point.network.family} {point.network.number}" for point in result.points])
    home_place = list(ccas).index(home) if home is not None and home in ccas else None
    harmless = list(ccas).index(DEFAULT) if DEFAULT in ccas else None

    def grown(rows: NDArray[np.int64]) -> tuple[Node, dict[int, int]]:
        """Returns the tree of these moments, and the number of the CCA that each leaf takes."""
        tree = grow_tree(seen[rows], measured[rows], home_place, leaves, least)
        chosen = {}
        for leaf in leaves_of(tree):
            leaf.rows = rows[leaf.rows]
            chosen[id(leaf)] = _best(
                measured[leaf.rows], networks[leaf.rows], families[leaf.rows], home_place, harmless
            )
        return tree, chosen

    regret, of_one = {}, {}
    for train, test in LeaveOneGroupOut().split(seen, groups=families):
        tree, choice = grown(train)
        family = str(families[test][0])
        took = [choice[id(leaf_of(tree, seen[row]))] for row in test]
        regret[family] = float(1 - measured[test, took].mean())
        one = int(np.argmax(measured[train].mean(axis=0)))
        of_one[family] = float(1 - measured[test][:, one].mean())
    tree, choice = grown(np.arange(len(seen)))
    _join_alike(tree, choice)
    nodes = _nodes(tree, choice, _parts(result, requirement, ccas), ccas, features)
    return FittedTree(requirement, moment, nodes, regret, of_one)


def relative_to_best(measured: Matrix, none: float = 1.0) -> Matrix:
    """Divides each row by its maximum; rows of zeros become `none`."""
    best = measured.max(axis=1, keepdims=True)
    return np.asarray(np.where(best > 0, measured / np.maximum(best, 1e-12), none))


def _best(
    measured: Matrix, networks: Names, families: Names, home: int | None, harmless: int | None
) -> int:
    """Returns the number of the CCA to take in a leaf: the best of those surely better than `home`.

    Over the networks of the leaf it must be better, and in no family with enough of them worse than
    `harmless`. If that holds for none, it is `home`, or `harmless` where `home` does harm.
    """
    means = np.array([measured[networks == each].mean(axis=0) for each in np.unique(networks)])
    kinds = np.array([families[networks == each][0] for each in np.unique(networks)])
    if home is None:
        return int(np.argmax(means.mean(axis=0)))
    safe = np.ones(measured.shape[1], dtype=bool)
    if harmless is not None:
        for family in np.unique(kinds):
            own = means[kinds == family]
            if len(own) >= _ENOUGH:
                safe &= _mean_over_error(own - own[:, [harmless]]) > -_SURE
    better = safe & (_mean_over_error(means - means[:, [home]]) > _SURE)
    if not safe[home]:
        better |= safe
    better[home] = safe[home]
    return int(np.argmax(np.where(better, means.mean(axis=0), -np.inf)))


def _mean_over_error(values: Matrix) -> Matrix:
    """Mean of each column over its standard error; without spread, infinite or zero by the sign."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return np.zeros_like(mean)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(error > 0, mean / error, np.sign(mean) * np.inf))


def _join_alike(node: Node, choice: dict[int, int]) -> None:
    """Makes one leaf of each split whose sides take the same CCA."""
    if node.below is None or node.above is None:
        return
    _join_alike(node.below, choice)
    _join_alike(node.above, choice)
    sides = (node.below, node.above)
    took = {choice.get(id(side)) for side in sides}
    if all(side.split is None for side in sides) and len(took) == 1:
        node.rows = np.concatenate([side.rows for side in sides])
        choice[id(node)] = choice[id(node.below)]
        node.split = node.below = node.above = None


def _nodes(
    tree: Node,
    choice: Mapping[int, int],
    parts: Matrix,
    ccas: Sequence[str],
    features: Sequence[str],
) -> list[dict[str, object]]:
    """Returns the nodes as policy files have them: children after their parents."""
    nodes: list[dict[str, object]] = []
    unknown: list[tuple[int, str]] = []
    waiting: list[tuple[Node, int | None, str]] = [(tree, None, "")]
    while waiting:
        node, parent, side = waiting.pop(0)
        number = len(nodes)
        if parent is not None:
            nodes[parent][side] = number
        if node.split is None or node.below is None or node.above is None:
            means = {
                cca: [round(float(part), 4) for part in parts[node.rows, column].mean(axis=0)]
                for column, cca in enumerate(ccas)
            }
            nodes.append({"cases": len(node.rows), "take": [ccas[choice[id(node)]]], "parts": means})
            continue
        split = node.split
        nodes.append({"feature": features[split.feature], "threshold": split.threshold})
        waiting += [(node.below, number, "below"), (node.above, number, "from")]
        # A way for unknown values is learnt only where the training has met some.
        if split.met_unknown:
            unknown.append((number, "below" if split.unknown_below else "from"))
    for number, side in unknown:
        nodes[number]["unknown"] = nodes[number][side]
    return nodes
