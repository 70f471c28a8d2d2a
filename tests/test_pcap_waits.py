"""Waits in captures: which silences of a receiver are waits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.diagnosis.waits import waits
from made_up_evidence import evidence


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


@pytest.mark.parametrize(
    ("spurious", "waited_s", "is_told"), [(0, 3.5, False), (1, 3.5, False), (4, 3.5, True)]
)
def test_a_wait_is_in_the_queue_of_another_connection_only_if_that_is_as_long(
    spurious: int, waited_s: float, is_told: bool
) -> None:
    filler = {"connection": 7, "far_rtt_p95_ms": 1000.0, "near_rtt_p95_ms": math.nan}
    own = replace(evidence((), spurious=spurious, stalled_s=waited_s), queue_filler=filler)
    assert any("that connection 7 fills" in wait.text for wait in waits(own)) == is_told
