"""Equal flows: those that differ by their names alone, and so by chance, have one stake together."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.metrics import best_of
from celltcp.comparison.verdicts.prices import priced
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.results.tested import FlowUnderTest

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison

#: Maximum number of flows whose names are listed.
_MAX_LISTED = 3


class JoinedStake(NamedTuple):
    """Stake of equal flows: the mean of their values in each run."""

    stake: Stake
    flows: tuple[str, ...]


def joined_stakes(comparison: Comparison) -> list[JoinedStake]:
    """Returns the ranked stakes of a comparison, with one for each group of equal flows.

    The flow under test has the compared congestion control, and is like no other one.
    """
    sections = _sections(comparison)
    groups: list[list[Stake]] = []
    for stake in comparison.ranked_stakes:
        own = sections.get(stake.flow)
        for group in groups:
            first = group[0]
            is_equal = own is not None and sections.get(first.flow) == own
            if is_equal and first.metric == stake.metric:
                group.append(stake)
                break
        else:
            groups.append([stake])
    return [
        JoinedStake(_joined(group, comparison), tuple(stake.flow for stake in group))
        for group in groups
    ]


def _sections(comparison: Comparison) -> dict[str, Mapping[str, Any]]:
    """Returns the sections of the flows in the scenario without their names, but not the first one."""
    flows = tomllib.loads(comparison.results.about["scenario"]).get("flows", [])
    return {
        str(flow["name"]): {field: value for field, value in flow.items() if field != "name"}
        for flow in flows[1:]
        if "name" in flow
    }


def _joined(group: list[Stake], comparison: Comparison) -> Stake:
    if len(group) == 1:
        return group[0]
    values = {
        cca: [
            sum(of_run) / len(group)
            for of_run in zip(*(each.values[cca] for each in group), strict=True)
        ]
        for cca in group[0].values
    }
    names = [stake.flow for stake in group]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    flow = listed if len(names) <= _MAX_LISTED else f"{names[0]} to {names[-1]}"
    verdict = best_of(group[0].metric, values, random=not comparison.decides)
    flows = [flow for flow in FlowUnderTest.each(comparison.results.about) if flow.name in names]
    verdict = priced(verdict, group[0].metric, values, comparison, flows)
    if all(stake.verdict.contradicted_by for stake in group):
        verdict = replace(verdict, contradicted_by=group[0].verdict.contradicted_by)
    return group[0]._replace(flow=flow, values=values, verdict=verdict)
