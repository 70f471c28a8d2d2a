"""Outages of the path before a capture, which is beside the receiver."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from drawn_causes import interrupted


def _upload(tmp_path: Path, draw: random.Random, gaps: list[tuple[float, float]], keeps: bool) -> Path:
    """Returns the capture at the server of an upload at 8 Mbit/s with gaps: starts and lengths, s."""
    scenario, capture = tmp_path / "truth.toml", tmp_path / "x.pcap"
    tables = ", ".join(f'{{ at = "{at}s", duration = "{length}s" }}' for at, length in gaps)
    steps = ", ".join(
        f'{{ at = "{step["at"]}", rate = "{step["rate"]}" }}' for step in interrupted("8Mbit/s", gaps)
    )
    up = f"up.steps = [{steps}]" if keeps else f'up = "8Mbit/s"\nblackouts = [{tables}]'
    scenario.write_text(
        'duration = "60s"\n[variation]\ntrace_offset = false\nstart_jitter = "0s"\n[path]\n'
        f'rtt = "{draw.choice([40, 60, 90])}ms"\ndown = "30Mbit/s"\n'
        f'uplink_buffer = "200packets"\n{up}\n'
        '[[flows]]\nfrom = "phone"\nto = "server"\nopens = "from"\n'
        'workload = { kind = "bulk", bytes = "22MB" }\n'
    )
    run: dict[str, Any] = {"pcap": capture, "pcap_at": "server", "samples": "off"}
    ct.run(scenario, draw.choice(["cubic", "reno"]), draw.randrange(100), **run)
    return capture


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_of_several_outages_before_the_receiver_has_its_time(
    seed: int, keeps: bool, tmp_path: Path
) -> None:
    """Whether a segment was missing as one began, or all had been acknowledged, changes nothing."""
    draw = random.Random(f"before {seed} {keeps}")
    length = round(draw.uniform(1.5, 3.2), 1)
    gaps = [
        (round(at + draw.uniform(0, 2), 1), length) for at in draw.sample([6, 13, 20], 2 + seed % 2)
    ]
    analyses = analyse(_upload(tmp_path, draw, sorted(gaps), keeps))
    (row,) = analyses.connections.to_dict("records")
    text = row["diagnosis"]
    listed = re.findall(r"([\d.]+) s from ([\d.]+) to ([\d.]+) s", text)
    assert len(listed) == len(gaps), text
    for (at, _), (silence_s, start_s, end_s) in zip(sorted(gaps), listed, strict=True):
        # A time-out ends the silence at most a length after an outage that loses its repairs.
        late_s = float(silence_s) - length
        assert -0.15 < late_s < (0.15 if keeps else 1.2 * length), text
        assert float(start_s) == pytest.approx(at, abs=0.25)
        assert float(end_s) == pytest.approx(at + float(silence_s), abs=0.35)
    (waited_s,) = (float(each) for each in re.findall(r"waited ([\d.]+) s for an outage", text))
    assert waited_s == pytest.approx(sum(float(each) for each, *_ in listed), abs=0.2)
    assert ("lost" in text) == (not keeps)
    # All silences are stalls but for their first 200 ms, and none is a pause of the application.
    assert row["stalled_s"] == pytest.approx(waited_s - 0.2 * len(gaps), abs=0.3)
    assert row["pauses_up_s"] < 0.1 * waited_s
    if keeps:
        stood_s = 0.1 * (estimate_path(analyses).capacity_mbps < 0.1).sum()
        assert stood_s == pytest.approx(length * len(gaps), abs=0.11 * len(gaps))
    else:
        (lost,) = re.findall(r"in which (\d+) segments were lost", text)
        assert int(lost) == row["losses_outage"]


def test_the_scenario_of_an_upload_stands_still_as_its_path_did(tmp_path: Path) -> None:
    """The link has 8 Mbit/s in all of the time but two gaps of 3 s."""
    gaps = [(6.0, 3.0), (14.0, 3.0)]
    analyses = analyse(_upload(tmp_path, random.Random("stands"), gaps, keeps=True))
    estimate = estimate_path(analyses)
    (duration_s,) = analyses.connections["duration_s"]
    assert estimate.mean_mbps == pytest.approx(8 * (duration_s - 6) / duration_s, rel=0.02)
