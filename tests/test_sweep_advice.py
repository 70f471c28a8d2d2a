"""Advice of a sweep: values that help, without failing applications, and lines for them alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.sweep.field_changes import field_texts
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from drawn_causes import Changes

_LINE = "On Linux, "


def _call_beside_download(draw: random.Random) -> Changes:
    """Returns a video call behind the queue of a download, in which BBR leaves it time."""
    return {
        "path.rtt": f"{draw.randint(40, 60)}ms",
        "path.down.rate": "20Mbit/s",
        "flows": [
            {"name": "download"},
            {"name": "call", "cca": "cubic"}
            | {"workload": {"kind": "frames", "size": "4kB", "interval": "33ms", "deadline": "100ms"}},
        ],
    }


@pytest.mark.parametrize("seed", range(3))
def test_a_buffer_with_which_a_call_fails_is_neither_knee_nor_advice(seed: int) -> None:
    """A tenth of late frames fails a call, however little it is beside a longer queue."""
    draw = random.Random(seed)
    buffers = [f"{draw.randint(*sizes)}packets" for sizes in ((15, 25), (290, 400), (900, 1200))]
    draw.shuffle(buffers)
    sweep = ct.sweep(
        "steady-20-68",
        {"path.buffer": buffers},
        "cubic",
        3,
        duration="20s",
        set=_call_beside_download(draw),
    )
    late = {}
    for buffer, point in sweep.comparisons.items():
        (call,) = (each for each in point.applications if each.flow == "call")
        late[buffer] = estimate(call.metrics["cubic"]["late_share"]).mean
    failing = [buffer for buffer in buffers if late[buffer] > 0.1]
    assert len(failing) == 2, late
    texts = field_texts(sweep, [])
    (text,) = (each for each in texts if each.startswith("call fails with "))
    assert all(buffer in text for buffer in failing)
    assert f"{100 * min(late[buffer] for buffer in failing):.1f} % of the frames are late" in text
    assert not any(each.startswith(f"path.buffer={buffer} ") for buffer in failing for each in texts)
    sizes = [buffer.removesuffix("packets") for buffer in failing]
    assert not any(f"limit {size}," in each for size in sizes for each in texts)


def test_a_call_that_fails_with_every_buffer_has_no_lines() -> None:
    changes = _call_beside_download(random.Random(0))
    vary = {"path.buffer": ["250packets", "800packets"]}
    sweep = ct.sweep("steady-20-68", vary, "cubic", 3, duration="20s", set=changes)
    texts = field_texts(sweep, [])
    assert any(each.startswith("call fails with every value: ") for each in texts)
    assert any(each.startswith("best of both: path.buffer=250packets") for each in texts)
    assert not any(each.startswith(_LINE) for each in texts)


@pytest.mark.parametrize("seed", range(3))
def test_a_cap_that_no_flow_reaches_is_no_change(seed: int) -> None:
    """A path of 20 Mbit/s and 68 ms with a buffer of as much holds 340 kB; caps above do nothing."""
    draw = random.Random(seed)
    small, large = f"{draw.randint(60, 90)}kB", f"{draw.randint(700, 900)}kB"
    vary = {"tcp.receive_window_max": draw.sample([small, large], 2)}
    sweep = ct.sweep("steady-20-68", vary, "cubic,bbr", 2, duration="20s")
    assert sweep.present == {"tcp.receive_window_max": "unset"}
    texts = field_texts(sweep, [])
    assert not any(text.startswith(f"tcp.receive_window_max={large} instead") for text in texts)
    assert not any(text.startswith(_LINE) and "window" in text for text in texts)
    # The CCA is compared without a cap.
    assert any(
        text.startswith(f"bbr instead of cubic (tcp.receive_window_max={large})") for text in texts
    )


def test_a_value_is_compared_with_the_field_left_unset() -> None:
    """A window of 80 kB at 68 ms carries 9.4 Mbit/s; without a cap, the link of 20 Mbit/s is full."""
    path = {"rtt": "68ms", "down": {"rate": "20Mbit/s"}}
    capped = {"duration": "10s", "path": path, "tcp": {"receive_window_max": "50kB"}}
    vary = {"tcp.receive_window_max": ["unset", "80kB"]}
    sweep = ct.sweep(capped, vary, "bbr", 2)
    goodput = {
        value: result.values("bbr", "goodput_mbps")[0] for value, result in sweep.comparisons.items()
    }
    assert goodput["80kB"] == pytest.approx(80e3 * 8 / 68e-3 / 1e6, rel=0.1)
    assert goodput["unset"] > 17
    (text,) = field_texts(sweep, [])
    assert "in place of tcp.receive_window_max=unset (the first one given)" in text
    alone = ct.compare({"duration": "10s", "path": path}, "bbr", 2)
    assert alone.values("bbr", "goodput_mbps")[0] == goodput["unset"]


def test_an_initial_window_between_two_that_are_as_good_is_not_changed() -> None:
    """Both are more than a response of two segments needs."""
    changes: Changes = {
        "flows.0.workload": {"kind": "request-response", "response": "2kB", "gap": "300ms"}
    }
    vary = {"tcp.initial_window": [1, 5, 20]}
    sweep = ct.sweep("steady-20-68", vary, "cubic", 2, duration="20s", set=changes)
    assert sweep.present == {"tcp.initial_window": "10"}
    texts = field_texts(sweep, [])
    assert not any(text.startswith((_LINE, "tcp.initial_window=5 instead")) for text in texts), texts


def test_no_short_queue_is_worth_most_of_the_goodput() -> None:
    """A cap of 64 kB fills a path of 68 ms with 7.5 Mbit/s; a queue of 68 ms has all of 20 Mbit/s."""
    vary = {"tcp.receive_window_max": ["64kB", "256kB", "1MB"]}
    texts = field_texts(ct.sweep("steady-20-68", vary, "cubic", 2, duration="20s"), [])
    assert texts
    assert not any("=64kB" in text or "window 64000" in text for text in texts), texts


@pytest.mark.parametrize("seed", range(2))
def test_lines_for_one_cca_of_several_have_its_name(seed: int) -> None:
    """On a link that varies, CUBIC has a knee of its own, and BBR hardly a queue."""
    draw = random.Random(seed)
    buffers = [f"{draw.randint(*sizes)}packets" for sizes in ((18, 25), (90, 120), (900, 1200))]
    sweep = ct.sweep("drive", {"path.buffer": buffers}, "cubic,bbr", 3, duration="20s")
    lines = [text for text in field_texts(sweep, []) if "pfifo limit" in text]
    assert lines
    assert all(text.startswith(f"cubic: {_LINE}") for text in lines), lines


def test_no_cca_is_advised_where_a_call_fails_with_each_at_the_rate_of_the_scenario() -> None:
    """Without a shaper, a call fails behind the queue of each CCA."""
    changes: Changes = {
        "path.wired": [{"name": "shaper", "rate": "1Gbit/s", "queue": "fq-codel"}],
        "path.buffer": "750packets",
        "flows": [
            {"name": "dl"},
            {"name": "call", "cca": "cubic"}
            | {"workload": {"kind": "frames", "size": "6kB", "interval": "33ms", "deadline": "120ms"}},
        ],
    }
    vary = {"path.wired.0.rate": ["4Mbit/s", "8Mbit/s", "12Mbit/s", "1Gbit/s"]}
    sweep = ct.sweep("drive", vary, "cubic,bbr", 4, duration="30s", set=changes)
    texts = field_texts(sweep, [])
    # The call fails with each of them.
    assert not any(" instead of cubic" in text or "congestion_control" in text for text in texts), texts


def test_a_cap_of_the_rate_where_none_is_set_is_no_advice() -> None:
    """Frames of 12 Mbit/s: a cap of 40 is better than one of 15, and no better than none, as it is."""
    frames = {"kind": "frames", "size": "25kB", "interval": "16.67ms", "deadline": "50ms"}
    varying = {"generate": {"mean": "75Mbit/s", "variability": 0.3, "correlation": "2s"}}
    changes = {"flows": [{"name": "game", "workload": frames}], "path.down": varying}
    field = "flows.0.max_pacing_rate"
    caps = f"{field}=13Mbit/s,40Mbit/s,100Mbit/s"
    result = ct.sweep("steady-20-18", caps, "cubic,bbr", 3, duration="15s", set=changes)
    texts = " ".join(field_texts(result, ()))
    assert "SO_MAX_PACING_RATE" not in texts
    assert f"--vary {field}=unset,13Mbit/s,40Mbit/s,100Mbit/s" in texts
