"""Windows under losses: what limits the rate of a sender whose losses left the path empty."""

from __future__ import annotations

from celltcp.pcap.diagnosis.causes import Cause, Sentence, joined, named
from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.results.steady_state import SteadyState, steady_state_of
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits

#: Causes that are a limit of the rate already.
_LIMITED = (
    *(Cause.FULL_QUEUE, Cause.SHALLOW_BUFFER, Cause.POLICER, Cause.AQM),
    *(Cause.WINDOW_GROWTH, Cause.REORDERING, Cause.OUTAGE),
)
#: Minimum number of intervals, and minimum share of the time in which the network is the limit.
_MIN_INTERVALS, _MIN_NETWORK_SHARE = 10, 0.5
#: Maximum excess of an RTT without a queue over the lowest one, by jitter: a share of it, and ms, and
#: the minimum share of the intervals with such an RTT on a path that is not full.
_MAX_JITTER_SHARE, _MAX_JITTER_MS = 0.05, 1.0
_MIN_EMPTY_SHARE = 0.7
#: Range of a flight that keeps to its bound, segments, and the minimum share of the time in which it
#: does, and maximum bound as a share of the receive window.
_BOUND_SEGMENTS, _MIN_BOUND_SHARE, _MAX_WINDOW_SHARE = 3, 0.5, 0.8
#: Maximum range of such a flight, as a share of its bound: losses keep a small window as constant.
_MAX_BOUND_RANGE = 0.1
#: Minimum bound as a share of the longest flight: Linux wakes an application that waits for its send
#: buffer when a third of that is free. BBR had more in flight in its start-up than it keeps to.
_MIN_BOUND_RATIO = 2 / 3
#: Maximum ratio of the 95th percentile of RTTs to the lowest one where no BBR fills the path: probes of
#: the rate have a gain of 1.25.
_MAX_PROBED_RATIO = 1.15
#: Minimum number of loss events that show their rate, and maximum ratio of the window by the law to the
#: mean one at which losses explain it.
_MIN_EVENTS, _MAX_LAW_RATIO = 3, 2.0
#: Minimum of that ratio: a sender that keeps a far larger window than the laws does not follow them.
_MIN_LAW_RATIO = 0.2
#: Minimum confidence of a CCA whose law is the only one.
_MIN_CONFIDENCE = 0.3


def with_window(evidence: Evidence, losses: Sentence) -> Sentence:
    """Returns a sentence about losses with what limits the rate; as it is where the capture shows none.

    The capture is at the sender, and most of the time no queue stands: the data in flight then bound
    the rate. Where they keep to a bound, it is one of the sender. Otherwise losses reduce the window.
    """
    row, steady = evidence.row, evidence.steady
    if not losses or losses.names(*_LIMITED) or not evidence.is_at_sender:
        return losses
    if len(steady) < _MIN_INTERVALS or not row["limit_network"] >= _MIN_NETWORK_SHARE:
        return losses
    lowest_ms = steady["rtt_min_ms"].rolling(evidence.block, min_periods=1).min()
    max_ms = (1 + _MAX_JITTER_SHARE) * row["far_rtt_min_ms"] + _MAX_JITTER_MS
    if (lowest_ms <= max_ms).mean() < _MIN_EMPTY_SHARE:
        return losses
    return joined("; ", (losses, _bound_text(evidence) or _window_text(evidence)))


def _flight_bound(evidence: Evidence) -> float:
    """Returns the bound to which the data in flight keep in half of the time; 0 without one, bytes."""
    steady = evidence.steady
    if not evidence.is_at_sender or len(steady) < _MIN_INTERVALS:
        return 0.0
    peaks = steady["in_flight_max"].rolling(evidence.block, min_periods=1).max()
    # The bound is that of most intervals: single flights may exceed it in a recovery.
    bound = float(peaks.quantile(1 - _MIN_BOUND_SHARE / 2))
    segment = evidence.segment_bytes
    range_bytes = min(_BOUND_SEGMENTS * segment, max(_MAX_BOUND_RANGE * bound, segment))
    is_bound = ((peaks - bound).abs() <= range_bytes).mean() >= _MIN_BOUND_SHARE
    is_largest = bound >= _MIN_BOUND_RATIO * evidence.row["in_flight_max"]
    is_below_window = not bound > _MAX_WINDOW_SHARE * evidence.row["window_max"]
    return bound if is_bound and is_largest and is_below_window else 0.0


def _bound_text(evidence: Evidence) -> Sentence:
    """Returns the bound of the data in flight, as text; empty without one."""
    row = evidence.row
    # BBR keeps its flight, too: on a path that it fills, its probes of the rate queue a quarter of it.
    is_queued = row["far_rtt_p95_ms"] > _MAX_PROBED_RATIO * row["far_rtt_min_ms"]
    may_be_bbr = steady_state_of(str(row["cca"])) is None
    if not (bound := _flight_bound(evidence)) or (may_be_bbr and is_queued):
        return Sentence()
    return named(
        Cause.SENDER,
        f"the send buffer of the {evidence.sender}, or its application, limits the rate: "
        f"most of the time it keeps to {size_text(bound)} in flight",
    )


def _window_text(evidence: Evidence) -> str:
    """Returns the window that losses leave, with the law of its CCA, as text; empty if none does."""
    row = evidence.row
    segments = evidence.payload_bytes / evidence.segment_bytes
    events, window = len(evidence.episodes), row["in_flight_mean"] / evidence.segment_bytes
    rtt_ms = float(row["far_rtt_p50_ms"])
    laws = _laws(row["cca"] if row["cca_confidence"] >= _MIN_CONFIDENCE else "unknown")
    if events < _MIN_EVENTS or not rtt_ms > 0 or not laws:
        return ""
    windows = {law.name: law.window(events / segments, rtt_ms / 1e3) for law in laws}
    low, high = min(windows.values()) / window, max(windows.values()) / window
    if low > _MAX_LAW_RATIO or high < _MIN_LAW_RATIO:
        return ""
    mbps = {
        name: three_digits(8e-3 * each * evidence.segment_bytes / rtt_ms)
        for name, each in windows.items()
    }
    rates = " and ".join(
        f"{name}'s {'law gives ' if not at else ''}{rate} Mbit/s"
        for at, (name, rate) in enumerate(mbps.items())
    )
    # A sender whose CCA is not known may have one that losses do not slow down.
    kept_text = ":"
    if len(laws) == 1:
        kept_text = (
            f" keep the congestion window at about {window:.0f} segments, which limits the rate;"
        )
    return (
        f"losses ({events} times in {segments:.0f} segments){kept_text} in the long run {rates} "
        f"at the RTT of {ms_text(rtt_ms)}"
    )


def _laws(cca: str) -> list[SteadyState]:
    """Returns the laws of the CCA of a sender: both if it is not known, none if it has no law."""
    names = ["cubic", "reno"] if cca == "unknown" else [cca]
    return [law for law in map(steady_state_of, names) if law is not None]
