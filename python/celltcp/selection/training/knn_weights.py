"""kNN models: feature weights per requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from celltcp._core import available_threads
from celltcp.selection.training.counterfactual import Outcomes
from celltcp.selection.training.fit import Matrix, Names, relative_to_best, scores

#: Number of nearest points whose outcomes are averaged.
NEIGHBOURS = 30
#: Minimum age of a connection for a switch, s. Points are sampled from 2 s on, but a switch needs two
#: equal decisions in a row.
AFTER_S = 1.0
#: Candidate numbers of standard errors by which the gain of a switch must exceed 0.
GAIN_ERRORS = (1.0, 2.0)
#: Weight of the prior CCA, relative to the mean weight of a feature.
_PRIOR_CCA_WEIGHT = 0.6
#: Minimum share of all weights that a feature needs.
_MIN_WEIGHT = 0.01
#: Distance in rank added where only one of two points knows a feature, as in the selector. The unknown
#: one has the middle rank.
_MISSING_DISTANCE = 64 / 255
#: Share of points of a family left out whose neighbours are within the reach.
_REACH_QUANTILE = 0.9


@dataclass(frozen=True)
class KnnModel:
    """Feature weights of the kNN distance for a requirement, and the cross-validated regret."""

    requirement: str
    #: Weight of each feature in the distance, and of the prior CCA under the name `before`.
    weights: Mapping[str, float]
    #: Largest distance with full confidence.
    reach: float
    #: Mean regret relative to the best choice at each point, by family; the model is fitted without
    #: that family.
    regret: dict[str, float]
    #: Regret of the fixed CCA that is best on average over the other families.
    fixed_cca_regret: dict[str, float]
    #: Minimum expected gain of a switch, and standard errors by which the gain must exceed 0.
    margin: float = 0.0
    sure: float = GAIN_ERRORS[0]
    moment: str = "flight"

    def with_margin(self, margin: float) -> KnnModel:
        """Returns this model with another margin."""
        return replace(self, margin=margin)

    def gain_variants(self) -> list[KnnModel]:
        """Returns this model with each number of `GAIN_ERRORS`."""
        return [replace(self, sure=sure) for sure in GAIN_ERRORS]


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
        seed: of the forest.
    """
    # Its import takes longer than a dry run.
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.neighbors import KNeighborsRegressor

    values = np.array([[known.get(name, np.nan) for name in features] for known in outcomes.features])
    measured = relative_to_best(scores(outcomes, requirement, ccas))
    families = np.array([point.network.family for point in outcomes.points])
    prior_ccas = np.array([point.prior_cca for point in outcomes.points])
    forest = RandomForestRegressor(
        50, min_samples_leaf=5, max_features=0.5, random_state=seed, n_jobs=available_threads()
    ).fit(values, measured)
    shares = forest.feature_importances_
    if not shares.any():
        # Too few points show no importance: all known features have the same weight.
        shares = (~np.isnan(values)).any(axis=0).astype(float)
        shares /= shares.sum()
    columns = [column for column, share in enumerate(shares) if share >= _MIN_WEIGHT]
    weights = shares[columns] / shares[columns].sum()
    prior_cca_weight = _PRIOR_CCA_WEIGHT * float(weights.mean())
    embedded = _embed(values[:, columns], prior_ccas, weights, prior_cca_weight)
    regret, fixed_cca_regret, distances = {}, {}, []
    for train, test in LeaveOneGroupOut().split(embedded, groups=families):
        near = KNeighborsRegressor(
            min(NEIGHBOURS, len(train)), weights=_kernel_weights, metric="manhattan", algorithm="brute"
        ).fit(embedded[train], measured[train])
        choices = near.predict(embedded[test]).argmax(axis=1)
        family = str(families[test][0])
        regret[family] = float(1 - measured[test, choices].mean())
        fixed = int(np.argmax(measured[train].mean(axis=0)))
        fixed_cca_regret[family] = float(1 - measured[test][:, fixed].mean())
        distances.append(near.kneighbors(embedded[test])[0].mean(axis=1))
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

    unknown = np.isnan(values)
    steps = min(256, len(values))
    ranks = QuantileTransformer(n_quantiles=steps, subsample=None).fit_transform(values)
    one_hot_ccas = prior_ccas[:, None] == np.unique(prior_ccas)[None, :]
    return np.hstack(
        [
            np.where(unknown, 0.5, ranks) * weights,
            unknown * _MISSING_DISTANCE * weights,
            one_hot_ccas * prior_cca_weight / 2,
        ]
    )


def _kernel_weights(distances: Matrix) -> Matrix:
    """Returns the weights of neighbours, which fall to almost 0 at the farthest one."""
    farthest = distances.max(axis=1, keepdims=True)
    return np.asarray(1.0 - distances / np.maximum(farthest, 1e-12) + 1e-3)
