"""kNN models: weights of features in the distance, fitted per requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from celltcp._core import available_threads
from celltcp.selection.training.counterfactual import Outcomes
from celltcp.selection.training.fit import Matrix, Names, feature_matrix, relative_to_best, scores

#: Number of nearest points whose outcomes are averaged.
NEIGHBOURS = 30
#: Minimum age of a connection at a decision, s. Points are sampled from 2 s on, but a switch needs two
#: equal decisions in a row.
AFTER_S = 1.0
#: Candidates for `KnnModel.sure`.
GAIN_ERRORS = (1.0, 2.0)
#: Weight of the prior CCA, relative to the mean weight of a feature.
_PRIOR_CCA_WEIGHT = 0.6
#: Minimum share of all weights that a feature needs.
_MIN_WEIGHT = 0.01
#: Distance in rank that is added if one of two points has an unknown feature, as in the selector. The
#: unknown feature has the middle rank.
_MISSING_DISTANCE = 64 / 255
#: Share of the points of held-out families whose neighbours are within the reach.
_REACH_QUANTILE = 0.9


@dataclass(frozen=True)
class KnnModel:
    """Feature weights of the kNN distance for a requirement, and the cross-validated regret."""

    requirement: str
    #: Weight of each feature in the distance, and of the prior CCA under the name `before`.
    weights: Mapping[str, float]
    #: Maximum distance with full confidence.
    reach: float
    #: Mean regret by family, relative to the best choice at each point, of a model fitted without that
    #: family.
    regret: dict[str, float]
    #: The same of the fixed CCA that is best over the other families.
    fixed_cca_regret: dict[str, float]
    #: Minimum expected gain of a switch.
    margin: float = 0.0
    #: Number of standard errors by which the gain must exceed 0.
    sure: float = GAIN_ERRORS[0]
    moment: str = "flight"


def fit_knn(
    outcomes: Outcomes, requirement: str, ccas: Sequence[str], features: Sequence[str], seed: int
) -> KnnModel:
    """Fits the kNN distance of a requirement.

    The weight of a feature is its importance to a random forest that predicts the measure of each CCA.
    Cross-validation leaves out one family of networks at a time.

    Args:
        outcomes: outcomes of the points.
        requirement: goodput, balanced, delay, or one of `requirements.OTHER_MEASURES`.
        ccas: congestion controls to choose from.
        features: names of the features that may have a weight.
        seed: seed of the forest.
    """
    # Its import takes longer than a dry run.
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.neighbors import KNeighborsRegressor

    values = feature_matrix(outcomes, features)
    measured = relative_to_best(scores(outcomes, requirement, ccas))
    families = np.array([point.network.family for point in outcomes.points])
    prior_ccas = np.array([point.prior_cca for point in outcomes.points])
    forest = RandomForestRegressor(
        50, min_samples_leaf=5, max_features=0.5, random_state=seed, n_jobs=available_threads()
    ).fit(values, measured)
    importances = forest.feature_importances_
    if not importances.any():
        # With too few points, all known features get the same weight.
        importances = (~np.isnan(values)).any(axis=0).astype(float)
        importances /= importances.sum()
    columns = np.flatnonzero(importances >= _MIN_WEIGHT)
    weights = importances[columns] / importances[columns].sum()
    prior_cca_weight = _PRIOR_CCA_WEIGHT * float(weights.mean())
    embedded = _embed(values[:, columns], prior_ccas, weights, prior_cca_weight)
    regret, fixed_cca_regret, distances = {}, {}, []
    for train, test in LeaveOneGroupOut().split(embedded, groups=families):
        knn = KNeighborsRegressor(
            min(NEIGHBOURS, len(train)), weights=_kernel_weights, metric="manhattan", algorithm="brute"
        ).fit(embedded[train], measured[train])
        choices = knn.predict(embedded[test]).argmax(axis=1)
        family = str(families[test][0])
        regret[family] = float(1 - measured[test, choices].mean())
        fixed = int(np.argmax(measured[train].mean(axis=0)))
        fixed_cca_regret[family] = float(1 - measured[test][:, fixed].mean())
        distances.append(knn.kneighbors(embedded[test])[0].mean(axis=1))
    order = np.argsort(-weights, kind="stable")
    weight_by_name = {features[columns[index]]: round(float(weights[index]), 4) for index in order}
    reach = float(np.quantile(np.concatenate(distances), _REACH_QUANTILE)) / (1.0 + prior_cca_weight)
    return KnnModel(
        requirement,
        {**weight_by_name, "before": round(prior_cca_weight, 4)},
        float(f"{reach:.3g}"),
        regret,
        fixed_cca_regret,
    )


def _embed(values: Matrix, prior_ccas: Names, weights: Matrix, prior_cca_weight: float) -> Matrix:
    """Returns coordinates of points whose Manhattan distances are those of the selector.

    An unknown feature has the middle rank, and an extra distance to all points that know it.
    """
    from sklearn.preprocessing import QuantileTransformer

    is_unknown = np.isnan(values)
    quantiles = min(256, len(values))
    ranks = QuantileTransformer(n_quantiles=quantiles, subsample=None).fit_transform(values)
    one_hot_ccas = prior_ccas[:, None] == np.unique(prior_ccas)[None, :]
    return np.hstack(
        [
            np.where(is_unknown, 0.5, ranks) * weights,
            is_unknown * _MISSING_DISTANCE * weights,
            one_hot_ccas * prior_cca_weight / 2,
        ]
    )


def _kernel_weights(distances: Matrix) -> Matrix:
    """Returns the weights of neighbours, which fall to almost 0 at the farthest one."""
    farthest = distances.max(axis=1, keepdims=True)
    return np.asarray(1.0 - distances / np.maximum(farthest, 1e-12) + 1e-3)
