"""Applications of all flows in a comparison: their metrics equal those of the raw tables."""

from __future__ import annotations

import json
import math
import random
import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.applications.applications import Application
from celltcp.comparison.explanation.causes.tail import median_of_runs
from celltcp.comparison.explanation.standing import standing_of
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.report.findings import findings_of
from celltcp.comparison.report.front_page import settings_section
from celltcp.comparison.tables import shares_table
from celltcp.comparison.verdicts.choices import choices_of
from workloads import DEEP_BUFFER, GAME, nearest_rank

if TYPE_CHECKING:
    from conftest import Celltcp

#: A game beside a download and a group of three finite transfers.
SCENARIO = f"""
name = "thin"
duration = "12s"
{DEEP_BUFFER}[[flows]]
name = "bulk"
[[flows]]
name = "game"
cca = "cubic"
workload = {GAME}
[[flows]]
name = "web"
cca = "cubic"
start = "1s"
count = 3
workload = {{ kind = "bulk", bytes = "600kB" }}
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> ct.Comparison:
    file = tmp_path_factory.mktemp("thin") / "thin.toml"
    file.write_text(SCENARIO)
    return ct.compare(file, cca="cubic,bbr", runs=3)


def test_metrics_of_a_flow_beside_the_first_are_those_of_its_events(compared: ct.Comparison) -> None:
    game = next(each for each in compared.applications if each.flow == "game")
    events = compared.results.tables["events"].to_pandas()
    flows = compared.flows
    numbers = set(zip(*flows.loc[flows["name"] == "game", ["run", "flow"]].T.values, strict=True))
    for cca in ("cubic", "bbr"):
        seeds = compared.runs[compared.runs["cca"] == cca].sort_values("seed")
        for place, run in enumerate(seeds["run"]):
            rows = events[(events["run"] == run) & (events["kind"] == "response_s")]
            times = [float(row.detail) for row in rows.itertuples() if (row.run, row.flow) in numbers]
            assert len(times) > 40
            mine = {name: values[place] for name, values in game.metrics[cca].items()}
            assert mine["response_s"] == pytest.approx(statistics.fmean(times))
            assert mine["response_p50_s"] == nearest_rank(times, 50)
            assert mine["response_p95_s"] == nearest_rank(times, 95)
            assert mine["response_p99_s"] == nearest_rank(times, 99)
            assert mine["response_max_s"] == max(times)


def test_a_group_has_the_mean_and_the_longest_of_its_transfers(compared: ct.Comparison) -> None:
    web = next(each for each in compared.applications if each.flow == "web")
    for cca in ("cubic", "bbr"):
        runs = compared.runs[compared.runs["cca"] == cca].sort_values("seed")["run"]
        for place, run in enumerate(runs):
            rows = compared.flows.query(f"run == {run} and name == 'web'")["completion_s"]
            assert len(rows) == 3
            assert web.metrics[cca]["completion_s"][place] == pytest.approx(rows.mean())
            assert web.metrics[cca]["completion_max_s"][place] == rows.max()
            assert web.metrics[cca]["completed_share"][place] == 1.0
            begun = compared.flows.query(f"run == {run} and name == 'web'")["first_byte_s"]
            assert web.metrics[cca]["first_byte_s"][place] == pytest.approx(begun.mean())
            # A handshake and a way of 20 ms: the request goes with the last segment of the handshake.
            assert (begun >= 0.06 - 1e-9).all()
            assert (begun < rows).all()


@pytest.mark.parametrize("seed", range(6))
def test_percentiles_and_the_longest_time_of_transfers_are_of_the_same_ones(seed: int) -> None:
    """Few or many sessions, of which the end of the run cuts some, most or none."""
    draw = random.Random(seed)
    changes = {
        "flows.0.workload": {"kind": "bulk", "bytes": f"{draw.randint(200, 900)}kB"},
        "flows.0.count": draw.randint(2, 12),
        "flows.0.start_spread": "2s",
    }
    result = ct.compare("steady-20-68", "cubic", runs=2, duration=f"{draw.randint(2, 4)}s", set=changes)
    (application,) = result.applications
    metrics = application.metrics["cubic"]
    for place in range(2):
        names = [f"completion_{each}_s" for each in ("p50", "p95", "p99", "max")]
        times = [metrics[name][place] for name in names]
        assert times == sorted(times) or math.isnan(times[0])


def test_less_time_is_better(compared: ct.Comparison) -> None:
    """BBR keeps the queue short, from which the game beside it gains."""
    game = next(each for each in compared.applications if each.flow == "game")
    assert game.ranking.metric == "response_p95_s"
    cubic, bbr = game.means("response_p95_s")
    assert bbr < cubic
    assert game.verdict(random=True).best == "bbr"
    (document,) = (each for each in compared.to_json()["applications"] if each["flow"] == "game")
    assert document["best"] == "bbr"


@pytest.mark.parametrize(("megabytes", "metric"), [(1, "completion_s"), (20, "completed_share")])
def test_transfers_rank_by_their_time_if_all_are_complete(megabytes: int, metric: str) -> None:
    changes = {"flows.0.workload": f"{{ kind = 'bulk', bytes = '{megabytes}MB' }}"}
    result = ct.compare("steady-20-68", cca="cubic,bbr", runs=2, duration="6s", set=changes)
    (application,) = result.applications
    assert application.ranking.metric == metric
    assert application.means("completed_share") == [float(megabytes == 1)] * 2


def test_transfers_that_are_never_complete_do_not_hide_how_long_the_others_took() -> None:
    """Cut transfers count with the time until the end, which is too little, and leaves them last."""
    changes = {
        "path.rtt": "200ms",
        "path.loss": 0.01,
        "flows.0.workload": "{ kind = 'bulk', bytes = '4MB' }",
    }
    result = ct.compare("steady-20-68", cca="cubic,bbr", runs=3, duration="12s", set=changes)
    (application,) = result.applications
    cubic, bbr = application.metrics["cubic"], application.metrics["bbr"]
    assert min(cubic["completed_share"]) == 0
    assert bbr["completed_share"] == [1, 1, 1]
    assert bbr["completion_least_s"] == bbr["completion_s"]
    for complete, least in zip(cubic["completion_s"], cubic["completion_least_s"], strict=True):
        assert least == (12 if math.isnan(complete) else complete)
    assert application.ranking.metric == "completion_least_s"
    assert application.verdict(random=False).best == "bbr"
    # Who is never complete does not lead by what is too little.
    metrics = {"cubic": {**cubic, "completion_least_s": [1.0] * 3}, "bbr": bbr}
    assert application._replace(metrics=metrics).ranking.metric == "completed_share"


def test_further_flows_of_a_line_up_have_their_transfers() -> None:
    changes = {"flows.0.workload": "{ kind = 'bulk', bytes = '1MB' }"}
    result = ct.compare("steady-20-68", cca="cubic,cubic+bbr", runs=2, duration="8s", set=changes)
    assert [each.flow for each in result.applications] == ["flow-1", "flow-2"]
    second = result.applications[1].metrics
    assert all(math.isnan(value) for value in second["cubic"]["completion_s"])
    assert all(0 < value < 8 for value in second["cubic+bbr"]["completion_s"])


def test_flows_without_an_end_have_no_application() -> None:
    result = ct.compare("steady-20-68", cca="cubic", runs=1, duration="2s")
    assert result.applications == []
    assert "applications" not in result.to_json()


def test_the_asked_metrics_are_printed_first(celltcp: Celltcp, tmp_path: Path) -> None:
    (tmp_path / "thin.toml").write_text(SCENARIO)
    done = celltcp("compare", "thin.toml", "--cca", "cubic,bbr", "--runs", "2", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    places = [
        done.stdout.index(text)
        for text in (
            "What the application of game got",
            "What the application of web got",
            "thin: mean and 95 % interval",
            "best for game, by 95th percentile of the response time: bbr",
            "best for  goodput",
        )
    ]
    assert places == sorted(places)
    # A game takes no share of the path, and that it sends little needs no warning.
    assert "no more to send" not in done.stdout
    assert "cubic 0.00" not in done.stdout
    shares = done.stdout.partition("Shares of the path")[2].partition("What limited")[0]
    assert "Jain" in shares
    assert re.search(r"game\s+left\s+out,\s+which\s+sends\s+now\s+and\s+then", shares)
    assert shares.count("game") == 1
    flows = [each["flow"] for each in json.loads((tmp_path / "o.json").read_text())["applications"]]
    assert flows == ["game", "web"]


def test_a_run_has_the_metrics_of_each_application(celltcp: Celltcp, tmp_path: Path) -> None:
    (tmp_path / "thin.toml").write_text(SCENARIO)
    done = celltcp("run", "thin.toml", "--cca", "bbr", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    game, web = json.loads((tmp_path / "o.json").read_text())["applications"]
    assert (game["flow"], web["flow"]) == ("game", "web")
    assert game["response_p50_s"] <= game["response_p95_s"] <= game["response_max_s"]
    line = next(each for each in done.stdout.splitlines() if each.startswith("game: "))
    assert f"response p95 {game['response_p95_s']:.3f} s" in line
    (network,) = (each for each in done.stdout.splitlines() if each.startswith("game ("))
    assert 0 < float(network.split(" kbit/s")[0].split()[-1]) < 100
    assert web["completed_share"] == 1.0


def test_a_sweep_has_the_metrics_of_each_value(celltcp: Celltcp, tmp_path: Path) -> None:
    (tmp_path / "thin.toml").write_text(SCENARIO)
    vary = ("--vary", "path.buffer=1bdp,4bdp")
    done = celltcp("sweep", "thin.toml", *vary, "--cca", "cubic,bbr", "--runs", "1", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    table = done.stdout.split("What the application of game got")[1].split("What the application")[0]
    values = json.loads((tmp_path / "o.json").read_text())["values"]
    assert list(values) == ["1bdp", "4bdp"]
    for value in values.values():
        game = next(each for each in value["applications"] if each["flow"] == "game")
        for row in game["figures"]:
            # Times below 100 ms are in ms.
            assert f"{1e3 * row['response_p95_s']['mean']:.1f}" in table


def test_a_metric_of_ones_choice_ranks_the_values_of_its_flow(compared: ct.Comparison) -> None:
    game = next(each for each in compared.applications if each.flow == "game")
    for asked in ("response_p99_s", "response_p99_s:game"):
        best = compared.best_by(asked)
        assert best.chosen.flow == "game"
        assert best.values == {cca: of["response_p99_s"] for cca, of in game.metrics.items()}
        assert best.verdict.leader == min(best.values, key=lambda cca: sum(best.values[cca]))
    bulk = compared.best_by("goodput_mbps")
    assert bulk.values == {cca: compared.values(cca, "goodput_mbps") for cca in compared.ccas}
    web = compared.best_by("goodput_mbps:web")
    flows = compared.flows.query("name == 'web'").groupby("run")["goodput_mbps"]
    assert all(of > flows.min().min() for of in web.values["cubic"])
    assert web.values != bulk.values


def test_names_of_drawn_values_rank_by_the_figure_that_matters_most(compared: ct.Comparison) -> None:
    assert compared.best_by("response:game") == compared.best_by("response_p95_s:game")
    assert compared.best_by("goodput") == compared.best_by("goodput_mbps")
    # The names of `show --columns`.
    assert compared.best_by("jain") == compared.best_by("fairness")
    assert compared.best_by("share:bulk") == compared.best_by("share_mbps:bulk")
    for name in ("response:game", "response_p95_s:game"):
        picture = compared.plot.ecdf(name)
        assert picture.axes[0].get_xlabel() == "response time, s"
    assert compared.plot.ecdf("goodput_mbps").axes[0].get_xlabel() == "goodput per slot, Mbit/s"
    with pytest.raises(ct.CelltcpError, match=r"'speed' is not a metric; allowed: .*, response, "):
        compared.best_by("speed")


def test_the_number_of_units_stands_beside_their_percentiles(compared: ct.Comparison) -> None:
    game, web = compared.applications
    units = compared.units[compared.units["flow"] == "game"]
    for cca in ("cubic", "bbr"):
        assert game.metrics[cca]["responses"] == [
            float(count) for count in units[units["cca"] == cca].groupby("seed").size()
        ]
    assert web.metrics["bbr"]["transfers"] == [3.0] * 3
    assert metrics_table(compared, game).columns[1].title == "responses"


def test_what_one_flow_gains_and_another_loses_is_said(compared: ct.Comparison) -> None:
    (text,) = compared.trade_offs
    assert text.startswith("bbr instead of cubic: bulk goodput ")
    (document,) = compared.to_json()["trade_offs"]
    assert document == text
    game = next(each for each in compared.applications if each.flow == "game")
    cubic, bbr = game.means("response_p95_s")
    assert f"game response p95 {bbr:.3f} s instead of {cubic:.3f}" in text


def test_the_metric_is_checked_before_anything_runs(celltcp: Celltcp, tmp_path: Path) -> None:
    (tmp_path / "thin.toml").write_text(SCENARIO)
    compare = ("compare", "thin.toml", "--cca", "cubic,bbr", "--runs", "2", "--by")
    done = celltcp(*compare, "response_max_s", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    (chosen,) = json.loads((tmp_path / "o.json").read_text())["by"]
    assert (chosen["metric"], chosen["flow"]) == ("response_max_s", "game")
    assert f"best by response_max_s of game: {chosen['best'] or 'undecided'}" in done.stdout
    for wrong, message in (
        ("speed", "by: 'speed' is not a metric; allowed: goodput_mbps, "),
        ("response_maen_s", "not a metric (did you mean response_"),
        ("goodput_mbps:games", "by: 'games' is not a flow of the scenario; allowed: bulk, game, web"),
    ):
        refused = celltcp(*compare, wrong, "--duration", "3000s")
        assert refused.returncode == 2
        assert message in refused.stderr
    late = celltcp(*compare, "late_share:game")
    assert late.returncode == 2
    assert "by: flow 'game' has no late_share; allowed: " in late.stderr


def test_delays_of_frames_have_percentiles() -> None:
    workload = "{ kind = 'frames', size = '2kB', interval = '20ms' }"
    result = ct.compare(
        "steady-20-68", cca="cubic", runs=1, duration="5s", set={"flows.0.workload": workload}
    )
    (application,) = result.applications
    events = result.results.tables["events"].to_pandas()
    delays = [float(each) for each in events.loc[events["kind"] == "frame_ms", "detail"]]
    (metrics,) = application.metrics.values()
    assert metrics["frame_delay_ms"] == pytest.approx([statistics.fmean(delays)])
    for percentile in (50, 95, 99):
        assert metrics[f"frame_delay_p{percentile}_ms"] == [nearest_rank(delays, percentile)]
    assert metrics["frame_delay_max_ms"] == [max(delays)]


def test_units_of_work_have_their_flow_start_and_end(compared: ct.Comparison) -> None:
    units = compared.units
    assert set(zip(units["flow"], units["unit"], strict=True)) == {
        ("game", "response"),
        ("web", "completion"),
    }
    assert (units["end_s"] - units["start_s"]).to_numpy() == pytest.approx(
        units["duration_s"].to_numpy()
    )
    game = next(each for each in compared.applications if each.flow == "game")
    for cca in ("cubic", "bbr"):
        selected = units[(units["cca"] == cca) & (units["flow"] == "game")]
        means = selected.groupby("seed")["duration_s"].mean()
        assert list(means) == pytest.approx(game.metrics[cca]["response_s"])
    web = compared.flows.query("name == 'web'")
    transfers = units[units["unit"] == "completion"]
    assert sorted(transfers["duration_s"]) == pytest.approx(sorted(web["completion_s"]))


def test_the_times_of_units_are_drawn(compared: ct.Comparison) -> None:
    axes = compared.plot.ecdf("response:game").axes[0]
    assert axes.get_ylabel() == "share of responses"
    assert axes.get_xlabel() == "response time, s"
    points = compared.plot.units("completion").axes[0].get_lines()[0]
    assert len(points.get_xdata()) == 3
    with pytest.raises(ct.CelltcpError, match="allowed: completion:web, response:game"):
        compared.plot.ecdf("frame_delay")
    with pytest.raises(ct.CelltcpError, match="'speed' is not a choice; allowed: goodput, "):
        compared.plot.units("speed")


def test_the_overview_begins_with_the_figure_of_the_application(compared: ct.Comparison) -> None:
    labels = [axes.get_xlabel() for axes in compared.plot.overview().axes]
    assert labels[0] == "game: response time, s"
    assert "goodput per slot, Mbit/s" in labels
    live = "{ kind = 'frames', size = '2kB', interval = '20ms' }"
    thin = ct.compare("steady-20-68", "cubic", 1, duration="3s", set={"flows.0.workload": live})
    labels = [axes.get_xlabel() for axes in thin.plot.overview().axes]
    assert labels[0] == "frame delay, s"
    assert "goodput per slot, Mbit/s" not in labels
    bulk = ct.compare("steady-20-68", "cubic", 1, duration="3s")
    assert "goodput per slot, Mbit/s" in [axes.get_xlabel() for axes in bulk.plot.overview().axes]


def test_a_report_draws_the_units_of_each_application(compared: ct.Comparison) -> None:
    sections = {each.title: each for each in comparison_part(compared, "celltcp").sections}
    for title in (
        "Distribution of the response time of game",
        "Distribution of the completion time of web",
    ):
        figure = sections[title].figure
        assert figure is not None
        assert figure.chart is not None
        assert len(figure.chart.panels[0].series) == 2


def test_a_metric_of_units_goes_not_with_views_of_a_radio(celltcp: Celltcp) -> None:
    done = celltcp("show", "o", "--by-phase", "--metric", "response")
    assert done.returncode == 2
    assert "allowed: goodput, rtt, owd" in done.stderr


def _live(changes: dict[str, str]) -> dict[str, float]:
    """Returns the metrics of live video of 6 Mbit/s on a path of 3 Mbit/s."""
    workload = "{ kind = 'frames', size = '25kB', interval = '33ms', deadline = '500ms' }"
    path = {"flows.0.workload": workload, "path.down.rate": "3Mbit/s", "path.buffer": "60kB"}
    result = ct.compare("steady-20-68", "cubic", runs=1, duration="20s", set={**path, **changes})
    ((metrics,),) = (each.metrics.values() for each in result.applications)
    return {name: value for name, (value,) in metrics.items()}


def test_a_live_sender_trades_frames_for_delay() -> None:
    """Above the rate of the path, a sender that keeps all frames is ever later."""
    lowat = {"tcp.notsent_lowat": "16kB"}
    all_kept = _live({})
    newest = _live({**lowat, "flows.0.workload.backlog": "newest"})
    follows = _live(
        {**lowat, "flows.0.workload.backlog": "newest", "flows.0.workload.encoder": "{ lowest = 0.1 }"}
    )
    assert all_kept["late_share"] > 0.9
    assert all_kept["frame_delay_p95_ms"] > 5_000
    assert "dropped_share" not in all_kept
    # Half of the frames fit through the path.
    assert 0.3 < newest["dropped_share"] < 0.7
    assert newest["frame_delay_p95_ms"] < 1_000
    assert follows["dropped_share"] < newest["dropped_share"] / 2
    assert 0.25 < follows["frame_size_share"] < 0.75
    assert follows["late_share"] < 0.5 < all_kept["late_share"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("backlog=0", "backlog: "),
        ("backlog=some", '"all", "newest" or a number of frames from 1 on'),
        ("encoder.lowest=2", "encoder.lowest: 2 is out of range; allowed: 0.01 to 1"),
    ],
)
def test_what_no_live_sender_can_be_is_refused(celltcp: Celltcp, change: str, message: str) -> None:
    frames = ("--set", "flows.0.workload.kind=frames", "--set", f"flows.0.workload.{change}")
    done = celltcp("run", "steady-20-68", "--cca", "cubic", *frames)
    assert done.returncode == 2
    assert message in done.stderr


def test_frames_that_the_sender_drops_are_none_that_never_arrived() -> None:
    frames = "{ kind = 'frames', size = '20kB', interval = '20ms', backlog = 'newest' }"
    changes = {"flows.0.workload": frames, "tcp.notsent_lowat": "10kB", "path.down.rate": "5Mbit/s"}
    result = ct.compare("steady-20-68", "cubic", runs=1, duration="5s", set=changes)
    events = result.results.tables["events"].to_pandas().set_index("kind")["detail"]
    sent = round(float(events["frames"]) * (1 - float(events["dropped_share"])))
    assert float(events["dropped_share"]) > 0.2
    assert len(result.units) <= sent
    longest = events.loc[["frame_ms"]].astype(float).max()
    ages = events.loc[["frame_age_ms"]].astype(float) if "frame_age_ms" in events.index else None
    never = 0 if ages is None else int((ages > longest).sum())
    assert result.units["duration_s"].isna().sum() == never


def test_a_logarithmic_distribution_begins_at_its_least_value_with_legible_ticks() -> None:
    """Limits of the linear axis, which reach below zero, squeezed all values at the right edge."""
    frames = "{ kind = 'frames', size = '2kB', interval = '20ms' }"
    blackout = "[{ at = '2s', duration = '1s' }]"
    changes = {"flows.0.workload": frames, "path.blackouts": blackout}
    result = ct.compare("steady-20-68", "cubic,bbr", runs=1, duration="5s", set=changes)
    axes = result.plot.ecdf("frame_delay").axes[0]
    durations = result.units["duration_s"].dropna()
    assert durations.quantile(0.995) > 10 * durations.median(), "no long tail to draw"
    assert axes.get_xscale() == "log"
    low, high = axes.get_xlim()
    assert low == pytest.approx(durations.min() / 1.05)
    assert high == pytest.approx(1.05 * durations.max())
    texts = [
        each.get_text() for each in axes.get_xticklabels() if low <= each.get_position()[0] <= high
    ]
    assert 2 <= len(texts) <= 8
    assert all(float(each) > 0 for each in texts)


def test_frames_late_under_every_cca_rank_by_their_delay_and_the_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(
        'name = "late"\nduration = "6s"\n[path]\nrtt = "40ms"\nbuffer = "4bdp"\n'
        'down = { rate = "10Mbit/s" }\n'
        '[[flows]]\nname = "live"\n'
        "workload = { kind = 'frames', size = '4kB', interval = '20ms', deadline = '30ms' }\n"
        '[[flows]]\nname = "download"\ncca = "cubic"\n'
    )
    result = ct.compare(tmp_path / "late.toml", "cubic,bbr", 2)
    (live,) = result.applications
    assert min(live.means("late_share")) > 0.1
    assert live.ranking.metric == "frame_delay_ms"
    delays = dict(zip(result.ccas, live.means("frame_delay_ms"), strict=True))
    verdict = live.verdict(random=True)
    assert verdict.leader == min(delays, key=delays.__getitem__)
    stake = result.ranked_stakes[0]
    assert stake.need == "live, by delay of frames (over 10 % late under every CCA)"
    text = stake.text("bbr", "cubic")
    assert text.startswith("live frame delay mean (over 10 % late under every CCA) ")
    # One CCA that keeps the deadline is enough for the share to rank.
    metrics = {cca: dict(values) for cca, values in live.metrics.items()}
    metrics["bbr"]["late_share"] = [0.05, 0.05]
    assert live._replace(metrics=metrics).ranking.metric == "late_share"


def test_the_first_byte_of_a_response_and_of_a_page_comes_after_their_round_trips() -> None:
    """A request takes an RTT and the time to think; a connection opens in another RTT."""
    path = {"path.rtt": "100ms", "path.down.rate": "50Mbit/s"}
    requests = {"kind": "request-response", "response": "500kB", "think": "20ms", "gap": "50ms"}
    result = ct.compare(
        "steady-20-68", "cubic", 1, duration="8s", set={**path, "flows.0.workload": requests}
    )
    events = result.results.tables["events"].to_pandas()
    firsts = events.loc[events["kind"] == "response_first_byte_s", "detail"].astype(float).tolist()
    whole = events.loc[events["kind"] == "response_s", "detail"].astype(float).tolist()
    assert firsts[0] == pytest.approx(0.22, abs=0.005)
    assert firsts[1:] == pytest.approx([0.12] * (len(firsts) - 1), abs=0.005)
    assert all(first + 0.05 < last for first, last in zip(firsts, whole, strict=False))
    (application,) = result.applications
    mean = application.metrics["cubic"]["response_first_byte_s"]
    assert mean == pytest.approx([statistics.fmean(firsts)])
    assert result.best_by("response_first_byte_s").values["cubic"] == mean
    page = {"kind": "page", "objects": 4, "depth": 1, "think": "20ms", "gap": "200ms"}
    result = ct.compare(
        "steady-20-68", "cubic", 1, duration="8s", set={**path, "flows.0.workload": page}
    )
    events = result.results.tables["events"].to_pandas()
    firsts = events.loc[events["kind"] == "page_first_byte_s", "detail"].astype(float).tolist()
    assert len(firsts) >= 3
    assert firsts == pytest.approx([0.22] * len(firsts), abs=0.005)
    metrics = result.applications[0].metrics["cubic"]
    assert metrics["page_first_byte_s"] == pytest.approx([statistics.fmean(firsts)])


def _page_beside_an_update() -> ct.Comparison:
    flows = [{"name": "web", "workload": {"kind": "page"}}, {"name": "update"}]
    changes = {"flows": flows, "path.buffer": "6bdp"}
    ccas = ["cubic+cubic", "cubic+vegas"]
    return ct.compare("steady-20-68", ccas, 3, duration="30s", set=changes)


@pytest.mark.parametrize(("kind", "unit"), [("page", "page_load"), ("request-response", "response")])
def test_what_never_loads_counts_with_its_age_in_the_mean(kind: str, unit: str) -> None:
    """A page in a blackout that lasts from 6 s to the end makes no CCA look fast."""
    changes = {
        "flows": [{"name": "web", "workload": {"kind": kind}}],
        "path.blackouts": [{"at": "6s", "duration": "60s"}],
    }
    result = ct.compare("steady-20-68", ["cubic", "reno"], 1, duration="20s", set=changes)
    for cca in ("cubic", "reno"):
        units = result.units.query(f"unit == '{unit}' and cca == '{cca}'")
        ages = 20.0 - units.loc[units["end_s"].isna(), "start_s"]
        times = [*units["duration_s"].dropna(), *ages]
        assert len(ages) == 1
        assert ages.item() > 13.0
        (mean,) = result.applications[0].metrics[cca][f"{unit}_s"]
        assert mean == pytest.approx(statistics.fmean(times))
    assert result.applications[0].bounds(f"{unit}_s") == {"cubic", "reno"}
    if unit == "page_load":
        text = standing_of(result, "cubic", result.applications[0]).metric_text
        assert text.startswith("page load mean ≥ ")


def test_line_ups_rank_by_a_chosen_metric_and_have_the_trade_off_between_flows() -> None:
    result = _page_beside_an_update()
    best = result.best_by("page_load_s:web").verdict
    assert best.best == "cubic+vegas"
    assert "cubic+cubic" not in best.ranked
    (trade_off,) = result.trade_offs
    assert trade_off.startswith("cubic+cubic instead of cubic+vegas: web page load mean ")
    assert "; update goodput " in trade_off
    # Without a metric, line-ups do not rank.
    assert not result.stakes
    cells = [row[1] for row in shares_table(result).rows]
    goodput = {each.mix: each.goodput.mean for each in result.mean_shares() if each.flow == "update"}
    assert cells[0].startswith(f"update (cubic) {goodput['cubic+cubic']:.2f} ±")
    assert result.has_shares
    assert not result.has_competition


def test_percentiles_of_too_few_values_are_left_out_and_the_median_is_one_of_the_tables() -> None:
    result = _page_beside_an_update()
    (web, *_) = result.applications
    table = metrics_table(result, web)
    names = [column.name for column in table.columns]
    (cells,) = (row for row in table.rows if row[0] == "cubic+cubic")
    assert cells[names.index("page_load_p95_s")] == cells[names.index("page_load_p99_s")] == "-"
    assert cells[names.index("page_load_p50_s")] != "-"
    assert "; - for a percentile of too few values" in table.title
    medians = web.metrics["cubic+cubic"]["page_load_p50_s"]
    units = result.units.query("unit == 'page_load' and cca == 'cubic+cubic'")
    assert median_of_runs(units) == pytest.approx(sum(medians) / len(medians))


def test_a_report_on_a_file_has_one_answer_with_its_price() -> None:
    changes = {"flows.0.workload": {"kind": "bulk", "bytes": "3MB"}, "path.buffer": "0.5bdp"}
    result = ct.compare("steady-20-68", ["cubic", "hybla"], 3, duration="20s", set=changes)
    (choice,) = choices_of(result)
    assert choice.need == "flow-1 (completion time)"
    assert len(findings_of(result)) == 1
    answer = comparison_part(result, "").answer
    assert answer.startswith("For flow-1 (completion time)")
    flows = result.flows.groupby("cca")[["retransmissions", "segments"]].sum()
    shares = flows["retransmissions"] / flows["segments"]
    assert shares.max() > 0.05
    assert settings_section(result) is not None
    assert all(f"{cca} {100 * share:.0f} %" in answer for cca, share in shares.items())


@pytest.mark.parametrize("seed", range(4))
def test_responses_of_which_one_cca_has_few_rank_by_their_mean(seed: int) -> None:
    """The 95th percentile of fewer than 20 is the longest, by chance."""
    draw = random.Random(seed)

    def metrics(count: int, slowest: float) -> dict[str, list[float]]:
        values = {name: [slowest] * 3 for name in ("response_s", "response_p95_s")}
        return {**values, "responses": [float(count)] * 3}

    many, few = metrics(draw.randint(20, 900), 1.0), metrics(draw.randint(1, 19), 9.0)
    none = metrics(0, math.inf)
    assert Application("ssh", {"bbr": many, "cubic": few}).ranking.metric == "response_s"
    assert Application("ssh", {"bbr": few, "cubic": few}).ranking.metric == "response_s"
    assert Application("ssh", {"bbr": many, "cubic": none}).ranking.metric == "response_p95_s"
