"""Frames of which the path carries fewer than are made: the cause is named, and what helps."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget


def _explained(rate_mbps: float, **frames: Any) -> ExplainedComparison:
    """Explains frames of an upload over a link of this rate."""
    changes = {
        "path.up": f"{rate_mbps:.3f}Mbit/s",
        "flows.0.from": "phone",
        "flows.0.to": "server",
        "flows.0.workload": {"kind": "frames", "deadline": "150ms", **frames},
    }
    return ExplainedComparison(
        ct.compare("steady-5-18", ["cubic", "bbr"], 1, duration="10s", set=changes)
    )


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_frames_above_the_capacity_are_the_cause_and_those_below_are_not(seed: int) -> None:
    draw = random.Random(seed)
    size, interval_ms = draw.randint(2_000, 20_000), draw.randint(20, 50)
    made = 8e-3 * size / interval_ms
    for share in (0.5, 2.0):
        explained = _explained(made / share, size=f"{size}B", interval=f"{interval_ms}ms")
        warned = [each for each in explained.comparison.warnings if "makes frames of" in each]
        assert len(warned) == (share > 1)
        assert all(each.startswith("flow-1 makes frames of") for each in warned)
        for each in explained.ccas:
            assert any(cause.name == "overload" for cause in each.causes) == (share > 1)
            if share > 1:
                assert f"makes frames of {made:.2f} Mbit/s, 2.1 times" in each.causes[0].text
    explained.try_remedies(TrialBudget())
    first = explained.remedies[0]
    assert first.remedy.changes[0].startswith("flows.0.workload.size=")
    encoder = re.search(r"\(an encoder of ([\d ]+) kbit/s at [\d.]+ frames a second\)", first.text)
    assert encoder is not None
    fitting = float(first.remedy.changes[0].split("=")[1].removesuffix("B"))
    assert float(encoder[1].replace(" ", "")) == pytest.approx(8 * fitting / interval_ms, rel=0.01)
    # All were late, so that the delay counts as well: now it is near that of the path.
    late = r"cubic share of late frames 99\.\d to 0 %"
    assert re.search(late + r", frame delay (?:mean|p50) [\d.]+ to [\d.]+ ms \(1/\d\d\)", first.trial)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_sessions_that_make_more_frames_together_than_the_link_carries_get_frames_that_fit(
    seed: int,
) -> None:
    """The reason and the advice are the same under each CCA, and a smaller size leaves none late."""
    draw = random.Random(seed)
    count, size, load = draw.randint(4, 8), draw.randint(1_500, 4_000), draw.uniform(1.2, 1.6)
    made = count * 8e-3 * size / 40
    changes: dict[str, Any] = {
        "path.down": f"{made / load:.3f}Mbit/s",
        "path.buffer": "100packets",
        "flows.0.name": "viewer",
        "flows.0.count": count,
        "flows.0.workload": {
            "kind": "frames",
            "size": f"{size}B",
            "interval": "40ms",
            "deadline": "2s",
        },
    }
    result = ct.compare("steady-5-18", ["cubic", "bbr"], 1, duration="30s", set=changes)
    (warned,) = (each for each in result.warnings if "makes frames of" in each)
    assert "each second adds 0." in warned
    explained = ExplainedComparison(result)
    for each in explained.ccas:
        assert each.causes[0].name == "overload"
        assert f"{count} sessions make frames of {made:.2f} Mbit/s" in each.causes[0].text
        growth = re.search(r"each second adds ([\d.]+) s", each.causes[0].text)
        assert growth is not None
        # Headers and retransmissions take a part of the link.
        assert load - 1 < float(growth[1]) < 1.15 * load - 1
        assert not any(cause.name == "slow_link" for cause in each.causes)
    explained.try_remedies(TrialBudget())
    first = explained.remedies[0]
    assert first.options.startswith("--cca cubic,bbr --set flows.0.workload.size=")
    assert len(re.findall(r" to 0(?:\.\d+)? %", first.trial)) == 2, first.trial
    assert not any("encoder=" in each.options for each in explained.remedies)


def test_flows_that_share_a_path_make_more_frames_together_than_it_carries() -> None:
    """The CCA decides whose frames wait, so that the reason is the same for all."""
    frames = {"kind": "frames", "size": "10kB", "interval": "40ms", "deadline": "300ms"}
    changes: dict[str, Any] = {
        "path.down": "3Mbit/s",
        "flows": [{"name": name, "workload": frames} for name in ("a", "b")],
    }
    result = ct.compare("steady-5-18", ["cubic", "bbr"], 1, duration="20s", set=changes)
    explained = ExplainedComparison(result)
    for each in explained.ccas:
        texts = {cause.name: cause.text for cause in each.causes}
        assert "All flows together make frames of 4.00 Mbit/s, 1.4 times" in texts["overload"]
        assert "slow_link" not in texts
    sizes = [each.options for each in explained.remedies if "workload.size=" in each.options]
    assert sizes
    assert all(0.6 < int(each.split("=")[1].removesuffix("B")) / 1e4 / 0.95 < 0.8 for each in sizes)


def test_an_encoder_that_follows_the_rate_makes_frames_that_fit() -> None:
    """One that may not make them small enough is the cause, and a lower bound helps."""
    frames = {"size": "10kB", "interval": "33ms"}
    (change,) = _explained(0.655, **frames, encoder={"lowest": 0.6}).remedies[0].remedy.changes
    assert change == "flows.0.workload.encoder={ lowest = 0.24 }"
    fitting = _explained(2.0, **frames, encoder={"lowest": 0.1})
    assert not any(cause.name == "overload" for each in fitting.ccas for cause in each.causes)


def test_frames_that_wait_for_seconds_wait_for_no_repair_of_a_moment() -> None:
    """Random losses are repaired in round trips of 100 ms, while the backlog grows to seconds."""
    changes = {
        "path.up": "4Mbit/s",
        "path.uplink_loss": 0.003,
        "path.rtt": "80ms",
        "flows.0.from": "phone",
        "flows.0.to": "server",
        "flows.0.workload": {
            "kind": "frames",
            "size": "18750B",
            "interval": "33ms",
            "deadline": "1s",
        },
    }
    result = ct.compare("steady-5-18", ["cubic", "bbr"], 1, duration="30s", set=changes)
    for each in ExplainedComparison(result).ccas:
        reasons = {cause.name: cause.reasons for cause in each.causes}["slow_units"]
        assert reasons["waited behind earlier ones"] > 0.9 * sum(reasons.values()), each.cca


@pytest.mark.parametrize("seed", range(2))
def test_frames_that_a_window_holds_back_have_its_law_and_a_size_that_mostly_keeps_the_deadline(
    seed: int,
) -> None:
    draw = random.Random(seed)
    rtt_ms, loss = draw.randint(90, 130), 0.001
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": "50Mbit/s",
        "path.loss": loss,
        "flows.0.workload": {
            "kind": "frames",
            "size": "30kB",
            "interval": "33ms",
            "deadline": "500ms",
        },
    }
    result = ct.compare("steady-20-68", "cubic", 3, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    (text,) = (each.text for each in explained.ccas[0].causes if each.name == "random_loss")
    law = re.search(r"By CUBIC's law, .* has about ([\d.]+) Mbit/s; 7.27 Mbit/s need one in", text)
    assert law is not None, text
    assert 2 < float(law[1]) < 7
    explained.try_remedies(TrialBudget())
    (smaller,) = (each for each in explained.remedies if "workload.size=" in each.options)
    late = re.search(r"late frames ([\d.]+) to ([\d.]+) %", smaller.trial)
    assert late is not None, smaller.trial
    assert float(late[2]) < 0.25 * float(late[1])


def test_frames_that_had_not_arrived_are_said_beside_those_that_came_late() -> None:
    frames = {"kind": "frames", "size": "15kB", "interval": "33ms", "deadline": "200ms"}
    changes: dict[str, Any] = {"path.down.rate": "1Mbit/s", "flows.0.workload": frames}
    result = ct.compare("steady-20-68", "bbr", 2, duration="20s", set=changes)
    explained = ExplainedComparison(result)
    text = next(each.text for each in explained.ccas[0].causes if each.name == "slow_units")
    late, frames = (int(match.replace(" ", "")) for match in re.findall(r"[\d ]*\d", text)[:2])
    waiting = re.search(r"; ([\d ]+) of them were not complete at the end", text)
    (application,) = result.applications
    assert waiting is not None
    assert late == frames == sum(application.values("frames")["bbr"])
    share = application.means("missing_share")[0]
    assert int(waiting[1].replace(" ", "")) == pytest.approx(share * frames, abs=2)
    # Less than a hundredth, which as a percentage would be 100 %.
    explained.try_remedies(TrialBudget())
    assert re.search(r"p50 [\d.]+ to [\d.]+ ms \(1/\d+\)", " ".join(explained.remedy_commands("x")))


def test_a_link_that_is_slower_at_times_is_the_cause_with_its_share(tmp_path: Path) -> None:
    """4 Mbit/s of frames over a link of 20 Mbit/s that carries 2 Mbit/s in three of ten seconds."""
    trace = tmp_path / "dips.csv"
    rates = (2 if second % 10 in (4, 5, 6) else 20 for second in range(40))
    trace.write_text(
        "time_s,rate_mbps\n" + "".join(f"{second},{rate}\n" for second, rate in enumerate(rates))
    )
    changes = {
        "path.down": {"trace": str(trace)},
        "variation": {"trace_offset": False, "start_jitter": "0s"},
        "flows.0.workload": {
            "kind": "frames",
            "size": "20kB",
            "interval": "40ms",
            "deadline": "200ms",
        },
    }
    comparison = ct.compare("steady-5-18", ["cubic", "bbr"], 1, duration="40s", set=changes)
    explained = ExplainedComparison(comparison)
    for each in explained.ccas:
        (cause,) = (cause for cause in each.causes if cause.name == "slow_link")
        assert cause.weight == pytest.approx(0.3, abs=0.05)
        assert "less than the 4.00 Mbit/s of the frames" in cause.text
    explained.try_remedies(TrialBudget())
    changed = [remedy.remedy.changes[0] for remedy in explained.remedies]
    assert any(change.startswith("flows.0.workload.encoder=") for change in changed)
    steady = _explained(20.0, size="20kB", interval="40ms")
    assert not any(cause.name == "slow_link" for each in steady.ccas for cause in each.causes)


@pytest.mark.parametrize("seed", range(2))
def test_frames_of_an_encoder_that_hardly_follows_the_rate_count_as_they_are(seed: int) -> None:
    """A call of two kinds of frames on a link that is slower than them at times, in a deep buffer."""
    draw = random.Random(seed)
    size = draw.randint(5, 7)
    video = {"size": f"{size}kB", "interval": "33ms", "deadline": "400ms", "encoder": {"lowest": 0.15}}
    sound = {"size": "160B", "interval": "20ms", "deadline": "200ms"}
    call = {"kind": "frames", **video, "backlog": "newest", "beside": [sound]}
    steps = [{"at": f"{n}s", "rate": ("3Mbit/s", "800kbit/s")[n % 4 == 3]} for n in range(40)]
    changes: dict[str, Any] = {
        "path.down": {"steps": steps},
        "path.buffer": "1000packets",
        "flows.0.workload": call,
    }
    explained = ExplainedComparison(
        ct.compare("steady-5-18", ["cubic", "reno"], 1, duration="40s", set=changes)
    )
    for each in explained.ccas:
        (cause,) = (cause for cause in each.causes if cause.name == "slow_link")
        assert cause.weight == pytest.approx(0.25, abs=0.03)
        # Nearly the whole size, and the sound.
        share = float(re.findall(r"frames have (\d+) % of their size", cause.text)[0]) / 100
        made = share * 8 * size / 33 + 0.064
        named = float(re.findall(r"less than the ([\d.]+) Mbit/s of the frames", cause.text)[0])
        assert named == pytest.approx(made, rel=0.02)
    explained.try_remedies(TrialBudget())
    changed = [each.remedy.changes[0] for each in explained._with_trials if each.remedy.changes]
    assert any(each.startswith("flows.0.workload.size=") for each in changed)
    # A link that always carries them is no cause, nor is an encoder that makes small frames.
    steady = {**changes, "path.down": "3Mbit/s"}
    again = ExplainedComparison(ct.compare("steady-5-18", "cubic", 1, duration="20s", set=steady))
    assert not any(cause.name == "slow_link" for each in again.ccas for cause in each.causes)


def test_a_deadline_that_no_repair_can_keep_is_said() -> None:
    """The next frame shows a loss after 90 to 110 ms, and the repair takes 1.5 RTTs of 60 ms."""
    changes = {
        "path.rtt": "60ms",
        "path.loss": 0.03,
        "flows.0.workload": {
            "kind": "frames",
            "size": "200B",
            "interval": "100ms",
            "deadline": "150ms",
        },
    }
    for deadline, is_said in (("150ms", True), ("400ms", False)):
        changes["flows.0.workload"]["deadline"] = deadline  # type: ignore[index]
        compared = ct.compare("steady-20-68", ["cubic"], 1, duration="60s", set=changes)
        comparison = ExplainedComparison(compared)
        (explained,) = comparison.ccas
        texts = [cause.text for cause in explained.causes if cause.name == "slow_units"]
        assert any("a lost frame arrives after 180 ms or more" in each for each in texts) == is_said
        frames = compared.units[compared.units["unit"] == "frame_delay"] if is_said else None
        if frames is not None:
            late = frames["duration_s"][frames["duration_s"] > 0.15]
            assert late.min() >= 0.180
            # A time-out that comes before the next frame repairs the loss sooner.
            comparison.try_remedies(TrialBudget())
            (lower,) = (each for each in comparison.remedies if "tcp.min_rto" in each.options)
            assert lower.gain > 0.05


def test_trials_report_the_share_of_their_budget_before_each() -> None:
    game = {"kind": "request-response", "response": "200B", "gap": "150ms"}
    flows = [{"name": "download"}, {"name": "game", "cca": "cubic", "workload": game}]
    changes = {"path.buffer": "4bdp", "flows": flows}
    result = ct.compare("steady-20-68", "cubic,bbr", 2, duration="10s", set=changes)
    shares: list[float] = []
    ct.explain(result, progress=shares.append)
    assert len(shares) > 1
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] < 1
