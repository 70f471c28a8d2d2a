"""Validation of the analysis: its findings in captures of runs, compared with the ground truth."""

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
from celltcp.pcap.analysis import analyse, of_connection
from celltcp.pcap.estimate import PathEstimate, estimate_path
from celltcp.pcap.external_tools import external_counts
from celltcp.pcap.ground_truth import KINDS, ground_truth_losses
from celltcp.pcap.outcome import CaseOutcome, JudgementOutcome, ScoreOutcome
from celltcp.pcap.validation_cases import CASES, Case

#: Start of loss in truth and capture may differ by this, ns: the clock of a capture has finer steps.
_SAME_NS = 2_000
#: Maximum queueing delay before a capture point on the path, ns.
_WAIT_NS = 20_000_000


@dataclass(frozen=True)
class Validation:
    """Result of one case: true and found kind of each segment, and the judgement as JSON has it."""

    case: Case
    #: Columns `seq`, `t_ns`, `truth` and `found`; a kind is missing where only the other has one.
    matched: pd.DataFrame
    outcome: CaseOutcome
    packets: int
    seconds: float


def validate(
    cases: Sequence[Case] = CASES,
    *,
    cluster: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Validation]:
    """Runs the cases and analyses their captures.

    Args:
        cases: what is run.
        cluster: address of a Dask scheduler whose workers do the cases; this process unless given.
        progress: called with the share that is done.
    """
    done: dict[int, Validation] = {}
    for number, judged in _each(cases, cluster):
        done[number] = judged
        if progress:
            progress(len(done) / len(cases))
    return [done[index] for index in range(len(cases))]


def cost_of(cases: Sequence[Case] = CASES) -> CostEstimate:
    """Returns what the runs of the cases will take, without the analysis of their captures."""
    native = engine()
    return estimate_cost(jobs_for(case.load(), [case.cca], 1, 1, native) for case in cases)


def _each(cases: Sequence[Case], cluster: str | None) -> Iterator[tuple[int, Validation]]:
    """Yields the numbers of cases with their results, as they come."""
    if cluster is None:
        yield from enumerate(map(_validated, cases))
        return
    needed = WorkerRequirement.of(engine())
    tasks = (Task(_validated_on_worker, (case, needed)) for case in cases)
    yield from Cluster(cluster).results(tasks, [needed])


def _validated_on_worker(case: Case, needed: WorkerRequirement) -> Validation:
    """Returns the result of a case on a worker of a cluster."""
    needed.local_engine()
    return _validated(case)


def _validated(case: Case) -> Validation:
    with tempfile.TemporaryDirectory(prefix="celltcp-judge-") as folder:
        return _validate_case(case, Path(folder) / "capture.pcap")


def _validate_case(case: Case, capture: Path) -> Validation:
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
    stamped = document["tcp"]["timestamps"]
    parts = []
    for flow, group in fates.groupby("flow"):
        (row,) = connections[connections["connection"] == flow].to_dict("records")
        lost = of_connection(losses, row, int(row["direction"] == "up"))
        sent_ns = (lost["t_s"] * 1e9).round().astype("int64") + int(row["start_ns"])
        truth = ground_truth_losses(group, timestamps=stamped)
        parts.append(_matched(truth, lost.assign(t_ns=sent_ns - delay_ns), case.before is not None))
    path = estimate_path(analyses)
    largest = max(connections.to_dict("records"), key=lambda row: int(row["bytes_down"]))
    matched = pd.concat(parts, ignore_index=True)
    result: CaseOutcome = {
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
    return Validation(case, matched, result, int(analyses.summaries[0]["packets"]), seconds)


def _matched(truth: pd.DataFrame, result: pd.DataFrame, between: bool) -> pd.DataFrame:
    """Joins true and detected losses with the same first byte and transmission time.

    At a capture point on the path, segments may be late by queueing.

    A segment of the truth can be a part of a larger one of the capture and the other way round; they
    match if they overlap.
    """
    rest: dict[int, list[int]] = {}
    result = result.reset_index(drop=True)
    for index, seq in enumerate(result["seq"]):
        rest.setdefault(int(seq), []).append(index)
    rows = []
    for seq, t_ns, kind in zip(truth["seq"], truth["t_ns"], truth["kind"], strict=True):
        candidates = rest.get(int(seq), [])
        late = _WAIT_NS if between else _SAME_NS
        in_time = [index for index in candidates if -_SAME_NS <= result["t_ns"][index] - t_ns <= late]
        # A loss upstream of the capture has another time; the order assigns it.
        in_time.sort(key=lambda index: abs(result["t_ns"][index] - t_ns))
        chosen = in_time or [index for index in candidates if result["is_upstream"][index]]
        if chosen:
            candidates.remove(chosen[0])
        if kind == "discarded":
            continue
        rows.append((seq, t_ns, kind, result["kind"][chosen[0]] if chosen else None))
    rows += [
        (int(result["seq"][index]), int(result["t_ns"][index]), None, result["kind"][index])
        for indices in rest.values()
        for index in indices
    ]
    return pd.DataFrame(rows, columns=["seq", "t_ns", "truth", "found"])


def _error(result: float, true: float) -> float | None:
    """Returns the relative error; None where nothing is known."""
    return None if np.isnan(result) or np.isnan(true) or not true else abs(result - true) / true


def _true_rtt_ms(flows: pd.DataFrame) -> float:
    largest = max(flows.to_dict("records"), key=lambda row: int(row["bytes"]))
    return float(largest["rtt_min_ms"])


def _capacity_error(path: PathEstimate, slots: pd.DataFrame, begin_ns: int) -> float | None:
    """Returns the mean error per second over the mean capacity, where the capture could measure it."""
    selected = slots[slots["flow"] == path.connection]
    true_s = selected["t_s"].to_numpy()
    if not path.is_measured.any() or not len(true_s):
        return None
    mss = 1448.0
    payload = path.capacity_mbps * mss / (mss + 52.0)
    times = path.times_s + begin_ns * 1e-9
    true = np.interp(times, true_s, selected["capacity_mbps"].to_numpy())
    seconds = np.floor(times).astype(int)
    table = pd.DataFrame({"s": seconds, "found": payload, "true": true})[path.is_measured]
    means = table.groupby("s").mean()
    mean = float(means["true"].mean())
    return float((means["found"] - means["true"]).abs().mean()) / mean if mean else None


def _buffer_error(path: PathEstimate, document: dict[str, Any]) -> float | None:
    """Returns the error of the buffer where it is given in packets or by a steady rate."""
    if not path.is_buffer_full or document.get("radio") is not None:
        return None
    true = document["path"]
    packets = in_unit(true["buffer"], "packets")
    if packets is not None:
        return _error(path.buffer_bytes, packets * 1500)
    rate, rtt_s = in_unit(true["down"].get("rate"), "bit/s"), in_unit(true["rtt"], "s")
    if true["buffer"] != "1bdp" or rate is None or rtt_s is None:
        return None
    return _error(path.buffer_bytes, rate / 8 * rtt_s)


def scores(judged: Sequence[Validation]) -> dict[str, ScoreOutcome]:
    """Returns precision and recall with which each kind of loss is found, over all cases."""
    matched = pd.concat([validation.matched for validation in judged], ignore_index=True)
    table: dict[str, ScoreOutcome] = {}
    for kind in KINDS:
        true, result = matched["truth"] == kind, matched["found"] == kind
        both = int((true & result).sum())
        precision = both / int(result.sum()) if result.any() else None
        recall = both / int(true.sum()) if true.any() else None
        table[kind] = {
            "precision": precision,
            "recall": recall,
            "f1": _harmonic_mean(precision, recall),
            "true": int(true.sum()),
            "found": int(result.sum()),
        }
    return table


def _harmonic_mean(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def _confusion(matched: pd.DataFrame) -> dict[str, int]:
    """Returns how often each kind was found as each other, such as `tail as random`."""
    texts = matched["truth"].fillna("none") + " as " + matched["found"].fillna("none")
    return {str(text): int(count) for text, count in texts.value_counts().items()}


def document(judged: Sequence[Validation]) -> JudgementOutcome:
    """Returns the judgement of one case or more as JSON."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    groups = dict.fromkeys(validation.case.group for validation in judged if validation.case.group)
    seconds = sum(validation.seconds for validation in judged)
    cases = [validation.outcome for validation in judged]
    return {
        "at": "sender" if judged[0].case.before is None else "between",
        "kinds": scores(judged),
        "groups": {
            group: scores([validation for validation in judged if validation.case.group == group])
            for group in groups
        },
        "rtt_error": mean([case["rtt_error"] for case in cases]),
        "capacity_error": mean([case["capacity_error"] for case in cases]),
        "buffer_error": mean([case["buffer_error"] for case in cases]),
        "packets_per_s": sum(validation.packets for validation in judged) / seconds
        if seconds
        else None,
        "cases": cases,
    }
