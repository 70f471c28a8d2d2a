"""The radio held against what was measured."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp._core import link_adaptation
from celltcp.radio.calibration.fading import Reports, relations
from celltcp.radio.calibration.highway import PublishedValue, drive
from celltcp.radio.calibration.phone_logs import median_distance, read_folder
from celltcp.radio.calibration.rtt import rtt_jitter, rtt_samples
from celltcp.radio.calibration.seconds import COUNTS, block_shares, radio_seconds

HEADER = "Timestamp,Speed,NetworkMode,RSRP,RSRQ,SNR,CQI,RAWCELLID"


@pytest.fixture(scope="module")
def carrier() -> str:
    return ct.load_scenario("highway/drive").to_toml()


def write_log(file: Path, rows: list[tuple[str, str, str]]) -> None:
    lines = [
        f"2020.01.16_10.{second // 60:02}.{second % 60:02},50,{network},-90,-10,{snr},{cqi},7"
        for second, (network, snr, cqi) in enumerate(rows)
    ]
    file.write_text("\n".join([HEADER, *lines]) + "\n")


def test_thresholds_rise_and_lte_has_29_schemes(carrier) -> None:
    known = link_adaptation(carrier)
    assert len(known["cqi_sinr_db"]) == 15
    assert (np.diff(known["cqi_sinr_db"]) > 0).all()
    # TS 36.213 table 7.1.7.1-1: bits per symbol of MCS 0-9, 10-16, 17-28.
    assert known["bits_per_symbol"] == [2] * 10 + [4] * 7 + [6] * 12
    assert (known["tti_s"], known["cqi_period_ttis"]) == (0.001, 5)
    with pytest.raises(ct.CelltcpError, match="has no radio"):
        link_adaptation(ct.load_scenario("drive").to_toml())


def test_cqi_by_snr_is_that_of_seconds_on_lte(carrier, tmp_path: Path) -> None:
    write_log(tmp_path / "one.csv", [("LTE", "10.0", "9")] * 10 + [("LTE", "10.0", "12")] * 5)
    write_log(tmp_path / "two.csv", [("5G", "10.0", "1")] * 20 + [("LTE", "3.0", "5")] * 3)
    result = read_folder(tmp_path, carrier)
    assert result.files == 2
    # 3 dB was there for too short a time.
    (row,) = result.by_snr.to_dict("records")
    assert (row["sinr_db"], row["seconds"], row["median"], row["mean"]) == (10, 15, 9, 10)
    reached = [cqi for cqi, need in enumerate(link_adaptation(carrier)["cqi_sinr_db"], 1) if need <= 10]
    assert row["simulated"] == max(reached)
    assert median_distance(result) == row["simulated"] - 9


def test_a_folder_without_logs_is_refused(celltcp, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    done = celltcp("radio", "calibrate", "--phone-logs", "logs", "--out", "c")
    assert done.returncode == 2
    assert "logs: holds no phone log (.csv)" in done.stderr
    write_log(tmp_path / "logs" / "x.csv", [("5G", "10.0", "1")])
    done = celltcp("radio", "calibrate", "--phone-logs", "logs")
    assert "logs: no line with SNR and CQI on LTE" in done.stderr


def test_relations_of_the_testbed_are_judged() -> None:
    def of(model: str, *cqi: int) -> Reports:
        return Reports(model, np.array(cqi))

    seen = [of("EVA60", 15, 9, 14), of("EVA120", 10, 11, 10), of("HST300", 2, 8, 1)]
    assert all(relations(seen).values())
    steady = [*seen[:2], of("HST300", 3, 3, 3)]
    assert relations(steady)["HST300 varies more than EVA120"] is False
    assert seen[0].change == pytest.approx(5.5)


def test_bounds_hold_or_do_not_and_values_have_none() -> None:
    assert PublishedValue("share", 0.95, None, 0.9, None).holds is True
    assert PublishedValue("share", 0.95, None, None, 0.9).holds is False
    assert PublishedValue("share", 0.95, 0.9, None, None).holds is None
    assert PublishedValue("share", float("nan"), None, 0.9, None).holds is None


def test_seconds_count_every_block_once() -> None:
    result = ct.compare("mobility/forward-300-4g", cca="reno", runs=1, radio_log=True)
    found = radio_seconds(result)
    assert found["second"].tolist() == list(range(12))
    radio = result.radio
    within = (radio["uplink"] == 0) & (radio["t_ns"] < 12e9)
    sent = radio[within & (radio["attempt"] > 0)]
    assert found["blocks"].sum() == len(sent)
    modulations = found[["QPSK", "16QAM", "64QAM", "256QAM"]].sum(axis=1)
    pd.testing.assert_series_equal(modulations, found["blocks"], check_names=False)
    assert found["sinr_db"].iloc[0] > found["sinr_db"].iloc[-1]
    part = block_shares(found)
    assert part["bler"] == pytest.approx(1 - sent["decoded"].mean())
    first = sent["attempt"].eq(1).mean()
    assert first + part[["again_1", "again_2", "again_3"]].sum() == pytest.approx(1)
    assert set(COUNTS) <= set(part.index)


@pytest.mark.slow
def test_a_drive_is_held_against_the_published_downloads() -> None:
    result = drive(1, 1, changes=["duration=40s"])
    assert result.by_sinr["seconds"].sum() == pytest.approx(1)
    by = {value.name: value for value in result.values}
    rtt = by["mean RTT of short exchanges, ms"]
    # The wired part alone takes 40 ms.
    assert 40 < rtt.simulated < 200
    assert rtt.published == "30 to 100"
    assert by["64QAM above 20 dB, of blocks"].published == "over 0.9"
    assert next(each.cca for each in result.throughputs) == "bbr"
    assert all(each.downloads >= 1 and each.simulated.mean > 0 for each in result.throughputs)


def test_rtt_samples_are_those_that_were_smoothed() -> None:
    rtt = np.array([20.0, 28.0, 19.0, 44.0]) * 1000
    smoothed = [rtt[0]]
    for sample in rtt[1:]:
        smoothed.append(smoothed[-1] + (sample - smoothed[-1]) / 8)
    assert rtt_samples(np.array(smoothed)) == pytest.approx(rtt)


def test_the_radio_makes_hystart_leave_before_standard_slow_start() -> None:
    (result,) = rtt_jitter(2, 1, ["mobility/forward-60-low"])
    assert 17 < result.min_ms < 21
    assert result.increments[2] > 100
    assert result.rises[1] > 40
    hystart, reno = result.exit_windows
    assert hystart < 0.6 * reno
