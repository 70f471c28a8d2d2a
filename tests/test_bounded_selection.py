"""Selection for requirements with a bound: what a selector reaches where one CCA for all fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from celltcp import compare

#: The buffer holds 0.9 s.
DEEP = """
name = "deep"
duration = "30s"
[path]
rtt = "{rtt_ms}ms"
buffer = "750packets"
down = {{ rate = "10Mbit/s" }}
[[flows]]
cca = "cubic"
"""


def _reached(tmp_path: Path, rtt_ms: int, requirement: str) -> dict[str, float]:
    """Returns the measure of the requirement by CCA."""
    file = tmp_path / "deep.toml"
    file.write_text(DEEP.format(rtt_ms=rtt_ms), encoding="utf-8")
    result = compare(file, ["cubic", "bbr", f"auto:requirement={requirement}"], runs=1)
    measures = result.runs.set_index("cca")[requirement]
    return {"auto" if "auto" in str(cca) else str(cca): float(each) for cca, each in measures.items()}


@pytest.mark.parametrize("rtt_ms", [30, 80])
def test_goodput_stays_within_a_bound_that_a_full_buffer_exceeds(tmp_path: Path, rtt_ms: int) -> None:
    reached = _reached(tmp_path, rtt_ms, f"goodput@{3 * rtt_ms}ms")
    assert reached["auto"] > 0.75 * 10
    assert reached["auto"] > 3 * reached["cubic"]


def test_a_bound_below_the_lowest_rtt_leaves_nothing_to_choose(tmp_path: Path) -> None:
    assert set(_reached(tmp_path, 80, "goodput@60ms").values()) == {0.0}


@pytest.mark.parametrize("rate", ["1Mbps", "8Mbps"])
def test_delay_is_kept_above_a_rate(tmp_path: Path, rate: str) -> None:
    reached = _reached(tmp_path, 40, f"delay@{rate}")
    assert reached["auto"] > 2 * reached["cubic"]
    assert reached["auto"] > 0.6


def test_power_is_that_of_a_path_used_without_a_queue(tmp_path: Path) -> None:
    reached = _reached(tmp_path, 40, "power")
    assert reached["auto"] > 0.75 * 10 / 0.04**0.5
    assert reached["auto"] > 2 * reached["cubic"]
