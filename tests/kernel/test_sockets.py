"""Sockets of the kernel engine end, idle and wake as those of the native engine do."""

from __future__ import annotations

import random

import pytest

from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario


def goodputs(linux: Engine, *changes: str) -> tuple[float, float]:
    """Returns the goodput of the first flow, Mbit/s, on the kernel engine and on the native one."""
    scenario = load_scenario("steady-20-68", changes=changes)
    tables = [
        run_jobs(jobs_for(scenario, ["cubic"], 1, 1, which), workers=1) for which in (linux, engine())
    ]
    on_kernel, native = (table["flows"]["goodput_mbps"].to_pylist()[0] for table in tables)
    return on_kernel, native


def test_a_connection_whose_probes_are_not_answered_is_given_up(linux: Engine) -> None:
    given_up = 0
    for seed in range(6):
        draw = random.Random(seed)
        at, gap = draw.randint(3, 12), draw.randint(100, 900)
        on_kernel, native = goodputs(
            linux,
            "duration=40s",
            f"tcp.keepalive={draw.randint(1, 3)}s",
            "tcp.keepalive_interval=1s",
            f"tcp.keepalive_probes={draw.randint(1, 3)}",
            f'path.blackouts=[{{at = "{at}s", duration = "15s"}}]',
            f'flows.0.workload={{kind = "request-response", response = "20kB", gap = "{gap}ms"}}',
        )
        assert on_kernel == pytest.approx(native, rel=0.05), seed
        # Where the blackout begins between an answer and the next request, nothing comes after it.
        given_up += on_kernel < 1.2 * at / 40 * 8 * 0.02 / (gap / 1_000)
    assert given_up > 1


def test_days_without_a_byte_take_no_time(linux: Engine) -> None:
    on_kernel, native = goodputs(
        linux,
        "duration=300000s",
        "slot=10s",
        'flows.0.workload={kind = "request-response", response = "50MB", gap = "86400s"}',
    )
    assert on_kernel == pytest.approx(native, rel=0.01)
    assert on_kernel == pytest.approx(4 * 400 / 300_000, rel=0.01)
