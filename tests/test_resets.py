"""Connections that clients give up: in captures, and with a tracker at the base station."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap.resets import reset_savings


def test_a_capture_tells_what_a_tracker_would_have_spared(celltcp, tmp_path: Path) -> None:
    # At the phone, all that it throws away passes after its first RST, but for what causes that.
    capture = tmp_path / "phone.pcap"
    run = ("run", "video/iphone-4s", "--set", "duration=15s", "--pcap", str(capture))
    assert celltcp(*run, "--pcap-at", "phone", "--out", str(tmp_path / "r")).returncode == 0
    flows = ct.load(tmp_path / "r").flows
    thrown = int(flows["discarded_bytes"].sum())
    given_up = int((flows["resets"] > 0).sum())
    result = reset_savings([capture])
    assert len(result.connections) == given_up > 0
    assert thrown - 1500 * given_up <= result.late_bytes <= thrown
    assert result.spared_bytes == result.late_bytes
    assert reset_savings([capture], delay_s=0.05).spared_bytes < result.spared_bytes

    printed = celltcp("pcap", "resets", str(capture), "--delay", "30ms", "--json", "-")
    document = json.loads(printed.stdout)
    assert document["delay_s"] == 0.03
    assert 0 < document["spared_bytes"] < result.spared_bytes
    assert "would have spared" in celltcp("pcap", "resets", str(capture)).stdout


def test_impossible_times_are_refused(celltcp, tmp_path: Path) -> None:
    wrong = celltcp("pcap", "resets", "none.pcap", "--delay", "soon")
    assert wrong.returncode == 2
    assert "'soon' is not a time" in wrong.stderr
    with pytest.raises(ct.CelltcpError, match="delay 6"):
        reset_savings([tmp_path / "none.pcap"], delay_s=6.0)


def test_a_tracker_keeps_late_data_off_the_air() -> None:
    result = ct.compare(
        "video/iphone-4s",
        cca=["cubic", "cubic@reset-tracker"],
        runs=1,
        set=["duration=15s"],
    )
    lineups = result.runs.set_index("run")["cca"].astype(str)
    flows = result.flows
    thrown = flows.groupby(flows["run"].map(lineups))[["discarded_bytes", "spared_bytes"]].sum()
    assert thrown.loc["cubic@reset-tracker", "spared_bytes"] > 0
    assert thrown.loc["cubic", "spared_bytes"] == 0
    assert thrown.loc["cubic@reset-tracker", "discarded_bytes"] < thrown.loc["cubic", "discarded_bytes"]
