"""Warning about runs with so few random losses that their means are those of the start-up."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, NamedTuple

from celltcp.results.steady_state import random_loss_rate, steady_state_of
from celltcp.results.tables import frame
from celltcp.results.tested import FlowUnderTest, is_endless, joined_slots
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantity_texts import rate_text
from celltcp.scenarios.sides import SERVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.results.steady_state import SteadyState
    from celltcp.results.tables import Results

#: Expected losses of a run in steady state. Start-up raises the mean of Reno and CUBIC by up to 10 % of
#: the later one at 30 losses, and by up to 40 % at 10 (RTTs of 40 to 200 ms, losses of 0.01 and 0.1 %).
_STEADY_LOSSES = 30
#: Half width of the 95 % interval of a mean that is wanted, as a share of it.
_WANTED_WIDTH = 0.1
#: Rate by the law, in capacities, above which losses are not the limit.
_MAX_CAPACITIES = 1.5
#: Maximum loss rate at which the laws hold: above it time-outs and recoveries take more than they have
#: (Padhye et al., 1998).
MAX_LOSS_RATE = 0.01
#: Time from which on a text is in hours, s.
_MIN_HOURS_S = 1e4


def few_losses(results: Results) -> list[str]:
    """Returns a warning for each bulk flow whose steady state random losses limit, if runs have few.

    The flow has a CCA with a law of its average window, whose rate the path carries.
    """
    names, runs = labels(results.about["cca"]), int(results.about["runs"])
    of_runs = f"the mean of {runs} runs" if runs > 1 else "the mean of one run"
    warnings = []
    for rate in law_rates(results):
        law, loss, rtt_s = rate.law, rate.loss, rate.rtt_s
        expected = loss * rate.segments
        needed = max(law.losses_for(_WANTED_WIDTH, runs, loss, rtt_s), _STEADY_LOSSES)
        if expected >= needed or not rate.is_below_capacity or not rate.holds:
            continue
        seconds = needed / (loss * law.window(loss, rtt_s)) * rtt_s
        width = law.half_width(expected, runs, loss, rtt_s)
        start_up = ", and depends on the start-up" if expected < _STEADY_LOSSES else ""
        warnings.append(
            f"{names.get(rate.cca, rate.cca)}, {rate.flow}: a run has about {expected:.2g} random "
            f"losses (loss rate {loss:.3g}), so that {of_runs} varies by {_share_text(width)} "
            f"(95 %){start_up}; for {100 * _WANTED_WIDTH:g} % the steady state needs about "
            f"{_time_text(seconds)} ({needed} losses), and by "
            f"{law.name}'s law, {law.formula(loss, rtt_s)}, has about {rate_text(rate.mbps)}"
            f"{law.independent_text(loss, rtt_s)}"
        )
    return warnings


class LawRate(NamedTuple):
    """Rate of the connections of a bulk flow by the law of its CCA, at the loss rate of the path."""

    flow: str
    cca: str
    law: SteadyState
    loss: float
    rtt_s: float
    #: Segments of a connection in a run.
    segments: float
    #: Rate of a connection, Mbit/s.
    mbps: float
    #: Number of connections in a run.
    connections: float
    capacity_mbps: float

    @property
    def goodput_mbps(self) -> float:
        """Rate of all connections, which the capacity limits, Mbit/s."""
        return min(self.mbps * self.connections, self.capacity_mbps)

    @property
    def holds(self) -> bool:
        """Whether the law has all that matters at this loss rate."""
        return self.loss <= MAX_LOSS_RATE

    @property
    def is_below_capacity(self) -> bool:
        """Whether losses are the limit, and not the path."""
        return self.mbps * self.connections <= _MAX_CAPACITIES * self.capacity_mbps


def law_rates(results: Results) -> Iterator[LawRate]:
    """Yields the rates of bulk flows by the law of their CCA, where random losses have a rate."""
    scenario = tomllib.loads(results.about["scenario"])
    rates = {upload: random_loss_rate(scenario, is_upload=upload) for upload in (False, True)}
    if not any(rates.values()):
        return
    flows, slots = frame(results.tables["flows"]), frame(results.tables["slots"])
    for flow, workload in FlowUnderTest.each_with_workload(results.about):
        if not is_endless(workload):
            continue
        connections = flows[flow.has(flows["name"])]
        for cca, rows in connections.groupby("cca", observed=True):
            law = steady_state_of(str(cca))
            loss = rates[bool((rows["ue"] == SERVER).all())]
            segments, rtt_s = float(rows["segments"].mean()), float(rows["rtt_min_ms"].mean()) / 1e3
            if law is None or not loss > 0 or not segments > 0 or not rtt_s > 0:
                continue
            mss = float(rows["bytes"].sum() / (rows["segments"] - rows["retransmissions"]).sum())
            mbps = 8e-6 * law.window(loss, rtt_s) * mss / rtt_s
            own = slots[slots["run"].isin(rows["run"])]
            capacity_mbps = float(joined_slots(flow, flows, own)["capacity_mbps"].mean())
            parallel = len(rows) / rows["run"].nunique()
            yield LawRate(
                *(flow.name, str(cca), law, loss, rtt_s, segments, mbps, parallel, capacity_mbps)
            )


def _share_text(share: float) -> str:
    """Returns a share with two digits; of a mean that may be anything only that it is."""
    return f"{float(f'{100 * share:.2g}'):g} %" if share < 1 else "its whole value"


def _time_text(seconds: float) -> str:
    """Returns a time with two digits, in hours where it is long."""
    if seconds >= _MIN_HOURS_S:
        return f"{seconds / 3600:.2g} h"
    return f"{float(f'{seconds:.2g}'):g} s"
