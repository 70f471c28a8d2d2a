"""Video sessions: what compare says of them, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest

import celltcp as ct
from celltcp.report.sweep import sweep_part

VIDEO = {"flows.0.workload": "{ kind = 'video', abr = 'throughput' }"}
FIGURES = {"qoe", "startup_s", "stalls", "stalled_s", "bitrate_mbps", "switches"}


def test_runs_have_the_figures_of_the_viewer_and_qoe_is_a_requirement() -> None:
    found = ct.compare("steady-20-68", "cubic,bbr", 1, duration="30s", set=VIDEO)
    document = found.to_json()
    for run in document["runs"]:
        assert set(run) >= FIGURES
        assert 1 < run["qoe"] < 5
        assert (run["stalls"], run["stalled_s"]) == (0, 0)
        assert 0.1 < run["startup_s"] < 1
        assert 2 < run["bitrate_mbps"] <= 6
    assert set(document["recommendation"]) == {"goodput", "balanced", "delay", "qoe"}
    assert set(document["recommendation"]["qoe"]) <= {"cubic", "bbr"}
    assert all("qoe" in row for row in document["summary"])
    json.dumps(document)


def test_a_slow_link_stalls_and_runs_without_video_have_no_figures() -> None:
    slow = {**VIDEO, "path.down": "'300kbit/s'"}
    run = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=slow).to_json()["runs"][0]
    assert run["qoe"] < 3
    assert run["bitrate_mbps"] < 0.5
    plain = ct.compare("steady-20-68", "cubic", 1, duration="2s").to_json()
    assert not FIGURES & set(plain["runs"][0])
    assert "qoe" not in plain["recommendation"]


@pytest.mark.parametrize(
    ("workload", "part"),
    [
        ("{ kind = 'video', ladder = '8k' }", "allowed: bbb, 1080p, 4k"),
        ("{ kind = 'video', abr = 'mpc' }", "robust-mpc"),
        (
            "{ kind = 'video', ladder = '4k', max_buffer = '3s', startup = '1s' }",
            "max_buffer: 3s is out of range; allowed: 4s, the duration of a segment, or more",
        ),
        ("{ kind = 'video', screen = { width = 0 } }", "screen.width: 0 is out of range"),
    ],
)
def test_wrong_settings_are_refused(workload: str, part: str) -> None:
    with pytest.raises(ct.CelltcpError, match=re.escape(part)):
        ct.compare("steady-20-68", "cubic", 1, duration="1s", set={"flows.0.workload": workload})


@pytest.mark.parametrize(
    ("vary", "ranks"),
    [("flows.0.workload.abr=bola,bba-2", True), ("flows.0.workload=bulk,video", False)],
)
def test_a_report_ranks_by_qoe_where_every_value_of_a_sweep_has_video(vary: str, ranks: bool) -> None:
    video = {"flows.0.workload.kind": "video"} if ranks else {}
    swept = ct.sweep("steady-20-68", vary, cca="cubic,bbr", runs=1, duration="15s", set=video)
    best = next(part for part in sweep_part(swept).sections if part.title == "Best at each value")
    assert best.table is not None
    headings = [column.heading for column in best.table.columns]
    assert ("best for qoe" in headings) == ranks
