"""Logs of iperf3's sender: what it wrote into its send buffer is not what the link carried."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from celltcp.cli import celltcp as commands
from celltcp.logs.log import read_log
from reading_logs import check, read

if TYPE_CHECKING:
    from conftest import Celltcp

#: An upload over 5 Mbit/s: the send buffer fills at first, and a second without a write is no outage.
WRITES = [14.3, 4.1, 0.0, 9.94, 5.2, 4.4, 5.1, 4.7, 5.3, 4.6, 5.0, 4.8]
ARRIVED = [4.2, 4.8, 4.9, 4.8, 4.9, 4.8, 4.9, 4.8, 4.9, 4.8, 4.9, 4.8]


def _intervals(rates: list[float], *, sender: bool, rtt_ms: float = 0.0) -> list[dict[str, Any]]:
    more = {"sender": sender, "omitted": False}
    return [
        {
            "streams": [{"rtt": round(1e3 * (rtt_ms + 60 * n)), **more}] if sender else [],
            "sum": {"start": n, "end": n + 1, "bits_per_second": rate * 1e6, **more},
        }
        for n, rate in enumerate(rates)
    ]


def _upload(**more: Any) -> str:
    mean = 1e6 * sum(ARRIVED) / len(ARRIVED)
    return json.dumps(
        {
            "start": {"connecting_to": {}, "test_start": {"protocol": "TCP", "reverse": 0}},
            "intervals": _intervals(WRITES, sender=True, rtt_ms=174.5),
            "end": {"sum_received": {"bits_per_second": mean}},
            **more,
        }
    )


def test_writes_of_a_sender_are_no_capacity_and_their_pauses_no_outage(tmp_path: Path) -> None:
    log = read(tmp_path, _upload(), "up.json")
    check(log, 12, sum(ARRIVED) / 12)
    assert 4e6 < log.bps.min() <= log.bps.max() < 6e6
    assert "not what arrived (on average 4.792 Mbit/s" in (log.held_back_reason or "")
    assert log.other_direction == "up"
    # The RTT of the first second is not that of an idle link.
    assert log.base_rtt_ms == pytest.approx(174.5)
    assert "a queue stood in it" in (log.long_rtt_reason or "")


def test_steady_deliveries_follow_a_link_that_changes(tmp_path: Path) -> None:
    """Changes of the link that a small send buffer cannot hide."""
    rates = [8.0] * 6 + [2.0] * 6
    document = json.loads(_upload(intervals=_intervals(rates, sender=True), end={}))
    for each in document["intervals"]:
        each["streams"][0]["snd_cwnd"] = 30_000
    log = read(tmp_path, json.dumps(document), "up.json")
    check(log, 12, 5.0)
    assert log.bps[2] == pytest.approx(8e6, rel=0.05)
    assert log.bps[9] == pytest.approx(2e6, rel=0.05)


def test_intervals_of_the_receiver_are_read_where_the_file_has_them(tmp_path: Path) -> None:
    output = {
        "start": {"accepted_connection": {}, "test_start": {"reverse": 0}},
        "intervals": _intervals(ARRIVED, sender=False),
    }
    log = read(tmp_path, _upload(server_output_json=output), "up.json")
    check(log, 12, sum(ARRIVED) / 12)
    assert log.bps[0] == 4_200_000
    assert log.held_back_reason is None
    text = _text([(rate, "") for rate in ARRIVED], "Accepted connection from 10.0.0.1, port 9")
    log = read(tmp_path, _upload(server_output_text=text), "up.json")
    assert log.bps.tolist() == [round(rate * 1e6) for rate in ARRIVED]
    sent = _text(
        [(rate, " 0  99.0 KBytes") for rate in WRITES], "Connecting to host 10.0.0.2, port 5201"
    )
    log = read(tmp_path, f"{sent}\nServer output:\n{text}", "up.txt")
    assert log.bps.tolist() == [round(rate * 1e6) for rate in ARRIVED]


def _text(rows: list[tuple[float, str]], head: str) -> str:
    lines = [
        f"[  5]   {n}.00-{n + 1}.00   sec  1.0 MBytes  {rate} Mbits/sec {rest}"
        for n, (rate, rest) in enumerate(rows)
    ]
    return "\n".join((head, *lines, ""))


def test_a_sender_says_as_text_what_arrived(tmp_path: Path) -> None:
    sent = _text(
        [(rate, " 0  99.0 KBytes") for rate in WRITES], "Connecting to host 10.0.0.2, port 5201"
    )
    total = "[  5]   0.00-12.04  sec  6.50 MBytes  4.53 Mbits/sec                  receiver\n"
    log = read(tmp_path, sent + total, "up.txt")
    check(log, 12, 4.53)
    assert log.bps.min() > 3e6
    assert log.other_direction == "up"


def test_a_server_has_a_link_in_each_direction(tmp_path: Path) -> None:
    """A server's report of an upload and a download is not one link."""
    accepted = "Accepted connection from 10.0.0.1, port 9"
    upload = _text([(4.5, "")] * 10, accepted)
    download = _text([(19.1, "   3   141 KBytes")] * 10, accepted)
    down = read(tmp_path, upload + download, "server.txt")
    check(down, 10, 19.1)
    assert down.has_both
    assert down.held_back_reason is not None
    check(read_up := read_log(tmp_path / "server.txt", {}, "up"), 10, 4.5)
    assert read_up.held_back_reason is None
    both = [
        line
        for n in range(9)
        for line in (
            f"[  5][RX-S]   {n}.00-{n + 1}.00   sec  2.50 MBytes  4.5 Mbits/sec",
            f"[  8][TX-S]   {n}.00-{n + 1}.00   sec  2.50 MBytes  19.1 Mbits/sec    0   1.12 MBytes",
        )
    ]
    check(read(tmp_path, "\n".join((accepted, *both)), "bidir.txt"), 9, 19.1)
    check(read_log(tmp_path / "bidir.txt", {}, "up"), 9, 4.5)


def test_compare_warns_of_the_log_of_a_sender(tmp_path: Path) -> None:
    file = tmp_path / "up.json"
    file.write_text(_upload())
    options = ["--cca", "cubic", "--runs", "1", "--duration", "2s", "--quiet"]
    warnings = CliRunner().invoke(commands, ["compare", str(file), *options]).stderr
    assert (
        "warning: the downlink's log does not show the capacity: its rates are what the sender wrote"
        in warnings
    )
    assert "(otherwise --direction down): celltcp compare" in warnings
    # The command has the file and what was set, so that it can be copied.
    flow = ["--set", "flows.0.from=phone", "--set", "flows.0.to=server"]
    options += [*flow, "--set", "path.buffer=90kB"]
    named = CliRunner().invoke(commands, ["compare", str(file), *options]).stderr
    assert f"compare {file} --uplink {file} --set path.down=50Mbit/s" in named
    assert named.count("flows.0.to=server") == 1
    assert "--set flows.0.to=server --set path.buffer=90kB simulates uploads" in named
    assert "174.5 ms is the lowest RTT under the test's own load" in warnings
    upload = ["--uplink", str(file), "--set", "path.down=50Mbit/s"]
    upload += ["--set", "flows.0.from=phone", "--set", "flows.0.to=server"]
    warnings = CliRunner().invoke(commands, ["compare", str(file), *options, *upload]).stderr
    assert "is of an upload" not in warnings
    assert "warning: the uplink's log does not show the capacity" in warnings


def _sent(again: int, *, parallel: bool = False) -> str:
    """Returns a sender's log of 7 and 4 Mbit/s in turns, of one stream or of two with their sum."""
    lines = ["Connecting to host 10.0.0.2, port 5201"]
    for second in range(20):
        rate = 7.3 if second % 2 else 3.7
        head = f"{second}.00-{second + 1}.00   sec   445 KBytes"
        count = again if second == 9 else 0
        if parallel:
            for stream in (5, 7):
                lines.append(f"[  {stream}]   {head}  {rate / 2:.2f} Mbits/sec    0   30.1 KBytes")
            lines.append(f"[SUM]   {head}  {rate:.2f} Mbits/sec    {count}             ")
        else:
            lines.append(f"[  5]   {head}  {rate:.2f} Mbits/sec    {count}   30.1 KBytes")
    return "\n".join(lines)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("again", [0, 1, 93])
def test_a_sender_that_lost_segments_may_show_its_congestion_control(
    again: int, parallel: bool, tmp_path: Path
) -> None:
    log = read(tmp_path, _sent(again, parallel=parallel), "up.txt")
    reason = log.held_back_reason or ""
    assert "what the sender wrote into its send buffer" in reason
    assert (f"sent {again} segment" in reason) == (again > 0)
    assert ("the congestion control allowed" in reason or "held TCP back" in reason) == (again > 0)


@pytest.mark.parametrize(("rates", "is_told"), [([7.3, 3.7] * 10, True), ([7.3, 7.2] * 10, False)])
def test_what_arrived_from_a_sender_that_lost_segments_is_a_capacity_if_it_is_steady(
    rates: list[float], is_told: bool, tmp_path: Path
) -> None:
    received = _text([(rate, "") for rate in rates], "Accepted connection from 10.0.0.1, port 9")
    log = read(tmp_path, f"{_sent(93)}\nServer output:\n{received}", "up.txt")
    assert log.bps[0] == 7_300_000
    assert ("the sender sent 93 segments again" in (log.held_back_reason or "")) == is_told


@pytest.mark.parametrize(
    ("windows", "is_told"), [([822] * 10, True), ([400, *range(800, 890, 10)], False)]
)
def test_a_window_that_stays_without_loss_is_bounded_by_a_buffer(
    windows: list[int], is_told: bool, tmp_path: Path
) -> None:
    text = _text(
        [(94.4, f"    0    {window} KBytes") for window in windows],
        "Connecting to host 10.0.0.2, port 5201",
    )
    log = read(tmp_path, text, "up.txt")
    assert ("the congestion window stays at 842 kB" in (log.held_back_reason or "")) == is_told


@pytest.mark.parametrize("seed", range(3))
def test_compare_warns_of_losses_that_a_test_under_bbr_repaired(seed: int, tmp_path: Path) -> None:
    """Random losses decide which CCA is best, and the rates of a log have none."""
    draw = random.Random(seed)
    loss = draw.uniform(0.002, 0.02)
    rates = [draw.uniform(18, 30) for _ in range(20)]
    document = json.loads(_upload(intervals=_intervals(rates, sender=True, rtt_ms=40), end={}))
    for each, rate in zip(document["intervals"], rates, strict=True):
        size = rate * 1e6 / 8
        each["sum"] |= {"bytes": size, "retransmits": round(loss * size / 1448)}
    options = ["--set", "path.down=90Mbit/s", "--set", "flows.0.from=phone"]
    options += [
        "--set",
        "flows.0.to=server",
        "--cca",
        "cubic",
        "--runs",
        "1",
        "--duration",
        "2s",
        "--quiet",
    ]
    file = tmp_path / "up.json"

    def stderr(cca: str, *more: str) -> str:
        file.write_text(json.dumps({**document, "end": {"sender_tcp_congestion": cca}}))
        command = ["compare", str(file), "--uplink", str(file), *options, *more]
        return CliRunner().invoke(commands, command).stderr

    (share,) = re.findall(r"under BBR, sent ([\d.]+) % .* --set path\.uplink_loss=", stderr("bbr"))
    assert float(share) == pytest.approx(100 * loss, rel=0.05)
    # Other CCAs lose segments in queues that they fill.
    assert "under BBR" not in stderr("cubic")
    assert "under BBR" not in stderr("bbr", "--set", "path.uplink_loss=1%")


def test_an_uplinks_log_has_the_rtt_of_a_path_whose_downlink_has_no_log(
    tmp_path: Path, celltcp: Celltcp
) -> None:
    file = tmp_path / "up.json"
    file.write_text(_upload())
    options = ["--uplink", str(file), "--set", "path.down=50Mbit/s", "--set", "flows.0.from=phone"]
    options += ["--set", "flows.0.to=server", "--cca", "cubic", "--runs", "1", "--duration", "2s"]
    of_log = celltcp("compare", str(file), *options).stderr
    assert "path.rtt=174.500ms, from the log" in of_log
    assert "(--set): path.uplink_buffer=" in of_log
    assert "a queue stood in it" in of_log
    # A known RTT needs no warning on that of the log.
    known = celltcp("compare", str(file), *options, "--set", "path.rtt=50ms").stderr
    assert "a queue stood in it" not in known
    assert "from the log" not in known
