"""Queue disciplines beside those of Linux."""

from __future__ import annotations

import pytest

from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario

#: PIE with its other way to know the delay.
RATE = "{ kind = 'pie', estimator = 'departure-rate' }"


def standing(which: Engine, queue: str, flows: int, *changes: str) -> tuple[float, int]:
    """Returns what the link makes a packet wait, ms, and the segments that were sent again."""
    path = (
        "duration=30s",
        "samples=off",
        "path.rtt=40ms",
        "path.down.rate=10Mbit/s",
        "path.buffer=10000packets",
        f"path.queue={queue}",
        f"flows.0.count={flows}",
        "flows.0.start=1s",
    )
    loaded = load_scenario("steady-20-68", changes=[*path, *changes])
    rows = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, which), workers=1)["flows"].to_pandas()
    return rows["rtt_mean_ms"].mean() - 40, int(rows["retransmissions"].sum())


@pytest.mark.parametrize(
    ("queue", "flows"),
    [
        *(("codel", 1), ("codel", 10), ("codel", 50)),
        *(("fq-codel", 1), ("fq-codel", 10), ("fq-codel", 50)),
        # PIE drops by chance: of more flows, single runs differ by a third.
        *(("pie", 1), ("pie", 10)),
        *((RATE, 1), (RATE, 10)),
    ],
)
def test_a_queue_stands_as_long_as_in_linux(linux: Engine, queue: str, flows: int) -> None:
    theirs = standing(linux, queue, flows, "kernel.queue=true")
    assert standing(engine(), queue, flows) == pytest.approx(theirs, rel=0.1)
