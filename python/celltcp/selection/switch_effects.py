"""Measured effect of each CCA switch."""

from __future__ import annotations

import pandas as pd

from celltcp.scenarios.requirements import COMPLETION, requirement_metric, slot_measure

#: Length of the intervals before and after a switch that are compared, s, as selectors do.
_INTERVAL_S = 2.0
#: Time left for settling after a switch, s.
_SETTLING_S = 1.0


def verdicts_of(decisions: pd.DataFrame, slots: pd.DataFrame, requirement: str) -> list[str]:
    """Returns a verdict for each decision: empty for those that are no switches.

    A switch was taken back by the next decision, or it stood. Of one that stood the verdict names the
    measure of the requirement before it and after it.

    Args:
        decisions: `t_s` and `cause` of each decision of a connection, in order of time.
        slots: its slots, with `t_s`, `a`, `b`, `c` and the measures of requirements.
        requirement: goodput, balanced, delay, or weights of PM such as `"1/5/1"`.
    """
    measure, unit = _measure(slots, requirement)
    times, causes = decisions["t_s"].tolist(), decisions["cause"].tolist()
    result = []
    for index, (at, cause) in enumerate(zip(times, causes, strict=True)):
        if cause not in ("change", "agent"):
            result.append("")
            continue
        if causes[index + 1 : index + 2] == ["return"]:
            result.append(f"taken back after {times[index + 1] - at:.1f} s")
            continue
        end = min([at + _SETTLING_S + _INTERVAL_S, *times[index + 1 : index + 2]])
        before = _mean(measure, slots["t_s"], at - _INTERVAL_S, at)
        after = _mean(measure, slots["t_s"], at + _SETTLING_S, end)
        result.append(
            "stood, with nothing to compare"
            if before is None or after is None
            else f"stood: {before:.3g} before, {after:.3g}{unit} after"
        )
    return result


def _measure(slots: pd.DataFrame, requirement: str) -> tuple[pd.Series, str]:
    """Returns the measure of a requirement in each slot, and its unit."""
    metric = requirement_metric("goodput" if requirement == COMPLETION else requirement)
    if metric in slots:
        return slots[metric], " Mbit/s" if metric == "goodput_mbps" else ""
    return slot_measure(requirement).measure(slots), ""


def _mean(values: pd.Series, times: pd.Series, since: float, until: float) -> float | None:
    selected = values[(times >= since) & (times < until)].dropna()
    return float(selected.mean()) if len(selected) else None
