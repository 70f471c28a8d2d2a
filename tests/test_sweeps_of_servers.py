"""Sweeps of a server's settings over networks, which whoever sets the server does not choose."""

from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sweep.best_values import conditions_among
from workloads import FILES


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> ct.Sweep:
    folder: Path = tmp_path_factory.mktemp("sweep")
    axes = {"path.buffer": ["60packets", "150packets"], "tcp.initial_window": ["10", "20", "40"]}
    return ct.sweep(FILES, axes, ["cubic", "reno"], 3, out=folder / "s")


@pytest.mark.parametrize(
    ("fields", "conditions"),
    [
        (["path.buffer", "tcp.initial_window"], {"path.buffer"}),
        (["path.queue", "flows.0.max_pacing_rate"], {"path.queue"}),
        (["path.buffer"], set()),
        (["path.buffer", "path.queue"], set()),
        (["path.rtt", "path.buffer"], {"path.rtt"}),
    ],
)
def test_a_buffer_of_the_network_is_a_condition_of_settings_of_hosts(
    fields: list[str], conditions: set[str]
) -> None:
    assert conditions_among(fields) == conditions


def test_a_first_window_is_advised_with_the_buffer_that_it_needs(swept: ct.Sweep) -> None:
    """CUBIC loses a burst of 40 segments, twice as many in flight after an RTT, at 60 packets only."""
    advice = {}
    for text in swept.field_changes:
        where, found, change = text.partition(": tcp.initial_window=")
        if found:
            advice[where] = change.split()[0]
    assert advice == {"path.buffer=60packets": "20", "path.buffer=150packets": "40"}
    assert not any("path.buffer=" in text and " instead of 60" in text for text in swept.field_changes)


def test_no_buffer_is_the_best_one_of_a_server(swept: ct.Sweep) -> None:
    part = sweep_part(swept)
    assert not any(finding.question.startswith("Best path.buffer") for finding in part.findings)
    assert part.answer.startswith("For files (completion time), set cubic;")
