"""Fit of decision trees to the measured outcomes of CCAs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celltcp.scenarios.requirements import OTHER_MEASURES
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.slot_measures import Parts
from celltcp.selection.training.cost_tree import Node, grow_tree, leaf_of, leaves_of
from celltcp.selection.training.counterfactual import PARTS, Outcomes

Matrix = NDArray[np.float64]
Names = NDArray[np.str_]

#: Number of standard errors by which a CCA must be better than the baseline to replace it in a leaf.
_MIN_STANDARD_ERRORS = 2.0

#: Minimum number of a family's networks in a leaf for a separate test of the family.
_MIN_NETWORKS = 4

#: Weights of A, B and C per requirement. For goodput, A is the capacity use. For requirements in
#: `OTHER_MEASURES`, A is their measure relative to that of the best CCA.
WEIGHTS: dict[str, tuple[float, float, float]] = {
    "goodput": (1.0, 0.0, 0.0),
    "balanced": (1.0, 1.0, 1.0),
    "delay": (1.0, 10.0, 1.0),
    **dict.fromkeys(OTHER_MEASURES, (1.0, 0.0, 0.0)),
}

#: Minimum capacity use, relative to the fair share, that does not reduce the score.
MIN_FAIR_SHARE = {
    **dict.fromkeys(("goodput", "balanced", "goodput@", "power"), 0.5),
    **dict.fromkeys(("delay", "delay@"), 0.2),
}
#: Maximum capacity use, relative to the fair share, that does not reduce the score.
_MAX_FAIR_SHARE = 1.5


@dataclass(frozen=True)
class FittedTree:
    """A tree and its cross-validated regret."""

    requirement: str
    #: `start` or `flight`.
    moment: str
    #: Nodes as in policy files.
    nodes: list[dict[str, object]]
    #: Mean regret by family, relative to the best choice at each point, of a tree fitted without that
    #: family.
    regret: dict[str, float]
    #: The same of the fixed CCA that is best over the other families.
    fixed_cca_regret: dict[str, float]
    #: Minimum expected gain of a switch.
    margin: float = 0.0


def constant_tree(requirement: str, cca: str, full_runs: Outcomes) -> FittedTree:
    """Returns a tree for the start that always chooses this CCA.

    Its expected values are the means over full runs with this CCA.
    """
    ccas = list(full_runs.parts[0])
    parts = _parts(full_runs, requirement, ccas).mean(axis=0)[ccas.index(cca)]
    expected = {cca: [round(float(part), 4) for part in parts]}
    leaf: dict[str, object] = {"cases": len(full_runs.points), "take": [cca], "parts": expected}
    return FittedTree(requirement, "start", [leaf], {}, {})


def score_of(parts: Parts, requirement: str, fair_share: float = 1.0) -> float:
    """Returns the requirement's measure of an outcome.

    With competing flows, a capacity use far from the fair share reduces it in proportion, because PM
    ignores these flows.
    """
    a, b, c, use = parts[:4]
    if requirement in OTHER_MEASURES:
        measure = parts[PARTS.index(requirement)]
    else:
        weights = np.array(WEIGHTS[requirement])
        values = np.array([use if requirement == "goodput" else a, b, c])
        measure = float(values @ (weights / weights.sum()))
    if fair_share >= 1.0:
        return measure
    share = max(use / fair_share, 1e-9)
    return measure * min(1.0, share / MIN_FAIR_SHARE[requirement]) * min(1.0, _MAX_FAIR_SHARE / share)


def scores(outcomes: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """Returns the requirement's measure per point (rows) and CCA (columns)."""
    fair_shares = {point.network: point.network.fair_share for point in outcomes.points}
    return np.array(
        [
            [score_of(parts[cca], requirement, fair_shares[point.network]) for cca in ccas]
            for point, parts in zip(outcomes.points, outcomes.parts, strict=True)
        ]
    )


def feature_matrix(outcomes: Outcomes, names: Sequence[str]) -> Matrix:
    """Returns the features per point (rows) and name (columns); NaN if unknown."""
    return np.array([[point.get(name, np.nan) for name in names] for point in outcomes.features])


def _parts(outcomes: Outcomes, requirement: str, ccas: Sequence[str]) -> Matrix:
    """Returns A, B and C, as `WEIGHTS` describes them, per point, CCA and part."""
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

    Measures are relative to the best of each point. Splits maximise the measure of the best CCA on
    each side. Cross-validation leaves out one family of networks at a time.

    Args:
        outcomes: outcomes of the points.
        requirement: goodput, balanced, delay, or one of `OTHER_MEASURES`.
        moment: moment of the outcomes, `start` or `flight`.
        ccas: congestion controls to choose from.
        features: names of the features that splits may use.
        max_leaves: maximum number of leaves.
        min_samples_leaf: minimum number of points in a leaf.
        baseline: CCA of a leaf unless another is significantly better; None for the best one.
    """
    # Its import takes longer than a dry run.
    from sklearn.model_selection import LeaveOneGroupOut

    values = feature_matrix(outcomes, features)
    measured = relative_to_best(scores(outcomes, requirement, ccas))
    families = np.array([point.network.family for point in outcomes.points])
    networks = np.array([f"{point.network.family} {point.network.number}" for point in outcomes.points])
    baseline_column = list(ccas).index(baseline) if baseline is not None and baseline in ccas else None
    default = list(ccas).index(DEFAULT) if DEFAULT in ccas else None

    def grow(rows: NDArray[np.int64]) -> tuple[Node, dict[int, int]]:
        """Returns the tree of these points, and the column of each leaf's CCA by the leaf's id."""
        tree = grow_tree(values[rows], measured[rows], baseline_column, max_leaves, min_samples_leaf)
        choices = {}
        for leaf in leaves_of(tree):
            leaf.rows = rows[leaf.rows]
            choices[id(leaf)] = _best_column(
                measured[leaf.rows], networks[leaf.rows], families[leaf.rows], baseline_column, default
            )
        return tree, choices

    regret, fixed_cca_regret = {}, {}
    for train, test in LeaveOneGroupOut().split(values, groups=families):
        tree, choices = grow(train)
        family = str(families[test][0])
        columns = [choices[id(leaf_of(tree, values[row]))] for row in test]
        regret[family] = float(1 - measured[test, columns].mean())
        fixed = int(np.argmax(measured[train].mean(axis=0)))
        fixed_cca_regret[family] = float(1 - measured[test][:, fixed].mean())
    tree, choices = grow(np.arange(len(values)))
    _merge_leaves(tree, choices)
    nodes = _nodes(tree, choices, _parts(outcomes, requirement, ccas), ccas, features)
    return FittedTree(requirement, moment, nodes, regret, fixed_cca_regret)


def relative_to_best(measured: Matrix, none: float = 1.0) -> Matrix:
    """Divides each row by its maximum; rows of zeros become `none`."""
    best = measured.max(axis=1, keepdims=True)
    return np.asarray(np.where(best > 0, measured / np.maximum(best, 1e-12), none))


def _best_column(
    measured: Matrix, networks: Names, families: Names, baseline: int | None, default: int | None
) -> int:
    """Returns the column of a leaf's CCA: the best of those significantly better than `baseline`.

    It must not be significantly worse than `default` in a family with enough networks (safe). If there
    is none, it is `baseline`, or the best safe CCA if `baseline` is not safe.
    """
    unique_networks = np.unique(networks)
    means = np.array([measured[networks == network].mean(axis=0) for network in unique_networks])
    if baseline is None:
        return int(np.argmax(means.mean(axis=0)))
    network_families = np.array([families[networks == network][0] for network in unique_networks])
    is_safe = np.ones(measured.shape[1], dtype=bool)
    if default is not None:
        for family in np.unique(network_families):
            family_means = means[network_families == family]
            if len(family_means) >= _MIN_NETWORKS:
                gains = family_means - family_means[:, [default]]
                is_safe &= _t_statistic(gains) > -_MIN_STANDARD_ERRORS
    is_better = is_safe & (_t_statistic(means - means[:, [baseline]]) > _MIN_STANDARD_ERRORS)
    if not is_safe[baseline]:
        is_better |= is_safe
    is_better[baseline] = is_safe[baseline]
    return int(np.argmax(np.where(is_better, means.mean(axis=0), -np.inf)))


def _t_statistic(values: Matrix) -> Matrix:
    """Returns the mean of each column over its standard error; infinite or zero without variance."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return np.zeros_like(mean)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(error > 0, mean / error, np.sign(mean) * np.inf))


def _merge_leaves(node: Node, choices: dict[int, int]) -> None:
    """Merges the leaves of each split whose sides have the same CCA."""
    if node.below is None or node.above is None:
        return
    _merge_leaves(node.below, choices)
    _merge_leaves(node.above, choices)
    sides = (node.below, node.above)
    side_choices = {choices.get(id(side)) for side in sides}
    if all(side.split is None for side in sides) and len(side_choices) == 1:
        node.rows = np.concatenate([side.rows for side in sides])
        choices[id(node)] = choices[id(node.below)]
        node.split = node.below = node.above = None


def _nodes(
    tree: Node,
    choices: Mapping[int, int],
    parts: Matrix,
    ccas: Sequence[str],
    features: Sequence[str],
) -> list[dict[str, object]]:
    """Returns the nodes as in policy files, in which children follow their parents."""
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
            nodes.append({"cases": len(node.rows), "take": [ccas[choices[id(node)]]], "parts": means})
            continue
        split = node.split
        nodes.append({"feature": features[split.feature], "threshold": split.threshold})
        queue += [(node.below, index, "below"), (node.above, index, "from")]
        if split.has_unknown:
            unknown.append((index, "below" if split.unknown_below else "from"))
    for index, side in unknown:
        nodes[index]["unknown"] = nodes[index][side]
    return nodes
