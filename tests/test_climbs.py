"""Climbs of a window to the capacity: what they leave unused, and the window that ends slow start."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

if TYPE_CHECKING:
    from celltcp.comparison.explanation.explained_cca import ExplainedCca
    from drawn_causes import Changes


def _explained(
    seed: int, cca: str, duration_s: int, **more: object
) -> tuple[ct.Comparison, ExplainedCca]:
    """Returns a flow over a long path whose buffer slow start overflows early."""
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(120, 180)}ms",
        "path.down.rate": f"{draw.randint(80, 120)}Mbit/s",
        "path.buffer": f"{draw.uniform(0.06, 0.1):.3f}bdp",
        "path.wired": [{"name": "nic", "rate": "1Gbit/s", "buffer": "10000packets"}],
        "tcp.receive_buffer_max": "16MB",
        "tcp.send_buffer_max": "16MB",
        **more,
    }
    result = ct.compare("steady-20-68", cca, 1, duration=f"{duration_s}s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    return result, explained


@pytest.mark.parametrize("seed", range(3))
def test_the_climb_after_an_early_overflow_has_its_share(seed: int) -> None:
    result, explained = _explained(seed, "cubic", 60)
    text = explained.cause_text("shallow_buffer")
    found = re.search(
        r"([\d.]+) % in the first ([\d.]+) s at ([\d.]+) Mbit/s, until 80 % of it was in use", text
    )
    assert found is not None, text
    share, seconds = float(found[1]) / 100, float(found[2])
    slots = result.slots
    capacity = slots["capacity_mbps"].sum()
    first = slots[slots["t_s"] < slots["t_s"].min() + seconds]
    unused = (first["capacity_mbps"] - first["goodput_mbps"]).clip(lower=0).sum() / capacity
    assert share == pytest.approx(unused, abs=0.02)
    assert float(found[3]) == pytest.approx(first["goodput_mbps"].mean(), rel=0.03)
    # The window is that of the capacity at the end, and far below before.
    late = slots[slots["t_s"].between(seconds - 0.5, seconds + 1)]
    assert (late["goodput_mbps"] / late["capacity_mbps"]).mean() > 0.7
    assert first["goodput_mbps"].mean() < 0.8 * late["goodput_mbps"].mean()


@pytest.mark.parametrize("seed", range(3))
def test_a_run_too_short_for_the_climb_says_so_and_losses_leave_it_out(seed: int) -> None:
    _, reno = _explained(seed, "reno", 30)
    found = re.search(
        r"slow start left a window of ([\d ]+) of ([\d ]+) segments, which did not grow to 80 % of it",
        reno.cause_text("shallow_buffer"),
    )
    assert found is not None
    left, whole = (int(each.replace(" ", "")) for each in found.groups())
    # It overflowed a shallow buffer far below the BDP, and half of that is left (RFC 5681).
    assert left < 0.6 * whole
    _, lossy = _explained(seed, "reno", 30, **{"path.loss": 0.0005})
    for cause in lossy.causes:
        assert "grown to it" not in cause.text
        assert "not grow to it" not in cause.text


@pytest.mark.parametrize("cca", ["cubic", "reno"])
@pytest.mark.parametrize("seed", range(2))
def test_the_window_at_an_overflow_in_slow_start_is_that_of_its_end(cca: str, seed: int) -> None:
    result, explained = _explained(seed, cca, 20)
    (flow,) = result.flows.itertuples()
    (text,) = (event.text for event in explained.events if "in slow start" in event.text)
    found = re.search(r"window ([\d ]+) to ([\d ]+) segments", text)
    assert found is not None, text
    before, after = (int(each.replace(" ", "")) for each in found.groups())
    assert before == flow.slow_start_exit_cwnd
    # Reno halves its window, CUBIC keeps 0.7 of it; later losses of the same burst take more.
    assert after <= {"cubic": 0.72, "reno": 0.52}[cca] * before


@pytest.mark.parametrize(("cca", "megabytes"), [("cubic", 30), ("bbr", 60), ("reno", 30)])
def test_what_slow_start_leaves_is_not_for_the_buffer_as_well(cca: str, megabytes: int) -> None:
    changes: Changes = {
        "path.rtt": "90ms",
        "path.down.rate": "50Mbit/s",
        "path.buffer": "0.45bdp",
        "flows.0.workload": {"kind": "bulk", "bytes": f"{megabytes}MB"},
        "tcp.receive_buffer_max": "64MiB",
        "tcp.send_buffer_max": "64MiB",
    }
    result = ct.compare("steady-20-68", cca, 1, duration="60s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    weights = {cause.name: cause.weight for cause in explained.causes}
    parts = weights["start_up"] + weights.get("shallow_buffer", 0.0)
    assert parts <= 1.0 - explained.used_share + 1e-9
    if "shallow_buffer" in weights:
        assert "stayed unused beside slow start" in explained.cause_text("shallow_buffer")
