"""Videos in captures: bitrates of their segments, and stalls of their playback."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.units.unit_tables import unit_sections
from celltcp.pcap.units.video_segments import playback, video_text


def _segments(ends_s: list[float], kilobytes: int = 500) -> pd.DataFrame:
    return pd.DataFrame({"end_s": ends_s, "bytes": 1000 * kilobytes})


@pytest.mark.parametrize(
    ("ends_s", "stalls", "stalled_s"),
    [
        # The playback begins at 2 s, and plays the third segment, of two seconds, at 6 s.
        ([1, 2, 6, 7], 0, 0.0),
        ([1, 2, 9, 10], 1, 3.0),
        # After the first stall, the fourth is due at 11 s, and the fifth after the second one at 14 s.
        ([1, 2, 9, 12, 14], 2, 4.0),
    ],
)
def test_playback_stalls_for_each_segment_that_is_not_there_when_it_is_due(
    ends_s: list[float], stalls: int, stalled_s: float
) -> None:
    played = playback(_segments(ends_s), 2.0)
    assert (played.stalls, played.stalled_s) == (stalls, pytest.approx(stalled_s))
    # 500 kB in two seconds.
    assert played.mbps == pytest.approx((2.0, 2.0, 2.0))


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize(
    ("rates", "is_known"),
    # Where the buffer of the player is full, its requests show the duration of segments.
    [((15, 2, 15, 5), True), ((5, 2, 8, 1), False)],
)
def test_a_video_has_its_bitrates_in_analysis_and_report(
    tmp_path: Path, place: str, rates: tuple[int, ...], is_known: bool
) -> None:
    steps = ", ".join(f'{{ at = "{20 * i}s", rate = "{rate}Mbit/s" }}' for i, rate in enumerate(rates))
    truth, capture = tmp_path / "t.toml", tmp_path / "x.pcap"
    truth.write_text(
        f'duration = "100s"\n[path]\nrtt = "60ms"\nbuffer = "300kB"\n[path.down]\nsteps = [{steps}]\n'
        '[[flows]]\nworkload = { kind = "video", length = "80s", abr = "robust-mpc" }\n'
    )
    run = ct.run(truth, "cubic", 1, pcap=capture, pcap_at=place, samples="off")
    events = run.results.tables["events"].to_pandas()
    mbps = events.loc[events["kind"] == "segment_mbps", "detail"].astype(float)
    analyses = analyse(capture)
    (text,) = (
        text
        for section in unit_sections(analyses, None)
        for text in section.text
        if text.startswith("video: ")
    )
    assert f"video: {len(mbps)} segments" in text
    assert ("each of 3 s, as requests show" in text) == is_known
    if is_known:
        (shown,) = re.findall(r"requests show: ([\d.]+) Mbit/s", text)
        # Sizes of segments differ from their nominal bitrates.
        assert float(shown) == pytest.approx(mbps.mean(), rel=0.1)
        assert "no stall" in text
    else:
        assert "with segments of 2 s " in text
        # A scenario of equal sizes would have none of the waits for the largest.
        assert 'response = { kind = "lognormal"' in estimate_path(analyses).endpoints


def test_files_of_random_sizes_are_no_video(tmp_path: Path) -> None:
    """Neither do their sizes depend on those before, nor do requests keep the time of a playback."""
    truth, capture = tmp_path / "t.toml", tmp_path / "x.pcap"
    truth.write_text(
        'duration = "60s"\n[path]\nrtt = "60ms"\ndown = "8Mbit/s"\n[[flows]]\nworkload = { kind = '
        '"request-response", response = { kind = "lognormal", median = "400kB", sigma = 0.8 }, '
        'gap = "200ms" }\n'
    )
    ct.run(truth, "cubic", 1, pcap=capture, pcap_at="server", samples="off")
    units = analyse(capture).units
    responses = units[units["unit"] == "response"]
    assert len(responses) > 30
    assert video_text(responses) == ""
