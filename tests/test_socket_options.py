"""Socket options that override sysctls: the lines of advice, and what the fields model."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.lines.linux_lines import linux_line
from celltcp.comparison.lines.socket_options import BUFFER_OF_CAP, capping_option, socket_option_texts
from celltcp.scenarios.changes import Changes
from drawn_causes import compared_with

#: Default of net.core.rmem_max and net.core.wmem_max of Linux, bytes.
_DEFAULT_MAX = 212_992


@pytest.mark.parametrize(
    ("field", "option", "sysctl", "ratio"),
    [
        ("tcp.receive_buffer_max", "SO_RCVBUF", "net.core.rmem_max", 2),
        ("tcp.receive_window_max", "SO_RCVBUF", "net.core.rmem_max", 1),
        ("tcp.send_buffer_max", "SO_SNDBUF", "net.core.wmem_max", 2),
    ],
)
def test_a_buffer_has_the_value_of_its_option_and_its_bound(
    field: str, option: str, sysctl: str, ratio: int
) -> None:
    draw = random.Random(field)
    for size in (draw.randint(10_000, _DEFAULT_MAX), draw.randint(_DEFAULT_MAX + 1, 10**8)):
        (text,) = socket_option_texts([f"{field}={ratio * size}B"])
        assert f"{option} itself ignores these lines: remove the option, or set {size} there" in text
        assert (f"sysctl -w {sysctl}={size}" in text) == (size > _DEFAULT_MAX)


def test_the_larger_of_two_needs_counts_and_other_fields_have_no_option() -> None:
    changes = ["tcp.receive_window_max=100kB", "tcp.receive_buffer_max=300kB", "tcp.tso=1"]
    (text,) = socket_option_texts(changes)
    assert "set 150000 there" in text
    assert socket_option_texts(["tcp.window_scale=true", "path.rtt=10ms"]) == []


@pytest.mark.parametrize(
    ("cause", "option"), [("receive_window", "SO_RCVBUF"), ("send_buffer", "SO_SNDBUF")]
)
def test_advice_against_a_full_window_names_the_option(cause: str, option: str) -> None:
    explained = ExplainedComparison(compared_with(cause, 1))
    text = next(each.text for each in explained.remedies if each.cause == cause)
    assert f"a program that sets {option} itself ignores these lines: remove the option" in text


def test_twice_the_value_of_the_option_is_the_buffer_that_passes_it_in_each_round_trip() -> None:
    """Linux doubles SO_RCVBUF; half of the memory is window at first, two thirds with full packets."""
    draw = random.Random("rcvbuf")
    option, rtt_ms = draw.randint(20_000, 60_000), draw.choice([40, 60, 80])
    changes = {
        "tcp.receive_buffer_max": f"{2 * option}B",
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": "50Mbit/s",
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="8s", set=changes)
    goodput = float(result.runs["goodput_mbps"].iloc[0])
    by_option = 8e-3 * option / rtt_ms
    assert 0.9 * by_option < goodput < 1.5 * by_option
    after = socket_option_texts(ExplainedComparison(result).remedies[0].remedy.changes)
    assert float(after[0].split("or set ")[1].split(" ")[0]) > option
    assert in_unit(changes["tcp.receive_buffer_max"], "B") == 2 * option


def test_the_option_in_place_of_a_cap_gives_the_window_of_the_cap() -> None:
    draw = random.Random("cap")
    for _ in range(3):
        window, rtt_ms = draw.randint(60_000, 300_000), draw.choice([40, 80])
        path: Changes = {"path.rtt": f"{rtt_ms}ms", "path.down.rate": "200Mbit/s"}
        cap, option = (
            ct.compare("steady-20-68", "cubic", 1, duration="8s", set={**path, field: f"{size}B"})
            for field, size in (
                ("tcp.receive_window_max", window),
                ("tcp.receive_buffer_max", 2 * round(BUFFER_OF_CAP * window)),
            )
        )
        goodput = cap.runs["goodput_mbps"].iloc[0]
        assert option.runs["goodput_mbps"].iloc[0] == pytest.approx(goodput, rel=0.08)


def test_an_option_above_what_linux_allows_has_its_sysctl() -> None:
    """net.core.rmem_max cuts a larger value without a word."""
    assert capping_option(80_000) == "SO_RCVBUF=60000 of the receiving program"
    assert capping_option(490_000).endswith(
        "=367500 of the receiving program, after sysctl -w net.core.rmem_max=367500"
    )


def test_a_window_that_is_lowered_needs_no_option_and_has_no_condition() -> None:
    """As against a standing queue: a cap of the route acts whatever the program sets."""
    for scenario in ({"tcp": {}}, {"tcp": {"receive_window_max": "2MB"}}):
        change = "tcp.receive_window_max=500kB"
        assert socket_option_texts([change], scenario) == []
        assert linux_line(change, scenario).startswith("receiver (client): ip route")
    raised = {"tcp": {"receive_window_max": "64KiB"}}
    assert len(socket_option_texts(["tcp.receive_window_max=500kB"], raised)) == 1
    assert "if its route caps" in linux_line("tcp.receive_window_max=500kB", raised)
