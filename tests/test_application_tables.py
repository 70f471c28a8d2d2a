"""Tables of applications: which metrics they have, their titles, and the largest values of all runs."""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import (
    metrics_table,
    sweep_metrics_tables,
    texts_of_all_runs,
)
from celltcp.comparison.applications.applications import shown_metrics
from celltcp.comparison.metric_names import ranking_metric
from celltcp.comparison.report.findings import findings_of
from celltcp.comparison.verdicts.choices import choices_of
from workloads import GAME

if TYPE_CHECKING:
    from conftest import Celltcp


def test_the_time_to_the_first_byte_is_left_out_where_it_is_that_of_the_whole() -> None:
    def shown(size: str) -> list[str]:
        workload = {"kind": "request-response", "response": size, "think": "0ms", "gap": "100ms"}
        result = ct.compare("steady-20-68", runs=1, duration="3s", set={"flows.0.workload": workload})
        return shown_metrics(result.applications)

    assert "response_first_byte_s" not in shown("100B")
    assert "response_first_byte_s" in shown("100kB")


@pytest.mark.parametrize("workload", [GAME, "{ kind = 'frames', size = '2kB', interval = '20ms' }"])
def test_the_goodput_of_what_does_not_compete_is_shown_on_request(
    celltcp: Celltcp, tmp_path: Path, workload: str
) -> None:
    result = ct.compare(
        *("steady-20-68", "cubic"),
        runs=2,
        duration="4s",
        set={"flows.0.workload": workload},
        out=tmp_path / "r",
    )
    usual = celltcp("show", "r", "--columns", "rtt").stdout
    assert "goodput" not in usual
    asked = celltcp("show", "r", "--columns", "goodput,capacity").stdout.split()
    rate = statistics.fmean(result.values("cubic", "goodput_mbps"))
    sums = result.slots.groupby("run")[["goodput_mbps", "capacity_mbps"]].sum()
    share = (sums["goodput_mbps"] / sums["capacity_mbps"]).mean()
    row = asked[asked.index("cubic") :]
    numbers = [float(each) for each in row if each.replace(".", "").isdigit()]
    assert numbers[0] == pytest.approx(rate, abs=0.006)
    assert share in (pytest.approx(each, abs=0.0006) for each in numbers[1:])


@pytest.mark.parametrize(
    ("workload", "part"),
    [
        ({"kind": "request-response"}, ", with the server's think time of 10ms"),
        ({"kind": "page", "think": "50ms"}, ", with the server's think time of 50ms"),
        ({"kind": "request-response", "think": "0s"}, ""),
        ({"kind": "frames"}, ", of frames of 2.42 Mbit/s over TCP"),
        ({"kind": "frames", "size": "100B", "interval": "20ms"}, ", of frames of 40.0 kbit/s over TCP"),
        ({"kind": "frames", "encoder": {"lowest": 0.1}}, ", of frames over TCP"),
    ],
)
def test_titles_of_applications_have_think_time_or_rate(workload: dict[str, object], part: str) -> None:
    changes = {"flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic", 1, duration="3s", set=changes)
    title = metrics_table(result, result.applications[0]).title
    assert title.partition("over 1 run")[2].partition(";")[0] == part


def test_a_mean_of_times_has_the_name_in_its_heading_too() -> None:
    assert ranking_metric("completion_mean_s") == "completion_s"
    assert ranking_metric("frame_delay_mean_ms") == "frame_delay_ms"
    assert ranking_metric("rtt_mean_ms") == "rtt_mean_ms"


@pytest.mark.parametrize(
    "workload",
    [
        GAME,
        '{ kind = "page" }',
        '{ kind = "frames", size = "2kB" }',
    ],
)
def test_goodput_of_a_flow_that_does_not_compete_is_not_printed(
    celltcp: Celltcp, workload: str
) -> None:
    flow = ("--set", f"flows.0.workload={workload}")
    done = celltcp(
        *("compare", "steady-20-68", *flow, "--cca", "cubic,bbr", "--runs", "2", "--duration", "6s")
    )
    assert done.returncode == 0, done.stderr
    for absent in ("goodput", "best for balanced", "best for    delay", "PM", "0.00 Mbit/s"):
        assert absent not in done.stdout
    assert "best for flow-1, by " in done.stdout
    assert "mean RTT" in done.stdout


def test_the_metrics_of_the_network_are_ranked_only_of_a_flow_that_competes() -> None:
    thin, bulk = (
        ct.compare("steady-20-68", "cubic,bbr", 2, duration="3s", set=changes)
        for changes in ({"flows.0.workload": GAME}, {})
    )
    assert thin.network_verdicts == {}
    assert bulk.network_verdicts == bulk.verdicts
    assert [each.question for each in findings_of(thin)] == ["Best for flow-1, by mean response time"]
    assert [each.need for each in choices_of(thin)] == ["flow-1 (mean response time)"]


@pytest.mark.parametrize("seed", range(2))
def test_the_worst_of_all_runs_is_beside_the_means_of_maxima(seed: int) -> None:
    """Random loss hits the requests of each run at other times, so that the maxima differ."""
    draw = random.Random(seed)
    changes = {
        "path.loss": round(draw.uniform(0.005, 0.02), 4),
        "flows.0.workload": {"kind": "request-response", "gap": f"{draw.randint(150, 400)}ms"},
    }
    result = ct.compare("steady-20-68", "cubic", 3, duration="30s", set=changes)
    *_, text = texts_of_all_runs(result, result.applications[0])
    assert text == f"Response max of all runs: cubic {result.units['duration_s'].max():.3f} s."
    mean = statistics.fmean(result.applications[0].metrics["cubic"]["response_max_s"])
    assert result.units["duration_s"].max() > mean


def test_the_flow_by_whose_metric_values_are_ranked_comes_first() -> None:
    ping = {"name": "ping", "workload": {"kind": "request-response", "response": "200B", "gap": "50ms"}}
    web = {"name": "web", "workload": {"kind": "sequence", "size": "100kB", "gap": "500ms"}}
    swept = ct.sweep(
        "steady-20-68", {"path.buffer": ["20packets", "90packets"]}, "cubic", 2, duration="5s",
        set={"flows": [{"name": "download"}, ping, web]}, jobs=1,
    )  # fmt: skip
    assert [*sweep_metrics_tables(swept)] == ["ping", "web"]
    assert [*sweep_metrics_tables(swept, ["completion_s:web"])] == ["web", "ping"]
