"""Queue disciplines compared with those of Linux."""

from __future__ import annotations

import pytest

from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario

#: PIE that estimates the delay from the departure rate.
RATE = "{ kind = 'pie', estimator = 'departure-rate' }"


def queueing(on: Engine, queue: str, flows: int, *changes: str) -> tuple[float, int]:
    """Returns the mean queueing delay, ms, and the number of retransmissions."""
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
    rows = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, on), workers=1)["flows"].to_pandas()
    return rows["rtt_mean_ms"].mean() - 40, int(rows["retransmissions"].sum())


@pytest.mark.parametrize(
    ("queue", "flows"),
    [
        *(("codel", 1), ("codel", 10), ("codel", 50)),
        *(("fq-codel", 1), ("fq-codel", 10), ("fq-codel", 50)),
        # PIE drops at random: with more flows, single runs differ by a third.
        *(("pie", 1), ("pie", 10)),
        *((RATE, 1), (RATE, 10)),
    ],
)
def test_a_queue_has_the_delay_of_linux(linux: Engine, queue: str, flows: int) -> None:
    on_kernel = queueing(linux, queue, flows, "kernel.queue=true")
    assert queueing(engine(), queue, flows) == pytest.approx(on_kernel, rel=0.1)


def test_a_queue_of_linux_has_the_capacity_of_its_link_and_no_one_way_delay(linux: Engine) -> None:
    path = ("duration=20s", "path.buffer=1000packets", "path.queue=fq-codel", "path.down.rate=3Mbit/s")
    flows = {}
    for is_linux in ("true", "false"):
        loaded = load_scenario("steady-20-68", changes=[*path, f"kernel.queue={is_linux}"])
        tables = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, linux), workers=1)
        flows[is_linux] = tables["flows"].to_pandas().iloc[0]
        assert tables["slots"].to_pandas()["capacity_mbps"].max() < 3.0
    assert flows["true"]["pm_balanced"] == pytest.approx(flows["false"]["pm_balanced"], rel=0.05)
    assert flows["true"].filter(like="owd_").isna().all()
    assert flows["false"].filter(like="owd_").notna().all()


@pytest.mark.parametrize("queue", ["droptail", "fq-codel"])
def test_the_uplink_has_its_queue_on_both_engines(linux: Engine, queue: str) -> None:
    changes = [
        *("duration=20s", "samples=off", "path.up.rate=2Mbit/s", "path.uplink_buffer=100packets"),
        *("path.queue=codel", f"path.uplink_queue={queue}"),
        "flows=[{ name = 'up', from = 'phone', to = 'server' }]",
    ]
    loaded = load_scenario("steady-20-68", changes=changes)
    rtts_ms = [
        run_jobs(jobs_for(loaded, ["cubic"], 1, 1, on), workers=1)["flows"].to_pandas()["rtt_mean_ms"][
            0
        ]
        for on in (linux, engine())
    ]
    assert rtts_ms[0] == pytest.approx(rtts_ms[1], rel=0.1)
    assert (min(rtts_ms) > 200) == (queue == "droptail")
