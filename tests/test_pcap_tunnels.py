"""celltcp pcap: captures of tunnels, and of what is no TCP."""

from __future__ import annotations

import json
from pathlib import Path

from made_up_captures import ACK, capture, download, ethernet, ipv4, tcp


def test_a_tunnel_is_read_and_the_rest_is_counted_by_kind(celltcp, tmp_path: Path) -> None:
    vxlan = b"\x12\x34\x12\xb5\0\0\0\0\x08\0\0\0\0\0\x07\0"
    frames = [
        (time, ethernet(0x0800, ipv4(17, vxlan + ethernet(0x0800, packet))))
        for time, packet in download()
    ]
    frames += [(2.0, ethernet(0x0806, bytes(28))), (2.1, ethernet(0x0806, bytes(28)))]
    frames += [(2.2, ethernet(0x0800, ipv4(50, bytes(40))))]
    capture(tmp_path / "x.pcap", frames)
    done = celltcp("pcap", "analyze", "x.pcap", "--json", "j.json")
    assert done.returncode == 0, done.stderr
    assert "x.pcap: 14 packets, 11 of TCP, 1 connection" in done.stdout
    assert "no TCP, or none that is read: 2 of ARP, 1 of ESP (encrypted)" in done.stdout
    result = json.loads((tmp_path / "j.json").read_text())
    (connection,) = result["connections"]
    assert (connection["bytes_down"], connection["is_tunnelled"]) == (2000, 1)
    assert (connection["syns"], connection["retransmissions_down"]) == (2, 1)
    assert result["captures"][0]["left_out"] == {"ARP": 2, "ESP (encrypted)": 1}


def test_a_capture_without_tcp_says_what_it_has(celltcp, tmp_path: Path) -> None:
    capture(tmp_path / "x.pcap", [(n / 10, ethernet(0x88B5, bytes(50))) for n in range(7)])
    done = celltcp("pcap", "analyze", "x.pcap")
    assert "7 packets, 0 of TCP, 0 connections" in done.stdout
    assert "no TCP, or none that is read: 7 of EtherType 0x88b5" in done.stdout


def test_what_is_sent_again_is_a_share_of_bytes(tmp_path: Path) -> None:
    from celltcp.pcap import analyse
    from celltcp.pcap.tables import _retransmitted_percent

    capture(tmp_path / "x.pcap", [(time, ethernet(0x0800, packet)) for time, packet in download()])
    (row,) = analyse(tmp_path / "x.pcap").connections.to_dict("records")
    assert row["retransmissions_up"] + row["retransmissions_down"] == 2
    assert _retransmitted_percent(row) == "0.0"
    again = [*download()[:6], (1.1015, tcp(False, 1500, 100, ACK, 1000)), *download()[6:]]
    capture(tmp_path / "y.pcap", [(time, ethernet(0x0800, packet)) for time, packet in again])
    (row,) = analyse(tmp_path / "y.pcap").connections.to_dict("records")
    assert _retransmitted_percent(row) == "33.3"


def test_records_out_of_order_and_steps_of_the_clock_are_printed(celltcp, tmp_path: Path) -> None:
    frames = [(time, ethernet(0x0800, packet)) for time, packet in download()]
    frames[4], frames[5] = frames[5], frames[4]
    capture(tmp_path / "x.pcap", frames)
    done = celltcp("pcap", "analyze", "x.pcap")
    assert "1 packets out of time order, sorted" in done.stdout
    behind = [(time - 5 * (number > 7), frame) for number, (time, frame) in enumerate(frames)]
    capture(tmp_path / "x.pcap", behind)
    done = celltcp("pcap", "analyze", "x.pcap")
    assert "1 steps of the clock, taken out of the times after them" in done.stdout
