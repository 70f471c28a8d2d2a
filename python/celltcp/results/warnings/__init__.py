"""Warnings about effects that limit the conclusions from results."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.results.columns import rows_of
from celltcp.results.limits import limited_flows, windows_that_share
from celltcp.results.tested import FlowUnderTest
from celltcp.results.warnings.delivered import no_coverage, no_delivery
from celltcp.scenarios.cca_mix import labels, parse_flow_cca
from celltcp.scenarios.lower_bounds import DOUBTS
from celltcp.scenarios.quantity_texts import three_digits
from celltcp.scenarios.stored import read_stored

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Minimum time from the request of a connection to its first byte that has a warning, s. The
#: retransmission of a SYN is due after 1 s (RFC 6298, section 2.1).
MIN_OPENING_S = 1.0
#: Fields of the path and its hops that configure losses.
_LOSS_FIELDS = ("loss", "uplink_loss")


def all_warnings(results: Results) -> list[str]:
    """Returns all warnings about results; modules of rare ones are imported only if they may apply."""
    about, tables = results.about, results.tables
    if "lateness" in about:
        # The flows of the scenario do not run in a live run.
        return [*missed_real_time(about["lateness"]), *about.get("notes", [])]
    scenario = tomllib.loads(about["scenario"])
    path, flows = scenario.get("path", {}), scenario["flows"]
    warnings = no_delivery(results)
    if all(flow.get("from", "server") != "server" for flow in flows):
        from celltcp.results.warnings.downlink_of_uploads import downlink_of_uploads

        warnings += downlink_of_uploads(scenario, about.get("traces", []))
    if _may_have_narrow_hop(path):
        from celltcp.results.warnings.narrow_hops import narrow_hops

        warnings += narrow_hops(scenario)
    if any(flow.get("count", 1) != 1 for flow in flows):
        from celltcp.results.warnings.simultaneous import simultaneous_starts

        warnings += simultaneous_starts(about, flows)
    if any(cca.partition(":")[0] == "dctcp" for (cca,) in rows_of(tables["flows"], "cca")):
        from celltcp.results.warnings.no_marks import no_marks

        warnings += no_marks(scenario)
    if any(isinstance(flow.get("cca"), Mapping) for flow in flows):
        from celltcp.results.warnings.default_parameters import default_parameters

        warnings += default_parameters(about["cca"], read_stored(about).lineup)
    if len(flows) > 1:
        from celltcp.results.warnings.simultaneous import same_first, unsettled_shares

        warnings += [*same_first(results, flows), *unsettled_shares(results, flows)]
    if any("jitter" in part for part in (path, *path.get("wired", ()))):
        from celltcp.results.warnings.jitter import jitter_warning

        warnings += jitter_warning(scenario)
    warnings += no_coverage(results)
    if "events" in tables and any(kind == "timed_out" for (kind,) in rows_of(tables["events"], "kind")):
        from celltcp.results.warnings.aborted import aborted_connections

        warnings += aborted_connections(results)
    openings = rows_of(tables["flows"], "start_s", "first_data_s")
    if any(first_data_s - start_s >= MIN_OPENING_S for start_s, first_data_s in openings):
        from celltcp.results.warnings.late_openings import late_openings

        warnings += late_openings(results)
    warnings += _unfinished_transfers(results, scenario)
    if '"frames"' in about["scenario"]:
        from celltcp.results.warnings.overload import overload

        warnings += overload(results)
    if "radio" not in scenario:
        warnings += _unused_hints(results)
    elif scenario["radio"].get("drx"):
        from celltcp.results.warnings.sleepless import sleepless

        warnings += sleepless(results, scenario["radio"])
    warnings += [*_memory_pressure(results), *_repeated_traces(about), *about.get("notes", [])]
    if about.get("traces") and "radio" not in scenario:
        from celltcp.results.warnings.few_places import few_places

        warnings += few_places(results)
    warnings += [*limited_flows(results), *windows_that_share(results)]
    if "generate" in about["scenario"]:
        from celltcp.results.warnings.drawn_capacity import drawn_capacity

        warnings += drawn_capacity(results, scenario)
    if scenario.get("kernel", {}).get("queue"):
        from celltcp.results.warnings.hidden_queue import hidden_queue, hides_queue

        warnings += hidden_queue() if hides_queue(results, scenario) else []
    losses = [part.get(name) for part in (path, *path.get("wired", ())) for name in _LOSS_FIELDS]
    if any(losses):
        from celltcp.results.warnings.few_losses import few_losses

        warnings += few_losses(results)
    if any(isinstance(loss, dict) for loss in losses):
        from celltcp.results.warnings.packet_bursts import packet_bursts

        warnings += packet_bursts(results, scenario)
    if "middleboxes" in path or any("@" in cca for cca in about["cca"]):
        from celltcp.results.warnings.split_delay import one_sided_delay

        warnings += one_sided_delay(about)
    if "limit of the sender" in about["scenario"]:
        from celltcp.scenarios.lower_bounds import SENDER_LIMIT, has_sender_limit

        if has_sender_limit(scenario):
            warnings.append(
                f"{about['name']}: {SENDER_LIMIT[0].lower()}{SENDER_LIMIT[1:].rstrip('.')}; another "
                "congestion control changes nothing where that is the limit"
            )
    if any(words in about["scenario"] for words in DOUBTS):
        from celltcp.results.warnings.lower_bounds import lower_bounds

        warnings += lower_bounds(results, scenario)
    return warnings


def _may_have_narrow_hop(path: Mapping[str, Any]) -> bool:
    """Returns whether all rates of a path are constant, and a hop is no faster than the access link."""
    parts = (path.get("down"), path.get("up"), *path.get("wired", ()))
    # Capacities that vary have no rate, or a table in its place.
    texts = [part["rate"] for part in parts if isinstance(part, Mapping) and "rate" in part]
    rates = [in_unit(text, "bit/s") or 0.0 for text in texts if isinstance(text, str)]
    return len(rates) == len(parts) and min(rates[2:], default=math.inf) <= max(rates[:2])


def missed_real_time(lateness: Mapping[str, Any]) -> list[str]:
    """Returns a warning if a live run did not keep real time."""
    if lateness["valid"]:
        return []
    late_percent, packets = 100 * lateness["late_share"], lateness["departures"]
    return [
        f"real time was NOT kept, and the results are not valid: {late_percent:.2f} % of the "
        f"{packets} packets were late by over 1 ms (allowed: 0.1 %), at most by {lateness['max_us']} "
        "us. Stop other programs, lower the rate, or give the path a core of its own (--busy-poll)"
    ]


def _unfinished_transfers(results: Results, scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each flow of which no transfer, or no whole sequence, was complete."""
    flows = FlowUnderTest.each_with_workload(results.about)
    sizes = {
        flow: (str(workload["bytes"]), size)
        for flow, workload in flows
        if workload.get("kind", "bulk") == "bulk" and (size := in_unit(workload.get("bytes"), "B"))
    }
    counts = {
        flow: int(workload["count"]) * int(section.get("count", 1))
        for (flow, workload), section in zip(flows, scenario["flows"], strict=True)
        if workload.get("kind") == "sequence" and workload.get("count")
    }
    if not sizes and not counts:
        return []
    from celltcp.results.warnings.cut_transfers import cut_transfers, unfinished_sequences

    return [
        *(cut_transfers(results, sizes) if sizes else []),
        *(unfinished_sequences(results, counts) if counts else []),
    ]


def _unused_hints(results: Results) -> list[str]:
    """Returns a warning for each selector with radio hints, in a scenario without a radio."""
    name = results.about["name"]
    ccas = dict.fromkeys(map(str, results.tables["flows"]["cca"].to_pylist()))
    return [
        f"{cca}: hints=on, but {name} has no radio: it got no hints" for cca in ccas if _has_hints(cca)
    ]


def _has_hints(cca: str) -> bool:
    flow_cca = parse_flow_cca(cca)
    return flow_cca.is_selector and flow_cca.parameters.get("hints") == "on"


def _repeated_traces(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each recorded trace that is shorter than a run."""
    run_s = about.get("duration_s", 0.0)
    warnings = []
    for trace in about.get("traces", []):
        trace_s = trace["duration_s"]
        if trace_s >= run_s:
            continue
        text = (
            f"the last {three_digits(run_s - trace_s)} s of a run of {run_s:g} s repeat its beginning"
            if run_s < 2 * trace_s
            else f"a run of {run_s:g} s has it {run_s / trace_s:.1f} times, one after another"
        )
        warnings.append(f"the trace {trace['file']} lasts {trace_s:.6g} s: {text}")
    return warnings


def _memory_pressure(results: Results) -> list[str]:
    """Returns a warning for each CCA in whose runs the kernel's TCP ran short of memory."""
    runs = results.tables["runs"]
    if "memory_pressures" not in runs.column_names:
        return []
    is_starved: dict[str, list[bool]] = {}
    for cca, pressures in rows_of(runs, "cca", "memory_pressures"):
        is_starved.setdefault(cca, []).append((pressures or 0) > 0)
    names = labels(is_starved)
    return [
        f"{names[cca]}: the kernel's TCP ran short of memory in {sum(starved)} of {len(starved)} "
        "runs, in which windows shrink that hosts of their own would have; fewer flows or "
        "smaller buffers (tcp.receive_buffer_max, tcp.send_buffer_max) avoid it"
        for cca, starved in is_starved.items()
        if any(starved)
    ]
