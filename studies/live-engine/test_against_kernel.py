"""Tests of the study of live runs."""

from types import SimpleNamespace

import pandas as pd
import pytest
from against_kernel import BEGIN_S, compared, figures


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


def test_the_worst_slot_is_the_one_that_differs_most() -> None:
    """Its sign stays."""
    kernel = {"goodput_mbps": 10.0, "slots_mbps": [10.0, 10.0], "rtt_ms": 50.0}
    live = {"goodput_mbps": 10.1, "slots_mbps": [10.6, 9.0], "rtt_ms": 51.0}
    assert compared(kernel, live) == pytest.approx({"goodput": 1.0, "slot": -10.0, "rtt": 2.0})
