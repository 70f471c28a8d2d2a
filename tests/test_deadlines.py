"""Deadlines of responses, and of several kinds of frames on one connection."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget

Changes = dict[str, Any]


def _calls(deadline_ms: int, loss: float) -> Changes:
    return {
        "path.rtt": "1ms",
        "path.down.rate": "500Mbit/s",
        "path.up": "500Mbit/s",
        "path.loss": loss,
        "flows.0.count": 3,
        "flows.0.workload": {
            "kind": "request-response",
            "request": "60B",
            "response": "80B",
            "think": "0.5ms",
            "gap": "10ms",
            "deadline": f"{deadline_ms}ms",
        },
    }


@pytest.mark.parametrize("seed", range(2))
def test_responses_rank_by_the_share_after_their_deadline(seed: int) -> None:
    draw = random.Random(seed)
    deadline_ms = draw.randint(8, 60)
    changes = _calls(deadline_ms, round(draw.uniform(0.002, 0.004), 4))
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="30s", set=changes)
    (application,) = result.applications
    assert application.ranking == ("response_late_share", "share of late responses", "")
    units = result.units[result.units["cca"] == "cubic"]
    share = (units["duration_s"] > deadline_ms / 1e3).mean()
    assert application.metrics["cubic"]["response_late_share"] == [pytest.approx(share)]
    assert result.best_by("response_late_share").values == application.values("response_late_share")
    explained = ExplainedComparison(result)
    slow = next(cause for cause in explained.ccas[0].causes if cause.name == "slow_units")
    assert f"came after their deadline of {deadline_ms} ms" in slow.text
    explained.try_remedies(TrialBudget())
    lower = next(each for each in explained.remedies if "tcp.min_rto" in str(each.remedy.changes))
    assert lower.remedy.changes == (f"tcp.min_rto={max(5, min(20, deadline_ms // 2))}ms",)


def test_without_a_late_response_the_percentile_ranks_and_other_flows_have_no_share() -> None:
    changes = _calls(500, 0.0)
    result = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=changes)
    assert result.applications[0].ranking.metric == "response_p95_s"
    del changes["flows.0.workload"]["deadline"]
    result = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=changes)
    assert "response_late_share" not in result.applications[0].names
    with pytest.raises(ct.CelltcpError, match="no response_late_share"):
        result.best_by("response_late_share")


def _frames(draw: random.Random, deadline: str) -> Changes:
    """Large frames, and smaller ones that wait behind them in the connection."""
    kind = {"size": f"{draw.randint(60, 120)}kB", "interval": f"{draw.randint(1500, 2500)}ms"}
    return {
        "flows.0.workload": {
            "kind": "frames",
            "size": f"{draw.randint(8, 12)}MB",
            "interval": "20s",
            "jitter": 0,
            "deadline": "15s",
            "beside": [{**kind, "deadline": deadline}],
        },
    }


@pytest.mark.parametrize("seed", range(2))
def test_frames_rank_by_the_kind_with_the_shortest_deadline(seed: int) -> None:
    changes = _frames(random.Random(seed), "1s")
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="55s", set=changes)
    (application,) = result.applications
    workload = changes["flows.0.workload"]
    small, large = workload["beside"][0]["size"], workload["size"]
    assert list(application.kinds) == [large, small]
    assert application.metrics == application.kinds[small]
    assert application.kinds[large]["cubic"]["frames"] == [3.0]
    assert application.kinds[large]["cubic"]["late_share"] == [0.0]
    units = result.units[result.units["cca"] == "cubic"]
    delays_s = units["duration_s"].dropna()
    counted = application.metrics["cubic"]["frames"][0]
    assert application.metrics["cubic"]["late_share"][0] == pytest.approx(
        ((delays_s > 1).sum() + units["duration_s"].isna().sum()) / counted
    )
    table = metrics_table(result, application)
    assert [row[1] for row in table.rows] == [large, small] * 2
    (slow,) = (
        cause
        for cause in next(each for each in ExplainedComparison(result).ccas).causes
        if cause.name == "slow_units"
    )
    assert f" of {len(units)} frames " in slow.text
    assert "had not arrived at the end" not in slow.text
    # A queue of 100 ms explains no wait of seconds.
    assert max(slow.reasons, key=slow.reasons.__getitem__) == "waited behind earlier ones"
    document = result.to_json()["applications"][0]["frame_kinds"]
    assert [(row["cca"], row["size"]) for row in document] == [
        (cca, size) for size in (large, small) for cca in ("cubic", "bbr")
    ]


def test_kinds_with_one_deadline_rank_together_and_have_a_row_each() -> None:
    result = ct.compare(
        "steady-20-68", "cubic", 1, duration="45s", set=_frames(random.Random(3), "15s")
    )
    (application,) = result.applications
    counts = [metrics["cubic"]["frames"][0] for metrics in application.kinds.values()]
    assert application.metrics["cubic"]["frames"] == [sum(counts)]
    assert [row[1] for row in metrics_table(result, application).rows] == [*application.kinds, "all"]
