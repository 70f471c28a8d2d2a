"""Outages in captures, beside what looks like one."""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.waits import waits
from celltcp.pcap.estimation.blackout_ends import best_by_ends
from celltcp.pcap.estimation.blackouts import Blackout, unknown_ends
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.results.captured_limits import OPEN_ENDS
from celltcp.scenarios.lower_bounds import UNKNOWN_ENDS
from drawn_causes import interrupted
from made_up_connections import MSS, at_client, gap_at_the_receiver, time_outs
from made_up_evidence import evidence
from packets import Connection


def test_data_that_are_sent_again_are_data_that_came(tmp_path: Path) -> None:
    made = Connection()
    gap_at_the_receiver(made)
    made.packets = [each for each in made.packets if not 0.38 < each[0] < 0.39 or each[2] > MSS]
    for number in range(14):
        made.packet(0.5 + 0.2 * number, False, seq=59 * MSS, ack=100, length=MSS)
        made.packet(0.5001 + 0.2 * number, True, seq=100, ack=59 * MSS)
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["retransmissions_down"] == 14
    assert "of which none came" not in row["diagnosis"]


def test_long_time_outs_may_be_an_outage_before_the_capture(tmp_path: Path) -> None:
    made = Connection()
    time_outs(made)
    made.packets = [(t + 8 * (t > 0.65), *rest) for t, *rest in made.packets]
    sentence = analyse(made.write(tmp_path / "x.pcap")).connections["diagnosis"].iloc[0]
    assert "or for an outage of the path" in sentence


def test_outages_before_the_capture_have_their_times_and_are_no_pause(tmp_path: Path) -> None:
    """After each silence, the segment whose ACK was lost comes again, and an RTT later new data."""
    made = Connection()
    at_client(made, 0.04)
    made.packet(0.05, True, "PA", length=100)
    t, number = 0.09, 0

    def pass_segments(numbers: range | list[int]) -> None:
        nonlocal t
        for each in numbers:
            made.packet(t, False, seq=each * MSS, ack=100, length=MSS)
            t += 2e-3

    for _ in range(4):
        for each in range(number, number + 1000):
            pass_segments([each])
            made.packet(t - 1e-3, True, seq=100, ack=(each + 1) * MSS)
        highest = number + 1000
        t += 3
        pass_segments([highest - 1])
        made.packet(t, True, seq=100, ack=highest * MSS)
        t += 0.04
        pass_segments([highest + 5, highest + 6])
        t += 0.04
        pass_segments(range(highest, highest + 5))
        number = highest + 7
        made.packet(t, True, seq=100, ack=number * MSS)
    analysis = analyse(made.write(tmp_path / "x.pcap"))
    row = analysis.connections.iloc[0]
    assert (row["losses_outage"], row["losses"]) == (20, 20)
    assert row["diagnosis"].startswith("waited 12 s for an outage of the path before the capture")
    assert re.findall(r"3\.\d s from (2\.1|7\.1|12\.2|17\.2) to ", row["diagnosis"])
    assert "20 segments were lost" in row["diagnosis"]


def test_nobody_waits_for_a_client_that_has_sent_a_rst(tmp_path: Path) -> None:
    """A server that has not heard of it sends once more, seven seconds later."""
    made = Connection()
    at_client(made, 0.04)
    made.packet(0.05, True, "PA", length=100)
    for number in range(100):
        t = 0.09 + 1e-3 * number
        made.packet(t, False, seq=number * MSS, ack=100, length=MSS)
        made.packet(t + 1e-5, True, seq=100, ack=(number + 1) * MSS)
    made.packet(0.19, True, "FA", seq=100, ack=100 * MSS)
    for number in range(100, 120):
        t = 0.1 + 1e-3 * number
        made.packet(t, False, seq=number * MSS, ack=100, length=MSS)
        made.packet(t + 1e-6, True, "R", seq=101)
    made.packet(7.2, False, seq=100 * MSS, ack=101, length=MSS)
    made.packet(7.2001, True, "R", seq=101)
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert (row["harm_s"], row["losses"], row["retransmissions_down"]) == (0, 0, 1)
    assert row["diagnosis"].startswith("the client ended the connection by a RST")


@pytest.mark.parametrize(("usual_ms", "is_gap"), [(50.0, True), (700.0, False)])
def test_a_gap_as_long_as_acks_queue_is_none(usual_ms: float, is_gap: bool) -> None:
    own = evidence(
        (),
        place="receiver",
        near_rtt_samples=500,
        near_rtt_min_ms=40.0,
        near_rtt_p50_ms=usual_ms,
        far_rtt_min_ms=0.0,
        far_rtt_p95_ms=0.0,
    )
    own.intervals.loc[40:49, "bytes"] = 0
    assert any("of which none came" in str(wait.text) for wait in waits(own)) == is_gap


def test_a_silence_as_short_as_the_rtt_is_no_outage() -> None:
    assert not list(waits(evidence((), stalled_s=0.24, far_rtt_p50_ms=600.0)))
    assert list(waits(evidence((), stalled_s=2.4, far_rtt_p50_ms=600.0)))


@pytest.mark.parametrize("seed", range(2))
def test_waits_for_an_outage_have_the_last_time_out_that_doubled(seed: int, tmp_path: Path) -> None:
    """It began in the outage, and ended long after it."""
    length_s = random.Random(seed).uniform(5, 20)
    frames = {"kind": "frames", "size": "300B", "interval": "1s"}
    changes = {
        "path.rtt": "80ms",
        "path.blackouts": [{"at": "10.01s", "duration": f"{length_s:.2f}s"}],
        "flows.0.workload": frames,
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", seed, duration="60s", set=changes, pcap=file)
    sentence = analyse(file).connections["diagnosis"].iloc[0]
    pattern = r"waited ([\d.]+) s for an outage .* up to ([\d.]+) s of that is of last time-outs"
    waited_s, last_s = map(float, re.findall(pattern, sentence)[0])
    assert length_s < waited_s < 2.2 * length_s
    assert waited_s - length_s < last_s < 0.6 * waited_s
    # At twice the outage, 11 time-outs of this length remain before the connection is aborted.
    (rto_max_ms,) = re.findall(r"tcp_rto_max_ms=(\d+) ", sentence)
    assert 1000 <= float(rto_max_ms) < 1e3 * (1 + 2 * last_s / 11)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_pauses_and_random_losses_beside_outages_are_named_with_them(seed: int, tmp_path: Path) -> None:
    """The longest comes first, and silences of the sender in an outage are no pauses."""
    draw = random.Random(seed)
    on_s, off_s = draw.choice([2.0, 2.5]), draw.choice([1.6, 2.0])
    file = tmp_path / "run.pcap"
    # Outages begin while the application writes.
    starts_s = [round(number * (on_s + off_s) + 0.4 * on_s, 2) for number in (2, 5)]
    outage_s = draw.choice([1.3, 1.8])
    has_causes = seed % 3 > 0
    workload = {"kind": "on-off", "on": f"{on_s}s", "off": f"{off_s}s"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([40, 70])}ms",
        "path.blackouts": [{"at": f"{at}s", "duration": f"{outage_s}s"} for at in starts_s],
        "path.loss": draw.choice([0.004, 0.006]) if has_causes else 0.0,
        "flows.0.workload": workload if has_causes else {"kind": "bulk"},
        "path.middleboxes": [{"kind": "reset-tracker"}],
    }
    place = draw.choice(["server", "gateway"])
    run = {"set": changes, "samples": "off", "pcap": file, "pcap_at": place}
    ct.run("steady-20-68", "cubic", seed, "30s", **run)
    (row,) = analyse(file).connections.to_dict("records")
    text = row["diagnosis"]
    assert "an outage of the path" in text
    assert "in the rest, " in text
    full = re.search(r"in the rest, a full link limits the rate, .* carried ([\d.]+) Mbit/s", text)
    assert (full is None) == has_causes, text
    # 1448 of 1500 bytes are payload; windows grow again after outages.
    assert full is None or float(full[1]) == pytest.approx(20 * 1448 / 1500, rel=0.1)
    found = re.findall(r"waited ([\d.]+) s for (?:data of|the application of) the server", text)
    # Data that wait in the send buffer can fill the pauses.
    assert found or row["pauses_down_s"] < 0.15 * row["duration_s"]
    for waited in found:
        assert float(waited) == pytest.approx(row["pauses_down_s"], rel=0.2)
    times_s = [float(each) for each in re.findall(r"waited ([\d.]+) s", text)]
    assert times_s == sorted(times_s, reverse=True)


def _captured(folder: Path, draw: random.Random, place: str, **changes: Any) -> Path:
    """Returns the capture of a download of 12 s on a drawn path."""
    path = {
        "path.rtt": f"{draw.randint(20, 90)}ms",
        "path.down": {"rate": f"{draw.choice([8, 20, 40])}Mbit/s"},
        "path.buffer": draw.choice(["0.5bdp", "1bdp", "2bdp"]),
        "variation.start_jitter": "0s",
    }
    capture = folder / "x.pcap"
    run: dict[str, Any] = {"set": path | changes, "samples": "off", "pcap_at": place}
    ct.run("steady-20-68", "cubic", 1, "12s", pcap=capture, **run)
    return capture


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(4))
def test_the_scenario_of_a_capture_has_its_outages(tmp_path: Path, seed: int, place: str) -> None:
    draw = random.Random(f"outages {seed}")
    times = [(4.0, draw.uniform(0.6, 1.8)), (8.0, draw.uniform(0.6, 1.8))]
    tables = [{"at": f"{at:.2f}s", "duration": f"{length:.2f}s"} for at, length in times]
    capture = _captured(tmp_path, draw, place, **{"path.blackouts": tables})
    path = estimate_path(analyse(capture))
    assert len(path.blackouts) == 2
    for (at, length), blackout in zip(times, path.blackouts, strict=True):
        assert blackout.start_s == pytest.approx(at, abs=0.15)
        # Of repairs before the capture only the time-outs are known.
        assert 0.4 * length < blackout.last_lost_s - blackout.start_s
        assert blackout.last_lost_s < at + length + 0.1
        assert blackout.passed_s > at + length - 0.1
    assert not path.left_out
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    assert len(tomllib.loads(scenario.read_text())["path"]["blackouts"]) == 2


@pytest.mark.parametrize("seed", range(4))
def test_what_waits_in_a_queue_when_an_outage_begins_is_lost_in_it(tmp_path: Path, seed: int) -> None:
    draw = random.Random(f"queued {seed}")
    blackout = [{"at": "6s", "duration": f"{draw.uniform(0.8, 1.8):.2f}s"}]
    losses = analyse(_captured(tmp_path, draw, "server", **{"path.blackouts": blackout})).losses
    around = losses[losses["t_s"].between(5.6, 6.5) & (losses["kind"] == "congestion")]
    assert len(around) < 0.1 * (losses["kind"] == "outage").sum()


@pytest.mark.parametrize("seed", range(3))
def test_a_path_that_keeps_packets_while_it_stands_still_has_no_blackout(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(f"kept {seed}")
    steps = interrupted("20Mbit/s", [(5.0, draw.uniform(0.6, 1.5))])
    path = estimate_path(
        analyse(_captured(tmp_path, draw, "server", **{"path.down": {"steps": steps}}))
    )
    assert not path.blackouts
    assert not path.left_out
    # A run that began elsewhere in the trace would have the outage at another time.
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    offsets = ct.compare(scenario, ["cubic"], runs=3).results.tables["runs"]["trace_offset_s"]
    assert offsets.to_pylist() == [0.0] * 3


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_silence_has_its_length_and_a_queue_that_outlives_it_overflows(
    tmp_path: Path, seed: int, keeps: bool
) -> None:
    """No ACK comes while the path stands still. A blackout loses what was in the queue as well."""
    draw = random.Random(f"silences {seed} {keeps}")
    gaps = [(2 + draw.random(), draw.uniform(0.9, 1.3)), (6 + draw.random(), draw.uniform(1.4, 2))]
    changes: dict[str, Any] = {"path.down": {"steps": interrupted("20Mbit/s", gaps)}}
    if not keeps:
        tables = [{"at": f"{at:.2f}s", "duration": f"{length:.2f}s"} for at, length in gaps]
        changes = {"path.blackouts": tables}
    (row,) = analyse(_captured(tmp_path, draw, "server", **changes)).connections.to_dict("records")
    text = row["diagnosis"]
    lengths = re.findall(r"for ([\d.]+) s from ([\d.]+) s on", text)
    assert len(lengths) == 2, text
    for (silence_s, start_s), (at, length) in zip(lengths, gaps, strict=True):
        # The last packet before it is still acknowledged.
        assert float(start_s) == pytest.approx(at, abs=0.21)
        late_s = float(silence_s) - length
        assert -0.15 < late_s < (0.15 if keeps else 1.2 * length)
    assert ("overflowed the queue" in text) == (keeps and row["losses_outage"] > 0), text
    waited_s = float(re.findall(r"waited ([\d.]+) s for", text)[0])
    assert waited_s < sum(float(each) for each, _ in lengths)


@pytest.mark.parametrize("seed", range(4))
def test_a_queue_that_overflows_as_nothing_passes_has_lost_in_the_outage(
    tmp_path: Path, seed: int
) -> None:
    """Without the outage, the window keeps below the buffer: no loss is by congestion."""
    draw = random.Random(f"full queue {seed}")
    # BDP of 20 Mbit/s at 60 ms: 150 kB.
    window = draw.choice([450, 700, 1000])
    changes = {
        "path.rtt": "60ms",
        "path.down": {"rate": "20Mbit/s"},
        "path.buffer": f"{window}kB",
        "path.blackouts": [{"at": "6s", "duration": f"{draw.uniform(1, 2.5):.2f}s"}],
        "tcp.receive_window_max": f"{window}kB",
    }
    (row,) = analyse(_captured(tmp_path, draw, "server", **changes)).connections.to_dict("records")
    assert row["losses_congestion"] == row["losses_random"] == 0
    # All that waited in the queue, and on the way to it: the window.
    assert row["losses_outage"] >= 0.9 * 1e3 * (window - 75) / 1448


@pytest.mark.parametrize("seed", range(3))
def test_rankings_are_in_doubt_where_time_outs_alone_show_the_end_of_a_blackout(
    tmp_path: Path, seed: int
) -> None:
    """Whichever the length, the captured sender recovers at the time of its last time-out."""
    draw = random.Random(f"ends {seed}")
    length_s = draw.uniform(1, 2.5)
    changes = {"path.blackouts": [{"at": "5s", "duration": f"{length_s:.2f}s"}]}
    path = estimate_path(analyse(_captured(tmp_path, draw, "server", **changes)))
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    lengths_s = {}
    for kind in ("shortest", "longest"):
        (line,) = re.findall(f"# {kind}: (.*)", scenario.read_text())
        blackouts = tomllib.loads(line)["blackouts"]
        lengths_s[kind] = float(blackouts[0]["duration"].removesuffix("s"))
    assert lengths_s["shortest"] - 0.1 < length_s < lengths_s["longest"] + 0.1
    (table,) = tomllib.loads(scenario.read_text())["path"]["blackouts"]
    (shortest_s, longest_s), between_s = lengths_s.values(), float(table["duration"].removesuffix("s"))
    assert shortest_s < between_s < longest_s
    compared = ct.compare(scenario, ["cubic"], runs=1)
    assert any(UNKNOWN_ENDS in warning for warning in compared.warnings)


@pytest.mark.parametrize("seed", range(2))
def test_the_best_cca_is_undecided_where_it_depends_on_the_end_of_a_blackout(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(f"best {seed}")
    changes = {"path.blackouts": [{"at": "5s", "duration": f"{draw.uniform(1, 2.5):.2f}s"}]}
    path = estimate_path(analyse(_captured(tmp_path, draw, "server", **changes)))
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    best = best_by_ends(scenario, path)
    assert best is not None
    (blackout,) = path.blackouts
    for length_s in (blackout.min_s, blackout.max_s):
        length = {"path.blackouts.0.duration": f"{length_s:.2f}s"}
        result = ct.compare(scenario, runs=2, set=length)
        goodputs = {cca: sum(result.values(cca, "goodput_mbps")) for cca in result.ccas}
        assert max(goodputs, key=goodputs.__getitem__) in best["goodput"]
    path = replace(path, best_by_ends={"goodput": ["cubic", "bbr"], "delay": ["bbr"]})
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    verdicts = ct.compare(scenario, ["cubic", "bbr"], 2).verdicts
    assert {verdicts["goodput"].leader, *verdicts["goodput"].undecided} <= {"cubic", "bbr"}
    assert verdicts["goodput"].best is None or verdicts["goodput"].tied
    assert verdicts["delay"].best == "bbr"
    # Whoever gives one of the bounds has an end.
    length = {"path.blackouts.0.duration": f"{blackout.max_s:.2f}s"}
    given = ct.compare(scenario, ["cubic", "bbr"], 2, set=length)
    assert not given.verdicts["goodput"].doubt
    assert not any(UNKNOWN_ENDS in warning for warning in given.warnings)


def test_ends_that_are_known_to_little_of_the_time_leave_no_doubt() -> None:
    assert unknown_ends((Blackout(5.0, 7.0, 7.4, 90),), 60.0) == ""
    assert "2.0 to 3.0 s" in unknown_ends((Blackout(5.0, 7.0, 8.0, 90),), 60.0)


def test_silences_and_what_of_them_is_no_wait_add_up(tmp_path: Path) -> None:
    """The first two RTTs without an ACK are no wait."""
    tables = [{"at": "3s", "duration": "1.3s"}, {"at": "7s", "duration": "1.7s"}]
    draw = random.Random("sums of silences")
    analyses = analyse(_captured(tmp_path, draw, "server", **{"path.blackouts": tables}))
    (text,) = analyses.connections["diagnosis"]
    (waited_s,) = map(float, re.findall(r"waited ([\d.]+) s for an outage", text))
    silences_s = [float(each) for each in re.findall(r"for ([\d.]+) s from", text)]
    ((total_s, usual_s),) = re.findall(r"of these ([\d.]+) s, ([\d.]+) s are no wait", text)
    assert sum(silences_s) == pytest.approx(float(total_s), abs=0.11)
    assert float(total_s) - float(usual_s) == pytest.approx(waited_s, abs=0.11)


def test_ends_of_blackouts_lie_near_the_middle_of_their_bounds(tmp_path: Path) -> None:
    """The end of an outage does not depend on the time-outs of a sender, which double."""
    errors = []
    for seed in range(12):
        draw = random.Random(f"middle {seed}")
        length_s = draw.uniform(0.8, 3)
        tables = [{"at": "3s", "duration": f"{length_s:.2f}s"}]
        capture = _captured(tmp_path, draw, "server", **{"path.blackouts": tables})
        analyses = analyse(capture)
        capture.unlink()
        for each in estimate_path(analyses).blackouts:
            errors.append((each.length_s - length_s) / (each.max_s - each.min_s))
    # The standard deviation of a uniform distribution is 0.29 of its range.
    assert len(errors) >= 10
    assert abs(sum(errors)) / len(errors) < 2 * 0.29 / len(errors) ** 0.5


@pytest.mark.parametrize("seed", range(2))
def test_a_path_that_keeps_the_packets_of_a_game_stands_still_in_units_and_scenario(
    tmp_path: Path, seed: int
) -> None:
    """Nothing is lost while a link has no rate: resends are in vain, and all late frames are of it."""
    draw = random.Random(f"kept {seed}")
    lengths_s = [round(draw.uniform(0.5, 1.0), 1) for _ in range(3)]
    steps = [{"at": "0s", "rate": "20Mbit/s"}]
    for at_s, length_s in zip((5, 12, 19), lengths_s, strict=True):
        steps += [
            {"at": f"{at_s}s", "rate": "0bit/s"},
            {"at": f"{at_s + length_s}s", "rate": "20Mbit/s"},
        ]
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([50, 60, 80])}ms",
        "path.down": {"steps": steps},
        "path.up": {"steps": steps},
        "flows.0.workload": {"kind": "frames", "size": "600B", "interval": "33ms"},
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", seed, "26s", set=changes, samples="off", pcap=file)
    analyses = analyse(file)
    row = analyses.connections.iloc[0]
    assert row["losses"] == 0
    assert "for a path that stood still (3 times" in row["diagnosis"]
    units = analyses.units
    late = units[units["duration_s"] > 0.15]
    assert len(late) == pytest.approx(sum(lengths_s) / 0.033, rel=0.2)
    assert (late["delayed_by"] == "outage").mean() > 0.95
    # An interval of 100 ms has no rate where nothing passed in all of it.
    stood_s = 0.1 * (estimate_path(analyses).capacity_mbps == 0).sum()
    assert sum(lengths_s) - 0.1 * len(lengths_s) - 0.05 <= stood_s <= sum(lengths_s) + 0.05


def test_a_minimum_rto_is_undecided_where_a_capture_leaves_open_when_outages_ended(
    tmp_path: Path,
) -> None:
    """Whether a time-out expires before or after an end, the guess of that end decides in a trial."""
    frames = {"kind": "frames", "size": "600B", "interval": "33ms"}
    outages = [{"at": f"{at}s", "duration": "800ms"} for at in (5, 12, 19, 26)]
    changes = {"path.rtt": "50ms", "path.blackouts": outages, "flows.0.workload": frames}
    capture, scenario = tmp_path / "x.pcap", tmp_path / "path.toml"
    run: dict[str, Any] = {"duration": "30s", "set": changes, "samples": "off"}
    ct.run("steady-20-68", "cubic", 1, pcap=capture, **run)
    write_scenario(estimate_path(analyse(capture)), scenario)
    deadline = {"flows.0.workload.deadline": "100ms"}
    # Those who give the lengths know when they ended.
    (line,) = re.findall("# longest: (.*)", scenario.read_text())
    longest = {"path.blackouts": tomllib.loads(line)["blackouts"]}
    for given, is_open in ((deadline, True), (deadline | longest, False)):
        explained = ExplainedComparison(ct.compare(scenario, ["cubic", "reno"], runs=2, set=given))
        assert any(UNKNOWN_ENDS in text for text in explained.notes) == is_open
        explained.try_remedies(TrialBudget())
        of_rto = [each for each in explained.remedies if "min_rto" in each.options]
        assert all((OPEN_ENDS in each.purpose) == is_open for each in of_rto)
        assert [each.trial for each in of_rto] == [""] if is_open else all(e.trial for e in of_rto)


def _frames_behind_outages(tmp_path: Path, rate_mbps: float, **changes: object) -> pd.DataFrame:
    """Returns late frames of 2.9 Mbit/s with each second after a gap of 0.8 s at 5, 13 and 21 s."""
    gaps = [{"at": f"{at}s", "duration": "800ms"} for at in (5, 13, 21)]
    frames = {"kind": "frames", "size": "12kB", "interval": "33ms"}
    path = {"path.rtt": "50ms", "path.down": {"rate": f"{rate_mbps}Mbit/s"}, "path.blackouts": gaps}
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", 1, "28s", samples="off", pcap=file, set={
        **path, "path.buffer": "200packets", "flows.0.workload": frames, **changes
    })  # fmt: skip
    units = analyse(file).units
    return units[(units["duration_s"] > 0.12) & (units["start_s"] > 1)]


@pytest.mark.parametrize("rate_mbps", [5, 6, 8])
def test_frames_in_the_backlog_that_an_outage_left_are_late_by_the_outage(
    tmp_path: Path, rate_mbps: float
) -> None:
    """Packets of the queue that an outage loses are no losses beside it."""
    late = _frames_behind_outages(tmp_path, rate_mbps)
    # A backlog of the outage drains at what the frames leave of the rate: L / (1 - 2.9 / rate) in all.
    drained_s = 0.8 / (1 - 12e3 * 8e-6 / 0.033 / rate_mbps)
    assert len(late) >= 3 * drained_s / 0.033
    assert set(late["delayed_by"]) == {"outage"}


def test_a_backlog_that_grows_after_an_outage_is_not_left_by_it(tmp_path: Path) -> None:
    """From 6 to 10 s, a link of 1 Mbit/s passes a third of the frames; its short buffer overflows."""
    steps = [(0, 5), (6, 1), (10, 20)]
    link = {"steps": [{"at": f"{at}s", "rate": f"{mbps}Mbit/s"} for at, mbps in steps]}
    gap = [{"at": "5s", "duration": "400ms"}]
    changes = {"path.buffer": "15packets", "path.down": link, "path.blackouts": gap}
    late = _frames_behind_outages(tmp_path, 5, **changes)
    starts_s, causes = late["start_s"], late["delayed_by"]
    assert set(causes[starts_s.between(5.0, 5.4)]) == {"outage"}
    # At most twice 0.4 s were its time-outs, after which the delay doubles.
    later = starts_s.between(8.6, 9.2)
    assert late["duration_s"][later].min() > 2 * 2 * 0.4
    assert set(causes[later]) == {"losses of frames before it"}
