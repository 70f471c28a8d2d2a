"""Captures with a transfer and a small connection beside it: order, columns that agree, and waits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.analysis import CaptureAnalyses
from celltcp.pcap.report import captures_part
from celltcp.pcap.transfers import main_transfer


def _captured(file: Path, seed: int) -> CaptureAnalyses:
    """Returns the analysis of a download and a few frames, which queue behind its data for seconds."""
    draw = random.Random(f"beside {seed}")
    frames = {"kind": "frames", "size": "40B", "interval": f"{draw.uniform(7, 9):.1f}s"}
    changes = {
        "path.down.rate": f"{draw.uniform(3, 5):.1f}Mbit/s",
        "path.rtt": f"{draw.choice([30, 60, 90])}ms",
        "path.buffer": "3000packets",
        "tcp.send_buffer_max": "16MB",
        "tcp.receive_buffer_max": "16MB",
        "flows": [{"name": "control", "workload": frames}, {"name": "bulk"}],
    }
    ct.run(
        "steady-20-68",
        "cubic",
        seed,
        "40s",
        set=changes,
        samples="off",
        pcap=file,
        pcap_at="server",
    )
    return analyse(file)


@pytest.mark.parametrize("seed", range(3))
def test_a_connection_behind_the_queue_of_another_waits_for_no_path_or_host(
    seed: int, tmp_path: Path
) -> None:
    analyses = _captured(tmp_path / "x.pcap", seed)
    main, control = analyses.main_first().to_dict("records")
    assert main["bytes_down"] > 1000 * control["bytes_down"]
    assert control["harm_s"] > main["harm_s"]
    assert (
        f"in the queue that connection {main['connection']} fills (RTTs of up to "
        in (control["diagnosis"])
    )
    for wrong in ("stood still", "outage", "the host is gone", "e+0"):
        assert wrong not in control["diagnosis"]


def test_columns_of_a_transfer_agree_and_it_comes_first(tmp_path: Path) -> None:
    analyses = _captured(tmp_path / "x.pcap", 1)
    done = CliRunner().invoke(commands, ["pcap", "analyze", str(tmp_path / "x.pcap")])
    heading, first = done.stdout.splitlines()[1:3]
    cells = dict(zip(("connection", "server", "MB", "s", "Mbit/s"), first.split(), strict=False))
    assert heading.split()[:5] == list(cells)
    (number,) = analyses.main_first()["connection"].head(1)
    assert cells["connection"] == str(number)
    rate = 8 * float(cells["MB"]) / float(cells["s"])
    assert float(cells["Mbit/s"]) == pytest.approx(rate, rel=5e-3)


def test_spurious_retransmissions_are_no_losses_in_a_report(tmp_path: Path) -> None:
    analyses = _captured(tmp_path / "x.pcap", 0)
    kinds = analyses.losses["kind"].astype(str)
    assert (kinds == "spurious").any()
    (finding,) = (each for each in captures_part(analyses).findings if each.question == "Losses")
    assert finding.answer == str(int((~kinds.isin(["spurious", "reordering"])).sum()))


def test_a_connection_that_waits_for_its_server_comes_before_those_that_wait_less(
    tmp_path: Path,
) -> None:
    """Table and sentence have the time of the server's application, as that of delayed ACKs."""
    calls = {"kind": "request-response", "request": "300B", "response": "900B", "gap": "5ms"}
    changes = {
        "flows": [
            {"name": "held", "nodelay": False, "workload": {**calls, "writes": 2}},
            {"name": "slow", "workload": {**calls, "think": "420ms"}},
        ]
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", 1, "8s", set=changes, samples="off", pcap=file, pcap_at="server")
    slow, held = analyse(file).by_waiting_time().to_dict("records")
    assert "for the application of the server" in slow["diagnosis"]
    assert "delayed ACKs" in held["diagnosis"]
    done = CliRunner().invoke(commands, ["pcap", "analyze", str(file)])
    row = next(
        line for line in done.stdout.splitlines() if line.split()[:1] == [str(slow["connection"])]
    )
    assert f" {slow['harm_s'] + slow['turns_down_s'] + slow['turns_up_s']:.2f} " in row


def test_a_connection_is_idle_only_between_its_data(tmp_path: Path) -> None:
    """After its last data, a connection that stays open does not wait for its application."""
    work = {"kind": "page"}
    file = tmp_path / "x.pcap"
    changes = {"path.rtt": "17ms", "path.buffer": "100packets", "flows": [{"workload": work}]}
    ct.run("steady-20-68", "cubic", 1, "12s", set=changes, samples="off", pcap=file, pcap_at="server")
    for row in analyse(file).connections.to_dict("records"):
        if "nothing was in flight in" in row["diagnosis"]:
            assert f" {100 * row['limit_idle']:.0f} % of the time" in row["diagnosis"]


def _transfer(
    number: int, megabytes: float, download_s: float, server: str = "10.0.0.1"
) -> dict[Any, Any]:
    return {
        "file": "x.pcap",
        "connection": number,
        "client": "10.0.0.2:40000",
        "server": f"{server}:80",
        "direction": "down",
        "bytes_down": round(1e6 * megabytes),
        "bytes_up": 0,
        "download_s": download_s,
    }


def test_the_main_transfer_is_the_slowest_of_those_with_about_as_much_payload() -> None:
    """Of two that share a link evenly, and of others of far less payload, the largest stays."""
    quick, slow, slower = _transfer(0, 1.0, 0.4), _transfer(1, 1.0, 2.0), _transfer(2, 0.9, 9.0)
    assert main_transfer([quick, slow, slower])["connection"] == 2
    assert main_transfer([_transfer(0, 10.0, 8.0), _transfer(1, 9.0, 9.0)])["connection"] == 0
    assert main_transfer([_transfer(0, 10.0, 8.0), _transfer(1, 1.0, 9.0)])["connection"] == 0
    elsewhere = _transfer(1, 10.0, 90.0, server="10.0.9.9")
    assert main_transfer([_transfer(0, 10.0, 8.0), elsewhere])["connection"] == 0
