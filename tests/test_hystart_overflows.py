"""Overflows in slow start although HyStart is on: it came too late, or could not see the queue."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.hystart import exit_text
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison


def _overshoot(
    rtt_ms: int, mbps: float, buffer: str, cca: str = "cubic", initial_window: int = 10, **path: Any
) -> str:
    """Returns the sentences on an overflow of slow start; empty without one."""
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": f"{mbps}Mbit/s",
        "path.buffer": buffer,
        "tcp.initial_window": initial_window,
        "tcp.send_buffer_max": "64MB",
        "tcp.receive_buffer_max": "64MB",
        **{f"path.{name}": value for name, value in path.items()},
    }
    result = ct.compare("steady-20-68", cca, 1, duration="2s", set=changes)
    return ExplainedComparison(result).ccas[0].cause_text("overshoot")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_buffer_that_holds_less_than_the_rise_of_the_rtt_hides_its_queue_from_hystart(
    seed: int,
) -> None:
    """The rise is an eighth of the lowest RTT, 4 to 16 ms (Linux, `tcp_cubic.c`)."""
    draw = random.Random(seed)
    rtt_ms, mbps = draw.randint(80, 200), draw.randint(20, 60)
    rise_ms = min(max(rtt_ms / 8, 4), 16)
    buffer_ms = draw.uniform(0.5, 0.9) * rise_ms
    text = _overshoot(rtt_ms, mbps, f"{buffer_ms:.1f}ms")
    match = re.search(
        r"the buffer holds ([\d.]+) ms, less than the rise of the RTT of ([\d.]+) ms", text
    )
    assert match is not None
    assert [float(value) for value in match.groups()] == pytest.approx([buffer_ms, rise_ms], rel=0.06)
    assert "train" not in text
    assert "HyStart" not in _overshoot(rtt_ms, mbps, f"{buffer_ms:.1f}ms", "cubic:hystart=off")
    assert "HyStart" not in _overshoot(rtt_ms, mbps, f"{buffer_ms:.1f}ms", "reno")


@pytest.mark.parametrize("mbps", [4, 6])
def test_acks_of_a_slow_link_are_too_far_apart_for_a_train(mbps: int) -> None:
    text = _overshoot(150, mbps, "0.25bdp")
    (gap_ms,) = re.findall(r"ACKs of two segments come ([\d.]+) ms apart", text)
    assert float(gap_ms) == pytest.approx(2 * 1500 * 8e-3 / mbps, rel=0.05)


def test_a_window_below_that_of_hystart_ends_slow_start_by_a_loss() -> None:
    text = _overshoot(60, 5, "2packets", initial_window=2)
    assert "it waits for a window of 16 segments" in text


@pytest.mark.parametrize("seed", [0, 1])
def test_hystart_that_acts_after_the_first_drop_is_too_late(seed: int) -> None:
    draw = random.Random(f"late {seed}")
    rtt_ms = draw.randint(100, 160)
    text = _overshoot(rtt_ms, draw.randint(15, 25), "0.3bdp")
    (late_ms,) = re.findall(r"HyStart ended it at a window of [\d ]+ segments, ([\d.]+) ms after", text)
    # The drop itself shows an RTT later.
    assert 0 < float(late_ms) < 1.5 * rtt_ms


@pytest.mark.parametrize("seed", [1, 2])
def test_jitter_breaks_the_trains_of_acks_that_end_slow_start_without_it(seed: int) -> None:
    draw = random.Random(f"jitter {seed}")
    path = (draw.randint(90, 120), draw.randint(40, 60), "1bdp")
    jitter = {"distribution": "exponential", "mean": f"{draw.uniform(1, 3):.1f}ms"}
    assert not _overshoot(*path)
    assert "jitter leaves gaps between ACKs" in _overshoot(*path, jitter=jitter)
    # Without the search for trains, slow start is as long without jitter.
    by_delay = _overshoot(*path, cca="cubic:hystart_detect=delay")
    assert "HyStart ended it" in by_delay
    assert "ACKs" not in by_delay


def test_variants_of_a_congestion_control_say_where_slow_start_ended_under_each() -> None:
    """Under HyStart near the bandwidth-delay product, without it at twice what path and buffer hold."""
    changes = {"path.rtt": "60ms", "path.down": "40Mbit/s", "path.buffer": "1bdp"}
    result = ct.compare("steady-20-68", "cubic,cubic:hystart=off,bbr", 2, duration="5s", set=changes)
    (note,) = (each for each in ExplainedComparison(result).notes if "slow start ended" in each)
    pattern = r"under (\S+) after ([\d.]+) (m?)s at a window of ([\d ]+) segments"
    ends = {
        cca: (float(time) / (1e3 if milli else 1), int(window.replace(" ", "")))
        for cca, time, milli, window in re.findall(pattern, note)
    }
    flows = result.flows[result.flows["cca"] != "bbr"]
    since_syn_s = flows["first_data_s"] + flows["slow_start_exit_s"] - flows["start_s"]
    exits = flows.assign(since_syn_s=since_syn_s).groupby("cca", observed=True)
    means = exits[["since_syn_s", "slow_start_exit_cwnd"]].mean()
    assert set(ends) == set(means.index)
    for cca, mean in means.iterrows():
        assert ends[str(cca)] == pytest.approx(tuple(mean), rel=0.01)
    bdp = 40e6 / 8 * 0.06 / 1500
    assert ends["cubic"][1] < 1.5 * bdp < 3 * bdp < ends["cubic:hystart=off"][1]


def test_one_congestion_control_has_no_other_end_of_slow_start() -> None:
    result = ct.compare("steady-20-68", "cubic,reno", 1, duration="5s")
    assert not [each for each in ExplainedComparison(result).notes if "slow start ended" in each]


@pytest.mark.parametrize("seed", range(3))
def test_hystart_sees_a_train_of_acks_first_unless_each_segment_takes_longer_than_2_ms(
    seed: int,
) -> None:
    """A train as long as half of the RTT comes below twice the bandwidth-delay product.

    The sign is the one with which alone slow start ends at the same window.
    """
    draw = random.Random(seed)
    rtt_ms, bdps = draw.randint(60, 120), draw.uniform(1.5, 3)
    for mbps, detect in ((draw.randint(12, 80), "train"), (5, "delay")):
        path = {"rtt": f"{rtt_ms}ms", "down": f"{mbps}Mbit/s", "buffer": f"{bdps:.2f}bdp"}
        changes = {f"path.{name}": value for name, value in path.items()}
        ccas = f"cubic,cubic:hystart_detect={detect}"
        result = ct.compare("steady-20-68", ccas, 1, duration="8s", set=changes)
        text = exit_text(Evidence(result, "cubic", result.tested))
        both, alone = result.flows["slow_start_exit_cwnd"]
        assert both == alone
        if text:
            assert ("train of ACKs" in text) == (detect == "train")
            assert f" {both:,.0f} segments".replace(",", " ") in text
        assert text or detect == "delay"


def test_without_w_max_the_window_grows_by_5_percent_per_round_trip_until_the_first_loss() -> None:
    changes = {"path.rtt": "50ms", "path.down": "100Mbit/s", "path.buffer": "1bdp"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    figures = re.search(
        r"start (\d+) ms after the SYN at a window of (\d+) .* to (\d+) segments .*, (\S+) s after",
        explained.start_text,
    )
    assert figures is not None, explained.start_text
    exit_ms, window, before, loss_s = map(float, figures.groups())
    # Round trips of the path and half of its buffer, up to the one in which the buffer overflows.
    round_trips = (loss_s - exit_ms / 1e3) / 0.075
    assert math.log(before / window) / round_trips == pytest.approx(math.log(1.05), rel=0.15)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_exit_from_slow_start_has_the_bdp_of_a_rate_that_changes_later(seed: int) -> None:
    """Slow start ends within a second; the rate of the run is another one."""
    draw = random.Random(f"step {seed}")
    rtt_ms, first, later = draw.randint(40, 80), draw.randint(30, 60), draw.choice([8, 90])
    steps = [{"at": "0s", "rate": f"{first}Mbit/s"}, {"at": "3s", "rate": f"{later}Mbit/s"}]
    changes = {"path.rtt": f"{rtt_ms}ms", "path.down.steps": steps, "path.buffer": "4MB"}
    result = ct.compare("rise", "cubic", 1, duration="30s", set=changes)
    evidence = Evidence(result, "cubic", result.tested)
    found = re.search(r"a window of ([\d ]+) segments, ([\d.]+) (of the )?bandw", exit_text(evidence))
    assert found is not None
    window, bdps = (float(each.replace(" ", "")) for each in found.groups()[:2])
    assert bdps == pytest.approx(window * 1500 * 8e-3 / (first * rtt_ms), rel=0.1)


@pytest.mark.parametrize("rtt_ms", [40, 90])
def test_acks_over_a_radio_form_no_train_so_that_a_rise_of_the_rtt_ends_slow_start(rtt_ms: int) -> None:
    """As with the search for a rise alone; that for trains alone never ends slow start by itself."""
    changes = {"path.rtt": f"{rtt_ms}ms", "radio.ues.0.sinr": "18dB", "radio.rlc.buffer": "4000packets"}
    ccas = ["cubic", "cubic:hystart_detect=delay", "cubic:hystart_detect=train"]
    result = ct.compare("mobility/forward-60-4g", ccas, 1, duration="4s", set=changes)
    both, delay, train = result.flows["slow_start_exit_cwnd"]
    assert both == delay
    assert not train < 2 * both
    assert "by a rise of the RTT." in exit_text(Evidence(result, "cubic", result.tested))


@pytest.mark.parametrize("seed", range(3))
def test_an_initial_window_that_the_buffer_does_not_hold_overflows_it_before_hystart_can_act(
    seed: int,
) -> None:
    """Segments that the link does not send while the window arrives are lost, but for the buffer's."""
    draw = random.Random(f"initial window {seed}")
    buffer, mbps = draw.randint(12, 30), draw.randint(5, 20)
    window = buffer + draw.randint(6, 14)
    changes = {
        "path.rtt": f"{draw.randint(60, 200)}ms",
        "path.down": f"{mbps}Mbit/s",
        "path.buffer": f"{buffer}packets",
        "tcp.initial_window": window,
        "flows.0.workload": {"kind": "sequence", "size": "100kB", "gap": "1s"},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="8s", set=changes)
    text = ExplainedComparison(result).ccas[0].cause_text("overshoot")
    assert "HyStart" not in text
    arrives = f"initial window of {window} segments arrives at once (at 1Gbit/s, wan)"
    assert f"{arrives}, and the buffer holds {buffer}: " in text
    (lost,) = re.findall(r": (\d+) are lost in each connection, the first before an ACK", text)
    # The link sends one packet, and others while the window comes; later bursts may lose one.
    assert int(lost) == pytest.approx(window - buffer - 1 - window * mbps / 1000, abs=2)
    fits = ct.compare("steady-20-68", "cubic", 1, duration="8s", set=changes | _fitting(result))
    assert "initial window" not in ExplainedComparison(fits).ccas[0].cause_text("overshoot")


def _fitting(result: Any) -> dict[str, str]:
    """Returns the change of the remedy against an initial window that the buffer does not hold."""
    remedies = [each.remedy for each in ExplainedComparison(result).remedies]
    (own,) = (each for each in remedies if each.against.startswith("an initial window that the buffer"))
    return dict(change.split("=") for change in own.changes)
