"""Runs that are shorter than a sawtooth of the congestion window, and the warning about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.window_growth import window_growth_of
from celltcp.results.tables import frame
from celltcp.results.tested import FlowUnderTest, is_endless, joined_slots
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.results.tables import Results

#: What follows the name of a congestion control in a verdict.
LONGER_THAN_RUN = "its sawtooth is longer than a run"
#: Maximum time between the first and the last overflow of a connection, as a share of its sawtooth:
#: those of its start-up.
_MAX_START_UP_SHARE = 0.25
#: Minimum share of its mean that the rate of a steady link has nearly always.
_MIN_STEADY_SHARE = 0.95
#: Reasons of drops that bring no regular sawtooth about.
_OTHER_DROPS = ["policer", "random", "radio"]


class ShortRun(NamedTuple):
    """A bulk flow whose window does not grow back in a run after it overflowed the buffer."""

    flow: str
    #: Compared congestion control or mix.
    cca: str
    #: Window of each connection with which path and buffer are full, segments.
    window: float
    #: Time in which it grows back after a loss, s.
    sawtooth_s: float
    #: Mean time of the last overflow of a connection, and from then to its end, s.
    last_s: float
    left_s: float

    @property
    def text(self) -> str:
        """The time that the window needs and that which a run has, as a clause."""
        window = f"{self.window:,.0f}".replace(",", " ")
        return (
            f"a window of {window} segments, which path and buffer hold, needs "
            f"{three_digits(self.sawtooth_s)} s to grow back after a loss, and a run has "
            f"{three_digits(self.left_s)} s after its last overflow"
        )

    @property
    def duration_s(self) -> float:
        """Duration of a run with a whole sawtooth, s, with two digits."""
        return float(f"{1.1 * (self.last_s + self.sawtooth_s):.2g}")


def short_run_warnings(results: Results) -> list[str]:
    """Returns a warning for each flow and congestion control whose sawtooth is longer than a run."""
    names = labels(results.about["cca"])
    return [
        f"{names.get(each.cca, each.cca)}, {each.flow}: {each.text}: its queue and goodput, and "
        f"verdicts by them, are those of a window that still grows; try --duration {each.duration_s:g}s"
        for each in short_runs(results)
    ]


def short_verdicts_text(results: Results) -> str:
    """Returns a sentence on the congestion controls whose verdicts are of short runs; or empty."""
    names = labels(results.about["cca"])
    ccas = dict.fromkeys(names.get(each.cca, each.cca) for each in short_runs(results))
    if not ccas:
        return ""
    return f"verdicts on {', '.join(ccas)} hold for such short runs: a sawtooth is longer than a run"


def short_runs(results: Results) -> Iterator[ShortRun]:
    """Yields the bulk flows whose connections overflow the buffer in the start-up alone.

    Their CCA has a law, and their link a steady rate.
    """
    tables = results.tables
    if "recoveries" not in tables:
        return
    flows, slots, recoveries = (frame(tables[name]) for name in ("flows", "slots", "recoveries"))
    for flow, workload in FlowUnderTest.each_with_workload(results.about):
        if not is_endless(workload):
            continue
        connections = flows[flow.has(flows["name"]) & flows["first_data_s"].notna()]
        lineups = connections["run"].map(results.lineups)
        for (lineup, cca), rows in connections.groupby([lineups, "cca"], observed=True):
            growth, keys = window_growth_of(str(cca)), rows[["run", "flow"]]
            losses = recoveries.merge(keys, on=["run", "flow"])
            overflows = losses[losses["overflow"] > 0]
            if growth is None or overflows.empty or losses[_OTHER_DROPS].to_numpy().any():
                continue
            times_s = overflows.groupby(["run", "flow"])["t_s"].agg(["min", "max"])
            first_s, last_s = map(float, times_s.mean())
            end_s = float((rows["first_data_s"] + rows["duration_s"]).mean())
            of_runs = slots[slots["run"].isin(rows["run"])]
            own = joined_slots(flow, flows, of_runs)
            rates_mbps, least_s = own["capacity_mbps"], rows["rtt_min_ms"].mean() / 1e3
            if not rates_mbps.quantile(0.05) >= _MIN_STEADY_SHARE * rates_mbps.mean() > 0:
                continue
            mss = rows["bytes"].sum() / (rows["segments"] - rows["retransmissions"]).sum()
            # The longest RTT may be that of a delayed ACK.
            means_s = own.groupby("run")["rtt_mean_ms"].max().mean() / 1e3
            queue = of_runs.merge(keys, on=["run", "flow"]).groupby("run")["queue_bytes"].max().mean()
            full_s = max(means_s, least_s + 8e-6 * queue / rates_mbps.mean())
            parallel = len(rows) / rows["run"].nunique()
            window = float(1e6 / 8 * rates_mbps.mean() * full_s / mss / parallel)
            trough, rtt_s = growth.beta * window, (least_s + full_s) / 2
            sawtooth_s = growth.growth_s(trough, window, window, rtt_s)
            is_of_start_up = last_s - first_s <= _MAX_START_UP_SHARE * sawtooth_s
            if is_of_start_up and end_s - last_s < sawtooth_s:
                yield ShortRun(flow.name, str(lineup), window, sawtooth_s, last_s, end_s - last_s)
