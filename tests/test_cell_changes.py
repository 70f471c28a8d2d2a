"""Explanations of changes of cells: handovers that lose data, and radio link failures."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explained_cca import ExplainedCca
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.tables import frame
from drawn_causes import GAME, Changes, compared_with, interrupted

#: Handovers so late that the link fails first.
LATE_HANDOVERS = {
    "radio.handover.trigger.time_to_trigger": "5120ms",
    "radio.handover.trigger.hysteresis": "10dB",
}


def explained(changes: Changes, seed: int) -> tuple[Comparison, ExplainedCca]:
    """Returns a drive on a highway under a CCA drawn by the seed, and its explanation."""
    cca = random.Random(seed).choice(["cubic", "bbr", "reno"])
    result = ct.compare("highway/drive", cca, 1, seed=seed, duration="100s", set=changes)
    return result, ExplainedComparison(result).ccas[0]


def texts(explanation: ExplainedCca) -> dict[str, str]:
    """Returns the sentence of each cause."""
    return {cause.name: cause.text for cause in explanation.causes}


@pytest.mark.parametrize("seed", [1, 2])
def test_handovers_that_discard_data_are_named_with_their_losses(seed: int) -> None:
    result, explanation = explained({"radio.handover.forwarding": "discard"}, seed)
    causes = texts(explanation)
    events = frame(result.results.tables["events"])
    count = (events["kind"] == "handover").sum()
    assert f" of {count} handovers lost data that the old cell discarded" in causes["handovers"]
    lost = frame(result.results.tables["recoveries"])["radio"].sum()
    assert f"{lost:,} of".replace(",", " ") in causes["handovers"]
    # Its remedy is another one than that of losses on the radio.
    assert "radio_loss" not in causes
    remedies = ExplainedComparison(result).remedies
    assert any("forwarding=lossless" in remedy.options for remedy in remedies)


@pytest.mark.parametrize("seed", [2, 3])
def test_failures_of_the_radio_link_are_named_and_end_a_wait(seed: int) -> None:
    result, explanation = explained(LATE_HANDOVERS, seed)
    events = frame(result.results.tables["events"])
    kinds = events["kind"].value_counts()
    text = texts(explanation)["link_failures"]
    assert kinds["radio-link-failure"] > 1
    assert text.startswith("The radio link failed ")
    assert ("out of sync" in text) == events["detail"].str.contains("out of sync").any()
    assert ("RLC gave up" in text) == events["detail"].str.contains("RLC gave up").any()
    # A failure that an outage surrounds is named with it.
    assert any("radio link failure" in event.text for event in explanation.events)


def test_a_wait_after_an_outage_ends_with_the_time_out_that_the_tables_have() -> None:
    # The queue has raised the RTT, so that a single RTO is long.
    result, explanation = explained(LATE_HANDOVERS, 2)
    rows = frame(result.results.tables["recoveries"]).dropna(subset="timeout_s")
    if rows.empty:
        pytest.fail("the drive has no time-out")
    for event in explanation.events:
        if "time-out expired" in event.text:
            silences = {f"{silence_s:.1f} s after the last ACK" for silence_s in rows["silence_s"]}
            assert any(silence in event.text for silence in silences)


def test_handovers_that_forward_all_are_no_cause() -> None:
    _, explanation = explained({}, 2)
    assert not {"handovers", "link_failures"} & texts(explanation).keys()


@pytest.mark.parametrize("cause", ["outage", "shallow_buffer"])
def test_a_path_without_cells_has_no_change_of_cells(cause: str) -> None:
    names = {each.name for each in ExplainedComparison(compared_with(cause, 4)).ccas[0].causes}
    assert not {"handovers", "link_failures"} & names


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_queue_of_a_link_whose_rate_varies_is_said_to_follow_it(seed: int) -> None:
    draw = random.Random(seed)
    fast, slow = draw.choice([40, 80]), draw.choice([5, 10])
    steps = [
        {"at": f"{5 * index}s", "rate": f"{slow if index % 2 else fast}Mbit/s"} for index in range(8)
    ]
    changes = {"path.down": {"steps": steps}, "path.buffer": "500kB", "path.rtt": "40ms"}
    result = ct.compare("steady-20-18", "cubic", 1, duration="40s", set=changes)
    text = texts(ExplainedComparison(result).ccas[0])["queue"]
    # Payload is 1448 of 1500 bytes.
    assert f"at {slow * 0.9653:.2f} Mbit/s or less" in text
    assert f"at {fast * 0.9653:.2f} Mbit/s or more" in text
    steady = ct.compare("steady-20-18", "cubic", 1, duration="10s", set={"path.buffer": "500kB"})
    assert "follows the rate" not in texts(ExplainedComparison(steady).ccas[0])["queue"]


def test_a_wait_for_a_doubled_time_out_is_not_answered_by_a_lower_minimum() -> None:
    # A lower minimum only shifts the phase of the doubled time-outs.
    workload = {"kind": "request-response", "request": "64B", "response": "200B", "gap": "300ms"}
    changes = {
        "path.blackouts": [{"at": "10s", "duration": "40s"}],
        "flows.0.workload": {**workload, "think": "0ms"},
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="90s", set=changes)
    remedies = [remedy.options for remedy in ExplainedComparison(result).remedies]
    assert any("tcp.rto_max" in options for options in remedies)
    assert not any("tcp.min_rto" in options for options in remedies)


def thin_flow_in_an_outage(length_s: float, *, loses_all: bool) -> tuple[Comparison, dict[str, str]]:
    """Returns frames of a phone over an uplink with an outage, and the causes."""
    changes: Changes = {
        "flows": [{"from": "phone", "to": "server", "opens": "from", "workload": GAME}],
        "path.rtt": "60ms",
    }
    if loses_all:
        changes["path.blackouts"] = [{"at": "10s", "duration": f"{length_s}s"}]
    else:
        changes["path.up"] = {"steps": interrupted("5Mbit/s", [(10.0, length_s)])}
    result = ct.compare("steady-5-18", ["cubic", "bbr"], 2, duration="90s", set=changes)
    return result, texts(ExplainedComparison(result).ccas[0])


@pytest.mark.parametrize("seed", [1, 2])
def test_an_outage_that_keeps_packets_ends_no_wait_by_a_time_out(seed: int) -> None:
    length_s = random.Random(seed).uniform(5, 25)
    kept, causes = thin_flow_in_an_outage(length_s, loses_all=False)
    assert "time-out" not in causes["outage"]
    assert not {"queue", "slow_link"} & causes.keys(), causes
    _, causes = thin_flow_in_an_outage(length_s, loses_all=True)
    assert "when a time-out ended that had doubled with each loss" in causes["outage"]
    # Mean RTTs that differ by less than a twentieth set no CCA.
    assert not ExplainedComparison(kept).settings


@pytest.mark.parametrize("length_s", [12, 25])
def test_doubled_time_outs_get_a_maximum_and_no_lower_minimum(length_s: int) -> None:
    result, _ = thin_flow_in_an_outage(length_s, loses_all=True)
    remedies = {remedy.options: remedy.text for remedy in ExplainedComparison(result).remedies}
    assert not any("min_rto" in options for options in remedies)
    (text,) = [text for options, text in remedies.items() if "rto_max" in options]
    assert "TCP_USER_TIMEOUT" in text
    assert "from 6.15 on" in text


@pytest.mark.parametrize("cycle_ms", [160, 320, 640])
def test_data_for_a_phone_that_sleeps_waits_for_it_and_in_no_queue(cycle_ms: int) -> None:
    drx = {"inactivity": "100ms", "long_cycle": f"{cycle_ms}ms", "on_duration": "10ms"}
    workload = {"kind": "frames", "size": "500B", "interval": "1s", "deadline": f"{cycle_ms / 2}ms"}
    changes = {"radio.drx": drx, "flows": [{"workload": workload}]}
    result = ct.compare("static/mid-cell", "cubic", 2, duration="30s", set=changes)
    found = texts(ExplainedComparison(result).ccas[0])
    assert "queue" not in found
    assert found["sleep"].endswith(f"when data may wait for up to {cycle_ms} ms.")
    assert "waited for the phone to wake up (DRX)" in found["slow_units"]
    assert "other reasons" not in found["slow_units"]


@pytest.mark.parametrize("interval_ms", [130, 400, 1000])
def test_frames_of_a_phone_wait_for_grants_whether_it_sleeps_or_not(interval_ms: int) -> None:
    """TS 36.321 clause 5.7: a UE whose scheduling request is pending is active, whatever its cycle."""
    frames = {"kind": "frames", "size": "120B", "interval": f"{interval_ms}ms", "deadline": "100ms"}
    flow = {"from": "phone", "to": "server", "workload": frames}
    delays_ms = []
    for drx in ({}, {"radio.drx": {"inactivity": "50ms", "long_cycle": "320ms"}}):
        result = ct.compare("static/mid-cell", "cubic", 1, duration="40s", set={**drx, "flows": [flow]})
        delays_ms.append(1e3 * float(result.units["duration_s"].median()))
        found = texts(ExplainedComparison(result).ccas[0])
        assert "which the phone requests" in found["grants"]
        assert "sleep" not in found
    # At most a period of scheduling requests.
    assert delays_ms[1] == pytest.approx(delays_ms[0], abs=10)


def test_the_least_time_of_a_response_has_the_lowest_rtt_of_all_ccas(tmp_path: Path) -> None:
    """Waits of a phone that sleeps are in each RTT of slow start, which one CCA alone begins anew."""
    path = tmp_path / "sleeper.toml"
    path.write_text(
        'duration = "60s"\n[radio]\nband = 3\nbandwidth = "10MHz"\ndrx = { inactivity = "20ms" }\n'
        'uplink = { prescheduling = "off" }\n[[radio.ues]]\nsinr = "15dB"\n[[flows]]\n'
        '[flows.workload]\nkind = "request-response"\nresponse = "20kB"\ngap = "1s"\n'
        'deadline = "300ms"\n'
    )
    result = ct.compare(str(path), ["cubic", "bbr"], 3)
    notes = " ".join(ExplainedComparison(result).notes)
    (note,) = re.findall(r"under every CCA: an RTT of ([\d.]+) ms", notes)
    lowest_ms = frame(result.results.tables["flows"]).groupby("cca")["rtt_min_ms"].mean()
    assert lowest_ms.max() > 1.2 * lowest_ms.min()
    assert float(note) == pytest.approx(lowest_ms.min(), rel=0.02)
