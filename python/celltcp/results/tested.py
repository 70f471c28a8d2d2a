"""Flow under test: the first flow of a scenario, whose congestion control `--cca` names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError

if TYPE_CHECKING:
    import pandas as pd

#: Aggregation (sum or mean) of each column of slots over simultaneous connections.
_AGGREGATES = {
    **dict.fromkeys(("delivered_bytes", "goodput_mbps", "rate_mbps", "cwnd", "inflight"), "sum"),
    **dict.fromkeys(("retransmissions", "segments", "duplicate_acks"), "sum"),
    **dict.fromkeys(("rtt_mean_ms", "owd_mean_ms", "pm_balanced", "pm_delay"), "mean"),
    **dict.fromkeys(("queue_packets", "capacity_mbps", "rtt_increment_mean_ms"), "mean"),
    "rtt_increment_max_ms": "max",
}


@dataclass(frozen=True)
class FlowUnderTest:
    """Flow of a scenario, usually the first one, with all of its connections.

    Connections are numbered in the order in which they open, so number 0 may belong to another flow.
    """

    name: str
    #: Whether the flow stands for one at each of several nodes, as with `from = "machine-*"`.
    is_at_each_node: bool = False

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> FlowUnderTest:
        """Returns the flow under test of results, from the scenario in their origin."""
        return cls._of_section(tomllib.loads(about["scenario"])["flows"][0], 1)

    @classmethod
    def each_with_workload(cls, about: Mapping[str, Any]) -> list[tuple[FlowUnderTest, dict[str, Any]]]:
        """Returns each flow of the scenario of results, and its workload."""
        flows = tomllib.loads(about["scenario"])["flows"]
        return [
            (cls._of_section(flow, number), flow.get("workload", {}))
            for number, flow in enumerate(flows, 1)
        ]

    @classmethod
    def each(cls, about: Mapping[str, Any]) -> list[FlowUnderTest]:
        """Returns each flow of the scenario of results."""
        return [flow for flow, _ in cls.each_with_workload(about)]

    @classmethod
    def named(cls, about: Mapping[str, Any], name: str) -> FlowUnderTest:
        """Returns the flow of a name in the scenario of results."""
        return next(flow for flow in cls.each(about) if flow.name == name)

    @classmethod
    def of_connection(cls, about: Mapping[str, Any], name: str) -> FlowUnderTest:
        """Returns the flow of this name, or that of a connection of this name.

        Raises:
            CelltcpError: if there is none.
        """
        flows = {flow.name: flow for flow in cls.each(about)}
        flow = flows.get(name) or flows.get(flow_name(name, flows.values()))
        if flow is None:
            raise CelltcpError(
                f"flow: {name!r} is not in {about['name']}; there are {', '.join(flows)}"
            )
        return flow

    @classmethod
    def _of_section(cls, flow: Mapping[str, Any], number: int) -> FlowUnderTest:
        ends = (str(flow.get(end, "")) for end in ("from", "to"))
        name = str(flow.get("name", f"flow-{number}"))
        return cls(name, any(end.endswith("*") for end in ends))

    def includes(self, name: str) -> bool:
        """Returns whether a connection of this name belongs to the flow."""
        if not self.is_at_each_node:
            return name == self.name
        start, number = name[: len(self.name) + 1], name[len(self.name) + 1 :]
        return start == f"{self.name}-" and number.isdigit()

    def has(self, names: pd.Series) -> pd.Series:
        """Returns whether each of these connections, given by name, belongs to the flow."""
        return names.map(self.includes).astype(bool)


def flow_name(connection: str, flows: Iterable[FlowUnderTest]) -> str:
    """Returns the name of the flow of a connection; the connection's own if no flow includes it."""
    return next((flow.name for flow in flows if flow.includes(connection)), connection)


#: Kinds of thin workloads: they send little data at intervals.
THIN_WORKLOADS = ("request-response", "frames")


def has_application(about: Mapping[str, Any]) -> bool:
    """Returns whether a flow has metrics of an application, or of transfers with an end."""
    return not all(is_endless(workload) for _, workload in FlowUnderTest.each_with_workload(about))


def divided_flows(about: Mapping[str, Any]) -> frozenset[str]:
    """Returns the names of flows whose transfers are parts of one, which is complete with the last.

    They start together and have the same end. With `start_spread` they are those of independent users.
    """
    sections = tomllib.loads(about["scenario"])["flows"]
    flows = FlowUnderTest.each_with_workload(about)
    return frozenset(
        flow.name
        for section, (flow, workload) in zip(sections, flows, strict=True)
        if section.get("count", 1) > 1
        and "start_spread" not in section
        and _is_single_transfer(workload)
    )


def _is_single_transfer(workload: Mapping[str, Any]) -> bool:
    """Returns whether each connection of a workload is one transfer with an end."""
    kind = workload.get("kind", "bulk")
    return (kind == "bulk" and "bytes" in workload) or (
        kind == "sequence" and workload.get("count") == 1
    )


def has_end(workload: Mapping[str, Any]) -> bool:
    """Returns whether a workload is a transfer with an end, or several."""
    return workload.get("kind") == "sequence" or _is_single_transfer(workload)


def is_endless(workload: Mapping[str, Any]) -> bool:
    """Returns whether a workload sends all the data that it can; its metric is the goodput."""
    return workload.get("kind", "bulk") == "bulk" and "bytes" not in workload


def joined_slots(tested: FlowUnderTest, flows: pd.DataFrame, slots: pd.DataFrame) -> pd.DataFrame:
    """Returns the slots of a flow; simultaneous slots of its connections are joined.

    Bytes, rates and windows add up; RTT, delay and PM are means over the connections. The capacity of
    a connection includes what arrives for the others, because all of it is for this flow. That is no
    goodput: data that waited for a retransmission reach the application at once.
    """
    selected = slots.merge(flows.loc[tested.has(flows["name"]), ["run", "flow"]], on=["run", "flow"])
    if not selected.duplicated(["run", "t_s"]).any():
        return selected.sort_values(["run", "t_s"], kind="stable", ignore_index=True)
    selected = with_rates_of_others(selected)
    columns: dict[str, str] = {
        name: aggregate for name, aggregate in _AGGREGATES.items() if name in selected
    }
    if "cca" in selected:
        columns["cca"] = "first"
    return selected.groupby(["run", "t_s"], as_index=False, observed=True).agg(columns)


def with_rates_of_others(slots: pd.DataFrame) -> pd.DataFrame:
    """Returns slots of connections whose capacity, Mbit/s, includes what arrives for the others."""
    rate = slots["rate_mbps"] if "rate_mbps" in slots else slots["goodput_mbps"]
    # Rates are those of packets, and capacities those of payload.
    payload = rate * (slots["goodput_mbps"].sum() / rate.sum() if rate.sum() > 0 else 1.0)
    total = payload.groupby([slots["run"], slots["t_s"]]).transform("sum")
    return slots.assign(capacity_mbps=slots["capacity_mbps"] + total - payload)
