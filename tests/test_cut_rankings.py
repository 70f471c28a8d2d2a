"""Ranking of transfers of which the end of the run cuts some: by their times, or the complete share."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.applications.applications import Application, is_lower_bound
from celltcp.comparison.explanation.answer import rankings_of
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.metrics import best_of
from celltcp.comparison.report.findings import _lead_text, _Ranking, findings_of
from celltcp.comparison.report.front_page import answer_of
from drawn_causes import Changes

END_S = 300.0


def application(times_s: Mapping[str, Sequence[float]]) -> Application:
    """Returns an application of one transfer a run, cut at the end; infinite times never end."""

    def metrics(times: Sequence[float]) -> dict[str, list[float]]:
        return {
            "completion_s": [each if each <= END_S else math.nan for each in times],
            "completion_least_s": [min(each, END_S) for each in times],
            "completed_share": [float(each <= END_S) for each in times],
        }

    return Application("flow-1", {cca: metrics(times) for cca, times in times_s.items()})


@pytest.mark.parametrize("seed", range(8))
def test_times_decide_although_some_transfers_of_the_leader_are_cut(seed: int) -> None:
    draw = random.Random(seed)
    runs = draw.randint(15, 40)
    fast_s, factor = draw.uniform(10, 30), draw.uniform(3, 6)
    fast = [fast_s * draw.uniform(0.9, 1.1) for _ in range(runs)]
    slow = [factor * fast_s * draw.uniform(0.8, 1.2) for _ in range(runs)]
    # Bursts of losses that end neither: one run of the fast one, some of the other.
    fast[draw.randrange(runs)] = math.inf
    for run in draw.sample(range(runs), draw.randint(1, 4)):
        slow[run] = math.inf
    ranked = application({"slow": slow, "fast": fast})
    assert ranked.ranking.metric == "completion_least_s"
    assert ranked.verdict(random=True).best == "fast"


@pytest.mark.parametrize("seed", range(8))
def test_the_share_decides_where_the_times_do_not_or_are_against_it(seed: int) -> None:
    draw = random.Random(seed)
    runs = draw.randint(15, 40)
    # One is never cut, shortly before the end; the other is in half of the runs.
    sure = [END_S * draw.uniform(0.9, 0.99) for _ in range(runs)]
    hasty = [draw.uniform(0.5, 0.9) * END_S if run % 2 else math.inf for run in range(runs)]
    ranked = application({"hasty": hasty, "sure": sure})
    assert ranked.ranking.metric == "completed_share"
    assert ranked.verdict(random=True).best == "sure"
    # Where none ends, there is nothing to rank by.
    none = application({"a": [math.inf] * runs, "b": [math.inf] * runs})
    assert none.ranking.metric == "completed_share"


def test_neither_decides_with_the_times_that_say_more() -> None:
    times = {"a": [20.0, 90.0, 40.0, math.inf], "b": [30.0, 60.0, math.inf, 80.0]}
    ranked = application(times)
    assert ranked.ranking.metric == "completion_least_s"
    assert ranked.verdict(random=True).best is None


def test_a_slow_one_that_never_ends_leaves_the_times_of_two_fast_ones_to_decide() -> None:
    """Reno's law leaves it behind BBR and Hybla, of which only more runs say which is best."""
    fast = {"bbr": [18.1, 18.6, 17.8], "hybla": [18.5, 18.0, 18.9], "cubic": [99.0, 90.0, 108.0]}
    ranked = application({**fast, "reno": [math.inf] * 3})
    assert ranked.ranking.metric == "completion_least_s"
    verdict = ranked.verdict(random=True)
    assert {str(verdict.leader), *verdict.undecided, *verdict.tied} == {"bbr", "hybla"}


def test_the_lines_of_the_best_cca_are_printed_and_each_time_has_its_name() -> None:
    """A GEO link with bursts of losses that last for packets, in which transfers may stay."""
    changes = {
        "path.rtt": "560ms",
        "path.down.rate": "12Mbit/s",
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.00157, "to_good": 0.06},
        "flows.0.workload": {"kind": "bulk", "bytes": "20MB"},
    }
    result = ct.compare("steady-20-68", "cubic,bbr", 10, duration="300s", set=changes)
    (of_transfers,) = result.applications
    assert min(of_transfers.values("completed_share")["bbr"]) == 0
    (stake,) = result.ranked_stakes
    assert (stake.metric, stake.verdict.best) == ("completion_least_s", "bbr")
    (settings,) = ExplainedComparison(result).settings
    assert settings["cca"] == "bbr"
    assert settings["need"] == "flow-1 (completion time, or the time until the end)"
    # The time of the leader is a lower bound, too.
    least = of_transfers.means("completion_least_s")[1]
    cubic, _ = ExplainedComparison(result).ccas
    behind = cubic.standing.behind_text("bbr")
    assert behind == f"completion at least {least:.3f} s of bbr, which leads"
    # The mean of the complete ones says so, and only where others are cut.
    assert _headings(result)[:2] == ["first byte mean s", "complete ones mean s"]
    small = {"flows.0.workload": {"kind": "bulk", "bytes": "1MB"}}
    whole = ct.compare("steady-20-68", "cubic,bbr", 2, duration="20s", set=small)
    assert "completion mean s" in _headings(whole)


def _headings(result: ct.Comparison) -> list[str]:
    """Returns the headings of the table of the application, without that of the CCAs."""
    columns = metrics_table(result, result.applications[0]).columns
    return [" ".join(each.heading.split()) for each in columns[1:]]


def test_delays_that_are_lower_bounds_are_explained_once_in_the_title() -> None:
    frames = {"kind": "frames", "size": "40kB", "interval": "20ms", "deadline": "100ms"}
    title = {}
    for name, rate in (("slow", "5Mbit/s"), ("fast", "100Mbit/s")):
        changes = {"path.down.rate": rate, "flows.0.workload": frames}
        result = ct.compare("steady-20-68", "cubic", 2, duration="6s", set=changes)
        title[name] = str(metrics_table(result, result.applications[0]).title)
    assert title["slow"].endswith("; ≥ at least, as some were not complete at the end")
    assert "≥" not in title["fast"]


def test_one_transfer_of_ten_that_a_run_cuts_makes_the_mean_a_lower_bound() -> None:
    shares = [1.0] * 9 + [0.0]
    times = {"completion_least_s": [20.0] * 9 + [300.0], "completed_share": shares}
    assert is_lower_bound("completion_least_s", times)
    # The mean of those that were complete is known.
    assert not is_lower_bound("completion_s", {**times, "completion_s": [20.0] * 9})
    assert not is_lower_bound("completion_least_s", {**times, "completed_share": [1.0] * 10})


def test_no_time_is_less_by_more_than_all_of_it() -> None:
    values = {"bbr": [20.0, 21.0, 20.0], "cubic": [72.0, 300.0, 70.0]}
    best = best_of("completion_s", values, random=False)
    text = _lead_text(_Ranking("completion time", "completion_s", best, values), "bbr", "cubic")
    assert re.fullmatch(r"86\.2 % less \(-?\d[\d.]* to 100\.0 %\) than", text)


@pytest.mark.parametrize("seed", range(2))
def test_times_of_complete_transfers_are_no_lower_bounds(seed: int) -> None:
    """Random losses keep CUBIC from the end of the transfer, which BBR reaches."""
    draw = random.Random(seed)
    changes = {
        "path.rtt": f"{draw.randint(70, 100)}ms",
        "path.loss": 0.02,
        "flows": [{"name": "file", "workload": {"kind": "bulk", "bytes": f"{draw.randint(7, 9)}MB"}}],
    }
    result = ct.compare("steady-20-68", "cubic,bbr", 3, duration="20s", set=changes)
    (application,) = result.applications
    assert application.bounds("completion_least_s") == {"cubic"}
    (finding,) = (each for each in findings_of(result) if each.question.startswith("Best for file"))
    assert finding.answer == "bbr"
    assert finding.effect_size.startswith("completion mean ")
    assert re.search(r"; at least [\d.]+ % less than cubic", finding.effect_size)
    assert re.search(r"completion mean of file [\d.]+ instead of ≥ [\d.]+ s;", answer_of(result))


def test_of_ccas_with_as_many_complete_transfers_the_faster_ones_are_best() -> None:
    """Reno is cut off; CUBIC completes late, and BBR and Hybla early."""
    changes: Changes = {
        "path.rtt": "560ms",
        "path.down": "12Mbit/s",
        "path.buffer": "1.2bdp",
        "path.loss": {"kind": "gilbert-elliott-time", "good": "637ms", "bad": "16.7ms"},
        "flows.0.workload": {"kind": "bulk", "bytes": "20MB"},
    }
    ccas = ["cubic:hystart=off", "bbr", "reno", "hybla"]
    result = ct.compare("steady-20-68", ccas, 3, duration="300s", set=changes)
    (stake,) = result.stakes
    assert stake.metric == "completion_least_s"
    (application,) = result.applications
    assert application.means("completed_share") == [1.0, 1.0, 0.0, 1.0]
    assert stake.verdict.leader in ("bbr", "hybla")
    assert "cubic:hystart=off" not in {*stake.verdict.tied, *stake.verdict.undecided}


@pytest.mark.parametrize("seed", range(6))
def test_parts_that_all_last_until_the_end_rank_by_those_that_are_complete(seed: int) -> None:
    """The last part of each run is cut, so that its time is the length of the run whatever the CCA."""
    draw = random.Random(seed)

    def metrics(counts: Sequence[int]) -> dict[str, list[float]]:
        return {
            "transfers": [5.0] * len(counts),
            "completion_s": [END_S / 2 if count else math.nan for count in counts],
            "completion_max_s": [END_S] * len(counts),
            "completion_least_s": [END_S] * len(counts),
            "completed_share": [count / 5 for count in counts],
        }

    some, none = [draw.choice([3, 4]) for _ in range(5)], [0] * 5
    parts = Application("flow-1", {"none": metrics(none), "some": metrics(some)}, is_divided=True)
    assert parts.bounds("completion_max_s") == {"none", "some"}
    assert parts.ranking.metric == "completed_share"
    assert parts.verdict(random=True).best == "some"


def test_shares_of_complete_transfers_have_their_times() -> None:
    changes: Changes = {
        "path.loss": "0.001",
        "flows.0.count": 5,
        "flows.0.workload": {"kind": "bulk", "bytes": "4MB"},
    }
    result = ct.compare("steady-20-68", "cubic,bbr", 3, duration="8.5s", set=changes)
    (of_parts,) = result.applications
    assert of_parts.ranking.metric == "completed_share"
    (text,) = rankings_of(result)
    share, last, complete = re.split(r"\. (?=[A-Z])", text)
    assert "(share of complete transfers)" in share
    assert re.fullmatch(r"Time until the last one: cubic ≥ 8\.\d+ s, bbr ≥ 8\.\d+ s", last)
    assert re.fullmatch(r"Mean time of the complete ones: (cubic|bbr) [78]\.\d+ s.*", complete)
