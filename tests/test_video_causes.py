"""Causes of a video's score: what it played, and the link below that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.plots.video_sessions import _buffer_line

STEPS = {
    "steps": [
        {"at": "0s", "rate": "20Mbit/s"},
        {"at": "20s", "rate": "300kbit/s"},
        {"at": "60s", "rate": "20Mbit/s"},
    ]
}


def _explained(down: Any) -> ExplainedComparison:
    changes = {
        "path.down": down,
        "path.rtt": "60ms",
        "path.buffer": "500packets",
        "flows.0.workload": {"kind": "video"},
    }
    return ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="80s", set=changes))


def test_a_link_below_the_rate_of_a_video_is_its_cause() -> None:
    explained = _explained(STEPS)
    (each,) = explained.ccas
    (text,) = (cause.text for cause in each.causes if cause.name == "video")
    application = explained.comparison.applications[0]
    found = re.search(r"played ([\d.]+) Mbit/s on average, with ([\d.]+) changes", text)
    assert found is not None, text
    rate, switches = (application.means(name)[0] for name in ("bitrate_mbps", "switches"))
    assert (float(found[1]), float(found[2])) == pytest.approx((rate, switches), abs=0.01)
    share = re.search(r"less than that rate for ([\d.]+) % of the time", text)
    assert share is not None
    assert float(share[1]) == pytest.approx(50, abs=5)
    # Its slow start is short: what it leaves unused is no matter of that.
    assert "early_exit" not in {cause.name for cause in each.causes}
    # Means of several connections are those of the heading.
    heading = re.search(r"mean RTT ([\d.]+) ms", explained.texts(each)[0])
    queue = re.search(
        r"waited (\d+) ms on average, ([\d.]+) % of the mean RTT", " ".join(explained.texts(each))
    )
    assert heading is not None
    assert queue is not None
    assert float(queue[1]) / float(heading[1]) == pytest.approx(float(queue[2]) / 100, abs=0.02)
    assert len(explained.comparison.flows) > 1


def test_a_link_above_it_is_none() -> None:
    (each,) = _explained("20Mbit/s").ccas
    assert "video" not in {cause.name for cause in each.causes}


def test_abandoned_segments_have_the_bytes_that_are_in_no_segment(tmp_path: Path) -> None:
    """All segments of a representation have the same size, so that whole ones can be subtracted."""
    rates = [200, 800, 3000]
    ladder = {
        "segment_duration_ms": 4000,
        "bitrates_kbps": rates,
        "segment_sizes_bits": [[4000 * rate for rate in rates]] * 4,
        "resolutions": ["640x360", "1280x720", "1920x1080"],
        "frame_rate": 24,
    }
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps(ladder))
    steps = [{"at": f"{9 * n}s", "rate": f"{0.5 if n % 2 else 8}Mbit/s"} for n in range(12)]
    video = {"kind": "video", "ladder": str(file), "abr": "throughput", "max_buffer": "12s"}
    changes = {"path.down": {"steps": steps}, "flows.0.workload": video}
    compared = ct.compare("steady-20-68", "cubic", 1, duration="100s", set=changes)
    (text,) = (each.cause_text("video") for each in ExplainedComparison(compared).ccas)
    match = re.search(r"(\d+) segments? w.* abandoned for taking too long: ([\d.]+) (kB|MB)", text)
    assert match is not None
    events = compared.results.tables["events"].to_pandas()
    details = events.set_index("kind")["detail"]
    assert int(match[1]) == float(details["abandoned"])
    wasted = float(match[2]) * {"kB": 1e3, "MB": 1e6}[match[3]]
    whole = details["segment_mbps"].astype(float).sum() * 4e6 / 8
    flows = compared.flows
    # No segment is under way at the end. A slot may have bytes of two segments.
    assert not compared.slots.loc[compared.slots["t_s"] > 99.5, "delivered_bytes"].any()
    rest = flows["bytes"].sum() + flows["discarded_bytes"].sum() - whole
    assert wasted == pytest.approx(rest, abs=8e6 / 8 * 0.1)
    assert wasted > 2e5


def test_a_video_whose_window_random_losses_hold_back_has_the_law() -> None:
    changes = {"path.loss": 0.005, "path.rtt": "100ms", "flows.0.workload": {"kind": "video"}}
    compared = ct.compare("steady-20-68", "cubic", 1, duration="120s", set=changes)
    (each,) = ExplainedComparison(compared).ccas
    text = each.cause_text("random_loss")
    window, rate = re.search(
        r"\(a window of ([\d.]+) segments\) has about ([\d.]+) Mbit/s", text
    ).groups()
    assert float(window) == pytest.approx((1.5 / 0.005) ** 0.5, rel=0.01)
    assert each.goodput_mbps == pytest.approx(float(rate), rel=0.3)


def test_a_stall_has_advice_on_the_buffer() -> None:
    """The link falls to a quarter of what the video plays, while a segment is under way."""
    steps = '{ steps = [{ at = "0s", rate = "20Mbit/s" }, { at = "40s", rate = "500kbit/s" }] }'
    video = {"kind": "video", "abr": "throughput", "abandon": False, "max_buffer": "10s"}
    changes = {"path.down": steps, "flows.0.workload": video}
    compared = ct.compare("steady-20-68", ["cubic"], 1, duration="90s", set=changes)
    explained = ExplainedComparison(compared)
    explained.try_remedies(TrialBudget())
    changed = [change for proposed in explained.remedies for change in proposed.remedy.changes]
    assert "flows.0.workload.max_buffer=20s" in changed


def test_a_video_that_never_stalls_has_no_advice_on_the_buffer() -> None:
    """The link falls below what the video plays, which its full buffer outlasts."""
    steps = '{ steps = [{ at = "0s", rate = "20Mbit/s" }, { at = "40s", rate = "3Mbit/s" }] }'
    video = {"kind": "video", "abr": "throughput", "max_buffer": "30s"}
    changes = {"path.down": steps, "flows.0.workload": video}
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="90s", set=changes))
    assert "video" in {cause.name for each in explained.ccas for cause in each.causes}
    changed = [change for proposed in explained.remedies for change in proposed.remedy.changes]
    assert not any("max_buffer" in change for change in changed), changed


def test_the_drawn_buffer_is_empty_during_a_stall() -> None:
    times_s, levels_s = _buffer_line([0.0, 10.0, 60.0], [30.0, 30.0, 10.0])
    assert times_s == [0.0, 10.0, 10.0, 10.0, 40.0, 60.0, 60.0]
    assert levels_s == [30.0, 20.0, 20.0, 30.0, 0.0, 0.0, 10.0]
