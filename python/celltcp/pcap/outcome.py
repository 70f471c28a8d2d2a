"""JSON types of the analysis of captures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from celltcp._core import capture_tables
from celltcp.results.json_fields import CLOSED, Cell, Columns, Number, sentence, table_columns

_Pair = tuple[float, float]


class Break(TypedDict):
    """Place where a capture breaks off."""

    offset: Annotated[int, "Position in the file, bytes."]
    reason: str


class CaptureOutcome(TypedDict):
    """Counts of a capture."""

    file: str
    packets: Number
    segments: Annotated[Number, "Segments of TCP."]
    others: Annotated[Number, "Packets of other protocols."]
    left_out: Annotated[
        dict[str, Number], "Packets without a segment of TCP that is read, by protocol, the most first."
    ]
    fragments: Annotated[Number, "Later fragments of IP packets whose first one is not there."]
    joined_fragments: Annotated[Number, "Later fragments of IP packets that were read."]
    cut: Number
    unread: Number
    wrong_lengths: Annotated[Number, "Packets whose record or IP header had an impossible length."]
    backwards: Annotated[Number, "Segments with a time before that of the segment before, sorted."]
    clock_steps: Annotated[Number, "Times that the capturing clock was set."]
    reused: Number
    crowded_out: Number
    bytes: Annotated[Number, "Bytes of the decompressed capture that were read."]
    link_type: object
    times_ns: Annotated[list[int | None] | None, "Times of the first and the last packet, ns."]
    broken: Annotated[Break | None, "Where the file breaks off."]
    repairs: Annotated[dict[str, object], "What was repaired, by kind."]


#: Columns of connections with the causes of the sentence, and their meanings.
CAUSE_COLUMNS = {
    "main_cause": "cause that the diagnosis begins with; empty if it has none",
    "causes": "all causes that the diagnosis names, with commas between them",
    "policed_mbps": "rate to which the policer of the diagnosis limits, Mbit/s of payload; NaN without",
    "acks_behind": "connection in whose queue the ACKs wait, or may wait; NaN without",
}

#: Columns of connections about a policer, with their meanings.
POLICER_COLUMNS = {
    "policer_mbps": "rate of the token bucket that explains the losses, Mbit/s of payload; NaN without",
    "policer_burst_bytes": "burst of that token bucket, bytes of payload; NaN without",
}
#: Column of connections with the time in which all data were in flight.
IN_FLIGHT_COLUMN = {
    "limit_in_flight": "share of the time in which nothing waited to be sent: all data were in flight; "
    "NaN unless captured at the sender"
}


def _connection_columns() -> Mapping[str, object]:
    (table,) = (each for each in capture_tables() if each.name == "connections")
    texts = dict.fromkeys(("client", "server", "direction"), str)
    guesses = dict.fromkeys(("handshake", "ending", "place", "cca"), str | None)
    return {
        **table_columns(table, {**texts, **guesses}),
        "file": str,
        "diagnosis": Annotated[
            str,
            "What it waited for, or what limits it, in one sentence; empty if there is nothing to say.",
        ],
        **{
            name: Annotated[str if name.endswith(("cause", "causes")) else Number, sentence(text)]
            for name, text in CAUSE_COLUMNS.items()
        },
        "missed_bytes": Annotated[Number, "Payload acknowledged but not captured, bytes."],
        **{
            name: Annotated[Number, sentence(text)]
            for name, text in {**POLICER_COLUMNS, **IN_FLIGHT_COLUMN}.items()
        },
    }


#: Columns of units of work beside those of the native table, with their meanings.
UNIT_COLUMNS = {
    "end_s": "when its last byte was received, or half an RTT later at the server, s; NaN without",
    "duration_s": "from start to end, s",
    "first_byte_s": "from start to its first byte at the client, s; NaN of frames",
    "error_s": "standard error of the duration of a frame that came as one with others, s; else 0",
    "clock_error_s": "standard error of the same by the clock where data wait to the end, s; else 0",
    "losses": "segments of a frame that were lost, of a response those in its time, in both directions",
    "handshake_s": "time of the handshake before the first request, s",
    "server_s": "time from the request to the first byte of the response at the server, s",
    "outage_s": "time in which losses by outage waited for their repair, s",
    "timeout_s": "the same of losses that a time-out repaired, s",
    "loss_s": "the same of other losses, s",
    "uplink_queue_s": "time of packets of a captured client behind uploads of its access, s",
    "link_s": "time in which a response, or the request of an upload, passed on a link with a queue, s",
    "queue_s": "the rest beside the lowest RTT and other parts, in queues, s",
    "delayed_by": "part that exceeds its least, of frames its median, most, if it is slow; else empty",
}


def _unit_columns() -> Mapping[str, object]:
    (table,) = (each for each in capture_tables() if each.name == "units")
    derived = {name: Annotated[Number, sentence(text)] for name, text in UNIT_COLUMNS.items()}
    delayed_by = Annotated[str, sentence(UNIT_COLUMNS["delayed_by"])]
    return {**table_columns(table, {"unit": str}), **derived, "delayed_by": delayed_by, "file": str}


#: Row of a unit of work.
UnitRow = Annotated[dict[str, Cell], Columns(_unit_columns)]


class UnitsOutcome(TypedDict):
    """Times of the units of work of one kind between the hosts of a server."""

    file: str
    server: Annotated[str, "Address and port of the server."]
    unit: Annotated[str, "Kind of the units: page_load, response or frame_delay."]
    count: Number
    unfinished: Annotated[Number, "Units without an end in the capture."]
    mean_s: Number
    p50_s: Annotated[Number, "Median, s."]
    p95_s: Annotated[Number, "95th percentile, s; null of fewer than 20."]
    p99_s: Annotated[Number, "99th percentile, s; null of fewer than 100."]
    max_s: Number
    deadline_s: Annotated[Number, "Deadline of the late share, s; null where none is given."]
    late_share: Annotated[Number, "Share of units that took longer than it; null without one."]
    delayed_by: Annotated[dict[str, int], "Units that took longer than usual, by what delayed them."]


#: Row of a connection.
ConnectionRow = Annotated[dict[str, Cell], Columns(_connection_columns)]


class AnalysisOutcome(TypedDict):
    """Outcome of celltcp pcap analyze."""

    captures: list[CaptureOutcome]
    connections: list[ConnectionRow]
    applications: list[UnitsOutcome]
    units: list[UnitRow]


class ScoreOutcome(TypedDict):
    """Score of a kind of loss."""

    precision: Number
    recall: Number
    f1: Number
    true: Number
    found: Number


class CcaGuess(TypedDict):
    """Congestion control that the analysis found."""

    cca: str
    confidence: Number


class PlaceGuess(TypedDict):
    """Place of the capture that the analysis found."""

    place: str
    confidence: Number


class CaseOutcome(TypedDict):
    """Results of a case and their errors."""

    name: str
    scenario: str
    cca: str
    set: Annotated[list[str], "Overrides of the scenario."]
    kinds: dict[str, int]
    rtt_error: Number
    capacity_error: Number
    buffer_error: Number
    guess: CcaGuess
    place: PlaceGuess
    counts: dict[str, int]
    others: dict[str, dict[str, int]]


class JudgementOutcome(TypedDict):
    """Outcome of celltcp pcap validate."""

    at: Annotated[Literal["sender", "between"], "Place of the captures."]
    kinds: Annotated[dict[str, ScoreOutcome], "Losses that were found, by kind."]
    groups: Annotated[
        dict[str, dict[str, ScoreOutcome]], "The same by quarters of RTT and buffer, with --paths."
    ]
    rtt_error: Annotated[Number, "Mean relative error of the RTT."]
    capacity_error: Annotated[Number, "Mean relative error of the capacity."]
    buffer_error: Annotated[Number, "Mean relative error of the buffer."]
    packets_per_s: Annotated[Number, "Packets analysed per second."]
    cases: list[CaseOutcome]


class CaptureCounts(TypedDict):
    """Counts of a capture by the analysis and by other tools."""

    file: str
    counts: Annotated[dict[str, int], "Counts of the analysis."]
    others: Annotated[dict[str, dict[str, int]], "Counts of each other tool."]


class ToolAgreement(TypedDict):
    """Agreement with a tool in one quantity."""

    tool: str
    quantity: str
    captures: Annotated[int, "Captures in which the tool counts it."]
    equal: Annotated[int, "Captures in which both counts are equal."]
    own: Annotated[int, "Sum of the counts of the analysis."]
    theirs: Annotated[int, "Sum of the counts of the tool."]


class AgreementOutcome(TypedDict):
    """Outcome of celltcp pcap agreement."""

    tools: list[ToolAgreement]
    captures: list[CaptureCounts]


@dataclass(frozen=True)
class Group:
    """Group of connections in both sets of captures, and the gain of the second set."""

    tags: Annotated[dict[str, str], "Tags of the group; none for all connections."]
    counts: Annotated[tuple[int, int], "Connections of A and of B."]
    throughput_mbps: Annotated[_Pair, "Mean throughput of A and of B, Mbit/s."]
    rtt_ms: Annotated[
        tuple[float | None, float | None],
        "Mean of the median RTTs of the connections of A and of B with samples on both sides of the "
        "capture, ms; where a set has none, of the side that both sets have; null where there is none.",
    ]
    retransmitted: Annotated[_Pair, "Share of segments sent again of A and of B."]
    gain: Annotated[float, "Throughput of B over that of A less 1."]
    interval: Annotated[_Pair | None, "95 % interval of the gain, by bootstrap."]
    weight: Annotated[float, "Share of the group in the total."]


#: Outcome of celltcp pcap compare; the last group is the weighted mean of the others.
GroupsOutcome = list[Group]


@dataclass
class ResetConnection:
    """A connection that its client has reset, and what came after."""

    file: Annotated[str, "Capture."]
    connection: Annotated[int, "Number of the connection there."]
    reset_s: Annotated[
        float, "Time of the first RST of the client since the first packet of the connection, s."
    ]
    client: Annotated[str, "Address and port."] = ""
    server: Annotated[str, "Address and port."] = ""
    bytes_down: Annotated[int, "Payload from the server, each byte once, in bytes."] = 0
    resets: Annotated[int, "RST segments of the client."] = 0
    late_segments: Annotated[int, "Segments with payload from the server after the first RST."] = 0
    late_bytes: Annotated[int, "Their payload, bytes."] = 0
    spared_segments: Annotated[int, "Those of them that a tracker would have discarded."] = 0
    spared_bytes: Annotated[int, "Their payload, bytes."] = 0


class Savings(TypedDict):
    """Outcome of celltcp pcap resets."""

    delay_s: Annotated[float, "Time from a RST to the first segment that a tracker drops, s."]
    hold_s: Annotated[float, "Time from a RST to the last segment that a tracker drops, s."]
    bytes_down: Annotated[int, "Payload from servers, of all connections, bytes."]
    all_connections: Annotated[int, "Connections in the captures."]
    connections: Annotated[
        list[Annotated[ResetConnection, CLOSED]], "Connections that their clients have reset."
    ]
    broken: Annotated[list[tuple[str, int, str]], "Captures that are broken: file, byte and reason."]
    spared_bytes: Annotated[int, "Payload that a tracker would have discarded, bytes."]
    share: Annotated[float, "That payload, as a share of all payload from servers."]


SavingsOutcome = Annotated[Savings, CLOSED]
