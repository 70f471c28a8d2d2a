"""Warning about sessions of a flow that all start in the same instant, as users do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp.results.tested import FlowUnderTest, divided_flows, is_endless

#: Workloads that draw times at random, so that their sessions soon differ.
_RANDOM_IN_TIME = ("on-off", "telemetry", "video")


def simultaneous_starts(about: Mapping[str, Any], sections: list[Mapping[str, Any]]) -> list[str]:
    """Returns a warning for each flow whose sessions start at once and have metrics of their own.

    Transfers that start together are parts of one, and have none.
    """
    warnings, divided = [], divided_flows(about)
    for index, (flow, workload) in enumerate(FlowUnderTest.each_with_workload(about)):
        count = sections[index].get("count", 1)
        if count == 1 or "start_spread" in sections[index] or flow.name in divided:
            continue
        if not is_endless(workload) and workload.get("kind", "bulk") not in _RANDOM_IN_TIME:
            warnings.append(
                f"the {count} sessions of {flow.name} start in the same instant, which lengthens their "
                f"longest delays; flows.{index}.start_spread=1s starts them within a second, as "
                "independent users"
            )
    return warnings
