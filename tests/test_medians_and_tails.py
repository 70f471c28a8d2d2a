"""Changes that shorten usual responses, together with those that shorten the slowest ones."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget

_P50, _P99 = "response_p50_s:flow-1", "response_p99_s:flow-1"


@pytest.mark.parametrize(("seed", "runs"), [(0, 3), (0, 8), (2, 4)])
def test_a_window_and_a_timer_are_tried_together_where_losses_and_round_trips_delay(
    seed: int, runs: int
) -> None:
    """A response above the initial window takes a further RTT, a lost request or end of it 200 ms."""
    draw = random.Random(seed)
    rtt_ms = draw.randint(60, 90)
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": "20Mbit/s",
        "path.up": "10Mbit/s",
        "path.loss": 0.006,
        "path.uplink_loss": 0.01,
        "flows.0.workload": {
            "kind": "request-response",
            "request": "300B",
            "response": f"{draw.randint(17, 22)}kB",
            "gap": "3s",
        },
    }
    explained = ExplainedComparison(
        ct.compare("steady-20-68", "cubic", runs, duration="400s", set=changes)
    )
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    table = explained.conclusion.alternatives
    assert table is not None
    reference, *rows = table.to_json()
    together = [
        each for each in rows if "tcp.min_rto=" in each["options"] and "--set" in each["options"]
    ]
    together = [
        each for each in together if "initial_window" in each["options"] or "idle" in each["options"]
    ]
    assert together
    for each in together:
        # The further round trip goes, in some runs after losses only for fewer than half of all.
        gained_s = reference["metrics"][_P50] - each["metrics"][_P50]
        assert 0.2 * rtt_ms / 1e3 < gained_s < 1.5 * rtt_ms / 1e3
        assert each["metrics"][_P99] < 0.9 * reference["metrics"][_P99]


def test_the_timer_of_the_sender_is_said_to_repeat_no_requests() -> None:
    changes = {
        "path.loss": 0.01,
        "path.uplink_loss": 0.02,
        "flows.0.workload": {"kind": "request-response", "response": "1kB", "gap": "500ms"},
    }
    explained = ExplainedComparison(
        ct.compare("steady-20-68", "cubic", 2, duration="200s", set=changes)
    )
    (cubic,) = explained.ccas
    (slow,) = (each for each in cubic.causes if each.name == "slow_units")
    own = slow.reasons.get("waited for a loss probe", 0) + slow.reasons.get("waited for a time-out", 0)
    far = slow.reasons.get("lost their request", 0)
    far += slow.reasons.get("waited for a time-out of the other end", 0)
    (timer,) = (each for each in explained.remedies if "tcp.min_rto=" in each.options)
    assert timer.purpose.endswith(
        f"({own} of the sender, which gains them alone, and {far} of the other end)"
    )
