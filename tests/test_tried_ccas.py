"""Congestion controls that were tried alone stand after those compared, and say if they are better."""

from __future__ import annotations

import random
import re
import statistics

import pytest

import celltcp as ct
from celltcp.comparison.explanation.answer import not_to_be_set, settings_of
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.confirmation import Confirmation
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget, Trials
from celltcp.comparison.explanation.trials.tried_ccas import ranked_trials, with_further_ccas
from celltcp.comparison.report.comparison import comparison_part
from drawn_causes import Changes

_PING = {"kind": "request-response", "request": "64B", "response": "64B", "gap": "100ms"}
_RUNS, _DURATION = 3, "30s"


def _explained(changes: Changes, ccas: str, duration: str = _DURATION) -> ExplainedComparison:
    explained = ExplainedComparison(
        ct.compare("steady-20-68", ccas, _RUNS, duration=duration, set=changes, jobs=1)
    )
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    return explained


@pytest.mark.parametrize("seed", range(2))
def test_vegas_that_was_only_tried_is_the_best_cca_for_a_ping(seed: int) -> None:
    """Vegas keeps a few packets in the queue (Brakmo and Peterson 1995), BBR up to a BDP, CUBIC all."""
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(3, 6)}ms",
        "path.down": f"{draw.randint(8, 12)}Mbit/s",
        "path.buffer": f"{draw.randint(150, 250)}packets",
        "flows": [{"name": "download"}, {"name": "ping", "cca": "cubic", "workload": _PING}],
    }
    explained = _explained(changes, "cubic,bbr")
    # The advice is that of a comparison of all three, and so are its figures.
    whole = ct.compare(
        "steady-20-68", "cubic,bbr,vegas", _RUNS, duration=_DURATION, set=changes, jobs=1
    )
    assert explained.ranked.ccas == whole.ccas
    (vegas,) = settings_of(whole)
    assert [row["cca"] for row in explained.settings] == ["bbr on download", "vegas on download"]
    assert explained.settings[1]["lines"] == vegas["lines"]
    # The first line is that of all commands on the compared ones.
    assert explained.rankings[0].startswith("For ping (95th percentile of the response time): bbr ")
    assert "vegas" not in explained.rankings[0]
    (text,) = (each for each in explained.rankings if each.startswith("vegas, which was tried as well"))
    figures = re.findall(r" ([\d.]+) ms", text)
    means = [
        statistics.mean(whole.applications[0].values("response_p95_s")[cca]) for cca in ("vegas", "bbr")
    ]
    assert [float(each) for each in figures] == pytest.approx([1e3 * each for each in means], rel=0.01)
    # CUBIC beside Vegas takes its share of the queue.
    assert "while no bulk flow of a loss-based CCA shares the queue" in text
    best = explained.conclusion.best
    assert best is not None
    assert "vegas has " in best.text


@pytest.mark.parametrize("seed", range(2))
def test_a_tried_cca_that_leaves_the_best_undecided_takes_no_lines_away(seed: int) -> None:
    """Hybla grows its window by the RTT, so that losses on a satellite cost it no more than BBR."""
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(520, 600)}ms",
        "path.down": f"{draw.randint(8, 12)}Mbit/s",
        "path.buffer": "1bdp",
        "path.loss": 0.003,
        "flows.0.workload": {"kind": "bulk", "bytes": "8MB"},
    }
    compared = ct.compare("steady-20-68", "cubic,bbr", 3, duration="90s", set=changes, jobs=1)
    explained = ExplainedComparison(compared)
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    assert settings_of(compared)
    assert explained.settings


def test_only_ccas_of_linux_that_were_tried_in_all_runs_rank() -> None:
    """No mainline kernel has BBR v3, and one run of Vegas says less than two of the others."""

    def compared(ccas: str, runs: int = 2) -> ct.Comparison:
        return ct.compare("steady-20-68", ccas, runs, duration="5s", jobs=1)

    proposed = [
        ProposedRemedy("probe_rtt", Remedy("", cca=cca), ("bbr",), {}, after=compared(cca, runs))
        for cca, runs in (("bbr3", 2), ("hybla", 2), ("vegas", 1))
    ]
    comparison = compared("cubic,bbr")
    trials = Trials(comparison, TrialBudget())
    ranked, others = ranked_trials(trials, comparison, [], proposed, Confirmation(trials, 3))
    assert ranked.ccas == ["cubic", "bbr", "hybla"]
    assert [each.remedy.cca for each in others] == ["bbr3", "vegas"]


def test_a_tried_cca_joins_those_of_a_video_whose_opinion_score_no_policy_selects_by() -> None:
    changes: Changes = {"flows.0.workload": {"kind": "video"}}
    cubic, vegas = (
        ct.compare("steady-20-68", cca, 1, duration="20s", set=changes, jobs=1)
        for cca in ("cubic", "vegas")
    )
    joined = with_further_ccas(cubic, [vegas])
    assert joined.requirements == cubic.requirements
    own = {"cubic": cubic, "vegas": vegas}
    for cca in joined.ccas:
        scores = joined.values_of(joined.tested, cca, "qoe")
        assert scores == own[cca].values_of(own[cca].tested, cca, "qoe")


def test_a_report_answers_with_the_cca_of_the_comparison_and_names_what_was_tried() -> None:
    changes: Changes = {
        "path.rtt": "4ms",
        "path.down": "10Mbit/s",
        "path.buffer": "200packets",
        "flows": [{"name": "download"}, {"name": "ping", "cca": "cubic", "workload": _PING}],
    }
    compared = ct.compare("steady-20-68", "cubic,bbr", _RUNS, duration=_DURATION, set=changes, jobs=1)
    part = comparison_part(compared, "")
    (best,) = {row["best"] for row in compared.to_json()["flow_verdicts"] if row["flow"] == "ping"}
    assert f"set {best}" in part.answer
    assert "vegas" not in part.answer
    (tried,) = (section for section in part.sections if section.title == "Tried as well")
    explained = _explained(changes, "cubic,bbr")
    assert {*tried.text} <= {*explained.rankings[1:]}
    assert "tcp_vegas" in tried.blocks[0].text


def test_a_tried_cca_that_is_not_to_be_set_has_no_command_either() -> None:
    """Readings of four segments over a satellite: Hybla gains a little on CUBIC, but not on BBR."""
    readings = {"kind": "sequence", "size": "5000B", "gap": "10s"}
    changes: Changes = {
        "path.rtt": "1600ms", "path.down": "30kbit/s", "path.up": "60kbit/s",
        "path.buffer": "50packets", "path.uplink_buffer": "50packets",
        "path.loss": 0.03, "path.uplink_loss": 0.03,
        "flows": [{"from": "phone", "to": "server", "opens": "from", "workload": readings}],
    }  # fmt: skip
    explained = _explained(changes, "cubic,bbr,reno", "600s")
    compared = explained.comparison.ccas
    refused = not_to_be_set(explained.ranked, compared)
    assert refused == {*explained.ranked.ccas} - {*compared} != set()
    options = [each.options for each in explained.remedies]
    assert not any(cca in each for each in options for cca in refused)
