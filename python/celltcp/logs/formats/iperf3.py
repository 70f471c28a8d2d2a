"""Text reports of iperf3, iperf2 and further tools, with a line for each interval and stream."""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.formats.report_lines import Interval, intervals_of, tool_of
from celltcp.logs.formats.writes import Writes
from celltcp.logs.recording import Recording
from celltcp.logs.timeouts import ETHERNET_SEGMENT, timed_out_rows
from celltcp.logs.units import rate_unit

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source

_LINE = re.compile(
    r"\[\s*(?P<id>SUM|\d+)\](?:\[(?P<role>[A-Z-]+)\])?\s+(?P<start>\d+\.\d+)\s*-\s*(?P<end>\d+\.\d+)\s+sec"
    r"\s+[\d.]+\s+\w*Bytes\s+(?P<rate>[\d.]+)\s+(?P<unit>\w*(?:bits|Bytes)/sec)(?P<rest>.*)"
)
#: Retransmissions and window, which a sender of iperf3 reports.
_SENDER = re.compile(r"\s+(?P<again>\d+)\s+(?P<cwnd>[\d.]+)\s+(?P<prefix>[KMG]?)Bytes")
#: Columns of a sender after the rate: retransmissions, and the window except in sums.
_SENT = re.compile(r"\s+(?P<again>\d+)(?:\s+[\d.]+ [KMG]?Bytes)?\s*$")
#: Ports of a stream, which give the direction of its lines.
_PORTS = re.compile(
    r"\[\s*(?P<id>\d+)\] local \S+ port (?P<local>\d+) connected \w+ \S+ port (?P<remote>\d+)"
)

#: Note about rates that a program at an endpoint reports.
PAYLOAD = "rates of payload: goodput over them is 3 to 4 % lower, the share of the headers"


def recognises(source: Source) -> bool:
    """Returns whether a file has lines of such a report."""
    return any(_LINE.search(line) for line in source.lines(40)) or tool_of(source) is not None


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the intervals; totals at the end and omitted ones do not count.

    Raises:
        CelltcpError: if there is none.
    """
    if (tool := tool_of(source)) is not None:
        return of_intervals(tool.kind, list(intervals_of(source.text().splitlines(), tool)))
    return of_text(source.text(), options.direction or side)


def of_text(text: str, requested: Direction) -> Recording:
    """Reads a report of iperf.

    Raises:
        CelltcpError: if it has no intervals.
    """
    head, found, output = text.partition("\nServer output:")
    if found and _direction_of_client(head) == "up" and _LINE.search(output):
        # The client sends, and the receiver's intervals are those of the server.
        recording = of_text(output, requested)
        kind = f"{recording.kind}, intervals of the receiver"
        sender = of_text(head, requested) if _LINE.search(head) else recording
        return dataclasses.replace(
            recording,
            kind=kind,
            direction="up",
            has_both=False,
            retransmissions=sender.retransmissions,
            windows=sender.windows,
        )
    text = head if found else text
    ports = [(match["local"], match["remote"]) for match in _PORTS.finditer(text)]
    # A port that is local to some streams and remote to others: iperf2 tests both directions.
    server = {local for local, _ in ports} & {remote for _, remote in ports}
    other_streams: set[str] = {"SUM"} if server else set()
    lines: list[_Row] = []
    received: list[float] = []
    for line in text.splitlines():
        if server and (match := _PORTS.search(line)):
            is_down = match["local"] in server
            (other_streams.discard if is_down == (requested == "down") else other_streams.add)(
                match["id"]
            )
        match = _LINE.search(line)
        if match is None or match["id"] in other_streams or "omitted" in match["rest"]:
            continue
        # Bytes of iperf come in powers of 1024, bits in those of 1000.
        unit = rate_unit(re.sub(r"^([KMG])Bytes", r"\1iB", match["unit"].replace("Kbits", "kbits")))
        if unit is None:
            continue
        if match["role"] and not _has_direction(match["role"], requested):
            continue
        bps = float(match["rate"]) * unit.bits
        if total := re.search(r"sender|receiver", match["rest"]):
            if total[0] == "receiver":
                received.append(bps)
            continue
        start, end = (round(float(match[part]) * 1e9) for part in ("start", "end"))
        lines.append(_Row(match["id"], Interval(start, end, bps), match["rest"], match["role"] or ""))
    direction, has_both = _direction_of_client(text), bool(server)
    is_server = re.search(r"^(?:Accepted connection|Server listening)", text, re.M) is not None
    if any(row.role for row in lines):
        direction, has_both = requested, True
    elif is_server and not server:
        # A server tests one direction after the other. The lines of a sender have more columns.
        sent, arrived = ([row for row in lines if row.is_sent == which] for which in (True, False))
        has_both = bool(sent and arrived)
        lines = (sent if requested == "down" else arrived) if has_both else lines
        direction = requested if has_both else "down" if sent else "up"
    streams = {row.stream for row in lines}
    kind = "report of iperf" if "SUM" not in streams else "report of iperf, parallel streams"
    intervals = summed([(row.stream, row.interval) for row in lines])
    known: dict[str, Any] = {"has_both": has_both, "direction": direction, "is_load_test": True}
    sends = any(row.is_sent for row in lines) or (direction == "up" and not (is_server or has_both))
    windows_of: dict[tuple[int, int], float] = {}
    for row in lines:
        # A receiver has no window, nor have sums of streams.
        if match := _SENDER.match(row.rest):
            moment = row.interval[:2]
            windows_of[moment] = windows_of.get(moment, 0.0) + _bits_of(match)
    windows = np.array([windows_of.get(interval[:2], 0.0) for interval in intervals])
    if windows.all() and len(windows):
        rates = np.array([interval.bps for interval in intervals])
        known["windows"] = windows / 8
        known["window_rtt_ms"] = 1e3 * np.divide(
            windows, rates, out=np.full(len(rates), np.nan), where=rates > 0
        )
    is_udp = not windows_of and "Total Datagrams" in text
    sums = [row for row in lines if row.stream == "SUM"] or lines
    counts = [row.retransmissions for row in sums if row.is_sent]
    # Datagrams of UDP stand where segments of TCP do.
    if len(counts) == len(intervals) > 0 and not is_udp:
        known["retransmissions"] = np.array(counts)
    if sends and intervals:
        # The sum of parallel streams is the last.
        mean = received[-1] if received and not is_server else None
        if "retransmissions" in known:
            segment = ETHERNET_SEGMENT * max(len(streams - {"SUM"}), 1)
            rates = np.array([interval.bps for interval in intervals])
            known["timed_out"] = timed_out_rows(rates, windows / 8, known["retransmissions"], segment)
        waits = known.get("timed_out", np.array([])).tolist()
        writes = Writes(intervals, float(windows.max(initial=0.0)), mean, is_udp, waits)
        intervals, known["no_capacity"] = writes.delivered(), writes.warning
    return of_intervals(kind, intervals, **known)


class _Row(NamedTuple):
    """Line of an interval."""

    #: Number of the stream, or SUM.
    stream: str
    interval: Interval
    #: Text after the rate.
    rest: str
    #: Role in a test of both directions; empty in others.
    role: str

    @property
    def is_sent(self) -> bool:
        """Whether a sender wrote the line: it has retransmissions or datagrams after the rate."""
        if self.role:
            return self.role.startswith("TX")
        return _SENT.match(self.rest) is not None

    @property
    def retransmissions(self) -> float:
        """Segments that the sender of the line sent again, `Retr`; 0 without that column."""
        match = _SENT.match(self.rest)
        return float(match["again"]) if match else 0.0


def _bits_of(sender: re.Match[str]) -> float:
    """Returns the congestion window in a line of a sender, bits."""
    return 8 * float(sender["cwnd"]) * 1024.0 ** " KMG".index(sender["prefix"] or " ")


def _direction_of_client(text: str) -> Direction | None:
    """Returns the direction of the test of a client of iperf3; None for other reports."""
    if not re.search(r"^Connecting to host", text, re.M):
        return None
    return "down" if re.search(r"^Reverse mode", text, re.M) else "up"


def _has_direction(role: str, direction: Direction) -> bool:
    """Returns whether lines of a bidirectional test are of a direction.

    The client sends `TX-C` and the server `TX-S`.
    """
    if not role.startswith(("TX", "RX")):
        return True
    return (role.startswith("RX") != role.endswith("S")) == (direction == "down")


def summed(lines: list[tuple[str, Interval]], total: str = "SUM") -> list[Interval]:
    """Returns the sums of streams by interval, test after test, without the totals of whole tests.

    Args:
        lines: identifiers of streams and their intervals, in the order of the report.
        total: identifier of the sum over streams; in a test that has it, only its lines count.
    """
    lengths = sorted(interval.end_ns - interval.start_ns for _, interval in lines)
    median_length = lengths[len(lengths) // 2] if lengths else 0
    tests: list[dict[str, list[Interval]]] = [{}]
    latest: dict[str, int] = {}
    for stream, interval in lines:
        # Streams of a test run at the same time.
        is_earlier = interval.start_ns < latest.get(
            stream, max(latest.values(), default=0) - 2 * median_length
        )
        # A total is as long as two intervals or more.
        if is_earlier and interval.end_ns - interval.start_ns > 1.5 * median_length:
            continue
        if is_earlier:
            # A server that reports test after test begins each at zero.
            tests.append({})
            latest = {}
        latest[stream] = interval.start_ns
        tests[-1].setdefault(stream, []).append(interval)
    result = []
    for streams in tests:
        sums: dict[tuple[int, int], float] = {}
        for interval in itertools.chain(*([streams[total]] if total in streams else streams.values())):
            key = (interval.start_ns, interval.end_ns)
            sums[key] = sums.get(key, 0.0) + interval.bps
        result += [Interval(*key, bps) for key, bps in sorted(sums.items()) if key[1] > key[0]]
    return result


def of_intervals(kind: str, intervals: list[Interval], **known: object) -> Recording:
    """Returns the recording of intervals.

    Raises:
        CelltcpError: if there is none.
    """
    if not intervals:
        raise CelltcpError(f"{kind}: no interval with a rate; -i 1 reports every second")
    ns = np.array([interval.start_ns for interval in intervals], dtype=np.int64)
    ends = np.array([interval.end_ns for interval in intervals], dtype=np.int64)
    values = np.array([interval.bps for interval in intervals])
    known = {"lengths": ends - ns, "notes": (PAYLOAD,), **known}
    return Recording(kind, "", ns, values, **known)  # type: ignore[arg-type]
