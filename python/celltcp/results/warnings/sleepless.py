"""Warning about a phone with DRX that never pauses for long enough to sleep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.results.tables import frame
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.quantity_texts import ms_text

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results.tables import Results


def sleepless(results: Results, radio: Mapping[str, Any]) -> list[str]:
    """Returns a warning if no pause of the flows is longer than the timers that keep a phone awake.

    Pauses are those of all flows together in the slots, so that single phones may pause for longer.

    Args:
        results: results of runs.
        radio: table `radio` of the scenario, with `drx`.
    """
    awake_ms = in_unit(str(radio["drx"]["inactivity"]), "ms") or 0.0
    grants = (radio.get("uplink") or {}).get("prescheduling")
    grants_ms = 0.0
    if isinstance(grants, Mapping):
        grants_ms = in_unit(str(grants["duration"]), "ms") or 0.0
    slots = frame(results.tables["slots"])
    if slots.empty or len(radio.get("ues", ())) > 1:
        return []
    slot_s = float(results.about["slot_s"])
    slots = slots.assign(is_busy=(slots["rate_mbps"] > 0) | (slots["inflight"] > 0))
    busy = slots.groupby(["run", "t_s"])["is_busy"].any()
    longest_ms = 1e3 * slot_s * max(_longest_pause(run) for _, run in busy.groupby("run"))
    # A pause begins and ends within slots; flows that send all the time have none.
    workloads = (workload for _, workload in FlowUnderTest.each_with_workload(results.about))
    is_endless_flow = longest_ms == 0 and all(map(is_endless, workloads))
    if not is_endless_flow and longest_ms + 2e3 * slot_s > awake_ms + grants_ms:
        return []
    grants_text = ""
    if grants_ms:
        grants_text = (
            f", and grants without a request keep it awake for {ms_text(grants_ms)} before that "
            "(radio.uplink.prescheduling=off has none)"
        )
    return [
        "radio.drx: the phone never slept: no pause was longer than its inactivity timer of "
        f"{ms_text(awake_ms)}{grants_text}"
    ]


def _longest_pause(is_busy: pd.Series) -> int:
    """Returns the largest number of successive slots without traffic."""
    groups = is_busy.cumsum()
    return int((~is_busy).groupby(groups).sum().max())
