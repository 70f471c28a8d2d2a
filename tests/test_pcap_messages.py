"""Messages at regular times in captures, and what keeps data of a sender from coming."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis import diagnoses
from celltcp.pcap.diagnosis.messages import messages_of, why_no_clock
from drawn_causes import interrupted


def _row(folder: Path, place: str, seconds: int, **changes: Any) -> dict[str, Any]:
    """Returns the row of a capture of one connection."""
    run: dict[str, Any] = {"set": changes, "samples": "off", "pcap_at": place}
    ct.run("steady-20-68", "cubic", 1, f"{seconds}s", pcap=folder / "x.pcap", **run)
    (row,) = analyse(folder / "x.pcap").connections.to_dict("records")
    return row


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(5))
def test_messages_at_regular_times_are_those_of_the_application(
    seed: int, place: str, tmp_path: Path
) -> None:
    """Neither a send buffer nor a CCA that keeps its window sends them."""
    draw = random.Random(f"messages {seed}")
    rate, kbytes, share = draw.choice([5, 10, 20]), draw.choice([1, 2, 5, 20]), draw.uniform(0.1, 0.6)
    rtt_ms, interval_ms = draw.choice([30, 60, 100]), kbytes * 8 / (rate * share)
    row = _row(
        tmp_path,
        place,
        20,
        **{
            "path.rtt": f"{rtt_ms}ms",
            "path.down.rate": f"{rate}Mbit/s",
            "path.buffer": "3bdp",
            "flows.0.workload": {
                "kind": "frames",
                "size": f"{kbytes}kB",
                "interval": f"{interval_ms:.3f}ms",
            },
        },
    )
    text = row["diagnosis"]
    assert text.startswith("the application of the server limits the rate: it sends messages"), text
    ((size, every),) = re.findall(r"messages of ([\d.]+) kB every ([\d.]+) ms", text)
    # Some of two messages come in one segment.
    assert float(size) == pytest.approx(kbytes, rel=0.1)
    assert float(every) == pytest.approx(interval_ms, rel=0.1)


@pytest.mark.parametrize("changes", [{}, {"tcp.receive_window_max": "40kB"}])
@pytest.mark.parametrize("place", ["server", "phone"])
def test_a_queue_and_a_window_send_no_messages(
    changes: dict[str, Any], place: str, tmp_path: Path
) -> None:
    text = _row(tmp_path, place, 15, **{"path.rtt": "60ms", "path.buffer": "2bdp", **changes})[
        "diagnosis"
    ]
    assert text.startswith(("a full queue", "the receive window")), text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("stands_still", [True, False])
def test_timestamps_tell_a_path_that_stood_still_from_a_pause(
    stands_still: bool, seed: int, tmp_path: Path
) -> None:
    """Data after an outage of the path were sent before it, and those after a pause are fresh."""
    draw = random.Random(f"gap {seed}")
    changes: dict[str, Any] = {"path.rtt": f"{draw.choice([30, 60, 100])}ms"}
    if stands_still:
        gaps = [(at + draw.uniform(0, 1), draw.uniform(1.2, 2)) for at in (4, 9)]
        changes["path.down"] = {"steps": interrupted("20Mbit/s", gaps)}
    else:
        pause = f"{draw.uniform(1.2, 2):.2f}s"
        changes["flows.0.workload"] = {"kind": "on-off", "on": "2s", "off": pause}
    text = _row(tmp_path, "phone", 15, **changes)["diagnosis"]
    assert ("for an outage of the path" in text) == stands_still, text
    assert ("its application paused, as it had every ACK" in text) != stands_still, text
    assert "or the path" not in text


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_the_lowest_rtt_of_hosts_is_that_of_the_connection_before_the_queue(
    seed: int, place: str, tmp_path: Path
) -> None:
    """The second transfer begins while the first one fills a buffer of three BDPs."""
    draw = random.Random(f"hosts {seed}")
    rtt_ms = draw.choice([30, 60, 100])
    run: dict[str, Any] = {"samples": "off", "pcap_at": place}
    flows = [{"name": "first"}, {"name": "second", "start": f"{draw.uniform(6, 9):.1f}s"}]
    changes = {"path.rtt": f"{rtt_ms}ms", "path.buffer": "3bdp", "flows": flows}
    ct.run("steady-20-68", "cubic", 1, "20s", pcap=tmp_path / "x.pcap", set=changes, **run)
    rows = analyse(tmp_path / "x.pcap").connections
    assert len(rows) == 2
    assert rows["rtt_min_ms"].to_list() == pytest.approx([rtt_ms, rtt_ms], rel=0.02)
    # Timestamps of the second one show no delay of its ACKs.
    assert not rows["diagnosis"].str.contains("path of the ACKs").any()


@pytest.mark.parametrize("seed", range(3))
def test_messages_of_several_sizes_have_the_rate_of_the_bytes_sent(seed: int, tmp_path: Path) -> None:
    """Behind a policer, some wait for repairs and come as one."""
    draw = random.Random(f"sizes {seed}")
    rtt_ms, large = draw.choice([50, 70, 90]), draw.choice([150, 180])
    beside = [{"size": f"{large}kB", "interval": "2s"}]
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms", "beside": beside}
    path = {"rtt": f"{rtt_ms}ms", "down.rate": "50Mbit/s"}
    changes = {f"path.{name}": value for name, value in path.items()} | {
        "path.policer": {"rate": "6Mbit/s", "burst": "100kB"},
        "flows.0.workload": workload,
    }
    row = _row(tmp_path, "server", 30, **changes)
    ((size, every, mbps),) = re.findall(
        r"messages of ([\d.]+) kB every ([\d.]+) ms on average, ([\d.]+) Mbit/s", row["diagnosis"]
    )
    written = 20 / 33 + large / 2000
    assert float(mbps) == pytest.approx(8 * written, rel=0.05)
    assert float(size) / float(every) == pytest.approx(written, rel=0.05)


def test_messages_without_a_pause_have_no_clock() -> None:
    """Of frames of 18.8 kB, the last segment has 98 % of the others: only key frames show an end."""
    row = {
        "direction": "down",
        "bytes_down": 9_096_400,
        "segments_up": 0,
        "download_s": 40.0,
        "segment_max": 1_448,
        "messages": 35,
        "message_bytes": 255_600.0,
        "message_mbps": 1.82,
        "message_interval_ms": 989.0,
        "message_interval_range": 0.33,
        "place": "sender",
        "far_rtt_p50_ms": 124.0,
        "near_rtt_p50_ms": 0.0,
    }
    assert messages_of(row | {"message_span_ms": 300.0}) is not None
    assert messages_of(row | {"message_span_ms": 928.0}) is None
    assert why_no_clock(row | {"message_span_ms": 928.0}).endswith("without a pause between them")


def test_a_clock_of_about_an_rtt_is_no_window(tmp_path: Path) -> None:
    """It has its reason, as a window has messages at such times, too."""
    workload = {"kind": "frames", "size": "9.4kB", "interval": "50ms"}
    row = _row(tmp_path, "server", 20, **{"path.rtt": "45ms", "flows.0.workload": workload})
    assert messages_of(row) is None
    assert re.search(r"messages of 9.4\d kB come .*, about an RTT \(4", why_no_clock(row))


def test_a_stream_that_keeps_its_flight_after_losses_shows_no_bbr(tmp_path: Path) -> None:
    """Under each CCA it has as much in flight as its application sends; probes of the RTT show BBR."""
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms"}
    changes = {"path.rtt": "50ms", "flows.0.workload": workload}
    ct.run("steady-20-68", "cubic", 1, "10s", set=changes, samples="off", pcap=tmp_path / "x.pcap")
    analyses = analyse(tmp_path / "x.pcap")
    # Flights that are kept have a confidence of 0.6 at most, several probes of the RTT more.
    for cca, confidence, shown in (
        ("bbr", 0.55, "unknown"),
        ("bbr", 0.7, "bbr"),
        ("reno", 0.55, "reno"),
    ):
        connections = analyses.connections.assign(cca=cca, cca_confidence=confidence)
        (result,) = diagnoses(connections, analyses.losses, analyses.intervals, [0.0])
        assert result.cca == shown
