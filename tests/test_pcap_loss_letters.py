"""Losses in the table of connections, which say the same as the sentences below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.next_steps import next_steps

#: CCA, place, changes of steady-20-68, letter of nearly all losses, and words of the sentence.
CASES: dict[str, tuple[str, str, dict[str, Any], str, str]] = {
    "a full queue": ("cubic", "server", {"path.buffer": "1bdp"}, "c", "a full queue on the path"),
    "a policer": (
        "reno",
        "server",
        {"path.policer": {"rate": "5Mbit/s", "burst": "30kB"}, "path.rtt": "30ms"},
        "p",
        "a policer on the path",
    ),
    "random losses": ("reno", "server", {"path.loss": "0.5%", "path.rtt": "30ms"}, "r", "at random"),
    "an overflow of a shallow buffer": (
        "reno",
        "phone",
        {"path.buffer": "0.2bdp", "path.rtt": "100ms", "path.down.rate": "40Mbit/s"},
        "?",
        "either a buffer that overflowed, a queue discipline (AQM), or a policer",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_table_has_the_kind_of_the_sentence(name: str, tmp_path: Path) -> None:
    cca, place, changes, letter, words = CASES[name]
    capture = tmp_path / "x.pcap"
    run: dict[str, Any] = {"set": changes, "samples": "off", "pcap_at": place}
    ct.run("steady-20-68", cca, 1, "10s", pcap=capture, **run)
    printed = CliRunner().invoke(commands, ["pcap", "analyze", str(capture)]).output
    assert words in printed
    (heading,) = (line for line in printed.splitlines() if line.startswith("losses: "))
    assert f" {letter} " in heading
    others = {"c", "r", "p", "?"} - {letter}
    # Few losses at the end of a flight, or of another kind, stand beside those of the sentence.
    row = next(line.split() for line in printed.splitlines() if line.split()[:1] == ["0"])
    counts = {each[-1]: int(each[:-1]) for each in row if each[:-1].isdigit() and each[-1] in "crpot?"}
    assert counts[letter] > 4 * sum(counts.get(other, 0) for other in others), counts


@pytest.mark.parametrize("percent", [0.1, 0.3, 1])
@pytest.mark.parametrize("seed", range(2))
def test_random_losses_at_the_lowest_rtts_of_an_empty_path_are_none_of_a_queue(
    seed: int, percent: float, tmp_path: Path
) -> None:
    """The window never fills the path: a delay of some packets, though the longest, is no queue."""
    capture = tmp_path / "x.pcap"
    changes = {
        "path.loss": f"{percent}%",
        "path.rtt": "35ms",
        "path.buffer": "500packets",
        "path.down.rate": "60Mbit/s",
    }
    run: dict[str, Any] = {"set": changes, "samples": "off", "pcap_at": "server"}
    ct.run("steady-20-68", "cubic", seed, "20s", pcap=capture, **run)
    analyses = analyse(capture)
    (row,) = analyses.connections.to_dict("records")
    assert "at random" in row["diagnosis"]
    lost = analyses.losses
    # Slow start may overshoot before the first loss.
    near = lost[(lost["t_s"] > 1) & (lost["rtt_ms"] < 1.05 * row["far_rtt_min_ms"] + 1)]
    assert len(near) >= 5
    assert not (near["kind"] == "congestion").any()
    steps = "; ".join(next_steps(analyses))
    assert f"against {row['losses_random']} random losses; BBR" in steps
