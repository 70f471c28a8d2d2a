"""Warnings: effects that limit the conclusions from results."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.results.columns import rows_of
from celltcp.results.limits import limited_flows, windows_that_share
from celltcp.results.tested import FlowUnderTest
from celltcp.results.warnings.delivered import no_delivery, uncovered
from celltcp.scenarios.cca_mix import labels, parse_flow_cca

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Minimum time from the request of a connection to its first byte that has a warning, s. The
#: retransmission of a SYN is due after 1 s (RFC 6298, section 2.1).
_MIN_OPENING_S = 1.0


def all_warnings(results: Results) -> list[str]:
    """Returns all warnings about results."""
    about = results.about
    if "lateness" in about:
        # The flows of the scenario do not run in a live run.
        return [*missed_real_time(about["lateness"]), *about.get("notes", [])]
    return [
        *no_delivery(results),
        *_downlink_of_uploads(about),
        *_narrow_hops(about),
        *_simultaneous_starts(about),
        *_jittered(about),
        *uncovered(results),
        *_aborted_connections(results),
        *_late_openings(results),
        *unfinished_transfers(results),
        *_overload(results),
        *unused_hints(results),
        *memory_pressure(results),
        *repeating(about),
        *about.get("notes", []),
        *limited_flows(results),
        *windows_that_share(results),
        *_undivided_delay(about),
        *lower_bounds(about),
    ]


def _aborted_connections(results: Results) -> list[str]:
    """Returns the warnings about connections that TCP aborted, which few results have."""
    events = results.tables.get("events")
    if events is None or not any(kind == "timed_out" for (kind,) in rows_of(events, "kind")):
        return []
    from celltcp.results.warnings.aborted import aborted_connections

    return aborted_connections(results)


def _late_openings(results: Results) -> list[str]:
    """Returns the warnings about connections that opened late, which few results have."""
    openings = rows_of(results.tables["flows"], "start_s", "first_data_s")
    if not any(first_data_s - start_s >= _MIN_OPENING_S for start_s, first_data_s in openings):
        return []
    from celltcp.results.warnings.late_openings import late_openings

    return late_openings(results, _MIN_OPENING_S)


def _overload(results: Results) -> list[str]:
    """Returns the warning about frames that the path does not carry, where there are frames."""
    if '"frames"' not in results.about["scenario"]:
        return []
    from celltcp.results.warnings.overload import overload

    return overload(results)


def _downlink_of_uploads(about: Mapping[str, Any]) -> list[str]:
    """Returns the warnings about settings of the downlink, where all flows are uploads."""
    flows = tomllib.loads(about["scenario"])["flows"]
    if any(flow.get("from", "server") == "server" for flow in flows):
        return []
    from celltcp.results.warnings.downlink_of_uploads import downlink_of_uploads

    return downlink_of_uploads(about)


def _narrow_hops(about: Mapping[str, Any]) -> list[str]:
    """Returns the warnings about hops that are no faster than the access link."""
    path = tomllib.loads(about["scenario"]).get("path", {})
    parts = (path.get("down"), path.get("up"), *path.get("wired", ()))
    # Capacities that vary have no rate, or a table in its place.
    texts = [part["rate"] for part in parts if isinstance(part, Mapping) and "rate" in part]
    rates = [in_unit(text, "bit/s") or 0.0 for text in texts if isinstance(text, str)]
    if len(rates) < len(parts) or min(rates[2:], default=math.inf) > max(rates[:2]):
        return []
    from celltcp.results.warnings.narrow_hops import narrow_hops

    return narrow_hops(about)


def _simultaneous_starts(about: Mapping[str, Any]) -> list[str]:
    """Returns the warnings about sessions that start in the same instant, where flows have several."""
    sections = tomllib.loads(about["scenario"])["flows"]
    if all(section.get("count", 1) == 1 for section in sections):
        return []
    from celltcp.results.warnings.simultaneous import simultaneous_starts

    return simultaneous_starts(about, sections)


def _jittered(about: Mapping[str, Any]) -> list[str]:
    """Returns the warning about jitter, which few paths have."""
    path = tomllib.loads(about["scenario"]).get("path", {})
    if not any("jitter" in part for part in (path, *path.get("wired", ()))):
        return []
    from celltcp.results.warnings.jitter import jittered

    return jittered(about)


def _undivided_delay(about: Mapping[str, Any]) -> list[str]:
    """Returns the warnings about split hosts, which few results have."""
    scenario = tomllib.loads(about["scenario"])
    if "middleboxes" not in scenario.get("path", {}) and not any("@" in cca for cca in about["cca"]):
        return []
    from celltcp.results.warnings.split_delay import one_sided_delay

    return one_sided_delay(about)


def missed_real_time(lateness: Mapping[str, Any]) -> list[str]:
    """Returns a warning if a live run has not kept real time."""
    if lateness["valid"]:
        return []
    late, packets = 100 * lateness["late_share"], lateness["departures"]
    return [
        f"real time was NOT kept, and the results are not valid: {late:.2f} % of the {packets} packets "
        f"were late by over 1 ms (allowed: 0.1 %), at most by {lateness['max_us']} us. Stop other "
        "programs, lower the rate, or give the path a core of its own (--busy-poll)"
    ]


def lower_bounds(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each part of the path that the scenario says to be a lower bound."""
    if "lower bound" not in about["scenario"]:
        return []
    from celltcp.scenarios.lower_bounds import lower_bound_sentences

    bounds = lower_bound_sentences(tomllib.loads(about["scenario"]))
    return [f"{about['name']}: {bound[0].lower()}{bound[1:]}" for bound in bounds]


def unfinished_transfers(results: Results) -> list[str]:
    """Returns a warning for each flow of which no transfer was complete."""
    sizes = {
        flow: (str(workload["bytes"]), size)
        for flow, workload in FlowUnderTest.each_with_workload(results.about)
        if workload.get("kind", "bulk") == "bulk" and (size := in_unit(workload.get("bytes"), "B"))
    }
    if not sizes:
        return []
    from celltcp.results.warnings.cut_transfers import cut_transfers

    return cut_transfers(results, sizes)


def unused_hints(results: Results) -> list[str]:
    """Returns a warning for each selector with radio hints in a scenario without a radio."""
    if "radio" in tomllib.loads(results.about["scenario"]):
        return []
    place = results.about["name"]
    ccas = dict.fromkeys(str(each) for each in results.tables["flows"]["cca"].to_pylist())
    return [f"{cca}: hints=on, but {place} has no radio: it got no hints" for cca in ccas if _asks(cca)]


def _asks(cca: str) -> bool:
    given = parse_flow_cca(cca)
    return given.is_selector and given.parameters.get("hints") == "on"


def repeating(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each recorded trace that is shorter than a run."""
    length = about.get("duration_s", 0.0)
    warnings = []
    for trace in about.get("traces", []):
        lasts = trace["duration_s"]
        if lasts >= length:
            continue
        again = (
            f"the last {length - lasts:.3g} s of a run of {length:g} s repeat its beginning"
            if length < 2 * lasts
            else f"a run of {length:g} s has it {length / lasts:.1f} times, one after another"
        )
        warnings.append(f"the trace {trace['file']} lasts {lasts:.6g} s: {again}")
    return warnings


def memory_pressure(results: Results) -> list[str]:
    """Returns a warning for each CCA in whose runs the kernel's TCP ran short of memory."""
    runs = results.tables["runs"]
    if "memory_pressures" not in runs.column_names:
        return []
    result: dict[str, list[bool]] = {}
    for cca, pressures in rows_of(runs, "cca", "memory_pressures"):
        result.setdefault(cca, []).append((pressures or 0) > 0)
    names = labels(result)
    return [
        f"{names[cca]}: the kernel's TCP ran short of memory in {sum(starved)} of {len(starved)} "
        "runs, in which windows shrink that hosts of their own would have; fewer flows or "
        "smaller buffers (tcp.receive_buffer_max, tcp.send_buffer_max) avoid it"
        for cca, starved in result.items()
        if any(starved)
    ]
