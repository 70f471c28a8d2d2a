"""Policers in the scenario of a captured path, in place of random losses."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp._core import in_unit
from celltcp.cli import celltcp as commands
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.pcap.next_steps import next_steps


def _captured(
    file: Path, cca: str, place: str, changes: dict[str, Any], duration: str = "12s"
) -> ct.Comparison:
    """Returns the run of a capture behind a policer."""
    ct.run("steady-20-68", cca, 1, duration, set=changes, samples="off", pcap=file, pcap_at=place)
    return ct.compare("steady-20-68", [cca], 1, duration=duration, set=changes)


def _policed(draw: random.Random) -> tuple[float, float, dict[str, Any]]:
    """Returns rate, Mbit/s, burst, bytes, and changes of a path with a policer."""
    rate, burst = draw.choice([10, 20, 30]), draw.choice([100_000, 500_000, 2_000_000])
    changes = {
        "path.down.rate": f"{rate * draw.choice([2, 3])}Mbit/s",
        "path.rtt": f"{draw.choice([15, 30])}ms",
        "path.buffer": "2bdp",
        "path.policer": {"rate": f"{rate}Mbit/s", "burst": f"{burst}B"},
    }
    return rate, burst, changes


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
@pytest.mark.parametrize("seed", range(3))
def test_a_policer_stays_in_the_scenario(cca: str, seed: int, tmp_path: Path) -> None:
    rate, burst, changes = _policed(random.Random(f"policer {seed}"))
    file = tmp_path / "x.pcap"
    run = _captured(file, cca, "server", changes)
    analyses = analyse(file)
    if "a policer on the path limits" not in analyses.connections["diagnosis"].iloc[0]:
        pytest.skip("the capture does not show it")
    scenario, _ = write_scenario(estimate_path(analyses), tmp_path / "path.toml")
    path = tomllib.loads(scenario.read_text())["path"]
    assert in_unit(path["policer"]["rate"], "Mbit/s") == pytest.approx(rate, rel=0.05)
    assert in_unit(path["policer"]["burst"], "B") == pytest.approx(burst, rel=0.4)
    assert path["loss"] == 0
    again = ct.compare(scenario, [cca], 1)
    goodputs = [each.values(cca, "goodput_mbps")[0] for each in (run, again)]
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.12)


@pytest.mark.parametrize("seed", range(4))
def test_a_slow_policer_on_a_short_path_is_named(seed: int, tmp_path: Path) -> None:
    """Ten segments take longer to pass than a round trip, so that no step is within an episode."""
    draw = random.Random(f"slow policer {seed}")
    rate = draw.uniform(2, 5)
    changes = {
        "path.down.rate": "50Mbit/s",
        "path.rtt": f"{draw.uniform(8, 24):.0f}ms",
        "path.buffer": "2bdp",
        "path.policer": {"rate": f"{rate:.2f}Mbit/s", "burst": f"{draw.choice([100, 900])}kB"},
    }
    _captured(tmp_path / "x.pcap", draw.choice(["cubic", "reno"]), "server", changes)
    analyses = analyse(tmp_path / "x.pcap")
    sentence = analyses.connections["diagnosis"].iloc[0]
    assert sentence.startswith("a policer on the path limits the rate to ")
    assert float(sentence.split()[9]) == pytest.approx(rate * 1448 / 1500, rel=0.03)
    assert "SO_MAX_PACING_RATE" in next_steps(analyses)[-1]


@pytest.mark.parametrize("seed", range(4))
def test_bursts_that_overflow_the_short_queue_of_the_link_are_no_policer(
    seed: int, tmp_path: Path
) -> None:
    """A bucket of a lower rate explains the drops of a few bursts, but so does the link's own queue."""
    draw = random.Random(f"bursts {seed}")
    rate, rtt_ms = draw.choice([200, 500, 1000]), draw.choice([40, 60])
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.buffer": f"{draw.uniform(0.01, 0.04):.3f}bdp",
        "path.wired": [{"name": "nic", "rate": "10Gbit/s"}],
        "tcp.receive_buffer_max": "64MB",
        "tcp.send_buffer_max": "64MB",
        "tcp.tso": 44,
    }
    cca = draw.choice(["reno", "cubic"])
    ct.run("steady-20-68", cca, 1, "6s", set=changes, samples="off", pcap=tmp_path / "x.pcap")
    row = analyse(tmp_path / "x.pcap").connections.iloc[0]
    assert row["losses_congestion"] + row["losses_random"] + row["losses_tail"] >= 20
    assert not row["policer_mbps"] > 0
    assert "a policer on the path limits" not in row["diagnosis"]


@pytest.mark.parametrize("seed", range(4))
def test_bursts_of_errors_under_a_constant_rate_are_no_policer(seed: int, tmp_path: Path) -> None:
    draw = random.Random(f"constant rate {seed}")
    good, bad = f"{draw.uniform(150, 900):.0f}ms", f"{draw.uniform(5, 30):.0f}ms"
    rate = f"{draw.uniform(2, 7):.1f}Mbit/s"
    changes: dict[str, Any] = {
        "path.down.rate": "50Mbit/s",
        "path.rtt": f"{draw.uniform(8, 24):.0f}ms",
        "path.loss": {"kind": "gilbert-elliott-time", "good": good, "bad": bad},
        "flows.0.workload": {"kind": "on-off", "rate": rate, "on": "100s", "off": "1s"},
    }
    _captured(tmp_path / "x.pcap", "cubic", "server", changes)
    assert "a policer on the path" not in analyse(tmp_path / "x.pcap").connections["diagnosis"].iloc[0]


@pytest.mark.parametrize(
    ("rate", "link", "rtt_ms", "burst"),
    [(20, 100, 40, 64_000), (80, 100, 40, 250_000), (3, 50, 24, 886_000), (10, 50, 60, 53_000)],
)
def test_bursts_shorter_than_an_interval_and_long_rates_below_it_are_in_the_scenario(
    rate: float, link: float, rtt_ms: float, burst: int, tmp_path: Path
) -> None:
    changes = {
        "path.down.rate": f"{link}Mbit/s",
        "path.rtt": f"{rtt_ms}ms",
        "path.buffer": "2bdp",
        "path.policer": {"rate": f"{rate}Mbit/s", "burst": f"{burst}B"},
    }
    file = tmp_path / "x.pcap"
    run = _captured(file, "cubic", "server", changes, "30s")
    scenario, _ = write_scenario(estimate_path(analyse(file)), tmp_path / "path.toml")
    found = tomllib.loads(scenario.read_text())["path"]["policer"]
    assert in_unit(found["rate"], "Mbit/s") == pytest.approx(rate, rel=0.05)
    assert in_unit(found["burst"], "B") == pytest.approx(burst, rel=0.3)
    again = ct.compare(scenario, ["cubic"], 1)
    goodputs = [each.values("cubic", "goodput_mbps")[0] for each in (run, again)]
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.12)


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
@pytest.mark.parametrize("seed", range(3))
def test_an_application_of_a_constant_rate_beside_bursts_of_losses_has_no_policer(
    seed: int, cca: str, tmp_path: Path
) -> None:
    draw = random.Random(f"constant rate {seed}")
    rate = draw.choice([10, 40])
    changes = {
        "path.down.rate": f"{2 * rate}Mbit/s",
        "path.rtt": f"{draw.choice([15, 30])}ms",
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.001, "to_good": 0.2},
        "flows.0.workload": {"kind": "on-off", "rate": f"{rate}Mbit/s", "on": "100s", "off": "1s"},
    }
    _captured(tmp_path / "x.pcap", cca, "server", changes)
    assert estimate_path(analyse(tmp_path / "x.pcap")).policing is None


def test_what_a_policer_may_have_dropped_is_not_called_random_in_a_next_step(tmp_path: Path) -> None:
    _, _, changes = _policed(random.Random("policer at a receiver"))
    file = tmp_path / "x.pcap"
    _captured(file, "bbr", "phone", changes)
    done = CliRunner().invoke(commands, ["pcap", "analyze", str(file)])
    assert "a policer" in done.stdout
    assert "random losses" not in done.stdout


@pytest.mark.parametrize("seed", range(4))
def test_a_policer_shows_beside_the_receiver_and_other_bursts_do_not(seed: int, tmp_path: Path) -> None:
    """One rate passes from each burst of losses to the next, at the RTT of an empty path."""
    draw = random.Random(f"beside the receiver {seed}")
    rtt = f"{draw.choice([42, 60])}ms"
    # A sender that stays below the rate for long hides others.
    policed = {"path.policer": {"rate": "11Mbit/s", "burst": "90kB"}, "path.rtt": "42ms"}
    errors = {"kind": "gilbert-elliott-time", "good": f"{draw.choice([500, 900])}ms", "bad": "5ms"}
    others: list[dict[str, Any]] = [
        {"path.loss": errors},
        {"path.buffer": f"{draw.choice([10, 20])}packets"},
    ]
    for number, cause in enumerate([policed, *others]):
        file = tmp_path / f"{number}.pcap"
        changes = {"path.rtt": rtt, "path.down.rate": "60Mbit/s", **cause}
        run = {"set": changes, "samples": "off", "pcap": file, "pcap_at": "phone"}
        ct.run("steady-20-68", "cubic", 1, "25s", **run)
        analyses = analyse(file)
        found = re.search(
            r"most likely a policer on the path limits the rate to ([\d.]+) Mbit/s",
            str(analyses.connections["diagnosis"][0]),
        )
        assert bool(found) == ("path.policer" in cause)
        if found:
            assert float(found[1]) == pytest.approx(0.965 * 11, rel=0.1)
            write_scenario(estimate_path(analyses, 0), tmp_path / "path.toml")
            assert "policer = {" in (tmp_path / "path.toml").read_text()


@pytest.mark.parametrize(("rate", "rtt_ms", "burst"), [(21.91, 40, 100), (10.92, 20, 100)])
def test_windows_below_the_rate_of_a_policer_do_not_hide_it(
    rate: float, rtt_ms: int, burst: int, tmp_path: Path
) -> None:
    """Reno halves its window, so that less than the rate passes between two bursts of losses."""
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": "40Mbit/s",
        "path.buffer": "1.5bdp",
        "path.policer": {"rate": f"{rate}Mbit/s", "burst": f"{burst}kB"},
    }
    file = tmp_path / "x.pcap"
    run: dict[str, Any] = {"set": changes, "samples": "off", "pcap": file, "pcap_at": "phone"}
    ct.run("steady-20-68", "reno", 5, "30s", **run)
    text = str(analyse(file).connections["diagnosis"][0])
    (found,) = re.findall(r"a policer on the path limits the rate to ([\d.]+) Mbit/s", text)
    # Of a packet of 1500 bytes, 1448 are payload.
    assert float(found) == pytest.approx(rate * 1448 / 1500, rel=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_a_queue_discipline_is_no_policer_at_the_rate_of_its_link(seed: int, tmp_path: Path) -> None:
    """PIE drops at any length of its queue, at which always the rate of the link passes."""
    draw = random.Random(f"pie {seed}")
    changes = {
        "path.rtt": f"{draw.choice([60, 80])}ms",
        "path.down.rate": f"{draw.choice([10, 20])}Mbit/s",
        "path.buffer": "10bdp",
        "path.queue": "pie",
    }
    file = tmp_path / "x.pcap"
    run: dict[str, Any] = {"set": changes, "samples": "off", "pcap": file}
    ct.run("steady-20-68", "reno", 1, "30s", **run)
    assert "a policer on the path" not in str(analyse(file).connections["diagnosis"][0])
