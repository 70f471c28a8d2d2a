"""Explanations of requests that are larger than the first window: their client sends the data."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.lines.linux_lines import linux_line
from celltcp.comparison.report.front_page import settings_section
from celltcp.comparison.verdicts.verdict_tables import identical_text


def _calls(request: str, gap: str, rtt: str) -> ct.Comparison:
    workload = {"kind": "request-response", "request": request, "response": "1kB", "gap": gap}
    changes: dict[str, Any] = {
        "path.rtt": rtt,
        "path.down.rate": "500Mbit/s",
        "path.up.rate": "500Mbit/s",
        "flows.0.workload": {**workload, "think": "1ms"},
    }
    return ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="20s", set=changes)


@pytest.mark.parametrize("seed", range(3))
def test_large_requests_have_the_window_of_their_client_as_cause_and_its_lines(seed: int) -> None:
    draw = random.Random(f"calls {seed}")
    rtt_ms, (rounds, size) = draw.randint(80, 240), draw.choice([(2, 30), (3, 90), (2, 40)])
    result = _calls(f"{size}kB", "760ms", f"{rtt_ms}ms")
    explained = ExplainedComparison(result)
    (cause,) = (each for each in explained.ccas[0].causes if each.name == "large_requests")
    assert f"took {rounds} round trips" in cause.text
    assert "their client began" in cause.text
    # The CCA of the requests is none that is compared.
    assert "keep the default" in identical_text(result)
    assert not any("any of these" in note for note in explained.notes)
    settings = settings_section(result)
    assert settings is not None
    assert cause.text in settings.text
    assert "on the client, which sends the requests" in settings.blocks[0].caption
    explained.try_remedies(TrialBudget())
    texts = " ".join(remedy.text for remedy in explained.remedies)
    assert "client, which sends the requests: sysctl -w net.ipv4.tcp_slow_start" in texts
    assert "tried in" in texts
    assert "sender (server)" not in texts


@pytest.mark.parametrize(("request_size", "gap"), [("10kB", "760ms"), ("30kB", "20ms")])
def test_requests_of_one_round_trip_have_no_such_cause(request_size: str, gap: str) -> None:
    explained = ExplainedComparison(_calls(request_size, gap, "100ms"))
    assert not any(cause.name == "large_requests" for each in explained.ccas for cause in each.causes)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("limit", ["receive_window_max", "send_buffer_max", "link"])
def test_what_limits_uploads_by_requests_is_named_and_its_remedy_tried(limit: str, seed: int) -> None:
    draw = random.Random(f"{limit} {seed}")
    window, rate = draw.randint(100, 160), draw.randint(2, 6)
    cause_changes = {"path.up.rate": f"{rate}Mbit/s"} if limit == "link" else {}
    windows = {} if limit == "link" else {f"tcp.{limit}": f"{window}kB"}
    sizes = {"request": f"{draw.randint(3, 6)}MB", "response": "1kB", "gap": "1s"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(80, 140)}ms",
        "path.up.rate": "50Mbit/s",
        "path.uplink_buffer": "1bdp",
        "flows.0.workload": {"kind": "request-response", **sizes},
        **cause_changes,
        **windows,
    }
    result = ct.compare("steady-100-68", "cubic", 1, duration="30s", set=changes)
    explained = ExplainedComparison(result)
    texts = {cause.name: cause.text for cause in explained.ccas[0].causes}
    words = {"receive_window_max": "window of the server", "send_buffer_max": "buffer of the client"}
    assert words.get(limit, "their link") in texts["request_limit"]
    assert "large_requests" not in texts
    if limit != "link":
        explained.try_remedies(TrialBudget())
        (larger,) = (each for each in explained.remedies if f"tcp.{limit}=" in each.options)
        assert "tried in" in larger.text


def test_lines_for_small_requests_are_for_the_sender_of_the_responses() -> None:
    sizes = {"request": "500B", "response": "100kB"}
    scenario = {"flows": [{"workload": {"kind": "request-response", **sizes}}]}
    assert linux_line("tcp.initial_window=32", scenario).startswith("sender (server): ")
