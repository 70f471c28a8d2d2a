"""Remedies at a sender: a lower RTO for slow answers, parallel connections, and a cap of the rate."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.sender_remedies import capped_owner
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget

Changes = dict[str, Any]


def _tried(result: ct.Comparison) -> list[ProposedRemedy]:
    """Returns the remedies of a comparison after their trials."""
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    return explained.remedies


def _change(remedies: list[ProposedRemedy], field: str) -> ProposedRemedy:
    """Returns the remedy that changes a field."""
    return next(each for each in remedies if any(field in change for change in each.remedy.changes))


@pytest.mark.parametrize("direction", ["loss", "uplink_loss"])
@pytest.mark.parametrize("seed", range(2))
def test_answers_that_wait_for_probes_of_either_end_have_a_lower_rto(direction: str, seed: int) -> None:
    draw = random.Random(f"{direction} {seed}")
    game = {
        "kind": "request-response",
        "request": "20B",
        "response": "120B",
        "gap": {"kind": "uniform", "min": "25ms", "max": f"{draw.randint(200, 400)}ms"},
    }
    changes: Changes = {
        "path.rtt": f"{draw.randint(40, 120)}ms",
        f"path.{direction}": round(draw.uniform(0.015, 0.03), 3),
        "flows.0.workload": game,
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="120s", set=changes)
    causes = [cause.text for each in ExplainedComparison(result).ccas for cause in each.causes]
    assert any("an RTT and the minimum RTO of 200 ms" in text for text in causes)
    lower = _change(_tried(result), "tcp.min_rto=")
    gain = re.search(r"response p99 [\d.]+ to [\d.]+ s \(-(\d+) %\)", lower.trial)
    assert gain is not None, lower.trial
    assert int(gain[1]) > 15
    assert "rto_min" in lower.text


@pytest.mark.parametrize("seed", range(2))
def test_slow_times_with_few_responses_have_their_mean_by_time(seed: int) -> None:
    """A request waits for the response before it, which a cell of two rates makes long for seconds."""
    draw = random.Random(seed)
    steps = [{"at": f"{10 * n}s", "rate": ("20Mbit/s", "1Mbit/s")[n % 2]} for n in range(6)]
    thin = {"kind": "request-response", "response": "200B", "gap": "100ms", "think": "0ms"}
    changes: Changes = {
        "path.rtt": f"{draw.randint(30, 60)}ms",
        "path.down": {"steps": steps},
        "path.buffer": f"{draw.randint(100, 300)}packets",
        "flows": [{"name": "bulk"}, {"name": "thin", "workload": thin}],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    text = next(
        cause.text
        for each in ExplainedComparison(result).ccas
        for cause in each.causes
        if cause.name == "slow_units"
    )
    found = re.search(r"weighted by time, their mean is ([\d.]+) s instead of ([\d.]+) (m?s)", text)
    assert found is not None, text
    times = result.units.loc[result.units["unit"] == "response", "duration_s"].dropna()
    cycles = times + 0.1
    assert float(found[1]) == pytest.approx((times * cycles).sum() / cycles.sum(), rel=0.01)
    # Pauses far longer than the responses leave slow times with as many requests.
    rare = {**changes, "flows": [{"name": "bulk"}, {"name": "thin", "workload": {**thin, "gap": "8s"}}]}
    seldom = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=rare)
    causes = [cause.text for each in ExplainedComparison(seldom).ccas for cause in each.causes]
    assert "weighted by time" not in " ".join(causes)
    # On a steady path, all times of the run have as many.
    steady = {**changes, "path.down": "20Mbit/s", "path.buffer": "1bdp"}
    again = ct.compare("steady-20-68", "cubic", 1, duration="30s", set=steady)
    causes = [cause.text for each in ExplainedComparison(again).ccas for cause in each.causes]
    assert "weighted by time" not in " ".join(causes)


@pytest.mark.parametrize("seed", range(2))
def test_calls_in_a_data_center_have_a_lower_rto_and_delayed_acks_are_no_queue(seed: int) -> None:
    """The request after a pause carries the ACK, so that samples of the RTT have that pause."""
    draw = random.Random(seed)
    call = {
        "kind": "request-response",
        "request": "100B",
        "response": f"{draw.randint(50, 200)}B",
        "gap": f"{draw.randint(4, 9)}ms",
    }
    changes: Changes = {
        "path.rtt": f"{draw.choice([1, 2])}ms",
        "path.down.rate": "500Mbit/s",
        "path.up": "500Mbit/s",
        "path.loss": 0.001,
        "path.uplink_loss": 0.001,
        "flows.0.workload": call,
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="40s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    slow = next(cause for cause in explained.causes if cause.name == "slow_units")
    assert "waited in a queue" not in slow.text
    assert "other reasons" not in slow.text
    lower = _change(_tried(result), "tcp.min_rto=20ms")
    # Losses are rarer than a percentile shows.
    gain = re.search(r"response max [\d.]+ to [\d.]+ ms \(-(\d+) %\)", lower.trial)
    assert gain is not None, lower.trial
    assert int(gain[1]) > 50


@pytest.mark.parametrize("seed", range(2))
def test_a_large_transfer_over_a_long_lossy_path_is_divided_among_connections(seed: int) -> None:
    draw = random.Random(seed)
    size = draw.randint(5, 12)
    changes: Changes = {
        "path.rtt": f"{draw.randint(200, 500)}ms",
        "path.down.rate": f"{draw.randint(10, 20)}Mbit/s",
        "path.loss": round(draw.uniform(0.002, 0.006), 4),
        "flows.0.workload": {"kind": "bulk", "bytes": f"{size}MB"},
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="300s", set=changes)
    divided = _change(_tried(result), "flows.0.count=5")
    (part,) = (each.partition("=")[2] for each in divided.remedy.changes if "bytes" in each)
    assert in_unit(part, "B") == pytest.approx(size * 1e6 / 5)
    before = result.applications[0].means("completion_s")[0]
    more = dict(each.split("=", 1) for each in divided.remedy.changes)
    after = ct.compare("steady-20-68", "cubic", 2, duration="300s", set={**changes, **more})
    # The whole is complete with its last part.
    last = after.applications[0].means("completion_max_s")[0]
    assert last < 0.8 * before
    assert f"to {last:.3f} s" in divided.trial


@pytest.mark.parametrize("seed", range(2))
def test_a_buffer_that_bursts_overflow_has_a_cap_below_the_link_as_a_remedy(seed: int) -> None:
    draw = random.Random(seed)
    rate, rtt = draw.choice([20, 40, 60]), draw.choice([80, 120, 160])
    changes: Changes = {
        "path.rtt": f"{rtt}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.buffer": f"{draw.uniform(0.04, 0.1):.2f}bdp",
        "path.wired": [{"name": "nic", "rate": "1Gbit/s", "buffer": "10000packets"}],
    }
    result = ct.compare("steady-20-68", "reno", 2, duration="30s", set=changes)
    remedies = _tried(result)
    capped = _change(remedies, "flows.0.max_pacing_rate=")
    assert remedies[0].gain >= capped.gain > 0.05
    (cap,) = (each.partition("=")[2] for each in capped.remedy.changes)
    payload = in_unit(cap, "B/s") or 0
    assert f"SO_MAX_PACING_RATE={payload:.0f} (bytes/s of payload, also under fq" in capped.text
    assert 0.85 * rate < (in_unit(cap, "Mbit/s") or 0) < rate


def test_a_link_whose_rate_varies_has_no_cap() -> None:
    changes: Changes = {
        "path.rtt": "120ms",
        "path.down.steps": [{"at": "0s", "rate": "40Mbit/s"}, {"at": "10s", "rate": "25Mbit/s"}],
        "path.buffer": "60kB",
    }
    result = ct.compare("steady-20-68", "reno", 1, duration="20s", set=changes)
    fields = [change for each in ExplainedComparison(result).remedies for change in each.remedy.changes]
    assert not any("max_pacing_rate" in field for field in fields)


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_cap_of_the_rate_is_the_cause_where_it_binds(cca: str) -> None:
    """A cap above what the path carries is none."""
    for cap, is_cause in ((5, True), (18, True), (60, False)):
        changes: Changes = {"flows.0.max_pacing_rate": f"{cap}Mbit/s", "path.buffer": "1bdp"}
        result = ct.compare("steady-20-68", cca, 1, duration="8s", set=changes)
        (explained,) = ExplainedComparison(result).ccas
        texts = {cause.name: cause.text for cause in explained.causes}
        assert ("rate_cap" in texts) == is_cause
        assert "slow_growth" not in texts
        if is_cause:
            text = f"The cap of the sender's rate (flows.0.max_pacing_rate = {cap}Mbit/s) held it back"
            assert text in texts["rate_cap"]


def test_the_trial_of_a_cap_says_that_a_policer_drops_no_more() -> None:
    changes: Changes = {
        "path.policer": {"rate": "10Mbit/s", "burst": "40kB"},
        "flows.0.workload": {"kind": "bulk", "bytes": "8MB"},
    }
    capped = _change(
        _tried(ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="30s", set=changes)),
        "flows.0.max_pacing_rate=",
    )
    assert capped.ccas == ("cubic", "bbr")
    resent = re.findall(r"retransmissions ([\d.]+) to ([\d.]+)", capped.trial)
    assert len(resent) == len(capped.ccas)
    assert all(float(after) < 0.2 * float(before) for before, after in resent)


def test_a_cap_that_ends_the_drops_of_a_policer_is_shown_where_they_cost_little_time() -> None:
    changes: Changes = {
        "path.rtt": "17ms",
        "path.down": "53Mbit/s",
        "path.buffer": "2bdp",
        "path.policer": {"rate": "17.7Mbit/s", "burst": "70kB"},
        "flows.0.workload": {"kind": "bulk", "bytes": "15449kB"},
    }
    result = ct.compare("steady-20-68", "vegas", 2, duration="20s", set=changes)
    capped = _change(_tried(result), "max_pacing_rate=")
    assert re.search(r"retransmissions \d+\.\d to 0\.0", capped.trial)


@pytest.mark.parametrize("seed", range(2))
def test_a_download_beside_pages_of_others_has_caps_of_its_own_with_their_price(seed: int) -> None:
    """Below the rate of the link it leaves room for pages, which load sooner; it takes longer."""
    draw = random.Random(f"pages {seed}")
    rate, mbytes = draw.choice([(30, 45), (40, 60)])
    page = {"kind": "page", "objects": draw.randint(10, 20), "gap": "2s"}
    pages = [{"name": name, "cca": "cubic", "workload": page} for name in ("alice", "bob")[: 1 + seed]]
    download = {"name": "download", "workload": {"kind": "bulk", "bytes": f"{mbytes}MB"}}
    changes: Changes = {
        "path.rtt": "40ms",
        "path.down": f"{rate}Mbit/s",
        "path.buffer": "1000packets",
        "flows": [download, *pages],
    }
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 2, duration="25s", set=changes))
    explained.try_remedies(TrialBudget())
    field = "flows.0.max_pacing_rate="
    caps = [each for each in explained._tried if field in "".join(each.remedy.changes)]
    rates = [in_unit(each.remedy.changes[0].removeprefix(field), "Mbit/s") or 0.0 for each in caps]
    # Headers and the room between the cap and its share of the link have some per cent.
    assert [each / rate for each in rates] == pytest.approx([0.9, 0.75, 0.5], rel=0.12)
    before, after = explained.comparison, caps[1].after
    assert after is not None
    old, new = (
        [each.means("page_load_s")[0] for each in of.applications[1:]] for of in (before, after)
    )
    assert all(one < 0.9 * other for one, other in zip(new, old, strict=True))
    times = [of.applications[0].means("completion_s")[0] for of in (before, after)]
    assert times[1] == pytest.approx(8 * mbytes / rates[1], rel=0.05)
    assert times[0] < times[1]


def test_of_minimum_rtos_of_ticks_the_one_with_fewest_late_frames_is_advised() -> None:
    """A tick comes 25 ms after the ACK of that before; a low minimum RTO repairs a loss until then."""
    ticks = {"kind": "frames", "size": "120B", "interval": "125ms"}
    changes: Changes = {
        "path.rtt": "100ms",
        "path.loss": 0.01,
        "path.uplink_loss": 0.01,
        "flows.0.workload": {**ticks, "deadline": "150ms"},
    }
    result = ct.compare("steady-20-68", "cubic", 6, duration="300s", set=changes)
    explained = ExplainedComparison(result)
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    late = {}
    for value in ("5ms", "20ms"):
        lower = {**changes, "tcp.min_rto": value}
        again = ct.compare("steady-20-68", "cubic", 6, duration="300s", set=lower)
        late[value] = again.applications[0].means("late_share")[0]
    assert late["5ms"] < 0.9 * late["20ms"]
    assert explained.conclusion.best is not None
    assert explained.conclusion.best.remedy.remedy.changes == ("tcp.min_rto=5ms",)


@pytest.mark.parametrize("seed", range(2))
def test_a_cap_of_a_download_leaves_the_link_to_frames_that_got_less_in_the_queue(seed: int) -> None:
    """It is the payload of the link less all frames, whatever CUBIC took from them in how many runs."""
    draw = random.Random(f"frames {seed}")
    rate_mbps, frames_mbps = draw.choice([(40, 25), (20, 11)])
    frames = {"kind": "frames", "size": f"{frames_mbps * 1e6 / 8 / 50:.0f}B", "interval": "20ms"}
    game = {"name": "game", "workload": {**frames, "deadline": "80ms"}}
    changes: Changes = {
        "path.rtt": f"{draw.randint(15, 40)}ms",
        "path.down": f"{rate_mbps}Mbit/s",
        "path.buffer": f"{draw.uniform(3, 6):.1f}bdp",
        "flows": [game, {"name": "download", "cca": "cubic"}],
    }
    left_mbps = rate_mbps * 1448 / 1500 - frames_mbps
    caps = []
    for runs in (1, 3):
        result = ct.compare("steady-20-68", "cubic", runs, duration="15s", set=changes)
        assert max(result.values("cubic", "goodput_mbps")) < 0.95 * frames_mbps
        (cap,) = capped_owner(Evidence(result, "cubic", result.tested), "download")
        caps.append(in_unit(cap.changes[0].partition("=")[2], "Mbit/s") or 0.0)
    assert caps == pytest.approx([left_mbps - 0.02 * rate_mbps] * 2, rel=0.03)
