"""Flows that compete: a row for each, their shares in sweeps, and pictures with all of them."""

from __future__ import annotations

import io
import json
import random
import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.plots.sweep import draw_sweep
from celltcp.comparison.report.comparison import picture_sections
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.comparison.tables import means_table, shares_table, subject_text
from celltcp.comparison.tables_of_several import sweep_shares_table, sweep_table
from celltcp.comparison.verdicts.choices import ccas_to_set, choices_of
from celltcp.present.style import styled
from celltcp.results.statistics import estimate
from celltcp.results.tables import frame
from celltcp.results.tested import FlowUnderTest

if TYPE_CHECKING:
    from conftest import Celltcp

#: Two downloads, of which the second begins later and is farther away.
FLOWS = {
    "flows": [{"name": "near"}, {"name": "far", "start": "2s"}],
    "path.buffer": "2bdp",
}
GAME = {"kind": "frames", "size": "200B", "interval": "33ms"}


@pytest.fixture(scope="module")
def compared() -> ct.Comparison:
    return ct.compare("steady-20-68", "cubic+reno,cubic+bbr", 2, duration="10s", set=FLOWS)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Path]:
    folder = tmp_path_factory.mktemp("swept")
    vary = "path.rtt=40ms,80ms"
    flows = {"flows": FLOWS["flows"]}
    ccas = "cubic+reno,cubic+bbr"
    result = ct.sweep("steady-20-68", vary, ccas, 2, duration="8s", set=flows, out=folder)
    return result, folder


def test_each_flow_has_its_own_figures_in_the_first_table(compared: ct.Comparison) -> None:
    table = means_table(compared)
    assert [column.title for column in table.columns][:3] == ["CCA", "flow", "goodput Mbit/s"]
    assert [row[:2] for row in table.rows] == [
        ("cubic+reno", "near (cubic)"),
        ("cubic+reno", "far (reno)"),
        ("cubic+bbr", "near (cubic)"),
        ("cubic+bbr", "far (bbr)"),
    ]
    flows = compared.flows.merge(compared.runs[["run", "cca"]], on="run", suffixes=("_flow", ""))
    for row in table.rows:
        name = row[1].partition(" ")[0]
        mine = flows[(flows["cca"] == row[0]) & (flows["name"] == name)]
        assert row[2].partition(" ")[0] == f"{mine['goodput_mbps'].mean():.2f}"
        assert row[3].partition(" ")[0] == f"{mine['rtt_mean_ms'].mean():.1f}"
    assert not subject_text(compared)
    # A flow that came to a full queue does not know the lowest RTT of the path.
    (place,) = (number for number, each in enumerate(table.columns) if each.name == "pm_balanced")
    assert [row[place] == "-" for row in table.rows] == [False, True] * 2


def test_json_and_data_frames_have_each_flow(compared: ct.Comparison) -> None:
    rows = compared.to_json()["flows"]
    frame = compared.flow_summary
    assert [(row["cca"], row["flow"]) for row in rows] == list(frame.index)
    flows = compared.flows
    for row in rows:
        runs = compared.runs[compared.runs["cca"] == row["cca"]]["run"]
        mine = flows[(flows["name"] == row["flow"]) & flows["run"].isin(runs)]
        for metric in ("goodput_mbps", "rtt_p95_ms", "retransmissions"):
            assert row[metric]["mean"] == pytest.approx(mine[metric].mean())
            assert frame.loc[(row["cca"], row["flow"]), (metric, "mean")] == row[metric]["mean"]
    alone = ct.compare("steady-20-68", "cubic", 1, duration="1s")
    assert "flows" not in alone.to_json()
    assert list(alone.flow_summary.index) == [("cubic", alone.tested.name)]


def test_data_frames_have_the_metrics_of_each_application() -> None:
    page = {"kind": "page", "objects": 2}
    flows = {"flows": [{"name": "bulk"}, {"name": "web", "workload": page}]}
    result = ct.sweep("steady-20-68", "path.buffer=1bdp,4bdp", "cubic,bbr", 2, duration="8s", set=flows)
    frame = result.flow_summary
    assert list(frame.index.names) == ["path.buffer", "cca", "flow"]
    for buffer, comparison in result.comparisons.items():
        (web,) = comparison.applications
        for cca, values in web.values("page_load_s").items():
            mean, half = frame.loc[(buffer, cca, "web"), "page_load_s"]
            assert mean == pytest.approx(np.mean(values))
            # The interval of two values by Student's distribution.
            assert half == pytest.approx(12.706 * abs(values[0] - values[1]) / 2, rel=1e-3)
            assert np.isnan(frame.loc[(buffer, cca, "bulk"), ("page_load_s", "mean")])
    everything = ct.compare_all(["steady-20-68", "steady-5-18"], "cubic", 1, duration="1s")
    assert len(everything.flow_summary) == 2


def test_a_flow_without_a_rival_has_no_row() -> None:
    beside = {"flows": [{"name": "bulk"}, {"name": "game", "workload": GAME}]}
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="2s", set=beside)
    assert [row[0] for row in means_table(result).rows] == ["cubic", "bbr"]
    assert subject_text(result) == "Means are those of the flow under test: bulk."


def test_a_sweep_has_the_share_of_each_flow_and_jains_index(swept: tuple[Sweep, Path]) -> None:
    result, _ = swept
    table = sweep_shares_table(result)
    assert table is not None
    assert [row[:2] for row in table.rows] == [
        (rtt, lineup) for rtt in ("40ms", "80ms") for lineup in ("cubic+reno", "cubic+bbr")
    ]
    for row in table.rows:
        shares = result[row[0]].shares
        mine = shares[shares["cca"] == row[1]]["goodput_mbps"].tolist()
        for goodput in mine:
            assert f"{goodput:.2f}" in row[2]
        assert row[3] == f"{sum(mine):.2f}"
        assert 0.5 <= float(row[4].partition(" ")[0]) <= 1.0
    rows = sweep_table(result).rows
    assert [row[:3] for row in rows][:2] == [
        ("40ms", "cubic+reno", "near (cubic)"),
        ("40ms", "cubic+reno", "far (reno)"),
    ]
    best = result["40ms"].best_by("share_mbps:far")
    by_hand = result["40ms"].shares.query("flow == 'far'").set_index("cca")["goodput_mbps"]
    for lineup, values in best.values.items():
        assert np.mean(values) == pytest.approx(by_hand[lineup])
    fairest = result["40ms"].best_by("fairness")
    assert max(fairest.values, key=lambda each: np.mean(fairest.values[each])) == fairest.verdict.leader


def test_no_table_of_verdicts_is_empty(celltcp: Celltcp, swept: tuple[Sweep, Path]) -> None:
    result, folder = swept
    text = celltcp("show", str(folder)).stdout
    assert "Best CCA" not in text
    # The metrics that it names rank them.
    flat = " ".join(text.split())
    said = re.search(r"not ranked, as line-ups of several flows: [^;]*; (--by .*) ranks them", flat)
    assert said is not None, text
    for metric in said[1].removeprefix("--by ").split(" or --by "):
        assert result["40ms"].best_by(metric).verdict.leader in result.ccas
    titles = [each.title for each in sweep_part(result).sections]
    assert "Shares of the flows" in titles
    assert "Best at each value" not in titles


def test_pictures_of_a_sweep_have_shares_and_fairness(swept: tuple[Sweep, Path]) -> None:
    result, _ = swept
    panels = draw_sweep(result).axes
    assert [axes.get_ylabel() for axes in panels] == [
        *("near share, Mbit/s", "far share, Mbit/s", "Jain's index", "near p95 RTT, ms")
    ]
    assert panels[2].get_ylim()[1] < 1.1


@pytest.mark.parametrize("style", [None, "paper"])
def test_labels_of_many_narrow_panels_do_not_overlap(style: str | None) -> None:
    values = {"path.buffer": ["1bdp", "1.5bdp", "2bdp", "3bdp"]}
    result = ct.sweep(
        "steady-20-68", values, "cubic+bbr", 1, duration="3s", set={"flows": FLOWS["flows"]}
    )
    with styled(style=style):
        picture = draw_sweep(result)
        canvas = FigureCanvasAgg(picture)
        canvas.draw()
        for axes in picture.axes:
            boxes = [each.get_window_extent(canvas.get_renderer()) for each in axes.get_xticklabels()]
            assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]


def test_values_that_are_words_are_not_joined_by_lines() -> None:
    result = ct.sweep("steady-20-68", "path.queue=codel,pie", "cubic,bbr", 1, duration="1s")
    for axes in draw_sweep(result).axes:
        curves = [each.lines[0] for each in axes.containers]
        assert {line.get_linestyle() for line in curves} == {"None"}
        first, second = (line.get_xdata() for line in curves)
        assert (np.asarray(first) < np.asarray(second)).all()
    charts = [each.figure.chart for each in sweep_part(result).sections if each.figure is not None]
    looks = {
        series.look for chart in charts if chart for panel in chart.panels for series in panel.series
    }
    assert looks == {"points"}


def test_competing_flows_are_drawn_over_time_with_their_sum(compared: ct.Comparison) -> None:
    for picture, pairs in ((compared.plot.time_series(), 2), (compared.plot.overview(), 2)):
        panels = [axes for axes in picture.axes if "goodput, Mbit/s\n" in axes.get_ylabel()]
        assert len(panels) == pairs
        labels = [text.get_text() for text in panels[1].get_legend().get_texts()]
        assert sorted(labels) == ["far (bbr)", "near (cubic)", "sum"]
        near, far = (line.get_xdata() for line in panels[1].get_lines()[:2])
        assert np.min(near) < 1.0 < 2.0 <= np.min(far)


def test_panels_abreast_are_not_squeezed_by_their_legends() -> None:
    lineups = ["cubic+cubic", "cubic+bbr", "reno+highspeed"]
    result = ct.compare("steady-20-68", lineups, 1, duration="3s", set=FLOWS)
    picture = result.plot.overview()
    FigureCanvasAgg(picture).draw()
    panels = [axes for axes in picture.axes if "goodput, Mbit/s\n" in axes.get_ylabel()]
    assert len(panels) == 3
    assert min(axes.get_position().width for axes in panels) > 0.15


def test_reports_draw_the_flows_together(compared: ct.Comparison) -> None:
    (figure,) = (
        section.figure
        for section in picture_sections(compared)
        if section.title == "Flows over time, run with seed 1"
    )
    assert figure is not None
    assert len(figure.draw().axes) == 4
    alone = ct.compare("steady-20-68", "cubic", 1, duration="1s")
    assert not [each for each in picture_sections(alone) if each.title.startswith("Flows over time")]


def test_a_distribution_is_that_of_the_flow_that_was_asked_for(compared: ct.Comparison) -> None:
    picture = compared.plot.ecdf("rtt:far")
    assert picture.get_suptitle() == "steady-20-68, far: 2 runs of each CCA"
    slots = compared.slots.merge(compared.flows[["run", "flow", "name"]], on=["run", "flow"])
    drawn = picture.axes[0].get_lines()[0].get_xdata()
    # Of many values the picture has quantiles.
    assert np.min(drawn) == pytest.approx(_least(compared, slots, "far"), rel=1e-3)
    assert np.min(drawn) != pytest.approx(_least(compared, slots, "near"), rel=1e-2)
    with pytest.raises(ct.CelltcpError, match="'nobody' is not in steady-20-68; there are near, far"):
        compared.plot.ecdf("rtt:nobody")


def _least(compared: ct.Comparison, slots: pd.DataFrame, name: str) -> float:
    runs = compared.runs[compared.runs["cca"] == "cubic+reno"]["run"]
    return float(slots[(slots["name"] == name) & slots["run"].isin(runs)]["rtt_mean_ms"].min())


@pytest.mark.rendered
def test_a_metric_is_drawn_or_refused(
    celltcp: Celltcp, swept: tuple[Sweep, Path], tmp_path: Path
) -> None:
    _, folder = swept
    point = folder / "path.rtt=40ms"
    picture = tmp_path / "picture.svg"
    celltcp(
        *("show", str(folder), "--plot", "sweep", "--metric", "share_mbps:far", "--out", str(picture))
    )
    assert "far share" in picture.read_text()
    for shown, plot in ((point, "overview"), (point, "time-series"), (folder, "ecdf-grid")):
        refused = celltcp("show", str(shown), "--plot", plot, "--metric", "rtt")
        assert refused.returncode == 2
        assert "--metric goes with --plot ecdf" in refused.stderr


def test_each_flow_of_a_line_up_is_explained(compared: ct.Comparison) -> None:
    explained = ExplainedComparison(compared)
    assert [(each.cca, each.flow) for each in explained.ccas] == [
        (cca, flow) for flow in ("near", "far") for cca in compared.ccas
    ]
    for each in explained.ccas:
        lines = explained.texts(each)
        flow = next(one for one in compared.competing_flows if one.name == each.flow)
        goodput = np.mean(compared.values_of(flow, each.cca, "goodput_mbps"))
        assert lines[0].startswith(f"{each.cca}, {each.flow}: {goodput:.2f} Mbit/s (")
        # Of the link it had a part only.
        assert "of what other flows left)" in lines[0]


def test_summaries_have_the_share_of_each_flow(celltcp: Celltcp, swept: tuple[Sweep, Path]) -> None:
    result, folder = swept
    columns = "share,jain,rtt_mean:far"
    text = celltcp("show", str(folder), "--format", "summary-csv", "--columns", columns).stdout
    rows = pd.read_csv(io.StringIO(text)).set_index(["path.rtt", "cca", "metric"])["mean"]
    for rtt, comparison in result.comparisons.items():
        shares = comparison.shares.set_index(["cca", "flow"])["goodput_mbps"]
        for (cca, flow), goodput in shares.items():
            assert rows[rtt, cca, f"share_mbps:{flow}"] == pytest.approx(goodput, rel=0.2)
            assert rows[rtt, cca, "fairness"] == pytest.approx(
                np.mean(comparison.jains_index(cca)), rel=0.1
            )
    latex = celltcp("show", str(folder), "--format", "latex", "--columns", columns).stdout
    assert "Jain's index" in latex
    assert "(far)" in latex


def test_many_flows_are_a_range() -> None:
    result = ct.compare("m2m", "cubic", 1)
    (row,) = shares_table(result).rows
    assert re.fullmatch(r"50 flows of cubic 0\.\d\d to 0\.\d\d", row[1])


def test_parallel_connections_have_the_range_of_their_goodputs(
    tmp_path: Path, celltcp: Celltcp
) -> None:
    pages = {"kind": "sequence", "size": "200kB", "gap": "300ms"}
    both = {"flows": [{"name": "backup", "count": 6}, {"name": "web", "workload": pages}]}
    folder = tmp_path / "results"
    result = ct.compare("steady-100-18", "cubic,bbr", 2, duration="8s", set=both, out=folder)
    backup = result.flows[result.flows["name"] == "backup"][["run", "flow"]]
    slots = result.slots.merge(backup, on=["run", "flow"])
    # The backup begins before the pages and ends after them.
    shared = result.slots[result.slots["flow"] >= 6].groupby("run")["t_s"].agg(["min", "max"])
    start_s, end_s = (slots["run"].map(shared[name]) for name in ("min", "max"))
    slots = slots[slots["t_s"].between(start_s - 0.01, end_s + 0.01)]
    means = slots.groupby(["cca", "run", "flow"], observed=True)["goodput_mbps"].mean()
    printed = dict(row[:2] for row in shares_table(result).rows)
    shares = json.loads(celltcp("show", str(folder), "--json", "-").stdout)["shares"]
    for cca, of_connections in means.groupby("cca", observed=True):
        low, high = of_connections.min(), of_connections.max()
        assert f"backup ({cca}, 6 connections of {low:.2f} to {high:.2f}) " in printed[cca]
        (share,) = (row for row in shares if (row["cca"], row["flow"]) == (cca, "backup"))
        assert (share["lowest_mbps"], share["highest_mbps"]) == pytest.approx((low, high))
        # Connections one after the other have no goodputs to compare.
        assert re.search(r"web \(cubic, \d+ connections\) ", printed[cca])


def test_fairness_is_that_of_the_flows_that_compete() -> None:
    beside = {"flows": [{"name": "bulk", "count": 2}, {"name": "game", "workload": GAME}]}
    result = ct.compare("steady-20-68", "cubic", 1, duration="4s", set=beside)
    (row,) = shares_table(result).rows
    assert row[1].startswith("bulk (cubic, 2 connections of ")
    competitors = result.flows[result.flows["name"] == "bulk"]
    assert len(competitors) == 2
    # The game takes next to nothing: with it, two equal downloads would be called unfair.
    assert result.jains_index("cubic")[0] > 0.8 > result.values("cubic", "fairness")[0]


@pytest.mark.parametrize("gap", ["0s", "2s"])
def test_transfers_with_pauses_are_not_unfair(gap: str) -> None:
    """In their pauses, others have all of the path: Jain's index would call that unfair."""
    sequence = {"kind": "sequence", "size": "500kB", "gap": gap}
    beside = {"flows": [{"name": "bulk"}, {"name": "files", "cca": "cubic", "workload": sequence}]}
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=beside)
    headings = [column.heading for column in shares_table(result).columns]
    assert result.has_fairness == (gap == "0s") == ("Jain's index" in headings)
    beside["flows"].append({"name": "other", "cca": "cubic"})
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=beside)
    shares = {share.flow: share.goodput.mean for share in result.mean_shares()}
    rates = [rate for name, rate in shares.items() if gap == "0s" or name != "files"]
    index = sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))
    assert result.jains_index("cubic") == pytest.approx([index])


def test_a_film_with_a_full_buffer_is_not_unfair() -> None:
    film = {"kind": "video"}
    flows = {"flows": [{"name": "bulk"}, {"name": "film", "cca": "cubic", "workload": film}]}
    result = ct.compare("steady-100-18", "cubic", 1, duration="30s", set=flows)
    table = shares_table(result)
    assert not result.has_fairness
    assert "film (cubic) " in table.rows[0][1]
    assert "Jain" not in table.title


@pytest.mark.parametrize("lineups", ["cubic,bbr", "cubic+cubic,cubic+bbr"])
def test_reports_begin_with_the_fairness_of_flows_that_compete(lineups: str) -> None:
    sweep = ct.sweep("fairness", "path.buffer=0.5bdp,4bdp", lineups, 2, duration="40s")
    means = {
        f"{buffer} with {cca}": np.mean(comparison.jains_index(cca))
        for buffer, comparison in sweep.comparisons.items()
        for cca in comparison.ccas
    }
    best, worst = (extreme(means, key=means.__getitem__) for extreme in (max, min))
    first = sweep_part(sweep).findings[0]
    assert (first.question, first.answer.rstrip("?")) == ("Fairest shares", best)
    assert f"Jain's index {means[best]:.3f}" in first.effect_size
    assert f"least fair with {means[worst]:.3f}" in first.effect_size
    assert worst in first.effect_size


def test_advice_names_what_another_flow_loses() -> None:
    """In half a bandwidth-delay product, BBR takes the path from CUBIC (Hock et al., ICNP 2017)."""
    sweep = ct.sweep("fairness", "path.buffer=0.5bdp,1bdp", "cubic,bbr", 3, duration="90s")
    texts = sweep.field_changes
    (starved,) = [text for text in texts if text.startswith("flow-2 fails with ")]
    assert "0.5bdp with bbr" in starved
    assert not any("=0.5bdp with bbr" in text for text in texts if text != starved)
    # A third more for one flow is not worth most of the other's goodput.
    assert not any("congestion_control=bbr" in text for text in texts), texts


@pytest.mark.parametrize("unequal", ["down", "up"])
def test_fairness_is_that_of_the_less_fair_direction(unequal: str) -> None:
    flows = [
        {"name": f"{way}-{index}", **({} if way == "down" else {"from": "phone", "to": "server"})}
        for way in ("down", "up")
        for index in range(2)
    ]
    capped = next(flow for flow in flows if flow["name"] == f"{unequal}-1")
    capped["max_pacing_rate"] = "200kbit/s"
    changes = {"flows": flows, "path.up.rate": "4Mbit/s"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes)
    shares = result.shares.set_index("flow")["goodput_mbps"]
    indices = {
        way: shares.filter(like=way).sum() ** 2 / (2 * (shares.filter(like=way) ** 2).sum())
        for way in ("down", "up")
    }
    assert result.jains_index("cubic") == pytest.approx([min(indices.values())])
    assert min(indices, key=indices.__getitem__) == unequal


def test_a_queue_that_another_flow_fills_does_not_follow_the_rate_of_a_constant_link() -> None:
    frames = {"kind": "frames", "size": "200B", "interval": "20ms", "deadline": "150ms"}
    changes = {
        "path.down.rate": "5Mbit/s",
        "path.rtt": "40ms",
        "path.buffer": "800packets",
        # The file has ended after half of the time.
        "flows": [
            {"name": "file", "workload": {"kind": "bulk", "bytes": "12MB"}},
            {"name": "call", "workload": frames},
        ],
    }
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="40s", set=changes)
    explained = ExplainedComparison(result)
    texts = [text for each in explained.ccas for text in explained.texts(each)]
    assert any("A queue stood before the downlink, which file" in text for text in texts)
    assert not any("follows the rate of the link" in text for text in texts)


@pytest.fixture(scope="module")
def shallow() -> ct.Comparison:
    """BBR, CUBIC and Vegas beside CUBIC at half a bandwidth-delay product of buffer."""
    changes = {
        "path.rtt": "50ms",
        "path.down": "30Mbit/s",
        "path.buffer": "0.5bdp",
        "flows": [{"name": "new"}, {"name": "old", "cca": "cubic"}],
    }
    return ct.compare("steady-20-68", ["bbr", "cubic", "vegas"], 3, duration="40s", set=changes)


def test_a_flow_that_takes_more_has_the_reason_too(shallow: ct.Comparison) -> None:
    """BBR does not reduce its rate at the losses of a shallow buffer, CUBIC beside it does."""
    explained = ExplainedComparison(shallow)
    (bbr,) = [each for each in explained.ccas if each.cca == "bbr"]
    assert "bbr does not reduce its rate at such losses" in bbr.cause_text("competition")
    # That is why the shares are unequal, so that it is printed whichever CCA leads.
    (block,) = [block for block in explained.blocks if block[0].startswith("bbr")]
    assert any("bbr does not reduce its rate at such losses" in text for text in block)
    (cubic,) = [each for each in explained.ccas if each.cca == "cubic"]
    assert "reduce" not in cubic.cause_text("competition")


def test_what_another_flow_loses_is_a_trade_off(shallow: ct.Comparison) -> None:
    (text,) = [text for text in shallow.trade_offs if text.startswith("cubic instead of bbr: ")]
    _, old = FlowUnderTest.each(shallow.results.about)
    means = [estimate(shallow.values_of(old, cca, "goodput_mbps")).mean for cca in ("cubic", "bbr")]
    assert f"old goodput {means[0]:.2f} Mbit/s instead of {means[1]:.2f} (+" in text


def test_throughput_comes_first_where_the_best_balance_leaves_the_path_to_others(
    shallow: ct.Comparison,
) -> None:
    """Performance metrics do not count what other flows take; Vegas has an eighth of BBR's goodput."""
    needs = {each.metric: each.verdict for each in choices_of(shallow)}
    assert "vegas" in {needs["pm_balanced"].leader, *needs["pm_balanced"].tied}
    assert next(iter(needs)) == "goodput_mbps"
    assert [*ccas_to_set(shallow)] == ["bbr"]
    # Without Vegas, the best balance has more than half of the best goodput.
    assert choices_of(shallow.only(["bbr", "cubic"]))[0].metric == "pm_balanced"


def test_a_mix_with_unequal_shares_has_an_aqm_with_queues_of_flows_as_advice() -> None:
    """The flow under test loses what it took of the other one."""
    changes = {
        "path.rtt": "50ms",
        "path.down": "30Mbit/s",
        "path.buffer": "0.5bdp",
        "flows": [{"name": "a"}, {"name": "b"}],
    }
    mixes = ["bbr+cubic", "cubic+cubic"]
    result = ct.compare("steady-20-68", mixes, 2, duration="30s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    (aqm,) = [each for each in explained.remedies if each.remedy.changes == ("path.queue=fq-codel",)]
    assert "bbr+cubic" in aqm.ccas
    assert re.search(r"bbr\+cubic a goodput .* \(-\d+ %\), .*b goodput .* \(\+\d+ %\)", aqm.trial)


def _of_unequal_rtts(cca: str, seed: int, rtts: tuple[int, int]) -> tuple[ct.Comparison, str]:
    """Returns runs of a near and a far flow, and why the slower one has less."""
    draw = random.Random(seed)
    changes = {
        "path.rtt": f"{draw.randint(*rtts)}ms",
        "path.down": f"{draw.randint(20, 60)}Mbit/s",
        "path.buffer": f"{draw.randint(40, 90)}ms",
        "links": [{"from": "far", "to": "gateway", "delay": f"{draw.randint(2, 3) * rtts[1] // 2}ms"}],
        "flows": [{"name": "near"}, {"name": "far", "from": "far"}],
    }
    result = ct.compare("steady-20-68", f"{cca}+{cca}", 2, duration="80s", set=changes)
    explained = ExplainedComparison(result).ccas
    slower = min(explained, key=lambda each: each.goodput_mbps)
    assert slower.flow == ("near" if cca == "bbr" else "far")
    return result, slower.cause_text("competition")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_the_longer_rtt_has_a_smaller_window_by_its_losses_and_its_slower_growth(
    cca: str, seed: int
) -> None:
    result, text = _of_unequal_rtts(cca, seed, (15, 25))
    ratios = re.search(r"has (\S+) times the rate, by (\S+) times .* (\S+) times as short", text)
    assert ratios is not None, text
    rate, window, rtt = map(float, ratios.groups())
    assert rate == pytest.approx(window * rtt, rel=0.1)
    losses = re.search(
        r"Of (\d+) overflows [^,]*, (\d+) cost both [^,]*, and (\d+) \(far\) and (\d+) \(near\)", text
    )
    assert losses is not None, text
    overflows, both, far, near = map(int, losses.groups())
    assert overflows == both + far + near
    rows = frame(result.results.tables["recoveries"]).merge(
        result.flows[["run", "flow", "name"]], on=["run", "flow"]
    )
    counts = rows[rows["slow_start"] == 0].groupby("name")["t_s"].count()
    # A flow may lose twice within an RTT of the longer path, which is one overflow.
    assert both + far == pytest.approx(counts["far"], abs=2)
    assert both + near == pytest.approx(counts["near"], abs=2)
    per_rtt = 1.0 if cca == "reno" else 3 * 0.3 / 1.7
    growth = re.search(r"round trip, (\S+) \(far\) and (\S+) \(near\) a second", text)
    rtts = re.search(r"differ, (\S+) ms \(far\) and (\S+) ms \(near\)", text)
    assert growth is not None, text
    assert rtts is not None, text
    for per_s, rtt_ms in zip(growth.groups(), rtts.groups(), strict=True):
        assert float(per_s) == pytest.approx(1e3 * per_rtt / float(rtt_ms), rel=0.02)


@pytest.mark.parametrize("seed", range(2))
def test_bbr_with_the_longer_rtt_holds_more_of_the_queue(seed: int) -> None:
    """Its cwnd is twice its bandwidth filter times its lowest RTT, and segments for bursts beside."""
    result, text = _of_unequal_rtts("bbr", seed, (15, 25))
    assert "holds more of the queue" in text
    figures = re.search(
        r"10 s, (\S+) ms \(near\) and (\S+) ms \(far\), .*: (\S+) kB \(near\) and (\S+) kB \(far\) "
        r"are in flight, (\S+) \(near\) and (\S+) \(far\) times",
        text,
    )
    assert figures is not None, text
    values = list(map(float, figures.groups()))
    goodputs = result.slots.merge(result.flows[["run", "flow", "name"]], on=["run", "flow"])
    for name, rtt_ms, size_kb, ratio in zip(
        ("near", "far"), values[:2], values[2:4], values[4:], strict=True
    ):
        goodput_mbps = goodputs.loc[goodputs["name"] == name, "goodput_mbps"].mean()
        assert ratio == pytest.approx(size_kb * 8 / (goodput_mbps * rtt_ms), rel=0.03)


@pytest.mark.parametrize("seed", range(2))
def test_flows_behind_links_of_their_own_have_nothing_to_share(seed: int) -> None:
    """Two hosts behind slow lines: their unequal rates are those of the lines, and no unfairness."""
    draw = random.Random(seed)
    slow, fast = draw.randint(2, 3), draw.randint(7, 9)
    links = [
        {"name": f"line-{n}", "from": "gateway", "to": f"host-{n}", "rate": f"{rate}Mbit/s"}
        for n, rate in enumerate((slow, fast))
    ]
    flows = [{"name": f"at-{n}", "from": f"host-{n}"} for n in range(2)]
    result = ct.compare(
        "steady-20-18", "cubic", 1, duration="15s", set={"links": links, "flows": flows}
    )
    rates = result.shares.set_index("flow")["goodput_mbps"]
    assert rates["at-0"] < 0.6 * rates["at-1"]
    assert not result.has_fairness
    # With a second flow behind one of them, these two have an index.
    flows.append({"name": "second", "from": "host-1"})
    result = ct.compare(
        "steady-20-18", "cubic", 1, duration="15s", set={"links": links, "flows": flows}
    )
    assert result.has_fairness
    rates = result.shares.set_index("flow")["goodput_mbps"]
    pair = [rates["at-1"], rates["second"]]
    expected = sum(pair) ** 2 / (2 * sum(each**2 for each in pair))
    assert result.jains_index("cubic") == pytest.approx([expected], abs=0.01)
