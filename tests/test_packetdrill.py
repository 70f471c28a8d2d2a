"""packetdrill scripts: the command, its rows and exit codes, and assertions on TCP_INFO."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from celltcp._core import CelltcpError
from celltcp.cli import celltcp
from celltcp.fidelity.assertions import first_failure
from celltcp.fidelity.packetdrill import play_script

_CLIENT = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.100 connect(3, ..., ...) = 0
   +0 > S 0:0(0) <...>
  +.1 < S. 0:0(0) ack 1 win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > . 1:1(0) ack 1
   +0 write(3, ..., 1000) = 1000
   +0 > P. 1:1001(1000) ack 1
"""


def _script(folder: Path, name: str, more: str = "") -> Path:
    path = folder / f"{name}.pkt"
    path.write_text(_CLIENT + more)
    return path


def test_scripts_of_a_folder_pass_fail_or_need_what_is_missing(tmp_path: Path) -> None:
    _script(tmp_path, "good", "+0 %{ assert tcpi_unacked == 1, tcpi_unacked }%")
    _script(tmp_path, "late", "+.1 > P. 1:1001(1000) ack 1")
    _script(tmp_path, "other", "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0")
    rows = tmp_path / "rows.json"
    shown = CliRunner().invoke(celltcp, ["fidelity", "packetdrill", str(tmp_path), "--json", str(rows)])
    assert shown.exit_code == 1
    assert "1 passed, 1 failed, 1 not applicable" in shown.output
    assert "Fast Open" in shown.output
    by_name = {Path(row["script"]).stem: row for row in json.loads(rows.read_text())}
    assert by_name["good"]["status"] == "passed"
    assert (by_name["late"]["status"], by_name["late"]["line"]) == ("failed", 9)
    assert by_name["late"]["expected"].endswith("> P. 1:1001(1000) ack 1")
    assert by_name["other"]["status"] == "not applicable"
    good = ["fidelity", "packetdrill", str(tmp_path / "good.pkt")]
    assert CliRunner().invoke(celltcp, good).exit_code == 0


def test_an_assertion_that_does_not_hold_tells_values(tmp_path: Path) -> None:
    outcome = play_script(_script(tmp_path, "bad", "+0 %{\nassert tcpi_snd_cwnd == 11\n}%"))
    assert (outcome.status, outcome.line) == ("failed", 10)
    assert outcome.seen == "tcpi_snd_cwnd = 10"
    unknown = play_script(_script(tmp_path, "unknown", "+0 %{ assert tcpi_frob == 1 }%"))
    assert (unknown.status, unknown.reason) == ("not applicable", "TCP_INFO field tcpi_frob")


def test_assertions_keep_names_and_reach_nothing_else() -> None:
    kept = [
        (1, "a = tcpi_rtt", {"tcpi_rtt": 5}),
        (2, "assert a == 5 and tcpi_rtt == 6", {"tcpi_rtt": 6}),
    ]
    assert first_failure(kept) is None
    for code in ("import os", "open('x')", "().__class__", "assert [x for x in (1,)]", "assert ("):
        result = first_failure([(3, code, {})])
        assert result is not None, code
        assert not result.is_applicable, code
        assert result.line == 3


def test_bad_input_names_file_and_line(tmp_path: Path) -> None:
    path = _script(tmp_path, "wrong", "+0 > Q. 1:1(0)")
    with pytest.raises(CelltcpError, match=r"wrong\.pkt:9: Q"):
        play_script(path)
    with pytest.raises(CelltcpError, match="no such file"):
        CliRunner().invoke(
            celltcp, ["fidelity", "packetdrill", str(tmp_path / "none")], catch_exceptions=False
        )
    (tmp_path / "empty").mkdir()
    with pytest.raises(CelltcpError, match=r"no \*\.pkt"):
        CliRunner().invoke(
            celltcp, ["fidelity", "packetdrill", str(tmp_path / "empty")], catch_exceptions=False
        )
