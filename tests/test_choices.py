"""Choices: ties that other flows decide, equal flows with one choice, and none without a difference."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

import celltcp as ct
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.report.front_page import answer_of, settings_section
from celltcp.comparison.verdicts import choices
from celltcp.comparison.verdicts.choices import (
    cca_to_set,
    ccas_to_set,
    choices_of,
    linux_ccas_to_set,
    tie_break,
)
from celltcp.comparison.verdicts.equal_flows import joined_stakes
from celltcp.comparison.verdicts.verdict_tables import stake_texts
from celltcp.results.statistics import Verdict, estimate
from celltcp.results.tested import FlowUnderTest
from drawn_causes import GAME

_PING = {"kind": "request-response", "request": "60B", "response": "120B", "gap": "100ms"}


@pytest.mark.parametrize("seed", range(3))
def test_a_tie_of_an_application_is_broken_by_the_other_flows(seed: int) -> None:
    """With a queue of its own, a ping is the same whatever the download does."""
    draw = random.Random(seed)
    changes: dict[str, Any] = {
        "path.queue": "fq-codel",
        "path.rtt": f"{draw.choice([60, 100])}ms",
        "path.down.rate": f"{draw.choice([20, 30])}Mbit/s",
        "path.loss": round(draw.uniform(0.002, 0.006), 4),
        "flows": [{"name": "download"}, {"name": "ping", "cca": "cubic", "workload": _PING}],
    }
    # Random losses slow Reno and CUBIC down, and leave BBR the link.
    result = ct.compare("steady-20-68", ["reno", "bbr", "cubic"], 3, duration="20s", set=changes)
    choice = choices_of(result)[0]
    assert choice.flows == ("ping",)
    assert choice.verdict.are_all_tied
    assert cca_to_set(result, choice) == "bbr"
    goodput = estimate(result.values("bbr", "goodput_mbps")).mean
    reason = f"of these it has the highest goodput of download, {goodput:.2f} Mbit/s"
    assert tie_break(result, choice).reason == reason
    (setting,) = ExplainedComparison(result).settings
    assert setting["cca"] == "bbr on download"
    assert reason in setting["need"]
    assert "set bbr on download (tied with " in answer_of(result)
    assert reason in answer_of(result)


@pytest.mark.parametrize("workload", [GAME, _PING])
def test_where_no_difference_matters_nothing_is_set(workload: dict[str, Any]) -> None:
    result = ct.compare(
        "steady-20-68",
        ["cubic", "bbr", "reno"],
        3,
        duration="15s",
        set={"path.loss": 0.01, "path.uplink_loss": 0.01, "flows.0.workload": workload},
    )
    assert ccas_to_set(result) == {}
    explained = ExplainedComparison(result)
    assert explained.settings == []
    assert any("any of these CCAs will do" in note for note in explained.notes)
    assert answer_of(result).endswith("keep the one in use.")


@pytest.mark.parametrize("count", [2, 4])
def test_equal_flows_have_one_choice_by_the_mean_of_their_values(count: int) -> None:
    part = {"workload": {"kind": "bulk", "bytes": "500kB"}}
    others = [{"name": f"part{number}", "cca": "cubic", **part} for number in range(2, count + 2)]
    other = {"name": "other", "cca": "cubic", "workload": {"kind": "bulk", "bytes": "200kB"}}
    changes: dict[str, Any] = {"flows": [{"name": "part1", **part}, *others, other]}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 3, duration="20s", set=changes)
    joined = joined_stakes(result)
    names = tuple(f"part{number}" for number in range(2, count + 2))
    assert [each.flows for each in joined] == [("part1",), names, ("other",)]
    of_flow = {stake.flow: stake for stake in result.ranked_stakes}
    for run in range(3):
        mean = sum(of_flow[name].values["bbr"][run] for name in names) / count
        assert joined[1].stake.values["bbr"][run] == pytest.approx(mean)
    lines = stake_texts(result)
    assert len(lines) == 3
    text = "part2 and part3" if count == 2 else "part2 to part5"
    assert lines[1].startswith(f"best for {text}, by completion time")


def test_of_ccas_that_are_as_good_one_that_linux_has_is_set() -> None:
    """BBRv3 is not in Linux, and as good as BBR for frames that random losses hold up."""
    frames = {"kind": "frames", "size": "25kB", "interval": "33ms", "deadline": "500ms"}
    changes: dict[str, Any] = {
        "path.rtt": "100ms",
        "path.down.rate": "50Mbit/s",
        "path.loss": 0.001,
        "flows.0.workload": frames,
    }
    result = ct.compare("steady-20-68", ["bbr3", "bbr", "cubic"], 4, duration="60s", set=changes)
    choice = choices_of(result)[0]
    assert {choice.verdict.leader, *choice.verdict.tied} == {"bbr3", "bbr"}
    assert tie_break(result, choice).cca == "bbr"
    assert list(ccas_to_set(result)) == ["bbr"]


@pytest.mark.parametrize("seed", range(4))
def test_where_linux_lacks_the_best_cca_the_best_of_those_that_it_has_is_set(seed: int) -> None:
    """Over a lossy path BBR's versions lead, or are undecided; Linux has the first one alone."""
    draw = random.Random(seed)
    frames = {
        "kind": "frames",
        "size": f"{draw.randint(15, 30)}kB",
        "interval": "33ms",
        "deadline": "500ms",
    }
    workload = draw.choice([frames, {"kind": "bulk", "bytes": f"{draw.randint(5, 20)}MB"}])
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(80, 200)}ms",
        "path.down.rate": f"{draw.randint(30, 60)}Mbit/s",
        "path.loss": round(draw.uniform(0.001, 0.003), 4),
        "flows.0.workload": workload,
    }
    result = ct.compare("steady-20-68", "cubic,bbr3,bbr", 4, duration="40s", set=changes)
    own = ccas_to_set(result)
    only = ccas_to_set(result.only(["cubic", "bbr"]))
    assert list(only) == ["bbr"]
    settings = ExplainedComparison(result).settings
    section = settings_section(result)
    assert section is not None
    if "bbr" in own:
        assert linux_ccas_to_set(result) == {}
        assert [row["cca"] for row in settings] == list(own)
    else:
        assert settings[-1]["cca"] == "bbr"
        assert settings[-1]["need"].endswith(" of the CCAs that Linux has")
        assert any("of the CCAs that Linux has: bbr" in text for text in section.text)
    # The lines set BBR in each case.
    assert "sysctl -w net.ipv4.tcp_congestion_control=bbr" in settings[-1]["lines"]
    assert any("net.ipv4.tcp_congestion_control = bbr" in block.text for block in section.blocks)


def test_without_a_reason_to_change_no_cca_of_linux_is_set() -> None:
    game = {"kind": "request-response", "response": "200B", "gap": "50ms"}
    result = ct.compare(
        "steady-20-68", "cubic,bbr3,bbr", 2, duration="5s", set={"flows.0.workload": game}
    )
    assert linux_ccas_to_set(result) == {}
    assert linux_ccas_to_set(result.only(["cubic", "bbr3"])) == {}


@pytest.mark.parametrize("leader", ["reno", "illinois", "htcp"])
def test_the_default_is_kept_where_it_is_as_good_as_the_leader(
    monkeypatch: pytest.MonkeyPatch, leader: str
) -> None:
    monkeypatch.setattr(choices, "_has_lower_delay", lambda *_: False)
    comparison = cast("ct.Comparison", SimpleNamespace(stakes=[]))
    for tied, chosen in ((("cubic",), "cubic"), ((), leader)):
        choice = choices.Choice("throughput", "goodput_mbps", Verdict(leader, tied))
        assert cca_to_set(comparison, choice) == chosen


@pytest.mark.parametrize("seed", range(2))
def test_where_a_film_does_not_mind_the_flow_beside_it_decides(seed: int) -> None:
    """In a short buffer, BBR leaves a download little, and a film is as good with CUBIC."""
    draw = random.Random(seed)
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(50, 70)}ms",
        "path.buffer": "0.4bdp",
        "flows": [
            {"name": "film", "workload": {"kind": "video"}},
            {"name": "bulk", "cca": "cubic"},
        ],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 3, duration="60s", set=changes)
    film, bulk = result.stakes
    assert film.verdict.are_all_tied
    assert bulk.means("bbr")[0] < 0.7 * bulk.means("cubic")[0]
    assert not any("any of these CCAs will do" in note for note in ExplainedComparison(result).notes)
    assert answer_of(result).startswith("For bulk (goodput), set cubic on film. ")


def test_a_flow_for_which_any_will_do_does_not_set_the_cca_of_an_undecided_one() -> None:
    """Players on a link of their own see no difference, and one beside a download needs more runs."""
    game = {"kind": "frames", "size": "800B", "interval": "50ms", "deadline": "100ms"}
    changes: dict[str, Any] = {
        "path.rtt": "40ms",
        "path.down": "8Mbit/s",
        "path.buffer": "300packets",
        "path.wired": [{"rate": "1Gbit/s"}],
        "links": [{"from": "gateway", "to": "players", "rate": "1Gbit/s"}],
        "flows": [
            {"name": "update"},
            {"name": "game", "cca": "cubic", "workload": game},
            {"name": "others", "to": "players", "cca": "cubic", "count": 20, "workload": game},
        ],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr", "vegas"], 3, duration="20s", set=changes)
    needs = choices_of(result)
    assert needs[0].need.startswith("game ")
    chosen = ccas_to_set(result)
    assert not any(need.startswith("others ") for of_cca in chosen.values() for need in of_cca[:1])
    (evidence,) = (
        Evidence(result, "cubic", each) for each in FlowUnderTest.each(result.results.about)[1:2]
    )
    # The game shares no link with the other players.
    assert [*evidence.competing_mbps] == ["update"]
    assert evidence.link_rates_1s_mbps.max() < 8
