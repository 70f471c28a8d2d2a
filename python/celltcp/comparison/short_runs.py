"""Runs that are shorter than a sawtooth of the congestion window, and the warning about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.explanation.window_growth import window_growth_of
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
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tables import Results

#: What follows the name of a congestion control in a verdict.
LONGER_THAN_RUN = "its sawtooth is longer than a run"
#: Maximum time between the first and the last overflow of a connection, as a share of its sawtooth:
#: those of its start-up.
_MAX_START_UP_SHARE = 0.25
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
            own = [losses[key] for row in rows if (key := row[:2]) in losses]
            times_s = [each.overflows_s for each in own if each.overflows_s]
            growth = window_growth_of(cca)
            if growth is None or not times_s or any(each.has_others for each in own):
                continue
            first_s, last_s = _mean(map(min, times_s)), _mean(map(max, times_s))
            end_s = _mean(first_data_s + duration_s for *_, first_data_s, duration_s in rows)
            if (path := _FullPath.of(results, rows)) is None:
                continue
            trough, rtt_s = growth.beta * path.window, (path.least_rtt_s + path.full_rtt_s) / 2
            sawtooth_s = growth.growth_s(trough, path.window, path.window, rtt_s)
            is_of_start_up = last_s - first_s <= _MAX_START_UP_SHARE * sawtooth_s
            if is_of_start_up and end_s - last_s < sawtooth_s:
                yield ShortRun(flow.name, lineup, path.window, sawtooth_s, last_s, end_s - last_s)


class _Losses(NamedTuple):
    """Losses of a connection: the times of overflows of the buffer, s, and whether there are others."""

    overflows_s: list[float]
    has_others: bool


def _losses(results: Results) -> dict[tuple[int, int], _Losses]:
    """Returns the losses of each connection, by run and number; empty without their table."""
    losses: dict[tuple[int, int], _Losses] = {}
    if "rate_mbps" not in results.tables["slots"].column_names:
        return losses
    columns = ("run", "flow", "t_s", "overflow", *_OTHER_DROPS)
    for run, flow, time_s, overflow, *others in rows_of(results.tables["recoveries"], *columns):
        times_s, has_others = losses.get((run, flow), _Losses([], has_others=False))
        times_s += [time_s] if overflow else []
        losses[run, flow] = _Losses(times_s, has_others or any(others))
    return losses


#: Run, number, payload in bytes, segments without retransmissions, lowest RTT in ms, time of the first
#: data and duration in s of a connection.
_Connection = tuple[int, int, int, int, float, float, float]


def _connections(results: Results, flow: FlowUnderTest) -> dict[tuple[str, str], list[_Connection]]:
    """Returns the connections of a flow that sent data, by compared CCA or mix and own CCA."""
    found: dict[tuple[str, str], list[_Connection]] = {}
    columns = ("run", "flow", "name", "cca", "bytes", "segments", "retransmissions")
    times = ("rtt_min_ms", "first_data_s", "duration_s")
    rows = rows_of(results.tables["flows"], *columns, *times)
    for run, number, name, cca, size, segments, again, rtt_ms, first_s, duration_s in rows:
        if flow.includes(name) and run in results.lineups and None not in (first_s, rtt_ms):
            row = (run, number, size, segments - again, rtt_ms, first_s, duration_s)
            found.setdefault((results.lineups[run], cca), []).append(row)
    return found


class _FullPath(NamedTuple):
    """Path of steady rate whose buffer is full."""

    least_rtt_s: float
    full_rtt_s: float
    #: Window of each connection with which path and buffer are full, segments.
    window: float

    @classmethod
    def of(cls, results: Results, connections: Sequence[_Connection]) -> _FullPath | None:
        """Returns the path of the connections of a flow; None if its rate varies."""
        table = results.tables["slots"]
        wanted = np.array([run << 32 | number for run, number, *_ in connections], np.int64)
        is_own = indices_of(connection_keys(table), wanted) >= 0

        def column(name: str) -> NDArray[np.float64]:
            return numbers(table[name])[is_own].astype(np.float64)

        runs = column("run").astype(np.int64)
        # Connections that send at the same time share a slot.
        micros = np.round(1e6 * column("t_s")).astype(np.int64)
        slots, _, groups = distinct(runs << _TIME_BITS | micros)
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
        rtts_ms = group_means(column("rtt_mean_ms"), groups, len(slots))
        least_s = _mean(rtt_ms for *_, rtt_ms, _, _ in connections) / 1e3
        queue = _mean_maximum(column("queue_bytes"), runs)
        # The longest RTT may be that of a delayed ACK.
        longest_s = _mean_maximum(rtts_ms, slots >> _TIME_BITS) / 1e3
        full_s = max(longest_s, least_s + 8e-6 * queue / mean_mbps)
        mss = sum(size for _, _, size, *_ in connections) / sum(
            sent for *_, sent, _, _, _ in connections
        )
        parallel = len(connections) / len({run for run, *_ in connections})
        return cls(least_s, full_s, 1e6 / 8 * mean_mbps * full_s / mss / parallel)


def _mean_maximum(values: NDArray[np.float64], runs: NDArray[np.int64]) -> float:
    """Returns the mean over the runs of the maximum of their values."""
    known = values[~np.isnan(values)], runs[~np.isnan(values)]
    return _mean(float(known[0][known[1] == run].max()) for run in distinct(known[1])[0])


def _mean(values: Iterable[float]) -> float:
    """Returns the mean of some values."""
    listed = list(values)
    return sum(listed) / len(listed)
