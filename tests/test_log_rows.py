"""Rows of logs: amounts and counters, lines and blocks of pairs, units beside values, two headers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from reading_logs import MEAN, RATES, check, read, table

#: Bytes per second in one Mbit/s.
BYTES = 125_000
#: 2024-05-01 08:00:00 UTC.
EPOCH = 1_714_550_400


def _counts(start: int = 4_000_000) -> list[int]:
    """Returns a counter before each second and after the last one."""
    result = [start]
    for rate in RATES:
        result.append(result[-1] + round(rate * BYTES))
    return result


def test_a_counter_with_a_step_counts_differences(tmp_path: Path) -> None:
    counter = table("rx_bytes", *map(str, _counts()))
    check(read(tmp_path, counter, step="1s"), 10, MEAN)
    lengths = table("duration_s,rx_bytes", *(f"1.0,{count}" for count in _counts()))
    check(read(tmp_path, lengths), 10, MEAN)
    rates = table("duration_s,mbps", *(f"1.0,{rate}" for rate in RATES))
    check(read(tmp_path, rates), 10, MEAN)


def test_amounts_of_the_same_time_are_added(tmp_path: Path) -> None:
    rows = [f"{n},{round(rate * BYTES / 4)}" for n, rate in enumerate(RATES) for _ in range(4)]
    log = read(tmp_path, table("time_s,bytes", *rows))
    check(log, 10, MEAN)
    assert "30 with the time of another one, added up" in log.summary


def test_amounts_with_a_stall_are_no_counter(tmp_path: Path) -> None:
    rows = [f"{n / 10},{0 if 50 < n < 90 else 12_500}" for n in range(200)]
    with pytest.raises(ct.CelltcpError, match="--counter or --no-counter"):
        read(tmp_path, table("time_s,bytes", *rows))
    check(read(tmp_path, table("time_s,bytes", *rows), counter=False), 20, 161 / 200)
    begin = [f"{n},{12_500 * (n > 3)}" for n in range(20)]
    with pytest.raises(ct.CelltcpError, match="--counter or --no-counter"):
        read(tmp_path, table("time_s,bytes", *begin))


def test_amounts_are_not_spread_over_a_row_that_lacks(tmp_path: Path) -> None:
    rows = [f"{n},{round(rate * BYTES)}" for n, rate in enumerate(RATES) if n not in (4, 5)]
    log = read(tmp_path, table("time_s,bytes", *rows))
    check(log, 8, (sum(RATES) - RATES[4] - RATES[5]) / 8)
    assert "not measured: 1 hole, 2 s in all" in log.summary


def test_a_column_of_the_steps_says_when_an_amount_began(tmp_path: Path) -> None:
    # Logs of buses: time, time of the run, place, bytes, and the time since the line before.
    now, lines = 0, []
    for n, rate in enumerate(RATES):
        step = 1_000 + 37 * n % 90
        now += step
        lines.append(
            f"{EPOCH * 1_000 + now} {now} 59.85 10.78 {round(rate * BYTES * step / 1e3)} {step}"
        )
    log = read(tmp_path, table(*lines), column="1,5", unit="B")
    assert "a rate is of the time that ends at its row" in log.summary
    assert log.bps[0] == pytest.approx(RATES[1] * 1e6, rel=1e-3)


def test_amounts_of_a_moment_are_no_rates(tmp_path: Path) -> None:
    rows = [f"{n},{1_000 * n},{rate}" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table("time_s,bytes_in_flight,rx_mbps", *rows)), 10, MEAN)


@pytest.mark.parametrize(
    "line",
    [
        "net,host=a,interface=eth0 rx_bytes={count}i,tx_bytes=5i {time}000000000",
        "2024-05-01 08:00:{n:02d},250 - INFO - rx_bytes={count} tx_bytes=7",
        "05-01 08:00:{n:02d}.250  8123  8150 D Monitor: rx_bytes={count} tx_bytes=7",
        "May  1 08:00:{n:02d} gateway mon[7]: rx_bytes={count} tx_bytes=7",
        "[{time}.5] rx_bytes={count}, tx_bytes=7",
        "2024-05-01 08:00:{n:02d} rx_bytes: {count}",
    ],
)
def test_pairs_may_have_a_time_beside_them(tmp_path: Path, line: str) -> None:
    rows = [line.format(n=n, count=count, time=EPOCH + n) for n, count in enumerate(_counts())]
    check(read(tmp_path, table("--------- beginning of main", *rows), "x.log"), 10, MEAN)


def test_a_pair_may_have_a_unit(tmp_path: Path) -> None:
    rows = [f"2024-05-01 08:00:{n:02d} throughput: {rate} Mbps" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table(*rows), "x.log"), 10, MEAN)


def test_blocks_of_values_are_rows(tmp_path: Path) -> None:
    blocks = [
        f"{EPOCH + n}\nNIC statistics:\n     rx_packets: 9\n     rx_bytes: {count}\n     tx_bytes: 1\n"
        for n, count in enumerate(_counts())
    ]
    check(read(tmp_path, "".join(blocks), "x.txt"), 10, MEAN)
    router = "".join(
        f"   name: lte1\n  rx-packets-per-second: 1 890\n  rx-bits-per-second: {rate}Mbps\n\n"
        for rate in RATES
    )
    check(read(tmp_path, router, "x.txt", step="1s"), 10, MEAN)


def test_pairs_within_a_table_are_no_rows(tmp_path: Path) -> None:
    rows = [
        f'"{n}.0","a","{round(rate * BYTES)}","Seq={n} Ack=1 Len=9"' for n, rate in enumerate(RATES)
    ]
    text = table('"time_s","source","bytes","info"', *rows)
    check(read(tmp_path, text), 10, MEAN)


def test_values_with_a_decimal_comma_may_have_units(tmp_path: Path) -> None:
    rows = [f"01.05.2024 08:00:{n:02d};{rate:.2f}".replace(".", ",") for n, rate in enumerate(RATES)]
    rows = [f"{row.replace('01,05,', '01.05.')} Mbit/s" for row in rows]
    check(read(tmp_path, table("Zeit;Download", *rows)), 10, MEAN)


def test_a_unit_beside_the_values_counts(tmp_path: Path) -> None:
    beside = [f"{n},{rate}Mbps" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table("time_s,speed (kbps)", *beside)), 10, MEAN)
    letters = table("time_s,rx B/s", *(f"{n},{rate * 125}k" for n, rate in enumerate(RATES)))
    with pytest.raises(ct.CelltcpError, match=r'have "k" behind them.*--unit'):
        read(tmp_path, letters)
    check(read(tmp_path, letters, unit="kB/s"), 10, MEAN)
    mixed = [
        f"{n},{f'{rate} Mb/s' if rate > 10 else f'{rate * 1e3} kb/s'}" for n, rate in enumerate(RATES)
    ]
    text = table("time_s,rx", *mixed)
    check(read(tmp_path, text), 10, MEAN)
    with pytest.raises(ct.CelltcpError, match="leave --unit out"):
        read(tmp_path, text, unit="kbit/s")


def test_a_second_line_of_names_may_have_blanks(tmp_path: Path) -> None:
    rows = (f"2024-05-01 08:00:{n:02d},1.5,7,{rate}" for n, rate in enumerate(RATES))
    text = table("TIME_STAMP,GPS,PCell,PCell", ",Lon,PCI,DL Throughput[Mbps]", *rows)
    log = read(tmp_path, text)
    check(log, 10, MEAN)
    assert 'rate "PCell DL Throughput[Mbps]"' in log.summary


def test_parts_of_a_date_are_no_times(tmp_path: Path) -> None:
    rows = (f"1,{n // 60},{n % 60},{rate * BYTES * 60:.0f}" for n, rate in enumerate(RATES))
    text = table("day,hour,minute,rx_bytes", *rows)
    with pytest.raises(ct.CelltcpError, match="--step says how long a row lasts"):
        read(tmp_path, text)
    check(read(tmp_path, text, step="60s"), 600, MEAN)


def test_runs_may_differ_in_two_columns(tmp_path: Path) -> None:
    rows = [
        f"{unit},{EPOCH + n},{sequence},{rate * unit * sequence}"
        for unit in (1, 2)
        for n, rate in enumerate(RATES)
        for sequence in (1, 2)
    ]
    text = table("unit_id,time,sequence,mbps", *rows)
    with pytest.raises(ct.CelltcpError, match="--run unit_id=1,sequence=1 reads one of them"):
        read(tmp_path, text, run="unit_id=1")
    check(read(tmp_path, text, run="unit_id=2,sequence=2"), 10, 4 * MEAN)
    names = table("time,place,mbps", *(f"{n};Oslo, Norway;{rate}" for n, rate in enumerate(RATES)))
    check(
        read(tmp_path, names.replace("time,place,", "time;place;"), run="place=Oslo, Norway"), 10, MEAN
    )


@pytest.mark.parametrize(
    ("records", "options"),
    [
        (
            [
                {"timestamp": EPOCH + n, "ues": [{"dl_brate": rate * 1e6}]}
                for n, rate in enumerate(RATES)
            ],
            {"unit": "bit/s"},
        ),
        ([[{"ifname": "lte1", "rx": {"bytes": count}}] for count in _counts()], {"step": "1s"}),
        (
            [
                {"timestamp": "2024-05-01T08:00:00Z", "type": "download", "download": each}
                for each in (
                    {"progress": n / 10, "elapsed": 1_000 * n, "bytes": count, "bandwidth": 1}
                    for n, count in enumerate(_counts(0))
                )
            ],
            {},
        ),
    ],
    ids=["lists", "alone", "ookla"],
)
def test_records_of_tools_in_lines(tmp_path: Path, records: list[Any], options: dict[str, str]) -> None:
    lines = table(*map(json.dumps, records))
    check(read(tmp_path, lines, "x.jsonl", **options), 10, MEAN)
    # A sign stands before each record of a sequence, RFC 7464.
    sequence = "".join(f"\x1e{line}\n" for line in lines.splitlines())
    check(read(tmp_path, sequence, "x.json-seq", **options), 10, MEAN)


def test_progress_of_two_directions_is_told_apart(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"type": "ping", "ping": {"latency": 9.5}}]
    for name, factor in (("download", 1), ("upload", 2)):
        records += [
            {"type": name, name: {"progress": 0.1, "elapsed": 1_000 * n, "bytes": count * factor}}
            for n, count in enumerate(_counts(0))
        ]
    records.append({"type": "result", "download": {"bandwidth": 5, "bytes": 9, "elapsed": 9_999}})
    text = table(*map(json.dumps, records))
    check(read(tmp_path, text, "x.jsonl"), 10, MEAN)
    log = read(tmp_path, text, "x.jsonl", direction="up")
    check(log, 10, 2 * MEAN)
    assert log.has_both


@pytest.mark.parametrize("times", ["{n}0,{n}5", "2024-05-01 08:{n:02d}:00,2024-05-01 08:{n:02d}:05"])
def test_rows_last_until_their_ends(tmp_path: Path, times: str) -> None:
    rows = (f"{times.format(n=n + 1)},{rate * BYTES * 5:.0f}" for n, rate in enumerate(RATES))
    text = table("start,end,bytes", *rows)
    log = read(tmp_path, text)
    check(log, 50, MEAN)
    assert "not measured: 9 holes" in log.summary
    # Flows are of the same time.
    flows = table("start_s,end_s,bytes", *(f"{n},{n + 5},{9_000 + n}" for n in range(20)))
    with pytest.raises(ct.CelltcpError, match=r'until "end_s" are of the same time.*--step'):
        read(tmp_path, flows)


def test_rows_may_have_a_direction_each(tmp_path: Path) -> None:
    rows = [
        f"{EPOCH + 2 * n + position},{name},{rate * (1 + position)}"
        for n, rate in enumerate(RATES)
        for position, name in enumerate(("download", "upload"))
    ]
    text = table("timestamp,test,mbps", *rows)
    log = read(tmp_path, text)
    check(log, 20, MEAN)
    assert "rows of test=download" in log.summary
    check(read(tmp_path, text, direction="up"), 20, 2 * MEAN)
    check(read(tmp_path, text, run="test=upload"), 20, 2 * MEAN)
    several = text.replace("download", "DL-TCP", 5).replace("download", "DL-UDP")
    with pytest.raises(ct.CelltcpError, match="--run test=DL-TCP reads one of them"):
        read(tmp_path, several)
    # The state of a link is no direction.
    states = table(
        "time_s,state,mbps",
        *(f"{n},{'up' if n % 3 else 'down'},{rate}" for n, rate in enumerate(RATES)),
    )
    check(read(tmp_path, states), 10, MEAN)


def test_counters_of_several_devices_are_told_apart(tmp_path: Path) -> None:
    pairs = zip(_counts(), _counts(3_000_000), strict=True)
    rows = [
        f"{EPOCH + n}.{position}00,{name},{count}"
        for n, counts in enumerate(pairs)
        for position, (name, count) in enumerate(zip(("lte1", "lte2"), counts, strict=True))
    ]
    text = table("time,iface,rx_bytes", *rows)
    with pytest.raises(ct.CelltcpError, match="--run iface=lte1 reads one of them"):
        read(tmp_path, text)
    check(read(tmp_path, text, run="iface=lte1"), 10, MEAN)


def test_the_speed_of_a_link_is_no_rate(tmp_path: Path) -> None:
    rows = (f"{EPOCH + n},433,{count}" for n, count in enumerate(_counts()))
    check(read(tmp_path, table("timestamp,linkSpeed_Mbps,rx_bytes", *rows)), 10, MEAN)


def test_a_second_table_is_left_out(tmp_path: Path) -> None:
    rows = [f"{n},{rate}" for n, rate in enumerate(RATES)]
    log = read(tmp_path, table("time_s,mbps", *rows, "", "percentile,mbps", "50,19.0", "95,33.0"))
    check(log, 10, MEAN)
    assert '3 lines from "percentile" on left out' in log.summary
    # The same names again begin no other table.
    again = table("time_s,mbps", *rows, "time_s,mbps", *rows)
    check(read(tmp_path, again), 20, MEAN)


def test_names_may_be_more_than_the_fields_of_most_rows(tmp_path: Path) -> None:
    rows = [f"{n},{rate / 8}{',handover' if n % 6 == 0 else ''}" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table("time,MB/s,event", *rows)), 10, MEAN)


@pytest.mark.parametrize(
    "head", ["Time (s)  Rate (MB/s)", "Time     DL MB/s", "% time [s]  rate [MB/s]", "// time  MB/s"]
)
def test_names_in_spaces_have_their_units(tmp_path: Path, head: str) -> None:
    check(read(tmp_path, table(head, *(f"{n} {rate / 8}" for n, rate in enumerate(RATES)))), 10, MEAN)


def test_kilobytes_of_ifstat_are_1024_bytes(tmp_path: Path) -> None:
    rows = (f"08:00:{n:02d}  {rate * 1e6 / 8 / 1024:.4f}  1.00" for n, rate in enumerate(RATES))
    text = table("  Time           eth0", "HH:MM:SS   KB/s in  KB/s out", *rows)
    check(read(tmp_path, text), 10, MEAN)


def test_a_rate_may_have_its_second_behind_a_line(tmp_path: Path) -> None:
    rows = (f"{2 * n},{rate / 8}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("time_s,rx_MB_s", *rows)), 20, MEAN)


def test_a_value_without_the_unit_of_the_others_is_none(tmp_path: Path) -> None:
    rows = [f"{n},{rate} Mbps" for n, rate in enumerate(RATES)]
    log = read(tmp_path, table("time_s,rx", *rows, "10,7.5", "11,0"))
    check(log, 11, MEAN * 10 / 11)
    assert '1 values such as "7.5" are no numbers' in log.summary


def test_spaces_in_names_and_dates_separate_nothing(tmp_path: Path) -> None:
    rows = (f"10/28/2023 09:09:{n:02d} AM\t{rate}\t1.5" for n, rate in enumerate(RATES))
    text = table("Device\tPixel", "time\tdownload [Mbit/s]\tup [Mbit/s]", *rows)
    check(read(tmp_path, text), 10, MEAN)


def test_counters_are_those_of_each_run(tmp_path: Path) -> None:
    rows = [f"{run},{n},{count}" for run in (1, 2) for n, count in enumerate(_counts(9_000_000_000))]
    check(read(tmp_path, table("run,time_s,rx_bytes", *rows)), 20, MEAN)
    # Lines below have no times.
    below = table("time_s,rx_bytes", *(row[2:] for row in rows[:11]), "Average,1")
    check(read(tmp_path, below), 10, MEAN)
    late = [*rows[:3], rows[5], rows[3], rows[4], *rows[6:11]]
    check(read(tmp_path, table("run,time_s,rx_bytes", *late)), 10, MEAN)


def test_rows_of_events_do_not_end_a_rate(tmp_path: Path) -> None:
    rows = [
        row
        for n, rate in enumerate(RATES)
        for row in (f"{n},,{rate}", *([f"{n}.4,handover,"] if n % 3 == 0 else []))
    ]
    check(read(tmp_path, table("time_s,event,mbps", *rows)), 10, MEAN)
    # Radio values are measured more often.
    often = [f"{n / 10},-{90 + n % 7},{RATES[n // 10] if n % 10 == 0 else ''}" for n in range(100)]
    log = read(tmp_path, table("time_s,RSRP,mbps", *often))
    assert float(log.lengths.sum()) / 1e9 == pytest.approx(10, abs=1)
    # A rate that lacks is a hole.
    lost = [f"{n},{'' if n == 4 else rate}" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table("time_s,mbps", *lost)), 9, (sum(RATES) - RATES[4]) / 9)


def test_series_in_turn_are_not_mixed(tmp_path: Path) -> None:
    rows = [
        f"{EPOCH + 60 * n + 20 * position},{name},{rate / (1 + position)}"
        for n, rate in enumerate(RATES)
        for position, name in enumerate(("Gent", "Tokyo"))
    ]
    text = table("timestamp,server,mbps", *rows)
    with pytest.raises(ct.CelltcpError, match="--run server=Gent reads one of them, --column"):
        read(tmp_path, text)
    check(read(tmp_path, text, run="server=Gent"), 600, MEAN)
    assert "20 rows" in read(tmp_path, text, column="timestamp,mbps").summary


def test_amounts_of_a_minute_are_asked_for(tmp_path: Path) -> None:
    rows = (f"{n},{rate}" for n, rate in enumerate(RATES))
    with pytest.raises(ct.CelltcpError, match="does not tell the unit"):
        read(tmp_path, table("time_s,rx bytes/min", *rows))


def test_a_time_goes_before_a_day(tmp_path: Path) -> None:
    rows = (f"2024-05-01,2024-05-01 08:00:{n:02d} UTC,{rate}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("date,TestTime,mbps", *rows)), 10, MEAN)


def test_lists_of_a_direction_each(tmp_path: Path) -> None:
    down = [{"time": EPOCH + n, "bps": rate * 1e6} for n, rate in enumerate(RATES)]
    up = [{"time": EPOCH + n, "bps": 2e6} for n in range(30)]
    text = json.dumps({"results": {"upload": up, "download": down}})
    check(read(tmp_path, text, "x.json"), 10, MEAN)
    check(read(tmp_path, text, "x.json", direction="up"), 30, 2.0)


def test_lists_in_records_are_texts(tmp_path: Path) -> None:
    records = [
        {"time": EPOCH + n, "place": [3.7, 51.0 + n], "mbps": rate} for n, rate in enumerate(RATES)
    ]
    check(read(tmp_path, json.dumps(records), "x.json"), 10, MEAN)
