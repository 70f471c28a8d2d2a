"""Evaluating policies: arithmetic on made-up numbers, and small evaluations."""

import gzip
import json
import math
import tomllib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import celltcp as ct
from celltcp import CelltcpError
from celltcp._core import memory_text
from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import Job
from celltcp.campaign.run import run_jobs
from celltcp.present.terminal import Terminal
from celltcp.scenarios.scenario_list import expand_scenarios, short_name
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.selection import Evaluation, evaluate
from celltcp.selection.cases import cases_of, pairwise_of, relative, summary_of
from celltcp.selection.checkpoint import Checkpoint
from celltcp.selection.prior_connections import (
    PriorConnection,
    prior_connections,
    prior_jobs,
    with_memory,
)
from celltcp.selection.switch_cost import costs_of, replay_jobs, switches_in
from celltcp.selection.tables.switch_cost import print_switch_costs
from celltcp.selection.tally import OUTCOMES, outcome, tally_of
from made_up import made_up

QUICK = ("--runs", "2", "--cca", "cubic,reno", "--set", "duration=3s")

#: Changes from Reno to CUBIC after two seconds and back after five.
ALTERNATING = """
name = "alternating"
description = "By the age of the connection."
[tuning]
interval = 0.1
dwell = 0.5
agree = 1
tolerance = 1.0
[[method.rules.rules]]
requirements = ["goodput", "balanced", "delay"]
when = [{ feature = "age", at_least = 2.0, below = 5.0 }]
choose = ["cubic"]
because = "middle"
[[method.rules.rules]]
requirements = ["goodput", "balanced", "delay"]
choose = ["reno"]
because = "start and end"
"""


def test_gain_and_regret_are_paired_and_in_percent_of_the_rival() -> None:
    # The best on average is Reno; the oracle has 12 and 12.
    case = cases_of(made_up([11.0, 11.5], 2, cubic=[8.0, 12.0], reno=[12.0, 11.0])).iloc[0]
    assert case["best_cca"] == "reno"
    assert case["gain"] == pytest.approx(100 * 1.25 / 10)
    assert case["regret"] == pytest.approx(100 * 0.25 / 11.5)
    assert case["oracle_mean"] == 12
    assert case["oracle_regret"] == pytest.approx(100 * 0.75 / 12)
    assert case["switches_per_min"] == 4
    # Student's t at 95 % for two values is 12.7: intervals are wide, nothing is decided.
    assert [case[f"against_{name}"] for name in ("default", "best", "oracle")] == ["tied"] * 3


def test_a_verdict_needs_an_interval_without_zero() -> None:
    assert relative([11.0, 12.1, 13.0], [10.0, 11.0, 12.0]).verdict == "won"
    assert relative([9.0, 10.1, 11.0], [10.0, 11.0, 12.0]).verdict == "lost"
    assert relative([9.0, 12.0, 12.5], [10.0, 11.0, 12.0]).verdict == "tied"
    assert relative([10.0, 11.0], [10.0, 11.0]).verdict == "tied"


def test_checks_count_the_cases() -> None:
    good = made_up([21.0, 22.1, 23.0], 1, cubic=[20.0, 21.0, 22.0], reno=[10.0, 11.0, 12.0])
    bad = made_up([9.0, 10.1, 11.0], 1, cubic=[20.0, 21.0, 22.0], reno=[10.0, 11.0, 12.0])
    both = pd.concat([good, bad.assign(scenario="t")], ignore_index=True)
    checks = summary_of(cases_of(both)).iloc[0]
    counted = {name: checks[name] for name in ("cases", "won_default", "lost_default", "won_best")}
    assert counted == {"cases": 2, "won_default": 1, "lost_default": 1, "won_best": 1}
    assert (checks["reached_best"], checks["better_than_best"], checks["large_gains"]) == (1, 1, 0)
    duels = pairwise_of(both).set_index(["scenario", "rival"])["verdict"]
    assert duels["t", "cubic"] == "lost"
    assert duels["t", "reno"] == "lost"
    assert duels["s", "reno"] == "won"


@pytest.mark.parametrize(
    ("percent", "verdict", "has_switched", "expected"),
    [
        (0.0, "tied", False, "one from the start"),
        (-1.0, "tied", False, "one from the start"),
        (-1.0, "lost", False, "worse"),
        (-0.1, "tied", True, "worse"),
        (0.1, "tied", True, "up to 5 %"),
        (5.0, "won", True, "up to 5 %"),
        (5.1, "won", True, "over 5 %"),
        (6.0, "won", False, "one from the start"),
    ],
)
def test_the_tally_sorts_by_the_gain_over_the_best_single_one(
    percent: float, verdict: str, has_switched: bool, expected: str
) -> None:
    assert outcome(percent, verdict, has_switched=has_switched) == expected


def test_the_tally_sorts_every_case_once() -> None:
    cases = [
        made_up([20.0, 21.0, 22.0], 0, cubic=[20.0, 21.0, 22.0], reno=[10.0, 11.0, 12.0]),
        made_up([22.0, 23.1, 24.2], 1, cubic=[20.0, 21.0, 22.0], reno=[10.0, 11.0, 12.0]),
        made_up([20.5, 21.6, 22.2], 1, cubic=[20.0, 21.0, 22.0], reno=[10.0, 11.0, 12.0]),
        made_up([19.0, 20.0, 21.3], 1, cubic=[20.0, 21.0, 22.0], reno=[10.0, 11.0, 12.0]),
    ]
    runs = pd.concat([case.assign(scenario=str(n)) for n, case in enumerate(cases)])
    tally = tally_of(runs)
    assert len(tally) == 1
    assert [tally.iloc[0][each] for each in OUTCOMES] == [1, 1, 1, 1]


def test_costs_remembered_are_those_of_bpftune() -> None:
    """The first of a kind counts in full, later ones by a quarter (oracle/bpftune)."""

    def ended(cca: str, rtt_ms: float, rate_mbps: float) -> PriorConnection:
        return PriorConnection(cca, rtt_ms, rate_mbps, 20.0, 30.0, 0.01)

    text = memory_text(
        "phone",
        [ended("cubic", 50, 10), ended("bbr", 50, 8), ended("cubic", 60, 5), ended("reno", 0, 0)],
    )
    known = tomllib.loads(text)["destinations"]["phone"]
    assert (known["connections"], known["min_rtt_ms"], known["max_rate_mbps"]) == (3, 50, 10)
    assert known["ccas"]["bbr"] == {"connections": 1, "cost": pytest.approx(0.2)}
    assert known["ccas"]["cubic"] == {"connections": 2, "cost": pytest.approx(0.25 * (0.2 + 0.5))}


def test_an_earlier_history_decides_for_bpftune() -> None:
    source = ScenarioSource("steady-20-68", {"duration": "3s"})
    costly = PriorConnection("cubic", 100, 5, 20, 0, 0.0)
    cheap = PriorConnection("htcp", 50, 20, 20, 0, 0.0)
    rest = [PriorConnection("bbr", 90, 5, 20, 0, 0.0), PriorConnection("dctcp", 90, 5, 20, 0, 0.0)]
    place = with_memory(source, memory_text("phone", [cheap, costly, *rest]))
    chosen = place.scenario.with_cca("auto:policy=bpftune,memory=history")
    run = engine().start(chosen, 1)
    run.advance(chosen.duration_s)
    decisions = pa.record_batch(run.finish()["decisions"])
    assert decisions["to_cca"].to_pylist()[0] == "htcp"


def test_earlier_connections_take_turns_on_seeds_that_are_not_evaluated() -> None:
    source = ScenarioSource("steady-20-68", {"duration": "3s"})
    jobs = prior_jobs(source, ["cubic", "bbr"], 3, 1, engine())
    assert [job.cca.rpartition("=")[2] for job in jobs] == ["cubic", "bbr", "cubic"]
    assert len({job.seed for job in jobs}) == 3
    assert min(job.seed for job in jobs) > 1000
    for each in prior_connections(run_jobs(jobs), jobs):
        assert 68 <= each.rtt_ms < 80
        assert 5 < each.rate_mbps <= 20


def test_folders_hold_what_can_be_loaded_and_the_rest_is_told(tmp_path: Path) -> None:
    (tmp_path / "good.down").write_text("".join(f"{t}\n" for t in range(1, 2000)))
    (tmp_path / "bad.down").write_text("no trace\n")
    (tmp_path / "notes.txt").write_text("not even tried\n")
    result = expand_scenarios(str(tmp_path))
    assert [Path(source.name).name for source in result.sources] == ["good.down"]
    assert len(result.left_out) == 1
    assert "bad.down" in result.left_out[0]


def test_a_compressed_file_that_is_no_trace_is_told(tmp_path: Path) -> None:
    text = "".join(f"{t}\n" for t in range(1, 2000)).encode()
    for name in ("one.down.gz", "one.up.gz", "two.txt.gz", "log.gz"):
        content = b"neither rates nor times\n" if name == "log.gz" else text
        (tmp_path / name).write_bytes(gzip.compress(content))
    result = expand_scenarios(str(tmp_path))
    assert [Path(source.name).name for source in result.sources] == ["one.down.gz", "two.txt.gz"]
    assert len(result.left_out) == 1
    assert "log.gz" in result.left_out[0]


def test_the_set_of_the_thesis_are_its_mobility_scenarios() -> None:
    names = [source.name for source in expand_scenarios("thesis36").sources]
    assert len(names) == 12
    assert set(names) == {source.name for source in expand_scenarios("mobility/*").sources}


def test_the_stress_suite_says_of_each_case_what_it_stresses() -> None:
    names = [source.name for source in expand_scenarios("stress").sources]
    assert len(names) >= 35
    library = Path(ct.__file__).parent / "library"
    for name in names:
        lines = (library / f"{name}.toml").read_text("utf-8").splitlines()
        assert sum(line.startswith("# Stressed: ") for line in lines) == 1, name


def test_short_flows_complete_sooner_than_with_every_constant() -> None:
    """Paths whose buffers take the larger initial window of the default policy."""
    result = evaluate("default", "short/100k@*+750p", 1, "fct", "cubic,bbr", against=())
    assert len(result.cases) == 9
    assert (result.cases["regret"] <= 0).all()
    assert result.cases["gain"].mean() > 5


@pytest.fixture(scope="module")
def alternating(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policies") / "alternating.toml"
    file.write_text(ALTERNATING)
    return file


def test_staying_has_the_same_past_as_the_change_that_it_is_measured_by(alternating: Path) -> None:
    result = evaluate(
        str(alternating),
        "steady-20-68",
        runs=2,
        requirement="goodput",
        cca="cubic,reno",
        against=(),
        switches=True,
        set={"duration": "8s"},
    )
    costs = result.costs
    assert costs is not None
    assert list(costs["to_cca"]) == ["cubic", "reno"] * 2
    assert costs["replayed"].all()
    assert costs["lost_staying"].between(0, 1).all()
    price = result.prices[str(alternating)]
    assert (price.changes, price.replayed) == (4, 4)
    assert (result.cases["switches_per_min"] == 2 * 60 / 8).all()


#: Changes from Reno to CUBIC before the connection has lived for a second, and back after three.
EARLY = ALTERNATING.replace("at_least = 2.0, below = 5.0", "at_least = 0.4, below = 3.0").replace(
    "agree = 1", "agree = 1\njudge = 1.0"
)


def test_changes_without_a_second_before_or_after_are_measured_as_far_as_can_be(tmp_path: Path) -> None:
    (tmp_path / "early.toml").write_text(EARLY)
    policy = str(tmp_path / "early.toml")
    result = evaluate(
        policy,
        "steady-20-68",
        runs=1,
        requirement="goodput",
        cca="cubic",
        against=(),
        switches=True,
        set={"duration": "3500ms"},
        out=tmp_path / "out",
    )
    costs = result.costs
    assert costs is not None
    early, late = costs.to_dict("records")
    assert early["t_s"] < 1 < 2.5 < late["t_s"]
    # It has been shown a past to replay, and no whole second of it.
    assert (early["unmeasured"], early["replayed"]) == ("", True)
    assert math.isnan(early["goodput_before_mbps"])
    assert late["unmeasured"] == "less than 1 s before the end of the connection"
    document = result.to_json()["switches"][policy]
    counts = {
        name: document[name] for name in ("changes", "measured", "early", "replayed", "unmeasured")
    }
    assert counts == {
        "changes": 2,
        "measured": 1,
        "early": 1,
        "replayed": 1,
        "unmeasured": {"less than 1 s before the end of the connection": 1},
    }


def test_changes_that_are_not_measured_are_told(celltcp, tmp_path: Path) -> None:
    (tmp_path / "early.toml").write_text(EARLY)
    done = celltcp(
        "select", "evaluate", "--policy", "early.toml", "--scenarios", "steady-20-68", "--runs", "1",
        "--requirement", "goodput", "--cca", "cubic", "--against", "thesis-establishment",
        "--set", "duration=3500ms", "--switch-cost",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "early.toml: 2 changes; retransmitted in the second after: " in told
    assert "goodput of 1 of 2 not measured: less than 1 s after the start" in told
    assert "1 of 2 not measured: less than 1 s before the end" in told
    assert "thesis-establishment: no changes" in told


def test_only_the_native_engine_replays() -> None:
    source = ScenarioSource("steady-20-68", {"duration": "8s"})
    cca = "auto:policy=fixed,cca=reno"
    jobs = [Job(0, cca, 1, source.scenario.with_cca(cca), engine())]
    tables = run_jobs(jobs)
    decided = tables["decisions"].to_pandas()
    change = decided.assign(t_ns=3_000_000_000, cause="change", from_cca="reno", to_cca="cubic")
    both = pd.concat([decided, change], ignore_index=True)
    changes = switches_in({**tables, "decisions": pa.Table.from_pandas(both)}, jobs)
    assert len(changes) == len(replay_jobs(source, changes, engine())) == 1
    assert replay_jobs(source, changes, Engine("kernel")) == []
    (cost,) = costs_of(changes, None, []).to_dict("records")
    assert 0 <= cost["lost"] < 1
    assert not cost["replayed"]
    assert math.isnan(cost["lost_staying"])


def test_without_replays_it_is_told_what_was_sent_again(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {
        "policy": ["p", "p"],
        "unmeasured": ["", ""],
        "replayed": [False, False],
        "lost": [0.02, 0.04],
        "lost_staying": [math.nan, math.nan],
        "goodput_before_mbps": [10.0, 10.0],
        "goodput_after_mbps": [9.0, 11.0],
        "capacity_before_mbps": [20.0, 20.0],
        "capacity_after_mbps": [20.0, 10.0],
    }
    told = {"engine": "kernel-7.3", "policies": ["p"], "against": []}
    print_switch_costs(Evaluation({"costs": pd.DataFrame(rows)}, told), Terminal(200))
    first, second = capsys.readouterr().out.strip().splitlines()
    assert first.startswith("p: 2 changes; retransmitted in the second after: 3.00 ±")
    assert first.endswith("; goodput -10.0 % where the capacity held (1 changes)")
    assert "--engine native" in second
    assert "nan" not in first + second


def test_an_interrupted_evaluation_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again() -> dict[str, object]:
        return evaluate(
            "rules",
            "steady-5-18,steady-20-68",
            runs=1,
            requirement="delay",
            cca="cubic",
            against=(),
            set={"duration": "2s"},
            out=tmp_path,
        ).to_json()

    whole = again()
    assert not (tmp_path / "finished").exists()
    monkeypatch.setattr(Checkpoint, "clear", lambda _self: None)
    again()
    started: list[int] = []
    monkeypatch.setattr("celltcp.selection.scenario_runs.run_jobs", lambda *_a, **_k: started.append(1))
    assert again() == whole
    assert not started


@pytest.mark.rendered
def test_the_command_prints_tables_and_keeps_them(celltcp, tmp_path: Path) -> None:
    done = celltcp(
        "select", "evaluate", "--policy", "rules", "--scenarios", "steady-5-18,steady-20-68", *QUICK,
        "--out", "out", "--json", "outcome.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 120
    assert "bpftune remembers 4 earlier connections" in done.stdout
    assert "thesis-inflight asks the radio" in done.stdout
    document = json.loads((tmp_path / "outcome.json").read_text())
    # Two scenarios, three requirements, the policy and the three beside it.
    assert len(document["cases"]) == 2 * 3 * 4
    assert document["tally_published"] == {
        "one from the start": 11,
        "over 5 %": 10,
        "up to 5 %": 13,
        "worse": 2,
    }
    assert pq.read_table(tmp_path / "out" / "cases.parquet").num_rows == len(document["cases"])
    assert (tmp_path / "out" / "cases.png").stat().st_size > 10_000
    assert (tmp_path / "out" / "cases.svg").is_file()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--policy", "nonsense", "--scenarios", "steady-5-18"), "bpftune"),
        (("--policy", "rules", "--scenarios", "nowhere/*"), "'nowhere/*' matches"),
        (("--policy", "rules", "--scenarios", "steady-5-19"), "did you mean"),
        (
            ("--policy", "rules", "--scenarios", "steady-5-18", "--requirement", "fun"),
            "goodput, balanced",
        ),
        (("--policy", "rules", "--scenarios", "steady-5-18", "--cca", "cubic+bbr"), "'cubic+bbr'"),
        (("--policy", "", "--scenarios", "steady-5-18"), "policy: give one"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(
    celltcp, tmp_path: Path, arguments: tuple[str, ...], part: str
) -> None:
    done = celltcp("select", "evaluate", *arguments, "--out", "out")
    assert done.returncode == 2
    assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_an_empty_folder_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(CelltcpError, match="holds no file"):
        expand_scenarios(str(tmp_path))


def test_sources_can_be_loaded_with_further_changes() -> None:
    source = ScenarioSource("steady-20-68", {"duration": "3s"})
    changed = source.changed('flows.0.cca="bbr"').scenario
    assert source.scenario is source.scenario
    assert (changed.lineup, changed.duration_s) == ("bbr", 3.0)


def test_recordings_have_short_names() -> None:
    assert short_name("/traces/lte/drive.v2.down") == "lte/drive.v2"
    for ending in ("csv", "csv.gz", "txt", "down.gz", "toml"):
        assert short_name(f"/traces/lte/drive.v2.{ending}") == "lte/drive.v2"
    assert short_name("mobility/forward-60-4g") == "mobility/forward-60-4g"
