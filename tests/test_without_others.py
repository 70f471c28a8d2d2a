"""What a stream or responses get without the flow that fills their queue, as a run without it has."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials import TrialBudget
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


def test_a_stream_whose_queue_no_other_flow_fills_has_no_run_without_others() -> None:
    changes = {"flows.0.workload": _WORKLOADS["late_share"]}
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="10s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_together(TrialBudget())
    assert not any("alone has" in each for each in explained.rankings)
