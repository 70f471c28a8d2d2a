"""Silences in pictures of captures: times in which nothing passed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.silences import silences_of
from celltcp.pcap.plots import overview, with_silences
from made_up_evidence import evidence


def test_the_rate_is_zero_in_a_silence_and_no_line_leads_through_it() -> None:
    """Tables have rows for intervals in which something passed, only."""
    passed = pd.DataFrame(
        {
            "t_s": [0.0, 0.1, 0.5],
            "bytes": [1000, 2000, 500],
            "retransmitted_bytes": [0, 0, 500],
            "rtt_mean_ms": [40.0, 41.0, 42.0],
        }
    )
    drawn = with_silences(passed)
    np.testing.assert_allclose(drawn["t_s"], [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert drawn["bytes"].tolist() == [1000, 2000, 0, 0, 0, 500]
    assert drawn["rtt_mean_ms"].isna().tolist() == [False, False, True, True, True, False]


def test_data_in_flight_have_no_slope_through_an_outage(tmp_path: Path) -> None:
    """Between the last segment before an outage and the first one after it nothing is measured."""
    changes: dict[str, Any] = {"path.blackouts": [{"at": "4s", "duration": "2s"}]}
    pcap = tmp_path / "outage.pcap"
    ct.run("steady-20-68", "cubic", 1, "10s", set=changes, samples="off", pcap=pcap)
    analyses = analyse(pcap)
    _, flight, _ = overview(analyses).axes[:3]
    sent, _ = flight.get_lines()[:2]
    times_s, in_flight = sent.get_xdata(), sent.get_ydata()
    # The first time-out, of an RTT and 200 ms, repeats a segment while nothing comes back.
    is_outage = (times_s > 4.5) & (times_s < 5.9)
    assert np.isnan(in_flight[is_outage]).mean() > 0.5


def test_a_sender_that_waits_for_its_time_out_after_an_outage_is_no_second_outage() -> None:
    """In an outage its retransmissions have no answer; after it, it has sent nothing that could."""
    own = evidence(rtts_ms=[60.0] * 60)
    # No ACK comes from 2.0 s to 4.0 s, while segments are sent again. The next one is at 5.3 s.
    times_s = [*np.arange(0, 21) / 10, 2.4, 3.0, 4.0, 5.2, 5.3]
    intervals = own.intervals.iloc[: len(times_s)].assign(t_s=times_s)
    are_again = intervals["t_s"].isin([2.4, 3.0, 5.2])
    intervals.loc[intervals["t_s"] > 2.05, ["bytes", "acked_bytes", "rtt_mean_ms"]] = 0, 1_448, 60.0
    intervals.loc[are_again, ["acked_bytes", "retransmitted_bytes"]] = 0, 1_448
    intervals.loc[intervals["t_s"] == 2.0, "bytes"] = 150_000
    # Beyond two RTTs or 200 ms, the first one is 1.8 s long, the second one 1.1 s.
    silences = silences_of(replace(own, intervals=intervals), 2.9)
    assert [each.is_unsent for each in silences] == [False, True]
    assert [each.length_s for each in silences] == pytest.approx([2.0, 1.3])
