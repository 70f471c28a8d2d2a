"""Receive windows that still grow from their size at the start: cause, warning, advice and lines."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.lines.linux_lines import linux_line, linux_lines
from celltcp.comparison.report.front_page import settings_section
from celltcp.comparison.report.receive_window import WindowLimit
from celltcp.comparison.report.scenario_lines import scenario_block
from celltcp.results.limits import receive_window_fields


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_window_that_still_grows_is_that_of_the_buffer_at_the_start(seed: int) -> None:
    draw = random.Random(seed)
    transfers = {"kind": "sequence", "size": f"{draw.randint(150, 250)}kB", "gap": "1s"}
    changes: dict[str, object] = {
        "tcp.initial_window": draw.randint(60, 150),
        "tcp.receive_buffer_max": draw.choice(["700kB", "6MiB"]),
        "path.rtt": f"{draw.randint(60, 200)}ms",
        "flows.0.workload": transfers,
    }
    result = ct.compare("steady-100-68", "cubic", 1, duration="15s", set=changes)
    assert any("tcp.receive_buffer_initial (128KiB)" in text for text in result.warnings)
    assert not any("receive_buffer_max" in text for text in result.warnings)
    explained = ExplainedComparison(result)
    texts = {cause.name: cause.text for cause in explained.ccas[0].causes}
    assert "it begins at 65.5 kB" in texts["receive_window"]
    remedy = next(each for each in explained.remedies if each.cause == "receive_window")
    (change,) = remedy.remedy.changes
    field, value = change.split("=")
    assert field == "tcp.receive_buffer_initial"
    after = ct.compare("steady-100-68", "cubic", 1, duration="15s", set={**changes, field: value})
    times = [each.applications[0].means("completion_s")[0] for each in (result, after)]
    assert times[1] < 0.9 * times[0]
    capped = {**changes, "tcp.receive_window_max": "40kB"}
    result = ct.compare("steady-100-68", "cubic", 1, duration="10s", set=capped)
    texts = {cause.name: cause.text for cause in ExplainedComparison(result).ccas[0].causes}
    assert "it begins at" not in texts["receive_window"]
    assert not any("receive_buffer_initial" in text for text in result.warnings)


@pytest.mark.parametrize("largest", ["120kB", "400kB", "2MB"])
def test_a_window_of_the_largest_buffer_is_blamed_on_that(largest: str) -> None:
    changes = {"path.rtt": "300ms", "tcp.receive_buffer_max": largest, "path.buffer": "2bdp"}
    result = ct.compare("steady-100-68", "cubic", 1, duration="30s", set=changes)
    assert any(f"tcp.receive_buffer_max ({largest}) sets it" in text for text in result.warnings)
    texts = {cause.name: cause.text for cause in ExplainedComparison(result).ccas[0].causes}
    assert f"tcp.receive_buffer_max = {largest}" in texts["receive_window"]
    assert "it begins at" not in texts["receive_window"]


def test_both_sizes_of_the_receive_buffer_are_one_line() -> None:
    initial = "tcp.receive_buffer_initial=400kB"
    whole = "sysctl -w net.ipv4.tcp_rmem='4096 400000 64000000'"
    assert linux_lines([initial, "tcp.receive_buffer_max=64MB"]) == [f"receiver: {whole}"]
    assert linux_line(initial, {"tcp": {"receive_buffer_max": "64MB"}}).endswith(whole)
    assert linux_line(initial).endswith("'4096 400000 6291456'")
    large = {"tcp": {"receive_buffer_initial": "1MB"}}
    assert linux_line("tcp.receive_buffer_max=8MB", large).endswith("'4096 1000000 8000000'")


def test_reports_have_both_sizes_of_the_receive_buffer_in_one_line() -> None:
    tcp = {"receive_buffer_initial": "400kB", "receive_buffer_max": "64MB", "initial_window": 20}
    block = scenario_block({"tcp": tcp}, ())
    assert block is not None
    assert block.text.count("tcp_rmem") == 1
    assert "sysctl -w net.ipv4.tcp_rmem='4096 400000 64000000'\n" in block.text
    # Lines against a full window keep the size at the start.
    limit = WindowLimit(0.9, 800.0, 100.0, initial_bytes=400_000)
    assert limit.block is not None
    assert "net.ipv4.tcp_rmem = 4096 400000 2" in limit.block.text


def test_lines_against_a_full_window_replace_those_of_the_scenario_for_its_buffer() -> None:
    changes = {
        "path.rtt": "200ms",
        "tcp.receive_buffer_initial": "200kB",
        "tcp.receive_buffer_max": "400kB",
    }
    result = ct.compare("steady-100-68", ["cubic", "bbr"], 1, duration="15s", set=changes)
    section = settings_section(result)
    assert section is not None
    (line,) = (line for block in section.blocks for line in block.text.splitlines() if "rmem" in line)
    assert line.startswith("net.ipv4.tcp_rmem = 4096 200000 ")


def test_an_explanation_has_the_lines_of_what_the_scenario_sets_beside_the_cca() -> None:
    changes = {
        "path.rtt": "100ms",
        "path.loss": 0.002,
        "path.down.rate": "100Mbit/s",
        "tcp.receive_buffer_max": "64MiB",
        "tcp.send_buffer_max": "32MiB",
        "flows.0.workload": {"kind": "bulk", "bytes": "40MB"},
    }
    explained = ExplainedComparison(
        ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="60s", set=changes)
    )
    assert explained.settings
    text = "\n".join(explained.scenario_lines)
    assert "# sender\nsysctl -w net.ipv4.tcp_wmem='4096 16384 33554432'" in text
    assert "# receiver\nsysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'" in text
    plain = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="10s")
    assert not ExplainedComparison(plain).scenario_lines


@pytest.mark.parametrize(
    ("tcp", "fields"),
    [
        ({"window_scale": False}, ("window_scale",)),
        ({"window_scale": 3, "receive_buffer_max": "1MB"}, ("window_scale", "receive_buffer_max")),
        ({"window_scale": 7, "receive_buffer_max": "1MB"}, ("receive_buffer_max",)),
        ({"window_scale": 1, "receive_window_max": "100kB"}, ("receive_window_max",)),
        ({"window_scale": False, "receive_window_max": "100kB"}, ("window_scale",)),
        ({}, ("receive_buffer_max",)),
    ],
)
def test_a_full_receive_window_has_the_field_that_allows_least(
    tcp: dict[str, Any], fields: tuple[str, ...]
) -> None:
    assert receive_window_fields(tcp) == fields
