"""Limits on a kernel: shares by Linux's TCP_CHRONO counters, and those of the native engine."""

from __future__ import annotations

from typing import Any

import pytest

import celltcp as ct
from celltcp.results.limits import FlowLimits, flow_limits

#: Limits that TCP_CHRONO counters measure.
_CHRONO_LIMITS = ("idle", "send_buffer", "receive_window")

#: Paths of 20 Mbit/s and 68 ms.
_PATHS: dict[str, dict[str, Any]] = {
    "bulk": {},
    "window": {"tcp.receive_window_max": "60kB"},
    "buffer": {"tcp.send_buffer_max": "128kB"},
    "pauses": {
        "flows.0.workload": {"kind": "frames", "size": "60kB", "interval": "500ms"},
        "flows.0.opens": "from",
    },
    "loss": {"path.loss": 0.01},
}


def _limits(engine: str, changes: dict[str, Any]) -> FlowLimits:
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", engine=engine, set=changes)
    (limits,) = flow_limits(result.results)
    return limits


@pytest.mark.usefixtures("linux")
@pytest.mark.parametrize("path", _PATHS)
def test_shares_are_those_of_linux(path: str) -> None:
    kernel, native = (_limits(name, _PATHS[path]) for name in ("kernel", "native"))
    for limit in _CHRONO_LIMITS:
        assert native.shares[limit] == pytest.approx(kernel.shares[limit], abs=0.02), limit
    assert native.network == 0
    network = 1 - sum(native.shares[limit] for limit in _CHRONO_LIMITS)
    assert kernel.network == pytest.approx(network, abs=0.04)
