"""Middleboxes: axis of compare, table and picture of legs, captures in the middle."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

import celltcp as ct
from celltcp._core import scenario_schema
from celltcp.cli.options import complete_middlebox
from celltcp.comparison.connection_texts import connection_texts
from celltcp.comparison.verdicts.choices import TieBreak, choices_of, tie_break
from celltcp.results.statistics import Verdict
from celltcp.scenarios.ccas import MIDDLEBOXES, middlebox_of, with_middleboxes

PATH = {
    "path.rtt": "80ms",
    "path.wired": "[{ name = 'wan', delay = '20ms' }, { name = 'ran' }]",
    "path.loss": "0.002",
    "flows.0.workload": "{ kind = 'bulk', bytes = '1MB' }",
}
SETS = [word for field, value in PATH.items() for word in ("--set", f"{field}={value}")]


def test_lists_of_middleboxes_are_crossed_with_congestion_controls() -> None:
    result = with_middleboxes(["cubic", "bbr"], "none,es:reserve=4,at=node-1,split@es:at=node-1")
    assert result == [
        *("cubic@none", "bbr@none"),
        *("cubic@es:at=node-1,reserve=4", "bbr@es:at=node-1,reserve=4"),
        *("cubic@split@es:at=node-1", "bbr@split@es:at=node-1"),
    ]
    assert [middlebox_of(each) for each in result[::2]] == [
        "none",
        "es:at=node-1,reserve=4",
        "split@es:at=node-1",
    ]
    assert middlebox_of("cubic", ["es"]) == "es"
    assert with_middleboxes(["cubic"], "") == ["cubic"]


@pytest.mark.parametrize(
    ("middlebox", "cca", "part"),
    [
        ("ess", "cubic", "unknown variant `ess`"),
        ("es:at=node-3", "cubic", '"node-3" is not a node between the hosts; allowed: node-1, gateway'),
        ("split:at=node-1:buffer=8MB", "cubic", "two colons; allowed: parameters after the first one"),
        ("es:reserve=1", "cubic", "reserve: 1 is out of range; allowed: 2 to 1000"),
        ("es", "cubic@split", "names a middlebox already"),
        ("as:option_kind=8", "cubic", "option_kind: 8 is taken or reserved; allowed: 253, 254"),
        ("es:max_ack_wait=5ms", "cubic", 'max_ack_wait: 5ms is set, but this is only for "as"'),
        (
            "as:at=node-1@as:option_kind=254",
            "cubic",
            "path.middleboxes.1.option_kind: 254 differs from that of the one before; allowed: 253",
        ),
        ("snoop:cca=bbr", "cubic", "cca: bbr is set, but this is only for split hosts"),
        (
            "freeze:at=node-1",
            "cubic",
            '"node-1" is not before the access link, with which "freeze" works',
        ),
        (
            "mtcp:warning=1s",
            "cubic",
            'warning: 1s is set, but this is only for "mtcp-plus" and "freeze"',
        ),
        ("pam:reserve=4", "cubic", 'reserve: 4 is set, but this is only for "es" and "as"'),
        ("freeze:warning=1min", "cubic", "warning: 60s is out of range; allowed: 0s to 10s"),
        ("eln:buffer=1kB", "cubic", "buffer: 1kB is out of range"),
    ],
)
def test_a_wrong_middlebox_is_refused(middlebox: str, cca: str, part: str) -> None:
    with pytest.raises(ct.CelltcpError, match=re.escape(part)):
        ct.compare("steady-20-68", cca, 1, duration="1s", set=PATH, middlebox=middlebox)


@pytest.mark.rendered
def test_compare_has_middleboxes_as_a_second_axis(celltcp, tmp_path: Path) -> None:
    words = ["compare", "steady-20-68", *SETS, "--cca", "reno", "--runs", "1", "--duration", "15s"]
    axis = "none,split:at=node-1,es:at=node-1,snoop"
    done = celltcp(*words, "--middlebox", axis, "--json", "out.json", "--out", "r")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    names = ["none", "split:at=node-1", "es:at=node-1", "snoop"]
    assert [row["middlebox"] for row in result["runs"]] == names
    assert [row["middlebox"] for row in result["summary"]] == names
    assert [row["cca"] for row in result["runs"]] == [f"reno@{name}" for name in names]
    ends = [row["acked_early_ends"] for row in result["runs"]]
    assert ends[0] == ends[2] == ends[3] == 0
    assert ends[1] > 0
    early = [row["acked_early_bytes"] for row in result["runs"]]
    assert early[0] == early[3] == 0
    assert early[2] > 0
    goodput = [row["goodput_mbps"] for row in result["runs"]]
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


def test_help_and_completion_know_all_kinds(celltcp) -> None:
    kinds = [kind["const"] for kind in json.loads(scenario_schema())["$defs"]["Kind"]["oneOf"]]
    assert "reset-tracker" in kinds
    assert list(MIDDLEBOXES) == ["none", *kinds]
    words = "".join(celltcp("compare", "--help").stdout.split())
    assert all(kind in words for kind in MIDDLEBOXES)
    assert with_middleboxes(["cubic"], ",".join(kinds)) == [f"cubic@{kind}" for kind in kinds]
    begun = [item.value for item in complete_middlebox(None, None, "none,split@s")]
    assert begun == ["none,split@split", "none,split@snoop"]
    begun = [item.value for item in complete_middlebox(None, None, "none,reset")]
    assert begun == ["none,reset-tracker"]


#: A link over which nothing passes for three seconds.
OUTAGE = {
    "path.rtt": "80ms",
    "path.down": "{ steps = [{ at = '0s', rate = '20Mbit/s' }, { at = '4s', rate = '0bit/s' }, "
    "{ at = '7s', rate = '20Mbit/s' }] }",
    "flows.0.workload": "{ kind = 'bulk', bytes = '20MB' }",
    "tcp.receive_window_max": "200kB",
}


def through_box(box: str, of: dict[str, str], **other: object) -> ct.Run:
    """The run of a transfer through a middlebox."""
    return ct.run("steady-20-68", f"reno@{box}", duration="20s", set=of, **other)


@pytest.mark.parametrize("kind", ["mtcp-plus", "freeze", "as"])
def test_an_interruption_that_is_known_costs_no_more_than_its_time(kind: str) -> None:
    plain, boxed = (through_box(box, OUTAGE).flows.iloc[0] for box in ("none", kind))
    assert boxed["bytes"] == plain["bytes"] == 20_000_000
    assert boxed["completion_s"] < 1.05 * plain["completion_s"]
    assert (plain["timeouts"], boxed["timeouts"], boxed["acked_early_bytes"]) == (3, 0, 0)


def test_mtcp_freezes_a_sender_that_reduces_its_window_all_the_same() -> None:
    """The data that is outstanding when the window closes is sent again, as Linux does."""
    row = through_box("mtcp", OUTAGE).flows.iloc[0]
    assert (row["bytes"], row["timeouts"], row["acked_early_bytes"]) == (20_000_000, 0, 0)
    assert row["retransmissions"] > 0


def test_pam_acknowledges_early_only_while_the_phone_is_silent() -> None:
    calm = {name: value for name, value in OUTAGE.items() if name != "path.down"}
    assert through_box("pam", calm).flows["acked_early_bytes"].sum() == 0
    assert through_box("pam", OUTAGE).flows["acked_early_bytes"].sum() > 0


@pytest.mark.parametrize("seed", range(6))
def test_acks_that_follow_those_of_the_phone_make_no_download_slower(seed: int) -> None:
    """The server's RTT is that of the whole path, the first one too, and no window is that of a leg."""
    draw = random.Random(f"download {seed}")
    rtt, cca = draw.randint(60, 250), ["reno", "cubic", "bbr"][seed % 3]
    delay = rtt * draw.randint(5, 20) // 100
    path = {
        "path.rtt": f"{rtt}ms",
        "path.wired": f"[{{ name = 'wan', delay = '{delay}ms' }}, {{ name = 'ran' }}]",
        "path.down": f"{draw.randint(5, 30)}Mbit/s",
        "path.buffer": f"{draw.uniform(0.5, 3):.1f}bdp",
        "flows.0.workload": "{ kind = 'bulk', bytes = '2MB' }",
    }
    plain, mtcp, pam = (
        ct.run("steady-20-68", f"{cca}@{box}", seed, "30s", set=path, samples="off").flows.iloc[0]
        for box in ("none", "mtcp:at=node-1,buffer=4MB", "pam:at=node-1,buffer=4MB")
    )
    assert (mtcp["acked_early_bytes"], mtcp["timeouts"]) == (0, 0)
    assert mtcp["rtt_min_ms"] > 0.99 * rtt
    assert max(mtcp["completion_s"], pam["completion_s"]) < 1.15 * plain["completion_s"]


def test_explicit_loss_notification_keeps_the_window() -> None:
    lossy = {**PATH, "path.loss": "0.01", "flows.0.workload": "{ kind = 'bulk', bytes = '3MB' }"}
    plain, told, deaf = (
        through_box(box, {**lossy, **more}).flows.iloc[0]
        for box, more in (("none", {}), ("eln", {}), ("eln", {"tcp.eln": "false"}))
    )
    assert told["completion_s"] < 0.6 * plain["completion_s"]
    assert deaf["completion_s"] == plain["completion_s"]
    assert told["acked_early_bytes"] == 0
    # A queue that overflows is congestion.
    full = {**PATH, "path.loss": "0", "path.buffer": "20kB"}
    plain, told = (through_box(box, full).flows.iloc[0] for box in ("none", "eln"))
    assert told["completion_s"] == plain["completion_s"]


def test_the_ack_regulator_keeps_the_queue_from_overflowing() -> None:
    varying = {
        "path.rtt": "200ms",
        "path.buffer": "60kB",
        "path.down": "{ steps = [{ at = '0s', rate = '8Mbit/s' }, { at = '6s', rate = '1Mbit/s' }, "
        "{ at = '8s', rate = '8Mbit/s' }, { at = '14s', rate = '1Mbit/s' }] }",
        "flows.0.workload": "{ kind = 'bulk' }",
    }
    plain, held = (through_box(box, varying).flows.iloc[0] for box in ("none", "ack-regulator"))
    assert held["retransmissions"] < plain["retransmissions"]
    assert held["acked_early_bytes"] == 0


def test_a_run_that_is_split_has_the_delay_between_the_hosts_and_no_pm_of_its_first_leg() -> None:
    whole, split = (
        ct.run("steady-20-68", cca, duration="3s", samples="off").results
        for cca in ("cubic", "cubic@split")
    )
    (text,) = connection_texts(whole)
    assert "RTT mean" in text
    assert "PM balanced" in text
    (text,) = connection_texts(split)
    assert "one-way delay mean" in text
    assert "PM" not in text
    assert "RTT" not in text


def test_a_split_does_not_win_delay_by_an_rtt_that_ends_at_it(celltcp, tmp_path: Path) -> None:
    words = ["compare", "steady-20-68", *SETS, "--cca", "cubic", "--runs", "2", "--duration", "3s"]
    deep = [
        "--set",
        "path.loss=0",
        "--set",
        "path.buffer=4bdp",
        "--set",
        "flows.0.workload={ kind = 'bulk' }",
    ]
    axis = ["--middlebox", "none,split:at=node-1,as:at=node-1", "--json", "out.json", "--out", "r"]
    done = celltcp(*words, *deep, *axis)
    assert done.returncode == 0, done.stderr
    assert "p95 one-way" in done.stdout
    assert "balanced:" not in done.stdout
    result = json.loads((tmp_path / "out.json").read_text())
    assert set(result["recommendation"]) == {"goodput", "delay"}
    delays = {row["cca"]: row["owd_p95_ms"]["mean"] for row in result["summary"]}
    assert result["verdicts"]["delay"]["leader"] == min(delays, key=delays.__getitem__)
    assert any("RTT, PM and retransmissions of cubic@split" in each for each in result["warnings"])
    explained = celltcp("explain", "r").stdout
    assert explained.startswith("For throughput: ")
    assert celltcp("report", "r").returncode == 0
    # Without a split, PM ranks.
    plain = ct.load(tmp_path / "r")["cubic@none"]
    assert list(plain.requirements.values()) == ["goodput_mbps", "pm_balanced", "pm_delay"]


def test_of_rows_that_are_alike_the_one_without_a_middlebox_is_set() -> None:
    """The slow hop lies behind the split, on whose first leg nothing waits and nothing is lost."""
    hops = [{"name": "wan"}, {"name": "relay", "rate": "10Mbit/s", "buffer": "500packets"}]
    page = {"kind": "page", "objects": 5, "object": "32kB", "multiplexed": True, "gap": "1s"}
    changes = {
        "path.rtt": "45ms",
        "path.down": "200Mbit/s",
        "path.wired": hops,
        "flows.0.workload": page,
    }
    ccas = ["cubic@none", "cubic@split", "vegas@none"]
    result = ct.compare("steady-20-68", ccas, 3, duration="20s", set=changes)
    (choice,) = [each for each in choices_of(result) if each.flows]
    verdict = Verdict("cubic@split", ("cubic@none",))
    tied = tie_break(result, choice._replace(verdict=verdict))
    assert tied == TieBreak("cubic@none", "of these it needs no middlebox")
    # A box by which the pages are faster stays.
    alone = choice._replace(verdict=Verdict("cubic@split", ()))
    assert tie_break(result, alone).cca == "cubic@split"
