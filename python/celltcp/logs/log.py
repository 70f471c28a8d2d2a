"""Reads logs of tools as the capacity of a link, each with a summary of how it was read."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.blocks import map_blocks
from celltcp.logs.full_queue import FullQueue, full_queue
from celltcp.logs.intervals import Intervals, intervals_of
from celltcp.logs.kinds import read_recording
from celltcp.logs.options import ReadOptions
from celltcp.logs.plausibility import (
    MAX_ACK_SHARE,
    MIN_QUEUE_RTT_RATIO,
    MIN_SAMPLE_NS,
    TimeShares,
    check_rates,
    check_steps,
    constant_window_reason,
    demand_reason,
    held_back_reason,
    retransmissions_reason,
    unused_radio_reason,
)
from celltcp.logs.source import Source
from celltcp.logs.summaries import LIKE_DEMAND, NO_CAPACITY, SEPARATOR
from celltcp.logs.timeouts import timeouts_texts, without_timeouts
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.options import Direction
    from celltcp.logs.recording import Recording

#: Percentile of the RTTs of a log that is its base RTT.
BASE_RTT_PERCENTILE = 5

#: Minimum share of the time without data that the summary of a load test mentions.
_MIN_IDLE_SHARE = 0.01


@dataclass(frozen=True)
class Log:
    """A log as the capacity of a link."""

    #: Summary of how it was read, for users.
    summary: str
    #: Lengths of the intervals, ns, and their rates, bit/s.
    lengths: NDArray[np.uint64]
    bps: NDArray[np.uint64]
    #: Indices of the first intervals of continuous pieces.
    pieces: list[int]
    #: Base RTT, ms; None without a column of RTTs.
    base_rtt_ms: float | None
    #: Whether the log has rates of both directions.
    has_both: bool
    #: Share of the time, from 0 to 1, whose rate was imputed: measured at another time.
    imputed_share: float
    #: Reason why the rates look like the demand of an application; None if they look like a capacity.
    demand_reason: str | None
    #: Times of transmission opportunities of 1500 bytes, ms; None for logs with intervals.
    opportunities: list[int] | None = None
    #: Reason why the rates are no capacity, such as a TCP test that left the link idle; None without.
    held_back_reason: str | None = None
    #: Reason why the base RTT is too long; None if it is not.
    long_rtt_reason: str | None = None
    #: Direction of the logged transfer, if known and different from the link's.
    other_direction: Direction | None = None
    #: Whether that direction is the one of a client at the phone, and the log names no ends but client
    #: and server.
    is_client_presumed: bool = False
    #: Congestion window at which a test overflowed a queue, bytes; None where the log shows none.
    overflow_window: float | None = None
    #: Segments sent again by a test under BBR, as a share of all; None for other logs.
    bbr_loss: float | None = None

    @property
    def facts(self) -> str:
        """Facts about the log that the engine stores with its trace, as JSON."""
        return json.dumps(
            {
                "base_rtt_ms": self.base_rtt_ms,
                "has_both": self.has_both,
                "made_up": self.imputed_share,
                "looks_like_demand": self.demand_reason,
                "held_back": self.held_back_reason,
                "rtt_too_long": self.long_rtt_reason,
                "of_other_direction": self.other_direction,
                "is_client_presumed": self.is_client_presumed,
                "overflow_window": self.overflow_window,
                "bbr_loss": self.bbr_loss,
            }
        )


def read_log(path: str | Path, given: dict[str, Any], side: Direction) -> Log:
    """Reads a log for a link of the direction `side`.

    Args:
        path: the file.
        given: options by their names in a scenario: those of `ReadOptions`, and `format`.
        side: direction of the link.

    Raises:
        CelltcpError: if the file cannot be used as it is; the message names the option that helps.
    """
    options = ReadOptions.of({name: value for name, value in given.items() if name != "format"})
    source = Source.open(Path(path))
    recording = read_recording(source, options, side, given.get("format"))
    if recording.opportunities is not None:
        return _opportunities_log(recording)
    intervals = intervals_of(recording, options.holes)
    check_steps(recording, intervals)
    check_rates(recording, intervals, is_unit_given=options.unit is not None)
    steady = without_timeouts(recording)
    queue = full_queue(steady)
    shares = TimeShares.of(intervals)
    held_back, demand = None, None
    no_capacity: list[str] = []
    if queue is None:
        no_capacity = _no_capacity(steady)
        held_back = held_back_reason(steady)
        demand = (
            demand_reason(recording, intervals, shares)
            or unused_radio_reason(recording)
            or held_back
            or (_acks_reason(source, options, side, intervals) if recording.has_both else None)
        )
    return Log(
        summary=_summary(recording, intervals, options, shares, demand, queue, no_capacity),
        lengths=intervals.lengths.view(np.uint64),
        bps=_round(intervals.bps),
        pieces=intervals.pieces.tolist(),
        base_rtt_ms=_base_rtt(recording),
        has_both=recording.has_both,
        imputed_share=_imputed_share(intervals, is_mean=recording.is_volume),
        demand_reason=demand,
        held_back_reason="; ".join(filter(None, (held_back, *no_capacity))) or None,
        long_rtt_reason=_long_rtt_reason(recording),
        other_direction=_other_direction(recording, options, side),
        is_client_presumed=recording.is_load_test,
        overflow_window=queue.window if queue else None,
        bbr_loss=recording.bbr_loss,
    )


def log_of_engine(path: str, options: str, side: Direction) -> Log:
    """Reads a log for the native engine, which calls this; the summary is a single line.

    Args:
        path: the file.
        options: options of a scenario, as JSON.
        side: direction of the link.

    Raises:
        CelltcpError: if the file cannot be used as it is.
    """
    try:
        log = read_log(path, json.loads(options), side)
    except (CelltcpError, UnicodeError) as error:
        raise CelltcpError(f"{path}: {error}") from None
    return replace(log, summary=" ".join(log.summary.split()))


def _opportunities_log(recording: Recording) -> Log:
    assert recording.opportunities is not None
    no_intervals = np.empty(0, dtype=np.uint64)
    return Log(
        recording.kind,
        *(no_intervals, no_intervals, []),
        base_rtt_ms=None,
        has_both=False,
        imputed_share=0.0,
        demand_reason=None,
        opportunities=recording.opportunities.tolist(),
    )


def _round(bps: NDArray[np.float64]) -> NDArray[np.uint64]:
    result = np.empty(len(bps), dtype=np.uint64)

    def convert(rows: slice) -> None:
        result[rows] = np.round(bps[rows])

    map_blocks(len(bps), convert)
    return result


def _imputed_share(intervals: Intervals, *, is_mean: bool) -> float:
    """Returns the share of the time whose rate was measured at another time.

    Rates of long rows are samples unless `is_mean`.
    """
    if intervals.step_ns >= MIN_SAMPLE_NS and not is_mean:
        # A sample counts for half of the shortest row that is taken for one.
        return 1 - MIN_SAMPLE_NS / 2 / intervals.step_ns
    return intervals.imputed_ns / max(intervals.length_ns, 1)


def _base_rtt(recording: Recording) -> float | None:
    """Returns the base RTT, ms; None without a positive RTT."""
    rtts_ms = _known_rtts(recording)
    if not len(rtts_ms):
        return None
    if recording.is_load_test:
        return float(min(rtts_ms.min(), recording.lowest_rtt_ms or np.inf))
    return float(np.percentile(rtts_ms, BASE_RTT_PERCENTILE))


def _known_rtts(recording: Recording) -> NDArray[np.float64]:
    rtts_ms = np.empty(0) if recording.rtt_ms is None else recording.rtt_ms
    return rtts_ms[np.isfinite(rtts_ms) & (rtts_ms > 0)]


def _long_rtt_reason(recording: Recording) -> str | None:
    """Returns the reason why the base RTT is too long: a queue stood during the whole test."""
    base_ms = _base_rtt(recording) if recording.is_load_test else None
    if base_ms is None or float(np.median(_known_rtts(recording))) <= MIN_QUEUE_RTT_RATIO * base_ms:
        return None
    return (
        f"{base_ms:.1f} ms is the lowest RTT under the test's own load, and a queue stood in it: "
        "--set path.rtt=RTT gives that of the idle link, as ping shows it"
    )


def _acks_reason(
    source: Source, options: ReadOptions, side: Direction, intervals: Intervals
) -> str | None:
    """Returns the reason why rates look like those of ACKs: they are far below the other direction."""
    if options.column or options.direction:
        return None
    other: Direction = "up" if side == "down" else "down"
    try:
        other_bps = intervals_of(read_recording(source, options, other), options.holes).mean_bps
    except CelltcpError:
        return None
    share = intervals.mean_bps / other_bps if other_bps > 0 else 1.0
    if share >= MAX_ACK_SHARE:
        return None
    return f"its mean is {100 * share:.1f} % of the {other}link's, as that of the ACKs of a transfer is"


def _other_direction(recording: Recording, options: ReadOptions, side: Direction) -> Direction | None:
    """Returns the direction of the transfer if it is the only one, and differs from the link's."""
    is_chosen = options.direction is not None or recording.has_both
    return None if is_chosen or recording.direction == side else recording.direction


def _summary(
    recording: Recording,
    intervals: Intervals,
    options: ReadOptions,
    shares: TimeShares,
    demand: str | None,
    queue: FullQueue | None,
    no_capacity: list[str],
) -> str:
    """Returns the summary of how a log was read."""
    parts = [": ".join(part for part in (recording.kind, recording.columns) if part)]
    if recording.is_rate_guess or recording.is_time_guess:
        names = ["times"] * recording.is_time_guess + ["rates"] * recording.is_rate_guess
        parts.append(f"unit of {' and '.join(names)} assumed (--unit)")
    if not (recording.is_counter or recording.lengths is not None or intervals.rows == 1):
        verb = "ends" if recording.ends_at_row else "begins"
        parts.append(f"a rate is of the time that {verb} at its row (--rates-end-at-row)")
    parts.append(f"{count_text(intervals.rows, 'row')}, {_time_text(intervals.step_ns)} apart")
    for count, text in (
        (intervals.without_rate, "without a rate"),
        (intervals.negative, "with a rate below zero"),
        (intervals.equal_times, f"with the time of another one, {_equal_times_text(recording)}"),
        (intervals.out_of_order, "out of order, sorted"),
        (intervals.resets, "resets of the counter"),
    ):
        if count:
            parts.append(f"{count} {text}")
    if intervals.is_first_row_dropped:
        parts.append("the first row left out, as it is of the time before the log")
    if intervals.runs > 1:
        parts.append(f"{intervals.runs} runs, one after another")
    if intervals.hole_count:
        share = intervals.hole_ns / (intervals.hole_ns + intervals.length_ns - intervals.imputed_ns)
        treatment = {"cut": "cut out", "hold": "held", "zero": "zero"}[options.holes]
        parts.append(
            f"not measured: {count_text(intervals.hole_count, 'hole')}, "
            f"{_time_text(intervals.hole_ns)} in all ({_percent(share)}), the longest "
            f"{_time_text(intervals.longest_hole_ns)}, {treatment} (--holes)"
        )
    if intervals.step_ns >= MIN_SAMPLE_NS:
        role = "the mean of" if recording.is_volume else "a sample that stands for"
        parts.append(f"each row is {role} {_time_text(intervals.step_ns)}")
    base_ms = _base_rtt(recording)
    if base_ms is not None:
        source = f"the {BASE_RTT_PERCENTILE}th percentile of its rows, under their load"
        if recording.is_load_test:
            source = "the lowest under the load of the test"
        parts.append(f"base RTT {base_ms:.1f} ms, {source}")
    if recording.is_load_test and shares.idle >= _MIN_IDLE_SHARE:
        parts.append(f"no data in {_percent(shares.idle)} of the time, as in outages of the link")
    parts += timeouts_texts(recording)
    if demand:
        parts.append(f"{LIKE_DEMAND}{demand}")
    if queue:
        parts.append(queue.text)
    parts += [f"{NO_CAPACITY}{reason}" for reason in no_capacity]
    return SEPARATOR.join([*parts, *recording.notes])


def _no_capacity(recording: Recording) -> list[str]:
    """Returns the reasons why a test without a full queue shows that its rates are no capacity."""
    again = None if held_back_reason(recording) else retransmissions_reason(recording)
    reasons = (recording.no_capacity, again, constant_window_reason(recording))
    return [reason for reason in reasons if reason]


def _equal_times_text(recording: Recording) -> str:
    if recording.is_counter:
        return "of which the last counts"
    return "added up" if recording.is_volume else "averaged"


def _time_text(ns: int) -> str:
    return f"{ns / 1e9:.6g} s"


def _percent(share: float) -> str:
    return f"{three_digits(100 * share)} %"
