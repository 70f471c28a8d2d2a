"""Alternatives for frames that keep their deadline: the delay decides, and each row has its lines."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.lines.linux_lines import linux_line

_DEADLINE_MS = 100
_TICKS = {"kind": "frames", "size": "800B", "interval": "50ms", "deadline": f"{_DEADLINE_MS}ms"}


def _explained(seed: int) -> ExplainedComparison:
    """Returns the explanation of a game beside an update of the same server, behind its card."""
    draw = random.Random(seed)
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([30, 40, 50])}ms",
        "path.down": f"{draw.choice([6, 8, 12])}Mbit/s",
        "path.buffer": "300packets",
        "path.wired": [{"name": "nic", "rate": "1Gbit/s"}],
        "flows": [{"name": "update"}, {"name": "ticks", "cca": "cubic", "workload": _TICKS}],
    }
    explained = ExplainedComparison(
        ct.compare("steady-20-68", ["cubic", "vegas"], 2, duration="20s", set=changes)
    )
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    return explained


@pytest.mark.parametrize("seed", range(3))
def test_of_settings_of_a_server_without_late_frames_the_one_with_the_shortest_delay_is_advised(
    seed: int,
) -> None:
    table = _explained(seed).conclusion.alternatives
    assert table is not None
    rows = table.to_json()
    delays = {
        (row["cca"], row["recommended"]): row["metrics"]["frame_delay_p95_ms:ticks"]
        for row in rows
        if row["places"] == ["sender (server)"] and row["metrics"]["late_share:ticks"] == 0
    }
    assert len(delays) > 1, rows
    (advised,) = [delay for (_, is_advised), delay in delays.items() if is_advised]
    assert advised == min(delays.values())
    # Without a queue, a frame takes half of the RTT and its own time.
    assert advised < 50
    # Each row with a change has its lines, but the CCA alone to set has those before the table.
    text = "\n".join([*table.lines, *table.other_lines])
    for row in rows[1:]:
        if "--set" in row["options"]:
            assert all(line in text or line.startswith("where the queue") for line in row["lines"])
    rates = {rate for line in table.lines for rate in re.findall(r"cake bandwidth (\d+)kbit", line)}
    assert len(rates) <= 1, table.lines


@pytest.mark.parametrize("name", ["internet", "home", "wan"])
def test_a_shaper_before_a_hop_that_no_sender_owns_is_in_a_router(name: str) -> None:
    hop = {"name": name, "rate": "1Gbit/s", "queue": "fq-codel"}
    scenario = {"path": {"down": {"rate": "40Mbit/s"}, "wired": [hop]}}
    assert linux_line("path.wired.0.rate=38Mbit/s", scenario).startswith("router, INTERFACE to the LAN")


def test_a_shaper_at_an_interface_of_the_server_is_there_and_no_router() -> None:
    table = _explained(0).conclusion.alternatives
    assert table is not None
    (row,) = [row for row in table.to_json() if "path.wired.0.rate=" in row["options"]]
    assert row["places"] == ["hop nic"]
    (line,) = row["lines"]
    assert line.startswith(
        "server, INTERFACE towards the hop nic: tc qdisc replace dev INTERFACE root cake"
    )
