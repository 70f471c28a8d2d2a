"""Metrics of streams and responses without the flow that fills their queue, as a run without it has."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.queue_remedies import queue as queue_remedies
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.metrics import mean_texts, words_of
from celltcp.results.statistics import estimate

_WORKLOADS = {
    "late_share": {"kind": "frames", "size": "12kB", "interval": "50ms", "deadline": "120ms"},
    "response_p95_s": {"kind": "request-response", "response": "30kB", "gap": "400ms"},
}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("metric", _WORKLOADS)
def test_explain_has_the_metric_of_a_run_without_the_flow_that_fills_the_queue(
    metric: str, *, is_first: bool
) -> None:
    draw = random.Random(f"without {metric} {is_first}")
    way = {"from": "server", "to": "phone"}
    own = {"name": "own", "cca": "cubic", "workload": _WORKLOADS[metric], **way}
    bulk = {"name": "bulk", "cca": "cubic", **way}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(20, 50)}ms",
        "path.down": f"{draw.randint(10, 20)}Mbit/s",
        "path.buffer": "300packets",
        "flows": [own, bulk] if is_first else [bulk, own],
    }
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="25s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_together(TrialBudget())
    (text,) = (each for each in explained.rankings if each.startswith("Without bulk, own alone has "))
    alone = ct.compare("steady-20-68", ["cubic"], 2, duration="25s", set={**changes, "flows": [own]})
    values = [
        estimate(each.metrics["cubic"][metric]).mean
        for compared in (alone, result)
        for each in compared.applications
    ]
    assert values[0] < values[1] / 2
    expected = mean_texts(metric, *values)
    assert f" has {words_of(metric).name} {expected[0]} with cubic, instead of {expected[1]}." in text


@pytest.mark.parametrize("runs", [6])
def test_what_a_game_has_beside_a_download_is_the_figure_of_the_table_of_all_runs(runs: int) -> None:
    """A rate that varies makes other figures of the first runs than of all."""
    down = {"generate": {"mean": "30Mbit/s", "variability": 0.35, "correlation": "5s"}}
    game = {"name": "game", "workload": {"kind": "request-response", "response": "120B"}}
    changes = {"path.down": down, "path.buffer": "2MB", "flows": [{"name": "bulk"}, game]}
    result = ct.compare("steady-20-68", ["cubic"], runs, duration="120s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_together(TrialBudget())
    (text,) = (each for each in explained.rankings if each.startswith("Without bulk, game alone has "))
    beside = result.applications[0].metrics["cubic"]["response_p95_s"]
    assert len(beside) == runs
    assert f"instead of {1e3 * estimate(beside).mean:.0f} ms." in text


def test_a_stream_whose_queue_no_other_flow_fills_has_no_run_without_others() -> None:
    changes = {"flows.0.workload": _WORKLOADS["late_share"]}
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="10s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_together(TrialBudget())
    assert not any("alone has" in each for each in explained.rankings)


@pytest.mark.parametrize("seed", range(2))
def test_for_frames_on_a_link_that_varies_a_slower_backup_and_vegas_for_it_are_tried(seed: int) -> None:
    """A backup of half the rate that frames leave it, or with a CCA that heeds delay, has no queue."""
    draw = random.Random(f"cap {seed}")
    up = {"from": "phone", "to": "server"}
    frames = {"kind": "frames", "size": "40kB", "interval": "50ms", "deadline": "250ms"}
    rates = [{"at": f"{at}s", "rate": f"{draw.randint(14, 30)}Mbit/s"} for at in range(25)]
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(20, 40)}ms",
        "path.down": "100Mbit/s",
        "path.up": {"steps": rates},
        "path.uplink_buffer": "2MB",
        "flows": [
            {"name": "stream", "cca": "cubic", "workload": frames, **up},
            {"name": "backup", "cca": "cubic", **up},
        ],
    }
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="25s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    explained.try_together(TrialBudget())
    table = explained.conclusion.alternatives
    assert table is not None
    shown = {change: each for each in table.shown for change in each.changes}
    (cap,) = (each for each in shown if each.startswith("flows.1.max_pacing_rate="))
    assert "flows.1.cca=bbr" in shown
    for change in (cap, "flows.1.cca=bbr"):
        assert shown[change].places == ("sender of backup (client)",)
        assert estimate(shown[change].values).mean < estimate(table.shown[0].values).mean / 10
    assert float(cap.partition("=")[2].removesuffix("kbit/s")) < 1e3 * 30 / 2
    of_queue = queue_remedies(Evidence(result, "cubic", result.tested), Cause("queue", "", 1.0))
    assert ("flows.1.cca=vegas",) in [each.changes for each in of_queue]
