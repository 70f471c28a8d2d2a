"""kNN feature weights per requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from celltcp._core import available_threads
from celltcp.selection.training.counterfactual import Outcomes
from celltcp.selection.training.fit import Matrix, Names, relative_to_best, scores

#: Number of moments, those most alike, whose outcomes are averaged.
NEIGHBOURS = 30
#: Age of a connection from which on it is changed, s. Moments are measured from 2 s on, but wait for
#: two decisions in a row.
AFTER_S = 1.0
#: Standard errors by which the gain of a change must be above 0, which are tried.
SURE = (1.0, 2.0)
#: Weight of the CCA in use, over the mean weight of a feature.
_BEFORE = 0.6
#: Share of all weights below which a feature is left out.
_LEAST = 0.01
#: Difference in rank that counts where a feature is known on one side only, beside its distance from
#: the middle, as the selector has it.
_MISSING = 64 / 255
#: Share of moments of families left out that are alike to others.
_ALIKE = 0.9


@dataclass(frozen=True)
class KnnModel:
    """Weights by which measured moments decide for a requirement, and their regret elsewhere."""

    requirement: str
    #: Weight of each feature in the distance, and of the CCA in use, by the name `before`.
    weights: Mapping[str, float]
    #: Distance up to which moments are alike.
    reach: float
    #: Mean loss against the best choice of each moment, by family, in parts of the measure, where the
    #: moments of that family are not known.
    regret: dict[str, float]
    #: The same for the single congestion control that is best over the other families.
    regret_of_one: dict[str, float]
    #: Gain that a change must promise, and standard errors by which it must be above 0.
    margin: float = 0.0
    sure: float = SURE[0]
    moment: str = "flight"

    def with_margin(self, margin: float) -> KnnModel:
        """Returns the same with another margin."""
        return replace(self, margin=margin)

    def gain_variants(self) -> list[KnnModel]:
        """Returns the same for each number of standard errors that is tried."""
        return [replace(self, sure=sure) for sure in SURE]


def fit_knn(
    result: Outcomes, requirement: str, ccas: Sequence[str], features: Sequence[str], seed: int
) -> KnnModel:
    """Returns what makes these moments alike for a requirement.

    The weight of a feature is its importance to a random forest that predicts the measure of each CCA.
    Cross-validation leaves out one family of networks at a time.

    Args:
        result: outcomes of the moments.
        requirement: goodput, balanced, delay, or one of `celltcp.scenarios.requirements.OWN`.
        ccas: congestion controls to choose from.
        features: names of the features that may count.
        seed: of the forest.
    """
    # Its import takes longer than a dry run.
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.neighbors import KNeighborsRegressor

    seen = np.array([[each.get(name, np.nan) for name in features] for each in result.features])
    measured = relative_to_best(scores(result, requirement, ccas))
    families = np.array([point.network.family for point in result.points])
    before = np.array([point.before for point in result.points])
    forest = RandomForestRegressor(
        50, min_samples_leaf=5, max_features=0.5, random_state=seed, n_jobs=available_threads()
    ).fit(seen, measured)
    shares = forest.feature_importances_
    if not shares.any():
        # So few moments do not show which features matter: all that are known count the same.
        shares = (~np.isnan(seen)).any(axis=0).astype(float)
        shares /= shares.sum()
    chosen_places = [place for place, share in enumerate(shares) if share >= _LEAST]
    weights = shares[chosen_places] / shares[chosen_places].sum()
    of_before = _BEFORE * float(weights.mean())
    places = _places(seen[:, chosen_places], before, weights, of_before)
    regret, of_one, distances = {}, {}, []
    for train, test in LeaveOneGroupOut().split(places, groups=families):
        near = KNeighborsRegressor(
            min(NEIGHBOURS, len(train)), weights=_kernel_weights, metric="manhattan", algorithm="brute"
        ).fit(places[train], measured[train])
        took = near.predict(places[test]).argmax(axis=1)
        family = str(families[test][0])
        regret[family] = float(1 - measured[test, took].mean())
        one = int(np.argmax(measured[train].mean(axis=0)))
        of_one[family] = float(1 - measured[test][:, one].mean())
        distances.append(near.kneighbors(places[test])[0].mean(axis=1))
    order = np.argsort(-weights, kind="stable")
    named = {features[chosen_places[place]]: round(float(weights[place]), 4) for place in order}
    reach = float(np.quantile(np.concatenate(distances), _ALIKE)) / (1.0 + of_before)
    return KnnModel(
        requirement,
        {**named, "before": round(of_before, 4)},
        float(f"{reach:.3g}"),
        regret,
        of_one,
    )


def _places(seen: Matrix, before: Names, weights: Matrix, of_before: float) -> Matrix:
    """Returns places of moments whose Manhattan distances are those that the selector has.

    A feature that is unknown is in the middle, and away from all moments that know it.
    """
    from sklearn.preprocessing import QuantileTransformer

    unknown = np.isnan(seen)
    steps = min(256, len(seen))
    ranks = QuantileTransformer(n_quantiles=steps, subsample=None).fit_transform(seen)
    others = before[:, None] == np.unique(before)[None, :]
    return np.hstack(
        [
            np.where(unknown, 0.5, ranks) * weights,
            unknown * _MISSING * weights,
            others * of_before / 2,
        ]
    )


def _kernel_weights(distances: Matrix) -> Matrix:
    """Returns the weights of neighbours: they fall to almost nothing at the farthest one."""
    farthest = distances.max(axis=1, keepdims=True)
    return np.asarray(1.0 - distances / np.maximum(farthest, 1e-12) + 1e-3)
