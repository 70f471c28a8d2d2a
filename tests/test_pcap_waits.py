"""Waits in captures: which silences of a receiver are waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

import pandas as pd
import pytest

from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.diagnosis.waits import waits


@pytest.mark.parametrize(("rtt_ms", "is_told"), [(200, True), (2_300, False)])
def test_a_receiver_is_silent_for_as_long_as_acks_queue(rtt_ms: int, is_told: bool) -> None:
    """Losses beside a long queue of ACKs wait for these, not for an outage."""
    row: dict[Hashable, Any] = defaultdict(
        int,
        {"place": "receiver", "direction": "down", "duration_s": 12.6, "ending": "open"}
        | {"stalled_s": 2.7, "losses": 916, "losses_outage": 1, "near_rtt_p95_ms": rtt_ms},
    )
    losses = pd.DataFrame(
        {"kind": ["outage"], "repair": ["fast"], "t_s": [4.0], "repaired_s": [6.7], "is_upstream": [0]}
    )
    times = [wait.time_s for wait in waits(Evidence(row, losses, pd.DataFrame()))]
    assert times == ([2.7] if is_told else [])
