"""Video sessions: what compare says of them, and what it refuses."""

from __future__ import annotations

import json
import re
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import celltcp as ct
from celltcp._core import p1203_scores
from celltcp.comparison.report.sweep import sweep_part
from celltcp.video import check as video_check
from celltcp.video.check import SESSIONS
from celltcp.video.comparison import SCORES
from celltcp.video.plots.video import score_groups
from celltcp.video.plots.viewers import session_groups, share_of_sessions
from celltcp.video.report.comparison import video_part
from celltcp.video.report.video import metrics_table

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Celltcp

VIDEO = {"flows.0.workload": "{ kind = 'video', abr = 'throughput' }"}
FIGURES = {"qoe", "startup_s", "stalls", "stalled_s", "bitrate_mbps", "switches"}


def test_runs_have_the_figures_of_the_viewer_and_qoe_is_a_requirement() -> None:
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="30s", set=VIDEO)
    document = result.to_json()
    for run in document["runs"]:
        assert set(run) >= FIGURES
        assert 1 < run["qoe"] < 5
        assert (run["stalls"], run["stalled_s"]) == (0, 0)
        assert 0.1 < run["startup_s"] < 1
        assert 2 < run["bitrate_mbps"] <= 6
    assert set(document["recommendation"]) == {"goodput", "balanced", "delay", "qoe"}
    assert set(document["recommendation"]["qoe"]) <= {"cubic", "bbr"}
    assert all("qoe" in row for row in document["summary"])
    json.dumps(document)


def test_a_slow_link_stalls_and_runs_without_video_have_no_figures() -> None:
    slow = {**VIDEO, "path.down": "'300kbit/s'"}
    run = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=slow).to_json()["runs"][0]
    assert run["qoe"] < 3
    assert run["bitrate_mbps"] < 0.5
    plain = ct.compare("steady-20-68", "cubic", 1, duration="2s").to_json()
    assert not FIGURES & set(plain["runs"][0])
    assert "qoe" not in plain["recommendation"]


@pytest.mark.parametrize(
    ("workload", "part"),
    [
        ("{ kind = 'video', ladder = '8k' }", "allowed: bbb, 1080p, 4k"),
        ("{ kind = 'video', abr = 'mpc' }", "robust-mpc"),
        (
            "{ kind = 'video', ladder = '4k', max_buffer = '3s', startup = '1s' }",
            "max_buffer: 3s is out of range; allowed: 4s, the duration of a segment, or more",
        ),
        ("{ kind = 'video', screen = { width = 0 } }", "screen.width: 0 is out of range"),
    ],
)
def test_wrong_settings_are_refused(workload: str, part: str) -> None:
    with pytest.raises(ct.CelltcpError, match=re.escape(part)):
        ct.compare("steady-20-68", "cubic", 1, duration="1s", set={"flows.0.workload": workload})


@pytest.mark.parametrize(
    ("vary", "ranks"),
    [("flows.0.workload.abr=bola,bba-2", True), ("flows.0.workload=bulk,video", False)],
)
def test_a_report_ranks_by_qoe_where_every_value_of_a_sweep_has_video(vary: str, ranks: bool) -> None:
    video = {"flows.0.workload.kind": "video"} if ranks else {}
    swept = ct.sweep("steady-20-68", vary, cca="cubic,bbr", runs=1, duration="15s", set=video)
    best = next(part for part in sweep_part(swept).sections if part.title == "Best at each value")
    assert best.table is not None
    (place,) = (n for n, column in enumerate(best.table.columns) if "QoE" in column.heading)
    assert ("-" not in [row[place] for row in best.table.rows]) == ranks


def test_a_table_has_the_scores_of_each_scenario_adaptation_and_cca(tmp_path: Path) -> None:
    """The same command again runs nothing; one more run adds to what is there."""
    scenarios, abrs = ["steady-5-18", "drive"], ["throughput", "bba-2"]
    result = ct.compare_video(scenarios, abrs, "cubic,vegas", 2, duration="20s", out=tmp_path)
    table = result.table
    assert len(table) == 2 * 2 * 2
    assert list(result.comparisons) == [(one, abr) for one in scenarios for abr in abrs]
    assert table["qoe"].between(1, 5).all()
    for (scenario, abr), group in table.groupby(["scenario", "abr"]):
        leader = result.verdict(str(scenario), str(abr)).leader
        assert group.loc[group["cca"] == leader, "behind"].isna().all()
        others = group[group["cca"] != leader]
        best = group.loc[group["cca"] == leader, "qoe"].iloc[0]
        assert np.allclose(others["behind"], others["qoe"] - best)
    again = ct.compare_video(scenarios, ",".join(abrs), "cubic,vegas", 2, duration="20s", out=tmp_path)
    assert all(each.results.is_repeat for each in again.comparisons.values())
    assert again.to_json() == result.to_json()
    json.dumps(result.to_json(), allow_nan=False)


@pytest.mark.rendered
def test_the_command_prints_scores_and_draws_them(celltcp: Celltcp, tmp_path: Path) -> None:
    done = celltcp(
        *("video", "steady-5-18", "--abr", "bola-e,throughput", "--cca", "cubic,vegas", "--runs", "1"),
        *("--duration", "20s", "--out", str(tmp_path / "out")),
    )
    assert done.returncode == 0, done.stderr
    assert "Mean opinion score" in done.stdout
    assert (tmp_path / "out" / "video.png").is_file()
    assert "start-up" in (tmp_path / "out" / "video-ecdf.svg").read_text()
    folder = str(tmp_path / "out" / "steady-5-18-bola-e")
    shown = celltcp("show", folder, "--plot", "video", "--out", str(tmp_path / "sessions.svg"))
    assert shown.returncode == 0, shown.stderr
    assert "stalls" in (tmp_path / "sessions.svg").read_text()


def test_sessions_that_never_started_count_as_above_all_values() -> None:
    sessions = pd.DataFrame(
        {"curve": ["cubic"] * 4 + ["bbr"], "startup_s": [1.0, np.nan, 3.0, 1.0, 2.0]}
    )
    shares = share_of_sessions(sessions, "cubic", "startup_s", np.array([0.5, 1.0, 2.0, 3.0]))
    assert shares.tolist() == [0.0, 0.5, 0.5, 0.75]


def test_distributions_and_their_sections_cover_all_sessions() -> None:
    result = ct.compare_video("steady-5-18", ["throughput", "bola"], "cubic,vegas", 2, duration="20s")
    (sessions,) = session_groups(result).values()
    assert len(sessions) == 2 * 2 * 2
    assert len(result.plot_ecdf().axes) == 4
    sections = {section.title: section for section in video_part(result).sections}
    shown = sections["Distribution of the start-up"].figure
    assert shown is not None
    assert shown.chart is not None
    (panel,) = shown.chart.panels
    assert [series.label for series in panel.series] == ["cubic", "vegas"]
    assert all(series.values[0] == 0 or series.values[-1] == 1 for series in panel.series)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--abr", "mpc"), "robust-mpc"),
        (("--abr", "bola,bola"), "abr: 'bola, bola' is wrong; allowed: names, each once"),
        (("--ladder", "8k"), "allowed: bbb, 1080p, 4k"),
    ],
)
def test_the_command_refuses_wrong_names(
    celltcp: Celltcp, arguments: tuple[str, ...], part: str
) -> None:
    done = celltcp("video", "steady-5-18", "--cca", "cubic", "--runs", "1", *arguments)
    assert done.returncode == 2
    assert part in done.stderr


def test_a_picture_of_sessions_needs_a_video() -> None:
    plain = ct.compare("steady-20-68", "cubic", 1, duration="2s")
    with pytest.raises(ct.CelltcpError, match="no video was played"):
        plain.plot.video()


def test_a_segment_that_takes_too_long_is_abandoned_for_a_lower_quality() -> None:
    """The client closes the connection and requests the segment again on another one."""
    slow = {"path.down": "'1Mbit/s'"}
    video = "{{ kind = 'video', abr = 'throughput', initial = '6Mbit/s', abandon = {} }}"

    def watch(abandon: str) -> ct.Comparison:
        changes = {**slow, "flows.0.workload": video.format(abandon)}
        return ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)

    patient, result = watch("false"), watch("true")
    events = result.results.tables["events"].to_pandas()
    assert events.loc[events["kind"] == "abandoned", "detail"].tolist() == ["1"]
    given_up, rest = (flow for _, flow in result.flows.iterrows())
    assert given_up["resets"] > 0
    assert given_up["bytes"] < 0.1 * rest["bytes"]
    assert len(patient.flows) == 1
    assert patient.runs["startup_s"].iloc[0] > 3 * result.runs["startup_s"].iloc[0]


def test_a_selector_cannot_be_asked_for_the_score(celltcp: Celltcp) -> None:
    done = celltcp("compare", "drive", "--cca", "auto:requirement=qoe", "--runs", "1")
    assert done.returncode == 2
    assert 'no policy can select by "qoe"' in done.stderr


def test_the_check_says_that_there_is_no_reference_software(celltcp: Celltcp) -> None:
    done = celltcp("video", "check")
    assert done.returncode == 2
    assert "itu_p1203" in done.stderr
    assert "is not installed" in done.stderr


@pytest.mark.parametrize(("shift", "agrees"), [(0.0, True), (0.1, False)])
def test_the_check_compares_with_reference_software(
    shift: float, agrees: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stand-in for the software, with one tree, that answers with the scores here, or others."""
    (tmp_path / "tree0.csv").write_text("0, -1, 4.945961, -1, -1")

    class Standalone:
        def __init__(self, session: dict[str, dict[str, list[dict[str, float]]]], quiet: bool) -> None:
            assert quiet
            self.whole = sum(each["duration"] for each in session["I13"]["segments"])

        def calculate_complete(self) -> dict[str, float]:
            known = {
                sum(piece[-1] for piece in each.pieces): each
                for each in SESSIONS
                if each.name != "up and down"
            }
            one = known[self.whole]
            scores = p1203_scores(one.pieces, one.audio_kbps, one.interruptions, tmp_path)
            return dict(zip(("O23", "O35", "O46"), [each + shift for each in scores], strict=True))

    software = SimpleNamespace(__file__=str(tmp_path / "__init__.py"), P1203Standalone=Standalone)
    monkeypatch.setitem(sys.modules, "itu_p1203", software)
    monkeypatch.setattr(
        video_check, "SESSIONS", [each for each in SESSIONS if each.name != "up and down"]
    )
    result = video_check.check()
    assert [each.agrees for each in result] == [agrees] * 3
    assert result[0].scores["O46"] == pytest.approx(4.92093, abs=1e-5)


def test_verdicts_over_all_scenarios_are_those_of_their_paired_differences(
    celltcp: Celltcp, tmp_path: Path
) -> None:
    """An independent computation: t intervals of the differences, with one run on each scenario."""
    scenarios = ["steady-5-18", "steady-5-68", "steady-20-68"]
    ccas, abrs = ["cubic", "bbr"], ["bba-0", "throughput"]
    result = ct.compare_video(scenarios, abrs, ccas, 1, duration="40s", out=tmp_path / "out")
    runs = {
        (scenario, abr, cca): comparison.runs.set_index("cca").loc[cca]
        for (scenario, abr), comparison in result.comparisons.items()
        for cca in ccas
    }
    verdicts = {(each.need, each.metric): each for each in result.over_all}
    needs = [*(f"with {abr}" for abr in abrs), *(f"for {cca}" for cca in ccas)]
    assert set(verdicts) == {(need, score) for need in needs for score in SCORES}
    for (need, metric), verdict in verdicts.items():
        kind, fixed = need.split()
        first, second = verdict.ranked
        pairs = [((fixed, name) if kind == "with" else (name, fixed)) for name in (first, second)]
        values = np.array(
            [[runs[place, *pair][metric] for place in scenarios] for pair in pairs], float
        )
        differences = values[0] - values[1]
        assert differences.mean() >= 0
        low, high = stats.t.interval(0.95, 2, loc=differences.mean(), scale=stats.sem(differences))
        smallest = 0.1 if metric == "qoe" else 0.0
        is_tied = not low > 0 or differences.mean() < smallest or not differences.std()
        assert bool(verdict.tied) == is_tied, (need, metric, low, high)
    groups = session_groups(result)
    assert list(groups) == [*(f"{abr}, 3 scenarios" for abr in abrs), *scenarios]
    assert all(len(groups[f"{abr}, 3 scenarios"]) == 3 * 2 for abr in abrs)
    shown = " ".join(celltcp("show", str(tmp_path / "out")).stdout.split())
    assert all(f"3 scenarios {each.need}: {each.text}" in shown for each in result.over_all)
    assert "mean over" not in shown
    assert [row["need"] for row in result.to_json()["over_all"]] == [
        each.need for each in result.over_all
    ]


def test_pictures_of_many_scenarios_have_all_of_them_together(tmp_path: Path) -> None:
    """Eight links, as of a folder of logs: one panel of their means, and one distribution."""
    for number in range(8):
        (tmp_path / f"link-{number}.csv").write_text(f"time_s,mbps\n0,{2 + number}\n30,{2 + number}\n")
    result = ct.compare_video(str(tmp_path), ["bba-0", "throughput"], "cubic", 1, duration="20s")
    (scores,) = score_groups(result).values()
    for abr in result.adaptations:
        of_abr = [
            each.runs["qoe"].mean() for (_, name), each in result.comparisons.items() if name == abr
        ]
        assert sorted(scores.loc[scores["abr"] == abr, "qoe"]) == pytest.approx(sorted(of_abr))
    assert len(result.plot().axes) == 1
    (sessions,) = session_groups(result).values()
    assert sessions["curve"].value_counts().to_dict() == {"bba-0": 8, "throughput": 8}
    titles = [section.title for section in video_part(result).sections]
    assert sum(title.endswith("over time") for title in titles) == 6


def test_adaptations_are_compared_with_each_other(celltcp: Celltcp, tmp_path: Path) -> None:
    """By both scores, run by run, on each of two scenarios and over both."""
    scenarios, abrs = ["steady-5-18", "steady-5-68"], ["bba-0", "robust-mpc"]
    folder = tmp_path / "out"
    result = ct.compare_video(scenarios, abrs, "cubic", 2, duration="20s", out=folder)
    verdicts = {(each.scenario, each.metric): each.verdict for each in result.adaptation_verdicts}
    assert set(verdicts) == {(place, score) for place in (*scenarios, None) for score in SCORES}
    for (scenario, metric), verdict in verdicts.items():
        means = {
            abr: np.mean([result.comparisons[one, abr].runs[metric].mean() for one in where])
            for where in [scenarios if scenario is None else [scenario]]
            for abr in abrs
        }
        assert verdict.leader == max(means, key=lambda abr: means[abr])
    shown = celltcp("show", str(folder)).stdout
    assert "Best adaptation" in shown
    assert "mean over 2 scenarios" in shown
    # One CCA has no rival, and no table of scores beside that of all figures.
    assert "Mean opinion score" not in shown
    table = metrics_table(result)
    (place,) = (number for number, each in enumerate(table.columns) if each.name == "bitrate_mbps")
    for row, comparison in zip(table.rows, result.comparisons.values(), strict=True):
        assert row[place].partition(" ")[0] == f"{comparison.runs['bitrate_mbps'].mean():.2f}"
    curves = {line.get_label() for axes in result.plot_ecdf().axes for line in axes.get_lines()}
    assert curves == set(abrs)
