"""Rule about the sleep of a phone (DRX) between units of work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.explanation.causes.cause import Cause, number_text

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of the units of work that begin after a sleep of DRX at which the sleep is a cause.
_MIN_SLEEP_SHARE = 0.1
#: Kinds of workloads whose units of work begin with a request, and those that send without one.
_REQUEST_WORKLOADS = ("request-response", "page")
_UNASKED_WORKLOADS = ("frames", "on-off")


def sleep(evidence: Evidence) -> Cause | None:
    """Units of work began after a pause longer than the inactivity timer of DRX.

    The phone may then sleep until its next cycle. At least {_MIN_SLEEP_SHARE:.0%} of the units began
    after such a pause. A phone that sent a request stays awake until the answer, if the answer comes
    before the timer expires. Data that it sends itself waits for a grant, not for the next cycle: a
    scheduling request wakes it.
    """
    units, slept = evidence.units, units_after_sleep(evidence)
    total_s = 0.0 if units is None else float(units["duration_s"].sum())
    if units is None or len(slept) < _MIN_SLEEP_SHARE * len(units) or not total_s > 0:
        return None
    inactivity_s, cycle_s, on_s = (
        _drx_time(evidence, name) for name in ("inactivity", "long_cycle", "on_duration")
    )
    # Mean wait of a packet that comes at a random time of the cycle.
    mean_wait_s = (cycle_s - on_s) ** 2 / (2 * cycle_s)
    return Cause(
        "sleep",
        f"The phone slept (DRX): {number_text(len(slept))} of {number_text(len(units))} "
        f"{UNITS[str(units['unit'].iloc[0])].noun} began after a pause of over "
        f"{1e3 * inactivity_s:g} ms, when data may wait for up to {1e3 * cycle_s:g} ms.",
        min(mean_wait_s * len(slept) / total_s, 1.0),
    )


def units_after_sleep(evidence: Evidence) -> pd.Index:
    """Returns the index of the units of work for which the phone may have slept; empty for none."""
    units = evidence.units
    if units is None:
        return evidence.connections.index[:0]
    if not (evidence.scenario.get("radio") or {}).get("drx") or not evidence.is_thin:
        return units.index[:0]
    # A UE is active while a scheduling request is pending (TS 36.321 clause 5.7).
    if evidence.is_upload and evidence.workload.get("kind") in _UNASKED_WORKLOADS:
        return units.index[:0]
    inactivity_s = _drx_time(evidence, "inactivity")
    # The grant for a request starts the timer, as new data do (TS 36.321 clause 5.7).
    is_awake = evidence.min_rtt_s < inactivity_s
    if evidence.workload.get("kind") in _REQUEST_WORKLOADS and is_awake and not evidence.is_upload:
        return units.index[:0]
    units = units.sort_values(["run", "connection", "start_s"])
    previous_ends = units.groupby(["run", "connection"])["end_s"].shift()
    return units.index[units["start_s"] - previous_ends > inactivity_s]


def _drx_time(evidence: Evidence, name: str) -> float:
    """Returns a timer or cycle of DRX, s."""
    return in_unit(evidence.scenario["radio"]["drx"][name], "s") or 0.0
