"""JSON types of a live run."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from celltcp.campaign.origin_fields import Origin
from celltcp.comparison.run_outcome import FlowRow
from celltcp.live.path_changes import PathChange
from celltcp.results.json_fields import Cca, Seed


class Traffic(TypedDict):
    """Packets of any protocol that were sent to a host since the start of the run."""

    packets: Annotated[int, "Packets that were sent to it."]
    bytes: Annotated[int, "Size of all of them at the IP layer, bytes."]
    delivered_packets: Annotated[int, "Packets that have arrived."]
    delivered_bytes: Annotated[int, "Size of those at the IP layer, bytes."]
    lost_packets: Annotated[int, "Packets that were lost."]
    marked_packets: Annotated[int, "Packets that have arrived with a congestion mark."]
    delay_p50_s: Annotated[float | None, "Median of the one-way delay, s; null if none has arrived."]
    delay_p95_s: Annotated[float | None, "95th percentile of the one-way delay, s."]
    delay_p99_s: Annotated[float | None, "99th percentile of the one-way delay, s."]


CpuShare = Annotated[float, "Share of a core that the path took."]


class Lateness(TypedDict):
    """Lateness of packets: the time at which they left the path minus the planned one."""

    departures: Annotated[int, "Packets that left the path."]
    p50_us: Annotated[int, "Median, us."]
    p99_us: Annotated[int, "99th percentile, us."]
    max_us: Annotated[int, "Maximum, us."]
    late_share: Annotated[float, "Share of the packets that were late by over 1 ms."]
    valid: Annotated[bool, "Whether real time was kept: at most 0.1 % were late by over 1 ms."]


class Access(TypedDict):
    """State of the access link of the first phone."""

    capacity_down_mbps: Annotated[float, "Capacity of the downlink in the current slot, Mbit/s."]
    capacity_up_mbps: Annotated[float, "Capacity of the uplink in the current slot, Mbit/s."]
    queue_down_bytes: Annotated[int, "Queue of the downlink, bytes."]
    queue_up_bytes: Annotated[int, "Queue of the uplink, bytes."]
    sinr_db: Annotated[float | None, "SINR of the serving cell, dB; null on a wire."]
    cell: Annotated[int | None, "Number of the serving cell; null on a wire."]


class Status(TypedDict):
    """State of a live run."""

    time_s: Annotated[float, "Time since its start, s."]
    to: Annotated[dict[str, Traffic], "Packets by the host that they were sent to."]
    lateness: Annotated[Lateness, "Whether real time was kept."]
    cpu_share: CpuShare
    without_route: Annotated[int, "Packets to no host of the path, such as multicast."]
    refused: Annotated[int, "Packets that were not whole, or that a device did not accept."]
    access: Annotated[Access, "State of the access link."]


#: Values of `Status` about real time, for a replay in virtual time.
NO_REAL_TIME: dict[str, Any] = {
    "lateness": {
        "departures": 0,
        "p50_us": 0,
        "p99_us": 0,
        "max_us": 0,
        "late_share": 0.0,
        "valid": True,
    },
    "cpu_share": 0.0,
    "without_route": 0,
    "refused": 0,
}


class Floor(TypedDict):
    """Noise floor of a machine: the delay that it adds to that of the scenario on an idle path."""

    packets: Annotated[int, "Packets that were measured."]
    added_p50_us: Annotated[float, "Median of the added delay from program to program, us."]
    added_p99_us: Annotated[float, "99th percentile, us."]
    added_max_us: Annotated[float, "Maximum, us."]
    lateness: Annotated[Lateness, "Lateness of the path itself."]


class LiveOutcome(Origin):
    """Outcome of a live run."""

    cca: Cca
    seed: Seed
    duration_s: Annotated[float, "Length of the run, s."]
    exit_code: Annotated[int | None, "Exit code of the command; null without one."]
    to: Annotated[dict[str, Traffic], "Packets by the host that they were sent to."]
    lateness: Annotated[Lateness, "Whether real time was kept."]
    cpu_share: CpuShare
    flows: Annotated[list[FlowRow], "TCP connections, a row for each direction with data."]
    changes: Annotated[list[PathChange], "Changes of the path while the run went on."]
    warnings: Annotated[list[str], "Warnings."]
