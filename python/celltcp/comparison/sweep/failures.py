"""Failures in a sweep: choices with which the application of a flow is unusable."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.applications.application import FAILURES
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.equal_shares import EqualShare
    from celltcp.comparison.sweep.best_values import FieldRanking
    from celltcp.comparison.verdicts.stakes import Stake


class Failure(NamedTuple):
    """Choices with which an application fails by a metric, such as the share of late frames."""

    flow: str
    names: list[str]
    #: The least bad of their means, as text.
    at_best: str
    #: Whether it fails with every choice.
    is_everywhere: bool


def failures_of(ranking: FieldRanking, stakes: Sequence[Stake]) -> list[Failure]:
    """Returns the failures of the flows with a stake, none for flows that work with every choice.

    Flows that compete fail where another one starves them, unless that is so with every choice.
    """
    failures = _starved(ranking)
    for stake in stakes:
        for criterion in FAILURES:
            is_own = stake.metric == criterion.metric
            values = ranking.application_values(stake.flow, criterion.metric)
            means = {name: estimate(each).mean for name, each in (values or stake.values).items()}
            names = [name for name, mean in means.items() if criterion.fails(mean)]
            if not (values or is_own) or not names or any(map(math.isnan, means.values())):
                continue
            best = max((means[name] for name in names), key=lambda mean: criterion.sign * mean)
            text = criterion.describe(best)
            failures.append(Failure(stake.flow, names, text, len(names) == len(means)))
    return list({failure.flow: failure for failure in reversed(failures)}.values())


def _starved(ranking: FieldRanking) -> list[Failure]:
    """Returns the flows that others starve with some choices, and not with all."""
    starved: dict[str, dict[str, EqualShare]] = {}
    for name in ranking.choices:
        for each in ranking.equal_shares(name):
            if each.is_starved:
                starved.setdefault(each.share.flow, {})[name] = each
    return [
        Failure(flow, [*names], f"it gets {best.starved_text}", False)
        for flow, names in starved.items()
        if len(names) < len(ranking.choices)
        for best in [max(names.values(), key=lambda each: each.got / each.asked)]
    ]
