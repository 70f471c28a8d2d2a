"""Scenarios of captures behind a queue discipline (AQM), which drops by the queue of the sender."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path, transfer_row
from celltcp.pcap.estimation.queue_discipline import simulated
from celltcp.pcap.estimation.scenario_files import write_scenario

_PATH: dict[str, Any] = {"path.buffer": "1MB", "duration": "20s"}


def _scenario(folder: Path, cca: str, place: str, changes: dict[str, Any]) -> Path:
    capture = folder / "x.pcap"
    ct.run("steady-20-68", cca, 3, set=_PATH | changes, samples="off", pcap=capture, pcap_at=place)
    analyses = analyse(capture)
    path = simulated(estimate_path(analyses), folder / "trial.toml", analyses, transfer_row(analyses))
    return write_scenario(path, folder / "path.toml")[0]


@pytest.mark.parametrize(
    ("cca", "place"), [("bbr", "server"), ("cubic", "server"), ("reno", "phone"), ("cubic", "phone")]
)
def test_cubic_is_as_fast_behind_the_discipline_of_a_scenario_as_on_the_captured_path(
    tmp_path: Path, cca: str, place: str
) -> None:
    draw = random.Random(f"discipline {cca} {place}")
    changes = {
        "path.queue": draw.choice(["codel", "fq-codel"]),
        "path.rtt": f"{draw.randint(30, 50)}ms",
        "path.down.rate": f"{draw.randint(8, 16)}Mbit/s",
    }
    scenario = _scenario(tmp_path, cca, place, changes)
    assert 'queue = "fq-codel"' in scenario.read_text()
    captured, again = (
        sum(ct.compare(name, ["cubic"], 3, set=each).values("cubic", "goodput_mbps"))
        for name, each in (("steady-20-68", _PATH | changes), (scenario, {}))
    )
    assert again == pytest.approx(captured, rel=0.04)


@pytest.mark.parametrize("cca", ["bbr", "cubic"])
@pytest.mark.parametrize("place", ["server", "phone"])
def test_losses_at_any_length_of_the_queue_are_of_no_discipline(
    tmp_path: Path, cca: str, place: str
) -> None:
    draw = random.Random(f"random {cca} {place}")
    changes = {"path.loss": f"{draw.uniform(0.1, 0.6):.2f}%", "path.rtt": f"{draw.randint(30, 80)}ms"}
    scenario = _scenario(tmp_path, cca, place, changes)
    assert "fq-codel" not in scenario.read_text()


def test_an_upload_has_the_discipline_on_its_uplink(tmp_path: Path) -> None:
    flow = {"flows.0.from": "phone", "flows.0.to": "server", "flows.0.opens": "from"}
    uplink = {"path.up": "10Mbit/s", "path.uplink_buffer": "1MB", "path.rtt": "40ms"}
    changes = {"path.queue": "fq-codel", **uplink, **flow}
    scenario = _scenario(tmp_path, "cubic", "phone", changes)
    assert 'uplink_queue = "fq-codel"' in scenario.read_text()
