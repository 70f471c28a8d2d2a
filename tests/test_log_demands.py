"""Tests with TCP that did not fill their link: their rates are no capacity."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from celltcp.cli import celltcp as commands
from celltcp.logs.log import read_log
from celltcp.scenarios.scenarios import ScenarioSource


def _report(rtts_ms: list[float], retransmits: int, cca: str = "cubic") -> str:
    """Returns a report of iperf3 -J, a row a second."""
    intervals = [
        {
            "streams": [{"rtt": round(1e3 * rtt), "retransmits": retransmits}],
            "sum": {
                "start": at,
                "end": at + 1,
                # A window that losses reduce has another rate each time.
                "bits_per_second": (1.2e7, 2e7, 2.8e7)[at % 3],
                "retransmits": retransmits,
            },
        }
        for at, rtt in enumerate(rtts_ms)
    ]
    return json.dumps({"start": {}, "intervals": intervals, "end": {"sender_tcp_congestion": cca}})


_FLAT = [45.0, 47.0, 52.0, 50.0, 49.0, 46.0, 51.0, 48.0, 50.0, 47.0]
_QUEUED = [45.0, 90.0, 140.0, 180.0, 120.0, 150.0, 170.0, 190.0, 130.0, 160.0]


@pytest.mark.parametrize(
    ("rtts_ms", "retransmits", "cca", "wanted"),
    [
        (_FLAT, 5, "cubic", "50 retransmissions may have held TCP back"),
        (_FLAT, 0, "reno", "windows may have held TCP back"),
        (_QUEUED, 5, "cubic", None),
        # BBR fills a link without a queue.
        (_FLAT, 5, "bbr", None),
        # Too few rows say nothing.
        (_FLAT[:4], 5, "cubic", None),
    ],
)
def test_a_test_with_tcp_whose_rtt_stayed_low_may_not_have_filled_the_link(
    rtts_ms: list[float], retransmits: int, cca: str, wanted: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "test.json"
    file.write_text(_report(rtts_ms, retransmits, cca))
    looks_like = read_log(file, {}, "down").demand_reason
    assert (wanted in looks_like) if wanted and looks_like else looks_like == wanted


def test_the_report_of_a_sender_as_text_has_windows_in_place_of_rtts(tmp_path: Path) -> None:
    """Cwnd over rate is the RTT: 150 KB at 24.6 Mbit/s are 50 ms."""

    def text(windows_kb: list[float], mbps: list[float]) -> str:
        return "".join(
            f"[  5]  {n}.00-{n + 1}.00  sec  2.4 MBytes  {rate} Mbits/sec  4  {window} KBytes\n"
            for n, (window, rate) in enumerate(zip(windows_kb, mbps, strict=True))
        )

    file = tmp_path / "iperf.txt"
    rates = [12.3, 24.6, 18.4, 30.8] * 3
    file.write_text(text([rate * 150 / 24.6 for rate in rates], rates))
    assert "48 retransmissions may have" in (read_log(file, {}, "down").demand_reason or "")
    # With a queue the window grows and the rate does not.
    file.write_text(text([80, 150, 220, 300] * 3, rates))
    assert read_log(file, {}, "down").demand_reason is None
    # A steady link may have a queue that never empties.
    file.write_text(text([150, 152, 151, 150] * 3, [24.6, 24.5, 24.6, 24.7] * 3))
    assert read_log(file, {}, "down").demand_reason is None


def test_compare_warns_of_a_log_that_is_no_capacity(tmp_path: Path) -> None:
    file = tmp_path / "test.json"
    file.write_text(_report(_FLAT, 5))
    options = ["--cca", "cubic", "--runs", "1", "--duration", "2s", "--quiet"]
    done = CliRunner().invoke(commands, ["compare", str(file), *options])
    assert done.exit_code == 0, done.output
    assert (
        "warning: the downlink's log does not show the capacity: its RTT stayed near the lowest"
        in done.stderr
    )


def test_compare_warns_of_rates_of_acks_beside_those_of_an_upload(tmp_path: Path) -> None:
    """A log of an upload has the rates of its ACKs as those of the downlink."""
    file = tmp_path / "upload.csv"
    rows = (f"{n},{(0, 0, 80)[n % 3]},{9000 + 700 * (n % 7)}\n" for n in range(60))
    file.write_text("time_s,dl_kbps,ul_kbps\n" + "".join(rows))
    upload = ["--set", "flows.0.from=phone", "--set", "flows.0.to=server"]
    command = ["compare", str(file), *upload, "--runs", "1", "--duration", "2s", "--cca", "cubic"]
    output = CliRunner().invoke(commands, command).stderr
    assert "downlink's log looks like a demand, not a capacity: 67 % of its time is idle" in output
    assert "set the capacity with --set path.down=RATE" in output
    command += ["--set", "path.down=50Mbit/s"]
    assert "demand" not in CliRunner().invoke(commands, command).stderr


def test_the_way_that_is_said_for_uploads_is_one(tmp_path: Path) -> None:
    """A log with rates of the uplink alone has none for the downlink."""
    file = tmp_path / "upload.csv"
    file.write_text("time_s,ul_kbps\n" + "".join(f"{n},{900 + 70 * (n % 7)}\n" for n in range(60)))
    upload = ["--set", "flows.0.from=phone", "--set", "flows.0.to=server", "--cca", "cubic"]
    command = ["compare", str(file), *upload, "--runs", "1", "--duration", "9s", "--json", "-"]
    refused = CliRunner().invoke(commands, command)
    said = "--uplink FILE --set path.down=50Mbit/s"
    assert said in str(refused.exception)
    warned = CliRunner().invoke(commands, [*command, "--direction", "up"])
    assert said in " ".join(json.loads(warned.stdout)["warnings"])
    done = CliRunner().invoke(commands, [*command, *said.replace("FILE", str(file)).split()])
    result = json.loads(done.stdout)
    assert 0.8 < result["runs"][0]["goodput_mbps"] < 1.2
    assert not any("uploads" in each for each in result["warnings"])


def test_an_error_about_the_log_of_the_uplink_names_fields_in_place_of_options(tmp_path: Path) -> None:
    """Options are for the log of the downlink, which may be the same file."""
    file = tmp_path / "bwm.csv"
    rows = [f"{1_600_000_000 + n};eth0;{90_000 + n}.0;{2_000_000 + n}.0;0" for n in range(30)]
    file.write_text("\n".join((*rows, "")))
    command = ["compare", str(file), "--column", "1,4", "--unit", "s,B/s", "--uplink", str(file)]
    command += ["--cca", "cubic", "--runs", "1", "--duration", "1s", "--json", "-"]
    for field, value in {"column": "1,3", "unit": "s,B/s"}.items():
        refused = str(CliRunner().invoke(commands, command).exception)
        assert "path.up.trace" in refused
        assert f"; for the uplink, --set path.up.{field}=..." in refused
        command += ["--set", f"path.up.{field}={value}"]
    assert CliRunner().invoke(commands, command).exit_code == 0


def test_rows_that_are_not_of_the_load_and_rates_of_acks_are_said(tmp_path: Path) -> None:
    """A phone log of a download that stops for a ping every ten seconds."""
    head = "Timestamp,DL_bitrate,UL_bitrate,State"
    rows = [
        f"2024.05.01_10.{n // 60:02d}.{n % 60:02d},"
        + ("300,40,I" if n % 10 == 9 else f"{rate},{rate // 41},D")
        for n in range(120)
        for rate in (36_000 + 631 * (n * n % 13),)
    ]
    file = tmp_path / "drive.csv"
    file.write_text("\n".join((head, *rows, "")))
    log = read_log(file, {}, "down")
    assert float(log.lengths @ log.bps.astype(float)) / log.lengths.sum() > 39e6
    assert log.bps.min() > 30e6
    assert "12 rows of State=I, which are not of the load, left out" in log.summary
    assert log.demand_reason is None
    uplink = read_log(file, {}, "up")
    assert "of the downlink's, as that of the ACKs" in (uplink.demand_reason or "")
    # Rows without any rate may be of an outage, and stay.
    file.write_text(file.read_text().replace("300,40,I", "0,0,I"))
    log = read_log(file, {}, "down")
    assert (log.bps == 0).sum() == 12
    # Who asks for rows of a state gets these.
    chosen = read_log(file, {"run": "State=D"}, "down")
    assert chosen.bps.min() > 30e6
    assert "12 of 120 rows left out, as they are not of State=D" in chosen.summary


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_uplink_of_a_log_is_left_out_where_it_has_the_acks_of_the_test(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    rates = [draw.randint(20_000, 60_000) for _ in range(60)]
    file = tmp_path / "drive.csv"

    def scenario(uplink_share: float, *changes: str) -> ScenarioSource:
        rows = (
            f"2024.05.01_10.00.{n:02d},{rate},{round(rate * uplink_share)},D\n"
            for n, rate in enumerate(rates)
        )
        file.write_text("Timestamp,DL_bitrate,UL_bitrate,State\n" + "".join(rows))
        return ScenarioSource(str(file), changes=changes)

    of_acks = scenario(draw.uniform(0.02, 0.03))
    assert "as that of the ACKs" in of_acks.left_out_uplink
    assert tomllib.loads(of_acks.scenario.to_toml())["path"]["up"] == {"rate": "50Mbit/s"}
    command = ["compare", str(file), "--cca", "cubic", "--runs", "1", "--duration", "2s"]
    warnings = " ".join(CliRunner().invoke(commands, command).stderr.split())
    assert "it is left out, and path.up is 50Mbit/s. --set path.up.trace=" in warnings
    # Who asks for it has it, with the warning.
    asked = scenario(0.025, f"path.up.trace={file}")
    assert not asked.left_out_uplink
    assert dict(asked.scenario.log_facts).keys() == {"down", "up"}
    # An uplink with rates of its own stays.
    rates[:] = [draw.choice([draw.randint(5_000, 9_000), rate]) for rate in rates]
    assert not scenario(0.4).left_out_uplink


def test_warnings_of_several_logs_name_the_file(tmp_path: Path) -> None:
    rows = "".join(f"{n},{(0, 0, 80)[n % 3]}\n" for n in range(60))
    (tmp_path / "idle.csv").write_text(f"time_s,dl_kbps\n{rows}")
    steady = "".join(f"{n},{9000 + 700 * (n % 7)}\n" for n in range(60))
    (tmp_path / "full.csv").write_text(f"time_s,dl_kbps\n{steady}")
    files = [str(tmp_path / name) for name in ("full.csv", "idle.csv")]
    warnings = CliRunner().invoke(commands, ["traces", "info", *files]).stderr
    assert f"warning: {files[1]}: looks like a demand rather than a capacity: 67 %" in warnings
    assert "full.csv" not in warnings
    command = ["compare", *files, "--cca", "cubic", "--runs", "1", "--duration", "1s", "--quiet"]
    warnings = CliRunner().invoke(commands, command).stderr
    assert "warning: idle: the downlink's log looks like a demand" in warnings
    assert "full: " not in warnings
