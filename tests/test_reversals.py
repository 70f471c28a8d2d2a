"""Reversals: verdicts by one statistic of times that another statistic contradicts."""

from __future__ import annotations

import random
import statistics

import pytest

import celltcp as ct
from celltcp.comparison.applications.applications import Application
from celltcp.comparison.metrics import best_of
from celltcp.comparison.verdicts.reversals import ApplicationStatistics, best_reversal_text
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.comparison.verdicts.verdict_tables import stake_texts


def _stake(metric: str, application: Application) -> Stake:
    values = application.values(metric)
    return Stake("web", metric, metric, values, best_of(metric, values, random=True))


@pytest.mark.parametrize("seed", range(4))
def test_time_outs_of_a_few_runs_make_a_mean_that_most_runs_contradict(seed: int) -> None:
    """Without time-outs, a transfer is faster in each run; few runs of them decide the mean."""
    draw = random.Random(seed)
    runs = draw.randint(24, 60)
    slow = [draw.uniform(0.29, 0.31) for _ in range(runs)]
    fast = [draw.uniform(0.19, 0.21) for _ in range(runs)]
    cut = {**dict(enumerate(fast)), **dict.fromkeys(draw.sample(range(runs), runs // 6), 4.0)}
    metrics = {"cubic": {"completion_s": [*cut.values()]}, "bbr": {"completion_s": slow}}
    application = Application("web", metrics)
    stake = _stake("completion_s", application)
    assert stake.verdict.leader == "bbr"
    text = best_reversal_text(ApplicationStatistics([application]), stake)
    medians = [statistics.median(each) for each in (cut.values(), slow)]
    assert text == (
        f"but by the median of the runs cubic, {medians[0]:.3f} s instead of {medians[1]:.3f}"
    )
    # Half of the runs with a time-out leave no median to name.
    half = {**dict(enumerate(fast)), **dict.fromkeys(range(0, runs, 2), 4.0)}
    metrics["cubic"]["completion_s"] = [*half.values()]
    application = Application("web", metrics)
    stake = _stake("completion_s", application)
    assert not best_reversal_text(ApplicationStatistics([application]), stake)


@pytest.mark.parametrize("seed", range(3))
def test_a_percentile_that_the_median_contradicts_has_it_beside(seed: int) -> None:
    draw = random.Random(seed)
    times = {"cubic": (0.10, 0.9), "bbr": (0.2, 0.5)}
    metrics = {
        cca: {
            "responses": [200.0] * 4,
            "response_p50_s": [p50 * draw.uniform(0.99, 1.01) for _ in range(4)],
            "response_p95_s": [p95 * draw.uniform(0.99, 1.01) for _ in range(4)],
        }
        for cca, (p50, p95) in times.items()
    }
    application = Application("web", metrics)
    stake = _stake("response_p95_s", application)
    text = best_reversal_text(ApplicationStatistics([application]), stake, {"cubic": "CUBIC"})
    new, old = (statistics.fmean(metrics[cca]["response_p50_s"]) for cca in ("cubic", "bbr"))
    assert text == f"but by response p50 CUBIC, {new:.3f} s instead of {old:.3f}"


def test_the_verdict_line_has_the_statistic_that_contradicts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workload = {"kind": "request-response", "response": "40kB", "gap": "100ms"}
    changes = {"flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic,bbr", 2, duration="10s", set=changes)
    (text,) = stake_texts(result)
    assert "but by" not in text
    (application,) = result.applications
    for cca, metrics in application.metrics.items():
        factor = 0.5 if cca != result.stakes[0].verdict.leader else 1.0
        monkeypatch.setitem(
            metrics, "response_p50_s", [factor * value for value in metrics["response_p50_s"]]
        )
    (contradicted,) = stake_texts(result)
    assert contradicted.startswith(f"{text}; but by response p50 ")
