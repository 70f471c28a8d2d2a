"""Measured effects of CCA switches, as verdicts on the decisions of a selector."""

from __future__ import annotations

import pandas as pd

from celltcp.scenarios.requirements import (
    COMPLETION,
    requirement_metric,
    slot_measure,
)

#: Length of the windows before and after a switch that are compared, s, as in selectors.
_WINDOW_S = 2.0
#: Time between a switch and the window after it, s.
_SETTLING_S = 1.0


def switch_verdicts(decisions: pd.DataFrame, slots: pd.DataFrame, requirement: str) -> list[str]:
    """Returns a verdict for each decision; empty for decisions that are no switches.

    A switch was taken back by the next decision, or stood. If it stood, the verdict has the measure of
    the requirement before and after it.

    Args:
        decisions: `t_s` and `cause` of each decision of a connection, in order of time.
        slots: its slots, with `t_s`, the parts `a`, `b` and `c` of PM, the metrics `goodput_mbps`,
            `pm_balanced` and `pm_delay`, and `rtt_mean_ms`.
        requirement: in its normal form, such as `"goodput"`, `"fct"`, `"delay@2Mbps"` or the weights
            `"1/5/1"` of the parts of PM.
    """
    measure, unit = _measure(slots, requirement)
    times, causes = decisions["t_s"].tolist(), decisions["cause"].tolist()
    result = []
    for index, (t_s, cause) in enumerate(zip(times, causes, strict=True)):
        if cause not in ("change", "agent"):
            result.append("")
            continue
        if causes[index + 1 : index + 2] == ["return"]:
            result.append(f"taken back after {times[index + 1] - t_s:.1f} s")
            continue
        end_s = min([t_s + _SETTLING_S + _WINDOW_S, *times[index + 1 : index + 2]])
        before = _mean(measure, slots["t_s"], t_s - _WINDOW_S, t_s)
        after = _mean(measure, slots["t_s"], t_s + _SETTLING_S, end_s)
        result.append(
            "stood, with nothing to compare"
            if before is None or after is None
            else f"stood: {before:.3g} before, {after:.3g}{unit} after"
        )
    return result


def _measure(slots: pd.DataFrame, requirement: str) -> tuple[pd.Series, str]:
    """Returns the measure of a requirement in each slot, and its unit."""
    # A slot has no completion time; more goodput shortens it.
    metric = requirement_metric("goodput" if requirement == COMPLETION else requirement)
    if metric in slots:
        return slots[metric], " Mbit/s" if metric == "goodput_mbps" else ""
    return slot_measure(requirement).measure(slots), ""


def _mean(values: pd.Series, times_s: pd.Series, start_s: float, end_s: float) -> float | None:
    selected = values[(times_s >= start_s) & (times_s < end_s)].dropna()
    return float(selected.mean()) if len(selected) else None
