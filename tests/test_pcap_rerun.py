"""Simulations of the scenario of a captured path, beside the capture."""

from __future__ import annotations

import math
import random
import re
import statistics
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path, transfer_row
from celltcp.pcap.estimation.rerun import Passage, Rerun, rerun
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED, doubtful_sentences


def _to_scenario(folder: Path, cca: str, place: str, **changes: Any) -> tuple[Path, str]:
    """Returns the scenario of a captured run, and what the command prints."""
    capture, scenario = folder / "x.pcap", folder / "path.toml"
    run: dict[str, Any] = {"duration": "8s", "set": changes, "samples": "off"}
    ct.run("steady-20-68", cca, 1, pcap=capture, pcap_at=place, **run)
    done = CliRunner().invoke(commands, ["pcap", "to-scenario", str(capture), "--out", str(scenario)])
    assert done.exit_code == 0, done.output
    return scenario, done.output


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_that_gives_the_captured_rate_has_no_doubt(
    tmp_path: Path, seed: int, place: str
) -> None:
    draw = random.Random(f"rerun {seed}")
    changes = {"path.rtt": f"{draw.choice([30, 80])}ms", "path.buffer": draw.choice(["1bdp", "2bdp"])}
    _, printed = _to_scenario(tmp_path, "cubic", place, **changes)
    lines = {line.split()[0]: line for line in printed.splitlines()}
    assert "Mbit/s" in lines["capture"]
    # Nothing is lost at random, so that each simulation is the same.
    assert lines["simulated"].endswith("with cubic")
    assert OTHER_THAN_CAPTURED not in printed


@pytest.mark.parametrize("seed", range(4))
def test_losses_of_one_burst_are_one_event_for_the_sender(tmp_path: Path, seed: int) -> None:
    """As single losses, or as those of a buffer of a packet, they would leave a tenth of the rate."""
    draw = random.Random(f"bursts {seed}")
    loss = {"kind": "gilbert-elliott", "to_bad": 0.001, "to_good": draw.choice([0.1, 0.2])}
    changes = {
        "path.down.rate": f"{draw.choice([40, 80])}Mbit/s",
        "path.rtt": f"{draw.choice([8, 30, 60])}ms",
        "path.loss": loss,
    }
    scenario, _ = _to_scenario(tmp_path, "cubic", "server", **changes)
    runs = [
        ct.compare("steady-20-68", ["cubic"], 3, duration="8s", set=changes),
        ct.compare(scenario, ["cubic"], 3),
    ]
    goodputs = [statistics.mean(each.values("cubic", "goodput_mbps")) for each in runs]
    assert 0.5 < goodputs[1] / goodputs[0] < 2


@pytest.mark.parametrize("seed", range(3))
def test_a_capacity_is_not_below_what_passed(tmp_path: Path, seed: int) -> None:
    """A window below the product passes in bursts, whose own queues are not that of a full path."""
    draw = random.Random(f"send buffer {seed}")
    changes = {
        "path.down.rate": "100Mbit/s",
        "path.rtt": f"{draw.uniform(120, 200):.1f}ms",
        "tcp.send_buffer_max": f"{draw.choice([800, 1240])}kB",
        "tcp.receive_buffer_max": "16MiB",
    }
    scenario, printed = _to_scenario(tmp_path, "cubic", "server", **changes)
    path = estimate_path(analyse(tmp_path / "x.pcap"))
    (row,) = analyse(tmp_path / "x.pcap").connections.to_dict("records")
    assert path.mean_mbps >= row["throughput_mbps"]
    assert OTHER_THAN_CAPTURED not in printed
    result = ct.compare(scenario, ["cubic"], 1)
    assert result.values("cubic", "goodput_mbps")[0] == pytest.approx(row["throughput_mbps"], rel=0.2)


def test_pauses_of_an_application_are_no_deadlines(tmp_path: Path) -> None:
    """A player that reads now and then gets its data at the same rate under each CCA."""
    paced = {"kind": "window-paced", "video": "6MB", "burst": "200kB", "period": "1s"}
    scenario, printed = _to_scenario(tmp_path, "cubic", "server", **{"flows.0.workload": paced})
    assert OTHER_THAN_CAPTURED not in printed
    (workload,) = (flow["workload"] for flow in tomllib.loads(scenario.read_text())["flows"])
    assert workload["kind"] == "chunked"
    result = ct.compare(scenario, ["cubic", "bbr"], 1)
    rates = [result.values(cca, "goodput_mbps")[0] for cca in ("cubic", "bbr")]
    assert rates[1] == pytest.approx(rates[0], rel=0.1)


@pytest.mark.parametrize("seed", range(6))
def test_requests_have_their_sizes_waits_and_the_rate_of_an_answer(tmp_path: Path, seed: int) -> None:
    draw = random.Random(f"requests {seed}")
    mbps, rtt_ms = draw.choice([1, 5, 20, 80]), draw.randint(20, 90)
    size, think_ms, gap_ms = draw.randint(3_000, 14_000), draw.randint(0, 40), draw.randint(0, 150)
    requests = {
        "kind": "request-response",
        "request": "300B",
        "response": f"{size}B",
        "think": f"{think_ms}ms",
        "gap": f"{gap_ms}ms",
    }
    path = {
        "path.down": {"rate": f"{mbps}Mbit/s"},
        "path.rtt": f"{rtt_ms}ms",
        "path.buffer": "100packets",
    }
    scenario, printed = _to_scenario(
        tmp_path, "cubic", "server", **path, **{"flows.0.workload": requests}
    )
    assert OTHER_THAN_CAPTURED not in printed
    estimate = estimate_path(analyse(tmp_path / "x.pcap"))
    assert 0.2 * mbps < estimate.mean_mbps < 1.3 * mbps
    (workload,) = (flow["workload"] for flow in tomllib.loads(scenario.read_text())["flows"])
    # The capture may end within an answer.
    assert int(workload["response"].removesuffix("B")) == pytest.approx(size, rel=0.02)
    assert workload["request"] == "300B"
    passing_ms = 8e-3 * size / mbps
    waited_ms = sum(float(workload[name].removesuffix("ms")) for name in ("think", "gap"))
    assert waited_ms == pytest.approx(think_ms + gap_ms, rel=0.06, abs=5 + passing_ms)


def test_answers_of_a_segment_show_no_rate(tmp_path: Path) -> None:
    requests = {"kind": "request-response", "response": "1.4kB", "think": "9ms", "gap": "1ms"}
    changes = {"flows.0.workload": requests, "path.rtt": "20ms"}
    _, printed = _to_scenario(tmp_path, "cubic", "server", **changes)
    assert "answers of 1.4 kB are single segments, which show no rate" in printed
    sentence = analyse(tmp_path / "x.pcap").connections["diagnosis"].iloc[0]
    assert sentence.startswith("one request at a time limits the rate: each 1.4 kB")


def test_an_estimate_that_looks_like_a_demand_is_a_capacity(tmp_path: Path) -> None:
    """A log in which nothing passes for most of the time would be that of an application."""
    _to_scenario(tmp_path, "cubic", "server")
    rows = "".join(f"{0.1 * row:.1f},{20 if row % 30 < 8 else 0}\n" for row in range(80))
    (tmp_path / "path.csv").write_text(f"time_s,rate_mbps\n{rows}")
    command = ["compare", str(tmp_path / "path.toml"), "--cca", "cubic", "--runs", "1"]
    done = CliRunner().invoke(commands, command)
    assert done.exit_code == 0
    assert "looks like a demand" not in done.output
    log = CliRunner().invoke(commands, ["compare", str(tmp_path / "path.csv"), *command[2:]]).output
    assert "looks like a demand" in log


def test_overtaken_segments_count_once_at_either_side(tmp_path: Path) -> None:
    """The path of a capture has no jitter: its scenario says which share was overtaken."""
    jitter = {"distribution": "normal", "mean": "10ms", "sd": "5ms", "reorder": True}
    shares = {}
    for place in ("server", "phone"):
        (tmp_path / place).mkdir()
        _, printed = _to_scenario(tmp_path / place, "cubic", place, **{"path.jitter": jitter})
        shares[place] = float(printed.partition("reordering of ")[2].split()[0])
    assert 50 < shares["server"] <= 100
    assert shares["phone"] == pytest.approx(shares["server"], rel=0.1)


def test_a_path_with_another_rate_warns_in_each_comparison(tmp_path: Path) -> None:
    _to_scenario(tmp_path, "cubic", "server")
    other = Rerun("cubic", True, Passage(20.0, 80.0, 0.0), (Passage(2.0, 80.0, 0.0),))
    path = replace(estimate_path(analyse(tmp_path / "x.pcap")), rerun=other)
    scenario, _ = write_scenario(path, tmp_path / "other.toml")
    result = ct.compare(scenario, ["cubic"], 1)
    assert any(OTHER_THAN_CAPTURED in text for text in result.warnings)
    # Another capacity is another path.
    result = ct.compare(scenario, ["cubic"], 1, set={"path.down": "10Mbit/s"})
    assert not any(OTHER_THAN_CAPTURED in text for text in result.warnings)


def test_a_path_on_which_nothing_arrives_differs_from_the_capture(tmp_path: Path) -> None:
    scenario, _ = _to_scenario(tmp_path, "cubic", "server")
    analyses = analyse(tmp_path / "x.pcap")
    text = re.sub(r"(?m)^loss = \S+", "loss = 1.0", scenario.read_text())
    scenario.write_text(text)
    again = rerun(scenario, 8.0, 20.0, analyses, transfer_row(analyses))
    assert again.simulated.goodput_mbps == 0
    assert "it gives 0 Mbit/s" in again.sentence


@pytest.mark.parametrize(
    ("simulated", "differs"),
    [
        (Passage(10.0, 50.0, 0.001), False),
        (Passage(9.0, 55.0, 0.009), False),
        (Passage(7.0, 50.0, 0.001), True),
        (Passage(10.0, 80.0, 0.001), True),
        (Passage(10.0, 50.0, 0.05), True),
        (Passage(10.0, math.nan, 0.001), False),
    ],
)
def test_goodput_rtt_and_losses_are_compared(simulated: Passage, differs: bool) -> None:
    again = Rerun("cubic", False, Passage(10.0, 50.0, 0.001), (simulated,))
    assert again.differs == differs
    assert (OTHER_THAN_CAPTURED in again.sentence) == differs


@pytest.mark.parametrize("is_known", [True, False])
def test_a_difference_may_be_that_of_a_cca_which_the_capture_does_not_show(is_known: bool) -> None:
    again = Rerun("cubic", is_known, Passage(10.0, 50.0, 0.0), (Passage(2.0, 50.0, 0.0),))
    assert ("unless the captured sender had another CCA" in again.sentence) != is_known
    assert len(doubtful_sentences({"path": {"down": {}}, "description": again.sentence})) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_draws_of_random_losses_are_no_difference(tmp_path: Path, seed: int) -> None:
    """A capture of some ten random losses has up to twice the goodput of another one."""
    capture, scenario = tmp_path / "x.pcap", tmp_path / "path.toml"
    changes = {"path.loss": 0.001, "path.buffer": "1000packets"}
    ct.run("steady-20-68", "cubic", seed + 1, pcap=capture, duration="20s", set=changes, samples="off")
    done = CliRunner().invoke(commands, ["pcap", "to-scenario", str(capture), "--out", str(scenario)])
    assert done.exit_code == 0, done.output
    assert OTHER_THAN_CAPTURED not in done.output


def test_a_stream_on_a_fast_link_is_compared_in_all_of_its_time(tmp_path: Path) -> None:
    """It sends 5 Mbit/s, however fast the link: five runs of 8 s are 0.2 Gbit, of the link 16."""
    size = {"kind": "lognormal", "median": "18kB", "sigma": 0.4}
    stream = {"kind": "frames", "size": size, "interval": "33ms"}
    changes = {"path.down.rate": "400Mbit/s", "flows.0.workload": stream}
    _, printed = _to_scenario(tmp_path, "cubic", "server", **changes)
    (simulated,) = (line for line in printed.splitlines() if line.startswith("simulated"))
    assert "mean of 5 runs" in simulated
    assert " in the first " not in simulated


def test_cubic_under_losses_on_a_fast_link_is_compared_in_all_of_its_time(tmp_path: Path) -> None:
    """Losses of 0.1 % hold it at some Mbit/s (RFC 8312, section 5.1), however fast the link."""
    changes = {"path.down.rate": "400Mbit/s", "path.loss": "0.1%"}
    _, printed = _to_scenario(tmp_path, "cubic", "server", **changes)
    (simulated,) = (line for line in printed.splitlines() if line.startswith("simulated"))
    assert " in the first " not in simulated
    assert "with cubic" in simulated


def test_a_capture_beyond_all_draws_is_a_difference() -> None:
    runs = (Passage(5.0, 70.0, 0.001), Passage(9.0, 70.0, 0.001))
    assert not Rerun("cubic", True, Passage(11.0, 75.0, 0.001), runs).differs
    assert not Rerun("cubic", True, Passage(4.1, 75.0, 0.001), runs).differs
    assert Rerun("cubic", True, Passage(12.0, 75.0, 0.001), runs).differs
    assert Rerun("cubic", True, Passage(3.9, 75.0, 0.001), runs).differs


def test_frames_that_run_together_do_not_explain_a_stream_whose_frames_have_times() -> None:
    """Without a clock of the sender in most runs, their delays are unknown, not alike."""
    stream = Passage(5.0, 70.0, 0.001, frame_p95_ms=200.0)
    together, alike = stream._replace(frame_p95_ms=math.nan), stream._replace(frame_p95_ms=190.0)
    assert Rerun("bbr", False, stream, (together, together, alike)).differs
    assert not Rerun("cubic", False, stream, (together, alike, alike)).differs
    assert Rerun("cubic", False, stream._replace(frame_p95_ms=300.0), (together, alike, alike)).differs


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
def test_a_capture_of_bbr_is_explained_by_bbr(tmp_path: Path, seed: int, place: str) -> None:
    """The path is right, but CUBIC has a longer queue on it; neither loses much."""
    draw = random.Random(f"bbr {seed}")
    mbps, buffer = draw.choice([5, 10]), draw.choice(["3bdp", "4bdp"])
    changes = {"path.rtt": "20ms", "path.down.rate": f"{mbps}Mbit/s", "path.buffer": buffer}
    _, printed = _to_scenario(tmp_path, "bbr", place, **changes)
    (capacity,) = re.findall(r"capacity +([\d.]+) Mbit/s", printed)
    assert float(capacity) == pytest.approx(mbps, rel=0.05)
    lines = {line.split()[0]: line for line in printed.splitlines()}
    assert lines["simulated"].endswith("with bbr, one that may be: cubic differs, and no CCA shows")
    assert OTHER_THAN_CAPTURED not in printed


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
def test_a_link_that_varies_does_so_at_its_times_in_each_run(
    tmp_path: Path, seed: int, place: str
) -> None:
    """Runs that begin at other places of a trace overflow other queues in slow start."""
    run: dict[str, Any] = {"duration": "20s", "samples": "off"}
    capture = tmp_path / "x.pcap"
    captured = ct.run("highway/drive", "cubic", seed, pcap=capture, pcap_at=place, **run)
    scenario, _ = write_scenario(estimate_path(analyse(capture)), tmp_path / "path.toml")
    again = ct.compare(scenario, ["cubic"], 3)
    (flow,) = captured.flows.to_dict("records")
    for name, error in (("goodput_mbps", 0.05), ("rtt_mean_ms", 0.1), ("rtt_p95_ms", 0.1)):
        assert again.values("cubic", name) == pytest.approx([flow[name]] * 3, rel=error)
