"""Policers in captures: the token bucket that explains the losses, and scenarios with it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.scenarios.lower_bounds import MAYBE_POLICED

#: Payload of a full segment over its length at the IP layer.
_PAYLOAD = 1448 / 1500


def _captured(
    folder: Path, seed: int, cca: str = "cubic", place: str = "server", **changes: Any
) -> CaptureAnalyses:
    """Returns the analysis of a capture."""
    file = folder / "x.pcap"
    ct.run("steady-20-68", cca, seed, "30s", set=changes, samples="off", pcap=file, pcap_at=place)
    return analyse(file)


@pytest.mark.parametrize("seed", range(4))
def test_small_buckets_have_their_rate_and_burst(seed: int, tmp_path: Path) -> None:
    """A window that a small bucket keeps small never shows the rate as a mean."""
    draw = random.Random(f"bucket {seed}")
    rate, burst_kb = draw.choice([4, 8, 12]), draw.choice([12, 20, 40])
    changes = {
        "path.rtt": f"{draw.choice([30, 50, 80])}ms",
        "path.down.rate": "50Mbit/s",
        "path.buffer": "3bdp",
        "path.policer": {"rate": f"{rate}Mbit/s", "burst": f"{burst_kb}kB"},
    }
    analyses = _captured(tmp_path, seed, **changes)
    (row,) = analyses.connections.to_dict("records")
    assert row["policer_mbps"] == pytest.approx(rate * _PAYLOAD, rel=0.05)
    assert row["policer_burst_bytes"] == pytest.approx(1e3 * burst_kb * _PAYLOAD, rel=0.15)
    assert "a policer on the path limits the rate to" in row["diagnosis"]
    assert row["throughput_mbps"] < 1.01 * row["policer_mbps"]


@pytest.mark.parametrize("cca", ["bbr", "cubic"])
@pytest.mark.parametrize("seed", range(2))
def test_what_arrives_behind_a_bucket_shows_it(cca: str, seed: int, tmp_path: Path) -> None:
    """Lost segments came between their neighbours; the burst is within a few segments of them."""
    draw = random.Random(f"arrivals {seed}")
    rate, burst_kb = draw.choice([2, 4, 8]), draw.choice([40, 80])
    changes = {
        "path.rtt": f"{draw.choice([50, 100])}ms",
        "path.down.rate": f"{draw.choice([20, 50])}Mbit/s",
        "path.policer": {"rate": f"{rate}Mbit/s", "burst": f"{burst_kb}kB"},
    }
    analyses = _captured(tmp_path, seed, cca, "phone", **changes)
    (row,) = analyses.connections.to_dict("records")
    assert row["policer_mbps"] == pytest.approx(rate * _PAYLOAD, rel=0.05)
    assert row["policer_burst_bytes"] == pytest.approx(1e3 * burst_kb * _PAYLOAD, abs=8 * 1448)
    path = estimate_path(analyses)
    assert path.policing is not None
    assert path.random_loss == 0


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_queues_and_random_losses_are_no_bucket(seed: int, place: str, tmp_path: Path) -> None:
    """A full queue drops what a bucket would, but delays the rest."""
    draw = random.Random(f"no bucket {seed}")
    changes: dict[str, Any] = {"path.rtt": "50ms", "path.down.rate": f"{draw.choice([5, 20])}Mbit/s"}
    for case in ({"path.buffer": "20packets"}, {"path.loss": 0.01, "path.buffer": "3bdp"}):
        (tmp_path / "x.pcap").unlink(missing_ok=True)
        analyses = _captured(tmp_path, seed, "cubic", place, **changes, **case)
        (row,) = analyses.connections.to_dict("records")
        assert row["losses"] >= 20
        assert not row["policer_mbps"] > 0, row["diagnosis"]


@pytest.mark.parametrize("seed", [3, 8])
def test_a_shallow_buffer_of_a_stream_with_key_frames_is_no_bucket_of_seconds(
    seed: int, tmp_path: Path
) -> None:
    """A queue of four packets has no burst: one of 350 kB would take 5 s of a link of 3 Mbit/s."""
    beside = [{"size": "75kB", "interval": "1s"}]
    frames = {"kind": "frames", "size": "9.0kB", "interval": "40ms", "beside": beside}
    path = {"path.rtt": "100ms", "path.down.rate": "3Mbit/s", "path.buffer": "4packets"}
    options: dict[str, Any] = {"set": {**path, "flows.0.workload": frames}, "pcap_at": "phone"}
    ct.run("steady-20-68", "cubic", seed, "25s", samples="off", pcap=tmp_path / "x.pcap", **options)
    (text,) = analyse(tmp_path / "x.pcap").connections["diagnosis"]
    assert "a policer on the path" not in text


def test_streams_with_key_frames_behind_a_policer_keep_both_in_their_scenario(tmp_path: Path) -> None:
    """Key frames are the bursts that the bucket drops: a mean size would pass."""
    changes = {
        "path.rtt": "50ms",
        "path.down.rate": "50Mbit/s",
        "path.policer": {"rate": "7Mbit/s", "burst": "70kB"},
        "flows.0.workload": {
            "kind": "frames",
            "size": "15kB",
            "interval": "33ms",
            "beside": [{"size": "100kB", "interval": "1s"}],
        },
    }
    analyses = _captured(tmp_path, 2, **changes)
    (row,) = analyses.connections.to_dict("records")
    assert row["policer_mbps"] == pytest.approx(7 * _PAYLOAD, rel=0.05)
    path = estimate_path(analyses)
    assert path.mean_mbps == pytest.approx(50, rel=0.03)
    assert 'beside = [{ size = "' in path.endpoints
    text = path.endpoints.split("beside = ")[1]
    size, interval = (float(text.split(f'{name} = "')[1].split(unit)[0]) for name, unit in _FIELDS)
    assert size == pytest.approx(100e3, rel=0.1)
    assert interval == pytest.approx(1000, rel=0.05)


#: Fields of a large message in a scenario, with their units.
_FIELDS = (("size", "B"), ("interval", "ms"))


@pytest.mark.parametrize("place", ["server", "phone"])
def test_the_capacity_of_a_stream_is_that_of_the_link(place: str, tmp_path: Path) -> None:
    """The queue of each frame is no full link, whose rate would be that of the application."""
    changes = {
        "path.rtt": "30ms",
        "path.down.rate": "12Mbit/s",
        "flows.0.workload": {"kind": "frames", "size": "20kB", "interval": "50ms"},
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", 1, "20s", set=changes, samples="off", pcap=file, pcap_at=place)
    path = estimate_path(analyse(file))
    assert path.mean_mbps == pytest.approx(12, rel=0.03)
    assert "by the gaps in" in path.capacity_note
    assert "at least" not in path.description


@pytest.mark.parametrize("loss", [0.0, 0.004])
def test_losses_too_few_to_show_a_bucket_leave_the_best_cca_in_doubt(
    tmp_path: Path, loss: float
) -> None:
    """As random losses, those of a policer let BBR have the link: three times its rate."""
    policer = {"path.policer": {"rate": "8.88Mbit/s", "burst": "30kB"}} if not loss else {}
    size = {"kind": "lognormal", "median": "29811B", "sigma": 0.3}
    stream = {"flows.0.workload": {"kind": "frames", "size": size, "interval": "33ms"}}
    changes = {"path.rtt": "63ms", "path.down.rate": "27Mbit/s", "path.loss": loss, **policer}
    place = "server" if loss else "phone"
    file, changes = tmp_path / "x.pcap", changes | ({} if loss else stream)
    ct.run("steady-20-68", "reno", 14, "10s", set=changes, samples="off", pcap=file, pcap_at=place)
    path = estimate_path(analyse(file))
    assert path.random_loss
    assert path.policing is None
    assert (MAYBE_POLICED in path.description) != bool(loss)
