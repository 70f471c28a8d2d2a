"""Note on flows whose congestion control is the same in all runs, as `--cca` is of the first flow."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of
from celltcp.results.tested import THIN_WORKLOADS, FlowUnderTest
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison

#: Maximum number of flows, and number of CCAs, of the option that changes the CCA of all flows.
_MAX_FLOWS, _MAX_CCAS = 4, 2


def fixed_cca_text(comparison: Comparison) -> str:
    """Returns a note on flows with a verdict that keep their CCA, and the option for all; or empty.

    The few data of thin flows depend little on their CCA, unless the flow under test sends fewer.
    """
    ccas, tested = comparison.ccas, comparison.tested
    others = _others(comparison)
    if len(ccas) < 2 or not others:
        return ""
    rows = [*rows_of(comparison.results.tables["flows"], "name", "cca", "bytes")]

    def payload(flow: FlowUnderTest) -> float:
        return float(sum(count for name, _, count in rows if flow.includes(name)))

    own = {
        flow.name: next((cca for name, cca, _ in rows if flow.includes(name)), "")
        for flow, workload in FlowUnderTest.each_with_workload(comparison.results.about)
        if flow.name in others
        and (workload["kind"] not in THIN_WORKLOADS or payload(flow) > payload(tested))
    }
    by_cca: dict[str, list[str]] = {}
    for name, cca in own.items():
        by_cca.setdefault(cca, []).append(name)
    keeps = " and ".join(f"{labels([cca])[cca]} of {', '.join(by_cca[cca])}" for cca in by_cca if cca)
    if not keeps:
        return ""
    text = f"the CCAs compared are those of {tested.name}, beside {keeps}"
    count = len(tomllib.loads(comparison.results.about["scenario"])["flows"])
    if count > _MAX_FLOWS:
        return text
    option = ",".join("+".join([cca] * count) for cca in ccas[:_MAX_CCAS])
    return f"{text}: --cca {option} compares the same one in all flows"


def of_tested(comparison: Comparison) -> str:
    """Returns the end of a noun phrase: the flow whose CCAs are compared; empty if it is all flows."""
    return f" of {comparison.tested.name}" if _others(comparison) else ""


def _others(comparison: Comparison) -> set[str]:
    """Returns the other flows with a verdict, none of which has one of the compared CCAs."""
    if any(map(has_several_flows, comparison.ccas)):
        return set()
    return {stake.flow for stake in comparison.stakes} - {comparison.tested.name}
