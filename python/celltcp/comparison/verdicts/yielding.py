"""Note on a best congestion control that may get little beside flows of others."""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import TYPE_CHECKING

from celltcp.comparison.verdicts.choices import choices_of
from celltcp.results.tested import THIN_WORKLOADS
from celltcp.scenarios.cca_mix import labels, parse_flow_cca
from celltcp.scenarios.ccas import family_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from celltcp.comparison.comparison import Comparison

#: Condition of a CCA that makes room for others.
_ROOM = "while no bulk flow of a loss-based CCA shares the queue"
#: Queue discipline with a queue of its own for each flow.
_FAIR_QUEUE = "fq-codel"
#: Fields of a flow that a command for two flows repeats.
_ENDS = ("from", "to")


def yielding_text(comparison: Comparison) -> str:
    """Returns a note on best CCAs that may get little beside others, with a command; or empty.

    They reduce their windows when packets wait. A scenario with a single bulk flow does not show the
    cost of that.
    """
    flow = _lone_bulk_flow(comparison)
    if flow is None:
        return ""
    best = [str(choice.verdict.best) for choice in choices_of(comparison) if choice.verdict.best]
    yielding = [each for each in dict.fromkeys(best) if _yields(each)]
    if not yielding:
        return ""
    names = labels(comparison.ccas)
    ends = "".join(f",{end}={json.dumps(flow[end])}" for end in _ENDS if end in flow)
    pair = ",".join(f'{{name="{name}"{ends}}}' for name in ("ours", "other"))
    mix = f"{parse_flow_cca(yielding[0]).text}+cubic"
    reduces = "reduces its window" if len(yielding) == 1 else "reduce their windows"
    return (
        f"{' and '.join(names[each] for each in yielding)} {reduces} when packets wait, and "
        f"may get little beside others: --cca {mix} --set {shlex.quote(f'flows=[{pair}]')} shows it"
    )


def room_text(comparison: Comparison, cca: str) -> str:
    """Returns the condition of a CCA that makes room for others beside applications; or empty."""
    is_alone = not comparison.is_competing or _lone_bulk_flow(comparison) is None
    if is_alone or not comparison.applications or not _yields(cca):
        return ""
    return f", {_ROOM}"


def room_condition(scenario: Mapping[str, Any], ccas: Iterable[str], changes: Iterable[str]) -> str:
    """Returns the condition of a setting with a CCA that makes room for others; or empty.

    Behind a queue discipline that keeps flows apart, no flow waits for another.

    Args:
        scenario: scenario, parsed from its file.
        ccas: congestion controls that are set.
        changes: changes of its fields that are set with them, as `field=value`.
    """
    queues = [*changes, str(scenario.get("path", {}))]
    return "" if any(_FAIR_QUEUE in each for each in queues) or not any(map(_yields, ccas)) else _ROOM


def _yields(cca: str) -> bool:
    return family_of(parse_flow_cca(cca).name) == "delay"


def _lone_bulk_flow(comparison: Comparison) -> Mapping[str, Any] | None:
    """Returns the section of the flow under test if it alone fills queues; None otherwise."""
    flows = tomllib.loads(comparison.results.about["scenario"]).get("flows", ())
    kinds = [flow.get("workload", {}).get("kind", "bulk") for flow in flows]
    is_lone = bool(flows) and kinds[0] == "bulk" and {*THIN_WORKLOADS}.issuperset(kinds[1:])
    return flows[0] if is_lone and flows[0].get("count", 1) == 1 else None
