"""Shares of a sender's time by limit in captures, beside those that the run itself reports."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario

#: Fields of the scenario by the limit that they make, and the limits of the run that are the same.
_SCENARIOS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "receive_window": ({"tcp.receive_window_max": "60kB"}, ("receive_window",)),
    "network": (
        {"path.buffer": "4bdp"},
        ("congestion_window", "pacing", "startup", "send_buffer", "in_flight"),
    ),
    "in_flight": (
        {"flows.0.workload": {"kind": "frames", "size": "600B", "interval": "33ms"}},
        ("in_flight",),
    ),
    "idle": (
        {
            "flows.0.workload": {"kind": "frames", "size": "60kB", "interval": "250ms"},
            "flows.0.opens": "from",
        },
        ("idle",),
    ),
    "wait": (
        {"path.blackouts": [{"at": "3s", "duration": "2s"}, {"at": "7s", "duration": "1s"}]},
        ("timeout", "outage"),
    ),
}


@pytest.mark.parametrize("limit", _SCENARIOS)
def test_a_capture_at_the_sender_shows_what_limited_it(limit: str, tmp_path: Path) -> None:
    changes, own = _SCENARIOS[limit]
    result = ct.run(
        "steady-20-68",
        "cubic",
        duration="10s",
        samples="off",
        set={"variation.start_jitter": "0s", **changes},
        pcap=tmp_path / "run.pcap",
    )
    times = result.results.tables["limits"].to_pylist()[0]
    whole = sum(value for name, value in times.items() if name.endswith("_s"))
    expected = sum(times[f"{name}_s"] for name in own) / whole
    row = analyse(tmp_path / "run.pcap").connections.iloc[0]
    assert row["place"] == "sender"
    names = ("idle", "receive_window", "recovery", "wait", "in_flight", "network")
    shares = {name: float(row[f"limit_{name}"]) for name in names}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert max(shares, key=shares.__getitem__) == limit or limit == "wait", shares
    # A capture sees a silence as a wait only beyond 200 ms or two RTTs.
    assert shares[limit] == pytest.approx(expected, abs=0.1), (shares, times)
    assert expected > 0.2


def test_elsewhere_a_capture_does_not_show_it(tmp_path: Path) -> None:
    ct.run(
        "steady-20-68",
        "cubic",
        duration="3s",
        samples="off",
        pcap=tmp_path / "run.pcap",
        pcap_at="phone",
    )
    row = analyse(tmp_path / "run.pcap").connections.iloc[0]
    assert row["place"] == "receiver"
    assert row.filter(like="limit_").isna().all()


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("window", [32, 64, 96])
def test_the_scenario_of_a_capture_has_the_window_that_limits_it(
    window: int, place: str, tmp_path: Path
) -> None:
    """Also beside the receiver, where the window is not seen full: it is that in the segments."""
    file = tmp_path / "x.pcap"
    changes = {
        "path.rtt": "120ms",
        "path.down.rate": "50Mbit/s",
        "tcp.receive_window_max": f"{window}KiB",
    }
    ct.run("steady-20-68", "cubic", 1, "12s", set=changes, samples="off", pcap=file, pcap_at=place)
    scenario, _ = write_scenario(estimate_path(analyse(file)), tmp_path / "path.toml")
    written = tomllib.loads(scenario.read_text())["tcp"]["receive_window_max"]
    assert float(written.removesuffix("B")) == pytest.approx(1024 * window, rel=0.02)


@pytest.mark.parametrize(("loss", "is_first"), [(0.02, False), (0.003, True)])
def test_the_headline_is_the_limit_of_most_of_the_time(
    loss: float, is_first: bool, tmp_path: Path
) -> None:
    """Reno's window reaches ten segments each 100 ms, and at 2 % loss is smaller most of the time."""
    changes = {
        "path.rtt": "5ms",
        "path.down.rate": "50Mbit/s",
        "path.loss": loss,
        "tcp.receive_window_max": "14600B",
    }
    file = tmp_path / "x.pcap"
    result = ct.run("steady-20-68", "reno", 10, "12s", set=changes, samples="off", pcap=file)
    times = result.results.tables["limits"].to_pylist()[0]
    assert (times["receive_window_s"] > times["congestion_window_s"]) == is_first
    (text,) = analyse(file).connections["diagnosis"]
    assert text.startswith("the receive window of the client") == is_first
    assert "receive window of the client" in text
    assert "beside that, " in text
