"""Pairs of remedies: advised where two together gain notably more than the better one alone."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.pairs import _suit, joined
from celltcp.comparison.explanation.trials.proposals import MAX_REMEDIES, ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget
from drawn_causes import Changes


def _tried(changes: Changes, ccas: list[str], duration: str = "30s") -> list[ProposedRemedy]:
    """Returns the remedies of a comparison after their trials, with a pair that gains more."""
    result = ct.compare("steady-20-68", ccas, 2, duration=duration, set=changes)
    explained = ExplainedComparison(result)
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    return explained.remedies


@pytest.mark.parametrize("seed", range(3))
def test_connections_that_share_a_window_and_meet_losses_gain_by_both_together(seed: int) -> None:
    """The window bounds a CCA that ignores losses, and the losses bound several connections."""
    draw = random.Random(seed)
    rtt_ms, rate_mbps = draw.randint(90, 120), draw.randint(40, 60)
    changes: Changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": f"{rate_mbps}Mbit/s",
        "path.loss": round(draw.uniform(0.0014, 0.0025), 5),
        "tcp.receive_window_max": f"{0.2 * rate_mbps * rtt_ms / 8:.0f}kB",
    }
    *singles, pair = _tried(changes, ["cubic"])
    assert len(singles) <= MAX_REMEDIES
    assert "by both together; Linux, sender (server): a program with 5 connections" in pair.text
    assert "; sender (server): sysctl -w net.core.default_qdisc=fq" in pair.text
    assert "--cca cubic,bbr --set flows.0.count=5" in pair.options

    def goodput(remedy: ProposedRemedy) -> float:
        match = re.search(r"goodput [\d.]+ to ([\d.]+) Mbit/s", remedy.trial)
        return float(match[1]) if match else 0.0

    parts = [single for single in singles if single.remedy.cca or "count" in single.options]
    assert len(parts) == 2
    assert goodput(pair) > 1.1 * max(map(goodput, parts))


@pytest.mark.parametrize("seed", range(2))
def test_a_second_remedy_that_adds_nothing_is_no_advice(seed: int) -> None:
    draw = random.Random(seed)
    ping = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "100ms"}
    changes: Changes = {
        "path.rtt": f"{draw.randint(10, 40)}ms",
        "path.down": f"{draw.randint(8, 30)}Mbit/s",
        "path.buffer": "1000packets",
        "flows": [{"name": "bulk"}, {"name": "ping", "cca": "cubic", "workload": ping}],
    }
    remedies = _tried(changes, ["cubic"], "20s")
    assert len({each.remedy.changed_fields for each in remedies}) > 1
    assert not any("both together" in each.text for each in remedies)


def _proposed(cause: str, *changes: str, cca: str = "", ccas: str = "cubic") -> ProposedRemedy:
    return ProposedRemedy(
        cause, Remedy("a limit", changes, cca), tuple(ccas.split(",")), {}, "in 1 run"
    )


def test_a_pair_is_of_different_kinds_for_a_common_cca() -> None:
    window, pacing = _proposed("receive_window", "tcp.window=1MB"), _proposed("loss", "tcp.pacing=true")
    assert _suit(window, pacing)
    # Other ways to the same end, unless one is a CCA.
    assert not _suit(window, _proposed("receive_window", "tcp.buffer=1MB"))
    assert _suit(window, _proposed("receive_window", cca="bbr"))
    assert not _suit(_proposed("loss", cca="bbr"), _proposed("outage", cca="cubic"))
    assert not _suit(pacing, _proposed("outage", "tcp.pacing=true"))
    assert not _suit(window, pacing._replace(ccas=("reno",)))


def test_a_pair_of_which_one_has_a_clause_of_its_own_names_both() -> None:
    window, pacing = _proposed("receive_window", "tcp.window=1MB"), _proposed("loss", "tcp.pacing=true")
    frames = Remedy(
        "frames of more than 1 Mbit/s, by frames of 16 % of the present size", ("size=1kB",)
    )
    text = joined(pacing._replace(remedy=frames), window).remedy.against
    assert text.endswith("16 % of the present size, and against a limit, by both together")
    losses = pacing._replace(remedy=pacing.remedy._replace(against="bursts"))
    assert joined(losses, window).remedy.against == "bursts and a limit, by both together"


@pytest.mark.parametrize("seed", range(2))
def test_frames_on_a_link_that_is_slow_at_times_gain_by_an_encoder_and_drops(seed: int) -> None:
    """Smaller frames leave drops nothing to gain; those that an encoder makes late still wait."""
    draw = random.Random(seed)
    rates = [draw.uniform(0.8, 1.6) if n % 3 == 2 else draw.uniform(3, 6) for n in range(14)]
    frames = {"kind": "frames", "size": "10kB", "interval": "33ms", "deadline": "1s"}
    changes: Changes = {
        "path.rtt": "60ms",
        "path.down.steps": [{"at": f"{3 * n}s", "rate": f"{r:.1f}Mbit/s"} for n, r in enumerate(rates)],
        "flows.0.workload": frames,
    }
    *singles, pair = _tried(changes, ["vegas"], "42s")
    assert "backlog=newest" in pair.options
    assert "encoder=" in pair.options
    # What each costs is beside it.
    (encoder,) = (each for each in singles if "encoder=" in each.options)
    lowest = float(re.findall(r"lowest = ([\d.]+)", encoder.options)[0])
    size = float(re.findall(r"frames of (\d+) % of their size", encoder.trial)[0])
    assert 100 * lowest < size < 100
    (smaller,) = (each for each in singles if "workload.size=" in each.options)
    share = re.findall(r"80 % of the \S+ Mbit/s that .*, by frames of (\d+) % of the", smaller.text)
    assert float(share[0]) == pytest.approx(100 * lowest, abs=1.5)
