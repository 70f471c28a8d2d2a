"""celltcp compare: what it prints, writes and recommends."""

import gzip
import json
import math
from pathlib import Path

import pytest

import celltcp as ct

QUICK = ("--runs", "2", "--duration", "5s")


def test_json_has_runs_summary_and_recommendation(celltcp, tmp_path: Path) -> None:
    done = celltcp("compare", "drive", "--cca", "cubic,bbr,newreno", *QUICK, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert [(run["cca"], run["seed"]) for run in document["runs"]] == [
        (cca, seed) for cca in ("cubic", "bbr", "reno") for seed in (1, 2)
    ]
    wanted = {
        "goodput_mbps",
        "rtt_mean_ms",
        "rtt_p95_ms",
        "rtt_max_ms",
        "rtt_min_ms",
        "retransmissions",
        "pm_balanced",
        "pm_delay",
    }
    for run in document["runs"]:
        assert wanted | {"cca", "seed", "duration_s"} <= set(run)
        assert run["rtt_min_ms"] <= run["rtt_mean_ms"] <= run["rtt_p95_ms"] * 2
        assert run["rtt_p95_ms"] <= run["rtt_max_ms"]
    for row in document["summary"]:
        # An interval has ends where half its width would leave the range of the metric.
        ends = {"low", "high"}
        assert all({"mean", "ci95"} == set(row[metric]) - ends for metric in wanted)
    assert set(document["recommendation"]) == {"goodput", "balanced", "delay"}
    assert all(document["recommendation"].values())


@pytest.mark.parametrize("scenario", ["drive", "steady-5-18"])
def test_the_same_seeds_give_the_same_bytes_on_any_number_of_threads(
    celltcp, tmp_path, scenario
) -> None:
    for name, jobs in (("a", "1"), ("b", "2"), ("c", "2")):
        done = celltcp("compare", scenario, *QUICK, "--jobs", jobs, "--json", f"{name}.json")
        assert done.returncode == 0, done.stderr
    first, second, third = ((tmp_path / f"{name}.json").read_bytes() for name in "abc")
    assert first == second == third


def test_a_scenario_without_randomness_has_no_interval(celltcp) -> None:
    done = celltcp("compare", "steady-5-18", "--cca", "cubic,reno", *QUICK, "--json", "-")
    document = json.loads(done.stdout)
    assert document["randomness"] == []
    assert all(row["goodput_mbps"]["ci95"] is None for row in document["summary"])


def test_every_congestion_control_meets_the_same_channel() -> None:
    slots = ct.compare("drive", cca=["cubic", "bbr"], runs=2, duration="5s").slots
    capacity = {
        (run, round(t, 3)): value
        for run, t, value in zip(slots["run"], slots["t_s"], slots["capacity_mbps"], strict=True)
    }
    for run, t in [key for key in capacity if key[0] < 2]:
        if (run + 2, t) in capacity:
            assert capacity[run, t] == capacity[run + 2, t]


def test_a_full_pipe_is_recommended_for_what_it_is_good_at() -> None:
    result = ct.compare("steady-20-68", cca=["newreno", "bbr"], runs=1, duration="30s")
    assert result.recommendation["delay"] == ["bbr"]
    assert result.summary.loc["bbr", ("goodput_mbps", "mean")] > 0.9 * 20 * 1448 / 1500
    assert math.isnan(result.summary.loc["reno", ("goodput_mbps", "ci95")])


def test_a_link_trace_is_a_scenario(celltcp, tmp_path: Path) -> None:
    assert celltcp("traces", "generate", "x.down", "--mean", "10", "--duration", "20").returncode == 0
    done = celltcp("compare", "x.down", "--cca", "bbr", *QUICK, "--json", "-")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["scenario"] == "x"
    assert 1 < document["runs"][0]["goodput_mbps"] < 40
    assert (tmp_path / "x.down").read_text().splitlines()[0].isdigit()


def test_a_packed_trace_has_the_name_of_the_plain_one(tmp_path: Path) -> None:
    text = "time_s,rate_mbps\n0,8\n1,9\n2,8\n"
    (tmp_path / "walk.csv").write_text(text)
    (tmp_path / "packed").mkdir()
    with gzip.open(tmp_path / "packed" / "walk.csv.gz", "wt") as packed:
        packed.write(text)
    plain, other = (ct.load_scenario(tmp_path / file) for file in ("walk.csv", "packed/walk.csv.gz"))
    assert plain.name == other.name == "walk"


@pytest.mark.parametrize(("field", "given"), [("runs", "3"), ("runs", 2.5), ("seed", "1")])
def test_numbers_of_python_are_numbers(field: str, given: object) -> None:
    with pytest.raises(ct.CelltcpError, match=f"{field}: {given!r} is not a number"):
        ct.compare("drive", "cubic", **{field: given})


def test_recorded_traces_run_with_their_uplink(celltcp) -> None:
    recorded = Path(__file__).parents[2] / "shared" / "traces" / "mahimahi" / "TMobile-LTE-short"
    if not recorded.with_suffix(".down").exists():
        pytest.skip("the recorded traces are not there: they are not part of the project")
    done = celltcp("compare", f"{recorded}.down", "--uplink", f"{recorded}.up", *QUICK, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 6


def test_connections_one_after_the_other_do_not_exceed_the_link() -> None:
    """Twenty downloads of 1 MB over 50 Mbit/s: the mean over the time of the downloads."""
    result = ct.compare("stress/short-1m", "cubic", 1)
    flows = result.flows
    busy = flows["duration_s"].sum()
    assert result.runs["goodput_mbps"].item() == pytest.approx(20 * 8 / busy)
    assert 15 < result.runs["goodput_mbps"].item() < 50


def test_connections_at_the_same_time_add_up() -> None:
    result = ct.compare("steady-20-18", "cubic", 1, duration="10s", set=["flows.0.count=4"])
    each = result.flows["goodput_mbps"]
    assert len(each) == 4
    assert result.runs["goodput_mbps"].item() == pytest.approx(each.sum(), rel=0.01)
    assert 17 < result.runs["goodput_mbps"].item() < 20


@pytest.mark.parametrize(
    ("own", "compared"),
    [
        ("cubic", ["cubic", "bbr", "reno"]),
        ("cubic:hystart=off", ["cubic:hystart=off", "bbr", "reno"]),
        ("bbr:cwnd_gain=3", ["cubic", "bbr:cwnd_gain=3", "reno"]),
        ("vegas", ["vegas", "cubic", "bbr", "reno"]),
        ("cubic:slow_start=hystart++", ["cubic:slow_start=hystart++", "bbr", "reno"]),
    ],
)
@pytest.mark.parametrize("others", [[], ["cubic"], ["westwood:ssthresh=0.6", "reno"]])
def test_the_cca_of_the_scenario_is_among_those_compared_by_default(
    tmp_path: Path, own: str, compared: list[str], others: list[str]
) -> None:
    others = [each.partition(":")[0] for each in others]
    flows = "".join(f'[[flows]]\ncca = "{cca}"\n' for cca in (own, *others))
    path = 'rtt = "20ms"\ndown = "5Mbit/s"\nup = "5Mbit/s"\n'
    (tmp_path / "s.toml").write_text(f'name = "s"\nduration = "1s"\n[path]\n{path}{flows}')
    result = ct.compare(tmp_path / "s.toml", runs=1)
    assert result.ccas == compared
    swept = ct.sweep(tmp_path / "s.toml", "path.rtt=20ms,40ms", runs=1)
    assert swept.ccas == compared
    # Given ones are those that are given.
    assert ct.compare(tmp_path / "s.toml", "cubic,bbr,reno", runs=1).ccas == ["cubic", "bbr", "reno"]


def test_scenarios_with_ccas_of_their_own_are_compared_by_the_same_ones(tmp_path: Path) -> None:
    for name, cca in (("a", "vegas"), ("b", "cubic:hystart=off"), ("c", "vegas")):
        path = 'rtt = "20ms"\ndown = "5Mbit/s"\nup = "5Mbit/s"\n'
        text = f'name = "{name}"\nduration = "1s"\n[path]\n{path}[[flows]]\ncca = "{cca}"\n'
        (tmp_path / f"{name}.toml").write_text(text)

    def compared(*names: str) -> list[str]:
        return ct.compare_all([str(tmp_path / f"{name}.toml") for name in names], runs=1).ccas

    assert compared("a", "b") == ["cubic", "bbr", "reno"]
    assert compared("a", "c") == ["vegas", "cubic", "bbr", "reno"]
