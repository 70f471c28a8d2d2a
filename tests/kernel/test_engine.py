"""Scenarios on a real Linux kernel: results, repeatability, settings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

import pyarrow as pa
import pytest

import celltcp as ct
from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario

CCAS = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
]


def run(
    linux: Engine,
    cca: str,
    changes: Mapping[str, object],
    scenario: str = "steady-20-68",
    seed: int = 1,
) -> dict[str, pa.Table]:
    loaded = load_scenario(scenario, changes={"duration": "5s", **changes})
    return run_jobs(jobs_for(loaded, [cca], 1, seed, linux), workers=1)


def flow(tables: dict[str, pa.Table]) -> dict[str, object]:
    row: dict[str, object] = tables["flows"].to_pylist()[0]
    return row


def test_the_kernel_has_every_congestion_control(linux: Engine) -> None:
    assert linux.kernel is not None
    assert sorted(linux.kernel.ccas) == CCAS


@pytest.mark.parametrize("cca", CCAS)
def test_every_congestion_control_fills_the_link(linux: Engine, cca: str) -> None:
    tables = run(linux, cca, {})
    row = flow(tables)
    assert row["cca"] == cca
    # Some leave slow start early, and five seconds are short.
    assert 5 < row["goodput_mbps"] < 19.5
    assert 68 < row["rtt_min_ms"] < 70
    about = tables["runs"].to_pylist()[0]
    assert about["engine"] == "kernel"
    assert about["kernel_version"] == linux.kernel.version


def test_slots_have_what_taps_and_sockets_tell(linux: Engine) -> None:
    tables = run(linux, "cubic", {}, "drive", seed=3)
    slots, row = tables["slots"].to_pandas(), flow(tables)
    assert slots["segments"].sum() == row["segments"]
    assert slots["duplicate_acks"].sum() == row["duplicate_acks"]
    assert slots["rtt_increment_max_ms"].max() == row["rtt_increment_max_ms"]
    assert slots["timeouts"].sum() == row["timeouts"]
    # Linux counts probes per host only, and the guest reads that at the end.
    assert slots["loss_probes"].isna().all()
    assert row["loss_probes"] >= 0
    assert row["slow_start_bytes"] >= row["slow_start_exit_cwnd"] * 1448


def test_the_same_seed_gives_the_same_tables_also_on_a_busy_machine(linux: Engine) -> None:
    changes = {"samples": "10ms"}
    first = run(linux, "bbr", changes, "drive", seed=7)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        again = run(linux, "bbr", changes, "drive", seed=7)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    other = run(linux, "bbr", changes, "drive", seed=8)
    for name, table in first.items():
        # Tables of floats: NaN equals NaN when compared by their bytes.
        assert table.to_pandas().equals(again[name].to_pandas()), name
    assert flow(first) != flow(other)
    assert first["samples"].num_rows > 400


def test_the_checker_finds_nothing_on_a_difficult_path(linux: Engine) -> None:
    changes = {
        "path.loss": 0.01,
        "path.queue": "fq-codel",
        "path.jitter.mean": "2ms",
        "path.jitter.sd": "1ms",
        "flows.0.count": 3,
    }
    loaded = load_scenario("drive", changes={"duration": "5s", **changes})
    running = linux.start(loaded.with_cca("cubic"), 1, check=True)
    while not running.advance(5.0):
        pass
    flows = pa.record_batch(running.finish()["flows"]).to_pylist()
    assert len(flows) == 3
    assert all(row["goodput_mbps"] > 0.5 for row in flows)


def test_sysctls_and_parameters_of_modules_are_taken(linux: Engine) -> None:
    usual = flow(run(linux, "cubic", {}))
    without = flow(run(linux, "cubic", {"kernel.module.tcp_cubic.hystart": 0}))
    assert without["slow_start_exit_cwnd"] > usual["slow_start_exit_cwnd"]
    small = flow(run(linux, "cubic", {"kernel.sysctl.net.ipv4.tcp_wmem": "4096 16384 65536"}))
    assert small["goodput_mbps"] < usual["goodput_mbps"] / 1.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kernel.sysctl.net.ipv4.tcp_nothing": 1}, "kernel.sysctl.net.ipv4.tcp_nothing"),
        ({"kernel.module.tcp_cubic.hystrt": 1}, "kernel.module.tcp_cubic.hystrt"),
        ({"tcp.window_scale": 3}, "tcp.window_scale: 3"),
    ],
)
def test_what_the_kernel_does_not_take_is_named(
    linux: Engine, change: Mapping[str, object], said: str
) -> None:
    with pytest.raises(ct.CelltcpError, match=said.replace(".", r"\.")):
        run(linux, "cubic", change)


def test_the_native_engine_refuses_settings_of_the_kernel(celltcp) -> None:
    done = celltcp("compare", "drive", "--set", "kernel.sysctl.net.ipv4.tcp_ecn=1", "--runs", "1")
    assert done.returncode == 2
    assert "--engine kernel" in done.stderr


def test_short_flows_complete(linux: Engine) -> None:
    sequence = {"flows.0.workload.kind": "sequence", "flows.0.workload.count": 3}
    rows = run(linux, "cubic", {**sequence, "duration": "30s"})["flows"].to_pylist()
    assert [row["bytes"] for row in rows] == [100_000] * 3
    # A handshake of two RTTs less a half, three round trips of slow start, and the link's own time.
    assert all(0.2 < row["completion_s"] < 0.6 for row in rows)


def test_a_video_is_watched_as_on_the_native_engine(linux: Engine) -> None:
    video = {"flows.0.workload.kind": "video", "duration": "30s"}

    def figures(which: Engine) -> dict[str, float]:
        events = run(which, "cubic", video)["events"].to_pylist()
        return {each["kind"]: float(each["detail"]) for each in events if each["kind"] in wanted}

    wanted = {"qoe", "startup_s", "stalls", "bitrate_mbps", "switches", "watched_s"}
    assert figures(linux) == pytest.approx(figures(engine()), rel=0.02)


def test_an_abandoned_segment_is_answered_by_resets(linux: Engine) -> None:
    """The player hears of a segment while it arrives, and closes the connection that carries it."""
    video = "{ kind = 'video', abr = 'throughput', initial = '6Mbit/s' }"
    changes = {"flows.0.workload": video, "path.down": "'1Mbit/s'", "duration": "30s"}
    tables = run(linux, "cubic", changes)
    given_up, rest = tables["flows"].to_pylist()
    assert given_up["resets"] > 0
    assert given_up["bytes"] < 0.1 * rest["bytes"]
    wanted = {"abandoned", "startup_s"}
    events = tables["events"].to_pylist()
    figures = {each["kind"]: float(each["detail"]) for each in events if each["kind"] in wanted}
    assert figures["abandoned"] == 1
    assert figures["startup_s"] < 5


@pytest.mark.parametrize(
    ("workload", "wanted"),
    [
        ("{ kind = 'page', object = '8kB', count = 3, gap = '500ms' }", ("page_load_s",)),
        ("{ kind = 'page', object = '8kB', count = 3, multiplexed = true }", ("page_load_s",)),
        ("{ kind = 'frames' }", ("frames", "late_share", "frame_delay_ms")),
        ("{ kind = 'frames', size = '200B' }", ("frames", "late_share", "frame_delay_ms")),
        (
            "{ kind = 'request-response', response = '1200B', writes = 2, count = 9 }",
            ("response_s",),
        ),
    ],
)
def test_pages_and_frames_take_as_long_as_on_the_native_engine(
    linux: Engine, workload: str, wanted: tuple[str, ...]
) -> None:
    def figures(which: Engine) -> list[float]:
        changes = {"flows.0.workload": workload, "duration": "20s"}
        events = run(which, "cubic", changes)["events"].to_pylist()
        return [float(each["detail"]) for each in events if each["kind"] in wanted]

    result = figures(linux)
    assert result
    assert result == pytest.approx(figures(engine()), rel=0.002)


@pytest.mark.parametrize(("nodelay", "least", "most"), [(None, 49, 53), (False, 105, 125)])
def test_short_frames_wait_only_where_nagle_was_asked_for(
    linux: Engine, nodelay: bool | None, least: float, most: float
) -> None:
    changes = {
        "flows.0.workload": "{ kind = 'frames', size = '200B' }",
        "path.rtt": "100ms",
        "duration": "15s",
        **({} if nodelay is None else {"flows.0.nodelay": nodelay}),
    }
    for which in (linux, engine()):
        events = run(which, "cubic", changes)["events"].to_pylist()
        (delay,) = (float(each["detail"]) for each in events if each["kind"] == "frame_delay_ms")
        assert least < delay < most


def test_a_server_answers_requests(linux: Engine) -> None:
    requests = (
        '{ kind = "request-response", request = "2kB", response = "50kB", think = "30ms", '
        'gap = "200ms", jitter = 0, count = 5 }'
    )
    tables = run(linux, "cubic", {"flows.0.workload": requests, "duration": "20s"})
    row = flow(tables)
    assert row["bytes"] == 5 * 50_000
    events = tables["events"].to_pylist()
    times = [float(event["detail"]) for event in events if event["kind"] == "response_s"]
    assert len(times) == 5
    # A round trip, the time to think and the link's own time; the first one has the handshake, too.
    assert all(0.068 + 0.030 + 0.020 < time < 0.6 for time in times)
    assert times[0] > times[4] + 0.068
    assert abs(row["completion_s"] - sum(times) - 4 * 0.2) < 0.01


def test_either_end_can_open_the_connection(linux: Engine) -> None:
    def upload(opens: str) -> dict[str, object]:
        flows = (
            f'[{{ from = "phone", to = "server", opens = "{opens}", '
            'workload = { kind = "bulk", bytes = "1MB" } }]'
        )
        return flow(run(linux, "bbr", {"flows": flows}))

    asked, unasked = upload("to"), upload("from")
    assert asked["bytes"] == unasked["bytes"] == 1_000_000
    # A sender that opens need not be asked first.
    assert abs(asked["completion_s"] - unasked["completion_s"] - 0.034) < 0.01


def test_a_transfer_that_stops_is_complete_when_its_last_byte_has_arrived(linux: Engine) -> None:
    row = flow(
        run(linux, "cubic", {"flows.0.workload": '{ kind = "bulk", stop = "2s" }', "duration": "12s"})
    )
    assert 2.0 < row["completion_s"] < 8.0
    assert row["goodput_mbps"] > 15


@pytest.mark.parametrize("mode", ["context", "kernel"])
def test_congestion_controls_switch_on_live_connections(linux: Engine, mode: str) -> None:
    switch = [
        "duration=20s",
        "path.buffer=5bdp",
        f'flows.0.switch=[{{at="10s",to="bbr",mode="{mode}"}}]',
    ]
    loaded = load_scenario("steady-20-68", changes=switch)
    tables = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, linux), workers=1)
    told = [row["detail"] for row in tables["events"].to_pylist() if row["kind"] == "switch"]
    assert len(told) == 1
    assert told[0].startswith(f"bbr {mode}")
    after = [row["goodput_mbps"] for row in tables["slots"].to_pylist() if row["t_s"] >= 10.5]
    assert sum(after) / len(after) > 15
    last = [row["rtt_mean_ms"] for row in tables["slots"].to_pylist() if row["t_s"] >= 18]
    assert sum(last) / len(last) < 120


def test_hosts_beside_the_path_and_flows_in_both_directions(linux: Engine) -> None:
    text = """
        duration = "5s"
        [[links]]
        from = "gateway"
        to = "neighbour"
        rate = "100Mbit/s"
        [[flows]]
        cca = "cubic"
        [[flows]]
        cca = "vegas"
        from = "phone"
        to = "server"
        [[flows]]
        cca = "bbr"
        from = "neighbour"
        to = "phone"
    """
    from celltcp._core import Scenario

    loaded = Scenario.from_toml(text, "hosts.toml", ".", [])
    rows = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, linux), workers=1)["flows"].to_pylist()
    assert [row["cca"] for row in rows] == ["cubic", "vegas", "bbr"]
    assert all(row["goodput_mbps"] > 2 for row in rows)


def test_the_native_tcp_is_held_against_it(linux: Engine, celltcp) -> None:
    assert linux.kernel is not None
    done = celltcp(
        *("fidelity", "--scenario", "steady-20-68-1bdp", "--cca", "cubic"),
        *("--runs", "2", "--duration", "10s", "--json", "-"),
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kernel_version"] == linux.kernel.version
    (case,) = document["cases"]
    assert case["goodput_mbps"]["kernel"] > 15
    assert case["cwnd_distance"]["mean"] > 0


def test_sessions_start_when_those_of_the_native_engine_do(linux: Engine) -> None:
    changes = {
        "flows.0.count": "5",
        "flows.0.start_spread": "2s",
        "flows.0.workload": "{ kind = 'bulk', bytes = '100kB' }",
    }
    starts = [
        [row["start_s"] for row in run(on, "cubic", changes)["flows"].to_pylist()]
        for on in (linux, engine("native"))
    ]
    # The kernel's engine wakes up within some tenths of a millisecond.
    assert sorted(starts[0]) == pytest.approx(sorted(starts[1]), abs=0.005)
    assert max(starts[1]) - min(starts[1]) > 0.2
