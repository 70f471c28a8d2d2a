"""Clients that give connections up, or read in bursts: the kernel engine beside the native one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario

if TYPE_CHECKING:
    import pandas as pd


def flows(which: Engine, scenario: str, *changes: str) -> pd.DataFrame:
    """Returns the connections of a run."""
    loaded = load_scenario(scenario, changes=changes)
    table: pd.DataFrame = run_jobs(jobs_for(loaded, ["cubic"], 1, 1, which), workers=1)[
        "flows"
    ].to_pandas()
    return table


def test_a_client_that_gives_connections_up_resets_what_still_comes(linux: Engine) -> None:
    theirs, ours = (flows(which, "video/iphone-4s", "duration=60s") for which in (linux, engine()))
    assert len(theirs) == len(ours)
    for result in (theirs, ours):
        # Each segment for a closed socket is answered by a reset; the last connection is still open.
        assert (result["resets"][:-1] > 10).all()
    assert int(theirs["bytes"].sum()) == pytest.approx(int(ours["bytes"].sum()), rel=0.2)


def test_a_client_that_reads_in_bursts_is_limited_by_its_window(linux: Engine) -> None:
    theirs, ours = (flows(which, "video/android-paced", "duration=30s") for which in (linux, engine()))
    assert int(theirs["bytes"].sum()) == pytest.approx(int(ours["bytes"].sum()), rel=0.02)
    for result in (theirs, ours):
        assert len(result) == 1
        assert result["receive_window_limited_s"][0] > 5
        assert result["retransmissions"][0] == 0
