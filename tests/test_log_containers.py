"""Containers of logs: packed files, Parquet, spreadsheets, JSON of data frames, drawn tables, pairs."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import celltcp as ct
from reading_logs import MEAN, RATES, check, read, table

TEXT = table("time,mbps", *(f"{n},{rate}" for n, rate in enumerate(RATES)))
SECONDS = list(range(len(RATES)))


@pytest.mark.parametrize("codec", ["zstd", "lz4", "gzip", "bz2"])
def test_a_log_may_be_packed(tmp_path: Path, codec: str) -> None:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(TEXT.encode())
    check(read(tmp_path, sink.getvalue().to_pybytes(), "x.csv.packed"), 10, MEAN)


def _zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name in names:
            packed.writestr(name, TEXT)
    return file.getvalue()


def test_a_zip_has_one_log(tmp_path: Path) -> None:
    check(read(tmp_path, _zipped("logs/a.csv"), "x.zip"), 10, MEAN)
    with pytest.raises(ct.CelltcpError, match=r'2 files.*"a\.csv", "b\.csv": unpack'):
        read(tmp_path, _zipped("a.csv", "b.csv"), "x.zip")


def _parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize("name", ["when", None])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_names_of_rows_in_parquet_are_times(tmp_path: Path, name: str | None, zone: str | None) -> None:
    index = pd.date_range("2024-05-01 10:00", periods=10, freq="s", name=name, tz=zone)
    log = read(tmp_path, _parquet(pd.DataFrame({"mbps": RATES}, index=index)), "x.parquet")
    check(log, 10, MEAN)
    lengths = pd.DataFrame({"t": pd.to_timedelta(SECONDS, unit="s"), "mbps": RATES})
    check(read(tmp_path, _parquet(lengths), "y.parquet"), 10, MEAN)


def test_the_sheet_with_the_table_is_read(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    file = io.BytesIO()
    times = pd.date_range("2024-05-01 10:00", periods=10, freq="s")
    with pd.ExcelWriter(file) as sheets:
        about = pd.DataFrame({"Info": ["Device", "Operator"], "Value": ["Phone", "Op A"]})
        about.to_excel(sheets, sheet_name="About", index=False)
        data = pd.DataFrame({"Time": times, "DL Mbps": RATES})
        data.to_excel(sheets, sheet_name="Data", index=False, startrow=3)
    log = read(tmp_path, file.getvalue(), "x.xlsx")
    check(log, 10, MEAN)
    assert 'sheet "Data" and not "About"' in log.summary


@pytest.mark.parametrize(
    "document",
    [
        {"time": dict(zip(map(str, SECONDS), SECONDS, strict=True)),
         "mbps": dict(zip(map(str, SECONDS), RATES, strict=True))},
        {str(n): {"time": n, "mbps": rate} for n, rate in enumerate(RATES)},
        {"columns": ["time", "mbps"], "index": SECONDS, "data": [list(e) for e in enumerate(RATES)]},
        {"results": [{"series": [
            {"name": "net", "columns": ["time", "mbps"], "values": [list(e) for e in enumerate(RATES)]}
        ]}]},
    ],
    ids=["columns", "index", "split", "influx"],
)  # fmt: skip
def test_json_of_data_frames_and_databases(tmp_path: Path, document: object) -> None:
    check(read(tmp_path, json.dumps(document), "x.json"), 10, MEAN)


def test_measurements_of_ndt7_are_a_counter_in_microseconds(tmp_path: Path) -> None:
    lines, count = [{"Key": "starting", "Value": {"Test": "download"}}], 0
    for test in ("download", "upload"):
        for n, rate in enumerate(RATES):
            app = {"ElapsedTime": 1_000_000 * n + 7, "NumBytes": count}
            lines.append({"Key": "measurement", "Value": {"AppInfo": app, "Test": test}})
            count += int(rate * 125_000)
        count = 0
    text = table(*map(json.dumps, lines))
    check(read(tmp_path, text, "ndt.json"), 9, sum(RATES[:-1]) / 9)
    check(read(tmp_path, text, "ndt.json", direction="up"), 9, sum(RATES[:-1]) / 9)


def test_tables_that_are_drawn_or_have_names_of_rows(tmp_path: Path) -> None:
    border = "+------+---------+"
    rows = [f"| {n:4d} | {rate:7.3f} |" for n, rate in enumerate(RATES)]
    check(read(tmp_path, table(border, "| t_s  | mbps    |", border, *rows, border)), 10, MEAN)
    rows = [f'"{n + 1}" {n} {rate}' for n, rate in enumerate(RATES)]
    check(read(tmp_path, table('"t" "mbps"', *rows)), 10, MEAN)


def test_lines_may_be_pairs_of_names_and_values(tmp_path: Path) -> None:
    rows = [f'time={n} rate={rate}Mbps note="two words" rtt=30ms' for n, rate in enumerate(RATES)]
    check(read(tmp_path, table(*rows), "x.log"), 10, MEAN)


@pytest.mark.parametrize(
    "head",
    [
        "temps (s);débit descendant (Mb/s);débit montant (Mb/s)",
        "Zeit;Empfangen [Mbit/s];Gesendet [Mbit/s]",
        "Time [s];PDSCH Throughput [Mbps];PUSCH Throughput [Mbps]",
    ],
)
def test_names_in_other_languages_and_of_channels(tmp_path: Path, head: str) -> None:
    rows = (f"{n};{rate};1.5" for n, rate in enumerate(RATES))
    log = read(tmp_path, table(head, *rows))
    check(log, 10, MEAN)
    assert log.has_both
