"""kNN examples of a policy file: a table of points and their outcomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from celltcp.scenarios.requirements import OTHER_MEASURES
from celltcp.selection.training.counterfactual import PARTS, Outcomes
from celltcp.selection.training.fit import Matrix, relative_to_best


def examples_csv(outcomes: Outcomes, ccas: Sequence[str], features: Sequence[str]) -> str:
    """Returns the table as CSV: a row per point, with features and the outcomes of CCAs in %."""
    relative = {
        part: relative_to_best(_measures(outcomes, part, ccas), none=0.0) for part in OTHER_MEASURES
    }
    header = ["family", "before", "fair_share", *features]
    header += [f"{part}:{cca}" for cca in ccas for part in PARTS]
    lines = [",".join(header)]
    rows = zip(outcomes.points, outcomes.features, outcomes.parts, strict=True)
    for index, (point, values, parts) in enumerate(rows):
        cells = [point.network.family, point.prior_cca, f"{point.network.fair_share:.4g}"]
        numbers = (values.get(name, math.nan) for name in features)
        cells += ["" if math.isnan(number) else f"{number:.4g}" for number in numbers]
        for column, cca in enumerate(ccas):
            for part, value in zip(PARTS, parts[cca], strict=True):
                share = relative[part][index, column] if part in relative else value
                cells.append(f"{100.0 * min(max(share, 0.0), 1.0):.0f}")
        lines.append(",".join(cells))
    return "\n".join(lines)


def with_bound_features(outcomes: Outcomes) -> Outcomes:
    """Returns the outcomes with the features that depend on the bound of goodput@.

    Their values are those of a selector with the requirement goodput@ and the bound of each network.
    """
    features = []
    for point, known in zip(outcomes.points, outcomes.features, strict=True):
        requirement = point.network.requirement("goodput@")
        bound_ms = float(requirement.removeprefix("goodput@").removesuffix("ms"))
        extended = dict(known)
        if (base_ms := known.get("base_rtt")) is not None:
            extended["base_over_bound"] = base_ms / bound_ms
            if (high := known.get("high_queue")) is not None:
                extended["high_over_bound"] = (1.0 + high) * base_ms / bound_ms
            if "loss_queue" in known and "bdp" in known:
                full = 1.0 + known["loss_queue"] / max(known["bdp"], 1.0)
                extended["full_over_bound"] = full * base_ms / bound_ms
        features.append(extended)
    return replace(outcomes, features=features)


def _measures(outcomes: Outcomes, part: str, ccas: Sequence[str]) -> Matrix:
    index = PARTS.index(part)
    return np.array([[parts[cca][index] for cca in ccas] for parts in outcomes.parts])
