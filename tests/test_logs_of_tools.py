"""Outputs of further tools: read right, or refused with the way to a trace."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.logs.formats.iperf3 import summed
from celltcp.logs.formats.report_lines import Interval
from reading_logs import MEAN, RATES, check, read, table

#: Bytes per second in one Mbit/s.
BYTES = 125_000
#: 2024-05-01 08:00:00 UTC.
EPOCH = 1_714_550_400


def _report(rates: list[float]) -> str:
    """Returns the report of an iperf3 server about a test."""
    lines = [
        f"[  5]   {n}.00-{n + 1}.00   sec  1.0 MBytes  {rate} Mbits/sec  0.01 ms  0/90 (0%)"
        for n, rate in enumerate(rates)
    ]
    total = f"[  5]   0.00-{len(rates)}.00  sec  20 MBytes  9.0 Mbits/sec  0.01 ms  0/90 (0%)  receiver"
    return "\n".join(["Accepted connection from 10.0.0.1, port 1", *lines, "- - -", total, ""])


def test_tests_of_one_server_follow_one_another(tmp_path: Path) -> None:
    log = read(tmp_path, _report(RATES) + _report(RATES[:5]), "server.txt")
    check(log, 15, (sum(RATES) + sum(RATES[:5])) / 15)
    assert "2 runs" in log.summary
    lines = [
        f"20240501100000,10.0.0.1,5001,10.0.0.2,5002,3,{n}.0-{n + 1}.0,9,{round(rate * 1e6)}"
        for rates in (RATES, RATES[:5])
        for n, rate in enumerate(rates)
    ]
    check(read(tmp_path, "\n".join(lines)), 15, (sum(RATES) + sum(RATES[:5])) / 15)


def test_tests_of_other_streams_follow_one_another(tmp_path: Path) -> None:
    # The server of iperf2 numbers its streams in turn.
    first, later = _report(RATES), _report(RATES[:5]).replace("[  5]", "[  6]")
    check(read(tmp_path, first + later, "server.txt"), 15, (sum(RATES) + sum(RATES[:5])) / 15)
    # A test with a sum beside one without.
    both = [
        line.replace("[  5]", f"[{name}]")
        for line in _report(RATES).splitlines()
        for name in ("  4", "SUM")
    ]
    log = read(tmp_path, "\n".join(both) + "\n" + later, "server.txt")
    check(log, 15, (sum(RATES) + sum(RATES[:5])) / 15)


def test_a_dual_test_of_iperf2_has_two_directions(tmp_path: Path) -> None:
    lines = [
        "[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 43210",
        "[  5] local 10.0.0.2 port 5002 connected with 10.0.0.1 port 5001",
    ]
    for n, rate in enumerate(RATES):
        lines += [
            f"[  {stream}] {n}.0-{n + 1}.0 sec  1.0 MBytes  {factor * rate} Mbits/sec"
            for stream, factor in ((4, 1), (5, 2))
        ]
    text = "\n".join(lines)
    check(read(tmp_path, text, "dual.txt"), 10, MEAN)
    check(read(tmp_path, text, "dual.txt", direction="up"), 10, 2 * MEAN)


def test_bytes_of_iperf_are_powers_of_1024(tmp_path: Path) -> None:
    lines = [
        f"[  5]   {n}.00-{n + 1}.00   sec  1.0 MBytes  {rate * 1e6 / 8 / 1024:.4f} KBytes/sec"
        for n, rate in enumerate(RATES)
    ]
    check(read(tmp_path, "\n".join(lines), "x.txt"), 10, MEAN)


def test_entries_of_an_ntrace_are_kbit_per_second(tmp_path: Path) -> None:
    entries = [
        {
            "entryNo": n + 1,
            "dateTime": f"2024-05-01T10:{n:02d}:00.511+02:00",
            "dlBw": rate * 1e3,
            "dlLatency": 45_000,
            "gpsCoordinates": {"latitude": 59.4, "longitude": 17.9, "accuracy": 8},
        }
        for n, rate in enumerate(RATES)
    ]
    document = {"version": 1, "description": "by car", "entries": entries}
    log = read(tmp_path, json.dumps(document), "car.ntrace")
    check(log, 600, MEAN)
    assert not log.has_both
    with pytest.raises(ct.CelltcpError, match='there is no "ulBw"'):
        read(tmp_path, json.dumps(document), "car.ntrace", direction="up")


def test_names_and_values_of_monitors_have_their_own_units(tmp_path: Path) -> None:
    # Windows' performance monitor has rates, at any step.
    head = r'"(PDH-CSV 4.0) (CET)(-60)","\\HOST\Network Interface(Wi-Fi)\Bytes Received/sec"'
    rows = (f'"05/01/2024 10:00:{5 * n:02d}.123","{rate * BYTES}"' for n, rate in enumerate(RATES))
    check(read(tmp_path, table(head, *rows), dates="mdy"), 50, MEAN)
    # sysstat's kB have 1024 bytes.
    head = "# hostname;interval;timestamp;IFACE;rxpck/s;rxkB/s;txkB/s"
    rows = (
        f"h;1;2024-05-01 10:00:0{n} UTC;eth0;9.0;{rate * BYTES / 1024:.4f};1"
        for n, rate in enumerate(RATES)
    )
    check(read(tmp_path, table(head, *rows)), 10, MEAN)
    # Grafana's values change their unit with their size.
    rows = (
        f"2024-05-01 10:00:0{n},{f'{rate} Mb/s' if rate > 10 else f'{rate * 1e3:.0f} kb/s'}"
        for n, rate in enumerate(RATES)
    )
    check(read(tmp_path, table("Time,eth0 receive", *rows)), 10, MEAN)
    # PRTG has the begin and the end of a row.
    rows = (f"01/05/2024 10:0{n}:00 - 10:{n + 1:02d}:00;{rate * 1e3}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("Date Time;Traffic In (Speed) [kbit/s]", *rows), dates="dmy"), 600, MEAN)


def test_headers_of_two_lines_and_times_of_queries_are_no_obstacle(tmp_path: Path) -> None:
    rows = [f"{EPOCH + n}.5,{rate * BYTES},1.0" for n, rate in enumerate(RATES)]
    dstat = table('"Dstat 0.7.4 CSV output"', '"epoch","net/total",', '"epoch","recv","send"', *rows)
    check(read(tmp_path, dstat, unit="B/s"), 10, MEAN)
    head = ",result,table,_start,_stop,_time,_value"
    start = "2024-05-01T09:00:00Z,2024-05-01T11:00:00Z"
    rows = [f",,0,{start},2024-05-01T10:00:0{n}Z,{rate * BYTES}" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table(head, *rows), column="_value", unit="B/s"), 10, MEAN)


def test_a_record_alone_holds_the_rows(tmp_path: Path) -> None:
    rows = [
        {"timestamp": EPOCH + 300 * n, "rx": round(rate * BYTES * 300), "tx": 1}
        for n, rate in enumerate(RATES)
    ]
    document = {
        "vnstatversion": "2.10",
        "interfaces": [{"name": "eth0", "traffic": {"fiveminute": rows}}],
    }
    log = read(tmp_path, json.dumps(document), unit="B")
    check(log, 3_000, MEAN)
    assert "each row is the mean of 300 s" in log.summary
    assert log.imputed_share == 0


def test_the_lowest_rtt_has_no_minutes(tmp_path: Path) -> None:
    rows = (f"{n},{40_000 + n},{rate}" for n, rate in enumerate(RATES))
    log = read(tmp_path, table("time_s,min_rtt,rate_mbps", *rows))
    check(log, 10, MEAN)
    assert log.base_rtt_ms is None


def test_an_amount_of_a_test_is_not_spread_until_the_next_one(tmp_path: Path) -> None:
    rows = [f"{EPOCH + 60 * n},5.0,{round(rate * BYTES * 5)}" for n, rate in enumerate(RATES)]
    text = table("Timestamp,DownloadTime,Bytes", *rows)
    with pytest.raises(ct.CelltcpError, match='may be of the times in "DownloadTime"'):
        read(tmp_path, text)
    check(read(tmp_path, text, unit="B"), 600, MEAN / 12)
    # Times as long as the rows leave nothing open.
    rows = [f"{EPOCH + 5 * n},5.0,{round(rate * BYTES * 5)}" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table("Timestamp,DownloadTime,Bytes", *rows)), 50, MEAN)


@pytest.mark.parametrize(
    ("text", "said", "options"),
    [
        (table("time_s,download_kbit", "0,1000", "1,2000"), "--unit kbit/s or", {"unit": "kbit/s"}),
        (
            table("time_s,download,download bytes", "0,1000,9000", "1,2000,9000"),
            "leave open which column has the rates",
            {"column": "download", "unit": "kbit/s"},
        ),
        (
            table("  KB/s in  KB/s out", *("  1000.00  10.00", "  2000.00  20.00", "  0.00 1.00") * 3),
            "has times: --step",
            {"column": "1", "step": "1s", "unit": "kbit/s"},
        ),
        (
            table("5;eth0;1000", "5;total;9000", "6;eth0;2000", "6;total;9000"),
            "several runs at the same time",
            {"column": "1,3", "unit": "s,kbit/s", "run": "2=eth0"},
        ),
    ],
)
def test_the_way_out_leads_to_the_rates(
    tmp_path: Path, text: str, said: str, options: dict[str, str]
) -> None:
    with pytest.raises(ct.CelltcpError, match=said):
        read(tmp_path, text)
    assert "in kbit/s" in read(tmp_path, text, **options).summary


def test_interfaces_at_the_same_time_are_not_averaged(tmp_path: Path) -> None:
    rows = [f"{5 + n};{name};{rate}" for n in range(4) for name, rate in (("lo", 1), ("eth0", 1000))]
    with pytest.raises(ct.CelltcpError, match="--run 2=lo reads one of them"):
        read(tmp_path, "\n".join(rows), column="1,3", unit="s,kbit/s")


def test_measurements_do_not_tell_runs_apart(tmp_path: Path) -> None:
    # Minutes without seconds: several rows have the same time.
    rows = (f"2024-05-01 10:{n // 2:02d},{rate * 1e3},{20 + n % 3}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("time,dl_kbps,ping_ms", *rows)), 300, MEAN)


PING = "[1714550400.1] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=117 time=12.3 ms\n"
TCPDUMP = "10:00:00.100000 IP 10.0.0.1.5201 > 10.0.0.2.40000: Flags [.], ack 1, win 502, length 0\n"
SS = "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n\t cubic rtt:3.1/0.8 cwnd:10 segs_out:100 delivery_rate 12Mbps\n"
SAR = "Linux 5.15 (h)\n\n12:00:01 AM        IFACE   rxpck/s   rxkB/s\n12:00:02 AM  eth0  2.00  0.11\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (PING.encode(), "path.rtt"),
        (TCPDUMP.encode(), "celltcp pcap to-scenario"),
        (bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"), "celltcp pcap to-scenario"),
        (SS.encode(), "output of ss"),
        (SAR.encode(), "sadf -d"),
        (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "a web page"),
        (b"Inter-|   Receive\n face |bytes    packets\n  lo: 1 2\n", "/proc/net/dev"),
        (b'{"version": {"irtt": "0.9.0"}, "round_trips": []}', "path.rtt"),
        (
            b"Ostermann's tcptrace -- version 6.6.7\n\nTCP connection 1:\n host a: x:1\n",
            "pcap to-scenario",
        ),
        (b"timeval double\ntitle\nthroughput\ndot 1714550400.0 1562500\n", "pcap to-scenario"),
        (b"procs ---memory--- -swap-\n r  b  swpd free\n 1  0  0  800\n", "rx_bytes"),
        (b"  % Total    % Received % Xferd\n 0 0 0 0\n", "iperf3 -J"),
        (b"     0K .......... .......... .......... 0% 1.49M 10s\n", "iperf3 -J"),
        (b"  1,234,567   9%   2.30MB/s    0:00:35\n" * 9, "iperf3 -J"),
        (b"Transferred:   \t  2.2 MiB / 1 GiB, 0%, 2.2 MiB/s, ETA 7m\n" * 9, "iperf3 -J"),
        (b"[1.5] tcp_probe: src=1 dest=2 snd_cwnd=10 ssthresh=2147483647\n" * 9, "no capacity"),
        (b"--- owping statistics from [a]:8894 to [b]:9001 ---\nSID: 1\n", "path.rtt"),
        (b'[{"msm_id": 1001, "type": "ping", "timestamp": 1, "avg": 9, "sent": 3}]', "path.rtt"),
        (
            b'{"qlog_version": "0.3", "traces": [{"events": []}]}',
            "--run name=transport:packet_received",
        ),
        (b'{"PeerConnections": {"1": {"updateLog": []}}}', "bytesReceived"),
        (b"This is ApacheBench, Version 2.3\nTransfer rate: 34.1 [Kbytes/sec] received\n", "totals"),
        (b'"No.","Time","Source","Destination"\n"1","0.0","a","b"\n', "celltcp pcap to-scenario"),
        (b"  NetworkStatsHistory: bucketDuration=3600\n    st=1714550400 rb=5 rp=1\n", "rx_bytes"),
        (b'<?xml version="1.0"?><response><Rate>5</Rate></response>', "as JSON"),
        (b'#FF,,,"1.8"\nCAD,10:00:00,,1\nDRATE,10:00:00,,1,7,5,9000\n' * 9, "lines of several kinds"),
        (b"[10:00:00] AT+QGDCNT?\n[10:00:00] +QGDCNT: 312500,1562500\n" * 9, "--column"),
    ],
)
def test_outputs_without_rates_are_named(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(ct.CelltcpError, match=said):
        read(tmp_path, data, "log.txt")


def test_an_interval_of_iperf3_that_is_a_little_longer_is_no_total() -> None:
    ms = 1_000_000
    ends = [0, 1_000, 2_000, 3_000]
    first = [Interval(a * ms, b * ms, 1e6) for a, b in itertools.pairwise(ends)]
    total = Interval(0, 3_000 * ms, 9e9)
    later = [Interval(0, 1_010 * ms, 2e6), *first[1:]]
    result = summed([("5", each) for each in (*first, total, *later, total)])
    assert [each.bps for each in result] == [1e6, 1e6, 1e6, 2e6, 1e6, 1e6]


def test_reports_of_further_tools_have_a_line_for_each_interval(tmp_path: Path) -> None:
    nuttcp = [
        f" {rate / 8.388608:8.4f} MB /   1.00 sec = {rate:8.4f} Mbps     0 retrans" for rate in RATES
    ]
    total = " 20.1 MB /  10.02 sec =  16.9 Mbps 3 %TX 11 %RX 0 retrans 24.11 msRTT"
    check(read(tmp_path, table("nuttcp-6.1.2", *nuttcp, "", total), "n.txt"), 10, MEAN)
    head = "MIGRATED TCP MAERTS TEST from 0.0.0.0 () port 0 AF_INET : demo"
    netperf = [
        f"Interim result: {rate:8.2f} 10^6bits/s over 0.500 seconds ending at {EPOCH + n / 2:.3f}"
        for n, rate in enumerate(RATES)
    ]
    check(read(tmp_path, table(head, *netperf, "131072  16384  16384    5.00"), "p.txt"), 5, MEAN)
    kbit = [line.replace("10^6", "10^3") for line in netperf]
    check(read(tmp_path, table(head, *kbit), "k.txt"), 5, MEAN / 1000)
    # It does not say whether these have 1000 or 1024 bytes.
    with pytest.raises(ct.CelltcpError, match="-f m"):
        read(tmp_path, table(head, *(line.replace("10^6bits/s", "KBytes/s") for line in netperf)))
    tshark = [
        f"| {n:2d} <> {n + 1:2d}  |   100  | {rate * BYTES:8.0f} |" for n, rate in enumerate(RATES)
    ]
    check(read(tmp_path, table("| Interval  | Frames |   Bytes  |", *tshark), "t.txt"), 10, MEAN)


def test_json_of_monitors_and_test_platforms(tmp_path: Path) -> None:
    rows = [
        {"summary": {"start": n, "end": n + 1, "throughput-bits": rate * 1e6, "omitted": False}}
        for n, rate in enumerate(RATES)
    ]
    check(read(tmp_path, json.dumps({"intervals": rows, "succeeded": True}), "ps.json"), 10, MEAN)
    counter = [sum(RATES[: n + 1]) * BYTES for n in range(10)]
    metric = {"__name__": "node_network_receive_bytes_total", "device": "wwan0"}
    series = [
        {"metric": metric, "values": [[EPOCH + n, f"{each:.0f}"] for n, each in enumerate(counter)]}
    ]
    document = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    check(read(tmp_path, json.dumps(document), "prom.json"), 9, sum(RATES[1:]) / 9)
    document["data"] = {"resultType": "matrix", "result": series * 2}
    with pytest.raises(ct.CelltcpError, match=r"Prometheus returned 2 series.*wwan0"):
        read(tmp_path, json.dumps(document), "prom.json")
    rate = [
        {
            "metric": {"device": "wwan0"},
            "values": [[EPOCH + n, str(each)] for n, each in enumerate(RATES)],
        }
    ]
    document["data"] = {"resultType": "matrix", "result": rate}
    with pytest.raises(ct.CelltcpError, match="does not tell the unit"):
        read(tmp_path, json.dumps(document), "prom.json")
    halves = [each / 2 for each in RATES]
    results = {"TCP download BE": halves, "TCP download EF": halves, "TCP download avg": halves}
    flent = {"metadata": {}, "x_values": list(range(10)), "results": results}
    log = read(tmp_path, json.dumps(flent), "rrul.flent")
    check(log, 10, MEAN)
    assert "sum of 2 series" in log.summary


def test_groups_of_three_digits_are_thousands_or_said(tmp_path: Path) -> None:
    """Semicolons separate columns where a comma is the decimal sign, and elsewhere too."""
    kbps = [round(1000 * rate) for rate in RATES]
    mean = sum(kbps) / 1e4

    def rows(form: str, values: list[int]) -> list[str]:
        return [f"{n};{form.format(value)}" for n, value in enumerate(values)]

    small = [950, *kbps[1:]]
    check(read(tmp_path, table("t_s;kbit/s", *rows("{:,}", small))), 10, sum(small) / 1e4)
    large = [1_234_567, *kbps[1:]]
    check(read(tmp_path, table("t_s;kbit/s", *rows("{:,}", large))), 10, sum(large) / 1e4)
    points = [each.replace(",", ".") for each in rows("{:,}", large)]
    check(read(tmp_path, table("t_s;kbit/s", *points)), 10, sum(large) / 1e4)
    # Nothing tells 12,500 from 12.500: it is asked, or said if one of them is no rate of a link.
    for text in (rows("{:,}", kbps), [each.replace(",", ".") for each in rows("{:,}", kbps)]):
        with pytest.raises(
            ct.CelltcpError,
            match=r"may be 12\.500 or 12500 kbit/s: --unit kbit/s or --unit Mbit/s says",
        ):
            read(tmp_path, table("t_s;kbit/s", *text))
        check(read(tmp_path, table("t_s;kbit/s", *text), unit="kbit/s"), 10, mean / 1000)
        check(read(tmp_path, table("t_s;kbit/s", *text), unit="Mbit/s"), 10, mean)
        log = read(tmp_path, table("t_s;Mbit/s", *text))
        assert "is taken as 12.500 (--unit)" in log.summary
        check(log, 10, mean)
    # Whole numbers below a thousand beside them, and decimals elsewhere, tell it.
    points = [each.replace(",", ".") for each in rows("{:,}", small)]
    check(read(tmp_path, table("t_s;kbit/s", *points)), 10, sum(small) / 1e4)
    halves = [f"{n / 2};{kbps[n]:,}" for n in range(10)]
    check(read(tmp_path, table("t_s;kbit/s", *halves)), 5, mean)
    quoted = [f'{n},"{rate:.2f}"'.replace(".", ",") for n, rate in enumerate(RATES)]
    check(read(tmp_path, table("t_s,Mbit/s", *quoted)), 10, MEAN)
    quoted = [f'{n},"{each:,}"' for n, each in enumerate(kbps)]
    log = read(tmp_path, table("t_s,kbit/s", *quoted))
    assert '"12,500" is taken as 12500 (--unit)' in log.summary
    check(log, 10, mean)
    for gap in ("'", "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}", " "):
        text = [f"{n};{each:,}".replace(",", gap) for n, each in enumerate(kbps)]
        check(read(tmp_path, table("t_s;kbit/s", *text)), 10, mean)
    decimals = read(
        tmp_path,
        table("t_s;Mbit/s", *(f"{n};{rate:.2f}".replace(".", ",") for n, rate in enumerate(RATES))),
    )
    check(decimals, 10, MEAN)
    assert "decimal sign" not in decimals.summary


def test_a_rate_that_no_link_has_asks_for_the_unit(tmp_path: Path) -> None:
    rows = [[EPOCH + n, rate * BYTES] for n, rate in enumerate(RATES)]
    with pytest.raises(ct.CelltcpError, match="--unit says the unit of rates or amounts, such as B/s"):
        read(tmp_path, json.dumps(rows), "x.json")
    check(read(tmp_path, json.dumps(rows), "x.json", unit="B/s"), 10, MEAN)
