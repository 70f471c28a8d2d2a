"""Evidence: the metrics of a flow under a congestion control, which the rules check."""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp._core import in_unit
from celltcp.comparison.explanation.cause import grouped
from celltcp.comparison.metrics import FRAMES
from celltcp.results.statistics import estimate
from celltcp.results.tables import frame
from celltcp.results.tested import SPARSE_WORKLOADS, FlowUnderTest, has_application, joined_slots
from celltcp.results.warnings.aborted import TIMED_OUT
from celltcp.results.warnings.jitter import jitter_ms
from celltcp.scenarios.narrow_hop import narrow_hop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.comparison.comparison import Comparison
    from celltcp.results.limits import FlowLimits

#: Node that receives the data of an upload.
SERVER = "server"
#: Minimum share of its time for which a limit of the hosts holds a flow back at which it is a cause.
FULL = 0.2
#: Share of its time for which a window is full, and of it that a flow sends in a round trip, from which
#: on it sets the pace.
_FILLED, _OF_WINDOW = 0.01, 0.75
#: Time whose data segmentation offload sends at once, s, and its most, bytes.
_AUTOSIZED_S, _MOST_OFFLOADED = 2**-10, 2**16
#: Bytes of a packet.
_PACKET = 1500
#: Resolution of times of recoveries, s.
_TICK_S = 1e-6
#: Minimum share of its time without more to send at which unused capacity costs a flow nothing.
_PAUSES = 0.5
#: Minimum wait at which a queue stands at a hop, ms.
_WAITED_MS = 1.0
#: Fields of the path and its hops that have losses.
_LOSSES = ("loss", "uplink_loss")
#: Reasons of drops in the table `recoveries`.
DROPS = ("overflow", "aqm", "policer", "random", "radio")
#: Times of the first drop by reason, there.
_FIRST_DROPS = tuple(f"{reason}_s" for reason in DROPS)


class Gap(NamedTuple):
    """Stretch of a run in which nothing could pass, whatever was sent."""

    run: int
    #: Start and end, s.
    start: float
    end: float
    #: Whether all that was sent then was lost; otherwise it waited.
    loses_all: bool = False

    @property
    def length(self) -> float:
        """Length, s."""
        return self.end - self.start

    def overlaps(self, run: float, start: float, end: float) -> bool:
        """Returns whether it overlaps a time of a run."""
        return self.run == run and self.start <= end and start <= self.end


class Evidence:
    """Metrics of a flow under one congestion control, over all runs."""

    def __init__(
        self, result: Comparison, cca: str, flow: FlowUnderTest, limits: Sequence[FlowLimits]
    ) -> None:
        """Takes the runs of `cca` of a comparison, and the limits of all of its flows."""
        #: Congestion control or line-up.
        self.cca = cca
        #: The flow, and its name.
        self.tested, self.flow = flow, flow.name
        about = result.results.about
        #: Length of a slot, s.
        self.slot_s = float(about["slot_s"])
        runs = result.runs
        selected = runs[runs["cca"] == cca]
        #: Numbers of the runs.
        self.runs = [int(run) for run in selected["run"]]
        #: Seed of each run.
        self.seeds = dict(zip(self.runs, map(int, selected["seed"]), strict=True))
        self._run_seconds = float(selected["duration_s"].sum())
        #: Scenario, as in its file.
        self.scenario: Mapping[str, Any] = tomllib.loads(about["scenario"])
        #: The same as text.
        self.scenario_text = str(about["scenario"])
        flows = result.flows
        self._all_flows = flows[flows["run"].isin(self.runs)]
        #: Connections of the flow. A short one may meet nothing but a long queue, so that the lowest
        #: delays are those of all connections of a run.
        self.flows = _with_lowest(self._all_flows[flow.has(self._all_flows["name"])])
        slots = joined_slots(flow, flows, result.slots)
        #: Slots of the flow.
        self.slots = slots[slots["run"].isin(self.runs)]
        self._all_slots = result.slots
        samples = result.results.tables.get("samples")
        #: Samples of a single run.
        has_samples = samples is not None and len(samples) > 0 and len(self.runs) == 1
        self._samples = frame(samples) if samples is not None and has_samples else None
        #: Mean and largest congestion window, segments: means over the runs.
        self.cwnd_mean, self.cwnd_max = (
            estimate(window).mean for window in result.windows_of(flow, cca).values()
        )
        #: Shares of the limits, from 0 to 1; empty for results of earlier versions.
        self.shares: Mapping[str, float] = next(
            (limit.shares for limit in limits if limit[:2] == (cca, self.flow)), {}
        )
        #: Loss recoveries of the flow, with `drops` and `length_s`.
        self.recoveries = self._recoveries(result)
        self._outages = result.results.tables.get("outages")
        self._events = result.results.tables.get("events")
        self._names = [flow_under_test.name for flow_under_test in FlowUnderTest.each(about)]
        #: Index of the flow in the scenario.
        self.number = self._names.index(flow.name)
        #: Its application; None without one.
        self.application = next(
            (application for application in result.applications if application.flow == flow.name), None
        )
        #: Workload of the flow.
        self.workload: Mapping[str, Any] = self.scenario["flows"][self.number].get("workload", {})
        units = result.units if has_application(about) else None
        #: Its units of work; None for a flow without an application.
        self.units = (
            None if units is None else units[(units["cca"] == cca) & (units["flow"] == flow.name)]
        )

    def share(self, *limits: str) -> float:
        """Returns the share of the time under some limits; unknown ones count as zero."""
        shares = [self.shares.get(limit, 0.0) for limit in limits]
        return float(np.nansum(shares))

    def mean(self, column: str) -> float:
        """Returns the mean of a column of the connections; NaN where none has it."""
        if column not in self.flows:
            return float("nan")
        if column.endswith("_mean_ms"):
            return self._mean_by_segments(column)
        return float(self.flows[column].mean())

    def _mean_by_segments(self, column: str) -> float:
        """Returns the mean over the runs of a delay, for which connections count by their segments."""
        flows = self.flows[self.flows[column].notna() & (self.flows["segments"] > 0)]
        sums = (flows[column] * flows["segments"]).groupby(flows["run"]).sum()
        return float((sums / flows["segments"].groupby(flows["run"]).sum()).mean())

    @property
    def a_run(self) -> str:
        """Words after a count that is a mean over the runs; empty of a single run."""
        return " a run" if len(self.runs) > 1 else ""

    def mean_count(self, count: float) -> str:
        """Returns a count over all runs as text, as the mean of a run."""
        mean = count / len(self.runs)
        return f"{mean:.2g}" if mean < 10 else grouped(mean)

    def total(self, column: str) -> float:
        """Returns the sum of a column of the connections; unknown values count as zero."""
        return float(self.flows[column].sum()) if column in self.flows else 0.0

    def number_of(self, name: str) -> int | None:
        """Returns the place of a flow in the scenario; None of one that is not in it."""
        return self._names.index(name) if name in self._names else None

    def is_thin_flow(self, name: str) -> bool:
        """Returns whether a flow of the scenario sends little by its nature, and fills no queue."""
        number = self.number_of(name)
        if number is None:
            return False
        return (
            self.scenario["flows"][number].get("workload", {}).get("kind", "bulk") in SPARSE_WORKLOADS
        )

    @property
    def has_middleboxes(self) -> bool:
        """Whether its packets pass middleboxes."""
        return "@" in self.cca or bool(self.scenario.get("path", {}).get("middleboxes"))

    @property
    def shares_way_back(self) -> bool:
        """Whether other flows send data on the way of its ACKs."""
        return bool(((self._all_flows["ue"] == SERVER) != self.is_upload).any())

    @property
    def way_back(self) -> str:
        """Words for the link that its ACKs and requests take."""
        return " on the downlink" if self.is_upload else " on the uplink"

    @property
    def unit(self) -> str:
        """Its kind of units of work with its name, such as `response:game`; empty without any."""
        if self.units is None or self.units.empty:
            return ""
        return f"{self.units['unit'].iloc[0]}:{self.flow}"

    @property
    def frames_due(self) -> int:
        """Frames whose deadline was before the end."""
        return round(float(self._details(FRAMES).sum()))

    @property
    def dropped_frames(self) -> int:
        """Frames that the sender has dropped because newer ones were there."""
        return round(float((self._details(FRAMES) * self._details("dropped_share")).sum()))

    def _details(self, kind: str) -> pd.Series:
        """Returns the details of the events of a kind by run and connection."""
        if self._events is None:
            return pd.Series(dtype=float)
        selected = frame(self._events).merge(self.flows[["run", "flow"]], on=["run", "flow"])
        selected = selected[selected["kind"] == kind]
        return selected.set_index(["run", "flow"])["detail"].astype(float)

    @property
    def given_up_s(self) -> list[float]:
        """Times at which an end aborted a connection without an answer, in order, s."""
        if self._events is None:
            return []
        mine = frame(self._events).merge(self.flows[["run", "flow"]], on=["run", "flow"])
        ends = mine[mine["kind"] == TIMED_OUT].groupby(["run", "flow"])["t_ns"].min()
        return sorted(t_ns * 1e-9 for t_ns in ends.astype(float))

    def mean_rtt_ms(self, run: int, start: float, end: float) -> float:
        """Returns the mean RTT of the flow in a time of a run, ms; NaN without a sample."""
        near = self.slots[self.slots["run"] == run]
        near = near[(near["t_s"] < end) & (near["t_s"] + self.slot_s > start)]
        return float(near["rtt_mean_ms"].mean())

    @property
    def is_bulk(self) -> bool:
        """Whether the flow sends as much as it can, with or without an end."""
        return bool(self.workload.get("kind", "bulk") == "bulk")

    @property
    def is_thin(self) -> bool:
        """Whether it sends little now and then, as responses and frames do."""
        return self.workload.get("kind", "bulk") in SPARSE_WORKLOADS

    @property
    def is_held_by_nagle(self) -> bool:
        """Whether the scenario has little data wait for the ACK of those before (no `TCP_NODELAY`)."""
        if not self.is_thin:
            return False
        own = self.scenario["flows"][self.number].get("nodelay")
        at_once = self.scenario.get("tcp", {}).get("nodelay") if own is None else own
        return at_once is False

    @property
    def deadline_s(self) -> float | None:
        """Time after which a frame is late, s; None of other units of work."""
        return in_unit(self.workload["deadline"], "s") if "deadline" in self.workload else None

    @property
    def policers(self) -> dict[str, Mapping[str, Any]]:
        """Policers of the path by their fields."""
        path = self.scenario.get("path", {})
        hops = {f"path.wired.{index}": hop for index, hop in enumerate(path.get("wired", ()))}
        parts = {"path": path, **hops}
        return {f"{at}.policer": part["policer"] for at, part in parts.items() if part.get("policer")}

    def window_of(self, limit: str) -> float:
        """Returns the most that a window or buffer of the hosts lets be in flight, bytes.

        It is infinite where that is no limit of the flow.

        Args:
            limit: `receive_window` or `send_buffer`.
        """
        most = float(self.slots["inflight"].max()) * self.mss
        return most if self.share(limit) >= FULL or self._paces_for(limit, most) else math.inf

    def held_by(self, limit: str) -> float:
        """Returns the share of the time under a window of the hosts, pacing for it included."""
        most = self.window_of(limit)
        paces = math.isfinite(most) and self._paces_for(limit, most)
        return self.share(limit, *(["pacing"] if paces else []))

    def _paces_for(self, limit: str, most: float) -> bool:
        """Returns whether a full window below the BDP sets the rate at which the sender paces.

        A CCA that paces at the rate that it measures fills the window now and then.
        """
        if self.share(limit) < _FILLED or self.share("pacing") < FULL or not most < self.bdp:
            return False
        return self.goodput * 1e6 / 8 * self.mean("rtt_min_ms") / 1e3 >= _OF_WINDOW * most

    @property
    def jitter_ms(self) -> float:
        """Mean delay beyond the lowest one that jitter on the way of its data makes, ms."""
        return jitter_ms(self.scenario, is_upload=self.is_upload)

    @property
    def queue_wait_ms(self) -> float:
        """Mean time for which packets waited beyond the lowest delay and what jitter makes, ms."""
        return self.mean("owd_mean_ms") - self.mean("owd_min_ms") - self.jitter_ms

    @property
    def loses_in_bursts_of_packets(self) -> bool:
        """Whether a loss of the path has bursts that last for packets and not for a time."""
        path = self.scenario.get("path", {})
        losses = [hop.get(name) for hop in (path, *path.get("wired", ())) for name in _LOSSES]
        return any(isinstance(loss, dict) and loss.get("kind") == "gilbert-elliott" for loss in losses)

    @property
    def loses_acks(self) -> bool:
        """Whether the way of its ACKs has random loss."""
        path = self.scenario.get("path", {})
        places = [path.get("loss" if self.is_upload else "uplink_loss")]
        places += [hop.get("loss") for hop in path.get("wired", ())]
        return any(bool(place) for place in places)

    @property
    def wants_more(self) -> bool:
        """Whether capacity that stays unused is a loss: not of a flow that has few data to send."""
        return not self.is_thin and self.share("idle", "in_flight") < _PAUSES

    @property
    def is_upload(self) -> bool:
        """Whether the data go to the server."""
        return bool((self.flows["ue"] == SERVER).all())

    @functools.cached_property
    def seconds(self) -> float:
        """Time of the flow in all runs, s; all of the runs if it has never sent data."""
        return len(self.slots) * self.slot_s or self._run_seconds

    @functools.cached_property
    def connection_seconds(self) -> float:
        """Time of all connections of the flow together, s."""
        return self.total("duration_s")

    @functools.cached_property
    def goodput(self) -> float:
        """Goodput in the slots, Mbit/s: the mean over the runs, as in the tables."""
        return self._mean_of_runs("goodput_mbps")

    @functools.cached_property
    def capacity(self) -> float:
        """Capacity of the bottleneck that other flows left, Mbit/s: the mean over the runs."""
        return self._mean_of_runs("capacity_mbps")

    def _mean_of_runs(self, column: str) -> float:
        """Returns the mean over the runs of a column of slots: a long one counts no more."""
        return float(self.slots.groupby("run", observed=True)[column].mean().mean())

    @functools.cached_property
    def unused(self) -> float:
        """Share of that capacity that the flow did not use, from 0 to 1; 0 where it is not known."""
        if not self.capacity > 0:
            return 0.0
        return min(max(1.0 - self.goodput / self.capacity, 0.0), 1.0)

    @functools.cached_property
    def others(self) -> dict[str, float]:
        """Goodput of each other flow of the same direction while this one ran, Mbit/s."""
        return self._others_towards(is_upload=self.is_upload)

    @functools.cached_property
    def others_back(self) -> dict[str, float]:
        """Goodput of each flow of the other direction while this one ran, Mbit/s."""
        return self._others_towards(is_upload=not self.is_upload)

    def _others_towards(self, *, is_upload: bool) -> dict[str, float]:
        """Returns the goodput of each other flow of a direction while this one ran, Mbit/s."""
        if self.slots.empty:
            return {}
        times = self.slots[["run", "t_s"]].drop_duplicates()
        own = set(self.flows[["run", "flow"]].itertuples(index=False, name=None))
        rest = self._all_slots.merge(times, on=["run", "t_s"])
        is_other = [key not in own for key in zip(rest["run"], rest["flow"], strict=True)]
        # Flows of the other direction use none of the capacity.
        same_way = self._all_flows[(self._all_flows["ue"] == SERVER) == is_upload]
        rest = rest[is_other].merge(same_way[["run", "flow", "name"]], on=["run", "flow"])
        sums = rest.groupby("name", observed=True)["goodput_mbps"].sum() / max(len(times), 1)
        return {str(name): float(value) for name, value in sums.items() if value > 0}

    @functools.cached_property
    def hop(self) -> int | None:
        """The wired hop at which its queue stands; None where that is the access link."""
        return narrow_hop(self.scenario, is_upload=self.is_upload)

    @property
    def buffer_words(self) -> str:
        """Words for the buffer in which its queue stands."""
        if self.hop is None:
            return "the buffer"
        return f"the buffer of the hop {self.scenario['path']['wired'][self.hop]['name']}"

    @property
    def _waits_ms(self) -> pd.Series:
        """Mean time for which packets of each slot waited, ms; queues at hops are in no table."""
        waits = self.slots["owd_mean_ms"] - self.mean("owd_min_ms") - self.jitter_ms
        return waits.clip(lower=0.0)

    @functools.cached_property
    def most_queued(self) -> float:
        """Most bytes that waited at the bottleneck at the end of a slot."""
        if self.hop is not None:
            return float(self._waits_ms.max()) / 1e3 * self._whole_rate
        own = self.flows[["run", "flow"]]
        return float(self._all_slots.merge(own, on=["run", "flow"])["queue_bytes"].max())

    @functools.cached_property
    def queued(self) -> float:
        """Share of the time in which the queue of the bottleneck did not empty for an RTT.

        A link with a queue is busy, so that it is no more than the share of the capacity in use: what
        waits beyond that are bursts, behind which the link is idle.
        """
        if self.slots.empty or "queue_packets" not in self.slots:
            return 0.0
        if self.hop is not None:
            return min(float((self._waits_ms >= _WAITED_MS).mean()), 1.0 - self.unused)
        rtt_s = self.mean("rtt_min_ms") / 1e3
        count = 1 + (0 if math.isnan(rtt_s) else math.ceil(rtt_s / self.slot_s))
        of_run = self.slots.groupby("run", observed=True)["queue_packets"]
        lowest = of_run.transform(lambda each: each.rolling(count, min_periods=1, center=True).min())
        return min(float((lowest > 0).mean()), 1.0 - self.unused)

    @functools.cached_property
    def burst(self) -> float:
        """Largest burst of segments that the sender hands to its device at the rate of the link, bytes.

        Linux' segmentation offload has what is paced in a millisecond (tcp_tso_autosize), two segments
        at least and 64 KiB at most.
        """
        segments = self.scenario.get("tcp", {}).get("tso", "linux")
        if isinstance(segments, int):
            return segments * self.mss
        return min(max(self._whole_rate * _AUTOSIZED_S, 2 * self.mss), _MOST_OFFLOADED)

    @property
    def overflows_by_bursts(self) -> bool:
        """Whether bursts of segmentation offload do not fit into the buffer."""
        return self.burst > max(self._buffer, self.mss)

    @property
    def buffer_field(self) -> str:
        """Field of the buffer in which its queue stands."""
        if self.scenario.get("radio"):
            return "radio.rlc.uplink_buffer" if self.is_upload else "radio.rlc.buffer"
        if self.hop is not None:
            return f"path.wired.{self.hop}.buffer"
        return "path.uplink_buffer" if self.is_upload else "path.buffer"

    @property
    def _buffer(self) -> float:
        """Size of that buffer, bytes; the most that waited in it where the field has no size."""
        value: Any = self.scenario
        for part in self.buffer_field.split("."):
            value = value[int(part)] if isinstance(value, list) else value.get(part, {})
        text = str(value)
        for unit, factor in (("packets", _PACKET), ("bdp", self.bdp)):
            if text.endswith(unit):
                return float(text.removesuffix(unit)) * factor
        size = in_unit(text, "B")
        return self.most_queued if size is None else size

    @functools.cached_property
    def mss(self) -> float:
        """Mean payload of the segments that arrived, bytes; of a bulk transfer nearly all are full."""
        arrived = self.total("segments") - self.total("retransmissions")
        return self.total("bytes") / max(arrived, 1.0)

    @functools.cached_property
    def bdp(self) -> float:
        """Bandwidth-delay product of the whole link and the lowest RTT, bytes."""
        return self._whole_rate * self.mean("rtt_min_ms") / 1e3

    @property
    def _whole_rate(self) -> float:
        """Rate of the whole link, bytes a second."""
        return (self.capacity + sum(self.others.values())) * 1e6 / 8

    def window_change(
        self, run: int, connection: int, start: float, end: float, *, is_timeout: bool
    ) -> tuple[float, float]:
        """Returns the congestion window before and after a recovery, segments; NaN where not known.

        Args:
            run: its run.
            connection: its number in the run.
            start: when the recovery began, s.
            end: when it ended, s.
            is_timeout: whether a time-out made the window small, which then grows again.
        """
        times, windows = self._window_series(run, connection)
        # The ACK that begins a recovery may reduce the window already.
        before, after = windows[times < start - _TICK_S], windows[times >= end - _TICK_S]
        if not len(before) or not len(after):
            return math.nan, math.nan
        meanwhile = windows[(times >= start - _TICK_S) & (times < end - _TICK_S)]
        reduced = min(*meanwhile, after[0]) if is_timeout and len(meanwhile) else after[0]
        return float(before[-1]), float(reduced)

    def _window_series(
        self, run: int, connection: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns times, s, and windows of a connection: at each ACK, or at the ends of slots."""
        if self._samples is not None:
            rows = self._samples[self._samples["flow"] == connection]
            return rows["t_ns"].to_numpy(float) / 1e9, rows["cwnd"].to_numpy(float)
        slots = self._all_slots
        rows = slots[(slots["run"] == run) & (slots["flow"] == connection)]
        return rows["t_s"].to_numpy(float) + self.slot_s, rows["cwnd"].to_numpy(float)

    def idle_restarts(self, share: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns windows before and after the pauses that shrank them below a share, segments."""
        own = self.flows[["run", "flow"]]
        slots = self._all_slots.merge(own, on=["run", "flow"]).sort_values(["run", "flow", "t_s"])
        of_connection = slots.groupby(["run", "flow"], sort=False)
        before, inflight = (of_connection[name].shift() for name in ("cwnd", "inflight"))
        # A time-out shrinks the window as well, but with data in flight.
        shrank = (inflight == 0) & (slots["cwnd"] < share * before) & ~(slots["timeouts"] > 0)
        return before[shrank].to_numpy(float), slots.loc[shrank, "cwnd"].to_numpy(float)

    @functools.cached_property
    def outages(self) -> list[Gap]:
        """Stretches in which nothing passed on the way of the data, each of them once."""
        if self._outages is None and self.share("outage") > 0:
            # Results of earlier versions have no such table, but slots without capacity.
            return self._gaps(self.slots["capacity_mbps"] == 0)
        # A time in which all is lost, and nothing was sent, cost the flow nothing.
        return [gap for gap in self._outages_of("data") if not gap.loses_all or self._is_hit(gap)]

    def _is_hit(self, gap: Gap) -> bool:
        """Returns whether an outage that loses all lost something, as far as the tables show it."""
        rows = self.recoveries[self.recoveries["run"] == gap.run]
        starts = rows[["dropped_s", "t_s"]].min(axis=1)
        hits = (starts <= gap.end) & ~(rows["end_s"] < gap.start)
        slots = self.slots[(self.slots["run"] == gap.run) & (self.slots["rate_mbps"] > 0)]
        goes_on = (slots["t_s"] >= gap.end).any()
        # Results of earlier versions have no recoveries.
        is_unknown = self.recoveries.empty and self.total("retransmissions") > 0
        return bool(hits.any() or not goes_on or is_unknown or self._has_units_in(gap))

    def _has_units_in(self, gap: Gap) -> bool:
        """Returns whether a unit of work was under way in an outage: its request may be lost, too."""
        if self.units is None:
            return False
        units = self.units[self.units["run"] == gap.run]
        return bool(((units["start_s"] < gap.end) & ~(units["end_s"] < gap.start)).any())

    @functools.cached_property
    def ack_outages(self) -> list[Gap]:
        """Stretches in which nothing passed on the way of the ACKs, each of them once."""
        return self._outages_of("ack")

    def _outages_of(self, direction: str) -> list[Gap]:
        """Returns the outages of a direction; those that overlap, of any connections, are one."""
        if self._outages is None:
            return []
        rows = frame(self._outages).merge(self.flows[["run", "flow"]], on=["run", "flow"])
        rows = rows[rows["direction"] == direction].sort_values(["run", "t_s"])
        result: list[Gap] = []
        columns = rows[["run", "t_s", "duration_s", "cause"]]
        for run, start, length, cause in columns.itertuples(index=False, name=None):
            gap = Gap(int(run), start, start + length, cause == "loss")
            last = result[-1] if result else None
            if last and last.run == gap.run and gap.start <= last.end:
                loses_all = last.loses_all and gap.loses_all
                result[-1] = last._replace(end=max(last.end, gap.end), loses_all=loses_all)
            else:
                result.append(gap)
        return result

    def restart_after(self, gap: Gap) -> float:
        """Returns the time from the end of an outage until data arrives again, s.

        Outages that follow before that do not count; NaN if no data arrives again.
        """
        slots = self.slots[(self.slots["run"] == gap.run) & (self.slots["rate_mbps"] > 0)]
        starts = slots["t_s"][slots["t_s"] + self.slot_s > gap.end]
        if not len(starts):
            return float("nan")
        restart = float(starts.min())
        later = (
            min(outage.end, restart) - outage.start
            for outage in self.outages
            if outage.run == gap.run and gap.end <= outage.start < restart
        )
        return max(restart - gap.end - sum(later), 0.0)

    def _gaps(self, marked: pd.Series) -> list[Gap]:
        """Returns the stretches of successive slots that are marked."""
        result: list[Gap] = []
        for run, t_s in self.slots.loc[marked, ["run", "t_s"]].itertuples(index=False, name=None):
            last = result[-1] if result else None
            end = t_s + self.slot_s
            if last and last.run == run and t_s < last.end + self.slot_s / 2:
                result[-1] = last._replace(end=end)
            else:
                result.append(Gap(int(run), float(t_s), float(end)))
        return result

    def _recoveries(self, result: Comparison) -> pd.DataFrame:
        """Returns the recoveries of the flow; none for results that lack them."""
        names = ["t_s", "end_s", "dropped_s", "slow_start", "segments", "loss_probes", "timeouts"]
        if "recoveries" not in result.results.tables:
            more = ["timeout_s", "silence_s", "unreported_bytes", "undone"]
            columns = ["run", "flow", *names, *DROPS, *_FIRST_DROPS, *more]
            return pd.DataFrame({name: [] for name in [*columns, "drops", "length_s"]}, dtype=float)
        keys = self.flows[["run", "flow", "first_data_s", "duration_s"]]
        rows = frame(result.results.tables["recoveries"]).merge(keys, on=["run", "flow"])
        if "loss_probes" not in rows:
            rows = rows.assign(loss_probes=0)
        rows = rows.assign(**{name: np.nan for name in _FIRST_DROPS if name not in rows})
        ends = rows["end_s"].fillna(rows["first_data_s"] + rows["duration_s"])
        length = (ends - rows["t_s"]).clip(lower=0.0)
        return rows.assign(drops=rows[[*DROPS]].sum(axis=1), length_s=length)


def _with_lowest(flows: pd.DataFrame) -> pd.DataFrame:
    """Returns connections with the lowest delays of all of them in each run."""
    names = [name for name in ("rtt_min_ms", "owd_min_ms") if name in flows]
    return flows.assign(**{name: flows.groupby("run")[name].transform("min") for name in names})
