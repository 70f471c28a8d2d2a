"""Flow of a scenario: the settings of its workload, hosts and path."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.comparison.applications.frame_kinds import frame_kinds
from celltcp.results.tested import THIN_WORKLOADS, FlowUnderTest
from celltcp.scenarios.cca_mix import parse_mix
from celltcp.scenarios.changes import value_at
from celltcp.scenarios.narrow_hop import base_rtt_ms, narrow_hop, narrow_link, path_parts, steady_rate
from celltcp.scenarios.packets import buffer_size
from celltcp.scenarios.sides import min_rto_s, sides_of

if TYPE_CHECKING:
    import pandas as pd


class FlowScenario:
    """Scenario of results, and one of its flows under a congestion control."""

    def __init__(self, metadata: Mapping[str, Any], cca: str, flow: FlowUnderTest) -> None:
        """Takes the metadata of results, a congestion control or CCA mix, and a flow."""
        #: Congestion control or CCA mix.
        self.cca = cca
        #: Flow, and its name.
        self.flow, self.flow_name = flow, flow.name
        #: Scenario, as in its file.
        self.scenario: Mapping[str, Any] = tomllib.loads(metadata["scenario"])
        #: Scenario as TOML text.
        self.scenario_text = str(metadata["scenario"])
        #: Metadata of the results.
        self.metadata = metadata
        self._flows = list(FlowUnderTest.each(metadata))
        self._flow_names = [each.name for each in self._flows]
        #: Index of the flow in the scenario.
        self.flow_index = self._flow_names.index(flow.name)
        #: Workload of the flow.
        self.workload: Mapping[str, Any] = self.scenario["flows"][self.flow_index].get("workload", {})

    @property
    def base_rtt_ms(self) -> float:
        """RTT of the path without queues, ms; the lowest RTT of a flow may have a standing one."""
        return base_rtt_ms(self.scenario)

    @property
    def sessions(self) -> int:
        """Number of sessions of the flow that run at the same time (its `count`)."""
        return int(self.scenario["flows"][self.flow_index].get("count", 1))

    def index_of(self, name: str) -> int | None:
        """Returns the index of a flow in the scenario; None if the scenario has no such flow."""
        return self._flow_names.index(name) if name in self._flow_names else None

    def takes_same_way(self, names: pd.Series) -> pd.Series:
        """Returns whether each connection, given by its name, is between the nodes of the flow."""
        ways = [(flow.get("from"), flow.get("to")) for flow in self.scenario["flows"]]
        way = ways[self.flow_index]
        same = [flow for flow, each in zip(self._flows, ways, strict=True) if each == way]
        return names.map(lambda name: any(flow.includes(name) for flow in same)).astype(bool)

    def is_thin_flow(self, name: str) -> bool:
        """Returns whether the workload of a flow sends so little that it fills no queue."""
        index = self.index_of(name)
        if index is None:
            return False
        return self.scenario["flows"][index].get("workload", {}).get("kind", "bulk") in THIN_WORKLOADS

    def bottleneck_field_of(self, *, is_upload: bool) -> str:
        """Returns the field of the hop or further link that is the bottleneck; empty for the access."""
        link = narrow_link(self.scenario, self.scenario["flows"][self.flow_index])
        if link is not None:
            return f"links.{link}"
        hop = narrow_hop(self.scenario, is_upload=is_upload)
        return "" if hop is None else f"path.wired.{hop}"

    def buffer_field_of(self, *, is_upload: bool) -> str:
        """Returns the field of the scenario that sets the buffer of the bottleneck."""
        if self.scenario.get("radio"):
            return "radio.rlc.uplink_buffer" if is_upload else "radio.rlc.buffer"
        if field := self.bottleneck_field_of(is_upload=is_upload):
            return f"{field}.buffer"
        return "path.uplink_buffer" if is_upload else "path.buffer"

    def link_rate(self, *, is_upload: bool) -> float | None:
        """Returns the rate of the bottleneck, bit/s; None if it varies, as that of a radio."""
        if self.scenario.get("radio"):
            return None
        field, access = self.bottleneck_field_of(is_upload=is_upload), "up" if is_upload else "down"
        return steady_rate(self.value_at(f"{field}.rate" if field else f"path.{access}"))

    def buffer_size(self, field: str, bytes_per_s: float) -> float | None:
        """Returns the size of a buffer, bytes; None if its field has no size.

        Args:
            field: field of the scenario that sets the buffer.
            bytes_per_s: mean rate of the link.
        """
        return buffer_size(str(self.value_at(field)), bytes_per_s, self.base_rtt_ms)

    @property
    def has_middleboxes(self) -> bool:
        """Whether packets of the flow pass middleboxes."""
        # `cubic@es` has a middlebox of its own, `cubic@none` has none; others have the scenario's.
        own = parse_mix(self.cca).middleboxes
        boxes = own != "none" if own else self.scenario.get("path", {}).get("middleboxes")
        return bool(boxes)

    @property
    def is_bulk(self) -> bool:
        """Whether the flow sends as much as it can, with or without an end."""
        return bool(self.workload.get("kind", "bulk") == "bulk")

    @property
    def is_thin(self) -> bool:
        """Whether the flow sends a little data from time to time, as responses and frames do."""
        return self.is_thin_flow(self.flow_name)

    @property
    def is_held_by_nagle(self) -> bool:
        """Whether Nagle's algorithm delays short segments until an ACK (no `TCP_NODELAY`)."""
        if not self.is_thin:
            return False
        flow_setting = self.scenario["flows"][self.flow_index].get("nodelay")
        tcp_setting = self.scenario.get("tcp", {}).get("nodelay")
        nodelay = tcp_setting if flow_setting is None else flow_setting
        return nodelay is False

    @property
    def deadline_s(self) -> float | None:
        """Time after which a frame or response is late, s; None for other units of work.

        Of several kinds of frames it is the shortest one, which decides.
        """
        if kinds := frame_kinds(self.workload):
            return min(kind.deadline_s for kind in kinds)
        return in_unit(self.workload["deadline"], "s") if "deadline" in self.workload else None

    @property
    def narrowest_hop(self) -> Mapping[str, Any] | None:
        """The slowest wired hop with a constant rate, as in the scenario; None without one."""
        hops = (
            hop
            for hop in self.scenario.get("path", {}).get("wired", ())
            if isinstance(hop.get("rate"), str)
        )
        return min(hops, key=lambda hop: in_unit(hop["rate"], "Mbit/s") or 0.0, default=None)

    @property
    def min_rto_s(self) -> float:
        """Minimum RTO of the sender, s."""
        return min_rto_s(self.sides[0], self.scenario)

    @property
    def sides(self) -> tuple[str, str]:
        """Sides of the sender of the flow's data and of their receiver: `server` or `phone`."""
        return sides_of(self.scenario["flows"][self.flow_index], self.scenario)

    @property
    def policers(self) -> dict[str, Mapping[str, Any]]:
        """Policers of the path, by the field of the scenario that configures each."""
        parts = path_parts(self.scenario).items()
        return {f"{field}.policer": part["policer"] for field, part in parts if part.get("policer")}

    def value_at(self, field: str) -> Any:
        """Returns the value of a field of the scenario, such as `path.queue`; None if unset."""
        return value_at(self.scenario, field)
