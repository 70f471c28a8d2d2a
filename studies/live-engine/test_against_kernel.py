"""Tests of the study of live runs."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from against_kernel import BEGIN_S, compared, figures, interval


def test_goodput_is_that_of_whole_slots_of_the_download() -> None:
    """Slots of other flows and a last one that is not whole do not count."""
    rows = [(flow, BEGIN_S + n / 10, 125_000 * (1 + flow)) for flow in (0, 1) for n in range(120)]
    result = SimpleNamespace(
        flows=pd.DataFrame({"flow": [0, 1], "bytes": [1, 2], "rtt_mean_ms": [5.0, 70.0]}),
        slots=pd.DataFrame(rows, columns=["flow", "t_s", "delivered_bytes"]),
    )
    found = figures(result, 13.0)
    # 250 kB in each 100 ms, in two slots of 5 s: the last 2 s are no whole slot.
    assert found == {"goodput_mbps": 20.0, "slots_mbps": [20.0, 20.0], "rtt_ms": 70.0}


def run(goodput: float, slots: list[float], rtt: float) -> dict[str, Any]:
    """Figures of a run."""
    return {"goodput_mbps": goodput, "slots_mbps": slots, "rtt_ms": rtt}


def test_the_worst_slot_is_the_one_that_differs_most() -> None:
    """Its sign stays."""
    kernel = [run(10.0 + each, [10.0, 10.0 + 2 * each], 50.0) for each in (-0.01, 0.01)]
    found = compared(kernel, run(10.1, [10.6, 9.0], 51.0))
    assert found["slot"] == pytest.approx(-10.0)
    assert (found["goodput"], found["rtt"]) == pytest.approx((1.0, 2.0))
    assert found["alike"]


def test_a_live_run_is_alike_within_the_interval_of_further_runs_or_within_what_is_tolerated() -> None:
    """Of runs with 9, 10 and 11 Mbit/s, 95 % of further ones are within 4.303 * 1 * sqrt(4 / 3)."""
    kernel = [run(each, [each], 50.0) for each in (9.0, 10.0, 11.0)]
    assert interval("goodput_mbps", kernel) == pytest.approx((10 - 4.9685, 10 + 4.9685), abs=1e-3)
    assert compared(kernel, run(14.9, [14.9], 50.0))["alike"]
    assert not compared(kernel, run(15.1, [15.1], 50.0))["alike"]
    # All RTTs are the same, so that only what is tolerated is left.
    assert compared(kernel, run(10.0, [10.0], 51.4))["alike"]
    assert not compared(kernel, run(10.0, [10.0], 51.6))["alike"]
