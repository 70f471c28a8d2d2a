"""Logs of measurements: each is read correctly, or refused with the option that is needed."""

from __future__ import annotations

import gzip
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.logs.log import read_log
from log_tables import random_table
from reading_logs import MEAN, RATES, check, length_and_mean, read, table


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Timestamp,throughput_mbps", "2024-05-01 10:00:{n:02d},{rate}"),
        ("time;throughput_mbps", "01/05/2024 10:00:{n:02d};{rate}"),
        ("time;throughput_mbps", "05/01/2024 10:00:{n:02d} AM;{rate}"),
        ("time;throughput_mbps", "2024-05-01 10:00:{n:02d} CEST;{rate}"),
        ("Date;Time;throughput_mbps", "01.05.2024;10:00:{n:02d};{rate}"),
        ("time;throughput_mbps", "May 1, 2024 10:00:{n:02d} AM;{rate}"),
        ("latency_ms,timestamp,throughput_mbps", "{n}.5,171455040{n},{rate}"),
        ("sample;t [ms];rate [kbit/s]", "{n};{n}000;{kbps}"),
        ("time\tMbit/s", "{n}\t{rate}"),
        ("| time | rate (MB/s)", "| {n} | {mbytes}"),
    ],
)
def test_times_and_units_are_read_as_people_write_them(tmp_path: Path, head: str, row: str) -> None:
    rows = (
        row.format(n=n, rate=rate, kbps=rate * 1e3, mbytes=rate / 8) for n, rate in enumerate(RATES)
    )
    check(read(tmp_path, table(head, *rows)), 10, MEAN)


def test_content_decides_and_not_the_name(tmp_path: Path) -> None:
    text = table("time,throughput_mbps", *(f"{n},{rate}" for n, rate in enumerate(RATES)))
    for name in ("x.down", "x.log", "x", "x.json"):
        check(read(tmp_path, text, name), 10, MEAN)
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        check(read(tmp_path, text.replace("time", "Größe,time", 0).encode(encoding)), 10, MEAN)
    check(read(tmp_path, gzip.compress(text.encode())), 10, MEAN)


def test_a_counter_is_not_a_rate(tmp_path: Path) -> None:
    total, rows = 4_000_000, []
    for n, rate in enumerate(RATES):
        rows.append(f"{1714550400 + n},{total},{n}")
        total += int(rate * 125_000)
    log = read(tmp_path, table("timestamp,rx_bytes,tx_bytes", *rows))
    check(log, 9, sum(RATES[:-1]) / 9)
    assert 'counter "rx_bytes"' in log.summary
    # A device that starts again counts from zero.
    restarted = [*rows, "1714550410,500000,1", "1714550411,1500000,1"]
    log = read(tmp_path, table("timestamp,rx_bytes,tx_bytes", *restarted))
    assert "1 resets of the counter" in log.summary
    check(log, 11, (sum(RATES[:-1]) + 4.0 + 8.0) / 11)


def test_bytes_of_a_row_are_divided_by_its_length(tmp_path: Path) -> None:
    rows = (f"{n / 10:.1f},{round(rate * 12_500)}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("time_s,bytes", *rows)), 1, MEAN)


def test_sessions_are_pieces_and_the_summary_has_the_time_between_them(tmp_path: Path) -> None:
    text = table(
        "timestamp,downlink_mbps",
        *(f"2024-05-01 09:00:0{n},30" for n in range(10)),
        *(f"2024-05-01 14:00:0{n},10" for n in range(10)),
    )
    log = read(tmp_path, text)
    check(log, 20, 20.0)
    assert "1 hole, 17990 s in all" in log.summary
    assert len(log.pieces) == 2
    held = read(tmp_path, text, holes="hold")
    check(held, 18_010, (17_990 * 30 + 10 * 30 + 10 * 10) / 18_010)
    assert held.imputed_share > 0.99
    assert length_and_mean(read(tmp_path, text, holes="zero"))[1] == pytest.approx(400 / 18_010)


def test_a_rate_may_be_of_the_time_before_its_row(tmp_path: Path) -> None:
    text = "0\t4.0\n1\t4.0\n2\t4.0\n32\t0.5\n33\t4.0\n"
    before = read(tmp_path, text, "x.txt", rates_end_at_row=True)
    check(before, 33, (2 * 4 + 30 * 0.5 + 4) / 33)
    assert "ends at its row" in before.summary
    after = read(tmp_path, text, "x.txt")
    check(after, 5, (4 * 4 + 0.5) / 5)
    assert "begins at its row" in after.summary
    assert "1 hole, 29 s" in after.summary


def test_missing_values_are_counted_and_left_out(tmp_path: Path) -> None:
    text = table("time,throughput_mbps", "0,10", "1,", "2,n/a", "3,-5", "4,20", "4,40", "5,10")
    log = read(tmp_path, text)
    check(log, 3, (10 + 30 + 10) / 3)
    assert "2 without a rate" in log.summary
    assert "1 with a rate below zero" in log.summary
    assert "1 with the time of another one, averaged" in log.summary
    check(read(tmp_path, text, holes="zero"), 6, (10 + 30 + 10) / 6)


def test_runs_in_one_file_are_pieces_or_chosen(tmp_path: Path) -> None:
    rows = [f"{run},{n},{10 * run}" for run in (1, 2, 3) for n in range(10)]
    text = table("run_num,time_s,throughput_mbps", *rows)
    log = read(tmp_path, text)
    check(log, 30, 20.0)
    assert "3 runs, one after another" in log.summary
    check(read(tmp_path, text, run="run_num=2"), 10, 20.0)
    with pytest.raises(ct.CelltcpError, match=r"allowed: 1, 2, 3"):
        read(tmp_path, text, run="run_num=7")
    mixed = table("run_num,time_s,throughput_mbps", *sorted(rows, key=lambda row: row.split(",")[1]))
    with pytest.raises(ct.CelltcpError, match="--run run_num=1 reads one of them"):
        read(tmp_path, mixed)


def test_formats_of_tools_are_read(tmp_path: Path) -> None:
    intervals = [
        {"streams": [{"rtt": 42_000}], "sum": {"start": n, "end": n + 1, "bits_per_second": rate * 1e6}}
        for n, rate in enumerate(RATES)
    ]
    report = {"start": {"test_start": {"reverse": 1}}, "intervals": intervals, "end": {}}
    log = read(tmp_path, json.dumps(report), "iperf.json")
    check(log, 10, MEAN)
    assert log.base_rtt_ms == 42.0
    text = "".join(
        f"[  5]   {n}.00-{n + 1}.00   sec  1.0 MBytes  {rate} Mbits/sec    0    140 KBytes\n"
        for n, rate in enumerate(RATES)
    )
    total = "[  5]   0.00-10.00  sec  20 MBytes  99.0 Mbits/sec    0             sender\n"
    check(read(tmp_path, f"Connecting to host h\n{text}- - -\n{total}", "iperf.txt"), 10, MEAN)
    lines = [
        f"2024050110000{n},10.0.0.1,5001,10.0.0.2,5002,3,{n}.0-{n + 1}.0,9,{round(rate * 1e6)}"
        for n, rate in enumerate(RATES)
    ]
    lines.append("20240501100010,10.0.0.1,5001,10.0.0.2,5002,3,0.0-10.0,9,99000000")
    check(read(tmp_path, "\n".join(lines), "iperf2.csv"), 10, MEAN)
    sabre = [{"duration_ms": 1000, "bandwidth_kbps": rate * 1e3, "latency_ms": 20} for rate in RATES]
    log = read(tmp_path, json.dumps(sabre), "sabre.json")
    check(log, 10, MEAN)
    assert log.base_rtt_ms == 20.0
    pattern = [{"duration": 1000, "capacity": rate * 1e3, "loss": 0} for rate in RATES]
    alpha = {"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}}
    check(read(tmp_path, json.dumps(alpha), "alphartc.json"), 10, MEAN)
    history = {
        "dishGetHistory": {"current": "3", "downlinkThroughputBps": [rate * 1e6 for rate in RATES]}
    }
    check(read(tmp_path, json.dumps(history), "starlink.json"), 10, MEAN)
    srsran = table(
        "time;cc;dl_brate;ul_brate", *(f"{n}.0;0;{rate * 1e6};1" for n, rate in enumerate(RATES))
    )
    check(read(tmp_path, srsran, "metrics.csv"), 10, MEAN)
    mm_link = (
        "# mahimahi mm-link (downlink) [x] > log\n# base timestamp: 5\n5 # 1504\n6 + 1504\n9 # 1504\n"
    )
    assert read(tmp_path, mm_link, "mm.log").opportunities == [0, 4]


def test_further_formats_of_tools_are_read(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [{"event": "start", "data": {"test_start": {"reverse": 0}}}]
    for n, rate in enumerate(RATES):
        of_sum = {"start": n, "end": n + 1, "bits_per_second": rate * 1e6}
        events.append({"event": "interval", "data": {"streams": [], "sum": of_sum}})
    check(read(tmp_path, "\n".join(map(json.dumps, events)), "stream.json"), 10, MEAN)
    flent = {
        "x_values": list(range(10)),
        "results": {"TCP download": RATES, "TCP upload": [1.0] * 10, "Ping (ms) ICMP": [30.0] * 10},
    }
    log = read(tmp_path, gzip.compress(json.dumps(flent).encode()), "x.flent.gz")
    check(log, 10, MEAN)
    assert (log.base_rtt_ms, log.has_both) == (30.0, True)
    ookla = (
        {
            "timestamp": f"2024-05-01T10:{n:02d}:00Z",
            "ping": {"latency": 20.5},
            "download": {"bandwidth": rate * 125_000},
            "upload": {"bandwidth": 1},
        }
        for n, rate in enumerate(RATES)
    )
    check(read(tmp_path, "\n".join(map(json.dumps, ookla)), "ookla.json"), 600, MEAN)
    check(read(tmp_path, json.dumps({"time": list(range(10)), "rate_mbps": RATES})), 10, MEAN)
    check(read(tmp_path, json.dumps([[n, rate] for n, rate in enumerate(RATES)])), 10, MEAN)
    graph = table(
        '"Interval start","All Bytes"', *(f"{n},{r * 125_000:.0f}" for n, r in enumerate(RATES))
    )
    check(read(tmp_path, graph), 10, MEAN)
    drive = "Tool: X\n\nTIME_STAMP,Lat,RSRP [dBm],DL Throughput [Mbps],UL Throughput [Mbps]\n"
    rows = (f"05/01/2024 10:00:{n:02d}.000,1.5,-95,{rate},1.5" for n, rate in enumerate(RATES))
    check(read(tmp_path, drive + "\n".join(rows)), 10, MEAN)
    midnight = (
        (f"23:59:{55 + n}" if n < 5 else f"00:00:{n - 5:02d}", rate) for n, rate in enumerate(RATES)
    )
    check(
        read(tmp_path, table("Time;rate (bit/s)", *(f"{t};{r * 1e6:.0f}" for t, r in midnight))),
        10,
        MEAN,
    )
    days = (f"{45413.5 + n / 86_400:.9f};{rate}".replace(".", ",") for n, rate in enumerate(RATES))
    check(read(tmp_path, table("Date;Downlink [Mbit/s]", *days)), 10, MEAN)
    check(
        read(
            tmp_path, table("time,rate", "s,kbit/s", *(f"{n},{r * 1e3}" for n, r in enumerate(RATES)))
        ),
        10,
        MEAN,
    )
    check(
        read(tmp_path, table("time_s,rate", *(f"{n},{r} Mbps" for n, r in enumerate(RATES)))),
        10,
        MEAN,
    )


def test_a_long_table_is_read_as_a_short_one(tmp_path: Path) -> None:
    rates = [10 + n % 7 for n in range(40_000)]
    rows = [f"{1714550400 + n}.5,{rate}" for n, rate in enumerate(rates)]
    check(read(tmp_path, table("timestamp,throughput_mbps", *rows)), 40_000, sum(rates) / 40_000)
    # The missing value is far behind the rows from which the columns are inferred.
    for missing in ("", "-", "n/a"):
        rows[30_000] = f"{1714550400 + 30_000}.5,{missing}"
        log = read(tmp_path, table("timestamp,throughput_mbps", *rows))
        check(log, 39_999, (sum(rates) - rates[30_000]) / 39_999)
        assert "1 without a rate" in log.summary


def test_a_log_in_a_scenario_goes_where_the_scenario_goes(tmp_path: Path) -> None:
    rows = (f"{n},{rate},{rate / 10},{40 + n}" for n, rate in enumerate(RATES))
    log = tmp_path / "log.csv"
    log.write_text(table("time_s,dl_mbps,ul_mbps,rtt_ms", *rows))
    alone = ct.load_scenario(log)
    assert {side: round(mean, 2) for _, side, _, _, mean in alone.traces} == {
        "down": MEAN,
        "up": MEAN / 10,
    }
    assert 'rtt = "40' in alone.to_toml()
    assert ct.load_scenario(log, changes={"path.rtt": "90ms"}).to_toml().count("90ms")
    named = tmp_path / "named.toml"
    named.write_text('[path]\ndown = { trace = "log.csv", holes = "hold" }\n')
    pickled = pickle.dumps(ct.load_scenario(named))
    log.unlink()
    again = pickle.loads(pickled)
    assert again.traces[0][4] == pytest.approx(MEAN)
    assert again.with_changes(["duration=1s"]).traces == again.traces


def test_a_connection_log_is_a_demand(tmp_path: Path) -> None:
    head = "#separator \\x09\n#path\tconn\n#fields\tts\tduration\torig_bytes\tresp_bytes\n"
    rows = "100.0\t10.0\t10\t10000000\n105.0\t5.0\t10\t5000000\n"
    log = read(tmp_path, head + rows, "conn.log")
    check(log, 10, 12.0)
    assert "a demand" in log.summary


def test_tests_far_apart_are_samples(tmp_path: Path) -> None:
    head = "Server ID,Sponsor,Server Name,Timestamp,Distance,Ping,Download,Upload,Share,IP Address"
    rows = [
        f"1,Op,City,2024-05-01T{10 + n}:00:00.0Z,1.0,22.5,{rate * 1e6},1000000.0,,10.0.0.1"
        for n, rate in enumerate(RATES)
    ]
    log = read(tmp_path, table(head, *rows))
    check(log, 36_000, MEAN)
    assert "a sample and not the capacity until the next one" in log.summary
    assert log.imputed_share > 0.9


@pytest.mark.parametrize(
    ("text", "option"),
    [
        (
            "Timestamp,DL_bitrate,UL_bitrate\n2024.05.01_10.00.00,21000000,1\n2024.05.01_10.00.01,2,1\n",
            "--unit",
        ),
        ("".join(f"{n}\t{600 + 7 * n}\n" for n in range(30)), "--unit"),
        ("throughput_mbps\n20\n21\n19\n", "--step"),
        ("run_num,seq_num,throughput_mbps\n1,0,20\n1,1,21\n", "--step"),
        ("time,a_mbps,b_mbps\n0,1,2\n1,2,1\n", "--column"),
        ("time_s,uplink_mbps\n0,1\n1,1\n", "--direction up"),
        ("time,throughput_mbps\n0,24000\n1,25000\n", "--unit"),
        ("".join(f"{n * 1000},5\n" for n in range(30)), "--unit"),
        (
            "time,throughput_mbps\n01/02/2024 10:00,1\n03/02/2024 10:00,1\n05/02/2024 09:00,1\n",
            "--dates",
        ),
    ],
)
def test_an_ambiguous_log_is_refused_with_the_option_to_give(
    tmp_path: Path, text: str, option: str
) -> None:
    with pytest.raises(ct.CelltcpError, match=option):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\x00\x01\x02", "is no text"),
        ("{]", "no JSON"),
        ('{"a": 1}', "JSON without records"),
        ("hello\nworld\n", "is a rate or an amount"),
        ("time,throughput_mbps\n", "no line"),
        ("time,throughput_mbps\n0,0\n1,0\n", "zero all the time"),
    ],
)
def test_other_files_are_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ct.CelltcpError, match=message):
        read(tmp_path, text)


def test_a_log_that_looks_like_a_demand_is_called_so(tmp_path: Path) -> None:
    draw = random.Random(5)
    idle = "".join(f"{n},{0 if n % 4 else draw.uniform(5, 9):.2f}\n" for n in range(80))
    assert "looks like a demand" in read(tmp_path, "time_s,rate_mbps\n" + idle).summary
    busy = "".join(f"{n},{draw.uniform(5, 9):.2f}\n" for n in range(80))
    assert read(tmp_path, "time_s,rate_mbps\n" + busy).demand_reason is None


@pytest.mark.parametrize(
    "seeds", [range(50), pytest.param(range(50, 600), marks=pytest.mark.slow)], ids=["50", "550"]
)
def test_random_tables_are_read_right_or_refused(tmp_path: Path, seeds: range) -> None:
    refused = sum(_is_refused(tmp_path, seed) for seed in seeds)
    # Refusing every table would pass the checks above.
    assert refused < 0.05 * len(seeds)


def _is_refused(folder: Path, seed: int) -> bool:
    expected = random_table(random.Random(seed))
    file = folder / f"{seed}{expected.ending}"
    file.write_bytes(expected.data)
    try:
        log = read_log(file, {}, "down")
    except ct.CelltcpError as error:
        assert "--" in str(error), (seed, error)  # noqa: PT017 - others are read
        return True
    length, mean = length_and_mean(log)
    assert mean == pytest.approx(expected.mean_bps / 1e6, rel=1e-3), (seed, log.summary)
    assert length == pytest.approx(expected.length_s, rel=1e-2), (seed, log.summary)
    return False
