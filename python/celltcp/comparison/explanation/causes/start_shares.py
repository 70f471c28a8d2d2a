"""Part of the start in the shares of two flows of one congestion control that start together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.evidence.recoveries import of_connection
from celltcp.results.warnings.simultaneous import shares_that_change
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.ccas import family_of
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum ratio of the windows at the first losses of two flows that makes their start unequal.
_MIN_WINDOW_RATIO = 1.25


def start_text(own: Evidence, other: Evidence) -> str:
    """Returns the rates of two flows in both halves of the runs, and the windows of their start.

    Empty where the shares of both are settled. The windows are those at which slow start ended, and
    before the first loss, of flows that reduce theirs at losses.
    """
    flows = (own, other)
    changes = shares_that_change(own.comparison.results, own.scenario["flows"])
    names = {each.flow_name for each in flows}
    if not any(change.mix == own.cca and change.flow in names for change in changes):
        return ""
    halves = [_goodputs_of_halves(each) for each in flows]
    first, second = (other / own for own, other in zip(*halves, strict=True))
    return (
        f"The start is a part of it: {other.flow_name} had {three_digits(first)} times the rate in "
        f"the first half of a run, and {three_digits(second)} times in the second"
        f"{_windows_text(own, other)}."
    )


def _goodputs_of_halves(flow: Evidence) -> list[float]:
    """Returns the mean goodput in the first and the second half of the time of a flow, Mbit/s."""
    slots = flow.slots
    middle_s = (slots["t_s"].min() + slots["t_s"].max()) / 2
    is_second = slots["t_s"] >= middle_s
    return [float(slots.loc[is_in, "goodput_mbps"].mean()) for is_in in (~is_second, is_second)]


def _windows_text(own: Evidence, other: Evidence) -> str:
    """Returns the windows of the start as a clause; empty where they are much the same."""
    windows = [_first_windows(each) for each in (own, other)]
    if not windows[1][1] >= _MIN_WINDOW_RATIO * windows[0][1]:
        return ""
    exits, befores = (
        f"{number_text(of_own)} ({own.flow_name}) and {number_text(of_other)} ({other.flow_name})"
        for of_own, of_other in zip(*windows, strict=True)
    )
    return (
        f"; slow start ended at windows of {exits} segments, and the first losses came at {befores}, "
        "from which cwnds approach each other loss by loss"
    )


def _first_windows(flow: Evidence) -> tuple[float, float]:
    """Returns the mean windows of a flow, segments: at the end of slow start, and at its first loss.

    NaN where a connection has no loss, or its CCA does not reduce its window at losses.
    """
    if family_of(parse_flow_cca(flow.own_cca).name) != "loss":
        return float("nan"), float("nan")
    exits, befores = [], []
    for _, row in flow.connections.iterrows():
        rows = of_connection(flow.recoveries, row["run"], row["flow"])
        rows = rows[(rows["drops"] > 0) & ~(rows["undone"] > 0)]
        first_s = float(rows["t_s"].min())
        exits.append(float(row["slow_start_exit_cwnd"]))
        befores.append(flow.windows.before(int(row["run"]), int(row["flow"]), first_s))
    return float(np.mean(exits)), float(np.mean(befores))
