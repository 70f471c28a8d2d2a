"""Short times and rare ones: their units in tables and lines, and the 99.9th percentile."""

from __future__ import annotations

import math
import random
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_metrics import nearest_rank
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.applications.applications import Application
from celltcp.comparison.applications.short_times import shown_columns
from celltcp.comparison.explanation.causes.incast import first_bursts
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trial_metrics import later_maxima
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.metrics import words_of
from celltcp.comparison.sweep.best_values import overall_rankings
from celltcp.comparison.verdicts.stakes import trade_off_texts
from celltcp.comparison.verdicts.verdict_tables import chosen_text
from celltcp.present.section import estimate_text
from celltcp.results.statistics import Estimate

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy

Changes = dict[str, Any]


def _calls(rtt_ms: float, gap_ms: float, *, loss: float = 0.0, connections: int = 1) -> Changes:
    return {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": "500Mbit/s",
        "path.up": "500Mbit/s",
        "path.loss": loss,
        "flows.0.count": connections,
        "flows.0.workload": {
            "kind": "request-response",
            "request": "60B",
            "response": "80B",
            "think": "0.5ms",
            "gap": f"{gap_ms}ms",
        },
    }


def _tried(result: ct.Comparison) -> list[ProposedRemedy]:
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    return explained.remedies


def test_a_percentile_of_many_units_has_the_nearest_rank_and_needs_a_thousand() -> None:
    changes = _calls(1, 4, loss=0.002)
    many = ct.compare("steady-20-68", "cubic", 1, duration="12s", set=changes)
    (application,) = many.applications
    times = many.units.loc[many.units["unit"] == "response", "duration_s"]
    assert len(times) > 1000
    assert application.metrics["cubic"]["response_p999_s"] == [nearest_rank(list(times), 99.9)]
    assert nearest_rank(range(1, 1001), 99.9) == 999
    assert (
        many.best_by("response_p999_s").values["cubic"]
        == application.values("response_p999_s")["cubic"]
    )
    headings = [column.title for column in metrics_table(many, application).columns]
    assert any("p99.9" in heading for heading in headings)
    few = ct.compare("steady-20-68", "cubic", 1, duration="3s", set=changes)
    headings = [column.title for column in metrics_table(few, few.applications[0]).columns]
    assert not any("p99.9" in heading for heading in headings)


@pytest.mark.parametrize("seed", range(3))
def test_a_table_of_short_times_is_in_ms(seed: int) -> None:
    draw = random.Random(seed)
    rtt_ms = round(draw.uniform(0.2, 5), 2)
    result = ct.compare("steady-20-68", "cubic", 2, duration="5s", set=_calls(rtt_ms, 10))
    (application,) = result.applications
    table = metrics_table(result, application)
    texts = {
        " ".join(column.title.split()): cell
        for column, cell in zip(table.columns, table.rows[0], strict=True)
    }
    assert not any(heading.endswith(" s") for heading in texts)
    mean_ms = 1e3 * application.means("response_s")[0]
    assert float(texts["response mean ms"].split()[0]) == pytest.approx(mean_ms, rel=0.005)
    # JSON keeps its unit.
    assert application.means("response_p50_s")[0] < 0.01


def test_lines_have_significant_digits_of_short_times() -> None:
    words = words_of("response_p95_s")
    assert words.in_line(0.2204, 0.1334) == "0.220 to 0.133 s"
    assert words.in_line(0.2204, 0.0504) == "220 to 50.4 ms"
    # Beside seconds, all are in seconds.
    assert words.in_line(1.2204, 0.0504) == "1.220 to 0.050 s"
    assert words.in_line(0.00125, 0.00105) == "1.25 to 1.05 ms"
    assert words.in_line(0.2104, 0.00894) == "210 to 8.94 ms"
    assert estimate_text(Estimate(0.00108, 0.00003), 3) == "0.00108 ±0.00003"
    assert estimate_text(Estimate(0.0, 0.0), 3) == "0.000"
    assert estimate_text(Estimate(0.0108, None), 3) == "0.011"


@pytest.mark.parametrize(
    ("mean", "half", "digits", "text"),
    [
        (20.4712, 0.0213, 1, "20.47 ±0.02"),
        (0.04123, 0.00041, 3, "0.0412 ±0.0004"),
        (18.4539, 0.0049, 2, "18.454 ±0.005"),
        (18.4539, 0.0051, 2, "18.45 ±0.01"),
        # Beyond one further digit, runs are as good as equal.
        (20.4712, 0.00213, 1, "20.5"),
        (20.4712, None, 1, "20.5"),
        (1100.4, 0.2, 1, "1100.4 ±0.2"),
    ],
)
def test_a_narrow_interval_has_a_digit(mean: float, half: float | None, digits: int, text: str) -> None:
    """An interval of 0 would say that all runs are equal."""
    assert estimate_text(Estimate(mean, half), digits) == text


@pytest.mark.parametrize("seed", range(2))
def test_a_lost_handshake_does_not_hide_what_a_lower_rto_gains(seed: int) -> None:
    """Some of many connections lose their SYN-ACK, for which the client waits a second."""
    draw = random.Random(seed)
    changes = _calls(draw.choice([1, 2]), 50, loss=0.006, connections=150)
    result = ct.compare("steady-20-68", "cubic", 1, duration="6s", set=changes)
    (application,) = result.applications
    assert application.means("response_max_s")[0] > 0.9
    maxima = later_maxima(result, application.flow, "cubic")
    assert maxima is not None
    (later,) = maxima
    units = result.units
    first = units.groupby("connection")["start_s"].transform("min")
    assert later == units.loc[units["start_s"] > first, "duration_s"].max() < 0.9
    # Responses alone are lost, so that the timer of their server is enough.
    lower = next(each for each in _tried(result) if "tcp.server.min_rto=20ms" in each.remedy.changes)
    gain = re.search(
        r"response max after the first of each connection ([\d.]+) to ([\d.]+) ms", lower.trial
    )
    assert gain is not None, (lower.trial, later)
    before, after = map(float, gain.groups())
    assert before == pytest.approx(1e3 * later, abs=0.5)
    assert after < 0.5 * before


@pytest.mark.parametrize("seed", range(2))
def test_a_sweep_ranks_by_the_percentile_that_differs_where_all_tie_by_the_95th(seed: int) -> None:
    draw = random.Random(seed)
    changes = _calls(draw.choice([1, 2]), 5, loss=round(draw.uniform(0.002, 0.004), 4), connections=4)
    sweep = ct.sweep(
        "steady-20-68", {"tcp.min_rto": ["200ms", "20ms"]}, "cubic", 3, duration="15s", set=changes
    )
    (ranking,) = [each for each in overall_rankings(sweep) if each.decides]
    (stake,) = ranking.stakes
    assert stake.metric == "response_p999_s"
    assert stake.title == "99.9th percentile of the response time"
    assert [ranking.choices[name].value for name in stake.values if stake.verdict.leader == name] == [
        "20ms"
    ]
    # One without losses ties in each.
    changes["path.loss"] = 0.0
    sweep = ct.sweep(
        "steady-20-68", {"tcp.min_rto": ["200ms", "20ms"]}, "cubic", 3, duration="15s", set=changes
    )
    (ranking,) = overall_rankings(sweep)
    assert ranking.stakes[0].metric == "response_p95_s"


@pytest.mark.parametrize("seed", range(3))
def test_transfers_that_start_together_have_a_lower_initial_window_by_the_last(seed: int) -> None:
    draw = random.Random(seed)
    count, size = draw.randint(24, 40), draw.randint(24, 40)
    changes: Changes = {
        "variation.start_jitter": "0s",
        "path.rtt": "0.2ms",
        "path.wired": [{"name": "fabric", "rate": "40Gbit/s"}],
        "path.down.rate": "1Gbit/s",
        "path.up": "1Gbit/s",
        "path.buffer": f"{draw.randint(50, 70)}kB",
        "flows.0.count": count,
        "flows.0.workload": {"kind": "sequence", "size": f"{size}kB", "count": 1},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=changes)
    (application,) = result.applications
    assert application.ranking.metric == "completion_max_s"
    assert not any("same instant" in each for each in result.warnings)
    overshoot = next(
        cause for cause in ExplainedComparison(result).ccas[0].causes if cause.name == "overshoot"
    )
    assert (
        f" {count} connections start together: their initial windows of 10 segments" in overshoot.text
    )
    remedies = {each.remedy.changes[0].partition("=")[0]: each for each in _tried(result)}
    assert all("completion max" in each.trial for each in remedies.values())
    assert remedies["path.buffer"].remedy.changes == (f"path.buffer={count * size}kB",)
    # Even two segments of each may be too many.
    lower = {**changes, "tcp.initial_window": 2}
    with_lower = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=lower)
    old, new = (each.applications[0].means("completion_max_s")[0] for each in (result, with_lower))
    assert ("tcp.initial_window" in remedies) == (new < 0.9 * old)
    # No port holds all of long transfers.
    long = {**changes, "flows.0.workload": {"kind": "bulk", "bytes": "500kB"}}
    result = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=long)
    tried = [change for each in _tried(result) for change in each.remedy.changes]
    assert f"path.buffer={count * 500}kB" not in tried
    # Transfers whose first bursts fit need none of that.
    fitting = ct.compare(
        "steady-20-68", "cubic", 1, duration="5s", set={**changes, "path.buffer": "2MB"}
    )
    assert not any("initial_window=" in str(each.remedy.changes) for each in _tried(fitting))


@pytest.mark.parametrize(("runs", "count"), [(20, 1), (21, 1), (19, 1), (20, 2)])
def test_runs_of_one_transfer_have_percentiles_where_they_are_enough(runs: int, count: int) -> None:
    changes = {
        "path.loss": 0.01,
        "flows.0.count": count,
        "flows.0.workload": {"kind": "bulk", "bytes": "300kB"},
    }
    result = ct.compare("steady-20-18", "cubic", runs, duration="10s", set=changes)
    (application,) = result.applications
    table = metrics_table(result, application)
    cells = dict(zip([each.title for each in table.columns], table.rows[0], strict=True))
    of_runs = {title: cell for title, cell in cells.items() if "of runs" in title}
    assert len(of_runs) == (2 if runs >= 20 and count == 1 else 0)
    times = application.metrics["cubic"]["completion_s"]
    for title, cell in of_runs.items():
        (percentile,) = re.findall(r"p(\d+) of runs", title)
        scale = 1e3 if title.endswith("ms") else 1
        assert float(cell) == pytest.approx(scale * nearest_rank(times, int(percentile)), rel=0.01)


def test_a_table_of_short_times_has_room_for_those_without_an_end() -> None:
    metrics = {"response_s": [0.001], "response_max_s": [math.inf], "response_p50_s": [math.nan]}
    columns = shown_columns(list(metrics), [Application("flow", {"cubic": metrics})])
    assert [(each.factor, each.digits) for each in columns] == [(1e3, 2), (1e3, 1), (1e3, 1)]


def test_first_bursts_are_those_of_a_divided_flow_alone() -> None:
    flows = '[{ name = "parts", count = 9, workload = { bytes = "1MB" } }, { name = "one" }]'
    results = SimpleNamespace(about={"scenario": f"flows = {flows}"})
    comparison = SimpleNamespace(tested=SimpleNamespace(name="parts"), results=results)
    other = cast("Evidence", SimpleNamespace(flow_name="one", comparison=comparison))
    assert first_bursts(other) is None


@pytest.mark.parametrize("seed", range(2))
def test_the_lines_on_a_metric_have_one_unit(seed: int) -> None:
    """The median under one CCA is a few ms, and over 10 ms under the other."""
    draw = random.Random(seed)
    calls = _calls(1, 20)["flows.0.workload"]
    changes = {
        "path.rtt": "1ms",
        "path.down.rate": f"{draw.choice([300, 400])}Mbit/s",
        "path.up": "400Mbit/s",
        "path.buffer": "700packets",
        "flows": [{"name": "sync"}, {"name": "calls", "cca": "cubic", "workload": calls}],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="4s", set=changes)
    (application,) = result.applications
    bbr, cubic = (1e3 * application.means("response_p95_s")[index] for index in (1, 0))
    assert bbr < 10 < cubic
    (text,) = trade_off_texts(result)
    assert f"calls response p95 {bbr:.3g} ms instead of {cubic:.3g}" in text
    explained = ExplainedComparison(result)
    texts = {each.cca: each for each in explained.ccas if each.flow == "calls"}
    assert texts["cubic"].standing.metric_text == f"response p95 {cubic:.3g} ms"
    assert texts["cubic"].standing.behind_text("bbr").startswith(f"response p95 {bbr:.3g} ms")


def test_a_line_by_a_chosen_metric_has_its_unit() -> None:
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="4s", set=_calls(1, 20))
    best = result.best_by("response_p95_s")
    text = chosen_text(best, {cca: cca for cca in result.ccas})
    means = [1e3 * sum(values) / len(values) for values in best.values.values()]
    assert re.findall(r"(?:cubic|bbr) ([\d.]+)(?: ±[\d.]+)? ms", text) == [
        f"{mean:.2f}" for mean in means
    ]


@pytest.mark.parametrize("seed", range(3))
def test_short_transfers_use_the_share_of_the_capacity_that_their_goodput_is(seed: int) -> None:
    """A transfer of a few slots begins and ends within some, which it once had whole."""
    draw = random.Random(seed)
    mbps, megabytes = draw.randint(20, 80), draw.choice([1, 2, 3])
    changes: dict[str, Any] = {
        "path.down": {"rate": f"{mbps}Mbit/s"},
        "path.rtt": f"{draw.randint(15, 40)}ms",
        "path.buffer": "300packets",
        "flows.0.workload": {"kind": "sequence", "size": f"{megabytes}MB", "gap": "1s"},
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    payload_mbps = mbps * 1448 / 1500
    assert explained.used_share == pytest.approx(explained.goodput_mbps / payload_mbps, rel=0.06)
