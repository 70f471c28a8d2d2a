"""Clocks of logs: set back, without dates or years, newest first, with days."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import celltcp as ct
from reading_logs import MEAN, RATES, check, read, table

#: 2024-05-01 08:00:00 UTC.
EPOCH = 1_714_550_400
#: The last moment of summer time in Central Europe, UTC.
END_OF_SUMMER = dt.datetime(2024, 10, 27, 1)


def _local(moment: dt.datetime) -> str:
    hours = 2 if moment < END_OF_SUMMER else 1
    return f"{moment + dt.timedelta(hours=hours):%Y-%m-%d %H:%M:%S}"


@pytest.mark.parametrize("step_s", [1, 600])
def test_the_end_of_summer_time_doubles_no_hour(tmp_path: Path, step_s: int) -> None:
    start = END_OF_SUMMER - dt.timedelta(seconds=5 * step_s)
    moments = [_local(start + dt.timedelta(seconds=n * step_s)) for n in range(10)]
    rows = (f"{moment},{rate}" for moment, rate in zip(moments, RATES, strict=True))
    log = read(tmp_path, table("time,throughput_mbps", *rows))
    check(log, 10 * step_s, MEAN)
    assert "2 runs, one after another" in log.summary


def test_a_clock_that_is_set_back_does_not_mix_rows(tmp_path: Path) -> None:
    times = [EPOCH + n - (3 if n >= 5 else 0) for n in range(10)]
    rows = [f"{time}.5,{rate}" for time, rate in zip(times, RATES, strict=True)]
    check(read(tmp_path, table("time,throughput_mbps", *rows)), 10, MEAN)
    # Rows of which some came late are out of order.
    rows = [f"{EPOCH + n}.5,{rate}" for n, rate in enumerate(RATES)]
    rows[4], rows[5] = rows[5], rows[4]
    log = read(tmp_path, table("time,throughput_mbps", *rows))
    check(log, 10, MEAN)
    assert "1 out of order, sorted" in log.summary


def test_parts_in_another_order_are_sorted(tmp_path: Path) -> None:
    parts = [[f"{EPOCH + n},{rate}" for n, rate in enumerate(RATES)][at : at + 5] for at in (5, 0)]
    log = read(tmp_path, table("time,throughput_mbps", *parts[0], *parts[1]))
    check(log, 10, MEAN)
    assert log.bps[0] == RATES[0] * 1e6


def test_the_newest_row_may_be_the_first(tmp_path: Path) -> None:
    rows = [f"{EPOCH + n},{rate}" for n, rate in enumerate(RATES)][::-1]
    log = read(tmp_path, table("timestamp,mbps", *rows))
    check(log, 10, MEAN)
    assert log.bps[0] == RATES[0] * 1e6


@pytest.mark.parametrize(
    "form",
    [
        "May  1 10:00:{n:02d}",
        "01/May/2024:10:00:{n:02d} +0200",
        "0 days 00:00:{n:02d}",
        "0:00:{n:02d}.0",
    ],
)
def test_times_of_servers_and_of_data_frames(tmp_path: Path, form: str) -> None:
    rows = (f"{form.format(n=n)},{rate}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("time,mbps", *rows)), 10, MEAN)


def test_a_day_of_a_duration_counts(tmp_path: Path) -> None:
    rows = (f"{n // 2} days {n % 2 * 12:02d}:00:00,{rate}" for n, rate in enumerate(RATES))
    check(read(tmp_path, table("time,mbps", *rows)), 10 * 43_200, MEAN)


def test_minutes_are_asked_for(tmp_path: Path) -> None:
    text = table("elapsed,mbps", *(f"00:{n:02d},{rate}" for n, rate in enumerate(RATES)))
    with pytest.raises(ct.CelltcpError, match="--step 60s or --step 1s"):
        read(tmp_path, text)
    check(read(tmp_path, text, step="1s"), 10, MEAN)
    check(read(tmp_path, text, step="60s"), 600, MEAN)
    later = table("time,mbps", *(f"10:{n:02d},{rate}" for n, rate in enumerate(RATES)))
    check(read(tmp_path, later), 600, MEAN)


def test_times_without_their_seconds_are_named(tmp_path: Path) -> None:
    text = table("timestamp,mbps", *(f"1.71455E+09,{rate}" for rate in RATES))
    with pytest.raises(ct.CelltcpError, match=r"all rows have the time 1\.71455E\+09.*--step"):
        read(tmp_path, text)
    check(read(tmp_path, text, step="1s"), 10, MEAN)


def test_a_counter_of_32_bits_goes_on(tmp_path: Path) -> None:
    count, rows = 2**32 - 10_000_000, []
    for n, rate in enumerate(RATES):
        rows.append(f"{EPOCH + n},{count % 2**32}")
        count += int(rate * 125_000)
    log = read(tmp_path, table("time,ifInOctets", *rows))
    check(log, 9, sum(RATES[:-1]) / 9)
    assert "resets" not in log.summary


@pytest.mark.parametrize(
    "form", ["%d-%m %H:%M:%S", "%m-%d %H:%M:%S.250", "%d.%m. %H:%M:%S", "%b %d %H:%M:%S"]
)
def test_a_year_may_lack_and_end(tmp_path: Path, form: str) -> None:
    start = dt.datetime(2023, 12, 31, 23, 59, 55)
    moments = [start + dt.timedelta(seconds=n) for n in range(len(RATES))]
    rows = [f"{moment.strftime(form)};{rate}" for moment, rate in zip(moments, RATES, strict=True)]
    check(read(tmp_path, table("time;mbps", *rows)), 10, MEAN)


@pytest.mark.parametrize("start", [45_413.4, 739_373.4, 2_460_431.9])
def test_days_are_those_of_spreadsheets_matlab_or_julius(tmp_path: Path, start: float) -> None:
    rows = [f"{start + n / 86_400:.9f},{rate}" for n, rate in enumerate(RATES)]
    log = read(tmp_path, table("time,mbps", *rows))
    assert float(log.lengths.sum()) / 1e9 == pytest.approx(10, rel=1e-3)


def test_many_rows_in_a_minute_have_lost_their_seconds(tmp_path: Path) -> None:
    rows = [f"05/17/2024 09:{n // 12:02d},{RATES[n % 10]}" for n in range(60)]
    with pytest.raises(ct.CelltcpError, match=r"55 of 60 rows have the time of another one.*--step"):
        read(tmp_path, table("time,mbps", *rows))
    check(read(tmp_path, table("time,mbps", *rows), step="5s"), 300, MEAN)


def test_digits_of_clocks_are_asked_for(tmp_path: Path) -> None:
    rows = [f"{958 + n // 6}{n % 6}0,{RATES[n % 10]}" for n in range(20)]
    text = table("time,mbps", *(row.replace("960", "1000").replace("961", "1001") for row in rows))
    with pytest.raises(ct.CelltcpError, match=r"hours, minutes and seconds in one number.*--step"):
        read(tmp_path, text)
    check(read(tmp_path, text, step="10s"), 200, MEAN)
