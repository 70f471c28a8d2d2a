"""Warnings about sessions or alike flows that start in the same instant, as users do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp.results.columns import rows_of
from celltcp.results.tested import FlowUnderTest, divided_flows, is_endless

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Workloads that draw times at random, so that their sessions soon differ.
_RANDOM_IN_TIME = ("on-off", "telemetry", "video")
#: Minimum number of runs in which one of two alike flows gets more, by chance once in 16 times, and the
#: minimum ratio of their goodputs in each.
_MIN_RUNS, _MIN_RATIO = 5, 1.1
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


def _first_of(goodputs: Mapping[str, tuple[str, float]]) -> str | None:
    """Returns the flow with most goodput, Mbit/s; None for different CCAs, or rates that are close."""
    rates = {name: rate for name, (_, rate) in goodputs.items()}
    is_alike = len(rates) > 1 and len({cca for cca, _ in goodputs.values()}) == 1
    # Flows that all get nothing are close, too.
    if not is_alike or max(rates.values()) <= _MIN_RATIO * min(rates.values()):
        return None
    return max(rates, key=rates.__getitem__)
