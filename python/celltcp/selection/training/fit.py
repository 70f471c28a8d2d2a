"""Fit of decision trees to the measured outcomes of each CCA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celltcp.scenarios.requirements import OTHER_MEASURES
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.slot_measures import Parts
from celltcp.selection.training.cost_tree import Node, grow_tree, leaf_of, leaves_of
from celltcp.selection.training.counterfactual import PARTS, Outcomes

Matrix = NDArray[np.float64]
Names = NDArray[np.str_]

#: Standard errors by which a CCA must be better than the baseline in a leaf to replace it.
_MIN_STANDARD_ERRORS = 2.0

#: Minimum of a family's networks in a leaf for a test of the family by itself.
_MIN_NETWORKS = 4

#: Weights of A, B and C per requirement. For goodput, A is the share of the capacity that was used.
#: For requirements with their own measure, A is that measure relative to the best CCA's.
WEIGHTS: dict[str, tuple[float, float, float]] = {
    "goodput": (1.0, 0.0, 0.0),
    "balanced": (1.0, 1.0, 1.0),
    "delay": (1.0, 10.0, 1.0),
    **dict.fromkeys(OTHER_MEASURES, (1.0, 0.0, 0.0)),
}

#: Minimum and maximum share of the capacity, relative to the fair share, without a lower score.
MIN_FAIR_SHARE = {
    **dict.fromkeys(("goodput", "balanced", "goodput@", "power"), 0.5),
    **dict.fromkeys(("delay", "delay@"), 0.2),
}
_MAX_FAIR_SHARE = 1.5


@dataclass(frozen=True)
class FittedTree:
    """A tree and its cross-validated regret."""

    requirement: str
    #: start or flight.
    moment: str
    nodes: list[dict[str, object]]
    #: Mean regret relative to the best choice at each point, by family; the tree is fitted without that
    #: family.
    regret: dict[str, float]
    #: Regret of the fixed CCA that is best on average over the other families.
    fixed_cca_regret: dict[str, float]
    #: Minimum of the expected gain of a switch.
    margin: float = 0.0

    def with_margin(self, margin: float) -> FittedTree:
        """Returns this tree with another margin."""
        return replace(self, margin=margin)


def constant_tree(requirement: str, cca: str, paths: Outcomes) -> FittedTree:
    """Returns a tree for the start that always chooses this CCA.

    Its expected values are the means of full runs with this CCA on these paths.
    """
    names = list(paths.parts[0])
    parts = _parts(paths, requirement, names).mean(axis=0)[names.index(cca)]
    expected = {cca: [round(float(part), 4) for part in parts]}
    leaf: dict[str, object] = {"cases": len(paths.points), "take": [cca], "parts": expected}
    return FittedTree(requirement, "start", [leaf], {}, {})


def score_of(parts: Parts, requirement: str, fair_share: float = 1.0) -> float:
    """Returns the requirement's measure of an outcome.

    With competing flows, a share below the minimum or above the maximum reduces it in proportion, since
    PM ignores these flows.
    """
    a, b, c, use = parts[:4]
    if requirement in OTHER_MEASURES:
        measure = parts[PARTS.index(requirement)]
    else:
        first = use if requirement == "goodput" else a
        measure = float(np.array([first, b, c]) @ _shares(requirement))
    if fair_share >= 1.0:
        return measure
    share = max(use / fair_share, 1e-9)
    return measure * min(1.0, share / MIN_FAIR_SHARE[requirement]) * min(1.0, _MAX_FAIR_SHARE / share)


def scores(outcomes: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """Returns the requirement's measure per point (rows) and CCA (columns)."""
    fair = {point.network: point.network.fair_share for point in outcomes.points}
    return np.array(
        [
            [score_of(parts[cca], requirement, fair[point.network]) for cca in ccas]
            for point, parts in zip(outcomes.points, outcomes.parts, strict=True)
        ]
    )


def _shares(requirement: str) -> Matrix:
    weights = np.array(WEIGHTS[requirement])
    return np.asarray(weights / weights.sum())


def _parts(outcomes: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """Returns A, B and C of PM; for goodput, A is the share of the capacity over the whole horizon.

    For a requirement with its own measure, A is that measure relative to the best CCA's.
    """
    first = 3 if requirement == "goodput" else 0
    parts = np.array(
        [[[part[cca][first], part[cca][1], part[cca][2]] for cca in ccas] for part in outcomes.parts]
    )
    if requirement in OTHER_MEASURES:
        parts[:, :, 0] = relative_to_best(scores(outcomes, requirement, ccas))
    return parts


def fit_tree(
    outcomes: Outcomes,
    requirement: str,
    moment: str,
    ccas: Sequence[str],
    features: Sequence[str],
    *,
    max_leaves: int,
    min_samples_leaf: int,
    baseline: str | None = DEFAULT,
) -> FittedTree:
    """Returns the tree for a requirement and moment.

    Measures are relative to the best of each point. Splits maximize the measure of the best CCA on
    each side. Cross-validation leaves out one family of networks at a time.

    Args:
        outcomes: outcomes of the points.
        requirement: goodput, balanced, delay, or one of `OTHER_MEASURES`.
        moment: moment of the outcomes, start or flight.
        ccas: congestion controls to choose from.
        features: names of the features that splits may use.
        max_leaves: maximum of leaves.
        min_samples_leaf: minimum of points in a leaf.
        baseline: CCA of a leaf unless another is significantly better; with None, the best one.
    """
    # Its import takes longer than a dry run.
    from sklearn.model_selection import LeaveOneGroupOut

    # Unknown features are NaN.
    known_features = np.array(
        [[known.get(name, np.nan) for name in features] for known in outcomes.features]
    )
    measured = relative_to_best(scores(outcomes, requirement, ccas))
    families = np.array([point.network.family for point in outcomes.points])
    networks = np.array([f"{point.network.family} {point.network.number}" for point in outcomes.points])
    baseline_column = list(ccas).index(baseline) if baseline is not None and baseline in ccas else None
    default = list(ccas).index(DEFAULT) if DEFAULT in ccas else None

    def grow(rows: NDArray[np.int64]) -> tuple[Node, dict[int, int]]:
        """Returns the tree of these points, and the column of each leaf's CCA."""
        tree = grow_tree(
            known_features[rows], measured[rows], baseline_column, max_leaves, min_samples_leaf
        )
        chosen = {}
        for leaf in leaves_of(tree):
            leaf.rows = rows[leaf.rows]
            chosen[id(leaf)] = _best(
                measured[leaf.rows], networks[leaf.rows], families[leaf.rows], baseline_column, default
            )
        return tree, chosen

    regret, regret_of_single = {}, {}
    for train, test in LeaveOneGroupOut().split(known_features, groups=families):
        tree, choice = grow(train)
        family = str(families[test][0])
        choices = [choice[id(leaf_of(tree, known_features[row]))] for row in test]
        regret[family] = float(1 - measured[test, choices].mean())
        single = int(np.argmax(measured[train].mean(axis=0)))
        regret_of_single[family] = float(1 - measured[test][:, single].mean())
    tree, choice = grow(np.arange(len(known_features)))
    _join_alike(tree, choice)
    nodes = _nodes(tree, choice, _parts(outcomes, requirement, ccas), ccas, features)
    return FittedTree(requirement, moment, nodes, regret, regret_of_single)


def relative_to_best(measured: Matrix, none: float = 1.0) -> Matrix:
    """Divides each row by its maximum; rows of zeros become `none`."""
    best = measured.max(axis=1, keepdims=True)
    return np.asarray(np.where(best > 0, measured / np.maximum(best, 1e-12), none))


def _best(
    measured: Matrix, networks: Names, families: Names, baseline: int | None, default: int | None
) -> int:
    """Returns the column of a leaf's CCA: the best of those significantly better than `baseline`.

    It must be better over the leaf's networks, and in no family with enough networks be worse than
    `default`. Without such a CCA it is `baseline`, if that is no worse than `default` in any family.
    """
    means = np.array([measured[networks == each].mean(axis=0) for each in np.unique(networks)])
    family_of_network = np.array([families[networks == each][0] for each in np.unique(networks)])
    if baseline is None:
        return int(np.argmax(means.mean(axis=0)))
    is_safe = np.ones(measured.shape[1], dtype=bool)
    if default is not None:
        for family in np.unique(family_of_network):
            in_family = means[family_of_network == family]
            if len(in_family) >= _MIN_NETWORKS:
                is_safe &= _mean_over_error(in_family - in_family[:, [default]]) > -_MIN_STANDARD_ERRORS
    is_better = is_safe & (_mean_over_error(means - means[:, [baseline]]) > _MIN_STANDARD_ERRORS)
    if not is_safe[baseline]:
        is_better |= is_safe
    is_better[baseline] = is_safe[baseline]
    return int(np.argmax(np.where(is_better, means.mean(axis=0), -np.inf)))


def _mean_over_error(values: Matrix) -> Matrix:
    """Mean of each column over its standard error; without spread, infinite or zero by the sign."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return np.zeros_like(mean)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(error > 0, mean / error, np.sign(mean) * np.inf))


def _join_alike(node: Node, choice: dict[int, int]) -> None:
    """Merges the leaves of each split whose sides have the same CCA."""
    if node.below is None or node.above is None:
        return
    _join_alike(node.below, choice)
    _join_alike(node.above, choice)
    sides = (node.below, node.above)
    choices = {choice.get(id(side)) for side in sides}
    if all(side.split is None for side in sides) and len(choices) == 1:
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
    """Returns the nodes in the order of policy files: children after their parents."""
    nodes: list[dict[str, object]] = []
    unknown: list[tuple[int, str]] = []
    queue: list[tuple[Node, int | None, str]] = [(tree, None, "")]
    while queue:
        node, parent, side = queue.pop(0)
        index = len(nodes)
        if parent is not None:
            nodes[parent][side] = index
        if node.split is None or node.below is None or node.above is None:
            means = {
                cca: [round(float(part), 4) for part in parts[node.rows, column].mean(axis=0)]
                for column, cca in enumerate(ccas)
            }
            nodes.append({"cases": len(node.rows), "take": [ccas[choice[id(node)]]], "parts": means})
            continue
        split = node.split
        nodes.append({"feature": features[split.feature], "threshold": split.threshold})
        queue += [(node.below, index, "below"), (node.above, index, "from")]
        # A branch for unknown values is written only if the training data had some.
        if split.met_unknown:
            unknown.append((index, "below" if split.unknown_below else "from"))
    for index, side in unknown:
        nodes[index]["unknown"] = nodes[index][side]
    return nodes
