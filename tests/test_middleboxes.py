"""Middleboxes: axis of compare, table and picture of legs, captures in the middle."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.ccas import middlebox_of, through

PATH = {
    "path.rtt": "80ms",
    "path.wired": "[{ name = 'wan', delay = '20ms' }, { name = 'ran' }]",
    "path.loss": "0.002",
    "flows.0.workload": "{ kind = 'bulk', bytes = '1MB' }",
}
SETS = [word for field, value in PATH.items() for word in ("--set", f"{field}={value}")]


def test_lists_of_middleboxes_are_crossed_with_congestion_controls() -> None:
    found = through(["cubic", "bbr"], "none,es:reserve=4,at=node-1,split@es:at=node-1")
    assert found == [
        *("cubic@none", "bbr@none"),
        *("cubic@es:at=node-1,reserve=4", "bbr@es:at=node-1,reserve=4"),
        *("cubic@split@es:at=node-1", "bbr@split@es:at=node-1"),
    ]
    assert [middlebox_of(each) for each in found[::2]] == [
        "none",
        "es:at=node-1,reserve=4",
        "split@es:at=node-1",
    ]
    assert middlebox_of("cubic", ["es"]) == "es"
    assert through(["cubic"], "") == ["cubic"]


@pytest.mark.parametrize(
    ("middlebox", "cca", "part"),
    [
        ("ess", "cubic", "unknown variant `ess`"),
        ("es:at=node-3", "cubic", '"node-3" is not a node between the hosts; allowed: node-1, gateway'),
        ("es:reserve=1", "cubic", "reserve: 1 is out of range; allowed: 2 to 1000"),
        ("es", "cubic@split", "names a middlebox already"),
        ("as:option_kind=8", "cubic", "option_kind: 8 is taken or reserved; allowed: 253, 254"),
        ("es:piggyback=5ms", "cubic", 'piggyback: 5ms is set, but this is only for "as"'),
        (
            "as:at=node-1@as:option_kind=254",
            "cubic",
            "path.middleboxes.1.option_kind: 254 differs from that of the one before; allowed: 253",
        ),
        ("snoop:cca=bbr", "cubic", "cca: bbr is set, but this is only for split hosts"),
    ],
)
def test_a_wrong_middlebox_is_refused(middlebox: str, cca: str, part: str) -> None:
    with pytest.raises(ct.CelltcpError, match=re.escape(part)):
        ct.compare("steady-20-68", cca, 1, duration="1s", set=PATH, middlebox=middlebox)


def test_compare_has_middleboxes_as_a_second_axis(celltcp, tmp_path: Path) -> None:
    words = ["compare", "steady-20-68", *SETS, "--cca", "reno", "--runs", "1", "--duration", "15s"]
    axis = "none,split:at=node-1,es:at=node-1,snoop"
    done = celltcp(*words, "--middlebox", axis, "--json", "out.json", "--out", "r")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    names = ["none", "split:at=node-1", "es:at=node-1", "snoop"]
    assert [row["middlebox"] for row in found["runs"]] == names
    assert [row["middlebox"] for row in found["summary"]] == names
    assert [row["cca"] for row in found["runs"]] == [f"reno@{name}" for name in names]
    ends = [row["acked_early_ends"] for row in found["runs"]]
    assert ends[0] == ends[2] == ends[3] == 0
    assert ends[1] > 0
    early = [row["acked_early_bytes"] for row in found["runs"]]
    assert early[0] == early[3] == 0
    assert early[2] > 0
    goodput = [row["goodput_mbps"] for row in found["runs"]]
    assert min(goodput[1:3]) > goodput[0]
    assert celltcp("show", "r", "--plot", "legs").returncode == 0
    assert (tmp_path / "r" / "legs.png").stat().st_size > 10_000


def test_legs_of_a_run_and_a_capture_in_the_middle(celltcp, tmp_path: Path) -> None:
    run = ct.run("steady-20-68", "reno@es:at=node-1", duration="5s", set=PATH)
    assert set(run.legs["towards"]) == {"server", "phone"}
    assert set(run.legs["node"]) == {"node-1"}
    assert run.legs["buffered_bytes"].max() > 0
    assert len(run.plot.legs().axes) == 3
    plain = ct.run("steady-20-68", "reno", duration="1s")
    with pytest.raises(ct.CelltcpError, match="no legs, since no connection was split"):
        _ = plain.legs
    words = ["run", "steady-20-68", *SETS, "--cca", "reno@es:at=node-1", "--duration", "2s"]
    assert celltcp(*words, "--pcap", "a.pcap", "--pcap-at", "node-1").returncode == 0
    assert celltcp(*words, "--pcap", "b.pcap").returncode == 0
    both, server = ((tmp_path / name).stat().st_size for name in ("a.pcap", "b.pcap"))
    assert both > 1.5 * server
    refused = celltcp(*words, "--pcap", "c.pcap", "--pcap-at", "gateway")
    assert refused.returncode == 2
    assert "allowed: node-1, phone, server" in refused.stderr


def test_as_tcp_tells_its_server_of_each_byte_and_falls_back_to_es(celltcp, tmp_path: Path) -> None:
    words = ["compare", "steady-20-68", *SETS, "--cca", "reno", "--runs", "1", "--duration", "15s"]
    axis = "none,as:at=node-1,as:at=node-1@as,es:at=node-1"
    assert celltcp(*words, "--middlebox", axis, "--json", "out.json").returncode == 0
    rows = json.loads((tmp_path / "out.json").read_text())["runs"]
    early = {row["middlebox"]: row["acked_early_bytes"] for row in rows}
    assert [early[name] > 0 for name in axis.split(",")] == [False, False, False, True]
    speed = {row["middlebox"]: row["goodput_mbps"] for row in rows}
    assert speed["as:at=node-1"] > speed["none"]
    assert speed["as:at=node-1@as"] > speed["none"]
    refused = {**PATH, "tcp.far_acks": "false"}
    fallen, es = (
        ct.run("steady-20-68", f"reno@{kind}:at=node-1", duration="15s", set=refused)
        for kind in ("as", "es")
    )
    # Its request is eight bytes longer.
    assert fallen.flows["completion_s"].iloc[0] == pytest.approx(
        es.flows["completion_s"].iloc[0], abs=1e-6
    )
    assert fallen.flows["acked_early_ends"].sum() == 0
    assert fallen.flows["acked_early_bytes"].sum() > 0


def test_a_capture_shows_the_option_of_as_tcp(tmp_path: Path) -> None:
    capture = tmp_path / "a.pcap"
    ct.run("steady-20-68", "reno@as:at=node-1", duration="5s", set=PATH, pcap=capture)
    options = bytes([1, 1, 253, 6])
    assert capture.read_bytes().count(options) > 20
