"""Captured responses that take long by their size at the rate of the link, or behind other data."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.next_steps import next_steps

_STEPS = '[path.down]\nsteps = [{ at = "0s", rate = "9Mbit/s" }, { at = "20s", rate = "3Mbit/s" }]\n'


def _capture(folder: Path, place: str, size_kb: int, download: str) -> CaptureAnalyses:
    """Returns the analysis of responses of one size on a link whose rate falls to a third."""
    truth, capture = folder / "t.toml", folder / "x.pcap"
    truth.write_text(
        f'duration = "40s"\n[path]\nrtt = "50ms"\nbuffer = "400kB"\n{_STEPS}{download}[[flows]]\n'
        f'cca = "cubic"\nworkload = {{ kind = "request-response", response = "{size_kb}kB", '
        'gap = "50ms" }\n'
    )
    ct.run(truth, "cubic", 1, pcap=capture, pcap_at=place, samples="off")
    return analyse(capture)


def _responses(analyses: CaptureAnalyses) -> pd.DataFrame:
    units = analyses.units[analyses.units["unit"] == "response"]
    return units[units["duration_s"].notna()]


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
def test_a_response_alone_on_a_slower_link_takes_the_time_of_its_bytes(
    tmp_path: Path, seed: int, place: str
) -> None:
    """With headers, 1500 bytes on the link carry 1448, whatever stands in the queue of its own."""
    size_kb = random.Random(f"link times {seed}").randint(300, 900)
    analyses = _capture(tmp_path, place, size_kb, "")
    responses = _responses(analyses)
    later = responses[responses["start_s"] > 21]
    passing_s = 8e-3 * size_kb / 3 * 1500 / 1448
    assert later["link_s"].median() == pytest.approx(passing_s, rel=0.1)
    assert (later["delayed_by"] == "link's rate").mean() > 0.8
    assert "queue" not in set(responses["delayed_by"])
    (step,) = next_steps(analyses)
    assert "the link's rate takes" in step
    assert "no shorter queue" in step


def test_a_response_beside_a_download_waits_in_the_queue_of_that(tmp_path: Path) -> None:
    """Its own bytes are a small part of what the link carries meanwhile."""
    analyses = _capture(tmp_path, "server", 50, '[[flows]]\nname = "download"\n')
    responses = _responses(analyses)
    later = responses[responses["start_s"] > 21]
    assert (later["queue_s"] > 3 * later["link_s"]).mean() > 0.8
    assert "link's rate" not in set(later["delayed_by"])
    assert not any("no shorter queue" in step for step in next_steps(analyses))
