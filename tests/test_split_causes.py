"""Explanations of connections that a middlebox splits."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from drawn_causes import Changes


def causes(seed: int, **changes: object) -> dict[str, str]:
    """Returns the causes of a download over a split path drawn by a seed."""
    draw = random.Random(seed)
    box: Changes = {"kind": "split", "at": "node-1", **changes}
    rtt_ms = draw.choice([24, 44, 64])
    path: Changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.wired": [{"name": "internet", "delay": f"{rtt_ms / 2 - 2}ms"}, {"name": "cell"}],
        "path.down.rate": f"{draw.choice([20, 40, 60])}Mbit/s",
        "path.loss": draw.choice([0.03, 0.04]),
        "path.middleboxes": [box],
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=path)
    return {cause.name: cause.text for cause in ExplainedComparison(result).ccas[0].causes}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_leg_with_the_losses_is_the_limit_and_not_the_window_of_the_first_one(seed: int) -> None:
    texts = causes(seed)
    assert texts["later_leg"].startswith("The leg behind the split host was the limit: ")
    assert "receive_window" not in texts
    # The wait is in the host, which the RTT of the first leg does not have.
    assert "at the split host" in texts["queue"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_small_buffer_of_the_split_host_is_a_window_of_the_first_leg(seed: int) -> None:
    texts = causes(seed, buffer="12kB")
    assert "(the buffer of the split host, 12kB)" in texts["receive_window"]
    assert "later_leg" not in texts


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("in_file", [False, True])
def test_a_buffer_below_the_need_of_the_later_leg_is_enlarged(seed: int, in_file: bool) -> None:
    draw = random.Random(f"later leg {seed}")
    near_ms, far_ms, rate_mbps = draw.randint(30, 80), draw.randint(160, 300), draw.randint(60, 90)
    changes: Changes = {
        "path.rtt": f"{near_ms + far_ms}ms",
        "path.down.rate": f"{rate_mbps}Mbit/s",
        "path.wired": [
            {"name": "near", "delay": f"{near_ms / 2}ms"},
            {"name": "far", "delay": f"{far_ms / 2}ms"},
        ],
    }
    box = {"kind": "split", "at": "node-1"}
    if in_file:
        changes["path.middleboxes"] = [box]
    cca = "cubic" if in_file else "cubic@split:at=node-1"
    result = ct.compare("steady-20-68", cca, 1, duration="20s", set=changes)
    explained = ExplainedComparison(result)
    texts = {cause.name: cause.text for cause in explained.ccas[0].causes}
    assert "receive_window" not in texts
    (share,) = re.findall(r"buffer of 1MB is (\S+) of the bandwidth-delay", texts["later_leg"])
    # The link carries headers, too.
    assert float(share) == pytest.approx(8 / (far_ms * rate_mbps * 0.96e-3), rel=0.1)
    assert f" at an RTT of {far_ms} ms)" in texts["later_leg"]
    explained.try_remedies(TrialBudget())
    (remedy,) = explained.remedies
    field = "path.middleboxes.0.buffer=" if in_file else " --middlebox split:at=node-1,buffer="
    assert field in remedy.options
    (before, after) = re.findall(r"goodput (\S+) to (\S+) ", remedy.trial)[0]
    assert float(after) > 1.5 * float(before)


def test_without_a_middlebox_advice_is_as_without_the_option() -> None:
    changes: Changes = {"path.rtt": "300ms", "path.down.rate": "80Mbit/s"}
    plain, none = (
        ExplainedComparison(ct.compare("steady-20-68", ccas, 1, duration="10s", set=changes))
        for ccas in ("cubic,bbr", "cubic@none,bbr@none")
    )
    options = [each.options.replace("@none", "") for each in none.remedies]
    assert options == [each.options for each in plain.remedies]
    assert options


@pytest.mark.parametrize("seed", range(2))
def test_a_queue_behind_a_split_host_is_no_gain_of_it_and_pages_behind_it_wait_there(seed: int) -> None:
    """Six users fill the queue of the link; blackouts lose SYNs, and the path has no random loss."""
    draw = random.Random(seed)
    page = {"kind": "page", "document": "30kB", "objects": 30, "object": "30kB", "gap": "2s"}
    starts = range(draw.randint(15, 19), 90, 10)
    changes: Changes = {
        "path.rtt": f"{draw.randint(50, 80)}ms",
        "path.down.rate": f"{draw.randint(6, 9)}Mbit/s",
        "path.buffer": "600packets",
        "path.blackouts": [{"at": f"{each}s", "duration": "3s"} for each in starts],
        "flows": [
            {"name": "web", "workload": page},
            {"name": "others", "cca": "cubic", "count": 5, "workload": page},
        ],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="90s", middlebox=["split"], set=changes)
    for each in ExplainedComparison(result).ccas:
        texts = {cause.name: cause.text for cause in each.causes}
        assert "round_trips" not in texts
        assert "behind which the link has its queue as without a split" in texts["queue"]
        assert "random loss" not in texts.get("lost_handshake", "")
