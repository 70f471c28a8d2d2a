"""Verdicts over all scenarios of a set, from the differences of congestion controls on each of them."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.comparison.applications.application_tables import set_application_tables
from celltcp.comparison.metrics import best_of
from celltcp.comparison.report.scenario_set import set_part
from celltcp.comparison.sets.scenario_set import ScenarioSet, compare_all
from celltcp.comparison.sets.verdicts import (
    SetVerdict,
    first_decided,
    set_verdicts,
    verdict_over_scenarios,
)


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with traces of links whose rates vary, drawn at random."""
    folder = tmp_path_factory.mktemp("links")
    draw = random.Random(11)
    for number in range(5):
        mean = draw.uniform(4, 30)
        rows = "".join(f"{n},{mean * draw.uniform(0.3, 1.7):.3f}\n" for n in range(30))
        (folder / f"drive-{number}.csv").write_text(f"time_s,mbps\n{rows}")
    return folder


@pytest.fixture(scope="module")
def compared(links: Path) -> ScenarioSet:
    return compare_all([str(links)], ["cubic", "bbr", "reno"], 2, duration="15s")


def test_a_verdict_is_that_of_the_paired_ratios_of_the_scenarios(compared: ScenarioSet) -> None:
    """An independent computation: t intervals of the logarithms of ratios of means."""
    verdicts = {verdict.need: verdict for verdict in set_verdicts(compared)}
    assert list(verdicts) == ["goodput", "balanced", "delay"]
    for verdict in verdicts.values():
        means = {
            cca: [np.mean(each.values(cca, verdict.metric)) for each in compared.comparisons.values()]
            for cca in compared.ccas
        }
        geometric = {cca: float(np.mean(np.log(values))) for cca, values in means.items()}
        assert verdict.ranked == sorted(geometric, key=lambda cca: -geometric[cca])
        first = verdict.ranked[0]
        for other in verdict.ranked[1:]:
            logs = np.log(means[first]) - np.log(means[other])
            low, high = stats.t.interval(0.95, len(logs) - 1, loc=logs.mean(), scale=stats.sem(logs))
            is_tied = low <= 0 <= high or abs(math.expm1(logs.mean())) < 0.005
            assert (other in verdict.tied) == is_tied, (verdict.need, other, low, high)


def test_the_command_the_report_and_json_have_the_same_verdicts(
    compared: ScenarioSet, links: Path
) -> None:
    command = ["compare", str(links), "--cca", "cubic,bbr,reno", "--runs", "2", "--duration", "15s"]
    printed = CliRunner().invoke(commands, command).stdout
    verdicts = {verdict.need: verdict for verdict in set_verdicts(compared)}
    rows = {row["need"]: row for row in compared.to_json()["over_all"]}
    explained = ct.explain(compared)
    for need, verdict in verdicts.items():
        assert f"best over all 5 scenarios for {need}: {verdict.text}" in " ".join(printed.split())
        assert f"best over all 5 scenarios for {need}: {verdict.text}" in explained.text
        assert (rows[need]["best"], rows[need]["tied"]) == (verdict.best, verdict.tied)
    part = set_part(compared)
    decided = [verdicts[need] for need in ("balanced", "goodput", "delay") if verdicts[need].best]
    assert decided, verdicts
    assert f", set {decided[0].best}: over all 5 scenarios, " in part.answer
    assert f"the sender sets {decided[0].best}, best for " in explained.text
    assert f"net.ipv4.tcp_congestion_control={decided[0].best}" in explained.text
    assert "drive-0, " in part.question
    assert "2 more" in part.question


def test_two_scenarios_have_no_verdict_over_all() -> None:
    names = ["steady-20-18", "steady-20-68"]
    assert not set_verdicts(compare_all(names, ["cubic", "bbr"], 1, duration="2s"))


def test_transfers_have_a_verdict_of_their_own(links: Path) -> None:
    transfer = {"flows": [{"name": "app", "workload": {"kind": "bulk", "bytes": "2MB"}}]}
    result = compare_all([str(links)], ["cubic", "bbr"], 2, duration="30s", set=transfer)
    needs = [verdict.need for verdict in set_verdicts(result)]
    assert needs[0] == "app (completion time)"


def _verdict(need: str, metric: str, of_logs: dict[str, dict[str, list[float]]]) -> SetVerdict:
    """A verdict over logs from the values of the runs on each, by log and CCA."""
    alone = {log: best_of(metric, values, random=True) for log, values in of_logs.items()}
    ccas = [*next(iter(of_logs.values()))]
    verdict = verdict_over_scenarios(need, metric, [*of_logs.values()], ccas, alone)
    assert verdict is not None
    return verdict


def test_the_best_over_all_logs_names_those_on_which_it_is_worse() -> None:
    """Times of three runs: 20 % less in each run, 0.1 % apart, 10 % more, and a wide interval."""
    of_logs = {
        **{f"fast-{n}": {"cubic": [8.0, 8.1, 8.2], "bbr": [10.0, 10.1, 10.2]} for n in range(9)},
        "alike": {"cubic": [10.0, 10.1, 10.2], "bbr": [10.01, 10.11, 10.21]},
        "slow": {"cubic": [11.0, 11.1, 11.2], "bbr": [10.0, 10.1, 10.2]},
        "wide": {"cubic": [6.0, 12.0, 9.0], "bbr": [9.0, 7.0, 14.0]},
    }
    verdict = _verdict("app (completion time)", "completion_s", of_logs)
    assert verdict.best == "cubic"
    assert verdict.place_lines == [
        "  cubic is worse on 1 of 12: slow (best: bbr)",
        f"  cubic is best on 9 of 12: {', '.join(f'fast-{n}' for n in range(9))}",
        "  cubic is tied on 1 of 12: alike",
        "  cubic is undecided on 1 of 12: wide",
    ]
    assert sum(map(len, verdict.to_json()["places"].values())) == len(of_logs)


def test_a_cca_that_is_slower_for_transfers_is_not_advised_for_a_balance() -> None:
    """CUBIC and BBR are undecided for transfers; Vegas is the best balance, at 5 % or 0 % more time."""
    logs = [f"log-{n}" for n in range(6)]
    even = {log: {"cubic": [8.0, 8.1], "bbr": [8.1, 8.0]} for log in logs}
    balances = {
        log: {"cubic": [0.5, 0.6], "bbr": [0.4, 0.5], "vegas": [0.7 + n / 90, 0.8]}
        for n, log in enumerate(logs)
    }

    def advised(vegas: float) -> str | None:
        times = {
            log: {**values, "vegas": [vegas + n / 90, vegas - 0.05]}
            for n, (log, values) in enumerate(even.items())
        }
        verdicts = [
            _verdict("app (completion time)", "completion_s", times),
            _verdict("balanced", "pm_balanced", balances),
        ]
        assert (verdicts[0].best, verdicts[1].best) == (None, "vegas")
        decided = first_decided(verdicts)
        return decided and decided.best

    assert advised(vegas=8.05) == "vegas"
    assert advised(vegas=8.5) is None


def test_scenarios_without_late_frames_count_in_means_over_all(tmp_path: Path) -> None:
    """A ratio of late frames exists only where both CCAs have some; differences exist everywhere."""
    draw = random.Random(5)
    for number, mean in enumerate((3.0, 5.0, 40.0, 60.0)):
        rows = "".join(f"{n},{mean * draw.uniform(0.4, 1.6):.3f}\n" for n in range(20))
        (tmp_path / f"link-{number}.csv").write_text(f"time_s,mbps\n{rows}")
    frames = {"kind": "frames", "size": "12kB", "interval": "33ms", "deadline": "300ms"}
    flows = {"flows": [{"name": "camera", "workload": frames}]}
    result = compare_all([str(tmp_path)], ["cubic", "bbr"], 2, duration="20s", set=flows)
    late = {
        cca: [
            float(np.mean(each.applications[0].values("late_share")[cca]))
            for each in result.comparisons.values()
        ]
        for cca in result.ccas
    }
    assert 0 in late["cubic"]
    assert max(late["cubic"]) > 0.05
    differences = np.array(late["bbr"]) - np.array(late["cubic"])
    (row,) = (
        each
        for each in result.to_json()["applications"]
        if (each["metric"], each["cca"]) == ("late_share", "bbr")
    )
    assert row["relative"] is None
    assert row["difference"] is not None
    assert row["difference"]["scenarios"] == 4
    assert row["difference"]["mean"] == pytest.approx(differences.mean())
    (verdict,) = (each for each in result.verdicts if each.metric == "late_share")
    low, high = stats.t.interval(0.95, 3, loc=differences.mean(), scale=stats.sem(differences))
    is_tied = low <= 0 <= high or abs(differences.mean()) < 0.0025
    assert bool(verdict.tied) == is_tied
    # Differences of shares are no relative ones.
    assert "%" not in verdict.text
    (table,) = (each for each in set_application_tables(result) if "late" in str(each.columns))
    assert f"{100 * differences.mean():+.2f}" in " ".join(map(" ".join, table.rows))


def test_explain_counts_the_scenarios_of_each_cause(compared: ScenarioSet, tmp_path: Path) -> None:
    compared.save(tmp_path / "set")
    causes = ct.explain(compared).causes
    printed = CliRunner().invoke(commands, ["explain", str(tmp_path / "set")], env={"COLUMNS": "200"})
    # It is the last table.
    table = printed.stdout.rpartition("\N{BOX DRAWINGS HEAVY DOWN AND RIGHT}")[2]
    heading = next(line for line in table.splitlines() if "CCA" in line)
    counted = causes.groupby(["cause", "cca"])["comparison"].nunique().unstack(fill_value=0)
    # Causes that all have as often distinguish no congestion control.
    apart = counted[counted.nunique(axis=1) > 1]
    assert len(apart) > 0
    for cca in compared.ccas:
        line = next((line for line in table.splitlines() if line.startswith(f"│ {cca} ")), "")
        if not line:
            # A congestion control without any of these causes has no row.
            assert apart[cca].sum() == 0
            continue
        cells = dict(zip(heading.split("┃"), line.split("│"), strict=True))
        counts = {name.strip(): cell.strip() for name, cell in cells.items() if name.strip()}
        assert len(counts) == 1 + len(apart)
        assert sum(int(each) for each in counts.values() if each.isdigit()) == apart[cca].sum()


def test_scenarios_without_late_responses_rank_by_their_share_over_all() -> None:
    """A rank by the 95th percentile on one of them is no reason to leave the deadline out."""
    calls = {"kind": "request-response", "response": "80kB", "gap": "50ms", "deadline": "150ms"}
    names = ["steady-5-18", "steady-20-18", "steady-20-68"]
    changes = {"flows.0.workload": calls}
    result = compare_all(names, ["cubic", "bbr"], 2, duration="6s", set=changes)
    metrics = {each.applications[0].ranking.metric for each in result.comparisons.values()}
    assert metrics == {"response_late_share", "response_p95_s"}
    assert result.verdicts[0].metric == "response_late_share"
