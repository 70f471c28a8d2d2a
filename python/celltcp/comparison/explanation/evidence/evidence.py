"""Evidence: the metrics of a flow under a congestion control, which the rules check."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd

from celltcp.comparison.applications.frame_kinds import KIND_EVENTS, deciding_kinds, select_frames
from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.causes.far_losses import far_losses_of
from celltcp.comparison.explanation.causes.standing_queues import harq_share
from celltcp.comparison.explanation.evidence.cell_changes import CHANGE_KINDS, changes_of
from celltcp.comparison.explanation.evidence.flow_scenario import FlowScenario
from celltcp.comparison.explanation.evidence.flow_windows import FlowWindows
from celltcp.comparison.explanation.evidence.lowest_delays import with_lowest_delays
from celltcp.comparison.explanation.evidence.openings import may_have_lost_data
from celltcp.comparison.explanation.evidence.outages import Outage, outages_of, outages_of_slots
from celltcp.comparison.explanation.evidence.queue_owners import met_in_flight, queue_parts
from celltcp.comparison.explanation.evidence.recoveries import recoveries_of
from celltcp.comparison.metrics import CWND_MAX, CWND_MEAN, FRAME, FRAME_AGE, FRAMES
from celltcp.results.after_aborts import TIMED_OUT
from celltcp.results.statistics import estimate
from celltcp.results.tables import frame
from celltcp.results.tested import FlowUnderTest, has_application, has_end, with_rates_of_others
from celltcp.results.warnings.hidden_queue import hides_queue
from celltcp.results.warnings.jitter import jitter_ms
from celltcp.scenarios.narrow_hop import shares_bottleneck
from celltcp.scenarios.packets import HEADERS_BYTES
from celltcp.scenarios.sides import SERVER

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.evidence.cell_changes import CellChange

#: Minimum share of a flow's time under a limit, of hosts or of the window, at which it holds data back.
MIN_LIMITED_SHARE = 0.2
#: A window sets the pacing rate if it is full for at least the first share of the time, and at least
#: the second share of it is sent per RTT.
_MIN_FULL_SHARE, MIN_WINDOW_PER_RTT = 0.01, 0.75
#: Minimum share of the time without data to send at which unused capacity costs a flow nothing: under
#: the limits `idle` (all data is acknowledged) and `in_flight` (all data was sent).
_MIN_PAUSE_SHARE = 0.5

#: Minimum mean RTT without jitter, in lowest RTTs, at which packets waited in a queue.
MIN_QUEUED_RTTS = 1.5
#: Minimum ratio of the lowest RTT that a flow saw itself, in a queue, and of that of its path.
MIN_LATER_RTT = 1.1
#: Goodput of other flows, as a share of the own one, from which on they compete.
MIN_COMPETING_RATIO = 0.1
#: One-way delay, ms, or one for each slot.
_Delay = TypeVar("_Delay", float, pd.Series)


class Evidence(FlowScenario):
    """Metrics of a flow under one congestion control, over all runs."""

    def __init__(self, comparison: Comparison, cca: str, flow: FlowUnderTest) -> None:
        """Takes the runs of `cca` of a comparison."""
        metadata = comparison.results.about
        super().__init__(metadata, cca, flow)
        #: Whether a middlebox splits the connections. Windows and RTTs are then those of the first leg.
        self.is_split = cca in comparison.split_ccas
        #: Whether packets are dropped in a queue of Linux, unseen by the tables.
        self.hides_queue = hides_queue(comparison.results, self.scenario)
        #: Length of a slot, s.
        self.slot_s = float(metadata["slot_s"])
        runs = comparison.runs
        selected = runs[runs["cca"] == cca]
        #: Numbers of the runs.
        self.runs = [int(run) for run in selected["run"]]
        #: Seed of each run.
        self.seeds = dict(zip(self.runs, map(int, selected["seed"]), strict=True))
        self._run_seconds = float(selected["duration_s"].sum())
        self.all_connections = comparison.flows[comparison.flows["run"].isin(self.runs)]
        #: Connections of the flow. `rtt_min_ms` and `owd_min_ms` of each are the lowest of the run on
        #: the same way: a short connection may have met a long queue all the time.
        self.connections = with_lowest_delays(
            self.all_connections[flow.has(self.all_connections["name"])],
            self.all_connections[self.takes_same_way(self.all_connections["name"])],
            float(comparison.slots["capacity_mbps"].mean()),
        )
        self._means: dict[str, float] = {}
        self._keys = self.connections[["run", "flow"]]
        slots = comparison.slots_of(flow.name)
        #: Slots of the flow.
        self.slots = slots[slots["run"].isin(self.runs)]
        #: Comparison with the runs.
        self.comparison = comparison
        windows = comparison.windows_of(flow, cca)
        #: Mean congestion window over the runs, and the largest one of any run, segments.
        self.cwnd_mean = estimate(windows[CWND_MEAN]).mean
        self.cwnd_max = float(pd.Series(windows[CWND_MAX]).max())
        #: Share of the time under each limit, from 0 to 1; empty for results of earlier versions.
        self.limit_shares: Mapping[str, float] = next(
            (
                limit.shares
                for limit in comparison.results.flow_limits
                if (limit.cca, limit.flow) == (cca, flow.name)
            ),
            {},
        )
        #: Loss recoveries of the flow.
        self.recoveries = recoveries_of(comparison.results, self.connections)
        tables = comparison.results.tables
        self._outages, self._events = tables.get("outages"), tables.get("events")
        #: Dropped packets of handshakes, and of the receiving end with payload, such as requests.
        self.far_losses = far_losses_of(comparison.results, self._keys)
        #: Application of the flow; None without one.
        self.application = next(
            (application for application in comparison.applications if application.flow == flow.name),
            None,
        )
        units = comparison.units if has_application(metadata) else None
        #: Units of work of the flow; None without an application.
        self.units = (
            None if units is None else units[(units["cca"] == cca) & (units["flow"] == flow.name)]
        )

    def time_share(self, *limits: str) -> float:
        """Returns the share of the time under any of these limits; unknown ones count as zero."""
        return float(np.nansum([self.limit_shares.get(limit, 0.0) for limit in limits]))

    def mean(self, column: str) -> float:
        """Returns the mean of a column of the connections; NaN if results lack it.

        Mean delays are weighted by segments in each run, and each run has the same weight.
        """
        if column not in self._means:
            self._means[column] = self._mean(column)
        return self._means[column]

    def _mean(self, column: str) -> float:
        if column not in self.connections:
            return float("nan")
        if not column.endswith("_mean_ms"):
            return float(self.connections[column].mean())
        rows = self.connections[self.connections[column].notna() & (self.connections["segments"] > 0)]
        sums = (rows[column] * rows["segments"]).groupby(rows["run"]).sum()
        return float((sums / rows["segments"].groupby(rows["run"]).sum()).mean())

    @property
    def per_run_text(self) -> str:
        """Text that follows a count which is a mean over the runs; empty for a single run."""
        return " a run" if len(self.runs) > 1 else ""

    @property
    def in_runs_text(self) -> str:
        """Text that follows a total over the runs; empty for a single run."""
        return f" in {len(self.runs)} runs" if len(self.runs) > 1 else ""

    def mean_count_text(self, count: float) -> str:
        """Returns the mean per run of a count over all runs, as text."""
        mean = count / len(self.runs)
        return f"{mean:.2g}" if mean < 10 else number_text(mean)

    def total(self, column: str) -> float:
        """Returns the sum of a column of the connections; unknown values count as zero."""
        return float(self.connections[column].sum()) if column in self.connections else 0.0

    @property
    def has_data_on_ack_path(self) -> bool:
        """Whether other flows send data in the direction of the ACKs."""
        return bool((_are_uploads(self.all_connections) != self.is_upload).any())

    @property
    def ack_link_text(self) -> str:
        """Text that names the link of the ACKs and requests."""
        return " on the downlink" if self.is_upload else " on the uplink"

    @property
    def unit_key(self) -> str:
        """Kind of the units of work, transfers last, and flow, as `response:game`; empty for none."""
        if self.units is None or self.units.empty:
            return ""
        return f"{min(self.units['unit'].unique(), key='completion'.__eq__)}:{self.flow_name}"

    @property
    def dropped_frames(self) -> int:
        """Number of frames that the sender dropped in favour of newer ones."""
        return round(float((self._details(FRAMES) * self._details("dropped_share")).sum()))

    def _details(self, kind: str) -> pd.Series:
        """Returns the column `detail` of the events of one kind, by run and connection."""
        events = self.events_of(kind)
        if kinds := deciding_kinds(self.workload):
            columns = ["run", "flow", "t_ns", "kind", "detail"]
            rows = self.events_of(kind, FRAME, FRAME_AGE, *KIND_EVENTS)[columns]
            keys = rows[["run", "flow"]].itertuples(index=False, name=None)
            selected = select_frames(
                rows.itertuples(index=False, name=None), dict.fromkeys(keys, kinds)
            )
            events = pd.DataFrame(selected, columns=columns)
            events = events[events["kind"] == kind]
        return events.set_index(["run", "flow"])["detail"].astype(float)

    def events_of(self, *kinds: str) -> pd.DataFrame:
        """Returns the events of some kinds of the connections of the flow."""
        if self._events is None:
            return pd.DataFrame(columns=["run", "flow", "t_ns", "kind", "detail"])
        events = frame(self._events).merge(self._keys, on=["run", "flow"])
        return events[events["kind"].isin(kinds)]

    @functools.cached_property
    def aborts_s(self) -> dict[tuple[int, int], float]:
        """Time at which an endpoint aborted a connection after no answer, s, by run and connection."""
        aborts = self.events_of(TIMED_OUT).sort_values("t_ns", ascending=False)
        rows = aborts[["run", "flow", "t_ns"]].itertuples(index=False, name=None)
        return {(int(run), int(flow)): float(t_ns) * 1e-9 for run, flow, t_ns in rows}

    def max_window(self, limit: str) -> float:
        """Returns the maximum in flight that a window or buffer of the hosts allows, bytes.

        It is infinite where that window or buffer does not limit the flow.

        Args:
            limit: `receive_window` or `send_buffer`.
        """
        inflight = float(self.slots["inflight"].max()) * self.mss
        is_limit = self.time_share(limit) >= MIN_LIMITED_SHARE
        return inflight if is_limit or self._is_paced_by_window(limit, inflight) else math.inf

    def window_limited_share(self, limit: str) -> float:
        """Returns the share of the time limited by a window, with the pacing that it causes.

        Args:
            limit: `receive_window` or `send_buffer`.
        """
        window = self.max_window(limit)
        is_paced = math.isfinite(window) and self._is_paced_by_window(limit, window)
        return self.time_share(limit, *(["pacing"] if is_paced else []))

    def _is_paced_by_window(self, limit: str, window: float) -> bool:
        """Returns whether a window (bytes) below the BDP sets the rate at which the sender paces.

        A CCA that paces at the rate that it measures fills such a window only now and then, so that a
        small share of the time is enough (`_MIN_FULL_SHARE`).
        """
        bytes_per_rtt = self.goodput_mbps * 1e6 / 8 * self.min_rtt_ms / 1e3
        return (
            self.time_share(limit) >= _MIN_FULL_SHARE
            and self.time_share("pacing") >= MIN_LIMITED_SHARE
            and window < self.bdp
            and bytes_per_rtt >= MIN_WINDOW_PER_RTT * window
        )

    @functools.cached_property
    def own_cca(self) -> str:
        """Congestion control of the flow, with its parameters, without middleboxes.

        Of a comparison of single congestion controls, only the first flow has `cca`.
        """
        names = self.connections["cca"]
        return str(names.iloc[0]) if len(names) else self.cca.partition("@")[0]

    @property
    def is_bbr(self) -> bool:
        """Whether the congestion control of the flow is BBR, of any version."""
        return self.own_cca.startswith("bbr")

    @property
    def is_bbr3(self) -> bool:
        """Whether the congestion control of the flow is BBRv3."""
        return self.own_cca.startswith("bbr3")

    @property
    def jitter_ms(self) -> float:
        """Mean delay that jitter in the direction of the data adds to the lowest delay, ms."""
        return jitter_ms(self.scenario, is_upload=self.is_upload)

    @property
    def rtt_jitter_ms(self) -> float:
        """Mean delay that jitter of both directions adds to the lowest RTT, ms."""
        return sum(jitter_ms(self.scenario, is_upload=each) for each in (False, True))

    @property
    def is_queued(self) -> bool:
        """Whether a queue, and no jitter, makes the mean RTT long; RTTs end at a split host."""
        rtt_ms = self.mean("rtt_mean_ms") - self.rtt_jitter_ms
        if self.is_split:
            rtt_ms = self.min_rtt_ms + self.queue_wait_ms
        return rtt_ms >= MIN_QUEUED_RTTS * self.min_rtt_ms

    @property
    def min_rtt_ms(self) -> float:
        """Mean of the lowest RTTs of the connections, ms."""
        return self.mean("rtt_min_ms")

    @functools.cached_property
    def seen_min_rtt_ms(self) -> float:
        """Mean over the runs of the lowest RTT that the flow saw itself, ms: a queue may be in it."""
        rows = self.all_connections[self.flow.has(self.all_connections["name"])]
        return float(rows.groupby("run")["rtt_min_ms"].min().mean())

    @property
    def min_rtt_s(self) -> float:
        """Mean of the lowest RTTs of the connections, s."""
        return self.min_rtt_ms / 1e3

    @property
    def queue_wait_ms(self) -> float:
        """Mean wait of packets in queues, ms."""
        return self.wait_ms(self.mean("owd_mean_ms"))

    def wait_ms(self, owd_ms: _Delay) -> _Delay:
        """Returns the waits in one-way delays, ms: without the lowest delay and that by jitter."""
        return owd_ms - self.mean("owd_min_ms") - self.jitter_ms

    @property
    def needs_capacity(self) -> bool:
        """Whether the flow has data to send most of the time, so that unused capacity costs it."""
        return self.time_share("idle", "in_flight") < _MIN_PAUSE_SHARE

    @property
    def is_upload(self) -> bool:
        """Whether the flow sends its data to the server."""
        return bool(_are_uploads(self.connections).all())

    @functools.cached_property
    def duration_s(self) -> float:
        """Duration of the flow over all runs, s; that of the runs if the flow never sent data."""
        return len(self.slots) * self.slot_s or self._run_seconds

    @functools.cached_property
    def connection_time_s(self) -> float:
        """Sum of the durations of the connections of the flow, s."""
        return self.total("duration_s")

    @functools.cached_property
    def goodput_mbps(self) -> float:
        """Goodput in the slots, Mbit/s: the mean over the runs, as in the tables."""
        return self._mean_of_runs("goodput_mbps")

    @functools.cached_property
    def capacities_1s_mbps(self) -> pd.Series:
        """Capacity of the bottleneck, Mbit/s: for each slot the median of the second around it."""
        return self._medians_1s(self.slots.set_index("run", append=True)["capacity_mbps"])

    @functools.cached_property
    def link_rates_1s_mbps(self) -> pd.Series:
        """Rate of the whole link, Mbit/s: for each slot the median of the second around it.

        It is what other flows of the direction left a connection, with what arrived for them.
        """
        keys = self.direction_connections[["run", "flow"]]
        slots = with_rates_of_others(self.comparison.slots.merge(keys, on=["run", "flow"]))
        return self._medians_1s(slots.groupby(["t_s", "run"], observed=True)["capacity_mbps"].max())

    @property
    def direction_connections(self) -> pd.DataFrame:
        """Connections of all flows that send in the direction of this one over its bottleneck."""
        connections = self.all_connections
        is_elsewhere = connections["name"].isin(self._flows_elsewhere)
        return connections[(_are_uploads(connections) == self.is_upload) & ~is_elsewhere]

    def _medians_1s(self, rates: pd.Series) -> pd.Series:
        """Returns the medians of a second of rates by slot and run, without the index of runs."""
        count = max(round(1.0 / self.slot_s), 1)
        if rates.empty:
            return rates
        medians: pd.Series = rates.groupby("run", observed=True).transform(
            lambda rate: rate.rolling(count, center=True, min_periods=1).median()
        )
        return medians.dropna().droplevel("run")

    @functools.cached_property
    def capacity_mbps(self) -> float:
        """Capacity of the bottleneck that other flows left, Mbit/s: the mean over the runs."""
        return self._mean_of_runs("capacity_mbps")

    def _mean_of_runs(self, column: str) -> float:
        """Returns the mean over the runs of a column of slots; each run has the same weight."""
        return float(self.slots.groupby("run", observed=True)[column].mean().mean())

    @functools.cached_property
    def unused_share(self) -> float:
        """Share of `capacity_mbps` that neither the flow nor HARQ used; 0 where it is not known."""
        used = 1.0 if math.isnan(self.used_share) else self.used_share
        return min(max(1.0 - used - harq_share(self), 0.0), 1.0)

    @functools.cached_property
    def used_share(self) -> float:
        """Share of `capacity_mbps` that the flow got, from 0 to 1; NaN where it is not known."""
        if not self.capacity_mbps > 0:
            return math.nan
        # Slots in which short transfers begin and end are theirs in part.
        part = min(self.connection_time_s / self.duration_s, 1.0) if has_end(self.workload) else 1.0
        return min(max(self.goodput_mbps / (part * self.capacity_mbps), 0.0), 1.0)

    @functools.cached_property
    def competing_mbps(self) -> dict[str, float]:
        """Goodput of each other flow with data in the same direction while this one ran, Mbit/s."""
        return self._other_goodputs(is_upload=self.is_upload)

    @property
    def others_mbps(self) -> float:
        """Goodput of all other flows with data in the same direction while this one ran, Mbit/s."""
        return sum(self.competing_mbps.values())

    @functools.cached_property
    def cell_mbps(self) -> dict[str, float]:
        """Goodput of each flow of another UE in the same direction of the cell, Mbit/s."""
        is_radio = bool(self.scenario.get("radio")) and not self.scenario.get("links")
        return self._other_goodputs(is_upload=self.is_upload, is_elsewhere=True) if is_radio else {}

    @functools.cached_property
    def reverse_mbps(self) -> dict[str, float]:
        """Goodput of each flow with data in the opposite direction while this one ran, Mbit/s."""
        return self._other_goodputs(is_upload=not self.is_upload)

    @functools.cached_property
    def met_in_flight(self) -> dict[str, float]:
        """Data in flight of each flow in the slots of the longest waits, segments."""
        return met_in_flight(self)

    @functools.cached_property
    def queue_parts(self) -> dict[str, float]:
        """Part of the flow, and of each that fills its queue, in the mean wait of packets."""
        return queue_parts(self)

    def _other_goodputs(
        self, *, is_upload: bool, slots: pd.DataFrame | None = None, is_elsewhere: bool = False
    ) -> dict[str, float]:
        """Returns the goodput of each other flow of a direction in slots of this one, Mbit/s."""
        times = (self.slots if slots is None else slots)[["run", "t_s"]].drop_duplicates()
        if times.empty:
            return {}
        own_keys = set(self._keys.itertuples(index=False, name=None))
        slots = self.comparison.slots.merge(times, on=["run", "t_s"])
        is_other = [key not in own_keys for key in zip(slots["run"], slots["flow"], strict=True)]
        connections = self.all_connections[_are_uploads(self.all_connections) == is_upload]
        slots = slots[is_other].merge(connections[["run", "flow", "name"]], on=["run", "flow"])
        slots = slots[slots["name"].isin(self._flows_elsewhere) == is_elsewhere]
        sums = slots.groupby("name", observed=True)["goodput_mbps"].sum() / max(len(times), 1)
        return {str(name): float(value) for name, value in sums.items() if value > 0}

    @functools.cached_property
    def _flows_elsewhere(self) -> list[str]:
        """Names of the flows that do not cross the bottleneck of this one."""
        flows = self.scenario["flows"]
        own = flows[self.flow_index]
        return [
            str(flow["name"])
            for flow in flows
            if "name" in flow and not shares_bottleneck(self.scenario, own, flow)
        ]

    @functools.cached_property
    def bottleneck_field(self) -> str:
        """Field of the hop or further link that is the bottleneck; empty for the access link."""
        return self.bottleneck_field_of(is_upload=self.is_upload)

    @property
    def bottleneck_text(self) -> str:
        """Text that names the bottleneck; empty for the access link."""
        field = self.bottleneck_field
        noun = "link" if field.startswith("links") else "hop"
        return f"the {noun} {self.value_at(field)['name']}" if field else ""

    @property
    def buffer_text(self) -> str:
        """Text that names the buffer of the bottleneck."""
        return f"the buffer of {self.bottleneck_text}" if self.bottleneck_field else "the buffer"

    @property
    def slot_waits_ms(self) -> pd.Series:
        """Mean wait of the packets of each slot, ms; no table has the queues at wired hops."""
        return self.wait_ms(self.slots["owd_mean_ms"]).clip(lower=0.0)

    @functools.cached_property
    def max_queued_bytes(self) -> float:
        """Largest queue of the bottleneck, bytes: that at the end of a slot.

        At a wired hop, it is the largest mean wait of a slot's packets, as bytes at the link's rate.
        """
        if self.bottleneck_field:
            return float(self.slot_waits_ms.max()) / 1e3 * self.link_bytes_per_s * self.header_factor
        return float(self.connection_slots["queue_bytes"].max())

    @functools.cached_property
    def mss(self) -> float:
        """Mean payload of the segments that arrived, bytes; nearly the MSS in a bulk transfer."""
        arrived = self.total("segments") - self.total("retransmissions")
        return self.total("bytes") / max(arrived, 1.0)

    @functools.cached_property
    def header_factor(self) -> float:
        """Bytes of packets, in which links and buffers count, for a byte of payload, as of windows."""
        return (self.mss + HEADERS_BYTES) / self.mss if self.mss else 1.0

    @functools.cached_property
    def bdp(self) -> float:
        """Bandwidth-delay product of the whole link and the lowest RTT, bytes of payload."""
        return self.link_bytes_per_s * self.min_rtt_ms / 1e3

    def bdp_at(self, run: int, t_s: float, *, after_s: float = 0.0) -> float:
        """Returns the BDP, bytes of payload, at the rate from an RTT before an instant until after it.

        The time after it is an RTT, or a longer one of `after_s`.
        """
        own, rtt_s = self.slots[self.slots["run"] == run], self.min_rtt_s
        middles_s = own["t_s"] + self.slot_s / 2 - t_s
        margin_s = rtt_s + self.slot_s / 2
        own = own[(middles_s >= -margin_s) & (middles_s <= max(margin_s, after_s))]
        others = self._other_goodputs(is_upload=self.is_upload, slots=own)
        rate_mbps = float(own["capacity_mbps"].mean()) + sum(others.values())
        return rate_mbps * 1e6 / 8 * rtt_s

    @property
    def link_bytes_per_s(self) -> float:
        """Rate of the link, including what other flows used, bytes of payload per second."""
        return (self.capacity_mbps + self.others_mbps) * 1e6 / 8

    @functools.cached_property
    def windows(self) -> FlowWindows:
        """Congestion windows of the connections, by time."""
        return FlowWindows(self.comparison.results, self.connection_slots)

    @functools.cached_property
    def connection_slots(self) -> pd.DataFrame:
        """Slots of the flow, a row per connection and slot."""
        return self.comparison.slots.merge(self._keys, on=["run", "flow"])

    @functools.cached_property
    def cell_changes(self) -> list[CellChange]:
        """Handovers and radio link failures of the phone, by run and time."""
        return changes_of(self.events_of(*CHANGE_KINDS), self._wait_in_later_slots)

    def _wait_in_later_slots(self, run: int, t_s: float) -> float:
        """Returns the time from an instant of a run until data arrives in a later slot, s."""
        return self.wait_from(run, t_s + self.slot_s) + self.slot_s

    @functools.cached_property
    def outages(self) -> list[Outage]:
        """Outages in the direction of the data; those that overlap are one."""
        if self._outages is None and self.time_share("outage") > 0:
            # Results of earlier versions lack this table, but their slots show a capacity of zero.
            return outages_of_slots(self.slots[self.slots["capacity_mbps"] == 0], self.slot_s)
        # A flow that sends nothing during an outage with losses loses no time by it.
        return [
            outage
            for outage in outages_of(self._outages, self._keys, "data")
            if not outage.loses_all or may_have_lost_data(self, outage)
        ]

    @functools.cached_property
    def blackouts(self) -> list[Outage]:
        """Outages in the direction of the data that lose all packets, also within one that does not."""
        return outages_of(self._outages, self._keys, "data", "loss")

    @functools.cached_property
    def ack_outages(self) -> list[Outage]:
        """Outages in the direction of the ACKs; those that overlap are one."""
        return outages_of(self._outages, self._keys, "ack")

    def wait_after(self, outage: Outage) -> float:
        """Returns the time from the end of an outage until data arrives again, s.

        The time of further outages before that does not count. It is NaN if no data arrives again.
        """
        wait_s = self.wait_from(outage.run, outage.end_s)
        later_outages_s = sum(
            min(later.end_s, outage.end_s + wait_s) - later.start_s
            for later in self.outages
            if later.run == outage.run and outage.end_s <= later.start_s < outage.end_s + wait_s
        )
        return max(round(wait_s - later_outages_s, 9), 0.0)

    def ends_silent_after(self, outage: Outage) -> bool:
        """Returns whether the flow goes on after an outage, but no data arrives until the run ends."""
        slots = self.slots[(self.slots["run"] == outage.run) & (self.slots["t_s"] > outage.end_s)]
        return len(slots) > 0 and math.isnan(self.wait_after(outage))

    def wait_from(self, run: int, t_s: float) -> float:
        """Returns the time from an instant of a run until data arrives, s; NaN if none does."""
        slots = self.slots[(self.slots["run"] == run) & (self.slots["rate_mbps"] > 0)]
        starts = slots["t_s"][slots["t_s"] + self.slot_s > t_s]
        # Starts of slots and ends of outages are sums of decimals.
        return round(max(float(starts.min()) - t_s, 0.0), 9) if len(starts) else math.nan


def _are_uploads(connections: pd.DataFrame) -> pd.Series:
    """Returns whether each connection sends to the server; its column `ue` has the receiver."""
    return connections["ue"] == SERVER
