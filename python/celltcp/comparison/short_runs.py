"""Runs that are shorter than a sawtooth of the congestion window, and the warning about them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.evidence.flow_scenario import FlowScenario
from celltcp.comparison.explanation.evidence.window_growth import window_growth_of
from celltcp.results.columns import (
    connection_keys,
    distinct,
    group_means,
    group_sums,
    indices_of,
    numbers,
    rows_of,
)
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.packets import HEADERS_BYTES
from celltcp.scenarios.quantity_texts import three_digits
from celltcp.scenarios.sides import SERVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.evidence.window_growth import WindowGrowth
    from celltcp.results.tables import Results

#: What follows the name of a congestion control in a verdict.
LONGER_THAN_RUN = "its sawtooth is longer than a run"
#: Maximum time between the first and the last overflow of a connection, as a share of its sawtooth:
#: those of its start-up.
_MAX_START_UP_SHARE = 0.25
#: Ratio of a duration of runs that is advised and of the time until the buffer is full again.
_MARGIN = 1.1
#: Minimum share of its mean that the rate of a steady link has nearly always.
_MIN_STEADY_SHARE = 0.95
#: Reasons of drops that bring no regular sawtooth about.
_OTHER_DROPS = ("policer", "random", "radio")
#: Bits of the time in microseconds in the key of a slot.
_TIME_BITS = 42


class ShortRun(NamedTuple):
    """A bulk flow whose window does not grow back in a run after it overflowed the buffer."""

    flow: str
    #: Compared congestion control or mix.
    cca: str
    #: Window of each connection with which path and buffer are full, segments.
    window: float
    #: Window that the last loss left, segments, and the time from that loss to the next one, s.
    trough: float
    growth_s: float
    #: Mean time of the last overflow of a connection, and from then to its end, s.
    last_s: float
    left_s: float

    @property
    def text(self) -> str:
        """The time that the window needs and that which a run has, as a clause."""
        return (
            f"path and buffer hold a window of {number_text(self.window)} segments, which comes "
            f"{three_digits(self.growth_s)} s after the last overflow left {number_text(self.trough)}, "
            f"and a run has {three_digits(self.left_s)} s after it"
        )

    @property
    def duration_s(self) -> float:
        """Duration of a run in which the window fills the buffer again, s, with two digits."""
        duration_s = _MARGIN * (self.last_s + self.growth_s)
        step_s = 10.0 ** (math.floor(math.log10(duration_s)) - 1)
        return math.ceil(duration_s / step_s) * step_s


def short_run_warnings(comparison: Comparison) -> list[str]:
    """Returns a warning for each flow and congestion control whose sawtooth is longer than a run."""
    names = labels(comparison.ccas)
    return [
        f"{names.get(each.cca, each.cca)}, {each.flow}: {each.text}: its queue and goodput, and "
        f"verdicts by them, are those of a window that still grows; try --duration {each.duration_s:g}s"
        for each in comparison.short_runs
    ]


def short_verdicts_text(comparison: Comparison) -> str:
    """Returns a sentence on the congestion controls whose verdicts are of short runs, if any are."""
    names = labels(comparison.ccas)
    ccas = dict.fromkeys(names.get(each.cca, each.cca) for each in comparison.short_runs)
    return f"verdicts on {', '.join(ccas)} hold for such short runs: a sawtooth is longer than a run"


def short_runs(results: Results) -> Iterator[ShortRun]:
    """Yields the bulk flows whose connections overflow the buffer in the start-up alone.

    Their CCA has a law, and their link a steady rate.
    """
    losses = _losses(results)
    if not any(each.overflows_s for each in losses.values()):
        return
    for flow, workload in FlowUnderTest.each_with_workload(results.about):
        if not is_endless(workload):
            continue
        for (lineup, cca), rows in _connections(results, flow).items():
            own = {key: losses[key] for row in rows if (key := _key(row.run, row.number)) in losses}
            times_s = [each.overflows_s for each in own.values() if each.overflows_s]
            growth = window_growth_of(cca)
            if growth is None or not times_s or any(each.has_others for each in own.values()):
                continue
            path = _FullPath.of(results, FlowScenario(results.about, lineup, flow), rows)
            if path is None:
                continue
            epochs = [path.epoch(growth, each, key) for key, each in own.items()]
            trough, growth_s = map(_mean, zip(*epochs, strict=True))
            first_s, last_s = _mean(map(min, times_s)), _mean(map(max, times_s))
            left_s = _mean(row.first_data_s + row.duration_s for row in rows) - last_s
            is_of_start_up = last_s - first_s <= _MAX_START_UP_SHARE * growth_s
            if is_of_start_up and left_s < growth_s:
                yield ShortRun(flow.name, lineup, path.window, trough, growth_s, last_s, left_s)


class _Losses(NamedTuple):
    """Losses of a connection: starts and ends of recoveries, those from overflows, and others."""

    starts_s: list[float]
    ends_s: list[float]
    overflows_s: list[float]
    has_others: bool


def _losses(results: Results) -> dict[int, _Losses]:
    """Returns the losses of each connection, by its key; empty without their table."""
    losses: dict[int, _Losses] = {}
    if "rate_mbps" not in results.tables["slots"].column_names:
        return losses
    columns = ("run", "flow", "t_s", "end_s", "overflow", *_OTHER_DROPS)
    for run, flow, t_s, end_s, overflow, *others in rows_of(results.tables["recoveries"], *columns):
        own = losses.get(_key(run, flow), _Losses([], [], [], has_others=False))
        own.starts_s.append(t_s)
        own.ends_s.append(math.nan if end_s is None else end_s)
        own.overflows_s.extend([t_s] if overflow else [])
        losses[_key(run, flow)] = own._replace(has_others=own.has_others or any(others))
    return losses


class _Connection(NamedTuple):
    """Connection that sent data."""

    run: int
    number: int
    #: Whether it sends to the server.
    is_upload: bool
    #: Payload, bytes, and segments without retransmissions.
    bytes: int
    segments: int
    rtt_min_ms: float
    first_data_s: float
    duration_s: float


def _connections(results: Results, flow: FlowUnderTest) -> dict[tuple[str, str], list[_Connection]]:
    """Returns the connections of a flow that sent data, by compared CCA or mix and own CCA."""
    found: dict[tuple[str, str], list[_Connection]] = {}
    columns = ("run", "flow", "name", "cca", "ue", "bytes", "segments", "retransmissions")
    times = ("rtt_min_ms", "first_data_s", "duration_s")
    rows = rows_of(results.tables["flows"], *columns, *times)
    for run, number, name, cca, receiver, size, segments, again, *of in rows:
        if flow.includes(name) and run in results.lineups and None not in of[:2]:
            row = _Connection(run, number, receiver == SERVER, size, segments - again, *of)
            found.setdefault((results.lineups[run], cca), []).append(row)
    return found


class _FullPath(NamedTuple):
    """Path of steady rate whose buffer is full, with the windows of connections of a flow by time."""

    least_rtt_s: float
    #: Windows of each connection with which the path, and path and buffer are full, segments.
    bdp: float
    window: float
    #: Ends of slots, s, and windows in them, segments, of each connection.
    windows: Mapping[int, tuple[NDArray[np.float64], NDArray[np.float64]]]

    @classmethod
    def of(
        cls, results: Results, flow: FlowScenario, connections: Sequence[_Connection]
    ) -> _FullPath | None:
        """Returns the path of the connections of a flow; None if its rate varies."""
        table = results.tables["slots"]
        wanted = np.array([_key(row.run, row.number) for row in connections], np.int64)
        keys = connection_keys(table)
        is_own = indices_of(keys, wanted) >= 0

        def column(name: str) -> NDArray[np.float64]:
            return numbers(table[name])[is_own].astype(np.float64)

        runs, times_s = column("run").astype(np.int64), column("t_s")
        # Connections that send at the same time share a slot.
        slots, _, groups = distinct(runs << _TIME_BITS | np.round(1e6 * times_s).astype(np.int64))
        # What arrives is steadier than goodput, and counts headers.
        arrived_mbps, goodput_mbps = column("rate_mbps"), column("goodput_mbps")
        payload_mbps = arrived_mbps * (goodput_mbps.sum() / max(arrived_mbps.sum(), 1e-9))
        others_mbps = group_sums(payload_mbps, groups, len(slots))[groups] - payload_mbps
        rates_mbps = group_means(column("capacity_mbps") + others_mbps, groups, len(slots))
        rates_mbps = rates_mbps[~np.isnan(rates_mbps)]
        if not len(rates_mbps):
            return None
        mean_mbps = float(rates_mbps.mean())
        if not np.quantile(rates_mbps, 0.05) >= _MIN_STEADY_SHARE * mean_mbps > 0:
            return None
        mss = sum(row.bytes for row in connections) / sum(row.segments for row in connections)
        link_bps = flow.link_rate(is_upload=connections[0].is_upload)
        link_bps = link_bps or 1e6 * mean_mbps * (mss + HEADERS_BYTES) / mss
        size = flow.buffer_size(flow.buffer_field_of(is_upload=connections[0].is_upload), link_bps / 8)
        if size is None:
            return None
        least_s = _mean(row.rtt_min_ms for row in connections) / 1e3
        parallel = len(connections) / len({row.run for row in connections})
        segments_per_s = 1e6 / 8 * mean_mbps / mss / parallel
        ends_s, cwnds = times_s + float(results.about["slot_s"]), column("cwnd")
        windows = {
            int(key): (ends_s[is_of_key], cwnds[is_of_key])
            for key in wanted
            for is_of_key in [keys[is_own] == key]
        }
        bdp = segments_per_s * least_s
        return cls(least_s, bdp, bdp + segments_per_s * 8 * size / link_bps, windows)

    def epoch(self, growth: WindowGrowth, losses: _Losses, key: int) -> tuple[float, float]:
        """Returns the window that the last loss of a connection left, and the time to the next loss, s.

        A recovery leaves `beta` of the window before it, which gives W_max.
        """
        ends_s, cwnds = self.windows[key]
        before = trough = w_max = 0.0
        nexts_s = [*losses.starts_s[1:], math.inf]
        for end_s, next_s in zip(losses.ends_s, nexts_s, strict=True):
            index = int(np.searchsorted(ends_s, end_s))
            # The slot may end in the next recovery.
            is_before = index < len(ends_s) and ends_s[index] <= next_s
            trough = float(cwnds[index if is_before else max(index - 1, 0)])
            before = trough / growth.beta
            w_max = growth.w_max(before, is_lowered=growth.lowers_w_max(before, w_max))
        growth_s, _ = growth.epoch(trough, w_max, self.window, self._mean_rtt_s(trough))
        return trough, losses.ends_s[-1] - losses.starts_s[-1] + growth_s

    def _mean_rtt_s(self, trough: float) -> float:
        """Returns the mean RTT while a window grows by as much per round trip from a trough on, s."""
        start, end = max(trough, self.bdp), self.window
        queued = max(end - start, 0.0) * ((start + end) / 2 / self.bdp - 1)
        return self.least_rtt_s * (1 + queued / max(end - trough, 1.0))


def _key(run: int, number: int) -> int:
    return run << 32 | number


def _mean(values: Iterable[float]) -> float:
    """Returns the mean of some values."""
    listed = list(values)
    return sum(listed) / len(listed)
