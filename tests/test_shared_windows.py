"""Windows that are full at the peaks in flight: a warning where larger ones change how flows share."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget

_MAY = "a larger one may change how the"
#: Buffers that no flow of these tests fills.
_LARGE = {"tcp.send_buffer_max": "256MB", "tcp.receive_buffer_max": "256MB"}


def _run(mix: str, rate_mbps: int, rtt_ms: int, bdps: float, more: dict[str, str]) -> ct.Comparison:
    changes: dict[str, Any] = {
        "path.down.rate": f"{rate_mbps}Mbit/s",
        "path.up.rate": f"{rate_mbps}Mbit/s",
        "path.wired": [{"name": "wan", "rate": "10Gbit/s"}],
        "path.rtt": f"{rtt_ms}ms",
        "path.buffer": f"{bdps}bdp",
        "flows": [{"name": "one"}, {"name": "other"}],
        **more,
    }
    return ct.compare("steady-20-68", mix, 1, duration="12s", set=changes)


def _ratio(result: ct.Comparison) -> float:
    """Returns the ratio of the goodputs of the two flows."""
    one, other = (float(value) for value in result.flows["goodput_mbps"])
    return one / other


@pytest.mark.parametrize(
    ("mix", "rate_mbps", "rtt_ms", "bdps"),
    [
        ("bbr+cubic", 300, 60, 0.5),
        pytest.param("bbr3+cubic", 1000, 20, 1.0, marks=pytest.mark.slow),
    ],
)
def test_a_buffer_that_cuts_the_peaks_of_one_cca_has_a_warning_and_decides_the_shares(
    mix: str, rate_mbps: int, rtt_ms: int, bdps: float
) -> None:
    draw = random.Random(f"peaks {mix}")
    path = round(rate_mbps * draw.uniform(0.95, 1.05)), rtt_ms, bdps
    result = _run(mix, *path, {})
    (warning,) = [each for each in result.warnings if _MAY in each]
    assert warning.startswith(f"{mix}, one: for ")
    assert "the send buffer was full: " in warning
    assert warning.endswith("tcp.send_buffer_max (4MiB, in memory) sets it")
    explained = ExplainedComparison(result)
    causes = {cause.name: cause.text for each in explained.ccas for cause in each.causes}
    assert _MAY in causes["send_buffer"]
    assert any(each.cause == "send_buffer" for each in explained.remedies)
    explained.try_remedies(TrialBudget())
    trials = [each.trial for each in explained.remedies if each.cause == "send_buffer"]
    assert all("one goodput" in trial or "other goodput" in trial for trial in trials), trials
    # The truth: with large buffers the shares differ, and nothing is left to say.
    large = _run(mix, *path, _LARGE)
    assert not [each for each in large.warnings if _MAY in each]
    before, after = _ratio(result), _ratio(large)
    assert max(before, after) > 1.1 * min(before, after)


@pytest.mark.parametrize(
    ("mix", "rate_mbps", "bdps"),
    [("bbr+bbr", 1000, 1.0), ("bbr+cubic", 100, 0.5), ("cubic+cubic", 1000, 0.5)],
)
def test_flows_of_one_cca_and_buffers_that_nobody_fills_have_no_warning(
    mix: str, rate_mbps: int, bdps: float
) -> None:
    result = _run(mix, rate_mbps, 20, bdps, {})
    assert not [each for each in result.warnings if _MAY in each]
    texts = [cause.text for each in ExplainedComparison(result).ccas for cause in each.causes]
    assert not [text for text in texts if _MAY in text]


def test_a_window_that_decides_is_not_said_to_perhaps_do_so() -> None:
    result = _run("bbr+cubic", 1000, 20, 1.0, {})
    (warning,) = [each for each in result.warnings if "share the path" in each]
    assert "decides how the flows share the path" in warning
