"""celltcp pcap."""

from __future__ import annotations

import gzip
import json
import math
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.pcap import analyse
from celltcp.pcap.comparison import compare_captures, rtts_ms
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.tags import read_tag_rules, with_tags
from celltcp.pcap.validation.ground_truth import ground_truth_losses
from celltcp.pcap.validation.validation import judgement_of, validate
from celltcp.pcap.validation.validation_cases import CASES, Case, cases_at, path_cases, random_cases

#: Real captures of phones and browsers (test data of nDPI).
REAL = next(
    (
        folder / "shared" / "captures"
        for folder in Path(__file__).resolve().parents
        if (folder / "shared" / "captures").is_dir()
    ),
    Path("captures"),
)

#: Connections, segments of TCP, retransmissions, out of order and resets that tshark 4.0 counts.
#: Captures in which both count otherwise are in docs/reference/captures.md, with the reasons.
TSHARK = {
    "bittorrent_tcp_miss.pcapng": (1, 100, 0, 0, 0),
    "http_asymmetric.pcapng": (2, 23, 0, 0, 0),
    "http_ipv6.pcap": (13, 128, 0, 0, 0),
    "http_starting_with_reply.pcapng": (1, 18, 0, 0, 0),
    "iphone.pcap": (15, 403, 4, 0, 0),
    "netflix.pcap": (47, 1748, 1, 0, 32),
    "tcp_scan.pcapng": (7, 18, 0, 0, 7),
    "tumblr.pcap": (47, 755, 4, 0, 3),
    "youtubeupload.pcap": (1, 13, 0, 0, 0),
}


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A download over a bottleneck whose buffer overflows, captured at the server."""
    file = tmp_path_factory.mktemp("captures") / "download.pcap"
    changes = ["path.buffer=40packets"]
    ct.run("steady-20-68", "reno", duration="12s", set=changes, samples="off", pcap=file)
    return file


@pytest.mark.rendered
def test_a_capture_tells_of_its_connections(celltcp, capture: Path, tmp_path: Path) -> None:
    done = celltcp("pcap", "analyze", str(capture), "--out", "r", "--segments", "--json", "j.json")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80 or str(capture) in done.stdout
    result = json.loads((tmp_path / "j.json").read_text())
    (connection,) = result["connections"]
    assert connection["handshake"] == "whole"
    assert connection["place"] == "sender"
    assert connection["losses_congestion"] > 0
    assert 68 < connection["rtt_min_ms"] < 71
    assert 10 < connection["throughput_mbps"] < 20
    tables = {table: pd.read_parquet(tmp_path / "r" / f"{table}.parquet") for table in TABLES}
    assert len(tables["segments"]) == result["captures"][0]["segments"]
    assert len(tables["losses"]) == connection["retransmissions_down"]
    assert tables["intervals"]["bytes"].sum() == connection["bytes_down"] + connection["bytes_up"]
    assert (tmp_path / "r" / "overview.png").stat().st_size > 20_000


TABLES = ("connections", "segments", "losses", "resets", "intervals")


def test_a_pipe_has_all_columns_and_a_sentence_for_each_connection(celltcp, capture: Path) -> None:
    done = celltcp("pcap", "analyze", str(capture), "--json", "j.json")
    headings = " ".join(done.stdout.splitlines()[:2]).split()
    for heading in (
        "connection",
        "server",
        "MB",
        "RTT",
        "again",
        "losses",
        "vain",
        "resets",
        "waited",
        "captured",
        "CCA",
    ):
        assert heading in headings
    assert "omitted" not in done.stdout
    assert "\n0: 41 segments were lost in a full queue, " in done.stdout


def test_packed_captures_and_the_standard_input_are_the_same(capture: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.pcap.gz"
    packed.write_bytes(gzip.compress(capture.read_bytes()))
    plain, unpacked = analyse(capture).connections, analyse(packed).connections
    pd.testing.assert_frame_equal(plain.drop(columns="file"), unpacked.drop(columns="file"))


def test_a_broken_capture_gives_what_was_readable_and_exit_code_1(
    celltcp, capture: Path, tmp_path: Path
) -> None:
    (tmp_path / "cut.pcap").write_bytes(capture.read_bytes()[:100_001])
    done = celltcp("pcap", "analyze", "cut.pcap", "--json", "j.json")
    assert done.returncode == 1
    assert "cut.pcap: broken at byte 99" in done.stderr
    assert "packets before it were read" in done.stderr
    result = json.loads((tmp_path / "j.json").read_text())
    assert len(result["connections"]) == 1
    assert 99_000 < result["captures"][0]["broken"]["offset"] <= 100_001
    (tmp_path / "text.pcap").write_text("no capture at all, but a line of text")
    assert "begins neither as pcap nor as pcapng" in celltcp("pcap", "analyze", "text.pcap").stderr


def test_a_file_that_is_not_there_is_exit_code_2(celltcp) -> None:
    done = celltcp("pcap", "analyze", "none.pcap")
    assert done.returncode == 2
    assert "none.pcap: " in done.stderr


@pytest.mark.rendered
def test_a_connection_is_drawn(celltcp, capture: Path, tmp_path: Path) -> None:
    assert celltcp("pcap", "plot", str(capture), "--out", "x.png").returncode == 0
    assert (tmp_path / "x.png").stat().st_size > 30_000
    done = celltcp("pcap", "plot", str(capture), "--connection", "7")
    assert done.returncode == 2
    assert "connection 7: not in the capture" in done.stderr


def test_a_capture_becomes_a_scenario_that_compare_runs(celltcp, capture: Path) -> None:
    done = celltcp("pcap", "to-scenario", str(capture), "--out", "path.toml")
    assert done.returncode == 0, done.stderr
    assert "base RTT     6" in done.stdout
    ran = celltcp(
        "compare", "path.toml", "--cca", "reno", "--runs", "1", "--duration", "5s", "--json", "-"
    )
    assert ran.returncode == 0, ran.stderr
    (row,) = json.loads(ran.stdout)["runs"]
    assert 10 < row["goodput_mbps"] < 20
    path = estimate_path(analyse(capture))
    assert path.mean_mbps == pytest.approx(20, rel=0.05)
    assert path.buffer_bytes == pytest.approx(60_000, rel=0.15)
    assert path.random_loss == 0


def test_what_a_scenario_of_a_capture_lacks_is_said(celltcp, tmp_path: Path) -> None:
    run = ("run", "steady-20-68", "--cca", "cubic", "--duration", "6s", "--pcap", "x.pcap")
    change = 'path.jitter={mean="9ms",sd="3ms",reorder=true}'
    assert celltcp(*run, "--set", change).returncode == 0
    done = celltcp("pcap", "to-scenario", "x.pcap")
    assert re.search(r"left out +reordering of \d+ % of the segments", done.stdout)
    assert "# left out: " in (tmp_path / "x.toml").read_text()


def test_the_analysis_finds_what_the_recorder_knows() -> None:
    chosen = [
        case for case in CASES if case.name in ("overflow of a short buffer", "random loss under Reno")
    ]
    outcome = judgement_of(validate(chosen))
    for kind in ("congestion", "random"):
        assert outcome["kinds"][kind]["true"] > 10
        assert outcome["kinds"][kind]["f1"] >= 0.9
    assert outcome["rtt_error"] < 0.05
    assert outcome["capacity_error"] < 0.05
    assert outcome["packets_per_s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 12])
def test_kinds_of_loss_have_no_bias_by_rtt_and_buffer(count: int) -> None:
    """Overflow of shallow buffers at long RTTs, random losses beside delayed ACKs, and all between."""
    chosen = [each for each in path_cases(40, 3) if "1%" in each.set[3] or "0%" in each.set[3]][:count]
    outcome = judgement_of(validate(chosen))
    assert len(outcome["groups"]) == 4
    for group, scores in outcome["groups"].items():
        for kind in ("congestion", "random"):
            score = scores[kind]
            assert score["true"] < 20 or score["f1"] >= 0.85, (group, kind, score)


def f1_of_congestion(*names: str) -> tuple[int, float]:
    """Returns the number of true losses of congestion in cases of these names, and the F1 score."""
    outcome = judgement_of(validate([case for case in CASES if case.name in names]))
    score = outcome["kinds"]["congestion"]
    return score["true"], score["f1"]


@pytest.mark.slow
def test_a_queue_is_full_through_outages() -> None:
    true, f1 = f1_of_congestion("outages of a car")
    assert true > 50
    assert f1 >= 0.95


@pytest.mark.slow
def test_a_queue_is_full_at_any_rate_of_the_link() -> None:
    """Delays of a full queue differ with the rate, and those of an outage are longer."""
    true, f1 = f1_of_congestion("changing rate", "outages of a car", "outage of two seconds")
    assert true > 200
    assert f1 >= 0.95


def test_the_scenario_of_a_fast_transfer_reaches_its_rate(celltcp, tmp_path: Path) -> None:
    """Windows of 6 MB allow no 700 Mbit/s over 80 ms."""
    changes = [
        "path.rtt=80ms",
        'path.down={ rate = "800Mbit/s" }',
        "tcp.receive_buffer_max=64MiB",
        "tcp.send_buffer_max=64MiB",
        "tcp.mss=1300B",
        "tcp.window_scale=11",
    ]
    file = tmp_path / "fast.pcap"
    ct.run("steady-20-68", "cubic", duration="6s", set=changes, samples="off", pcap=file)
    done = celltcp("pcap", "to-scenario", str(file), "--out", "fast.toml")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "fast.toml").read_text()
    assert 'mss = "1300B"' in text
    assert "window_scale = 11" in text
    reached = analyse(file).connections["throughput_mbps"].iloc[0]
    assert reached > 500
    ran = ct.run(tmp_path / "fast.toml", "cubic", samples="off").flows["goodput_mbps"].iloc[0]
    assert ran > 0.85 * reached


@pytest.mark.parametrize("at", ["server", "phone"])
@pytest.mark.parametrize(("rtt_ms", "buffer"), [(70, "64kB"), (35, "150kB"), (180, "400kB")])
def test_the_scenario_of_a_limited_sender_has_its_limit(
    celltcp, tmp_path: Path, at: str, rtt_ms: int, buffer: str
) -> None:
    """Send buffers count memory, so that their size is not that of the data in flight."""
    changes = [f"path.rtt={rtt_ms}ms", "path.down.rate=90Mbit/s", f"tcp.send_buffer_max={buffer}"]
    file = tmp_path / "limited.pcap"
    ct.run("steady-20-68", "cubic", duration="8s", set=changes, samples="off", pcap=file, pcap_at=at)
    done = celltcp("pcap", "to-scenario", str(file), "--out", "limited.toml")
    assert done.returncode == 0, done.stderr
    reached = analyse(file).connections["throughput_mbps"].iloc[0]
    for cca in ("cubic", "bbr"):
        ran = ct.run(tmp_path / "limited.toml", cca, samples="off").flows["goodput_mbps"].iloc[0]
        assert ran == pytest.approx(reached, rel=0.07)


def test_a_path_that_was_never_filled_has_the_capacity_that_gaps_show(celltcp, tmp_path: Path) -> None:
    """Slow start overflows a shallow buffer early, and one segment a round trip follows."""
    changes = ["path.rtt=80ms", "path.down.rate=400Mbit/s", "path.buffer=0.05bdp", "tcp.sack=false"]
    file = tmp_path / "shallow.pcap"
    ct.run("steady-20-68", "reno", duration="8s", set=changes, samples="off", pcap=file)
    done = celltcp("pcap", "to-scenario", str(file), "--out", "shallow.toml")
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("capacity"))
    assert "by the gaps in" in line
    assert float(line.split()[1]) == pytest.approx(400, rel=0.03)


def test_a_buffer_that_was_never_full_is_no_shallow_one_in_simulations(celltcp, tmp_path: Path) -> None:
    """Random losses keep CUBIC below the capacity: no queue stands, and nothing shows the buffer."""
    changes = [
        "path.rtt=75ms",
        "path.down.rate=100Mbit/s",
        "path.buffer=1000packets",
        "path.loss=0.001",
    ]
    file = tmp_path / "lossy.pcap"
    ct.run("steady-20-68", "cubic", duration="20s", set=changes, samples="off", pcap=file)
    done = celltcp("pcap", "to-scenario", str(file), "--out", "lossy.toml")
    assert done.returncode == 0, done.stderr
    assert "no overflow observed; the scenario has one bandwidth-delay product" in done.stdout
    result = ct.compare(tmp_path / "lossy.toml", ["cubic", "bbr"], 2)
    cubic = ExplainedComparison(result).ccas[0]
    assert cubic.causes[0].name == "random_loss"
    assert "shallow_buffer" not in {cause.name for cause in cubic.causes}


def test_a_wait_for_a_path_that_stood_still_is_no_buffer(tmp_path: Path) -> None:
    """No more than the receive window of 60 kB was ever in a queue, whatever the outage took."""
    changes = {
        "tcp.receive_window_max": "60kB",
        "path.blackouts": [{"at": "3s", "duration": "2s"}],
    }
    file = tmp_path / "x.pcap"
    ct.run(
        "steady-5-18", "cubic", duration="9s", set=changes, samples="off", pcap=file, pcap_at="phone"
    )
    analyses = analyse(file)
    assert analyses.connections["losses_outage"].iloc[0] > 0
    assert 10e3 < estimate_path(analyses).buffer_bytes < 60e3


def test_captures_in_between_are_judged(celltcp) -> None:
    """Losses on both sides of the capture, and captures of cases drawn at random."""
    case = Case("both sides", "steady-20-68", "cubic", ("path.buffer=80packets",), "20s", 0.4, "0.1%")
    (judged,) = validate(cases_at([case], "between"))
    assert judged.outcome["place"]["place"] == "between"
    outcome = judgement_of([judged])
    assert outcome["at"] == "between"
    for kind in ("congestion", "random"):
        assert outcome["kinds"][kind]["true"] >= 10
        assert outcome["kinds"][kind]["f1"] >= 0.8
    assert outcome["rtt_error"] < 0.05
    done = celltcp(
        "pcap", "validate", "--at", "between", "--random", "3", "--seed", "4", "--cases", "om 9"
    )
    assert done.returncode == 2
    assert "random 0; random 1; random 2" in done.stderr


def test_cases_drawn_at_random_depend_on_seed_and_number_only() -> None:
    assert random_cases(5, 7)[:3] == random_cases(3, 7)
    assert random_cases(3, 7) != random_cases(3, 8)
    for case in cases_at(random_cases(12, 3), "between"):
        case.load()


def test_segments_that_are_discarded_for_their_timestamp_are_not_spurious() -> None:
    """A segment is overtaken by a retransmission with a later timestamp (RFC 7323 section 5)."""
    ms = 1_000_000
    rows = [
        # seq, sent, ended, fate
        (0, 0, 20, "received"),
        (100, 1, 5, "loss"),
        (200, 1, 41, "received"),
        (100, 30, 40, "received"),
        (200, 50, 70, "received"),
    ]
    fates = pd.DataFrame(
        {
            "seq": [row[0] for row in rows],
            "len": 100,
            "sent_ns": [row[1] * ms for row in rows],
            "ended_ns": [row[2] * ms for row in rows],
            "reported": [0, 0, 0, 300, 300],
            "fate": [row[3] for row in rows],
        }
    )
    assert list(ground_truth_losses(fates)["kind"]) == ["random", "discarded"]
    assert list(ground_truth_losses(fates, has_timestamps=False)["kind"]) == ["random", "spurious"]


NOTES = """start, end, address, rsrp, site
,, 10.0.0.0/8, -90, A
1970-01-02, 1970-01-03, , -70, B
"""


def test_notes_tag_connections_by_time_and_address(capture: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text(NOTES)
    (row,) = with_tags(analyse(capture).connections, read_tag_rules(file)).to_dict("records")
    assert (row["place"], row["site"], row["size"]) == ("mid", "A", "large")
    file.write_text(NOTES.replace("10.0.0.0/8", "10.0.0.300"))
    with pytest.raises(ct.CelltcpError, match=r"line 2: address: '10.0.0.300'; allowed: an address"):
        read_tag_rules(file)
    file.write_text("start,site,site \n,A,B\n")
    with pytest.raises(ct.CelltcpError, match="the column 'site' is there twice"):
        read_tag_rules(file)


def test_sets_of_captures_are_compared_group_by_group_with_the_weights_of_the_thesis() -> None:
    def rows(place: str, rates: list[float]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "place": place,
                "throughput_mbps": rates,
                "bytes_up": 0,
                "bytes_down": 1_000_000,
                "retransmitted_bytes_up": 0,
                "retransmitted_bytes_down": 10_000,
                "far_rtt_p50_ms": [40.0, 50.0, np.nan],
                "near_rtt_p50_ms": [1.0, np.nan, np.nan],
            }
        )

    first = pd.concat([rows("near", [10.0, 12.0, 11.0]), rows("far", [2.0, 2.2, 1.8])])
    second = pd.concat([rows("near", [11.0, 13.2, 12.1]), rows("far", [4.0, 4.4, 3.6])])
    far, near, weighted = compare_captures(first, second, ["place"])
    assert (far.gain, near.gain) == (pytest.approx(1.0), pytest.approx(0.1))
    # 45 % far, 25 % near, nothing at mid-cell.
    assert weighted.gain == pytest.approx((0.45 * 1.0 + 0.25 * 0.1) / 0.7)
    assert far.interval is not None
    assert far.interval[0] < 1.0 < far.interval[1]
    for group in (far, weighted):
        # The connection with samples on one side only has no RTT of the whole path.
        assert group.rtt_ms == pytest.approx((41.0, 41.0))
    assert far.retransmitted == (pytest.approx(0.01), pytest.approx(0.01))
    with pytest.raises(ct.CelltcpError, match="--by: 'colour' is no tag"):
        compare_captures(first, second, ["colour"])


def test_tables_go_to_a_database(celltcp, capture: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    for _ in range(2):
        assert celltcp("pcap", "analyze", str(capture), "--database", "x.duckdb").returncode == 0
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        assert database.execute("select count(*) from connections").fetchone() == (1,)


def test_the_database_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    from celltcp.pcap import database

    def absent(_: str) -> None:
        raise ImportError

    monkeypatch.setattr(database, "import_module", absent)
    with pytest.raises(ct.CelltcpError, match=r"pip install 'celltcp\[pcap\]'"):
        database.require_duckdb()


@pytest.mark.parametrize("name", sorted(TSHARK))
def test_counts_of_real_captures_are_those_of_tshark(name: str) -> None:
    if not (REAL / name).is_file():
        pytest.skip("the real captures are not there")
    analyses = analyse(REAL / name)
    rows = analyses.connections
    counts = (
        len(rows),
        analyses.summaries[0]["segments"],
        *(
            int(rows[f"{count}_up"].sum() + rows[f"{count}_down"].sum())
            for count in ("retransmissions", "out_of_order", "resets")
        ),
    )
    assert counts == TSHARK[name]
    assert not analyses.broken


def test_every_real_capture_is_read_to_its_end() -> None:
    if not REAL.is_dir():
        pytest.skip("the real captures are not there")
    files = sorted(file for file in REAL.iterdir() if ".pcap" in file.name)
    analyses = analyse(files, segments=True)
    assert not analyses.broken
    assert len(analyses.segments) == sum(summary["segments"] for summary in analyses.summaries) - int(
        analyses.connections["captured_twice"].sum()
    )


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_duplicate_acks_are_those_of_tshark(capture: Path) -> None:
    from celltcp.pcap.validation.external_tools import external_counts

    rows = analyse(capture).connections
    theirs = external_counts(capture)["tshark"]
    assert theirs["duplicate_acks"] == int(rows["duplicate_acks_up"].sum())
    # Seen from the sender, tshark calls fast retransmissions out of order.
    ours = int(rows["retransmissions_down"].sum())
    assert theirs["retransmissions"] + theirs["out_of_order"] == ours


def test_rtts_of_two_sets_are_of_the_same_parts_of_the_path() -> None:
    """A connection with samples on one side of the capture only has a part of its RTT."""
    columns = ["far_rtt_p50_ms", "near_rtt_p50_ms"]
    whole = pd.DataFrame([(30.0, 20.0), (40.0, 10.0)], columns=columns)
    partly = pd.DataFrame([(30.0, math.nan), (40.0, 20.0), (math.nan, 5.0)], columns=columns)
    near = pd.DataFrame([(math.nan, 8.0)], columns=columns)
    assert rtts_ms([whole, partly]) == (50.0, 60.0)
    assert rtts_ms([whole, near]) == (15.0, 8.0)
    assert rtts_ms([whole, whole.iloc[:0]]) == (None, None)


_MAHIMAHI = """
duration = "8s"
path = { rtt = "40ms", down = "48Mbit/s", up = "48Mbit/s", buffer = "60packets" }
[[flows]]
workload = { kind = "bulk", bytes = "20MiB" }
"""


def test_leftovers_of_a_full_queue_are_no_random_losses_at_the_receiver(
    celltcp, tmp_path: Path
) -> None:
    """Only a full queue drops here. Table, sentence and scenario say so, as at the sender."""
    (tmp_path / "s.toml").write_text(_MAHIMAHI)
    run = ("run", "s.toml", "--cca", "cubic", "--seed", "3", "--pcap", "r.pcap", "--pcap-at", "phone")
    assert celltcp(*run).returncode == 0
    analyses = analyse(tmp_path / "r.pcap")
    (row,) = analyses.connections.to_dict("records")
    assert row["place"] == "receiver"
    assert row["losses_random"] == 0
    assert row["losses_congestion"] == row["losses"] == (analyses.losses["kind"] == "congestion").sum()
    assert "a full queue on the path limits the rate" in row["diagnosis"]
    path = estimate_path(analyses)
    assert path.random_loss == 0
    assert path.is_buffer_full
    assert path.mean_mbps == pytest.approx(48, rel=0.05)
    assert path.buffer_bytes == pytest.approx(90e3, rel=0.1)
    done = celltcp("pcap", "to-scenario", "r.pcap", "--out", "x.toml")
    assert "never filled" not in done.stdout
    # A transfer with an end takes longer under other CCAs: its time to complete is not cut.
    scenario = tomllib.loads((tmp_path / "x.toml").read_text())
    assert float(scenario["duration"].rstrip("s")) > 2.5 * row["duration_s"]


def test_acks_that_wait_behind_an_upload_are_no_slow_downlink(celltcp, tmp_path: Path) -> None:
    """A download of 20 Mbit/s whose ACKs share an uplink of 5 Mbit/s with an upload."""
    (tmp_path / "s.toml").write_text(
        'duration = "15s"\n'
        'path = { rtt = "30ms", down = "20Mbit/s", up = "5Mbit/s", uplink_buffer = "300packets" }\n'
        '[[flows]]\n[[flows]]\nfrom = "phone"\nto = "server"\n'
    )
    assert celltcp("run", "s.toml", "--cca", "cubic", "--pcap", "c.pcap").returncode == 0
    analyses = analyse(tmp_path / "c.pcap")
    rows = {str(row["place"]): row for row in analyses.connections.to_dict("records")}
    download, upload = rows["sender"], rows["receiver"]
    words = f"in which connection {upload['connection']} sends"
    assert words in download["diagnosis"]
    assert "other direction" not in upload["diagnosis"]
    path = estimate_path(analyses, download["connection"])
    assert "behind connection" in path.capacity_note
    assert "measured" not in path.capacity_note
    assert path.mean_mbps > 5
    path = estimate_path(analyses, upload["connection"])
    assert path.mean_mbps == pytest.approx(5, rel=0.05)
    assert "measured" in path.capacity_note
