"""Percentiles of the responses of all runs, where a run has few above its own percentile."""

from __future__ import annotations

import functools
import math
import random
import re
import statistics

import numpy as np
import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import metrics_table, texts_of_all_runs
from celltcp.comparison.applications.pooled_percentiles import _percentile
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explanation import ExplainedComparison


@functools.cache
def _lossy(seed: int) -> Comparison:
    draw = random.Random(seed)
    changes = {
        "path.loss": round(draw.uniform(0.005, 0.02), 4),
        "path.uplink_loss": "1%",
        "flows.0.workload": {
            "kind": "request-response",
            "response": f"{draw.randint(5, 20)}kB",
            "gap": f"{draw.randint(700, 1000)}ms",
        },
    }
    return ct.compare("steady-20-68", "cubic", 6, duration="100s", set=changes)


@pytest.mark.parametrize("seed", range(2))
def test_the_99th_percentile_of_all_runs_is_one_in_text_json_and_explanation(seed: int) -> None:
    result = _lossy(seed)
    times_s = sorted(result.units.query("unit == 'response'")["duration_s"])
    p99_s = times_s[math.ceil(round(0.99 * len(times_s), 6)) - 1]
    (text,) = (
        each for each in texts_of_all_runs(result, result.applications[0]) if "p99 of all" in each
    )
    assert f"cubic {p99_s:.3f} s (" in text
    (row,) = (
        each
        for each in result.to_json()["applications"][0]["pooled"]
        if each["metric"] == "response_p99_s"
    )
    assert row["value"] == pytest.approx(p99_s)
    assert row["low"] <= p99_s <= row["high"]
    explained = ExplainedComparison(result).ccas[0].cause_text("slow_units")
    (value, unit) = re.findall(r"p99 of all runs ([\d.]+) (m?s)", explained)[0]
    assert float(value) * (1e-3 if unit == "ms" else 1.0) == pytest.approx(p99_s, rel=0.005)
    assert "p99, max: mean of those of the runs" in metrics_table(result, result.applications[0]).title


@pytest.mark.parametrize("seed", range(2))
def test_transfers_one_after_another_have_a_99th_percentile_of_all_runs(seed: int) -> None:
    draw = random.Random(seed)
    changes = {
        "path.loss": round(draw.uniform(0.01, 0.02), 4),
        "flows.0.workload": {"kind": "sequence", "size": f"{draw.randint(5, 20)}kB", "gap": "0.8s"},
    }
    result = ct.compare("steady-20-68", "cubic", 6, duration="100s", set=changes)
    times_s = np.sort(result.flows["completion_s"].dropna())
    p99_s = times_s[math.ceil(round(0.99 * len(times_s), 6)) - 1]
    pooled = result.to_json()["applications"][0]["pooled"]
    (row,) = (each for each in pooled if each["metric"] == "completion_p99_s")
    assert row["value"] == pytest.approx(p99_s)
    text = f"Completion p99 of all runs together: cubic {p99_s:.3f} s ("
    assert any(text in each for each in texts_of_all_runs(result, result.applications[0]))


def test_runs_with_many_responses_have_percentiles_of_their_own() -> None:
    workload = {"kind": "request-response", "response": "1kB", "gap": "5ms", "think": "0s"}
    changes = {"path.rtt": "5ms", "flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic", 2, duration="30s", set=changes)
    assert min(result.applications[0].metrics["cubic"]["responses"]) > 1_000
    assert not any("p99 of all" in each for each in texts_of_all_runs(result, result.applications[0]))
    pooled = result.to_json()["applications"][0].get("pooled", [])
    assert "response_p99_s" not in {each["metric"] for each in pooled}


def test_the_percentile_of_exponential_times_is_its_quantile_and_the_mean_of_runs_is_below() -> None:
    """The second largest of 117 has the mean H_117 - 1 = 4.34, and the quantile is ln 100 = 4.61."""
    pooled, means, covered = [], [], 0
    for seed in range(60):
        times = np.random.default_rng(seed).exponential(size=(10, 117))
        each = _percentile(times.tolist(), 99)
        assert each.ends is not None
        covered += each.ends[0] <= math.log(100) <= each.ends[1]
        pooled.append(each.mean)
        means.append(statistics.fmean(np.sort(times)[:, -2]))
    assert statistics.fmean(pooled) == pytest.approx(math.log(100), abs=0.12)
    assert statistics.fmean(means) == pytest.approx(sum(1 / n for n in range(2, 118)), abs=0.1)
    # An interval at 95 % by 10 runs covers somewhat less often.
    assert covered >= 50
