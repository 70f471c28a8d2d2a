"""Explanations of paths from captures whose sender had a limit, and of windows that still grow."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.pcap import analyse
from celltcp.pcap.estimate import estimate_path, write_scenario
from celltcp.scenarios.lower_bounds import SENDER_LIMIT


@pytest.mark.parametrize("seed", [1, 2])
def test_the_window_that_stands_for_the_limit_of_a_sender_is_not_called_the_receivers(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    limit = f"{draw.choice([100, 200])}kB"
    captured = tmp_path / "run.pcap"
    ct.run(
        "steady-100-68",
        "cubic",
        duration="8s",
        samples="off",
        set={"tcp.send_buffer_max": limit, "flows.0.workload": {"kind": "bulk", "bytes": "8MB"}},
        pcap=captured,
    )
    file, _ = write_scenario(estimate_path(analyse(captured), 0), tmp_path / "path.toml")
    assert SENDER_LIMIT in Path(file).read_text()
    result = ct.compare(str(file), ["cubic", "bbr"], 1)
    assert any("stands for the limit of the sender" in text for text in result.warnings)
    explained = ExplainedComparison(result)
    for each in explained.ccas:
        names = {cause.name for cause in each.causes}
        assert "captured_limit" in names
        assert "receive_window" not in names
    # No setting of the receiver helps, and no congestion control is set.
    assert not any("receive_" in remedy.options for remedy in explained.remedies)
    assert not explained.settings
    assert any("limit of its own" in note for note in explained.notes)
