"""Scenarios of transfers that share a path: each has the others as flows with their rates."""

from __future__ import annotations

import random
import statistics
import tomllib
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path, transfer_row
from celltcp.pcap.estimation.rerun import rerun
from celltcp.pcap.estimation.scenario_files import write_scenario


def _scenario(
    folder: Path, path: str, flows: str, *, number: int, at: str = "server"
) -> dict[str, Any]:
    """Returns the scenario of a connection of a captured run of 20 s, as TOML, with `goodputs` by name.

    These are pairs: captured, and the mean of its simulations.
    """
    capture, truth, written = (folder / name for name in ("x.pcap", "truth.toml", "path.toml"))
    truth.write_text(f'duration = "20s"\n[path]\n{path}\n{flows}')
    ct.run(truth, seed=1, pcap=capture, pcap_at=at, samples="off")
    analyses = analyse(capture)
    estimate = estimate_path(analyses, number)
    write_scenario(estimate, written)
    row = transfer_row(analyses, number)
    again = rerun(written, estimate.duration_s, estimate.mean_mbps, analyses, row)
    write_scenario(type(estimate)(**{**vars(estimate), "rerun": again}), written)
    flows_of_runs = ct.compare(written, ["own"], 3).flows
    goodputs = {}
    for own in analyses.connections.to_dict("records"):
        name = f"connection-{own['connection']}"
        rates = flows_of_runs.loc[flows_of_runs["name"] == name, "goodput_mbps"]
        captured = 8e-6 * own[f"bytes_{own['direction']}"] / own["duration_s"]
        goodputs[name] = (captured, statistics.mean(rates) if len(rates) else 0.0)
    return tomllib.loads(written.read_text()) | {"goodputs": goodputs}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("at", ["server", "phone"])
def test_cubic_beside_bbr_in_a_shallow_buffer_keeps_its_small_share(
    tmp_path: Path, number: int, at: str
) -> None:
    path = 'rtt = "40ms"\ndown.rate = "10Mbit/s"\nbuffer = "0.3bdp"'
    flows = '[[flows]]\ncca = "cubic"\n[[flows]]\ncca = "bbr"\n'
    scenario = _scenario(tmp_path, path, flows, number=number, at=at)
    ccas = {flow["name"]: flow["cca"] for flow in scenario["flows"]}
    assert ccas == {"connection-0": "cubic", "connection-1": "bbr"}
    # The transfer of the scenario is its first flow, whose CCA others replace.
    assert scenario["flows"][0]["name"] == f"connection-{number}"
    captured, simulated = zip(*scenario["goodputs"].values(), strict=True)
    assert captured[0] < 0.2 * captured[1]
    assert simulated[1] == pytest.approx(captured[1], rel=0.15)
    assert simulated[0] == pytest.approx(captured[0], rel=0.5)


@pytest.mark.parametrize("seed", range(2))
def test_a_farther_server_has_its_rtt(tmp_path: Path, seed: int) -> None:
    draw = random.Random(f"farther {seed}")
    rtt_ms, farther_ms = draw.randint(40, 90), draw.randint(20, 80)
    path = (
        f'rtt = "{rtt_ms}ms"\ndown.rate = "10Mbit/s"\nbuffer = "1bdp"\n[[links]]\n'
        f'from = "server-2"\nto = "server"\ndelay = "{farther_ms / 2}ms"'
    )
    flows = '[[flows]]\n[[flows]]\nfrom = "server-2"\n'
    scenario = _scenario(tmp_path, path, flows, number=1, at="phone")
    own, beside = scenario["flows"]
    (link,) = scenario["links"]
    assert own["from"] == link["from"]
    assert beside.get("from", "server") == "server"
    assert float(scenario["path"]["rtt"].removesuffix("ms")) == pytest.approx(rtt_ms, abs=1)
    assert 2 * float(link["delay"].removesuffix("ms")) == pytest.approx(farther_ms, abs=1)


def test_a_transfer_that_begins_later_and_ends_does_so(tmp_path: Path) -> None:
    path = 'rtt = "60ms"\ndown.rate = "20Mbit/s"\nbuffer = "1bdp"'
    later = '[[flows]]\nstart = "6s"\nworkload = { kind = "bulk", bytes = "10MB" }\n'
    scenario = _scenario(tmp_path, path, f"[[flows]]\n{later}", number=0)
    _, beside = scenario["flows"]
    # Starts are within the 100 ms of variation.start_jitter.
    assert float(beside["start"].removesuffix("s")) == pytest.approx(6, abs=0.15)
    assert beside["workload"] == {"kind": "bulk", "bytes": "10000000B"}
    captured, simulated = scenario["goodputs"]["connection-0"]
    assert simulated == pytest.approx(captured, rel=0.15)


def test_an_upload_beside_a_download_fills_the_uplink(tmp_path: Path) -> None:
    path = 'rtt = "60ms"\ndown.rate = "20Mbit/s"\nup.rate = "4Mbit/s"\nuplink_buffer = "2bdp"'
    upload = '[[flows]]\nfrom = "phone"\nto = "server"\nopens = "from"\n'
    scenario = _scenario(tmp_path, path, f"[[flows]]\n{upload}", number=0)
    own, beside = scenario["flows"]
    assert "from" not in own
    assert (beside["from"], beside["to"]) == ("phone", "server")
    assert float(scenario["path"]["up"]["rate"].removesuffix("Mbit/s")) == pytest.approx(4, rel=0.1)
    captured, simulated = scenario["goodputs"]["connection-1"]
    assert simulated == pytest.approx(captured, rel=0.2)


@pytest.mark.parametrize("at", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
def test_acks_wait_in_the_queue_of_the_upload_and_data_in_that_of_the_download(
    tmp_path: Path, seed: int, at: str
) -> None:
    """Their sum is the RTT of both; in the wrong queue, it lets a download keep its rate."""
    draw = random.Random(f"both directions {seed}")
    up, packets = draw.choice([(2, 200), (5, 300), (3, 150)])
    path = (
        f'rtt = "{draw.choice([50, 80])}ms"\ndown.rate = "10Mbit/s"\nup.rate = "{up}Mbit/s"\n'
        f'buffer = "1bdp"\nuplink_buffer = "{packets}packets"'
    )
    start = f'start = "{draw.choice([0, 2])}s"'
    upload = f'[[flows]]\nfrom = "phone"\nto = "server"\nopens = "from"\n{start}\n'
    scenario = _scenario(tmp_path, path, f"[[flows]]\n{upload}", number=0, at=at)
    written = scenario["path"]
    assert float(written["up"]["rate"].removesuffix("Mbit/s")) == pytest.approx(up, rel=0.05)
    uplink_buffer = int(written["uplink_buffer"].removesuffix("B"))
    assert 0.6 * 1500 * packets < uplink_buffer < 1.1 * 1500 * packets
    captured, simulated = scenario["goodputs"]["connection-1"]
    assert simulated == pytest.approx(captured, rel=0.1)
    captured, simulated = scenario["goodputs"]["connection-0"]
    assert simulated == pytest.approx(captured, rel=0.5)


@pytest.mark.parametrize("at", ["server", "phone"])
@pytest.mark.parametrize("rate", [4, 8])
def test_rivals_behind_a_policer_share_its_bucket(tmp_path: Path, rate: int, at: str) -> None:
    """Neither alone explains the drops: the tokens that it lacks went to the other one."""
    path = (
        f'rtt = "50ms"\ndown.rate = "20Mbit/s"\npolicer = {{ rate = "{rate}Mbit/s", burst = "60kB" }}'
    )
    scenario = _scenario(tmp_path, path, '[[flows]]\n[[flows]]\nstart = "2s"\n', number=0, at=at)
    policer = scenario["path"]["policer"]
    assert float(policer["rate"].removesuffix("Mbit/s")) == pytest.approx(rate, rel=0.05)
    assert len(scenario["flows"]) == 2
    captured, simulated = (sum(rates) for rates in zip(*scenario["goodputs"].values(), strict=True))
    assert simulated == pytest.approx(captured, rel=0.1)


def test_a_constant_rate_has_no_steps_of_whole_packets(tmp_path: Path) -> None:
    """83.3 packets of 1500 bytes pass in 100 ms at 10 Mbit/s."""
    _scenario(tmp_path, 'rtt = "60ms"\ndown.rate = "10Mbit/s"', "[[flows]]\n[[flows]]\n", number=0)
    rates = {line.partition(",")[2] for line in (tmp_path / "path.csv").read_text().splitlines()[1:]}
    (rate,) = rates
    assert float(rate) == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize("seed", range(2))
def test_calls_that_carry_little_are_a_flow_beside_the_download_that_they_wait_for(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(f"calls beside {seed}")
    path = f'rtt = "40ms"\ndown.rate = "{draw.choice([5, 10])}Mbit/s"\nbuffer = "150packets"'
    calls = (
        '[[flows]]\nworkload = { kind = "request-response", request = "500B", '
        f'response = "{draw.choice([6, 12])}kB", gap = "500ms" }}\n'
    )
    scenario = _scenario(tmp_path, path, f"[[flows]]\n{calls}", number=0)
    own, beside = scenario["flows"]
    assert "workload" not in own
    assert beside["workload"]["kind"] == "request-response"
    assert float(beside["workload"]["gap"].removesuffix("s")) == pytest.approx(0.5, rel=0.15)
    captured, simulated = scenario["goodputs"]["connection-1"]
    # Few responses have the losses, which differ from run to run.
    assert simulated == pytest.approx(captured, rel=0.3)
    # The MSS is that of Ethernet, which is the default.
    assert "mss" not in scenario["tcp"]


def test_a_transfer_of_another_client_is_left_out_and_named(tmp_path: Path) -> None:
    """Its link may be another one."""
    other = '[[flows]]\nto = "phone-2"\n[[links]]\nfrom = "base"\nto = "phone-2"\nrate = "5Mbit/s"\n'
    other = other.replace("base", "server")
    capture, truth = tmp_path / "x.pcap", tmp_path / "truth.toml"
    truth.write_text(f'duration = "10s"\n[path]\ndown.rate = "10Mbit/s"\n[[flows]]\n{other}')
    ct.run(truth, seed=1, pcap=capture, pcap_at="server", samples="off")
    estimate = estimate_path(analyse(capture), 0)
    assert estimate.left_out == ("connection 1 beside it (--connection NUMBER)",)
    assert not estimate.flows_beside


def test_uploads_one_after_another_are_named_as_left_out(tmp_path: Path) -> None:
    """The scenario of a photo has one of them: the time of all is not that of the album."""
    truth = tmp_path / "truth.toml"
    truth.write_text(
        'duration = "20s"\n[path]\nrtt = "40ms"\nup.rate = "8Mbit/s"\n[[flows]]\nfrom = "phone"\n'
        'to = "server"\nopens = "from"\n[flows.workload]\nkind = "sequence"\nsize = "2MB"\ncount = 3\n'
        'gap = { kind = "constant", value = "500ms" }\n'
    )
    ct.run(truth, seed=1, pcap=tmp_path / "x.pcap", samples="off")
    (text,) = estimate_path(analyse(tmp_path / "x.pcap"), 0).left_out
    assert text == "connections 1, 2 before or after it (--connection NUMBER)"
