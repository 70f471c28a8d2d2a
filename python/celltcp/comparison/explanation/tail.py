"""Rule about the units of work that took longest: what happened on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.cause import Cause, grouped, percent
from celltcp.comparison.units_of_work import UNITS

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Units that the rule looks at. Fetches of segments and transfers are long or short by their size.
_KINDS = ("response", "frame_delay", "page_load")
#: Time from which on a unit is slow, medians.
_SLOW = 1.5


def slow_units(evidence: Evidence) -> Cause | None:
    """Some frames came after their deadline, or some units took over {_SLOW} times their median.

    A loss probe, fast recovery, time-out or outage falls into the time of some of them.
    """
    if evidence.units is None:
        return None
    for name in _KINDS:
        units = evidence.units[evidence.units["unit"] == name]
        # A frame that never arrives counts as in the percentiles of the tables.
        units = units.assign(duration_s=units["duration_s"].fillna(np.inf))
        median = float(units["duration_s"].median()) if len(units) else 0.0
        least, bound = _SLOW * median, f"took over {_SLOW} times the median of {median:.3f} s"
        deadline = evidence.deadline_s
        if deadline is not None and (units["duration_s"] > deadline).any():
            least, bound = deadline, f"came after their deadline of {1e3 * deadline:g} ms"
        slow = units[units["duration_s"] > least]
        reasons = _reasons(evidence, slow)
        if not any(reasons.values()):
            continue
        rest = len(slow) - sum(reasons.values())
        parts = [f"{grouped(count)} {reason}" for reason, count in reasons.items() if count]
        if rest:
            parts.append(f"{grouped(rest)} had other reasons")
        share = percent(len(slow) / len(units))
        ended = slow[np.isfinite(slow["duration_s"])]
        longest = f", up to {ended['duration_s'].max():.2f} s" if len(ended) else ""
        excess = float((ended["duration_s"] - min(median, least)).sum())
        whole = units["duration_s"][np.isfinite(units["duration_s"])].sum()
        return Cause(
            "slow_units",
            f"{grouped(len(slow))} of {grouped(len(units))} {UNITS[name].noun} ({share}) {bound}"
            f"{longest}: {', '.join(parts)}.",
            min(excess / float(whole), 1.0) if whole > 0 else 0.0,
        )
    return None


def _reasons(evidence: Evidence, units: pd.DataFrame) -> dict[str, int]:
    """Returns how many units met an outage, or else a time-out, a loss probe or a fast recovery."""
    rows = evidence.recoveries
    by_connection = dict(tuple(rows.groupby(["run", "flow"]))) if len(rows) else {}
    outages = [*evidence.outages, *evidence.ack_outages]
    counts = dict.fromkeys(
        (
            "met an outage",
            "waited for a time-out",
            "waited for a loss probe",
            "waited for a fast recovery",
        ),
        0,
    )
    outage, time_out, probe, recovery = counts
    columns = units[["run", "connection", "start_s", "end_s"]]
    for run, connection, start, end in columns.itertuples(index=False, name=None):
        if any(gap.overlaps(run, start, end) for gap in outages):
            counts[outage] += 1
            continue
        mine = by_connection.get((run, connection))
        if mine is None:
            continue
        starts = mine[["dropped_s", "t_s"]].min(axis=1).to_numpy()
        ends = mine["end_s"].fillna(np.inf).to_numpy()
        mine = mine[(starts <= end) & (ends >= start)]
        if (mine["timeouts"] > 0).any():
            counts[time_out] += 1
        elif (mine["loss_probes"] > 0).any():
            counts[probe] += 1
        elif len(mine):
            counts[recovery] += 1
    return counts
