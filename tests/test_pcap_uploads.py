"""Scenarios of captured uploads: the phone opens the connection and sends, on the uplink."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.next_steps import next_steps
from celltcp.scenarios.lower_bounds import CAPACITY_BY_GAPS, OTHER_THAN_CAPTURED

_UPLOAD = {"flows.0.from": "phone", "flows.0.to": "server", "flows.0.opens": "from"}
_WORKLOADS: list[dict[str, Any]] = [
    {"kind": "bulk"},
    {"kind": "bulk", "bytes": "4MB"},
    {"kind": "frames", "size": "20kB", "interval": "40ms"},
    {"kind": "on-off", "on": "2s", "off": "3s", "jitter": 0},
    {"kind": "on-off", "on": "500ms", "off": "1500ms", "jitter": 0},
]


def _to_scenario(folder: Path, place: str, **changes: Any) -> tuple[dict[str, Any], str]:
    """Returns the scenario of a captured upload, and what the command prints."""
    capture, scenario = folder / "x.pcap", folder / "path.toml"
    run: dict[str, Any] = {"duration": "12s", "set": _UPLOAD | changes, "samples": "off"}
    ct.run("steady-20-68", "cubic", 1, pcap=capture, pcap_at=place, **run)
    done = CliRunner().invoke(commands, ["pcap", "to-scenario", str(capture), "--out", str(scenario)])
    assert done.exit_code == 0, done.output
    return tomllib.loads(scenario.read_text()), done.output


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(len(_WORKLOADS)))
def test_an_upload_is_one_in_its_scenario_whatever_its_application(
    tmp_path: Path, seed: int, place: str
) -> None:
    draw = random.Random(f"uploads {seed}")
    workload = _WORKLOADS[seed]
    mbps, rtt_ms = draw.choice([5, 12, 20]), draw.choice([30, 60, 110])
    path = {"path.rtt": f"{rtt_ms}ms", "path.up.rate": f"{mbps}Mbit/s", "path.uplink_buffer": "150kB"}
    written, printed = _to_scenario(tmp_path, place, **path, **{"flows.0.workload": workload})
    (flow,) = written["flows"]
    assert (flow["from"], flow["to"], flow["opens"]) == ("phone", "server", "from")
    # What pauses often is written as pieces, as of a download.
    kind = "chunked" if workload.get("on") == "500ms" else workload["kind"]
    assert flow.get("workload", {"kind": "bulk"})["kind"] == kind
    assert written["path"]["up"]["trace"] == "path.csv"
    assert not {"down", "buffer", "loss"} & written["path"].keys()
    assert OTHER_THAN_CAPTURED not in printed
    # Far below its capacity, an upload shows a bound of it alone.
    if workload == {"kind": "bulk"}:
        estimate = estimate_path(analyse(tmp_path / "x.pcap"))
        assert estimate.mean_mbps == pytest.approx(mbps, rel=0.06)
        assert estimate.rtt_ms == pytest.approx(rtt_ms, rel=0.03)


@pytest.mark.parametrize("place", ["server", "phone"])
def test_the_random_losses_of_an_upload_are_on_the_uplink(tmp_path: Path, place: str) -> None:
    written, _ = _to_scenario(tmp_path, place, **{"path.uplink_loss": 0.01, "path.up.rate": "50Mbit/s"})
    assert written["path"]["uplink_loss"] == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize("seed", range(2))
def test_a_policer_of_an_upload_drops_what_the_phone_sends(tmp_path: Path, seed: int) -> None:
    """Policers of the path are towards the phone: that of an upload is on a link before it."""
    mbps = [4, 9][seed]
    scenario = tmp_path / "policed.toml"
    scenario.write_text(
        'duration = "20s"\n[path]\nrtt = "60ms"\nup.rate = "50Mbit/s"\n'
        '[[links]]\nname = "modem"\nfrom = "host"\nto = "phone"\n'
        f'policer = {{ rate = "{mbps}Mbit/s", burst = "100kB" }}\n'
        '[[flows]]\nfrom = "host"\nto = "server"\nopens = "from"\n'
    )
    ct.run(scenario, "cubic", 1, pcap=tmp_path / "x.pcap", pcap_at="host", samples="off")
    command = ["pcap", "to-scenario", str(tmp_path / "x.pcap"), "--out", str(tmp_path / "path.toml")]
    done = CliRunner().invoke(commands, command)
    assert done.exit_code == 0, done.output
    assert OTHER_THAN_CAPTURED not in done.output
    written = tomllib.loads((tmp_path / "path.toml").read_text())
    (link,) = written["links"]
    assert float(link["policer"]["rate"].removesuffix("Mbit/s")) == pytest.approx(mbps, rel=0.1)
    assert "policer" not in written["path"]
    (flow,) = written["flows"]
    assert (flow["from"], link["to"]) == (link["from"], "phone")
    # As in the capture, the policer is what limits the rate.
    (rate,) = re.findall(r"simulated +([\d.]+) Mbit/s", done.output)
    assert float(rate) == pytest.approx(mbps * 1448 / 1500, rel=0.15)


def test_the_window_of_the_server_limits_an_upload_in_its_scenario(tmp_path: Path) -> None:
    """The phone has no window that matters, and the server no program that sends."""
    changes = {"path.rtt": "120ms", "path.up.rate": "20Mbit/s", "tcp.receive_window_max": "64kB"}
    _to_scenario(tmp_path, "server", **changes)
    compared = ["compare", str(tmp_path / "path.toml"), "--cca", "cubic,bbr", "--runs", "1"]
    done = CliRunner().invoke(commands, [*compared, "--out", str(tmp_path / "o")])
    assert done.exit_code == 0, done.output
    explained = CliRunner().invoke(commands, ["explain", str(tmp_path / "o")]).output
    assert "receiver (server)" in explained
    assert "receiver (phone)" not in explained


@pytest.mark.parametrize(("mbps", "rtt_ms"), [(20, 120), (8, 200)])
def test_the_step_against_a_window_has_the_one_that_fills_the_path(
    tmp_path: Path, mbps: int, rtt_ms: int
) -> None:
    """A bandwidth-delay product: the gaps of the first bursts show the rate, which no window filled."""
    changes = {"path.rtt": f"{rtt_ms}ms", "path.up.rate": f"{mbps}Mbit/s"}
    _to_scenario(tmp_path, "server", **changes, **{"tcp.receive_window_max": "64kB"})
    window, compared = f"{mbps * rtt_ms // 8} kB", "celltcp compare path.toml --cca cubic --set "
    first, scenario, last = next_steps(analyse(tmp_path / "x.pcap"))
    assert f"a window of {window}, which fills the path, gives up to " in first
    assert float(re.findall(r"up to ([\d.]+) Mbit/s", first)[0]) == pytest.approx(
        mbps * 1448 / 1500, rel=0.02
    )
    assert scenario.startswith("celltcp pcap to-scenario")
    (size,) = re.findall(r"tcp.receive_window_max=(\d+)kB", last)
    assert last.startswith(compared)
    assert int(size) == pytest.approx(mbps * rtt_ms / 8, rel=0.01)
    # Who compares CCAs there learns that no load has shown this rate; one that is given has no doubt.
    warnings = [
        ct.compare(tmp_path / "path.toml", ["cubic"], 1, set=rate).warnings
        for rate in ({}, {"path.up": f"{mbps}Mbit/s"})
    ]
    assert [any(CAPACITY_BY_GAPS[1:] in text for text in each) for each in warnings] == [True, False]


def test_windows_of_the_default_receive_buffer_need_no_larger_one(tmp_path: Path) -> None:
    """Of 6 MiB, Linux offers about two thirds: a buffer of more is a setting that changes nothing."""
    path = {"path.rtt": "100ms", "path.up.rate": "60Mbit/s", "path.uplink_buffer": "5MB"}
    written, _ = _to_scenario(tmp_path, "phone", **path)
    assert written["tcp"]["receive_buffer_max"] == f"{6 * 2**20}B"
    rows = analyse(tmp_path / "x.pcap").connections
    # Three times the window, for packets of any size, would be more.
    assert rows["window_max"].max() > 2 * 2**20


@pytest.mark.parametrize(("mbps", "direction"), [(3, "up"), (4, "down")])
def test_the_link_limits_a_transfer_that_loses_in_its_full_queue_once(
    mbps: int, direction: str, tmp_path: Path
) -> None:
    """One overshoot of a deep buffer costs nothing: data pass at the rate of the link all the time."""
    place, ways = ("server", _UPLOAD) if direction == "up" else ("phone", {})
    changes: dict[str, Any] = {
        **ways,
        "path.up": {"rate": f"{mbps}Mbit/s"} if direction == "up" else {"rate": "20Mbit/s"},
        "path.down": {"rate": f"{mbps}Mbit/s"} if direction == "down" else {"rate": "20Mbit/s"},
        "path.buffer": "600packets",
        "path.uplink_buffer": "600packets",
        "flows.0.workload": {"kind": "bulk", "bytes": "8MB"},
    }
    file = tmp_path / "run.pcap"
    ct.run(
        "steady-20-68", "cubic", duration="30s", samples="off", set=changes, pcap=file, pcap_at=place
    )
    sentence = str(analyse(file).connections["diagnosis"][0])
    noun = "upload" if direction == "up" else "download"
    found = re.search(
        rf"the link limits the rate: the {noun} takes (\S+) of its (\S+) Mbit/s", sentence
    )
    assert found, sentence
    # Headers take 52 bytes of each packet of 1500.
    assert float(found[2]) == pytest.approx(mbps * 1_448 / 1_500, rel=0.02)
