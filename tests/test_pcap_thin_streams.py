"""Thin streams in captures: a lost message and its time-out are no outage, and fill no queue."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse


def _game(folder: Path, draw: random.Random, place: str, **changes: Any) -> dict[str, Any]:
    """Returns the row of a capture of 60 s of commands of a game, without a queue of its own."""
    per_s = draw.choice([2, 3, 4, 8])
    workload = {
        "kind": "frames",
        "size": f"{draw.randint(20, 120)}B",
        "interval": f"{1000 // per_s}ms",
    }
    path = {"path.rtt": f"{draw.choice([60, 100, 140])}ms", "flows.0.workload": workload}
    run: dict[str, Any] = {"set": path | changes, "samples": "off", "pcap_at": place}
    ct.run("steady-20-68", "cubic", draw.randint(1, 99), "60s", pcap=folder / "x.pcap", **run)
    (row,) = analyse(folder / "x.pcap").connections.to_dict("records")
    return row


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(4))
def test_random_losses_of_messages_are_no_outage_and_no_full_queue(
    seed: int, place: str, tmp_path: Path
) -> None:
    row = _game(tmp_path, random.Random(f"random {seed}"), place, **{"path.loss": "3%"})
    assert row["losses"] > 0
    # Three losses in a row have a probability of 3e-5.
    assert row["losses_outage"] == 0
    text = row["diagnosis"]
    assert "outage" not in text
    assert "full queue" not in text
    assert "a thin stream" in text
    assert f"lost {row['losses']} " in text
    assert re.search(r"repairs? came [\d.]+ m?s later", text)


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(4))
def test_an_outage_in_which_messages_are_lost_has_its_time(
    seed: int, place: str, tmp_path: Path
) -> None:
    draw = random.Random(f"outage {seed}")
    at, length = round(draw.uniform(20, 30), 2), round(draw.uniform(1.5, 3), 2)
    blackout = [{"at": f"{at}s", "duration": f"{length}s"}]
    text = _game(tmp_path, draw, place, **{"path.blackouts": blackout})["diagnosis"]
    ((waited, start),) = re.findall(
        r"waited ([\d.]+) s for an outage of the path(?: before the capture)? at ([\d.]+) s", text
    )
    # The message before it came up to 500 ms earlier; the last time-out doubles what is left.
    assert at - 0.6 < float(start) < at + 0.6
    assert length - 0.6 < float(waited) < 2 * length + 1
