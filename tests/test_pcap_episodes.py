"""Episodes of losses in captures: which losses are one, and what each says of the queue."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis import INTERVAL_COLUMNS, diagnoses, evidence
from celltcp.pcap.diagnosis.episodes import Episode, find_episodes

FULL = "the queue beside it was full"
USUAL = "the queue beside it was no longer than usual"


def episodes(*losses: tuple[float, int, str, float, float, str]) -> list[Episode]:
    """Returns the episodes of losses: time, first byte, kind, RTT, place in the queue, reason."""
    frame = pd.DataFrame(losses, columns=["t_s", "seq", "kind", "rtt_ms", "queue", "reason"])
    return find_episodes(
        frame.assign(is_upstream=0, is_near=False, is_back=False), 50.0, (40.0, 10.0), 1_000.0
    )


def test_losses_within_an_rtt_are_one_episode() -> None:
    own = episodes(
        (1.00, 0, "congestion", 80.0, 0.9, ""),
        (1.09, 5_000, "congestion", 80.0, 0.9, ""),
        (1.30, 90_000, "random", 50.0, 0.1, ""),
    )
    assert [(each.count, each.start_s, each.close) for each in own] == [(2, 1.0, 1), (1, 1.3, 0)]
    assert [each.queue for each in own] == ["full", "short"]
    assert own[0].span_s == pytest.approx(0.09)
    assert [each.delay_ms for each in own] == [40.0, 10.0]


def test_a_lost_repair_and_what_an_outage_lost_are_no_losses_of_their_own() -> None:
    own = episodes(
        (1.0, 0, "random", 50.0, 0.1, ""),
        (1.6, 0, "random", 50.0, 0.1, ""),
        (2.0, 9_000, "outage", math.nan, math.nan, ""),
    )
    assert [each.count for each in own] == [1]


def test_the_queue_of_an_episode_is_that_of_most_losses_with_an_rtt() -> None:
    (unknown,) = episodes((1.0, 0, "random", math.nan, 0.9, ""), (1.01, 1_000, "tail", 60.0, 0.9, ""))
    assert unknown.queue == "unknown"
    (reasons,) = episodes(
        (1.0, 0, "random", math.nan, 0.1, ""), (1.01, 1_000, "random", 60.0, 0.1, FULL)
    )
    assert reasons.queue == "full"
    (usual,) = episodes((1.0, 0, "congestion", 60.0, 0.9, USUAL))
    assert usual.queue == "usual"
    (tail,) = episodes((1.0, 0, "tail", 60.0, 0.9, ""))
    assert tail.is_tail


def test_the_episodes_of_a_connection_are_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules share them: made by each rule, they took four fifths of the time of an analysis."""
    capture = tmp_path / "lossy.pcap"
    changes = {"path.loss": 0.01, "path.buffer": "0.3bdp"}
    ct.run("steady-20-68", "cubic", duration="4s", set=changes, pcap=capture, samples="off")
    result = analyse(capture)
    calls = []

    def counted(*of: Any, **options: Any) -> list[Episode]:
        calls.append(of)
        return find_episodes(*of, **options)

    monkeypatch.setattr(evidence, "find_episodes", counted)
    rows = result.connections
    (diagnosis,) = diagnoses(
        rows, result.losses, result.intervals[INTERVAL_COLUMNS], rows["near_rtt_min_ms"]
    )
    sentence = str(diagnosis.sentence)
    assert "lost" in sentence
    assert len(calls) == 1
