"""Plausibility of a log: errors about impossible values, and reasons why rates are no capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.blocks import map_blocks, sample
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.quantity_texts import size_text, three_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.intervals import Intervals
    from celltcp.logs.recording import Recording

#: Maximum mean rate of a table without units, bit/s. Such tables of Pensieve, Oboe and the FCC are in
#: Mbit/s, and have less.
_MAX_UNNAMED_BPS = 100e6
#: Maximum mean rate of an access link, and maximum of all rates, bit/s.
_MAX_MEAN_BPS = 10e9
_MAX_BPS = 1e12
#: Minimum mean rate, bit/s; below it the unit is probably another one.
_MIN_BPS = 1e3
#: Range of steps that are likely as seconds in logs of many rows, and maximum step in others, ns.
_MIN_STEP_NS = 10**6
_MAX_STEP_NS = 10 * 10**9
_MAX_STEP_OF_FEW_NS = 1_000 * 10**9
#: Minimum number of rows for conclusions about a log.
_MIN_ROWS = 20
#: Minimum step of rows that are samples rather than means, ns.
MIN_SAMPLE_NS = 60 * 10**9
#: Minimum number of rows with an RTT for a conclusion from RTTs.
_MIN_RTT_ROWS = 8
#: Minimum ratio of the median to the lowest RTT that indicates a standing queue.
MIN_QUEUE_RTT_RATIO = 1.3
#: Share of the rate of the other direction below which a rate is that of ACKs. An ACK of 52 to 66 bytes
#: comes for each segment of 1500 bytes, or for two of them.
MAX_ACK_SHARE = 0.05
#: Minimum ratio of the fastest to the slowest tenth of the rates for a variable link.
_MIN_VARIABLE_RATIO = 1.3
#: Minimum rows, and maximum range as a share, of a congestion window that stays.
_MIN_WINDOW_ROWS, _MAX_WINDOW_RANGE = 5, 0.01
#: Minimum shares of the time, idle and at the highest rate, of the demand of an application.
_MIN_IDLE_SHARE = 0.2
_MIN_CAPPED_SHARE = 0.3


def check_rates(recording: Recording, intervals: Intervals, *, is_unit_given: bool) -> None:
    """Rejects values that no link has, and asks for unknown units.

    Raises:
        CelltcpError: with the option that settles it.
    """
    mean, highest = intervals.mean_bps, float(intervals.bps.max())
    if highest > _MAX_BPS:
        raise CelltcpError(
            f"a rate of {highest / 1e6:.0f} Mbit/s ({recording.columns or recording.kind}): --unit "
            "says the unit of rates or amounts, such as B/s or B (unit in a scenario file); allowed: 0 "
            "to 1000000 Mbit/s"
        )
    if not highest > 0:
        raise CelltcpError("the rate is zero all the time: nothing would ever pass")
    if is_unit_given:
        return
    if recording.is_rate_guess and mean > _MAX_UNNAMED_BPS:
        raise CelltcpError(
            f"nothing tells the unit of the rates, whose mean would be {mean / 1e6:.0f} Mbit/s: --unit "
            "says it (unit in a scenario file), such as kbit/s or Mbit/s"
        )
    if mean > _MAX_MEAN_BPS:
        raise CelltcpError(
            f"the mean would be {mean / 1e6:.0f} Mbit/s ({recording.columns or recording.kind}"
            "): --unit says another unit, or that it is so (unit in a scenario file), such as bit/s"
        )
    if mean < _MIN_BPS and recording.lengths is None:
        raise CelltcpError(
            f"the mean would be {three_digits(mean)} bit/s ({recording.columns or recording.kind}): "
            "--unit says another unit, or that it is so (unit in a scenario file), such as Mbit/s or "
            "MB/s"
        )


def check_steps(recording: Recording, intervals: Intervals) -> None:
    """Rejects times without a unit whose steps are unlikely as seconds.

    Raises:
        CelltcpError: with the option that says it.
    """
    step_ns = intervals.step_ns
    if (
        step_ns >= MIN_SAMPLE_NS
        and 2 * intervals.equal_times > intervals.rows
        and not recording.is_counter
    ):
        raise CelltcpError(
            f"{intervals.equal_times} of {intervals.rows} rows have the time of another one, as times "
            "without seconds do: --step says how long a row lasts, such as 1s (step in a scenario file)"
        )
    if recording.is_time_guess and _are_digits_of_clocks(recording.ns):
        raise CelltcpError(
            "the times may be hours, minutes and seconds in one number, such as 095900: --step says "
            "how long a row lasts, such as 1s, or --unit the unit that they have, such as s,Mbit/s"
        )
    is_likely = step_ns < _MAX_STEP_OF_FEW_NS
    if intervals.rows >= _MIN_ROWS:
        is_likely = _MIN_STEP_NS <= step_ns < _MAX_STEP_NS
    if recording.is_time_guess and not is_likely:
        raise CelltcpError(
            f"nothing tells the unit of the times, whose steps would be {step_ns / 1e9:g} s: --unit "
            "says it (unit in a scenario file), such as ms,Mbit/s or s,Mbit/s, or --step the length "
            "of a row"
        )


def _are_digits_of_clocks(ns: NDArray[np.int64]) -> bool:
    """Returns whether times in seconds may be digits of a clock, such as 95900 for 09:59:00."""
    sampled = sample(ns)
    digits = sampled // 10**9
    seconds, minutes = digits % 100, digits // 100 % 100
    are_clocks = (sampled >= 0) & (seconds < 60) & (minutes < 60) & (digits < 240_000)
    is_past_minute = len(np.unique(digits // 100)) > 1 and len(np.unique(seconds)) > 1
    return bool(len(sampled) >= _MIN_ROWS // 2 and are_clocks.all() and is_past_minute)


class TimeShares(NamedTuple):
    """Shares of the time of a log by its rates."""

    #: 95th percentile of the rates, bit/s.
    high_bps: float
    #: Below 1 % of that.
    idle: float
    #: Within 0.5 % of that.
    capped: float
    #: Over 1 % of that away from the median.
    varying: float

    @classmethod
    def of(cls, intervals: Intervals) -> TimeShares:
        """Returns the shares of a log."""
        rates, lengths = intervals.bps, intervals.lengths
        sampled = sample(rates)
        high, median = float(np.quantile(sampled, 0.95)), float(np.median(sampled))

        def times_ns(rows: slice) -> list[int]:
            """Returns the times that are idle, at the high rate, and away from the median."""
            rate, length, tolerance = rates[rows], lengths[rows], 0.01 * high
            conditions = (
                rate < tolerance,
                np.abs(rate - high) < tolerance / 2,
                np.abs(rate - median) > tolerance,
            )
            return [int(length[condition].sum()) for condition in conditions]

        sums = map(sum, zip(*map_blocks(len(rates), times_ns), strict=True))
        return cls(high, *(total / max(intervals.length_ns, 1) for total in sums))


def demand_reason(recording: Recording, intervals: Intervals, shares: TimeShares) -> str | None:
    """Returns the reason why a log looks like an application's demand and not like a capacity.

    In a load test the application sends all the time, so that idle time is that of outages.
    """
    if len(intervals.bps) < _MIN_ROWS:
        return None
    if shares.high_bps <= 0:
        return "mostly without traffic"
    if shares.idle > _MIN_IDLE_SHARE and not recording.is_load_test:
        return f"{100 * shares.idle:.0f} % of its time is idle"
    if shares.capped > _MIN_CAPPED_SHARE and shares.varying > 0.05:
        high_mbps = shares.high_bps / 1e6
        rate_text = f"{three_digits(high_mbps)} Mbit/s"
        return f"{100 * shares.capped:.0f} % of its time is at {rate_text}, as behind a shaper"
    return None


def held_back_reason(recording: Recording) -> str | None:
    """Returns the reason why a test with TCP may not have filled the link: no queue stood.

    A sender that fills a link makes a queue before it loses anything. Where none stood, random losses
    or windows held it back. At a steady rate, the queue may also never have been empty. Window over
    rate is no RTT where the window does not change, as it need not be full.
    """
    rtt, retransmissions = recording.rtt_ms, recording.retransmissions
    name = "RTT"
    if rtt is None or not np.isfinite(rtt).any():
        rtt, name = recording.window_rtt_ms, "Cwnd / rate"
        windows = recording.windows
        if windows is None or not np.ptp(np.log(windows)) > np.log(_MIN_VARIABLE_RATIO):
            return None
    if rtt is None or retransmissions is None or np.isfinite(rtt).sum() < _MIN_RTT_ROWS:
        return None
    known = rtt[np.isfinite(rtt)]
    lowest, median = np.percentile(known, 5), float(np.median(known))
    low, high = np.percentile(recording.values, [10, 90])
    is_steady = high < _MIN_VARIABLE_RATIO * low
    if median > MIN_QUEUE_RTT_RATIO * lowest or (retransmissions.sum() and is_steady):
        return None
    cause = f"{retransmissions.sum():.0f} retransmissions" if retransmissions.sum() else "windows"
    return (
        f"its {name} stayed near the lowest ({median:.0f} against {lowest:.0f} ms), so that no queue "
        f"stood, and {cause} may have held TCP back, unless it was BBR. iperf3 with -P 8 or -u shows "
        "what the link carries"
    )


def retransmissions_reason(recording: Recording) -> str | None:
    """Returns the reason why the rates of a sender may be those of its congestion control: losses.

    None without retransmissions, or where RTTs show the queue of a link that is full. What arrived at a
    steady rate is that of a full link, too.
    """
    rtt, retransmissions = recording.rtt_ms, recording.retransmissions
    if retransmissions is None or not retransmissions.sum():
        return None
    known = np.array([]) if rtt is None else rtt[np.isfinite(rtt)]
    if len(known) and np.median(known) > MIN_QUEUE_RTT_RATIO * np.percentile(known, 5):
        return None
    low, high = np.percentile(recording.values, [10, 90])
    if recording.no_capacity is None and high < _MIN_VARIABLE_RATIO * low:
        return None
    count = count_text(round(retransmissions.sum()), "segment")
    return (
        f"the sender sent {count} again: where no full queue lost them, its "
        "rate is what the congestion control allowed, and not what the link carries, which iperf3 "
        "with -P 8 or -u shows"
    )


def constant_window_reason(recording: Recording) -> str | None:
    """Returns the reason why a buffer bounds a test: the congestion window is not used, and stays.

    It grows only while it is the limit. The first row has its growth.
    """
    windows, retransmissions = recording.windows, recording.retransmissions
    if windows is None or retransmissions is None or retransmissions.sum():
        return None
    later = windows[1:]
    if len(later) < _MIN_WINDOW_ROWS or later.max() > (1 + _MAX_WINDOW_RANGE) * later.min():
        return None
    return (
        f"the congestion window stays at {size_text(later[-1])}, and nothing is sent again: a buffer "
        "of a host bounds what is in flight (send or receive buffer, which net.core.wmem_max and "
        "rmem_max cap for -w), or the application, not the congestion control"
    )


def unused_radio_reason(recording: Recording) -> str | None:
    """Returns the reason why rates are below the capacity: the same file has a good SINR."""
    sinr = recording.radio.get("sinr")
    if sinr is None or len(sinr) < _MIN_ROWS:
        return None
    known = np.isfinite(sinr) & np.isfinite(recording.values)
    if known.sum() < _MIN_ROWS or recording.is_volume:
        return None
    # Half of Shannon's bound on 5 MHz, the narrowest carrier in wide use, without other users.
    possible_bps = 0.5 * 5e6 * np.log2(1 + 10 ** (np.clip(sinr[known], -20, 40) / 10))
    low_share = float((recording.values[known] < 0.1 * possible_bps).mean())
    if low_share > 0.5:
        return f"in {100 * low_share:.0f} % of its rows the SINR allows ten times the rate"
    return None
