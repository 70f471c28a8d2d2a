"""The catalogue of congestion controls, their parameters, and flows that share a path."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.scenarios.ccas import catalogue, select_ccas, usual_cca

#: Output of `sysctl net.ipv4.tcp_available_congestion_control` with all modules loaded.
IN_LINUX = (
    "reno cubic bic westwood highspeed hybla htcp vegas nv scalable lp veno yeah illinois dctcp cdg bbr"
)


def test_every_name_of_linux_is_accepted() -> None:
    in_linux = [entry["name"] for entry in catalogue() if entry["linux"]]
    assert sorted(in_linux) == sorted(IN_LINUX.split())
    assert select_ccas(IN_LINUX.split(), []) == IN_LINUX.split()


def test_the_catalogue_tells_family_source_and_parameters(celltcp) -> None:
    done = celltcp("cca", "--json")
    entries = json.loads(done.stdout)
    assert len(entries) >= 21
    for entry in entries:
        assert entry["family"] in ("loss", "delay", "hybrid", "model", "ecn", "forecast")
        assert entry["reference"]
        assert 1988 <= entry["year"] <= 2026
        for parameter in entry["parameters"]:
            assert parameter["meaning"].endswith("."), parameter
            assert parameter["source"], parameter
            # The default is itself an allowed value.
            text = f"{entry['name']}:{parameter['name']}={parameter['default']}"
            assert select_ccas(text, []), text


def test_one_entry_is_printed_with_its_parameters(celltcp) -> None:
    printed = celltcp("cca", "cubic").stdout
    assert "RFC 9438" in printed
    assert "fast_convergence" in printed
    assert json.loads(celltcp("cca", "newreno", "--json").stdout)["name"] == "reno"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cubik", "did you mean 'cubic'"),
        ("cubic:betta=0.5", "cubic has no parameter"),
        ("cubic:gamma=3", "; it is one of vegas and yeah"),
        (
            "reno:initial_ssthresh=16",
            "; it is one of bic (bic:initial_ssthresh=N,low_window=100000 grows as reno does)",
        ),
        ("cubic:beta=2", "allowed: numbers from 0.01 to 0.99"),
        ("cubic:hystart=on,slow_start=standard", "give slow_start or hystart, not both"),
        ("cubic+", "is not a congestion control"),
        ("", "give one congestion control at least"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(celltcp, given: str, message: str) -> None:
    done = celltcp("compare", "steady-20-68", "--cca", given, "--runs", "1", "--duration", "1s")
    assert done.returncode == 2
    assert message in done.stderr.replace('"', "'").strip().splitlines()[-1]


def test_bic_with_a_large_low_window_is_reno() -> None:
    """The error about a threshold of Reno names BIC: without a threshold, its runs are Reno's."""
    changes = {"path.buffer": "20packets"}
    ccas = ["reno", "bic:low_window=100000,beta=0.5"]
    result = ct.compare("steady-20-68", ccas, runs=1, duration="20s", set=changes)
    reno, bic = (result.values(cca, "goodput_mbps")[0] for cca in result.ccas)
    assert bic == pytest.approx(reno, rel=0.01)
    # Up to its low window it halves, whatever its own factor.
    own = ct.compare("steady-20-68", "bic:low_window=100000", 1, duration="20s", set=changes)
    assert own.values(own.ccas[0], "goodput_mbps")[0] == pytest.approx(reno, rel=0.01)


def test_a_parameter_changes_the_run_and_is_named_in_the_results() -> None:
    result = ct.compare(
        "steady-20-68", cca="cubic,cubic:hystart=no,beta=0.50,cubic:beta=0.9", runs=1, duration="20s"
    )
    assert result.ccas == ["cubic", "cubic:beta=0.5,hystart=off", "cubic:beta=0.9"]
    retransmissions = result.runs.set_index("cca")["retransmissions"]
    # Without HyStart slow start ends by overflowing the buffer.
    assert retransmissions["cubic:beta=0.5,hystart=off"] > 2 * retransmissions["cubic"]


def test_all_stands_for_every_congestion_control() -> None:
    assert select_ccas("all", ["reno", "bbr"]) == ["reno", "bbr"]
    assert select_ccas("cubic,all", ["reno", "cubic"]) == ["cubic", "reno"]
    assert select_ccas("cubic+all", ["reno", "bbr"]) == ["cubic+reno", "cubic+bbr"]
    assert select_ccas("all+all", ["reno", "bbr"]) == ["reno+reno", "bbr+bbr"]


def test_flows_that_share_a_path_have_their_shares_and_jains_index() -> None:
    result = ct.compare("steady-20-68", cca=["cubic+vegas", "reno+reno+reno"], runs=1, duration="30s")
    shares = result.shares
    assert shares["flow_cca"].tolist() == ["cubic", "vegas", "reno", "reno", "reno"]
    goodput = shares["goodput_mbps"]
    assert goodput[0] > 2 * goodput[1]
    for lineup, group in shares.groupby("cca"):
        given = group["goodput_mbps"]
        # Jain, Chiu and Hawe 1984, equation 1.
        expected = given.sum() ** 2 / (len(given) * (given**2).sum())
        found = result.runs.set_index("cca").loc[str(lineup), "fairness"]
        assert math.isclose(found, expected, rel_tol=1e-9)
    # Line-ups compete with themselves: none is recommended.
    assert result.recommendation == {"goodput": [], "balanced": [], "delay": []}


def test_jains_index_is_printed(celltcp) -> None:
    done = celltcp(
        "compare", "steady-20-68", "--cca", "cubic+cubic", "--runs", "1", "--duration", "10s"
    )
    assert "Jain's index" in done.stdout


def test_a_scenarios_own_congestion_control_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'duration = "20s"\n[path]\nrtt = "68ms"\nbuffer = "1bdp"\ndown = { rate = "20Mbit/s" }\n'
        '[[flows]]\ncca = { name = "cubic", hystart = "off" }\n'
    )
    own = ct.run(file, samples="off").flows.iloc[0]
    assert own["cca"] == "cubic:hystart=off"
    both = ct.compare(file, cca="own,cubic", runs=1)
    assert both.ccas == ["cubic:hystart=off", "cubic"]
    retransmissions = both.runs.set_index("cca")["retransmissions"]
    assert retransmissions["cubic:hystart=off"] == own["retransmissions"] > retransmissions["cubic"]


def test_shares_are_those_of_the_time_in_which_all_flows_run() -> None:
    result = ct.compare(
        "fairness", cca="cubic+cubic", runs=1, duration="60s", set={"flows.1.start": "40s"}
    )
    assert result.shares["goodput_mbps"].sum() < 19.4
    assert result.runs["fairness"][0] < 1


@pytest.mark.parametrize(
    ("own", "compared", "usual"),
    [
        ("reno", ["cubic", "bbr", "reno"], "reno"),
        ("reno", ["bbr", "cubic"], "cubic"),
        ("vegas", ["bbr", "reno"], "bbr"),
        (
            {"name": "cubic", "hystart": False},
            ["cubic", "cubic:hystart=off", "bbr"],
            "cubic:hystart=off",
        ),
        ("cubic", ["cubic:hystart=off", "cubic", "bbr"], "cubic"),
        ("bbr", ["bbr@split", "bbr@none", "cubic@none"], "bbr@none"),
        ("cubic", ["bbr+cubic", "cubic+cubic"], "bbr+cubic"),
    ],
)
def test_the_cca_in_use_is_that_of_the_scenario(own: object, compared: list[str], usual: str) -> None:
    """Alternatives and changes are held against it: a lab that runs Reno has no CUBIC to replace."""
    assert usual_cca(compared, {"flows": [{"cca": own}]}) == usual
