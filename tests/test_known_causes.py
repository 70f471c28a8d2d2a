"""Drawn scenarios whose limit is known: no warning, verdict or table contradicts what happened."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

import celltcp as ct

#: Texts of warnings by their limit, other than the network.
_WARNING_TEXTS = {
    "application": "the application had no more to send",
    "receive window": "the receive window was full",
    "send buffer": "the send buffer was full",
}


@dataclass(frozen=True)
class Drawn:
    """Scenario with a known cause of its goodput."""

    #: The limit that has to be named; None where the network is the limit.
    limit: str | None
    changes: dict[str, str]
    duration: str = "12s"
    ccas: list[str] = field(default_factory=lambda: ["cubic", "bbr"])


def _slow_link_below_a_video(draw: random.Random) -> Drawn:
    rate = draw.randint(80, 280)
    changes = {"path.down.rate": f"{rate}kbit/s", "flows.0.workload": '{ kind = "video" }'}
    return Drawn(None, changes, duration="40s")


def _last_bytes_in_a_deep_queue(draw: random.Random) -> Drawn:
    """A transfer that fits into the queue: the sender has sent everything and waits for ACKs."""
    rate, size = draw.choice([(1, 1000), (2, 1800), (3, 3000)])
    changes = {
        "path.down.rate": f"{rate}Mbit/s",
        "path.buffer": "5000packets",
        "flows.0.workload": f'{{ kind = "bulk", bytes = "{size}kB" }}',
    }
    return Drawn(None, changes, ccas=["cubic"])


def _window_larger_than_the_path(draw: random.Random) -> Drawn:
    """The receive window is full all the time, and so is the queue."""
    changes = {
        "path.down.rate": f"{draw.randint(2, 6)}Mbit/s",
        "path.buffer": "5000packets",
        "tcp.receive_window_max": f"{draw.randint(300, 800)}kB",
    }
    return Drawn(None, changes, ccas=["cubic", "reno"])


def _window_smaller_than_the_path(draw: random.Random) -> Drawn:
    changes = {
        "path.down.rate": f"{draw.randint(50, 400)}Mbit/s",
        "tcp.receive_window_max": f"{draw.randint(20, 150)}kB",
    }
    return Drawn("receive window", changes)


def _send_buffer_smaller_than_the_path(draw: random.Random) -> Drawn:
    changes = {
        "path.down.rate": f"{draw.randint(80, 400)}Mbit/s",
        "path.rtt": f"{draw.randint(80, 200)}ms",
        "tcp.send_buffer_max": f"{draw.randint(60, 200)}kB",
    }
    return Drawn("send buffer", changes, ccas=["cubic"])


def _application_with_pauses(draw: random.Random) -> Drawn:
    pause = draw.uniform(2.5, 5)
    changes = {"flows.0.workload": f'{{ kind = "on-off", on = "0.5s", off = "{pause:.1f}s" }}'}
    return Drawn("application", changes, duration="20s")


_CAUSES: list[Callable[[random.Random], Drawn]] = [
    _slow_link_below_a_video,
    _last_bytes_in_a_deep_queue,
    _window_larger_than_the_path,
    _window_smaller_than_the_path,
    _send_buffer_smaller_than_the_path,
    _application_with_pauses,
]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("cause", _CAUSES, ids=lambda cause: cause.__name__.strip("_"))
def test_a_warning_names_the_limit_and_nothing_else(
    cause: Callable[[random.Random], Drawn], seed: int
) -> None:
    drawn = cause(random.Random(f"{cause.__name__}-{seed}"))
    result = ct.compare(
        "steady-20-68", drawn.ccas, 1, seed=seed, duration=drawn.duration, set=drawn.changes
    )
    warned = " ".join(result.warnings)
    named = {limit for limit, text in _WARNING_TEXTS.items() if text in warned}
    assert named == ({drawn.limit} if drawn.limit else set()), (drawn, result.warnings)


@pytest.mark.parametrize("seed", range(1, 6))
def test_no_cca_is_best_for_frames_that_come_too_late(seed: int) -> None:
    draw = random.Random(seed)
    changes = {
        "path.down.rate": f"{draw.randint(300, 900)}kbit/s",
        "path.buffer": f"{draw.randint(200, 1000)}packets",
        "flows.0.workload": '{ kind = "frames" }',
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr", "vegas"], 2, duration="15s", set=changes)
    assert (result.runs["late_share"] > 0.5).all()
    for requirement, verdict in result.verdicts.items():
        assert verdict.best is None, requirement
        assert verdict.contradicted_by is not None
        assert re.search(r"[\d.]+ % of the frames are late", verdict.contradicted_by)
    # All are as good as each other, or as bad.
    assert all(len(ccas) in (0, 3) for ccas in result.recommendation.values())
    assert result.to_json()["verdicts"]["delay"]["contradicted_by"]


@pytest.mark.parametrize("seed", range(1, 6))
def test_shares_add_up_to_what_all_connections_deliver(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(2, 7)
    other = '[{ cca = "cubic", count = %d }, { cca = "reno", count = %d }]'
    flows = other % (count, draw.randint(1, 4))
    result = ct.compare("steady-20-68", "cubic", 1, seed=seed, duration="10s", set={"flows": flows})
    shares = result.shares
    assert shares["connections"].sum() == len(result.flows)
    slots = result.slots
    begun = slots.groupby("flow")["t_s"].min().max()
    delivered = slots[slots["t_s"] >= begun].groupby("t_s")["goodput_mbps"].sum().mean()
    assert shares["goodput_mbps"].sum() == pytest.approx(delivered, rel=0.02)
    assert shares["goodput_mbps"].sum() == pytest.approx(19, rel=0.1)


@pytest.mark.parametrize(
    ("trace_s", "duration_s", "text"),
    [
        (3, 3, None),
        (3, 3.1, "the last 0.1 s of a run of 3.1 s repeat its beginning"),
        (3, 5, "the last 2 s of a run of 5 s repeat its beginning"),
        (3, 12, "a run of 12 s has it 4.0 times, one after another"),
    ],
)
def test_a_repeated_trace_says_how_much_of_it(tmp_path, trace_s, duration_s, text) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("time_s,rate_mbps\n" + "".join(f"{n},5\n" for n in range(trace_s)))
    result = ct.compare(trace, "cubic", 1, duration=f"{duration_s}s")
    warnings = [each for each in result.warnings if "lasts" in each]
    assert len(warnings) == (text is not None)
    assert all(each.endswith(f"lasts {trace_s} s: {text}") for each in warnings)


def test_uploads_beside_a_trace_of_the_downlink_alone_are_warned_of(tmp_path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text(
        "time_s,dl_mbps,ul_mbps\n" + "".join(f"{n},{9 + n % 3},{4 + n % 2}\n" for n in range(9))
    )
    upload = {"flows.0.from": "phone", "flows.0.to": "server"}
    both = {"flows": '[{}, { from = "phone", to = "server" }]'}
    for changes, direction, is_warned in (
        (upload, "up", True),
        ({}, "up", False),
        (both, "up", False),
        (upload, None, False),
    ):
        scenario = ct.load_scenario(trace, direction=direction, changes=changes)
        result = ct.compare(scenario, "cubic", 1, duration="3s")
        warnings = [each for each in result.warnings if "all flows are uploads" in each]
        assert len(warnings) == is_warned
        assert all("their uplink has 50Mbit/s (path.up)" in each for each in warnings)


@pytest.mark.parametrize(
    ("changes", "warned_ms"),
    [
        ({}, None),
        # Nearly the longest draw of packets in order, and their mean where they overtake each other.
        ({"path.jitter": {"mean": "40ms", "sd": "10ms"}}, 50),
        ({"path.jitter": {"mean": "40ms", "sd": "10ms", "reorder": True}}, 34),
        # Both ways of a hop.
        ({"path.wired.0.jitter": {"distribution": "exponential", "mean": "5ms"}}, 30),
    ],
)
def test_delays_with_jitter_are_said_to_have_it(changes: dict[str, object], warned_ms: int) -> None:
    result = ct.compare("steady-5-18", "cubic", 1, duration="1s", set=changes)
    warnings = [each for each in result.warnings if "jitter of the path" in each]
    assert len(warnings) == (warned_ms is not None)
    assert all(f"usually include {warned_ms} ms of jitter" in each for each in warnings)


@pytest.mark.parametrize("hop", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_jitter_without_a_mean_is_advised_to_vary_around_the_delay(seed: int, *, hop: bool) -> None:
    draw = random.Random(seed)
    field = "path.wired.0.jitter" if hop else "path.jitter"
    rtt_ms, sd_ms = draw.randint(100, 300), draw.randint(2, 10)
    jitter = {"sd": f"{sd_ms}ms", "reorder": True}
    changes = {"path.rtt": f"{rtt_ms}ms", field: jitter, "flows.0.workload": '{ kind = "frames" }'}
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes)
    (warning,) = [each for each in result.warnings if "draws below zero" in each]
    advised = dict(re.findall(r"--set (\S+?)=(\S+)", warning))
    after = ct.compare("steady-20-68", "cubic", 1, duration="20s", set={**changes, **advised})
    assert not [each for each in after.warnings if "draws below zero" in each]
    cut, whole = (each.flows.iloc[0] for each in (result, after))
    # Frames of few bytes wait in no queue: the mean is the RTT as set, and draws are on both sides.
    directions = 2 if hop else 1
    assert cut["rtt_min_ms"] >= rtt_ms
    assert whole["rtt_min_ms"] < rtt_ms
    assert cut["rtt_mean_ms"] - whole["rtt_mean_ms"] == pytest.approx(
        0.4 * sd_ms * directions, abs=0.25 * sd_ms * directions
    )


@pytest.mark.parametrize(("rtt_ms", "is_above"), [(900, False), (1200, True)])
def test_an_rtt_above_the_initial_rto_makes_handshakes_time_out_and_a_shorter_one_does_not(
    rtt_ms: int, *, is_above: bool
) -> None:
    """Reports of 1.2 kB at 60 kbit/s take over 1 s until their ACK, but small SYNs 0.92 s."""
    rate = "60kbit/s"
    report = {
        "name": "report",
        "from": "phone",
        "to": "server",
        "opens": "from",
        "workload": {"kind": "sequence", "size": "1200B", "gap": "10s"},
    }
    path = {"rtt": f"{rtt_ms}ms", "down": rate, "up": rate, "loss": "5%", "uplink_loss": "5%"}
    changes = {**{f"path.{name}": value for name, value in path.items()}, "flows": [report]}
    result = ct.compare("steady-20-68", "cubic", 1, duration="900s", set=changes)
    assert result.flows["rtt_min_ms"].min() > 1000
    assert ("above the initial RTO" in str(ct.explain(result))) == is_above


@pytest.mark.parametrize(("bdps", "sd_ms"), [("1bdp", 8), ("2bdp", 5)])
def test_a_jitter_around_the_delay_keeps_the_buffer_in_bytes(bdps: str, sd_ms: int) -> None:
    changes = {
        "path.rtt": "60ms",
        "path.down": "20Mbit/s",
        "path.buffer": bdps,
        "path.jitter": {"sd": f"{sd_ms}ms"},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="1s", set=changes)
    (warning,) = [each for each in result.warnings if "draws below zero" in each]
    size_bytes = float(bdps.removesuffix("bdp")) * 20e6 / 8 * 0.060
    assert f"--set path.buffer={size_bytes:.0f}B" in warning
