"""Validation of the analysis: its results for captures of runs, compared with the ground truth."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from celltcp._core import in_unit
from celltcp.campaign.cluster import Cluster
from celltcp.campaign.cost_estimate import CostEstimate, estimate_cost
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.worker import Task, WorkerRequirement
from celltcp.comparison.single_run import run
from celltcp.pcap.analysis import analyse, connection_rows
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.path import PathEstimate
from celltcp.pcap.outcome import CaseOutcome, JudgementOutcome, ScoreOutcome
from celltcp.pcap.validation.external_tools import external_counts
from celltcp.pcap.validation.ground_truth import KINDS, ground_truth_losses
from celltcp.pcap.validation.validation_cases import CASES, Case

#: Maximum difference of the times of a loss in ground truth and capture, ns: their clocks have steps.
_SAME_NS = 2_000
#: Maximum queueing delay between sender and capture, ns.
_MAX_WAIT_NS = 20_000_000


@dataclass(frozen=True)
class Validation:
    """Validation of one case: true and detected kind of each lost segment, and its errors as JSON."""

    case: Case
    #: Columns `seq`, `t_ns`, `truth` and `found`; one of the kinds is None for a loss without a match.
    matched: pd.DataFrame
    outcome: CaseOutcome
    packets: int
    #: Time of the analysis, s.
    seconds: float


def validate(
    cases: Sequence[Case] = CASES,
    *,
    cluster: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Validation]:
    """Runs the cases and analyses their captures.

    Args:
        cases: cases to run.
        cluster: address of a Dask scheduler whose workers do the cases; this process unless given.
        progress: called with the share that is done.
    """
    done: dict[int, Validation] = {}
    for number, validation in _validations(cases, cluster):
        done[number] = validation
        if progress:
            progress(len(done) / len(cases))
    return [done[index] for index in range(len(cases))]


def cost_of(cases: Sequence[Case] = CASES) -> CostEstimate:
    """Returns what the runs of the cases will take, without the analysis of their captures."""
    native = engine()
    return estimate_cost(jobs_for(case.load(), [case.cca], 1, 1, native) for case in cases)


def _validations(cases: Sequence[Case], cluster: str | None) -> Iterator[tuple[int, Validation]]:
    """Yields the numbers of cases with their validations, in the order in which they end."""
    if cluster is None:
        yield from enumerate(map(_validate, cases))
        return
    requirement = WorkerRequirement.of(engine())
    tasks = (Task(_validate_on_worker, (case, requirement)) for case in cases)
    yield from Cluster(cluster).results(tasks, [requirement])


def _validate_on_worker(case: Case, requirement: WorkerRequirement) -> Validation:
    """Returns the validation of a case on a worker of a cluster."""
    requirement.local_engine()
    return _validate(case)


def _validate(case: Case) -> Validation:
    with tempfile.TemporaryDirectory(prefix="celltcp-judge-") as folder:
        return _validate_capture(case, Path(folder) / "capture.pcap")


def _validate_capture(case: Case, capture: Path) -> Validation:
    """Runs a case, which writes the capture, and analyses that."""
    scenario = case.load()
    outcome = run(scenario, case.cca, samples="off", pcap=capture, pcap_at=case.node)
    fates = outcome.results.tables["fates"].to_pandas()
    start = time.perf_counter()
    analyses = analyse(capture)
    seconds = time.perf_counter() - start
    connections, losses = analyses.connections, analyses.losses
    begin_ns = int(connections["start_ns"].min())
    delay_ns = case.delay_ns()
    document = json.loads(scenario.to_json())
    parts = []
    for flow, fates_of_flow in fates.groupby("flow"):
        (row,) = connections[connections["connection"] == flow].to_dict("records")
        lost = connection_rows(losses, row, int(row["direction"] == "up"))
        sent_ns = (lost["t_s"] * 1e9).round().astype("int64") + int(row["start_ns"])
        truth = ground_truth_losses(fates_of_flow, has_timestamps=document["tcp"]["timestamps"])
        parts.append(_match(truth, lost.assign(t_ns=sent_ns - delay_ns), case.before is not None))
    path = estimate_path(analyses)
    largest = max(connections.to_dict("records"), key=lambda row: int(row["bytes_down"]))
    matched = pd.concat(parts, ignore_index=True)
    case_outcome: CaseOutcome = {
        "name": case.name,
        "scenario": case.scenario,
        "cca": case.cca,
        "set": list(case.set),
        "kinds": _confusion(matched),
        "rtt_error": _error(path.rtt_ms, _true_rtt_ms(outcome.flows)),
        "capacity_error": _capacity_error(path, outcome.slots, begin_ns),
        "buffer_error": _buffer_error(path, document),
        "guess": {"cca": str(largest["cca"]), "confidence": float(largest["cca_confidence"])},
        "place": {"place": str(largest["place"]), "confidence": float(largest["place_confidence"])},
        "counts": {
            name: int(connections[[f"{name}_up", f"{name}_down"]].sum().sum())
            for name in ("retransmissions", "duplicate_acks")
        },
        "others": external_counts(capture),
    }
    return Validation(case, matched, case_outcome, int(analyses.summaries[0]["packets"]), seconds)


def _match(truth: pd.DataFrame, found: pd.DataFrame, is_between: bool) -> pd.DataFrame:
    """Returns pairs of true and detected losses with the same first byte and transmission time.

    In a capture between the endpoints (`is_between`), segments may be late by queueing.
    """
    unmatched: dict[int, list[int]] = {}
    found = found.reset_index(drop=True)
    for index, seq in enumerate(found["seq"]):
        unmatched.setdefault(int(seq), []).append(index)
    rows = []
    for seq, t_ns, kind in zip(truth["seq"], truth["t_ns"], truth["kind"], strict=True):
        candidates = unmatched.get(int(seq), [])
        max_late_ns = _MAX_WAIT_NS if is_between else _SAME_NS
        late_ns = {index: found["t_ns"][index] - t_ns for index in candidates}
        in_time = [index for index in candidates if -_SAME_NS <= late_ns[index] <= max_late_ns]
        in_time.sort(key=lambda index: abs(late_ns[index]))
        # The capture has no time of transmission of a loss before it: the first one matches.
        matches = in_time or [index for index in candidates if found["is_upstream"][index]]
        if matches:
            candidates.remove(matches[0])
        if kind != "discarded":
            rows.append((seq, t_ns, kind, found["kind"][matches[0]] if matches else None))
    rows += [
        (int(found["seq"][index]), int(found["t_ns"][index]), None, found["kind"][index])
        for indices in unmatched.values()
        for index in indices
    ]
    return pd.DataFrame(rows, columns=["seq", "t_ns", "truth", "found"])


def _error(estimate: float, true: float) -> float | None:
    """Returns the relative error of an estimate; None where nothing is known."""
    return None if np.isnan(estimate) or np.isnan(true) or not true else abs(estimate - true) / true


def _true_rtt_ms(flows: pd.DataFrame) -> float:
    largest = max(flows.to_dict("records"), key=lambda row: int(row["bytes"]))
    return float(largest["rtt_min_ms"])


def _capacity_error(path: PathEstimate, slots: pd.DataFrame, begin_ns: int) -> float | None:
    """Returns the mean error of seconds over the mean capacity, where it is measured; None without."""
    own_slots = slots[slots["flow"] == path.connection]
    if not path.is_measured.any() or not len(own_slots):
        return None
    mss = 1448.0
    payload_mbps = path.capacity_mbps * mss / (mss + 52.0)
    times_s = path.times_s + begin_ns * 1e-9
    true_mbps = np.interp(times_s, own_slots["t_s"], own_slots["capacity_mbps"])
    values = pd.DataFrame({"found": payload_mbps, "true": true_mbps})[path.is_measured]
    means = values.groupby(np.floor(times_s[path.is_measured]).astype(int)).mean()
    mean = float(means["true"].mean())
    return float((means["found"] - means["true"]).abs().mean()) / mean if mean else None


def _buffer_error(path: PathEstimate, document: dict[str, Any]) -> float | None:
    """Returns the error of the buffer where it is given in packets or by a steady rate."""
    if not path.is_buffer_full or document.get("radio") is not None:
        return None
    true_path = document["path"]
    packets = in_unit(true_path["buffer"], "packets")
    if packets is not None:
        return _error(path.buffer_bytes, packets * 1500)
    rate, rtt_s = in_unit(true_path["down"].get("rate"), "bit/s"), in_unit(true_path["rtt"], "s")
    if true_path["buffer"] != "1bdp" or rate is None or rtt_s is None:
        return None
    return _error(path.buffer_bytes, rate / 8 * rtt_s)


def scores(validations: Sequence[Validation]) -> dict[str, ScoreOutcome]:
    """Returns precision and recall of the detection of each kind of loss, over all cases."""
    matched = pd.concat([validation.matched for validation in validations], ignore_index=True)
    outcomes: dict[str, ScoreOutcome] = {}
    for kind in KINDS:
        is_true, is_found = matched["truth"] == kind, matched["found"] == kind
        both = int((is_true & is_found).sum())
        precision = both / int(is_found.sum()) if is_found.any() else None
        recall = both / int(is_true.sum()) if is_true.any() else None
        outcomes[kind] = {
            "precision": precision,
            "recall": recall,
            "f1": _harmonic_mean(precision, recall),
            "true": int(is_true.sum()),
            "found": int(is_found.sum()),
        }
    return outcomes


def _harmonic_mean(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def _confusion(matched: pd.DataFrame) -> dict[str, int]:
    """Returns how often each kind was found as each other, such as `tail as random`."""
    texts = matched["truth"].fillna("none") + " as " + matched["found"].fillna("none")
    return {str(text): int(count) for text, count in texts.value_counts().items()}


def judgement_of(validations: Sequence[Validation]) -> JudgementOutcome:
    """Returns scores and errors of one case or more as JSON."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    groups: dict[str, list[Validation]] = {}
    for validation in validations:
        if validation.case.group:
            groups.setdefault(validation.case.group, []).append(validation)
    packets = sum(validation.packets for validation in validations)
    seconds = sum(validation.seconds for validation in validations)
    cases = [validation.outcome for validation in validations]
    return {
        "at": "sender" if validations[0].case.before is None else "between",
        "kinds": scores(validations),
        "groups": {name: scores(members) for name, members in groups.items()},
        "rtt_error": mean([case["rtt_error"] for case in cases]),
        "capacity_error": mean([case["capacity_error"] for case in cases]),
        "buffer_error": mean([case["buffer_error"] for case in cases]),
        "packets_per_s": packets / seconds if seconds else None,
        "cases": cases,
    }
