"""Simulations of the scenario of a captured path, beside the capture."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.estimate import estimate_path, write_scenario
from celltcp.pcap.rerun import Passage, Rerun
from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED


def _to_scenario(folder: Path, cca: str, place: str, **changes: Any) -> tuple[Path, str]:
    """Returns the scenario of a captured run, and what the command prints."""
    capture, scenario = folder / "x.pcap", folder / "path.toml"
    run: dict[str, Any] = {"duration": "8s", "set": changes, "samples": "off"}
    ct.run("steady-20-68", cca, 1, pcap=capture, pcap_at=place, **run)
    done = CliRunner().invoke(commands, ["pcap", "to-scenario", str(capture), "--out", str(scenario)])
    assert done.exit_code == 0, done.output
    return scenario, done.output


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_that_gives_the_captured_rate_has_no_doubt(
    tmp_path: Path, seed: int, place: str
) -> None:
    draw = random.Random(f"rerun {seed}")
    changes = {"path.rtt": f"{draw.choice([30, 80])}ms", "path.buffer": draw.choice(["1bdp", "2bdp"])}
    _, printed = _to_scenario(tmp_path, "cubic", place, **changes)
    lines = {line.split()[0]: line for line in printed.splitlines()}
    assert "Mbit/s" in lines["capture"]
    assert "with cubic" in lines["simulated"]
    assert OTHER_THAN_CAPTURED not in printed


def test_a_path_with_another_rate_warns_in_each_comparison(tmp_path: Path) -> None:
    _to_scenario(tmp_path, "cubic", "server")
    other = Rerun("cubic", True, Passage(20.0, 80.0, 0.0), Passage(2.0, 80.0, 0.0))
    path = replace(estimate_path(analyse(tmp_path / "x.pcap")), rerun=other)
    scenario, _ = write_scenario(path, tmp_path / "other.toml")
    result = ct.compare(scenario, ["cubic"], 1)
    assert any(OTHER_THAN_CAPTURED in text for text in result.warnings)
    # Another capacity is another path.
    result = ct.compare(scenario, ["cubic"], 1, set={"path.down": "10Mbit/s"})
    assert not any(OTHER_THAN_CAPTURED in text for text in result.warnings)


@pytest.mark.parametrize(
    ("simulated", "differs"),
    [
        (Passage(10.0, 50.0, 0.001), False),
        (Passage(9.0, 55.0, 0.009), False),
        (Passage(7.0, 50.0, 0.001), True),
        (Passage(10.0, 80.0, 0.001), True),
        (Passage(10.0, 50.0, 0.05), True),
        (Passage(10.0, math.nan, 0.001), False),
    ],
)
def test_goodput_rtt_and_losses_are_compared(simulated: Passage, differs: bool) -> None:
    again = Rerun("cubic", False, Passage(10.0, 50.0, 0.001), simulated)
    assert again.differs == differs
    assert (OTHER_THAN_CAPTURED in again.sentence) == differs
