"""Demand of applications: windows are advised for what they send, and tables say what they offer."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.report.receive_window import window_limit
from celltcp.scenarios.demand import demand, offered_mbps

#: A link of which each application uses a small part.
_FAST: dict[str, Any] = {
    "path.down.rate": "2Gbit/s",
    "path.wired": [{"name": "wan", "rate": "10Gbit/s"}],
}


def _constant(value: str) -> dict[str, str]:
    return {"kind": "constant", "value": value}


@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_frames_that_a_window_delays_get_a_window_for_frames_and_the_rates_are_compared(
    seed: int,
) -> None:
    draw = random.Random(f"frames {seed}")
    rtt_ms, window = draw.choice([60, 80, 100]), draw.choice([32, 64]) * 1024
    field = draw.choice(["tcp.receive_window_max", "tcp.receive_buffer_max"])
    passed = 8e-3 * window / rtt_ms
    offered = 1.3 * passed
    size = round(offered * 1e6 / 8 / 30)
    changes = {
        **_FAST,
        "path.rtt": f"{rtt_ms}ms",
        field: f"{window if field.endswith('window_max') else round(1.5 * window)}B",
        "flows.0.workload": {"kind": "frames", "size": f"{size}B", "interval": "33.333333ms"},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="12s", set=changes)
    (application,) = result.applications
    assert f"of frames of {offered:.2f} Mbit/s" in metrics_table(result, application).title
    limit = window_limit(result, "cubic")
    assert limit is not None
    assert limit.needed_bytes == pytest.approx(max(offered * 125 * rtt_ms, 2 * size), rel=0.01)
    assert f"To hold frames it has to be {limit.needed_bytes / 1e3:.0f} kB" in limit.text
    explained = ExplainedComparison(result)
    (cause,) = (cause for cause in explained.ccas[0].causes if cause.name == "receive_window")
    # Nothing was lost.
    assert not any("after losses" in cause.text for each in explained.ccas for cause in each.causes)
    assert f"the application offers {offered:.2f} Mbit/s, and the window lets" in cause.text
    assert float(cause.text.split("the window lets ")[1].split(" ")[0]) == pytest.approx(
        passed, rel=0.1
    )
    explained.try_remedies(TrialBudget())
    remedy = next(each for each in explained.remedies if each.cause == "receive_window")
    per_rtt = offered * 1e6 / 8 * rtt_ms / 1e3
    for change in remedy.remedy.changes:
        needed = max(per_rtt, 2 * size) * (2 if "buffer" in change else 1)
        assert needed <= (in_unit(change.split("=")[1], "B") or 0.0) <= 2.6 * needed, change
    before, after = remedy.trial.split("share of late frames ")[1].split(" %")[0].split(" to ")
    assert float(before) > 50
    assert float(after) < 5


def test_a_video_gets_a_window_for_its_best_representation() -> None:
    changes = {
        **_FAST,
        "path.rtt": "100ms",
        "tcp.receive_window_max": "40kB",
        "flows.0.workload": {"kind": "video"},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes)
    explained = ExplainedComparison(result)
    (cause,) = (cause for cause in explained.ccas[0].causes if cause.name == "receive_window")
    # The best one of the film has 6 Mbit/s, and audio.
    assert "the best representation has 6.13 Mbit/s, and the window lets 3.20 Mbit/s pass" in cause.text
    explained.try_remedies(TrialBudget())
    remedy = next(each for each in explained.remedies if each.cause == "receive_window")
    (change,) = remedy.remedy.changes
    assert 150e3 < (in_unit(change.split("=")[1], "B") or 0.0) < 320e3
    assert "QoE" in remedy.trial


@pytest.mark.parametrize("seed", [1, 2])
def test_what_ends_needs_no_window_above_its_size(seed: int) -> None:
    draw = random.Random(f"whole {seed}")
    size = draw.randint(400_000, 900_000)
    changes = {
        **_FAST,
        "path.rtt": "100ms",
        "tcp.receive_window_max": "40kB",
        "flows.0.workload": {"kind": "bulk", "bytes": f"{size}B"},
    }
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes))
    remedy = next(each for each in explained.remedies if each.cause == "receive_window")
    (change,) = remedy.remedy.changes
    assert size <= (in_unit(change.split("=")[1], "B") or 0.0) <= 1.1 * size


def test_rates_are_those_of_all_kinds_of_frames_and_their_distributions() -> None:
    frames = {"kind": "frames", "size": _constant("10kB"), "interval": _constant("40ms")}
    assert offered_mbps(frames) == pytest.approx(2.0)
    key = {"size": {"kind": "uniform", "min": "50kB", "max": "150kB"}, "interval": _constant("1s")}
    assert offered_mbps({**frames, "beside": [key]}) == pytest.approx(2.8)
    needed = demand({**frames, "beside": [key]}, 0.01)
    assert needed is not None
    assert needed.bytes == 300_000
    rare = {**frames, "size": {"kind": "lognormal", "median": "10kB", "sigma": 1.0}}
    assert offered_mbps(rare) == pytest.approx(2.0 * 1.6487, rel=1e-3)
    # A distribution without a mean has no rate.
    assert offered_mbps({**frames, "size": {"kind": "pareto", "scale": "1kB", "shape": 0.9}}) is None
    assert offered_mbps({"kind": "on-off", "rate": "3Mbit/s"}) == pytest.approx(3.0)
    assert offered_mbps({"kind": "bulk"}) is None
    assert demand({"kind": "bulk"}, 0.1) is None
    assert demand({"kind": "video"}, 0.1) is None


def test_a_sweep_tries_its_advice_where_most_is_late_and_says_what_share_was(tmp_path: Path) -> None:
    draw = random.Random("sweep")
    rtt_ms = draw.choice([60, 80])
    # At the first rate the window delays some frames; at the second one it is too small.
    sizes = [f"{share * 65_536 / rtt_ms * 1e3 / 30:.0f}B" for share in (0.96, 1.1)]
    changes = {
        **_FAST,
        "path.rtt": f"{rtt_ms}ms",
        "tcp.receive_window_max": "64KiB",
        "flows.0.workload": {"kind": "frames", "interval": "33.333333ms", "deadline": "500ms"},
    }
    vary = {"flows.0.workload.size": sizes}
    folder = tmp_path / "rates"
    sweep = ct.sweep("steady-20-68", vary, "cubic", 1, duration="30s", set=changes, out=folder)
    by_size = {size: sweep[size].applications[0].means("late_share")[0] for size in sizes}
    assert by_size[sizes[0]] == 0 < by_size[sizes[1]]
    (command, *_) = ct.explain(folder).remedy_commands(folder)
    assert f"{folder}/flows.0.workload.size={sizes[1]} " in command
    assert f"# {', '.join(sizes)} (here at {sizes[1]}): against a full receive window" in command
    assert f"cubic share of late frames {100 * by_size[sizes[1]]:.3g} to 0 %" in command


def test_a_window_that_limits_each_cca_is_to_be_enlarged_before_one_is_set() -> None:
    changes = {**_FAST, "path.rtt": "12ms", "tcp.send_buffer_max": "128KiB"}
    explained = ExplainedComparison(
        ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="4s", set=changes)
    )
    assert explained.settings == []
    (note,) = explained.notes
    assert note.startswith("the send buffer limits the flow under every congestion control")


def test_a_sweep_of_one_window_has_advice_that_raises_the_others_too(tmp_path: Path) -> None:
    changes = {**_FAST, "path.rtt": "50ms", "tcp.send_buffer_max": "1MiB"}
    vary = {"tcp.receive_window_max": ["100kB", "2MB"]}
    folder = tmp_path / "windows"
    ct.sweep("steady-20-68", vary, "cubic", 1, duration="3s", set=changes, out=folder)
    (command, *others) = ct.explain(folder).remedy_commands(folder)
    assert "--set tcp.send_buffer_max=" in command
    assert "--set tcp.receive_window_max=" in command
    assert "# 100kB, 2MB" in command
    assert not any("tcp.send_buffer_max" in other for other in others)


@pytest.mark.parametrize(
    ("changes", "window"),
    [
        ({"tcp.receive_window_max": "100kB"}, 100e3),
        ({"tcp.receive_window_max": "1MB", "tcp.receive_buffer_max": "150kB"}, 100e3),
        ({"tcp.window_scale": "false"}, 65_535),
    ],
)
def test_the_rate_that_a_window_gives_is_that_of_the_smallest_limit(
    changes: dict[str, str], window: float
) -> None:
    path = {**_FAST, "path.rtt": "80ms", **changes}
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="6s", set=path))
    (cause,) = (cause for cause in explained.ccas[0].causes if cause.name == "receive_window")
    rate = float(cause.text.split("in flight give at most ")[1].split(" ")[0])
    assert rate == pytest.approx(8e-3 * window / 80, rel=0.06)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_sessions_share_the_path_and_more_of_them_fill_it(seed: int) -> None:
    draw = random.Random(f"sessions {seed}")
    rtt_ms, sessions = draw.choice([60, 80, 100]), draw.randint(4, 8)
    needed = draw.uniform(1.3, 1.6) * sessions
    changes = {
        "path.down.rate": f"{needed * 8e-3 * 65_536 / rtt_ms:.2f}Mbit/s",
        "path.rtt": f"{rtt_ms}ms",
        "tcp.receive_window_max": "64KiB",
        "flows.0.count": sessions,
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="12s", set=changes)
    explained = ExplainedComparison(result)
    (cause,) = (cause for cause in explained.ccas[0].causes if cause.name == "receive_window")
    assert f"65.5 kB in flight for each of {sessions} sessions give at most" in cause.text
    explained.try_remedies(TrialBudget())
    options = " ".join(each.options for each in explained.remedies)
    count = int(options.split("flows.0.count=")[1].split(" ")[0])
    assert needed - 1 <= count <= needed + 1
    for each in explained.remedies:
        for change in each.remedy.changes:
            if change.startswith("tcp.receive_window_max="):
                # The BDP is that of all sessions.
                window = in_unit(change.split("=")[1], "B") or 0.0
                assert window < 2.2 * needed * 65_536 / sessions


def test_advice_of_one_family_is_shown_once() -> None:
    """With one BDP the send buffer suffices, with two it does not: two sets of fields."""
    changes = {"path.down.rate": "100Mbit/s", "path.rtt": "100ms", "tcp.window_scale": "false"}
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="15s", set=changes))

    def scaled(remedies: Iterable[ProposedRemedy]) -> set[tuple[str, ...]]:
        changes = (each.remedy.changes for each in remedies if each.cause == "receive_window")
        return {each for each in changes if "tcp.window_scale=true" in each}

    assert len(scaled(explained._all_remedies)) == 2
    explained.try_remedies(TrialBudget())
    assert len(scaled(explained.remedies)) == 1


@pytest.mark.parametrize(
    ("size", "reason"), [("32KiB", "a large write may end above it"), ("1MiB", "memory")]
)
def test_what_is_in_flight_above_a_send_buffer_has_its_reason(size: str, reason: str) -> None:
    path = {**_FAST, "path.rtt": "40ms", "tcp.send_buffer_max": size}
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="6s", set=path))
    (cause,) = (cause for cause in explained.ccas[0].causes if cause.name == "send_buffer")
    assert f"{reason}, " in cause.text
    assert "in flight on average" in cause.text
