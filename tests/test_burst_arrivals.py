"""Bursts at the rate of the sender's link in front of a shallow buffer, as `celltcp explain` says."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.evidence.buffers import burst_text
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.results.statistics import estimate


@pytest.mark.parametrize("seed", [3, 8])
def test_a_shallow_buffer_has_the_rate_at_which_bursts_arrive(seed: int) -> None:
    """A paced sender has no bursts."""
    draw = random.Random(seed)
    rate, ratio = draw.choice([20, 40, 80]), draw.choice([4, 10, 25])

    def sentence(ratio: int, pacing: bool) -> str:
        hops = [{"name": "nic", "rate": f"{rate * ratio}Mbit/s", "buffer": "10000packets"}]
        fields = {
            "path.rtt": "120ms",
            "path.down": {"rate": f"{rate}Mbit/s"},
            "path.buffer": "0.08bdp",
            "path.wired": hops,
            "tcp.pacing": pacing,
        }
        result = ct.compare("steady-20-68", "reno", 1, duration="20s", set=fields)
        causes = ct.explain(result).causes.set_index("cause")
        return str(causes.loc["shallow_buffer", "text"]) if "shallow_buffer" in causes.index else ""

    text = sentence(ratio, pacing=False)
    found = re.search(r"Bursts arrive at (\d+)Mbit/s \(nic\), (\d+) times", text)
    assert found is not None, text
    assert (int(found[1]), int(found[2])) == (rate * ratio, pytest.approx(ratio, abs=1.5))
    assert "Bursts arrive" not in sentence(ratio, pacing=True)


@pytest.mark.parametrize("seed", range(2))
def test_buffers_and_bdp_are_in_packets_with_headers_as_the_link_carries(seed: int) -> None:
    draw = random.Random(f"packets {seed}")
    rate, rtt_ms, size = draw.randint(20, 60), draw.randint(80, 140), draw.randint(20, 40)
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": {"rate": f"{rate}Mbit/s"},
        "path.buffer": f"{1.5 * size}kB",
    }
    result = ct.compare("steady-20-68", "reno", 1, duration="30s", set=changes)
    text = ct.explain(result).causes.set_index("cause")["text"]["shallow_buffer"]
    found = re.search(r"in it, ([\d.]+) of the bandwidth-delay product of ([\d ]+) packets", text)
    assert found is not None, text
    bdp = rate * 1e3 * rtt_ms / (8 * 1500)
    # Serialization and ACKs add up to 2 ms to the RTT of the path.
    assert int(found[2].replace(" ", "")) == pytest.approx(bdp, rel=0.025)
    assert float(found[1]) == pytest.approx(size / bdp, rel=0.025)
    (explained,) = ct.explain(result).comparisons.values()
    options = " ".join(remedy.options for remedy in explained.remedies)
    (packets,) = {*map(int, re.findall(r"path\.buffer=(\d+)packets", options))}
    assert packets == pytest.approx(bdp, rel=0.025)


@pytest.mark.parametrize("seed", range(2))
def test_a_shallow_buffer_has_the_goodput_of_a_sender_without_bursts(seed: int) -> None:
    draw = random.Random(seed)
    rate = draw.choice([40, 80])
    changes = {
        "path.rtt": "120ms",
        "path.down": {"rate": f"{rate}Mbit/s"},
        "path.buffer": "0.08bdp",
        "path.wired": [{"name": "nic", "rate": f"{rate * 10}Mbit/s", "buffer": "10000packets"}],
    }
    result = ct.compare("steady-20-68", "reno", 2, duration="20s", set=changes)
    text = str(ct.explain(result).causes.set_index("cause").loc["shallow_buffer", "text"])
    found = re.search(r"Without them, tried in 2 runs with (\S+)=(\S+), it has (\S+) Mbit/s\.", text)
    assert found is not None, text
    without = ct.compare("steady-20-68", "reno", 2, duration="20s", set={**changes, found[1]: found[2]})
    mean = estimate(without.values("reno", "goodput_mbps")).mean
    assert float(found[3]) == pytest.approx(mean, abs=0.01)


@pytest.mark.parametrize("seed", range(2))
def test_pacing_that_saves_no_segment_of_slow_start_is_said_to_save_none(seed: int) -> None:
    """The window doubles in a round trip whether its packets are spread or not."""
    draw = random.Random(seed)
    changes = {
        "path.rtt": "60ms",
        "path.down": {"rate": f"{draw.randint(700, 900)}Mbit/s"},
        "path.buffer": f"{draw.uniform(0.3, 0.35):.2f}bdp",
        "path.wired": [{"name": "nic", "rate": "10Gbit/s"}],
        "tcp.receive_buffer_max": "64MB",
        "tcp.send_buffer_max": "64MB",
    }
    result = ct.compare("steady-20-68", "reno", 1, duration="20s", set=changes)
    text = str(ct.explain(result).causes.set_index("cause").loc["shallow_buffer", "text"])
    change = re.search(r"Without them, tried in 1 run with (\S+)=(\S+), it has", text)
    assert change is not None, text
    without = ct.compare(
        "steady-20-68", "reno", 1, duration="20s", set={**changes, change[1]: change[2]}
    )
    sent_again = [estimate(each.values("reno", "retransmissions")).mean for each in (without, result)]
    assert ("no fewer segments are sent again" in text) == (sent_again[0] >= sent_again[1])


@pytest.mark.parametrize("seed", range(3))
def test_drops_of_bbr_in_a_shallow_buffer_have_its_probes_as_their_reason(seed: int) -> None:
    """In a round trip of a probe a quarter of the BDP more is in flight."""
    draw = random.Random(seed)

    def texts(bdps: float) -> str:
        fields = {
            "path.rtt": f"{draw.randint(80, 160)}ms",
            "path.down": {"rate": f"{draw.randint(40, 100)}Mbit/s"},
            "path.buffer": f"{bdps}bdp",
            "tcp.receive_buffer_max": "16MB",
            "tcp.send_buffer_max": "16MB",
        }
        result = ct.compare("steady-20-68", "bbr", 1, duration="20s", set=fields)
        return " ".join(ct.explain(result).causes["text"])

    shallow = texts(draw.uniform(0.05, 0.1))
    assert "1.25 times its rate for a round trip, so that 0.25 bandwidth-delay" in shallow
    assert "times its rate for a round trip" not in texts(2.0)


@pytest.mark.parametrize("buffer", [15, 36, 90])
@pytest.mark.parametrize("ratio", [2, 20])
def test_an_initial_window_fits_into_the_buffer_that_drops_none_of_it(buffer: int, ratio: int) -> None:
    """The link sends 1/ratio of a burst while it arrives: of 60 kB, 30 or 57 wait."""
    changes = {
        "path.rtt": "80ms",
        "path.down": {"rate": "20Mbit/s"},
        "path.buffer": f"{buffer}kB",
        "path.wired": [{"name": "wan", "rate": f"{20 * ratio}Mbit/s", "buffer": "10000packets"}],
        "flows.0.workload": {"kind": "bulk", "bytes": "57kB"},
        "tcp.initial_window": 40,
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=changes)
    is_dropped = bool((result.flows["retransmissions"] > 0).any())
    text = burst_text(Evidence(result, "cubic", result.tested), 40)
    assert is_dropped == (60 * (1 - 1 / ratio) > buffer)
    verb = "overflows" if is_dropped else "fits into"
    assert re.fullmatch(rf" \(its burst of (59|60)[.\d]* kB {verb} the buffer of {buffer} kB\)", text)
