"""Captures: what to try next against what limits their largest transfer."""

from __future__ import annotations

import math
import random
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.causes import Cause, is_headline, joined, named, names
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.pcap.next_steps import _pacing_text, _which_limit_step, next_steps, paced_times_ms

_PATH: dict[str, Any] = {"path.rtt": "75ms", "path.down.rate": "50Mbit/s", "path.buffer": "1bdp"}


def _steps(folder: Path, pcap_at: str | None = None, **changes: Any) -> list[str]:
    file = folder / "transfer.pcap"
    ct.run(
        *("steady-20-68", "cubic"),
        duration="10s",
        set={**_PATH, **changes},
        samples="off",
        pcap=file,
        pcap_at=pcap_at,
    )
    done = CliRunner().invoke(commands, ["pcap", "analyze", str(file)])
    assert done.exit_code == 0, done.output
    # Each limit of a sender has its name.
    assert "see below" not in done.stdout
    _, _, after = done.stdout.partition("Try next:\n")
    return [line.strip() for line in after.splitlines()]


def test_random_losses_have_the_commands_that_compare_with_bbr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    estimate, compare = _steps(tmp_path, **{"path.loss": 0.001, "path.buffer": "1000packets"})
    assert "random losses" in compare
    assert compare.endswith("net.ipv4.tcp_congestion_control=bbr")
    for command in (estimate, compare.replace("  # ", " --runs 2 # ")):
        words = shlex.split(command, comments=True)[1:]
        done = CliRunner().invoke(commands, words)
        assert done.exit_code == 0, done.output
    assert "best for" in done.output


@pytest.mark.parametrize("place", ["server", "phone"])
def test_losses_beside_segments_that_are_overtaken_are_not_called_random(
    tmp_path: Path, place: str
) -> None:
    """On such a path the losses of the queue have no RTT of their own."""
    jitter = {"distribution": "normal", "mean": "10ms", "sd": "5ms", "reorder": True}
    (_, compare) = _steps(tmp_path, place, **{"path.jitter": jitter, "path.rtt": "60ms"})
    assert "random losses" not in compare


def test_a_receive_window_has_the_lines_that_enlarge_it(tmp_path: Path) -> None:
    step, *_ = _steps(tmp_path, **{"tcp.window_scale": False})
    assert "the receive window of the client" in step
    assert "sysctl -w net.ipv4.tcp_window_scaling=1" in step
    assert "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'" in step


def test_a_window_with_a_scale_has_no_line_that_turns_it_on(tmp_path: Path) -> None:
    step, *_ = _steps(tmp_path, **{"tcp.receive_window_max": "300kB"})
    assert "the receive window of the client" in step
    assert "tcp_window_scaling" not in step
    assert "; Linux, receiver: sysctl -w net.ipv4.tcp_rmem=" in step


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_a_small_scale_is_that_of_a_program_that_sets_its_buffer(tmp_path: Path, scale: int) -> None:
    """With Linux' own buffers the scale is that of the largest one."""
    step, *_ = _steps(tmp_path, **{"tcp.window_scale": scale, "path.rtt": "150ms"})
    is_own = scale == 1
    assert ("window scale of 1, for at most 131 kB: its program sets SO_RCVBUF" in step) == is_own
    assert ("tcp_rmem" in step) != is_own


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("window", [120, 260])
def test_a_receive_window_has_the_same_step_on_either_side(
    tmp_path: Path, place: str, window: int
) -> None:
    step, *_ = _steps(tmp_path, place, **{"tcp.receive_window_max": f"{window}kB"})
    assert step.startswith("# against the receive window of the client, under each CCA: ")
    (rate,) = re.findall(r"gives up to ([\d.]+) Mbit/s; (?:Linux, receiver: sysctl|its SYN)", step)
    # Without gaps that show the rate of the link, of twice the window.
    most_mbps = 2 * 8 * window / 75 if "twice the window" in step else 50 * 1448 / 1500
    assert float(rate) == pytest.approx(most_mbps, rel=0.3)
    assert "; Windows, receiver: netsh int tcp set global autotuninglevel=normal" in step


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize(
    "workload",
    [
        {"kind": "frames", "size": "20kB", "interval": "500ms"},
        {"kind": "on-off", "on": "0.3s", "off": "1s"},
        {"kind": "window-paced", "video": "6MB", "burst": "400kB", "period": "2s"},
        {"kind": "request-response", "response": "8kB", "think": "100ms", "gap": "100ms"},
    ],
)
def test_a_transfer_that_waits_for_its_applications_has_none(
    tmp_path: Path, place: str, workload: dict[str, str]
) -> None:
    assert _steps(tmp_path, place, **{"flows.0.workload": workload}) == []


def test_segments_that_wait_for_acks_have_no_other_cca(tmp_path: Path) -> None:
    """Nagle's algorithm and delayed ACKs: TCP_NODELAY is the remedy."""
    workload = {"kind": "request-response", "request": "300B", "response": "900B", "writes": 2}
    changes = {"flows.0.workload": {**workload, "gap": "5ms"}, "flows.0.nodelay": False}
    assert _steps(tmp_path, **changes, **{"path.rtt": "17ms"}) == []


def test_limits_of_a_sender_that_a_receiver_does_not_tell_apart_have_no_other_cca(
    tmp_path: Path,
) -> None:
    (step,) = _steps(tmp_path, "phone", **{"tcp.send_buffer_max": "64kB"})
    assert "a capture at the sender, or ss -ti there (sndbuf_limited, app_limited)" in step
    assert "celltcp" not in step


@pytest.mark.parametrize(
    ("place", "handshake", "text"),
    [
        ("sender", "none", "limit: a capture from its SYN on, with the window scale, or ss -ti at the"),
        ("sender", "whole", "limit: ss -ti at the sender (sndbuf_limited, "),
        (
            "receiver",
            "none",
            "limit: a capture at the sender from its SYN on, with the window scale, or ",
        ),
        ("receiver", "whole", "limit: a capture at the sender, or ss -ti there (sndbuf_limited, "),
    ],
)
def test_limits_of_a_sender_have_the_step_that_tells_them_apart(
    place: str, handshake: str, text: str
) -> None:
    assert text in _which_limit_step({"place": place, "handshake": handshake})


def test_a_send_buffer_has_its_size_and_no_other_cca(tmp_path: Path) -> None:
    (step,) = _steps(tmp_path, **{"tcp.send_buffer_max": "100kB"})
    assert "SO_SNDBUF" in step
    rate = float(step.partition(" which is ")[2].split()[0])
    assert 1 < rate < 25


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(1, 5))
def test_requests_one_after_the_other_are_the_limit_and_no_buffer(
    tmp_path: Path, seed: int, place: str
) -> None:
    draw = random.Random(seed)
    size = draw.choice([16, 32, 64, 128]) * 1024
    waits = {"think": f"{draw.choice([0, 0, 4])}ms", "gap": f"{draw.choice([0, 0, 4])}ms"}
    changes = {
        "path.rtt": f"{draw.choice([15, 30])}ms",
        "tcp.initial_window": 100,
        "tcp.slow_start_after_idle": False,
        "flows.0.workload": {
            "kind": "request-response",
            "request": "48B",
            "response": f"{size}B",
            **waits,
        },
    }
    file = tmp_path / "run.pcap"
    run = ct.run(
        "steady-100-18", "cubic", duration="8s", samples="off", set=changes, pcap=file, pcap_at=place
    )
    analyses = analyse(file)
    row = analyses.connections.iloc[0]
    diagnosis = str(row["diagnosis"])
    is_sure = place == "server"
    assert diagnosis.startswith("one request at a time limits the rate") == is_sure
    assert diagnosis.startswith("one request at a time seems to be the limit") != is_sure
    assert "of 48 B), and are all that is in flight" in diagnosis
    if is_sure:
        assert ("applications " in diagnosis) == (set(waits.values()) != {"0ms"})
    step, *commands = next_steps(analyses)
    assert step.startswith("# larger requests or blocks, or several at a time")
    assert commands[-1].startswith("celltcp sweep path.toml --vary flows.0.workload.response=")
    scenario, _ = write_scenario(estimate_path(analyses, 0), tmp_path / "path.toml")
    flow = tomllib.loads(Path(scenario).read_text())["flows"][0]["workload"]
    assert flow["kind"] == "request-response"
    assert abs(int(flow["response"].removesuffix("B")) / size - 1) < 0.02
    # A simulation of the scenario has as many answers as the capture.
    again = ct.compare(str(scenario), "cubic", 1, set={"tcp.initial_window": 100})
    counts = [each.applications[0].metrics["cubic"]["responses"][0] for each in (again, run)]
    assert counts[0] == pytest.approx(counts[1], rel=0.1)


@pytest.mark.parametrize(
    ("burst", "mbps", "load", "helps"), [("20kB", 10, 0.5, True), ("100kB", 6, 0.8, False)]
)
def test_frames_are_paced_only_where_losses_delay_them_more(
    tmp_path: Path, burst: str, mbps: int, load: float, helps: bool
) -> None:
    """A policer passes a burst at once, for which a paced sender takes its time."""
    size = {"kind": "lognormal", "median": f"{mbps * load * 33 / 8:.1f}kB", "sigma": 0.4}
    changes = {
        "path.policer": {"rate": f"{mbps}Mbit/s", "burst": burst},
        "flows.0.workload": {"kind": "frames", "size": size, "interval": "33ms"},
    }
    steps = " ".join(_steps(tmp_path, **changes))
    assert ("SO_MAX_PACING_RATE" in steps) == helps
    run: dict[str, Any] = {"duration": "10s"}
    paced = {**changes, "flows.0.max_pacing_rate": f"{0.95 * mbps}Mbit/s"}
    delays_ms = [
        ct.compare("steady-20-68", ["cubic"], 2, set={**_PATH, **each}, **run).applications[0].metrics
        for each in (changes, paced)
    ]
    now, then = (sum(each["cubic"]["frame_delay_p95_ms"]) for each in delays_ms)
    assert (then < now) == helps


def test_frames_near_the_rate_of_a_policer_are_not_paced(tmp_path: Path) -> None:
    """Little is left of that rate for what waits behind a few large frames."""
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms"}
    _steps(tmp_path, **{"path.rtt": "60ms", "flows.0.workload": workload})
    analyses = analyse(tmp_path / "transfer.pcap")
    row = analyses.connections.iloc[0].to_dict() | {"policed_mbps": 10.0}
    frames = analyses.units.assign(duration_s=1.0)
    for ratio in (1.4, 1.6):
        text = _pacing_text(row | {"throughput_mbps": 9.5 / ratio}, frames)
        assert ("SO_MAX_PACING_RATE" in text) == (ratio > 1.5)


def test_a_paced_frame_waits_for_those_before_it() -> None:
    """At 8 Mbit/s, 10 kB take 10 ms: those of the second frame come after 5 ms of the first."""
    frames = pd.DataFrame({"start_s": [0.0, 0.005, 0.1], "bytes": [10_000, 10_000, 20_000]})
    assert paced_times_ms(frames, 8.0, 40.0) == pytest.approx([30, 35, 40])


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("burst", ["20kB", "80kB"])
def test_bulk_data_paced_below_a_policer_lose_nothing_for_the_printed_rate(
    tmp_path: Path, burst: str, place: str
) -> None:
    # Beside the phone, a bucket needs 50 drops, which a short RTT brings about.
    changes = {"path.policer": {"rate": "5Mbit/s", "burst": burst}, "path.rtt": "30ms"}
    step = _steps(tmp_path, place, **changes)[-1]
    paced, now = map(float, re.findall(r"at most ([\d.]+) Mbit/s, rather than ([\d.]+)", step)[0])
    policed = ct.run("steady-20-68", "cubic", 1, "10s", set={**_PATH, **changes}).flows.iloc[0]
    # Of a capture, the time begins with the SYN; the tokens left from its start are no rate.
    assert now == pytest.approx(policed["goodput_mbps"], rel=0.03)
    rate = {"flows.0.max_pacing_rate": f"{paced}Mbit/s"}
    flow = ct.run("steady-20-68", "cubic", 1, "10s", set={**_PATH, **changes, **rate}).flows.iloc[0]
    assert flow["retransmissions"] == 0
    assert flow["goodput_mbps"] == pytest.approx(paced, rel=0.03)


@pytest.mark.parametrize("seed", range(2))
def test_lossy_calls_of_few_segments_have_a_lower_time_out_that_makes_the_slowest_faster(
    tmp_path: Path, seed: int
) -> None:
    """An answer of few segments that loses its last ones waits for a time-out under each CCA."""
    draw = random.Random(f"calls {seed}")
    calls = {
        "kind": "request-response",
        "request": "500B",
        "response": f"{draw.choice([5, 10, 20])}kB",
        "think": "10ms",
        "gap": "100ms",
    }
    path = {"path.rtt": f"{draw.choice([30, 60])}ms", "path.down.rate": "20Mbit/s"}
    changes = {**path, "path.loss": 0.03, "flows.0.workload": calls}
    _, sweep = _steps(tmp_path, **changes)
    (value,) = re.findall("--vary tcp.min_rto=200ms,(\\w+) --cca cubic ", sweep)
    assert f"rto_min {value}" in sweep
    slowest_s: dict[str, list[float]] = {"200ms": [], value: []}
    for min_rto, times_s in slowest_s.items():
        for run in range(4):
            one = ct.run(
                *("steady-20-68", "cubic", run, "40s"),
                set={**changes, "tcp.min_rto": min_rto},
                samples="off",
            )
            times_s += one.applications[0].metrics["cubic"]["response_p99_s"]
    assert sum(slowest_s[value]) < 0.9 * sum(slowest_s["200ms"])


def test_a_policer_beside_a_receive_window_is_named_and_no_headline() -> None:
    """Readers ask the causes of a sentence, whatever its words are; its policer has a rate."""
    window = named(Cause.RECEIVE_WINDOW, "the window is full")
    policer = "most likely " + named(Cause.POLICER, "a bucket drops", mbps=2.9)
    row = joined("; beside that, ", (window, "", policer)).columns()
    assert is_headline(row, Cause.FULL_QUEUE, Cause.RECEIVE_WINDOW)
    assert names(row, Cause.POLICER)
    assert not is_headline(row, Cause.POLICER)
    assert row["policed_mbps"] == 2.9
    assert math.isnan(float(row["acks_behind"]))
