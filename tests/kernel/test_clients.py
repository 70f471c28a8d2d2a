"""Clients that abort connections or read in bursts: the kernel engine compared with the native one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario

if TYPE_CHECKING:
    import pandas as pd


def flows(on: Engine, scenario: str, *changes: str) -> pd.DataFrame:
    """Returns the connections of a run."""
    loaded = load_scenario(scenario, changes=changes)
    table: pd.DataFrame = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, on), workers=1)[
        "flows"
    ].to_pandas()
    return table


def test_a_client_that_aborts_connections_resets_later_segments(linux: Engine) -> None:
    on_kernel, native = (flows(on, "video/iphone-4s", "duration=60s") for on in (linux, engine()))
    assert len(on_kernel) == len(native)
    for result in (on_kernel, native):
        # Each segment for a closed socket is answered by a reset; the last connection is still open.
        assert (result["resets"][:-1] > 10).all()
    assert int(on_kernel["bytes"].sum()) == pytest.approx(int(native["bytes"].sum()), rel=0.2)


def test_a_client_that_reads_in_bursts_is_limited_by_its_window(linux: Engine) -> None:
    on_kernel, native = (flows(on, "video/android-paced", "duration=30s") for on in (linux, engine()))
    assert int(on_kernel["bytes"].sum()) == pytest.approx(int(native["bytes"].sum()), rel=0.02)
    for result in (on_kernel, native):
        assert len(result) == 1
        assert result["receive_window_limited_s"][0] > 5
        assert result["retransmissions"][0] == 0
