"""Table of measured moments in a policy file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from celltcp.scenarios.requirements import OWN
from celltcp.selection.training.counterfactual import PARTS, Outcomes
from celltcp.selection.training.fit import Matrix, relative_to_best


def examples_csv(result: Outcomes, ccas: Sequence[str], features: Sequence[str]) -> str:
    """Returns the table as CSV: a row per moment, with its features and the outcome of each CCA.

    Args:
        result: outcomes of the moments.
        ccas: congestion controls of the table.
        features: names of the features of the table.
    """
    relative = {part: relative_to_best(_measures(result, part, ccas), none=0.0) for part in OWN}
    header = ["family", "before", "fair_share", *features]
    header += [f"{part}:{cca}" for cca in ccas for part in PARTS]
    lines = [",".join(header)]
    rows = zip(result.points, result.features, result.parts, strict=True)
    for number, (point, known, parts) in enumerate(rows):
        cells = [point.network.family, point.before, f"{point.network.fair_share:.4g}"]
        cells += [_spelt(known.get(name, math.nan)) for name in features]
        for column, cca in enumerate(ccas):
            for part, value in zip(PARTS, parts[cca], strict=True):
                share = relative[part][number, column] if part in relative else value
                cells.append(f"{100.0 * min(max(share, 0.0), 1.0):.0f}")
        lines.append(",".join(cells))
    return "\n".join(lines)


def with_bounds(result: Outcomes) -> Outcomes:
    """Returns the same outcomes, whose features also have the bound of goodput@ on each network.

    A selector has one requirement, so that it knows one bound. The values are those that a selector
    with that requirement would have.
    """
    features = []
    for point, known in zip(result.points, result.features, strict=True):
        bound_ms = float(point.network.required("goodput@").removeprefix("goodput@").removesuffix("ms"))
        own = dict(known)
        if (base := known.get("base_rtt")) is not None:
            own["base_over_bound"] = base / bound_ms
            if (high := known.get("high_queue")) is not None:
                own["high_over_bound"] = (1.0 + high) * base / bound_ms
            if "loss_queue" in known and "bdp" in known:
                full = 1.0 + known["loss_queue"] / max(known["bdp"], 1.0)
                own["full_over_bound"] = full * base / bound_ms
        features.append(own)
    return replace(result, features=features)


def _measures(result: Outcomes, part: str, ccas: Sequence[str]) -> Matrix:
    place = PARTS.index(part)
    return np.array([[each[cca][place] for cca in ccas] for each in result.parts])


def _spelt(value: float) -> str:
    """Returns a number with four significant digits; nothing for one that is unknown."""
    return "" if math.isnan(value) else f"{value:.4g}"
