"""Warnings about sessions or alike flows that start in the same instant, as users do not."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celltcp.results.columns import connection_keys, indices_of, numbers, rows_of
from celltcp.results.tested import FlowUnderTest, divided_flows, is_endless
from celltcp.scenarios.narrow_hop import shares_bottleneck, steady_rate
from celltcp.scenarios.sides import is_upload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.results.tables import Results

#: Workloads that draw times at random, so that their sessions soon differ.
_RANDOM_IN_TIME = ("on-off", "telemetry", "video")
#: Minimum number of runs in which one of two alike flows gets more, by chance once in 16 times, and the
#: minimum ratio of their goodputs in each.
_MIN_RUNS, _MIN_RATIO = 5, 1.1
#: Minimum difference of the shares of a flow in both halves of the runs.
_MIN_SHARE_CHANGE = 0.1
#: Fields of a flow that may differ between alike ones.
_OWN_FIELDS = ("name", "cca")


def simultaneous_starts(about: Mapping[str, Any], sections: list[Mapping[str, Any]]) -> list[str]:
    """Returns a warning for each flow whose sessions start at once and have metrics of their own.

    Transfers that start together are parts of one, and have none.
    """
    warnings, divided = [], divided_flows(about)
    for index, (flow, workload) in enumerate(FlowUnderTest.each_with_workload(about)):
        count = sections[index].get("count", 1)
        if count == 1 or "start_spread" in sections[index] or flow.name in divided:
            continue
        if not is_endless(workload) and workload.get("kind", "bulk") not in _RANDOM_IN_TIME:
            warnings.append(
                f"the {count} sessions of {flow.name} start in the same instant, which lengthens their "
                f"longest delays; flows.{index}.start_spread=1s starts them within a second, as "
                "independent users"
            )
    return warnings


def same_first(results: Results, sections: list[Mapping[str, Any]]) -> list[str]:
    """Returns a warning if the same of several alike flows gets most in each run.

    They start in the same instant, so that it is the same one which finds the path empty, and the
    intervals of their goodputs leave out by how much these depend on that.
    """
    flows = FlowUnderTest.each_with_workload(results.about)
    alike: dict[str, list[int]] = {}
    for index, (section, (_, workload)) in enumerate(zip(sections, flows, strict=True)):
        if section.get("count", 1) == 1 and "start_spread" not in section and is_endless(workload):
            fields = {name: value for name, value in section.items() if name not in _OWN_FIELDS}
            alike.setdefault(str(sorted(fields.items())), []).append(index)
    mixes = dict(rows_of(results.tables["runs"], "run", "cca"))
    rows = list(rows_of(results.tables["flows"], "run", "name", "cca", "goodput_mbps"))
    for indices in alike.values():
        names = [flows[index][0].name for index in indices]
        by_mix: dict[str, dict[int, dict[str, tuple[str, float]]]] = {}
        for run, name, cca, goodput in rows:
            if name in names:
                by_mix.setdefault(mixes[run], {}).setdefault(run, {})[name] = (cca, goodput)
        for mix, runs in by_mix.items():
            firsts = {_first_of(of_run) for of_run in runs.values()}
            if len(runs) < _MIN_RUNS or len(firsts) > 1 or None in firsts:
                continue
            fields_text = " and ".join(f"flows.{index}.start_spread=1s" for index in indices)
            return [
                f"{firsts.pop()} gets most in each of the {len(runs)} runs of {mix}, although "
                f"{' and '.join(names)} are alike: they start in the same instant, in the same order, "
                f"and intervals leave that out; {fields_text} draw the starts"
            ]
    return []


class UnsettledShare(NamedTuple):
    """Share of a flow among those that start with it, which differs between both halves of the runs."""

    #: Mix, or congestion control.
    mix: str
    flow: str
    #: Mean shares over the runs, from 0 to 1, in the first and the second half.
    first: float
    second: float
    #: Indices of the flows that start together.
    together: list[int]


def unsettled_shares(results: Results, sections: list[Mapping[str, Any]]) -> list[str]:
    """Returns a warning if bulk flows that start together share otherwise in the second half of runs.

    Named is the mix, or congestion control, with the largest change.
    """
    changes = list(shares_that_change(results, sections))
    if not changes:
        return []
    largest = max(changes, key=lambda change: round(abs(change.second - change.first), 6))
    fields_text = " and ".join(f"flows.{index}.start_spread=1s" for index in largest.together)
    return [
        f"{largest.flow} gets {100 * largest.first:.0f} % of the path in the first half of the runs of "
        f"{largest.mix} and {100 * largest.second:.0f} % in the second: shares depend on the start, "
        f"which is the same for all flows in every run; {fields_text} draw the starts, and a longer "
        "--duration weighs them less"
    ]


def shares_that_change(results: Results, sections: list[Mapping[str, Any]]) -> Iterator[UnsettledShare]:
    """Yields the shares of bulk flows that change in the same direction in each run.

    They start together and share a bottleneck, whatever their ways to it. Their shares are those of
    their start, whatever the number of runs. Links have a steady rate, whose changes are no other
    reason.
    """
    flows = FlowUnderTest.each_with_workload(results.about)
    scenario = tomllib.loads(results.about["scenario"])
    path, groups = scenario.get("path", {}), list[list[int]]()
    for index, (section, (_, workload)) in enumerate(zip(sections, flows, strict=True)):
        is_steady = steady_rate(path.get("up" if is_upload(section) else "down")) is not None
        if not is_steady or "start_spread" in section or not is_endless(workload):
            continue
        group = next((each for each in groups if _compete(scenario, section, sections[each[0]])), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    for indices in groups:
        names = [flows[index][0].name for index in indices]
        for mix, shares in _shares_of_halves(results, names).items() if len(names) > 1 else ():
            for name, halves in zip(names, np.moveaxis(shares, 1, 0), strict=True):
                gaps = halves[:, 1] - halves[:, 0]
                is_one_way = bool((gaps > 0).all() or (gaps < 0).all())
                if is_one_way and abs(gaps.mean()) >= _MIN_SHARE_CHANGE:
                    first, second = halves.mean(axis=0).tolist()
                    yield UnsettledShare(mix, name, first, second, indices)


def _compete(scenario: Mapping[str, Any], flow: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Returns whether two flows start together and send in one direction over one bottleneck."""
    ends = [(each.get("start"), is_upload(each)) for each in (flow, other)]
    return ends[0] == ends[1] and shares_bottleneck(scenario, flow, other)


def _shares_of_halves(results: Results, names: list[str]) -> dict[str, np.ndarray]:
    """Returns the shares of flows among each other by mix: by run, flow and half of the run."""
    mixes = dict(rows_of(results.tables["runs"], "run", "cca"))
    rows, slots = results.tables["flows"], results.tables["slots"]
    known = [
        (mixes[run], run, names.index(name) if name in names else -1)
        for run, name in rows_of(rows, "run", "name")
    ]
    index = indices_of(connection_keys(slots), connection_keys(rows))
    times, rates = (numbers(slots[column]) for column in ("t_s", "goodput_mbps"))
    runs = {run: place for place, run in enumerate(dict.fromkeys(run for _, run, _ in known))}
    sums = np.zeros((len(runs), len(names), 2))
    of_run, of_name = (
        np.array([part(each) for each in known], np.intp)[index]
        for part in (lambda each: runs[each[1]], lambda each: each[2])
    )
    is_known = (index >= 0) & (of_name >= 0)
    half_s = (times[is_known].min() + times[is_known].max()) / 2 if is_known.any() else 0.0
    keys = of_run[is_known], of_name[is_known], (times[is_known] >= half_s).astype(np.intp)
    np.add.at(sums, keys, rates[is_known])
    totals = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, totals, out=np.full_like(sums, np.nan), where=totals > 0)
    by_mix: dict[str, list[int]] = {}
    for run, place in runs.items():
        by_mix.setdefault(mixes[run], []).append(place)
    return {mix: shares[places] for mix, places in by_mix.items()}


def _first_of(goodputs: Mapping[str, tuple[str, float]]) -> str | None:
    """Returns the flow with most goodput, Mbit/s; None for different CCAs, or rates that are close."""
    rates = {name: rate for name, (_, rate) in goodputs.items()}
    is_alike = len(rates) > 1 and len({cca for cca, _ in goodputs.values()}) == 1
    # Flows that all get nothing are close, too.
    if not is_alike or max(rates.values()) <= _MIN_RATIO * min(rates.values()):
        return None
    return max(rates, key=rates.__getitem__)
