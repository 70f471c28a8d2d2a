"""Units of work in captures: responses and frames, their times, and what delayed them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.tables import _COLUMNS
from celltcp.pcap.units.unit_tables import applications_of

#: Payload of a full segment over its length at the IP layer.
_PAYLOAD = 1448 / 1500


def _captured(
    folder: Path, place: str, seed: int, seconds: int, kind: str, **changes: Any
) -> tuple[CaptureAnalyses, list[float]]:
    """Returns the analysis of a capture, and the times of its units in the simulation, s, by start."""
    options: dict[str, Any] = {"samples": "off", "pcap_at": place, "pcap": folder / "x.pcap"}
    options["overwrite"] = True
    result = ct.run("steady-20-68", "cubic", seed, f"{seconds}s", set=changes, **options)
    events = result.results.tables["events"].to_pandas()
    events = events[events["kind"] == kind]
    times_s = events["detail"].astype(float) * (1e-3 if kind.endswith("_ms") else 1)
    starts_s = events["t_ns"] / 1e9 - times_s
    return analyse(folder / "x.pcap"), times_s.iloc[np.argsort(starts_s.to_numpy())].tolist()


def _requests(seed: int) -> tuple[dict[str, Any], float]:
    """Returns drawn requests on a path with random losses, and the rate of the link, Mbit/s."""
    draw = random.Random(f"units {seed}")
    rate = draw.choice([5, 10, 20])
    workload = {
        "kind": "request-response",
        "request": "500B",
        "response": f"{draw.choice([9, 20, 50])}kB",
        "think": f"{draw.choice([2, 15, 40])}ms",
        "gap": "250ms",
        "count": 60,
    }
    return {
        "path.rtt": f"{draw.choice([30, 60, 110])}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.loss": draw.choice([0.005, 0.01, 0.02]),
        "flows.0.workload": workload,
    }, rate


@pytest.mark.parametrize("seed", range(3))
def test_responses_take_as_long_in_a_capture_as_for_the_client(seed: int, tmp_path: Path) -> None:
    """At the phone each time is known. At the server requests lost on their way begin later."""
    changes, _ = _requests(seed)
    for place in ("phone", "server"):
        analyses, times_s = _captured(tmp_path, place, seed, 40, "response_s", **changes)
        units = analyses.units
        assert (units["unit"] == "response").all()
        # The last ones may have no end in the time of the run.
        assert len(times_s) <= len(units) <= len(times_s) + 1
        errors_s = np.abs(units["duration_s"].to_numpy()[: len(times_s)] - times_s)
        share = {"phone": 1.0, "server": 0.9}[place]
        assert np.quantile(errors_s, share) < 0.01, place
        assert (units["first_byte_s"] < units["duration_s"]).all()


@pytest.mark.parametrize("gap", ["20ms", "150ms"])
@pytest.mark.parametrize("seed", range(2))
def test_responses_of_one_segment_behind_a_standing_queue_take_its_delay_too(
    gap: str, seed: int, tmp_path: Path
) -> None:
    """A client that asks again within 40 ms may hold its ACK for so long; its other ACKs are prompt."""
    draw = random.Random(f"one segment {seed}")
    workload = {"kind": "request-response", "response": f"{draw.randint(200, 1400)}B", "gap": gap}
    changes = {
        "path.rtt": f"{draw.randint(30, 60)}ms",
        "path.down.rate": f"{draw.randint(5, 15)}Mbit/s",
        "path.buffer": "4bdp",
        "flows.0.workload": workload,
        "flows.1": {"name": "bulk", "cca": "cubic", "start": "2s", "workload": {"kind": "bulk"}},
    }
    analyses, times_s = _captured(tmp_path, "server", seed, 12, "response_s", **changes)
    units = analyses.units
    responses = units.loc[units["unit"] == "response", "duration_s"].dropna().to_numpy()
    early_s = np.array(times_s)[: len(responses)] - responses[: len(times_s)]
    assert np.median(times_s) > np.min(times_s) + 0.06
    assert early_s.min() > -0.001
    assert early_s.max() < (0.041 if gap == "20ms" else 0.002)


def test_slow_responses_have_their_reason(tmp_path: Path) -> None:
    """Of requests on a path without a queue, losses and an outage make some slow."""
    changes = {
        "path.rtt": "60ms",
        "path.down.rate": "20Mbit/s",
        "path.blackouts": [{"at": "10s", "duration": "1.5s"}],
        "flows.0.workload": {
            "kind": "request-response",
            "request": "500B",
            "response": "10kB",
            "think": "10ms",
            "gap": "200ms",
            "count": 80,
        },
    }
    analyses, times_s = _captured(tmp_path, "phone", 1, 40, "response_s", **changes)
    slow = analyses.units[analyses.units["delayed_by"] != ""]
    # The first response has its handshake, of one RTT. In the outage, neither request nor response was
    # repaired before two time-outs.
    assert slow["delayed_by"].tolist() == ["handshake", "time-out"]
    assert slow["handshake_s"].iloc[0] == pytest.approx(0.060, rel=0.05)
    assert slow["duration_s"].iloc[1] == pytest.approx(max(times_s), abs=0.01)
    assert slow["timeout_s"].iloc[1] > 1.5
    analyses, _ = _captured(
        tmp_path, "phone", 1, 40, "response_s", **changes | {"path.blackouts": [], "path.loss": 0.02}
    )
    slow = analyses.units[analyses.units["delayed_by"] != ""]
    causes = (
        "handshake",
        "retransmission",
        "time-out",
        "further round trip",
        "lost end (probable), or",
    )
    assert slow["delayed_by"].str.startswith(causes).all()
    # Beside RTT, server and 10 kB at the rate of the link, half an RTT is more than jitter, though most
    # take a further round trip.
    is_slow = analyses.units["duration_s"] > 0.060 + 0.010 + 8 * 10.3e3 / 20e6 + 0.030
    assert is_slow.mean() > 0.6
    assert slow.index.tolist() == analyses.units.index[is_slow].tolist()


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_resends_of_last_segments_may_be_loss_probes_and_others_are_time_outs(
    tmp_path: Path, seed: int
) -> None:
    """A probe (RFC 8985) sends the last segment again, a time-out the first one without an ACK."""
    workload = {"kind": "request-response", "request": "500B", "response": "10kB", "think": "10ms"}
    changes = {
        "path.rtt": "60ms",
        "path.down.rate": "20Mbit/s",
        "path.loss": 0.02,
        "flows.0.workload": workload | {"gap": "200ms", "count": 80},
    }
    options: dict[str, Any] = {"samples": "off", "pcap_at": "server", "pcap": tmp_path / "x.pcap"}
    run = ct.run("steady-20-68", "cubic", seed, "30s", set=changes, **options)
    flow = run.results.tables["flows"].to_pandas().iloc[0]
    causes = analyse(tmp_path / "x.pcap").units["delayed_by"].value_counts()
    assert causes.get("time-out", 0) == flow["timeouts"]
    assert causes.get("time-out or loss probe", 0) <= flow["loss_probes"]
    assert ("time-out or loss probe" in causes) == (flow["loss_probes"] > 0)


def test_calls_on_connections_of_their_own_have_their_handshake(tmp_path: Path) -> None:
    """A SYN that is lost is sent again after a second (RFC 6298)."""
    changes: dict[str, Any] = {
        "path.rtt": "50ms",
        "path.down.rate": "20Mbit/s",
        "path.blackouts": [{"at": "0s", "duration": "0.4s"}],
        "flows.0.workload": {
            "kind": "request-response",
            "request": "500B",
            "response": "10kB",
            "think": "5ms",
            "gap": "100ms",
            "count": 30,
        },
    }
    analyses, times_s = _captured(tmp_path, "phone", 1, 20, "response_s", **changes)
    first = analyses.units.iloc[0]
    assert first["delayed_by"] == "handshake"
    assert first["duration_s"] == pytest.approx(times_s[0], abs=0.01)
    assert first["handshake_s"] > 1


@pytest.mark.parametrize("place", ["phone", "server"])
@pytest.mark.parametrize("seed", range(2))
def test_frames_have_delays_and_a_late_share(seed: int, place: str, tmp_path: Path) -> None:
    """The application does not keep to its interval, by a tenth, which a capture cannot know."""
    draw = random.Random(f"frames {seed}")
    rate, interval_ms = draw.choice([10, 20]), draw.choice([33, 40])
    changes = {
        "path.rtt": "20ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.loss": 0.001,
        "flows.0.workload": {
            "kind": "frames",
            "size": f"{0.5 * rate * interval_ms / 8:.0f}kB",
            "interval": f"{interval_ms}ms",
        },
    }
    analyses, times_s = _captured(tmp_path, place, seed, 30, "frame_ms", **changes)
    units = analyses.units
    assert (units["unit"] == "frame_delay").all()
    assert len(units) == pytest.approx(len(times_s), rel=0.01)
    # The first frames waited for the handshake and in slow start, and came as one.
    times_s, delays_s = times_s[10:], units["duration_s"][10:].dropna()
    for part in (50, 95, 99):
        expected_s = np.percentile(times_s, part)
        error_s = max(0.15 * expected_s, 0.3e-3 * interval_ms)
        assert np.percentile(delays_s, part) == pytest.approx(expected_s, abs=error_s)
    late, true_late = (delays_s > 0.1).mean(), (np.array(times_s) > 0.1).mean()
    assert late == pytest.approx(true_late, abs=0.02)


@pytest.mark.parametrize("rtt_ms", [60, 100])
def test_frames_written_during_the_handshake_have_their_size_and_time(
    rtt_ms: int, tmp_path: Path
) -> None:
    """In slow start they come as one: their interval and size are those of the frames after it."""
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms", "jitter": 0}
    changes = {"path.rtt": f"{rtt_ms}ms", "path.down.rate": "50Mbit/s", "flows.0.workload": workload}
    analyses, times_s = _captured(tmp_path, "server", 1, 10, "frame_ms", **changes)
    units = analyses.units
    # Some are on their way at the end.
    assert len(times_s) <= len(units) <= len(times_s) + 4
    assert (units["bytes"][:-4] == 20_000).all()
    # The client begins half an RTT before its SYN is at the server, and the server writes from then on.
    starts_s = -rtt_ms / 2e3 + 0.033 * np.arange(20)
    assert units["start_s"][:20].tolist() == pytest.approx(starts_s, abs=0.005)
    assert units["error_s"].max() < 1e-9
    # Windows of slow start, of which a frame is the end of one.
    assert units["duration_s"].max() == pytest.approx(max(times_s), rel=0.1)


def test_frames_are_late_only_above_a_given_deadline(tmp_path: Path) -> None:
    """An interval is no deadline: the way alone may take longer."""
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms"}
    changes = {"path.rtt": "80ms", "path.down.rate": "50Mbit/s", "flows.0.workload": workload}
    analyses, _ = _captured(tmp_path, "server", 1, 10, "frame_ms", **changes)
    (application,) = applications_of(analyses, None)
    assert (application["deadline_s"], application["late_share"]) == (None, None)
    (application,) = applications_of(analyses, 0.150)
    assert application["late_share"] == pytest.approx(
        (analyses.units["duration_s"] > 0.15).mean(), abs=0.02
    )


@pytest.mark.parametrize("seed", range(3))
def test_calls_come_first_and_the_time_of_their_server_is_no_queue(seed: int, tmp_path: Path) -> None:
    """A call that takes 4 ms of the link makes no queue: its server takes the time, not the path."""
    draw = random.Random(f"calls {seed}")
    workload = {
        "kind": "request-response",
        "request": "500B",
        "response": "10kB",
        "think": f"{draw.choice([8, 15, 30])}ms",
        "gap": "300ms",
        "count": 90,
    }
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([40, 60])}ms",
        "path.down.rate": "20Mbit/s",
        "path.loss": 0.02,
        "flows.0.workload": workload,
    }
    analyses, _ = _captured(tmp_path, "phone", seed, 40, "response_s", **changes)
    (row,) = analyses.connections.to_dict("records")
    assert " at random, " in row["diagnosis"], row["diagnosis"]
    assert "a buffer that overflowed" not in row["diagnosis"]
    output = CliRunner().invoke(celltcp, ["pcap", "analyze", str(tmp_path / "x.pcap")]).output
    assert output.lstrip().startswith("Times of units of work")


def test_a_loss_is_of_one_frame_and_nothing_delays_the_first_but_the_start(tmp_path: Path) -> None:
    """Ten segments of the initial window carry 14 480 bytes: the rest of a frame takes another RTT."""
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms"}
    changes: dict[str, Any] = {
        "path.rtt": "50ms",
        "path.down.rate": "50Mbit/s",
        "flows.0.workload": workload,
    }
    analyses, _ = _captured(tmp_path, "server", 1, 10, "frame_ms", **changes)
    first = analyses.units.iloc[0]
    assert first["delayed_by"] == "connection set-up and initial window"
    changes["path.policer"] = {"rate": "5.5Mbit/s", "burst": "30kB"}
    analyses, _ = _captured(tmp_path, "server", 1, 10, "frame_ms", **changes)
    assert analyses.units["losses"].sum() == len(analyses.losses) > 20


def test_data_that_come_a_time_out_later_on_a_path_with_losses_are_a_lost_end(tmp_path: Path) -> None:
    """Beside the receiver, a lost end and a pause look alike: other losses make it likely."""
    workload = {
        "kind": "request-response",
        "request": "500B",
        "response": "10kB",
        "think": "10ms",
        "gap": "100ms",
        "count": 150,
    }
    changes: dict[str, Any] = {
        "path.rtt": "60ms",
        "path.down.rate": "20Mbit/s",
        "path.loss": 0.02,
        "flows.0.workload": workload,
    }
    analyses, _ = _captured(tmp_path, "phone", 3, 60, "response_s", **changes)
    assert (analyses.units["delayed_by"] == "lost end (probable), or a pause of the server").any()
    output = CliRunner().invoke(celltcp, ["pcap", "analyze", str(tmp_path / "x.pcap")]).output
    line = next(each for each in output.splitlines() if "or a pause of the server (" in each)
    # The least time-out is 200 ms above the RTT (Linux), and a probe (RFC 8985) comes after two RTTs.
    assert float(line.split("(")[-1].split()[0]) > 100


@pytest.mark.parametrize(("size_kb", "is_seen"), [(20, True), (25, False)])
def test_a_deadline_of_frames_that_run_together_gets_an_answer(
    size_kb: int, is_seen: bool, tmp_path: Path
) -> None:
    """25 kB every 33 ms are 6.06 Mbit/s: more than a policer of 6 Mbit/s passes with its headers."""
    changes: dict[str, Any] = {
        "path.rtt": "50ms",
        "path.down.rate": "50Mbit/s",
        "path.policer": {"rate": "6Mbit/s", "burst": "100kB"},
        "flows.0.workload": {"kind": "frames", "size": f"{size_kb}kB", "interval": "33ms"},
    }
    _captured(tmp_path, "server", 1, 20, "frame_ms", **changes)
    arguments = ["pcap", "analyze", str(tmp_path / "x.pcap")]
    with_deadline, without = (
        CliRunner().invoke(celltcp, [*arguments, *more]).output
        for more in (["--deadline", "0.15s"], [])
    )
    assert ("Times of units of work" in with_deadline) == is_seen
    assert ("run together" in with_deadline) == (not is_seen)
    assert ("--deadline" in without) == is_seen


def test_a_doubtful_cca_has_a_question_mark() -> None:
    """Frames seldom fill a window by which it shows: a guess is no fact."""
    _, text = _COLUMNS["CCA"]
    for name, confidence, expected in (
        ("bbr", 0.36, "bbr?"),
        ("bbr", 0.9, "bbr"),
        ("unknown", 0.9, ""),
    ):
        assert text({"cca": name, "cca_confidence": confidence}) == expected


def test_the_command_prints_and_exports_units(tmp_path: Path) -> None:
    """The late share is that above the deadline, the CSV has a row for each response."""
    changes, _ = _requests(1)
    analyses, times_s = _captured(tmp_path, "phone", 1, 40, "response_s", **changes)
    deadline_s = float(np.median(times_s)) * 1.2
    arguments = ["pcap", "analyze", str(tmp_path / "x.pcap"), "--units", str(tmp_path / "units.csv")]
    result = CliRunner().invoke(celltcp, [*arguments, "--deadline", f"{deadline_s:.6f}s"])
    assert result.exit_code == 0, result.output
    (line,) = [each for each in result.output.splitlines() if each.startswith("responses of ")]
    late = np.mean(np.array(times_s) > deadline_s)
    assert line.split()[-1] == f"{100 * late:.1f}"
    assert line.split()[5] == f"{1e3 * np.percentile(times_s, 50):.0f}"
    assert "Slowest responses" in result.output
    rows = pd.read_csv(tmp_path / "units.csv")
    assert rows["duration_s"].tolist() == pytest.approx(analyses.units["duration_s"].tolist(), rel=1e-6)


@pytest.mark.parametrize("place", ["phone", "server"])
@pytest.mark.parametrize("seed", range(4))
def test_gaps_of_responses_show_the_rate_of_the_narrowest_link(
    seed: int, place: str, tmp_path: Path
) -> None:
    """Segments that are sent at once arrive at the rate of the link, whatever the rate of requests."""
    changes, rate = _requests(seed)
    analyses, _ = _captured(tmp_path, place, seed, 40, "response_s", **changes)
    (row,) = analyses.connections.to_dict("records")
    side = "far" if place == "server" else "near"
    assert row[f"{side}_trains"] >= 20
    assert row[f"{side}_train_mbps"] == pytest.approx(rate * _PAYLOAD, rel=0.03)


def test_calls_open_with_what_made_them_slow_and_end_with_the_pauses_of_the_client(
    tmp_path: Path,
) -> None:
    """Of answers of seven segments, 2 % loss hits one in eight; the client waits 100 ms after each."""
    changes: dict[str, Any] = {
        "path.rtt": "60ms",
        "path.loss": "2%",
        "flows.0.workload": {
            "kind": "request-response",
            "response": "10kB",
            "gap": "100ms",
            "count": 150,
        },
    }
    analyses, _ = _captured(tmp_path, "phone", 1, 50, "response_s", **changes)
    text = str(analyses.connections["diagnosis"][0])
    beginning, _, rest = text.partition("; ")
    slow = int((analyses.units["delayed_by"] != "").sum())
    assert beginning.startswith(f"calls: {slow} of {len(analyses.units)} took longer than the quickest")
    assert "retransmission" in beginning
    assert rest.index("were lost") < rest.index("between its calls, it waited")
