"""Hosts of the kernel engine: memory, network card and receive window are those of the scenario."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.cli.fidelity import fidelity
from celltcp.scenarios.scenarios import load_scenario


def run(on: Engine, scenario: str, cca: str, *changes: str) -> dict[str, pa.Table]:
    loaded = load_scenario(scenario, changes=changes)
    return run_jobs(jobs_for(loaded, [cca], 1, 1, on), workers=1)


def flow(tables: dict[str, pa.Table]) -> dict[str, float]:
    row: dict[str, float] = tables["flows"].to_pylist()[0]
    return row


def test_a_path_of_two_gigabits_is_filled_without_a_shortage_of_memory(linux: Engine) -> None:
    changes = ("duration=4s",)
    on_kernel, native = (run(on, "nr/mmwave-drive", "bbr", *changes) for on in (linux, engine()))
    assert on_kernel["runs"]["memory_pressures"].to_pylist() == [0]
    assert flow(on_kernel)["goodput_mbps"] == pytest.approx(flow(native)["goodput_mbps"], rel=0.05)


def test_a_burst_of_more_than_a_thousand_packets_reaches_the_receiver(linux: Engine) -> None:
    # RLC delivers all packets that waited for a missing one at once; its buffer is no limit here.
    loaded = load_scenario("nr/sub6-drive", changes=["duration=2s", "radio.rlc.buffer=64MB"])
    tables = run_jobs(jobs_for(loaded, ["reno"], 1, 8, linux), workers=1)
    assert flow(tables)["retransmissions"] <= 1


def test_a_shortage_of_memory_is_recorded(linux: Engine) -> None:
    low_tcp_mem = 'kernel.sysctl={ "net.ipv4.tcp_mem" = "300 300 900" }'
    tables = run(linux, "steady-100-68", "cubic", "duration=5s", low_tcp_mem)
    assert tables["runs"]["memory_pressures"].to_pylist()[0] > 0


def test_a_queue_at_the_first_hop_is_the_path_s_and_not_the_sender_s(linux: Engine) -> None:
    changes = (
        "duration=10s",
        "path.rtt=40ms",
        "path.wired.0.rate=10Mbit/s",
        "path.wired.0.buffer=50packets",
        "path.down.rate=100Mbit/s",
    )
    on_kernel, native = (flow(run(on, "steady-20-68", "cubic", *changes)) for on in (linux, engine()))
    assert on_kernel["rtt_mean_ms"] == pytest.approx(native["rtt_mean_ms"], rel=0.1)
    assert on_kernel["rtt_mean_ms"] > 60


@pytest.mark.parametrize("window", [50_000, 160_000])
def test_a_capped_receive_window_stays_capped(linux: Engine, window: int) -> None:
    changes = ("duration=10s", f"tcp.receive_window_max={window}B", "path.down.rate=100Mbit/s")
    on_kernel, native = (flow(run(on, "steady-20-68", "cubic", *changes)) for on in (linux, engine()))
    assert on_kernel["goodput_mbps"] == pytest.approx(native["goodput_mbps"], rel=0.05)
    assert on_kernel["goodput_mbps"] < window * 8 / 0.068 / 1e6


@pytest.mark.usefixtures("linux")
def test_random_scenarios_are_held_against_the_kernel() -> None:
    command = ["--random", "4", "--seed", "20", "--runs", "1", "--duration", "4s"]
    shown = CliRunner().invoke(fidelity, [*command, "--cca", "cubic", "--json", "-"])
    assert shown.exit_code == 0, shown.output
    result = json.loads(shown.stdout)
    assert [case["case"] for case in result["cases"]] == [f"random-20-{n:03d}" for n in range(1, 5)]
    distribution = result["distribution"]
    assert distribution["comparisons"] == 4
    for metric in distribution["metrics"].values():
        assert 0 <= metric["p50_percent"] <= metric["p95_percent"]
        assert 0 <= metric["within"] <= 1


@pytest.mark.parametrize("min_rto", ["5ms", "20ms", "200ms"])
def test_a_lowered_minimum_rto_bounds_delayed_acks_on_both_engines(linux: Engine, min_rto: str) -> None:
    workload = '{ kind = "request-response", request = "60B", response = "78B", gap = "10ms" }'
    changes = (
        "duration=10s",
        "path.rtt=500us",
        "path.down.rate=1Gbit/s",
        "path.up.rate=1Gbit/s",
        f"tcp.min_rto={min_rto}",
        f"flows.0.workload={workload}",
    )
    on_kernel, native = (flow(run(on, "steady-20-68", "cubic", *changes)) for on in (linux, engine()))
    assert on_kernel["rtt_mean_ms"] == pytest.approx(native["rtt_mean_ms"], rel=0.1)
    assert on_kernel["retransmissions"] == native["retransmissions"] == 0
