"""Frames that never arrived: figures of the same frames, and ranks by the late share."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_metrics import _flow_metrics
from celltcp.comparison.applications.applications import Application
from celltcp.comparison.explanation.answer import rankings_of, settings_of
from celltcp.comparison.explanation.causes.unit_reasons import GIVEN_UP, TIME_OUT
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trial_metrics import metrics_of
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.report.front_page import answer_of
from celltcp.comparison.verdicts.stakes import trade_off_texts
from celltcp.comparison.verdicts.verdict_tables import stake_texts
from celltcp.results.statistics import relative_difference
from celltcp.scenarios.changes import Value

_STATISTICS = ("", "_p50", "_p95", "_p99", "_max")


@pytest.mark.parametrize("seed", range(6))
def test_mean_and_maximum_are_of_the_frames_of_the_percentiles(seed: int) -> None:
    draw = random.Random(seed)
    count, lost = draw.randint(5, 400), draw.choice([0, 1, 20, 300])
    delays = [draw.uniform(10, 90) for _ in range(count)]
    ages = [draw.uniform(100, 200) for _ in range(lost)]
    # Their delay will be at least their age, be that below the longest delay.
    young = [draw.uniform(1, max(delays)) for _ in range(draw.randint(0, 3))]
    kinds = {"frame_ms": delays, "frames": [count + lost + len(young)], "late_share": [0.5]}
    values = {kind: {0: list(map(float, each))} for kind, each in kinds.items()}
    values["frame_age_ms"] = {0: [*ages, *young]}
    metrics = {name: float(each[0]) for name, each in _flow_metrics(values, [0]).items()}
    mean, median, p95, p99, longest = (metrics[f"frame_delay{name}_ms"] for name in _STATISTICS)
    assert median <= p95 <= p99 <= longest
    every = [*delays, *ages, *young]
    assert (mean, longest) == (pytest.approx(sum(every) / len(every)), max(every))
    assert metrics["missing_share"] == pytest.approx((lost + len(young)) / len(every))
    assert math.isnan(metrics["frame_delay_sd_ms"]) == (len(every) > count)


@pytest.mark.parametrize("seed", range(4))
def test_frames_rank_by_what_came_late_where_some_never_arrived(seed: int) -> None:
    draw = random.Random(seed)
    good, bad = sorted(draw.uniform(0.2, 0.9) for _ in range(2))
    delays = {"cubic": [draw.uniform(20, 40)] * 2, "bbr": [draw.uniform(400, 900)] * 2}

    def application(endless: list[str]) -> Application:
        return Application(
            "call",
            {
                cca: {
                    "late_share": [share, share + 0.01],
                    "missing_share": [0.2 if cca in endless else 0.0] * 2,
                    "frame_delay_ms": delays[cca],
                }
                for cca, share in (("cubic", bad + 0.05), ("bbr", good))
            },
        )

    assert application([]).ranking.metric == "frame_delay_ms"
    for endless in (["cubic"], ["bbr"], ["cubic", "bbr"]):
        call = application(endless)
        assert call.ranking.metric == "late_share"
        assert call.ranking.note == "over 10 % late under every CCA"
        assert call.verdict(random=True).leader == "bbr"


def test_frames_that_are_all_late_rank_by_the_share_that_had_not_arrived() -> None:
    """A buffer of a few packets keeps windows far below what the frames need."""
    changes: dict[str, Value] = {
        "path.rtt": "148ms",
        "path.down": "49Mbit/s",
        "path.buffer": "8packets",
        "flows.0.workload": {
            "kind": "frames",
            "size": "121kB",
            "interval": "33ms",
            "deadline": "194ms",
        },
    }
    result = ct.compare("steady-20-68", "illinois,highspeed", 2, duration="25s", set=changes)
    (main,) = result.applications
    assert main.ranking.metric == "missing_share"
    assert main.verdict(random=False).leader == "illinois"
    explained = ExplainedComparison(result)
    assert not any("any of these CCAs will do" in note for note in explained.notes)
    assert all(each.cause_text("shallow_buffer") for each in explained.ccas)
    explained.try_remedies(TrialBudget())
    assert any("path.buffer=" in remedy.options for remedy in explained.remedies)


def test_a_connection_that_is_given_up_has_no_mean_of_what_came_before() -> None:
    draw = random.Random(3)
    timeout_s = draw.choice([3, 4, 5])
    changes = {
        "flows.0.workload": "{ kind = 'frames', size = '500B', interval = '100ms', deadline = '1s' }",
        "path.blackouts": f"[{{ at = '2s', duration = '{timeout_s + 10}s' }}]",
        "tcp.user_timeout": f"{timeout_s}s",
    }
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="20s", set=changes)
    for each in ExplainedComparison(result).ccas:
        assert each.standing.metric_text.startswith("share of late frames ")
        assert "frame delay mean" not in each.standing.metric_text
        # Those made after that waited for nothing.
        (reasons,) = (cause.reasons for cause in each.causes if cause.name == "slow_units")
        units = result.units[result.units["cca"] == each.cca]
        events = result.results.tables["events"].to_pandas()
        is_abort = (events["kind"] == "timed_out") & (events["cca"] == each.cca)
        abort_s = events.loc[is_abort, "t_ns"].min() * 1e-9
        assert reasons[GIVEN_UP] == (units["start_s"] >= abort_s).sum() > 0
        assert TIME_OUT not in reasons
    (call,) = result.applications
    assert call.bounds("frame_delay_ms") == {"cubic", "bbr"}
    # The median is in the place of the mean in trials, as it may change.
    names = metrics_of(call, "cubic", "outage", call.metrics["cubic"])
    assert names[0] == "late_share"
    assert "frame_delay_p50_ms" in names
    assert "frame_delay_ms" not in names


def test_late_frames_come_first_in_the_heading_where_ccas_rank_by_delay() -> None:
    changes = {
        "flows.0.workload": "{ kind = 'frames', size = '4kB', interval = '20ms', deadline = '30ms' }",
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="4s", set=changes)
    (each,) = ExplainedComparison(result).ccas
    assert each.standing.metric == "frame_delay_ms"
    late = 100 * result.applications[0].means("late_share")[0]
    assert each.standing.metric_text.startswith(f"share of late frames {late:.3g} %, frame delay mean ")


def test_infinite_means_have_no_ratio() -> None:
    assert math.isnan(relative_difference([math.inf, 1.0], [math.inf, 2.0]))
    assert math.isnan(relative_difference([math.inf], [2.0]))
    assert math.isnan(relative_difference([2.0], [math.inf]))
    assert relative_difference([3.0], [2.0]) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(3))
def test_no_cca_is_set_for_frames_that_are_late_under_each_alike(seed: int) -> None:
    """Medians far apart are none of the deadline; one CCA with far fewer late frames is the advice."""
    draw = random.Random(f"alike {seed}")
    late = draw.choice([0.3, 0.8, 0.996])
    reasons = []
    for best in (late, 0.2 * late):
        shares = {"cubic": late, "bbr": best, "reno": late}
        call = Application(
            "call",
            {
                cca: {
                    "late_share": [share + draw.uniform(0, 0.001) for _ in range(5)],
                    "missing_share": [0.1 + draw.uniform(0, 0.01) for _ in range(5)],
                    "frame_delay_ms": [500.0 * draw.uniform(1, 1.01) for _ in range(5)],
                    "frame_delay_p50_ms": [300.0 * (1 + rank) for _ in range(5)],
                }
                for rank, (cca, share) in enumerate(shares.items())
            },
        )
        verdict = call.verdict(random=False)
        reasons.append(verdict.contradicted_by or "")
        assert verdict.leader == ("cubic" if best == late else "bbr")
        assert verdict.best == (None if best == late else "bbr")
    low, high = map(float, re.findall(r"[\d.]+", reasons[0]))
    assert 100 * late <= low <= high <= 100 * late + 0.11
    assert not reasons[1]


@pytest.mark.parametrize("frames_mbps", [25, 33])
def test_frames_that_a_download_starves_have_no_lines_for_a_cca(frames_mbps: int) -> None:
    """CUBIC takes half of the link, in whose deep queue frames above the other half are all late."""
    frames = {"kind": "frames", "size": f"{frames_mbps * 1e6 / 8 / 50:.0f}B", "interval": "20ms"}
    changes: dict[str, Any] = {
        "path.rtt": "20ms",
        "path.down": "40Mbit/s",
        "path.buffer": "500kB",
        "flows": [
            {"name": "game", "workload": {**frames, "deadline": "80ms"}},
            {"name": "download", "cca": "cubic"},
        ],
    }
    result = ct.compare("steady-20-68", "cubic,reno", 3, duration="20s", set=changes)
    assert min(result.applications[0].means("late_share")) > 0.9
    (line,) = (each for each in stake_texts(result) if each.startswith("best for game"))
    (ranking,) = (each for each in rankings_of(result) if each.startswith("For game"))
    for text in (line, ranking, answer_of(result)):
        assert "no CCA keeps the deadline (" in text
        assert "to be set" not in text
    assert not any(row["need"].startswith("game") for row in settings_of(result))
    assert not trade_off_texts(result)
