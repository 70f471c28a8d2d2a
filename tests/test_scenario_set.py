"""Comparisons on several scenarios or traces at once."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import celltcp as ct
from celltcp.comparison.report.scenario_set import set_part
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.tables_of_several import set_table
from celltcp.files.natural_order import in_natural_order
from celltcp.results.statistics import mean_ratio
from workloads import DEEP_BUFFER, GAME

QUICK = ("--cca", "cubic,bbr", "--runs", "2", "--duration", "2s")


def _traces(folder: Path) -> None:
    folder.mkdir()
    (folder / "slow.csv").write_text("time_s,mbps\n0,2\n1,3\n2,2\n")
    (folder / "fast.csv").write_text("time_s,mbps\n0,20\n1,30\n2,20\n")


def test_files_of_a_folder_are_in_the_order_of_the_numbers_in_their_names() -> None:
    names = ["d/t10.csv", "d/t2.csv", "d/t1.csv", "d/drive.csv", "d/10/a.csv", "d/9/a.csv", "d/t02.csv"]
    expected = [
        "d/9/a.csv",
        "d/10/a.csv",
        "d/drive.csv",
        "d/t1.csv",
        "d/t02.csv",
        "d/t2.csv",
        "d/t10.csv",
    ]
    assert in_natural_order(names) == expected


def test_a_folder_of_traces_has_a_table_each_and_the_mean(celltcp, tmp_path: Path) -> None:
    _traces(tmp_path / "logs")
    (tmp_path / "logs" / "broken.csv").write_text("a,b\nx,y\n")
    done = celltcp("compare", "logs", *QUICK, "--out", "out", "--json", "all.json")
    assert done.returncode == 0, done.stderr
    assert "logs/broken.csv" in done.stderr
    for title in ("fast: mean", "slow: mean", "Mean over 2 scenarios"):
        assert title in done.stdout
    assert " of 2\n" in done.stdout
    assert sorted(each.name for each in (tmp_path / "out").glob("logs-*")) == ["logs-fast", "logs-slow"]
    document = json.loads((tmp_path / "all.json").read_text())
    assert list(document["scenarios"]) == ["logs/fast", "logs/slow"]
    means = {each["cca"]: each["goodput_mbps"]["mean"] for each in document["mean"]}
    parts = [ct.load(tmp_path / "out" / f"logs-{name}") for name in ("fast", "slow")]
    for cca, mean in means.items():
        each = [part.summary.loc[cca, ("goodput_mbps", "mean")] for part in parts]
        assert mean == pytest.approx(sum(each) / 2)
    assert all(
        (tmp_path / "out" / f"logs-{name}" / "overview.png").exists() for name in ("fast", "slow")
    )
    again = celltcp("compare", "logs", *QUICK, "--out", "out")
    assert again.stderr.count("nothing was run") == 2


def test_results_of_several_scenarios_equal_those_of_each_alone() -> None:
    settings = {"cca": ["cubic", "bbr"], "runs": 2, "duration": "2s"}
    both = ct.compare_all(["drive", "steady-5-18"], **settings)
    assert both.comparisons["drive"].to_json() == ct.compare("drive", **settings).to_json()
    assert len(both.summary) == 4
    assert set(both.leading["goodput"]) == {"cubic", "bbr"}


def test_finished_results_of_another_comparison_are_not_replaced(celltcp, tmp_path: Path) -> None:
    _traces(tmp_path / "logs")
    assert celltcp("compare", "logs", *QUICK, "--out", "out").returncode == 0
    done = celltcp("compare", "logs", "--cca", "reno", "--runs", "1", "--out", "out")
    assert done.returncode == 2
    assert "holds finished results" in done.stderr


def test_an_unknown_scenario_among_several_is_refused(celltcp) -> None:
    done = celltcp("compare", "drive", "nowhere", *QUICK)
    assert done.returncode == 2
    assert "'nowhere'" in done.stderr


def test_flows_that_share_the_path_are_shown_with_their_sum(celltcp) -> None:
    done = celltcp("compare", "fairness", "--cca", "cubic+reno", "--runs", "1", "--duration", "30s")
    assert done.returncode == 0, done.stderr
    _, _, shares = done.stdout.partition("Shares of the path")
    row = next(line for line in shares.splitlines() if re.search(r"\d\.\d\d, ", line))
    first, second, total = map(float, re.findall(r"\d+\.\d\d(?!\d)", row)[:3])
    assert total == pytest.approx(first + second, abs=0.011)


def test_the_mean_over_scenarios_is_of_paired_relative_differences() -> None:
    settings = {"cca": ["cubic", "bbr"], "runs": 2, "duration": "3s"}
    both = ct.compare_all(["drive", "steady-5-18"], **settings)
    ratios = []
    for each in both.comparisons.values():
        cubic, bbr = (each.values(cca, "rtt_mean_ms") for cca in ("cubic", "bbr"))
        ratios.append(sum(bbr) / sum(cubic))
    (row,) = both.to_json()["relative"]
    assert (row["cca"], row["compared_with"]) == ("bbr", "cubic")
    mean = math.sqrt(ratios[0] * ratios[1])
    assert row["rtt_mean_ms"]["mean"] == pytest.approx(mean - 1)
    # Student's t with one degree of freedom.
    half = math.exp(12.7062 * abs(math.log(ratios[0] / ratios[1])) / 2)
    assert row["rtt_mean_ms"]["low"] == pytest.approx(mean / half - 1, rel=1e-4)
    assert row["rtt_mean_ms"]["high"] == pytest.approx(mean * half - 1, rel=1e-4)


def test_the_mean_over_scenarios_does_not_depend_on_the_first_cca() -> None:
    """A CCA with twice the delay on one scenario and half of it on another is no worse."""
    assert mean_ratio([1.0, -0.5]).mean == pytest.approx(0.0)
    names = ["drive", "steady-5-18"]
    rows = []
    for ccas in (["cubic", "bbr"], ["bbr", "cubic"]):
        result = ct.compare_all(names, ccas, runs=2, duration="3s")
        rows.append(result.to_json()["relative"][0])
    for metric in ("goodput_mbps", "induced_delay_ms"):
        one, other = (1 + row[metric]["mean"] for row in rows)
        assert one * other == pytest.approx(1.0)
        assert (1 + rows[0][metric]["low"]) * (1 + rows[1][metric]["high"]) == pytest.approx(1.0)


def test_scenarios_without_a_common_cca_have_no_mean(tmp_path: Path) -> None:
    for cca in ("cubic", "bbr"):
        ct.compare("steady-5-18", cca, 2, duration="1s", out=tmp_path / "set" / cca)
    result = ct.load(tmp_path / "set")
    assert isinstance(result, ScenarioSet)
    assert result.ccas == []
    assert result.baseline is None
    assert result.relative("cubic", "goodput_mbps") == []
    assert result.to_json()["mean"] == []
    assert set_table(result).title == "No mean over 2 scenarios: they have no CCA in common"
    assert set_part(result).findings == ()


def test_the_best_cca_of_each_flow_is_counted_over_scenarios(celltcp, tmp_path: Path) -> None:
    game = f"""
duration = "5s"
{DEEP_BUFFER}[[flows]]
name = "download"
[[flows]]
name = "game"
cca = "cubic"
workload = {GAME}
"""
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(f'name = "{name}"\n{game}')
    done = celltcp(
        *("compare", "a.toml", "b.toml", "--cca", "cubic,bbr", "--runs", "3", "--json", "o.json"),
        *("--by", "response_max_s:game"),
    )
    assert done.returncode == 0, done.stderr
    # CUBIC has too few responses in 5 s for a percentile.
    need = "game, by mean response time"
    document = json.loads((tmp_path / "o.json").read_text())
    of_flows = document["leading_of_flows"]
    assert list(of_flows) == ["game, by response_max_s", need]
    assert of_flows[need] == {"cubic": [], "bbr": ["a", "b"]}
    assert f"best or tied for {need}: bbr on 2 of 2" in done.stdout
    assert all(each["by"] for each in document["scenarios"].values())


def test_means_of_goodput_are_over_scenarios_whose_flow_competes(tmp_path: Path) -> None:
    for name, changes in (("bulk", {}), ("game", {"flows.0.workload": GAME})):
        ct.compare("steady-5-18", "cubic,bbr", 2, duration="2s", set=changes, out=tmp_path / "s" / name)
    result = ct.load(tmp_path / "s")
    assert isinstance(result, ScenarioSet)
    bulk = result["bulk"]
    assert result.values("bbr", "goodput_mbps") == [
        pytest.approx(sum(bulk.values("bbr", "goodput_mbps")) / 2)
    ]
    assert len(result.relative("bbr", "pm_delay")) == 1
    assert len(result.values("bbr", "rtt_mean_ms")) == 2


def test_means_over_fewer_scenarios_say_over_how_many(tmp_path: Path) -> None:
    """A game of small requests does not compete for the path: its goodput is no measure."""
    game = f'name = "game"\nduration = "4s"\n{DEEP_BUFFER}[[flows]]\nworkload = {GAME}\n'
    (tmp_path / "game.toml").write_text(game)
    scenarios = ["steady-5-18", "steady-20-68", str(tmp_path / "game.toml")]
    result = ct.compare_all(scenarios, ["cubic", "bbr"], 2, duration="4s")
    table = set_table(result)
    assert table.title == (
        "Mean over 3 scenarios (goodput, PM balanced, PM delay over 2): cubic in units; others: "
        "relative to cubic, with 95 % interval"
    )
    (cubic, _) = result.to_json()["mean"]
    counts = {name: of["scenarios"] for name, of in cubic.items() if isinstance(of, dict)}
    assert counts["goodput_mbps"] == counts["pm_delay"] == 2
    assert counts["rtt_mean_ms"] == 3
    alone = [result[name].values("cubic", "goodput_mbps") for name in scenarios[:2]]
    mean = sum(sum(each) / 2 for each in alone) / 2
    assert cubic["goodput_mbps"]["mean"] == pytest.approx(mean)  # type: ignore[index]
    both = ct.compare_all(scenarios[:2], ["cubic", "bbr"], 2, duration="2s")
    assert set_table(both).title.startswith("Mean over 2 scenarios: cubic in units")


def test_a_metric_that_a_scenario_lacks_is_refused_before_the_first_run(
    celltcp, tmp_path: Path
) -> None:
    game = f'name = "game"\nduration = "4s"\n{DEEP_BUFFER}[[flows]]\nworkload = {GAME}\n'
    (tmp_path / "game.toml").write_text(game)
    arguments = ("--cca", "cubic,bbr", "--runs", "2", "--by", "response_p99_s", "--out", "o")
    done = celltcp("compare", "game.toml", "steady-5-18", *arguments)
    assert done.returncode == 2
    assert "steady-5-18: by: flow 'flow-1' has no response_p99_s; allowed: goodput_mbps" in done.stderr
    assert not (tmp_path / "o").exists()
    (tmp_path / "plain.toml").write_text(game.replace(GAME, '{ kind = "request-response" }'))
    workload = ("--vary", "flows.0.workload.kind=request-response,page")
    done = celltcp("sweep", "plain.toml", *workload, *arguments)
    assert done.returncode == 2
    assert "by: flow 'flow-1' has no response_p99_s" in done.stderr
    assert not (tmp_path / "o").exists()
    done = celltcp("compare", "game.toml", "--cca", "cubic", "--by", "qoe")
    assert done.returncode == 2
    assert "by: flow 'flow-1' has no qoe; allowed: " in done.stderr


def test_a_figure_of_which_no_run_has_a_value_keeps_all_other_results(celltcp, tmp_path: Path) -> None:
    never = GAME.replace('"200B"', '"200B", think = "60s"')
    text = f'name = "NAME"\nduration = "3s"\n{DEEP_BUFFER}[[flows]]\nname = "game"\nworkload = GAME\n'
    for name, workload in (("quick", GAME), ("never", never)):
        file = tmp_path / f"{name}.toml"
        file.write_text(text.replace("NAME", name).replace("GAME", workload))
    arguments = (
        "--cca",
        "cubic,bbr",
        "--runs",
        "2",
        "--by",
        "response_first_byte_s",
        "--json",
        "o.json",
    )
    done = celltcp("compare", "quick.toml", "never.toml", *arguments)
    assert done.returncode == 0, done.stderr
    assert "best by response_first_byte_s of game: no run has a value" in done.stdout
    scenarios = json.loads((tmp_path / "o.json").read_text())["scenarios"]
    bests = {name: each["by"][0] for name, each in scenarios.items()}
    assert [bests[name]["leader"] is None for name in bests] == [False, True]
    assert [each["mean"] for each in list(bests.values())[1]["values"]] == [None, None]


def test_the_mean_over_scenarios_has_what_the_application_got(celltcp) -> None:
    """Completion times, as independently computed from the transfers of both scenarios."""
    done = celltcp(
        *("compare", "steady-20-68", "steady-5-18", "--cca", "reno,bbr", "--runs", "2"),
        *("--duration", "20s", "--set", "flows.0.workload.bytes=3MB", "--json", "-"),
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    rows = {(row["metric"], row["cca"]): row for row in outcome["applications"]}
    means = {
        cca: [
            np.mean([run["completion_s"] for run in each["runs"] if run["cca"] == cca])
            for each in outcome["scenarios"].values()
        ]
        for cca in ("reno", "bbr")
    }
    assert rows["completion_s", "reno"]["relative"] is None
    assert rows["completion_s", "reno"]["mean"]["mean"] == pytest.approx(np.mean(means["reno"]))
    ratios = np.array(means["bbr"]) / np.array(means["reno"])
    wanted = np.exp(np.log(ratios).mean()) - 1
    assert rows["completion_s", "bbr"]["relative"]["mean"] == pytest.approx(wanted)
    shown = celltcp(
        *("compare", "steady-20-68", "steady-5-18", "--cca", "reno,bbr", "--runs", "2"),
        *("--duration", "20s", "--set", "flows.0.workload.bytes=3MB"),
    ).stdout
    shown = " ".join(shown.split())
    last = shown.index("What the application got, mean over 2 scenarios: reno in units")
    assert f"{np.mean(means['reno']):.3f}" in shown[last:]
    assert f"{100 * wanted:+.1f}" in shown[last:]


def test_many_scenarios_have_a_row_each(celltcp, tmp_path: Path) -> None:
    """A folder of logs: its tables have a row for each CCA, and the means of all follow."""
    folder = tmp_path / "l"
    folder.mkdir()
    for number in range(7):
        (folder / f"{number}.csv").write_text(f"time_s,mbps\n0,{3 + number}\n9,{3 + number}\n")
    done = celltcp("compare", str(folder), "--cca", "cubic,bbr", "--runs", "2", "--duration", "3s")
    assert done.returncode == 0, done.stderr
    rows, _, means = done.stdout.partition("Mean over 7 scenarios")
    means_of_runs = rows.split("Best CCA")[0]
    for number in range(7):
        cells = (f"│l/{number}│{cca}│" for cca in ("cubic", "bbr"))
        assert all(each in means_of_runs.replace(" ", "") for each in cells)
    assert "What limited" not in rows
    assert "best over all 7 scenarios" in means
