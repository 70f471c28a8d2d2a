"""Silences in pictures of captures: times in which nothing passed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp.pcap.plots import with_silences


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
