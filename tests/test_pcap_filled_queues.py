"""Captures of connections that wait and lose segments in the queue that another transfer fills."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.next_steps import next_steps

_PICTURES = (
    '[[flows]]\nname = "backup"\nfrom = "phone"\nto = "server"\nopens = "from"\n[[flows]]\n'
    'name = "pictures"\ncca = "cubic"\nworkload = { kind = "request-response", request = "50kB", '
    'response = "1kB", think = "10ms", gap = "1s" }\n'
)


def _capture(folder: Path, path: str) -> Path:
    """Returns the capture of a backup beside pictures that a phone sends, taken at their server."""
    truth, capture = folder / "t.toml", folder / "x.pcap"
    truth.write_text(f'duration = "40s"\n[path]\ndown = "20Mbit/s"\n{path}{_PICTURES}')
    ct.run(truth, "cubic", 1, pcap=capture, pcap_at="server", samples="off")
    return capture


@pytest.mark.parametrize("seed", range(2))
def test_requests_behind_a_backup_lose_in_its_queue_and_wait_there(tmp_path: Path, seed: int) -> None:
    """The path loses nothing at random: a tail-drop queue is all that drops."""
    draw = random.Random(f"queue of a backup {seed}")
    mbps, buffer_kb, rtt_ms = draw.choice([4, 6]), draw.choice([150, 250]), draw.choice([30, 60])
    path = f'rtt = "{rtt_ms}ms"\nup = "{mbps}Mbit/s"\nuplink_buffer = "{buffer_kb}kB"\n'
    analyses = analyse(_capture(tmp_path, path))
    backup, pictures = analyses.connections.sort_values("connection").to_dict("records")
    assert (backup["losses_congestion"], pictures["losses_congestion"]) == (
        backup["losses"],
        pictures["losses"],
    )
    assert pictures["losses"] > 5
    assert f"{pictures['losses']} segments were lost in " in pictures["diagnosis"]
    (wait,) = re.findall(
        r"connection 0 fills the queue in which .* wait (\d+) ms", pictures["diagnosis"]
    )
    # No segment waits for longer than a full buffer takes to drain.
    assert 0.5 < int(wait) / (8 * buffer_kb / mbps) <= 1
    steps = next_steps(analyses)
    assert "--connection 0 " in steps[0]
    assert "path.uplink_queue=fq-codel" in steps[1]
    assert "which fills the queue" in steps[1]


def test_random_losses_beside_a_transfer_stay_random(tmp_path: Path) -> None:
    """At 1 %, the backup itself loses as much, and fills no queue."""
    path = 'rtt = "120ms"\nup = "8Mbit/s"\nuplink_buffer = "250kB"\nuplink_loss = 0.01\n'
    rows = analyse(_capture(tmp_path, path)).connections
    assert (rows["losses_random"] > 0.8 * rows["losses"]).all()
    assert not rows["diagnosis"].str.contains("fills the queue").any()
