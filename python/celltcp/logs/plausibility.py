"""Plausibility checks of a log, and errors about ambiguous units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.logs.blocks import map_blocks, sample
from celltcp.logs.errors import log_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.intervals import Intervals
    from celltcp.logs.recording import Recording

#: Mean rate above which the unit of a table without names must be given, bit/s. Such tables of
#: Pensieve, Oboe and the FCC are in Mbit/s, and have less.
_UNNAMED_BPS = 100e6
#: Mean rate that no access link to a mobile user has, bit/s, and the highest of all rates, 1 Tbit/s.
_MOBILE_BPS = 10e9
_MAX_BPS = 1e12
#: Mean rate below which a unit is probably another one, bit/s.
_MIN_BPS = 1e3
#: Step above which the unit of times must be given: such steps are rarely seconds.
_LONG_NS = 10 * 10**9
_VERY_LONG_NS = 1_000 * 10**9
_SHORT_NS = 10**6
_MANY_ROWS = 20
#: Minimum step of rows that are samples rather than means, ns.
SAMPLE_NS = 60 * 10**9
#: Minimum number of rows with an RTT for a conclusion from RTTs.
_FEW_ROWS = 8
#: Minimum ratio of the median to the lowest RTT that indicates a standing queue.
QUEUE_RTT_RATIO = 1.3
#: Share of the rate of the other direction below which a rate is that of ACKs. One of 52 to 66 bytes
#: comes for two segments of 1500 bytes, or for fewer.
MAX_ACKS = 0.05
#: Minimum ratio of the fastest to the slowest tenth of the rates for a variable link.
_VARIABLE_RATIO = 1.3
#: Shares that make a log look like the demand of an application.
_IDLE_SHARE = 0.2
_CAPPED_SHARE = 0.3


def check(recording: Recording, intervals: Intervals, *, is_unit_given: bool) -> None:
    """Rejects values that no link has, and asks for unknown units.

    Raises:
        CelltcpError: with the option that settles it.
    """
    mean, highest = intervals.mean_bps, float(intervals.bps.max())
    if highest > _MAX_BPS:
        raise log_error(
            f"a rate of {highest / 1e6:.0f} Mbit/s ({recording.columns or recording.kind}): --unit "
            "says the unit of rates or amounts, such as B/s or B (unit in a scenario file); allowed: 0 "
            "to 1000000 Mbit/s"
        )
    if not highest > 0:
        raise log_error("the rate is zero all the time: nothing would ever pass")
    if is_unit_given:
        return
    if recording.is_rate_guess and mean > _UNNAMED_BPS:
        raise log_error(
            f"nothing tells the unit of the rates, whose mean would be {mean / 1e6:.0f} Mbit/s: --unit "
            "says it (unit in a scenario file), such as kbit/s or Mbit/s"
        )
    if mean > _MOBILE_BPS:
        raise log_error(
            f"the mean would be {mean / 1e6:.0f} Mbit/s ({recording.columns or recording.kind}"
            "): --unit says another unit, or that it is so (unit in a scenario file), such as bit/s"
        )
    if mean < _MIN_BPS and recording.lengths is None:
        raise log_error(
            f"the mean would be {mean:.3g} bit/s ({recording.columns or recording.kind}): --unit says "
            "another unit, or that it is so (unit in a scenario file), such as Mbit/s or MB/s"
        )


def check_steps(recording: Recording, intervals: Intervals) -> None:
    """Rejects times without a unit whose steps are unlikely as seconds.

    Raises:
        CelltcpError: with the option that says it.
    """
    step = intervals.step_ns
    many = intervals.rows >= _MANY_ROWS
    if step >= SAMPLE_NS and 2 * intervals.equal_times > intervals.rows and not recording.is_counter:
        raise log_error(
            f"{intervals.equal_times} of {intervals.rows} rows have the time of another one, as times "
            "without seconds do: --step says how long a row lasts, such as 1s (step in a scenario file)"
        )
    if recording.is_time_guess and _are_digits_of_clocks(recording.ns):
        raise log_error(
            "the times may be hours, minutes and seconds in one number, such as 095900: --step says "
            "how long a row lasts, such as 1s, or --unit the unit that they have, such as s,Mbit/s"
        )
    if recording.is_time_guess and (
        step >= _VERY_LONG_NS or (many and (step >= _LONG_NS or step < _SHORT_NS))
    ):
        raise log_error(
            f"nothing tells the unit of the times, whose steps would be {step / 1e9:g} s: --unit says "
            "it (unit in a scenario file), such as ms,Mbit/s or s,Mbit/s, or --step the length of a row"
        )


def _are_digits_of_clocks(ns: NDArray[np.int64]) -> bool:
    """Returns whether times as seconds are rather digits, whose last pairs are all below 60."""
    some = sample(ns)
    seconds = some // 10**9
    low, high = seconds % 100, seconds // 100 % 100
    are_pairs = (
        (some >= 0).all() and (low < 60).all() and (high < 60).all() and (seconds < 240_000).all()
    )
    is_past_minute = len(np.unique(seconds // 100)) > 1 and len(np.unique(low)) > 1
    return bool(len(some) >= _MANY_ROWS // 2 and are_pairs and is_past_minute)


def idle_share(intervals: Intervals) -> float:
    """Returns the share of the time with hardly any data: below 1 % of the high rate."""
    some = sample(intervals.bps)
    near = 0.01 * float(np.quantile(some, 0.95))
    return int(intervals.lengths[intervals.bps < near].sum()) / max(intervals.length_ns, 1)


def demand(intervals: Intervals, *, is_load_test: bool) -> str | None:
    """Returns the reason why a log looks like an application's demand and not like a capacity.

    Args:
        intervals: rates of the log.
        is_load_test: whether the application sends all the time, so that only the path is ever idle.
    """
    rates, lengths = intervals.bps, intervals.lengths
    if len(rates) < _MANY_ROWS:
        return None
    some = sample(rates)
    high, middle = float(np.quantile(some, 0.95)), float(np.median(some))
    if high <= 0:
        return "mostly without traffic"

    def times(rows: slice) -> tuple[int, int, int]:
        """Returns the times that are idle, at the high rate, and away from the usual one."""
        rate, length = rates[rows], lengths[rows]
        near = 0.01 * high
        conditions = (rate < near, np.abs(rate - high) < near, np.abs(rate - middle) > near)
        idle, capped, moving = (int(length[condition].sum()) for condition in conditions)
        return idle, capped, moving

    sums = map(sum, zip(*map_blocks(len(rates), times), strict=True))
    idle, capped, moving = (total / max(intervals.length_ns, 1) for total in sums)
    if idle > _IDLE_SHARE and not is_load_test:
        return f"{100 * idle:.0f} % of its time is idle"
    if capped > _CAPPED_SHARE and moving > 0.05:
        return f"{100 * capped:.0f} % of its time is at {high / 1e6:.3g} Mbit/s, as behind a shaper"
    return None


def held_back(recording: Recording) -> str | None:
    """Returns a statement about a test with TCP whose RTT stayed so low that no queue stood.

    A sender that fills a link makes a queue before it loses anything. Where none stood, random losses
    or windows held it back. A link of a steady rate may have a queue that never empties.
    """
    rtt, retransmissions = recording.rtt_ms, recording.retransmissions
    if rtt is None or not np.isfinite(rtt).any():
        rtt = recording.window_rtt_ms
    if rtt is None or retransmissions is None or np.isfinite(rtt).sum() < _FEW_ROWS:
        return None
    known = rtt[np.isfinite(rtt)]
    lowest, median = np.percentile(known, 5), float(np.median(known))
    low, high = np.percentile(recording.values, [10, 90])
    if median > QUEUE_RTT_RATIO * lowest or (retransmissions.sum() and high < _VARIABLE_RATIO * low):
        return None
    what = f"{retransmissions.sum():.0f} retransmissions" if retransmissions.sum() else "windows"
    return (
        f"its RTT stayed near the lowest ({median:.0f} against {lowest:.0f} ms), so that no queue "
        f"stood, and {what} may have held TCP back, unless it was BBR. iperf3 with -P 8 or -u shows "
        "what the link carries"
    )


def unused_radio(recording: Recording) -> str | None:
    """Returns a statement about rates that are low where the same file has a good SINR."""
    sinr = recording.radio.get("sinr")
    if sinr is None or len(sinr) < _MANY_ROWS:
        return None
    known = np.isfinite(sinr) & np.isfinite(recording.values)
    if known.sum() < _MANY_ROWS or recording.is_volume:
        return None
    # Half of Shannon's bound on 5 MHz, the narrowest carrier in wide use, without other users.
    bound = 0.5 * 5e6 * np.log2(1 + 10 ** (np.clip(sinr[known], -20, 40) / 10))
    below = float((recording.values[known] < 0.1 * bound).mean())
    if below > 0.5:
        return f"in {100 * below:.0f} % of its rows the SINR allows ten times the rate"
    return None
