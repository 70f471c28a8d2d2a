"""Rules about the sender: slow start of applications, time-outs, recoveries without a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.causes.path import overlap_outages, timeouts_text
from celltcp.comparison.explanation.evidence.ramps import link_share_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of the time in waits for time-outs at which time-outs are a cause.
_MIN_TIMEOUT_SHARE = 0.05
#: Share of the window before a pause below which the pause has shrunk it.
_MAX_SHRUNK_SHARE = 0.6
#: Minimum share of the units of work that begin with a shrunk window at which pauses are a cause.
_MIN_RESTARTED_SHARE = 0.3
#: Minimum shares of slow start in the time without pauses at which it is a cause: after pauses that
#: shrank the window, and without such pauses.
_MIN_SLOW_START_AFTER_PAUSES, _MIN_SLOW_START_SHARE = 0.2, 0.5

#: Minimum share of the capacity unused beside reordering that a text names.
_MIN_UNUSED_SHARE = 0.02


def idle_restart(evidence: Evidence) -> Cause | None:
    """The window of an application shrank in its pauses, and slow start began anew.

    At least two units of work, and {_MIN_RESTARTED_SHARE:.0%} of all, began after a pause with less
    than {_MAX_SHRUNK_SHARE:.0%} of the window before the pause. Slow start takes at least
    {_MIN_SLOW_START_AFTER_PAUSES:.0%} of the time without pauses.
    """
    share = _slow_start_share(evidence)
    if evidence.is_bulk or share < _MIN_SLOW_START_AFTER_PAUSES:
        return None
    before, after = evidence.windows.idle_restarts(_MAX_SHRUNK_SHARE)
    # Transfers are units, too, and have several responses.
    kind = evidence.unit_key.partition(":")[0]
    unit_count = 0 if evidence.units is None else int((evidence.units["unit"] == kind).sum())
    count = len(before)
    if count < max(2, _MIN_RESTARTED_SHARE * unit_count):
        return None
    subject = "pauses shrank"
    # The connections of a page have pauses of their own.
    if unit_count and kind != "page_load":
        noun = UNITS[kind].noun
        subject = f"of {number_text(unit_count)} {noun} began after a pause that shrank"
    return Cause(
        "idle_restart",
        f"{number_text(count)} {subject} the window (slow start after idle), from "
        f"{number_text(before.mean())} to {number_text(after.mean())} segments on average; slow start "
        f"took {percent_text(share)} of the time in which data were under way.",
        share,
    )


def slow_start(evidence: Evidence) -> Cause | None:
    """The units of work of an application are so short that they mostly are in slow start.

    Slow start takes at least {_MIN_SLOW_START_SHARE:.0%} of the time without pauses, and `idle_restart`
    is no cause.
    """
    # While the sender is in slow start, waits by Nagle's algorithm count as time in it, too.
    if evidence.is_held_by_nagle:
        return None
    share = _slow_start_share(evidence)
    if evidence.is_bulk or share < _MIN_SLOW_START_SHARE or idle_restart(evidence):
        return None
    window = evidence.scenario.get("tcp", {}).get("initial_window")
    window_text = f", from an initial window of {window} segments on" if window else ""
    phase = "BBR's STARTUP" if evidence.is_bbr else "Slow start"
    return Cause(
        "slow_start",
        f"{phase} took {percent_text(share)} of the time in which data were under way{window_text}.",
        share,
    )


def _slow_start_share(evidence: Evidence) -> float:
    """Returns the share of slow start in the time without pauses."""
    active_share = 1.0 - evidence.time_share("idle")
    return evidence.time_share("startup") / active_share if active_share > 0 else 0.0


def reordering(evidence: Evidence) -> Cause | None:
    """The sender took reordered packets for lost ones.

    At least two recoveries began without a drop or a time-out, and not right after an outage, in which
    ACKs were lost. At least one reduction was undone, or one segment arrived twice.
    """
    rows = evidence.recoveries
    rows = rows[(rows["drops"] == 0) & (rows["timeouts"] == 0)]
    rows = rows[~_follow_outages(rows, evidence)]
    duplicates, undone = evidence.total("spurious_retransmissions"), float(rows["undone"].sum())
    if len(rows) < 2 or duplicates + undone < 1:
        return None
    share = rows["length_s"].sum() / evidence.connection_time_s
    if not evidence.hides_queue:
        # A D-SACK reports the last of several segments that arrived twice.
        again = evidence.total("retransmissions") - evidence.recoveries["drops"].sum()
        duplicates = max(duplicates, again)
    recoveries_text, duplicates_text, undone_text = (
        f"{text} {noun if text == '1' else nouns}"
        for text, noun, nouns in (
            (evidence.mean_count_text(len(rows)), "recovery", "recoveries"),
            (evidence.mean_count_text(duplicates), "segment", "segments"),
            (evidence.mean_count_text(undone), "reduction", "reductions"),
        )
    )
    # A reduction that is undone costs the time until then.
    is_undone = undone >= len(rows) or not evidence.needs_capacity
    cost = share if is_undone else max(share, evidence.unused_share)
    unused_text = ""
    if cost == evidence.unused_share >= _MIN_UNUSED_SHARE:
        unused_text = f"; {link_share_text(evidence, cost)} of the capacity stayed unused"
    return Cause(
        "reordering",
        f"Packets overtook each other: {recoveries_text}{evidence.per_run_text} began with nothing "
        f"lost, {duplicates_text} arrived twice, and {undone_text} of the window "
        f"{'was' if undone_text.startswith('1 ') else 'were'} undone{unused_text}.",
        min(cost, 1.0),
    )


def _follow_outages(rows: pd.DataFrame, evidence: Evidence) -> NDArray[np.bool_]:
    """Returns for each recovery whether it began with the first data after an outage.

    That data are segments whose ACKs were lost in the outage.
    """
    rtt_s = evidence.mean("rtt_mean_ms") / 1e3
    # Data arrive again within a slot, and their ACKs bring about the recovery.
    lengths_s = {
        gap: evidence.wait_after(gap) + evidence.slot_s + 2 * rtt_s for gap in evidence.outages
    }
    starts = zip(rows["run"], rows["t_s"], strict=True)
    return np.array(
        [
            any(gap.run == run and 0 <= t_s - gap.end_s <= length for gap, length in lengths_s.items())
            for run, t_s in starts
        ],
        bool,
    )


def time_outs(evidence: Evidence) -> Cause | None:
    """The sender waited for time-outs for at least {_MIN_TIMEOUT_SHARE:.0%} of the time.

    Time-outs during outages, or with data that had arrived unreported, do not count.
    """
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] == 0)]
    rows = rows[~overlap_outages(rows, evidence.outages)]
    waited_s = (rows["silence_s"].fillna(0) + rows["length_s"]).sum()
    share = 0.0
    if len(rows):
        share = min(evidence.time_share("timeout"), waited_s / evidence.connection_time_s)
    if share < _MIN_TIMEOUT_SHARE:
        return None
    max_timeouts = int(rows["timeouts"].max())
    row_text = f", up to {max_timeouts} in one recovery" if max_timeouts > 1 else ""
    return Cause(
        "time_outs",
        f"The sender waited for {timeouts_text(evidence, rows)}, for {percent_text(share)} of the time"
        f"{row_text}.",
        share,
    )
