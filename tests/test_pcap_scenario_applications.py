"""Applications in scenarios of captures: messages, requests, pauses, and the check of them."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp._core import in_unit
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.estimation.rerun import Passage, Rerun
from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED


def _to_scenario(
    folder: Path, place: str, seconds: int, **changes: Any
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Returns path and workload of the scenario of a captured run, and what the command prints."""
    capture, scenario = folder / "x.pcap", folder / "path.toml"
    run: dict[str, Any] = {"duration": f"{seconds}s", "set": changes, "samples": "off"}
    ct.run("steady-20-68", "cubic", 1, pcap=capture, pcap_at=place, **run)
    done = CliRunner().invoke(commands, ["pcap", "to-scenario", str(capture), "--out", str(scenario)])
    assert done.exit_code == 0, done.output
    written = tomllib.loads(scenario.read_text())
    return written["path"], written["flows"][0]["workload"], done.output


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(4))
def test_messages_at_regular_times_are_frames(tmp_path: Path, seed: int, place: str) -> None:
    """Commands of a game, and pictures: bulk data would fill the path."""
    draw = random.Random(f"frames {seed}")
    size, interval_ms = [(draw.randint(20, 120), 125), (draw.choice([2000, 5000]), 20)][seed % 2]
    frames = {"kind": "frames", "size": f"{size}B", "interval": f"{interval_ms}ms"}
    _, workload, printed = _to_scenario(
        tmp_path, place, 20, **{"path.rtt": "60ms", "flows.0.workload": frames}
    )
    assert workload["kind"] == "frames"
    assert float(workload["size"].removesuffix("B")) == pytest.approx(size, rel=0.05)
    assert float(workload["interval"].removesuffix("ms")) == pytest.approx(interval_ms, rel=0.05)
    # Intervals are uniform within a tenth by default.
    assert workload["jitter"] == pytest.approx(0.1, abs=0.05)
    assert OTHER_THAN_CAPTURED not in printed


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
def test_losses_of_commands_of_a_game_are_random(tmp_path: Path, seed: int, place: str) -> None:
    frames = {"kind": "frames", "size": f"{40 + seed}B", "interval": "250ms"}
    changes = {"path.rtt": "100ms", "path.loss": "3%", "flows.0.workload": frames}
    path, _, printed = _to_scenario(tmp_path, place, 60, **changes)
    assert 0.01 < path["loss"] < 0.06
    # A message is sent in two per cent of the RTT, which is all that is known of the capacity.
    (rtt_ms,) = re.findall(r"simulated .* mean RTT ([\d.]+) ms", printed) or [100.0]
    assert float(rtt_ms) == pytest.approx(100, rel=0.1)


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
def test_requests_with_short_waits_are_no_bulk_transfer(tmp_path: Path, seed: int, place: str) -> None:
    """Most of the time, their answers pass."""
    draw = random.Random(f"requests {seed}")
    requests = {
        "kind": "request-response",
        "request": "400B",
        "response": f"{draw.choice([100, 200])}kB",
        "think": f"{draw.choice([10, 20])}ms",
        "gap": "90ms",
        "jitter": 0,
    }
    changes = {"path.rtt": "40ms", "path.down.rate": "5Mbit/s", "flows.0.workload": requests}
    _, workload, printed = _to_scenario(tmp_path, place, 20, **changes)
    assert workload["kind"] == "request-response"
    assert "mean response" in printed
    assert OTHER_THAN_CAPTURED not in printed


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_a_server_thinks_as_long_as_captured_wherever_the_capture_is(
    tmp_path: Path, seed: int, place: str
) -> None:
    """Beside the client, its time shows as that beyond the lowest RTT, as of a longer path."""
    draw = random.Random(f"think {seed}")
    think_ms, gap_ms = draw.choice([8, 15, 30]), draw.choice([100, 150])
    requests = {
        "kind": "request-response",
        "request": "500B",
        "response": "10kB",
        "think": f"{think_ms}ms",
        "gap": f"{gap_ms}ms",
    }
    changes = {"path.rtt": "60ms", "flows.0.workload": requests}
    _, workload, printed = _to_scenario(tmp_path, place, 20, **changes)
    assert in_unit(workload["think"], "ms") == pytest.approx(think_ms, abs=2)
    captured_ms, simulated_ms = map(float, re.findall(r"mean response ([\d.]+) ms", printed))
    assert simulated_ms == pytest.approx(captured_ms, rel=0.15)


@pytest.mark.parametrize("place", ["server", "phone"])
def test_an_application_that_is_idle_now_and_then_is_no_bulk_transfer(
    tmp_path: Path, place: str
) -> None:
    idle = {"kind": "on-off", "on": "5s", "off": "6s", "jitter": 0}
    _, workload, printed = _to_scenario(tmp_path, place, 25, **{"flows.0.workload": idle})
    assert workload["kind"] == "on-off"
    assert float(workload["on"].removesuffix("s")) == pytest.approx(5, rel=0.2)
    assert float(workload["off"].removesuffix("s")) == pytest.approx(6, rel=0.2)
    assert OTHER_THAN_CAPTURED not in printed


def test_the_check_has_the_rate_of_the_analysis(tmp_path: Path) -> None:
    _, _, printed = _to_scenario(
        tmp_path, "server", 12, **{"flows.0.workload": {"kind": "on-off", "on": "2s", "off": "2s"}}
    )
    (rate,) = re.findall(r"capture +([\d.]+) Mbit/s", printed)
    row = analyse(tmp_path / "x.pcap").connections.iloc[0]
    assert float(rate) == pytest.approx(8e-6 * row["bytes_down"] / row["duration_s"], rel=0.02)


@pytest.mark.parametrize(("response_ms", "differs"), [(100.0, False), (160.0, True)])
def test_a_time_of_requests_can_differ_where_waits_hide_it_from_the_goodput(
    response_ms: float, differs: bool
) -> None:
    captured, simulated = Passage(1.0, 50.0, 0.0, 100.0), Passage(1.0, 50.0, 0.0, response_ms)
    assert Rerun("cubic", True, captured, (simulated,)).differs == differs


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("sigma", [0.25, 0.5])
def test_frames_whose_sizes_differ_have_their_distribution(
    tmp_path: Path, sigma: float, place: str
) -> None:
    size = {"kind": "lognormal", "median": "20kB", "sigma": sigma}
    frames = {"kind": "frames", "size": size, "interval": "40ms"}
    _, workload, printed = _to_scenario(
        tmp_path, place, 30, **{"path.rtt": "40ms", "flows.0.workload": frames}
    )
    assert workload["size"]["kind"] == "lognormal"
    assert workload["size"]["sigma"] == pytest.approx(sigma, rel=0.15)
    assert int(workload["size"]["median"].removesuffix("B")) == pytest.approx(20_000, rel=0.1)
    assert OTHER_THAN_CAPTURED not in printed


@pytest.mark.parametrize("seed", range(2))
def test_the_largest_frames_overrun_a_policer_as_in_the_capture(tmp_path: Path, seed: int) -> None:
    """On average the frames are below its rate, so that equal ones would lose nothing."""
    sigma, mbps = [(0.4, 6), (0.6, 7)][seed]
    size = {"kind": "lognormal", "median": "20kB", "sigma": sigma}
    changes = {
        "path.rtt": "60ms",
        "path.policer": {"rate": f"{mbps}Mbit/s", "burst": "100kB"},
        "flows.0.workload": {"kind": "frames", "size": size, "interval": "33ms"},
        "path.down.rate": "50Mbit/s",
    }
    _, _, printed = _to_scenario(tmp_path, "server", 40, **changes)
    captured, simulated = (float(lost) for lost in re.findall(r"([\d.e-]+) % lost", printed)[:2])
    assert captured > 0.2
    assert 1 / 3 < simulated / captured < 3


@pytest.mark.parametrize(("is_policed", "differs"), [(True, True), (False, False)])
def test_few_losses_of_a_policer_are_those_of_bursts(is_policed: bool, differs: bool) -> None:
    passages = Passage(5.0, 60.0, 0.0051), (Passage(5.0, 60.0, 0.0008),)
    assert Rerun("cubic", True, *passages, is_policed=is_policed).differs == differs


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("uploads", [False, True])
def test_a_piece_now_and_then_is_no_bulk_transfer(tmp_path: Path, place: str, uploads: bool) -> None:
    """1 MB takes 0.8 s at 10 Mbit/s, which leaves 3.2 s of 4 s."""
    changes: dict[str, Any] = {
        "path.down.rate": "10Mbit/s",
        "path.up.rate": "10Mbit/s",
        "flows.0.workload": {"kind": "chunked", "piece": "1MB", "period": "4s"},
    }
    if uploads:
        changes |= {"flows.0.from": "phone", "flows.0.to": "server", "flows.0.opens": "from"}
    _, workload, _ = _to_scenario(tmp_path, place, 40, **changes)
    size = workload.get("response") or workload["piece"]
    assert int(size.removesuffix("B")) == pytest.approx(1e6, rel=0.05)
    wait_s = float(workload["gap"].removesuffix("s")) if "gap" in workload else 3.2
    assert wait_s == pytest.approx(3.2, rel=0.2)
    assert float(workload.get("period", "4s").removesuffix("s")) == pytest.approx(4, rel=0.05)


def test_pieces_at_regular_times_keep_their_period_where_the_link_varies(tmp_path: Path) -> None:
    """A sender that is slower leaves shorter waits, not later pieces."""
    steps = [{"at": f"{8 * step}s", "rate": f"{[20, 5][step % 2]}Mbit/s"} for step in range(6)]
    pieces = {"kind": "chunked", "piece": "1500kB", "period": "4s", "jitter": 0}
    changes: dict[str, Any] = {"path.down": {"steps": steps}, "flows.0.workload": pieces}
    _, workload, _ = _to_scenario(tmp_path, "server", 48, **changes)
    assert workload["kind"] == "chunked"
    assert float(workload["period"].removesuffix("s")) == pytest.approx(4, rel=0.02)
    assert int(workload["piece"].removesuffix("B")) == pytest.approx(1_500_000, rel=0.09)


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_key_frames_beside_a_stream_keep_its_bytes_also_where_a_policer_delays_them(
    tmp_path: Path, seed: int, place: str
) -> None:
    """Frames that wait for repairs come as one, with an unknown number of usual ones."""
    draw = random.Random(f"key frames {seed}")
    usual_kb, key_kb = draw.choice([10, 20]), draw.choice([60, 100])
    mbps = 8e-3 * (usual_kb / 0.033 + key_kb)
    frames = {
        "kind": "frames",
        "size": f"{usual_kb}kB",
        "interval": "33ms",
        "beside": [{"size": f"{key_kb}kB", "interval": "1s"}],
    }
    # Headers are four per cent, and the bucket refills in the second to the next key frame.
    policer = {"rate": f"{1.08 * mbps:.2f}Mbit/s", "burst": f"{key_kb}kB"}
    changes = {"path.rtt": "50ms", "path.policer": policer, "flows.0.workload": frames}
    _, workload, printed = _to_scenario(tmp_path, place, 30, **changes)
    (large,) = workload["beside"]
    sizes = [float(each["size"].removesuffix("B")) / 1e3 for each in (workload, large)]
    assert sizes == [pytest.approx(usual_kb, rel=0.05), pytest.approx(key_kb, rel=0.1)]
    intervals_s = [float(each["interval"].removesuffix("ms")) / 1e3 for each in (workload, large)]
    made_mbps = sum(8e-3 * size / time for size, time in zip(sizes, intervals_s, strict=True))
    assert made_mbps == pytest.approx(mbps, rel=0.015)
    assert "95 % of frames in" in printed


@pytest.mark.parametrize(("p95_ms", "differs"), [(120.0, False), (60.0, True)])
def test_delays_of_frames_can_differ_where_the_goodput_is_theirs(p95_ms: float, differs: bool) -> None:
    captured = Passage(5.0, 60.0, 0.0, frame_p95_ms=100.0)
    assert Rerun("cubic", True, captured, (captured._replace(frame_p95_ms=p95_ms),)).differs == differs


def test_frames_behind_an_outage_have_the_size_and_number_that_were_written(tmp_path: Path) -> None:
    """Frames that an application writes in an outage are sent as one message."""
    frames = {"kind": "frames", "size": "600B", "interval": "33.333ms"}
    outages = [{"at": f"{at}s", "duration": "800ms"} for at in (5, 12, 19, 26)]
    changes = {"path.rtt": "50ms", "path.blackouts": outages, "flows.0.workload": frames}
    _, workload, printed = _to_scenario(tmp_path, "server", 30, **changes)
    written = (tmp_path / "path.toml").read_text()
    assert in_unit(workload["size"], "B") == pytest.approx(600, rel=0.01)
    assert in_unit(workload["interval"], "s") == pytest.approx(1 / 30, rel=0.01)
    (number,) = map(int, re.findall(r"# (\d+) messages", written))
    assert number == pytest.approx(30 * 30, abs=2)
    captured, simulated = map(float, re.findall(r"(?:capture|simulated) +([\d.]+) Mbit/s", printed))
    assert simulated == pytest.approx(captured, rel=0.02)


@pytest.mark.parametrize(
    ("workload", "deadline"),
    [
        ({"kind": "frames", "size": "6kB", "interval": "33ms"}, "120ms"),
        ({"kind": "request-response", "request": "400B", "response": "9kB", "gap": "50ms"}, "80ms"),
        ({"kind": "bulk"}, None),
    ],
)
def test_scenarios_of_frames_and_responses_have_the_deadline_that_was_given(
    tmp_path: Path, workload: dict[str, Any], deadline: str | None
) -> None:
    """A capture shows none; a bulk transfer has none."""
    capture, scenario = tmp_path / "x.pcap", tmp_path / "path.toml"
    run: dict[str, Any] = {"set": {"flows.0.workload": workload}, "samples": "off"}
    ct.run("steady-20-68", "cubic", 1, "8s", pcap=capture, **run)
    given = ["--deadline", deadline or "1s"]
    analysed = CliRunner().invoke(commands, ["pcap", "analyze", str(capture), *given])
    # What analyze proposes for the path keeps the deadline.
    proposed = [line for line in analysed.output.splitlines() if "to-scenario" in line]
    assert all((" ".join(given) in line) == (deadline is not None) for line in proposed)
    command = ["pcap", "to-scenario", str(capture), "--out", str(scenario), *given]
    done = CliRunner().invoke(commands, command)
    assert done.exit_code == 0, done.output
    written = tomllib.loads(scenario.read_text()).get("flows", [{}])[0].get("workload", {})
    assert written.get("deadline") == deadline
    assert ("neither frames nor responses" in done.output) == (deadline is None)
    assert "150ms" not in scenario.read_text()


def test_scenarios_of_frames_say_which_deadline_they_have_where_none_was_given(tmp_path: Path) -> None:
    """That of ITU-T G.114, by which CCAs rank."""
    frames = {"kind": "frames", "size": "6kB", "interval": "33ms"}
    _, workload, _ = _to_scenario(tmp_path, "server", 6, **{"flows.0.workload": frames})
    assert "deadline" not in workload
    assert "150ms by default" in (tmp_path / "path.toml").read_text()
