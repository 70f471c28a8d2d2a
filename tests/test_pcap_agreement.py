"""celltcp pcap agreement: the counts of other tools beside those of the analysis."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap.validation import agreement
from made_up_captures import capture, download, ethernet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three captures in two folders, one of them without TCP."""
    frames = [(time, ethernet(0x0800, packet)) for time, packet in download()]
    (tmp_path / "set" / "below").mkdir(parents=True)
    capture(tmp_path / "set" / "a.pcap", frames)
    capture(tmp_path / "set" / "below" / "b.pcap", frames[:6])
    capture(tmp_path / "set" / "c.pcap", [(0.0, ethernet(0x0806, bytes(28)))])
    return tmp_path / "set"


def test_captures_are_equal_or_differ_by_quantity(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counts(file: Path, has_totals: bool = False) -> dict[str, dict[str, int]]:
        assert has_totals
        if file.name == "c.pcap":
            return {"tshark": {"connections": 0, "segments": 0}}
        again = 1 if file.name == "a.pcap" else 2
        return {"tshark": {"connections": 1, "retransmissions": again}, "tcptrace": {}}

    monkeypatch.setattr(agreement, "external_counts", counts)
    files = sorted(folder.rglob("*.pcap"))
    outcome = agreement.measure_agreement(files)
    assert [Path(each["file"]).name for each in outcome["captures"]] == ["a.pcap", "b.pcap"]
    connections, again = outcome["tools"]
    assert (connections["captures"], connections["equal"]) == (2, 2)
    assert (again["quantity"], again["own"], again["theirs"]) == ("retransmissions", 3, 3)
    assert again["equal"] == 0


def test_a_folder_without_captures_or_tools_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        ct.CelltcpError, match=r"empty: no captures; allowed: files that end with \.pcap"
    ):
        agreement.captures_in(tmp_path / "empty")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ct.CelltcpError, match="no other tool is installed; needed: tshark or tcptrace"):
        agreement.captures_in(folder)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_command_prints_counts_of_tshark(celltcp, folder: Path, tmp_path: Path) -> None:
    done = celltcp("pcap", "agreement", str(folder), "--json", "j.json")
    assert done.returncode == 0, done.stderr
    outcome = json.loads((tmp_path / "j.json").read_text())
    totals = {each["quantity"]: each for each in outcome["tools"] if each["tool"] == "tshark"}
    assert (totals["segments"]["own"], totals["segments"]["theirs"]) == (17, 17)
    assert totals["connections"]["equal"] == 2
