"""Limits of flows: shares of time under each limit, and warnings about limits at the hosts."""

from __future__ import annotations

import collections
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celltcp._core import in_unit, result_tables
from celltcp.results.columns import (
    connection_keys,
    distinct,
    group_sums,
    means_by,
    numbers,
    records,
    rows_of,
    values_of,
)
from celltcp.results.tested import (
    THIN_WORKLOADS,
    FlowUnderTest,
    flow_name,
    has_end,
    is_endless,
)
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.results.after_aborts import TimeAfterAbort
    from celltcp.results.limit_fields import LimitsRow
    from celltcp.results.tables import Results

#: Limits of a sender, each with a column of times in the table `limits`.
LIMITS = tuple(
    name.removesuffix("_s")
    for table in result_tables()
    if table.name == "limits"
    for name, _ in table.columns
    if name.endswith("_s")
)


#: Number of retransmissions at the maximum RTO, of the 15 before a connection is aborted.
RETRIES_AT_RTO_MAX = 11
#: Largest window without scale (RFC 7323 section 2.1), bytes.
MAX_UNSCALED_WINDOW = 65_535


class _HostLimit(NamedTuple):
    """Limit at a host."""

    #: Column with the time under the limit.
    column: str
    #: Description of the state under the limit.
    text: str
    #: What sets the limit: `receive` or `send` for that buffer, or `application`.
    kind: str


#: Limits at the hosts.
_HOST_LIMITS = (
    _HostLimit("receive_window_limited_s", "the receive window was full", "receive"),
    _HostLimit("send_buffer_limited_s", "the send buffer was full", "send"),
    _HostLimit("application_limited_s", "the application had no more to send", "application"),
)

#: Share of the time under a limit above which there is a warning.
_MIN_WARNING_SHARE = 0.5
#: The same for a window of the only bulk flow, while the bottleneck is busy: it bounds the queue.
_MIN_BOUND_SHARE = 0.1
#: Minimum share of the time with a full window at which it decides how flows share a path.
MIN_WINDOW_SHARE = 0.5
#: Minimum share at which a larger window may change how flows of different CCAs share a path: a full
#: one cuts the peaks in flight of a flow.
MIN_PEAK_SHARE = 0.02


class FlowLimits(NamedTuple):
    """Shares of the time of a flow under a CCA or line-up, means over the runs."""

    cca: str
    flow: str
    #: Shares by limit, from 0 to 1; NaN for limits that the engine does not report.
    shares: Mapping[str, float]

    @property
    def network(self) -> float:
        """Share limited by the network if the engine does not report limits of the network; else 0."""
        reported = sum(share for share in self.shares.values() if not math.isnan(share))
        return max(1.0 - reported, 0.0) if any(map(math.isnan, self.shares.values())) else 0.0


def limits_rows(results: Results) -> list[LimitsRow]:
    """Returns the limits of each flow as JSON."""
    return [
        {
            "cca": flow_limit.cca,
            "flow": flow_limit.flow,
            "shares": {
                name: None if math.isnan(share) else share for name, share in flow_limit.shares.items()
            },
        }
        for flow_limit in results.flow_limits
    ]


def flow_limits(results: Results) -> list[FlowLimits]:
    """Returns the limits of each flow under each CCA or line-up, in their order.

    The connections of a flow are weighted by their durations. Outages before their first data count,
    times after their abort do not. Results of earlier versions have no limits.
    """
    keys, shares = [], []
    for key, run_shares in _shares_of_runs(results):
        keys.append(key)
        shares.append(run_shares)
    order = list(dict.fromkeys(keys))
    means = {limit: means_by(keys, [share[limit] for share in shares]) for limit in LIMITS}
    return [FlowLimits(*key, {limit: means[limit][key] for limit in LIMITS}) for key in order]


def _shares_of_runs(
    results: Results,
) -> Iterable[tuple[tuple[str, str], dict[str, float]]]:
    """Yields line-up and flow of each run, with the flow's shares of time by limit."""
    if "limits" not in results.tables:
        return
    flows = FlowUnderTest.each(results.about)
    lineups = results.lineups
    openings_s, after_aborts = _times_around(results)
    times_s: dict[tuple[int, str], dict[str, float]] = {}
    durations: collections.defaultdict[tuple[int, str], float] = collections.defaultdict(float)
    limit_rows = {(row["run"], row["flow"]): row for row in records(results.tables["limits"])}
    for connection in records(results.tables["flows"]):
        number = connection["run"], connection["flow"]
        # Connections without data have no row.
        row, opening_s = limit_rows.get(number, {}), openings_s.get(number, 0.0)
        if not row and not opening_s:
            continue
        key = connection["run"], flow_name(str(connection["name"]), flows)
        limited_s = times_s.setdefault(key, dict.fromkeys(LIMITS, 0.0))
        own_s = {limit: row.get(f"{limit}_s", 0.0) for limit in LIMITS}
        if after := after_aborts.get(number):
            own_s = after.without(own_s)
            opening_s -= after.total_s
        own_s["outage"] += openings_s.get(number, 0.0)
        for limit in LIMITS:
            limited_s[limit] += own_s[limit]
        durations[key] += connection["duration_s"] + opening_s
    for key, limited_s in sorted(times_s.items(), key=lambda item: _order(item[0], flows)):
        total = math.fsum(limited_s.values())
        duration = durations[key] if math.isnan(total) else total
        run, name = key
        if run in lineups and duration > 0:
            yield (
                (lineups[run], name),
                {limit: time_s / duration for limit, time_s in limited_s.items()},
            )


def _times_around(
    results: Results,
) -> tuple[Mapping[tuple[int, int], float], Mapping[tuple[int, int], TimeAfterAbort]]:
    """Returns times before the first data and after aborts, by run and connection.

    Their modules are imported only if there are any.
    """
    openings_s: Mapping[tuple[int, int], float] = {}
    after_aborts: Mapping[tuple[int, int], TimeAfterAbort] = {}
    if "outages" in results.tables:
        from celltcp.results.openings import opening_outages_s

        openings_s = opening_outages_s(results)
    if "events" in results.tables and "timed_out" in results.tables["events"]["kind"].to_pylist():
        from celltcp.results.after_aborts import times_after_aborts

        after_aborts = times_after_aborts(results)
    return openings_s, after_aborts


def _order(key: tuple[int, str], flows: list[FlowUnderTest]) -> tuple[int, int]:
    run, name = key
    names = [flow.name for flow in flows]
    return run, names.index(name) if name in names else len(names)


def limited_flows(results: Results) -> list[str]:
    """Returns a warning for each limit at a host that applied to flows for most of their time.

    While the bottleneck is busy with the flow, or has an outage, the network is the limit. That is so
    even if a buffer is full, or if the sender has no more to send because its last bytes are in the
    queue. A default window of the only bulk flow that is full then bounds that queue, and its losses.
    """
    flows = results.tables["flows"]
    if "receive_window_limited_s" not in flows.column_names:
        return []
    lineups = results.lineups
    durations = numbers(flows["duration_s"])
    is_active = (durations > 0) & np.isin(numbers(flows["run"]), list(lineups))
    flow_keys = [
        (lineups[run], name) for run, name in compress(rows_of(flows, "run", "name"), is_active)
    ]
    shares = {
        limit.column: numbers(flows[limit.column])[is_active] / durations[is_active]
        for limit in _HOST_LIMITS
    }
    if not any((share > _MIN_BOUND_SHARE).any() for share in shares.values()):
        return []
    idle = 1.0 - _busy_shares(results)[is_active]
    has_several_names = len({name for _, name in flow_keys}) > 1
    # A player pauses while its buffer is full, and pages wait for each other's objects.
    pausing = [
        flow
        for flow, workload in FlowUnderTest.each_with_workload(results.about)
        if workload.get("kind") in {*THIN_WORKLOADS, "video", "page"} or has_end(workload)
    ]
    bulk = [
        flow.name
        for flow, workload in FlowUnderTest.each_with_workload(results.about)
        if not workload or workload.get("kind") == "bulk"
    ]
    pauses = np.array([any(flow.includes(name) for flow in pausing) for _, name in flow_keys], np.bool_)
    lineup_names = labels(dict.fromkeys(lineup for lineup, _ in flow_keys))

    def names_text(keys: Iterable[tuple[str, str]]) -> str:
        if not has_several_names:
            return ", ".join(lineup_names[lineup] for lineup, _ in keys)
        return "; ".join(f"{lineup_names[lineup]}, {name}" for lineup, name in keys)

    warnings = []
    for column, text, kind in _host_limits(results):
        # Only the time in which the bottleneck was not busy counts.
        share = np.where(shares[column] > idle, idle, shares[column])
        is_counted = ~np.isnan(share)
        if kind == "application":
            is_counted = ~pauses
        means, all_means = (
            _means_over_time(flow_keys, each, durations[is_active], is_counted)
            for each in (share, shares[column])
        )
        limited = {flow: mean for flow, mean in means.items() if mean > _MIN_WARNING_SHARE}
        bounded = {
            flow: mean
            for flow, mean in all_means.items()
            if mean > _MIN_BOUND_SHARE and flow not in limited and bulk == [flow[1]]
        }
        if bounded and kind in _default_windows(results):
            warnings.append(
                f"{names_text(bounded)}: for {_percent_text(bounded.values())} of the time {text}, so "
                "that it bounds the rate or the queue, not the CCA; "
                f"{_settings_text(kind, results, {lineup for lineup, _ in bounded})}"
            )
        if not limited:
            continue
        # The table of limits has the time in which the bottleneck was busy, too.
        percent, whole = (
            _percent_text(limited.values()),
            _percent_text(all_means[key] for key in limited),
        )
        whole_text = "" if whole == percent else f" ({whole} in all)"
        warnings.append(
            f"{names_text(limited)}: for {percent} of the time {text} "
            f"while the bottleneck had room{whole_text}; "
            f"{_settings_text(kind, results, {lineup for lineup, _ in limited})}"
        )
    return warnings


def _means_over_time(
    keys: Sequence[tuple[str, str]],
    shares: NDArray[np.float64],
    durations_s: NDArray[np.float64],
    is_counted: NDArray[np.bool_],
) -> dict[tuple[str, str], float]:
    """Returns the shares of the time of all connections with a key, of those that are counted."""
    counted = list(compress(keys, is_counted))
    limited_s = means_by(counted, (shares * durations_s)[is_counted].tolist())
    all_s = means_by(counted, durations_s[is_counted].tolist())
    return {key: limited_s[key] / all_s[key] for key in all_s}


def _percent_text(shares: Iterable[float]) -> str:
    """Returns the range of shares in percent."""
    shares = list(shares)
    low, high = round(100 * min(shares)), round(100 * max(shares))
    return f"{high} %" if low == high else f"{low} to {high} %"


def windows_that_share(results: Results) -> list[str]:
    """Returns a warning for each window at a host that decides how bulk flows share the path.

    Such a window is full for most of the time, and the path may be full, too. One that is full for a
    small part of the time may decide it if the flows have different CCAs.
    """
    bulk = [
        flow.name
        for flow, workload in FlowUnderTest.each_with_workload(results.about)
        if is_endless(workload)
    ]
    if len(bulk) < 2:
        return []
    names = labels(results.lineups.values())
    several_ccas = _lineups_of_several_ccas(results)
    rows = [row for row in results.flow_limits if row.flow in bulk]
    warnings = []
    peak_warnings = {}
    for column, text, kind in _host_limits(results):
        if kind == "application":
            continue
        limit = column.removesuffix("_limited_s")
        shares = {f"{names[row.cca]}, {row.flow}": (row.cca, row.shares[limit]) for row in rows}
        deciding = {name: share for name, (_, share) in shares.items() if share >= MIN_WINDOW_SHARE}
        # Where a window decides the share of a flow, it also decides that of the others.
        decided = {cca for cca, share in shares.values() if share >= MIN_WINDOW_SHARE}
        at_peaks = {
            name: share
            for name, (cca, share) in shares.items()
            if share >= MIN_PEAK_SHARE and cca in several_ccas - decided
        }
        if deciding:
            warnings.append(
                f"{'; '.join(deciding)}: for {_percent_text(deciding.values())} of the time {text}, so "
                "that it decides how the flows share the path, not the CCA; "
                f"{_settings_text(kind, results, {shares[name][0] for name in deciding})}"
            )
        if at_peaks:
            peak_warnings[max(at_peaks.values())] = (
                f"{'; '.join(at_peaks)}: for {_percent_text(at_peaks.values())} of the time {text}: a "
                "larger one may change how the flows share the path; "
                f"{_settings_text(kind, results, {shares[name][0] for name in at_peaks})}"
            )
    # The smaller of two windows is full more often, and the larger one behind it.
    return [*warnings, peak_warnings[max(peak_warnings)]] if peak_warnings else warnings


def _lineups_of_several_ccas(results: Results) -> set[str]:
    """Returns the line-ups in which connections have different congestion controls."""
    lineups = results.lineups
    ccas: collections.defaultdict[str, set[str]] = collections.defaultdict(set)
    for run, cca in rows_of(results.tables["flows"], "run", "cca"):
        if run in lineups:
            ccas[lineups[run]].add(cca)
    return {lineup for lineup, own in ccas.items() if len(own) > 1}


def _busy_shares(results: Results) -> NDArray[np.float64]:
    """Returns for each connection the share of its time in which the bottleneck was busy with it.

    That is the utilisation of the capacity that other flows leave, and 1 in an outage. It is 0 if the
    capacity is unknown.
    """
    slots = results.tables["slots"]
    keys, _, group = distinct(connection_keys(slots))
    count = len(keys)
    capacity = numbers(slots["capacity_mbps"])
    goodput = np.where(np.isnan(capacity), 0.0, numbers(slots["goodput_mbps"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        utilisation = group_sums(goodput, group, count) / group_sums(capacity, group, count)
        measured = np.bincount(group[~np.isnan(capacity)], minlength=count)
        outage = np.bincount(group[capacity == 0], minlength=count) / measured
    # Without capacity and goodput the utilisation is 0.
    utilisation = np.nan_to_num(np.minimum(utilisation, 1.0), nan=0.0)
    outage = np.nan_to_num(outage, nan=0.0)
    busy = outage + (1.0 - outage) * utilisation
    return values_of(connection_keys(results.tables["flows"]), keys, busy, 0.0)


def has_captured_sender(results: Results) -> bool:
    """Returns whether the receive window of a scenario stands for the limit of a captured sender."""
    if "receive_window_max" not in results.about["scenario"]:
        return False
    # Most scenarios do without the module.
    from celltcp.scenarios.lower_bounds import has_sender_limit

    return has_sender_limit(_scenario(results))


def _host_limits(results: Results) -> tuple[_HostLimit, ...]:
    """Returns the limits at the hosts; a window that stands for another limit has its text."""
    receive, *others = _HOST_LIMITS
    if has_captured_sender(results):
        receive = receive._replace(text="the limit of the sender in the capture was reached")
    return receive, *others


def _scenario(results: Results) -> Mapping[str, Any]:
    return tomllib.loads(results.about["scenario"])


def _default_windows(results: Results) -> set[str]:
    """Returns the kinds of windows that have the defaults of Linux, and not a value of the user."""
    # Most results have no such warning, and do without the module.
    from celltcp.results.first_window import LARGEST_BUFFER, LARGEST_SEND_BUFFER

    tcp = _scenario(results).get("tcp", {})
    is_default = {
        "send": tcp.get("send_buffer_max") == LARGEST_SEND_BUFFER,
        "receive": receive_window_fields(tcp) == ("receive_buffer_max",)
        and tcp.get("receive_buffer_max") == LARGEST_BUFFER,
    }
    return {kind for kind, is_set in is_default.items() if is_set}


def _settings_text(kind: str, results: Results, lineups: set[str]) -> str:
    """Returns the settings that cause a limit of line-ups, with their values."""
    if kind == "application":
        return "workload of the flow sets it"
    tcp = _scenario(results).get("tcp", {})
    if kind == "send":
        return f"tcp.send_buffer_max ({tcp.get('send_buffer_max')}, in memory) sets it"
    # The receive window of a split host is the free space of its buffer.
    legs = results.tables.get("legs")
    if has_captured_sender(results):
        return f"tcp.receive_window_max ({tcp['receive_window_max']}) stands for it"
    split_runs = set() if legs is None else set(numbers(legs["run"]).tolist())
    split_lineups = {lineup for run, lineup in results.lineups.items() if run in split_runs}
    if split_lineups >= lineups:
        return "the buffer of the split host sets it"
    split = ", or the buffer of the split host" if split_lineups & lineups else ""
    fields = receive_window_fields(tcp)
    if fields != ("receive_buffer_max",):
        values = {
            field: "false" if tcp[field] is False else tcp[field] for field in fields if field in tcp
        }
        texts = [f"tcp.{field} ({value})" for field, value in values.items()]
        return f"{' or '.join(texts)} sets it{split}"
    # Most comparisons have no warning, and do without the module.
    from celltcp.results.first_window import initial_buffer

    if not split and (first := initial_buffer(tcp, _max_in_flight(results))):
        return f"it begins at half of tcp.receive_buffer_initial ({first}), and had not grown far"
    return (
        f"tcp.receive_buffer_max ({tcp.get('receive_buffer_max')}) sets it, or tcp.receive_window_max"
        f"{split}"
    )


def receive_window_fields(tcp: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the fields of the table `tcp` that allow the smallest receive window: one, or several.

    The share of the largest buffer that is a window depends on the packets: of a field within that
    range, either may be smaller.
    """
    # Most results have no warning, and do without the module.
    from celltcp.results.first_window import LARGEST_BUFFER, MIN_WINDOW_SHARE_OF_BUFFER

    scale, cap = tcp.get("window_scale", True), in_unit(tcp.get("receive_window_max"), "B")
    largest = in_unit(str(tcp.get("receive_buffer_max", LARGEST_BUFFER)), "B") or 0.0
    windows = {
        "receive_window_max": math.inf if cap is None else cap,
        "window_scale": math.inf if scale is True else MAX_UNSCALED_WINDOW << int(scale),
    }
    field = min(windows, key=windows.__getitem__)
    if windows[field] <= MIN_WINDOW_SHARE_OF_BUFFER * largest:
        return (field,)
    return ("receive_buffer_max",) if windows[field] > largest else (field, "receive_buffer_max")


def _max_in_flight(results: Results) -> float:
    """Returns the maximum in flight of any connection, bytes; infinite for results without slots."""
    flows, slots = results.tables["flows"], results.tables.get("slots")
    if slots is None or not slots.num_rows:
        return math.inf
    segments = numbers(flows["segments"])
    mss = (numbers(flows["bytes"])[segments > 0] / segments[segments > 0]).max(initial=0.0)
    return float(np.nanmax(numbers(slots["inflight"]), initial=0.0) * mss)
