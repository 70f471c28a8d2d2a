"""Captured calls beside the download of another client, which fills the queue that both share."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path

import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import analyse

#: Bytes of the headers of a pcap file, of a record of it, and of Ethernet.
_FILE, _RECORD, _ETHERNET = 24, 16, 14


def _captured(folder: Path, seed: int, place: str = "server", loss: str = "0%") -> Path:
    """Returns the capture of calls of a laptop on a drawn path that a phone downloads on from 10 s."""
    draw = random.Random(f"queue waits {seed}")
    rtt_ms, mbps, bdps = draw.choice([20, 40, 80]), draw.choice([8, 20, 50]), draw.choice([3, 6])
    scenario = folder / "x.toml"
    scenario.write_text(
        f'duration = "{40 if loss == "0%" else 120}s"\n[path]\nrtt = "{rtt_ms}ms"\n'
        f'buffer = "{bdps * mbps * rtt_ms * 125}B"\n'
        f'down = "{mbps}Mbit/s"\nup = "20Mbit/s"\n[[links]]\nname = "wifi"\nfrom = "phone"\n'
        f'to = "laptop"\nrate = "200Mbit/s"\ndelay = "1ms"\nloss = "{loss}"\n'
        '[[flows]]\nname = "calls"\nto = "laptop"\n'
        f'workload = {{ kind = "request-response", response = "{draw.choice([8, 30])}kB", '
        f'gap = "{draw.choice([300, 1000])}ms" }}\n[[flows]]\nname = "download"\nstart = "10s"\n'
        f'to = "phone"\nworkload = {{ kind = "bulk", bytes = "{3 * mbps}MB" }}\n'
    )
    capture = folder / f"{place}.pcap"
    ct.run(scenario, "cubic", seed, pcap=capture, pcap_at=place, samples="off")
    return capture


def _calls(capture: Path) -> pd.DataFrame:
    units = analyse(capture).units
    return units[(units["connection"] == 0) & units["duration_s"].notna()]


def _without_port(capture: Path, port: int) -> Path:
    """Returns a capture without the packets to or from a port."""
    data = capture.read_bytes()
    kept, start = data[:_FILE], _FILE
    while start < len(data):
        end = start + _RECORD + struct.unpack_from("<I", data, start + 8)[0]
        network = start + _RECORD + _ETHERNET
        ports = struct.unpack_from(">HH", data, network + 4 * (data[network] & 15))
        kept += b"" if port in ports else data[start:end]
        start = end
    result = capture.with_name("calls.pcap")
    result.write_bytes(kept)
    return result


@pytest.mark.parametrize("seed", range(4))
def test_calls_wait_in_the_queue_of_the_download_of_another_client(tmp_path: Path, seed: int) -> None:
    """They are alone before it; what is lost beside it did not fit in its queue."""
    calls = _calls(_captured(tmp_path, seed))
    slow = calls[(calls["start_s"] > 12) & (calls["delayed_by"] != "")]
    own_queue, overflow = "queue of connection 1", "retransmission after a full queue"
    assert len(slow) > 5
    assert slow["delayed_by"].isin([own_queue, overflow]).mean() > 0.8
    assert (slow["delayed_by"] == own_queue).mean() > 0.6
    before = calls[calls["start_s"] < 9.5]
    assert not before["delayed_by"].str.contains("queue").any()


@pytest.mark.parametrize("seed", range(2))
def test_calls_show_the_queue_of_a_download_that_is_not_in_the_capture(
    tmp_path: Path, seed: int
) -> None:
    """Data of a sender that had nothing in flight do not wait for themselves."""
    calls = _calls(_without_port(_captured(tmp_path, seed), 5202))
    slow = calls[(calls["start_s"] > 12) & (calls["delayed_by"] != "")]
    assert len(slow) > 5
    assert slow["delayed_by"].str.contains("queue").mean() > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_the_first_byte_comes_as_late_as_a_capture_at_the_client_has_it(
    tmp_path: Path, seed: int
) -> None:
    server, client = (
        _calls(_captured(tmp_path, seed, place))["first_byte_s"] for place in ("server", "laptop")
    )
    assert client.max() > 1.5 * client.min()
    assert server.mean() == pytest.approx(client.mean(), rel=0.15)


@pytest.mark.parametrize("seed", [0, 2])
def test_losses_in_the_queue_and_those_of_the_wifi_are_told_apart(tmp_path: Path, seed: int) -> None:
    """Bursts beside the download did not fit in the queue; single segments are lost all the time."""
    calls = analyse(_captured(tmp_path, seed, loss="1%")).connections.iloc[0]
    assert calls["losses_congestion"] >= 5
    assert calls["losses_random"] >= 5
    assert re.search("at random|not full", calls["diagnosis"])
    assert "segments were lost in a full queue" in calls["diagnosis"]


def test_losses_of_the_wifi_alone_are_none_of_a_full_queue(tmp_path: Path) -> None:
    calls = analyse(_captured(tmp_path, 1, loss="1%")).connections.iloc[0]
    assert calls["losses_random"] > 50
    assert "full queue" not in calls["diagnosis"]
