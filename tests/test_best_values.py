"""Best value of a varied field, beside the best congestion control."""

from __future__ import annotations

import json
import math
import re
import statistics
from pathlib import Path

import pyarrow as pa
import pytest

import celltcp as ct
from celltcp.cli.json_schema import schema_of
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sweep.best_value_tables import best_values_tables, best_values_texts
from celltcp.comparison.sweep.best_values import field_rankings
from celltcp.comparison.sweep.parameter_sweep import Sweep
from workloads import DEEP_BUFFER, GAME

#: A download that makes a game wait.
BESIDE = f"""
name = "home"
duration = "8s"
{DEEP_BUFFER}[[flows]]
name = "download"
[[flows]]
name = "game"
cca = "cubic"
workload = {GAME}
"""
RUNS = 3


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file: Path = tmp_path_factory.mktemp("home") / "home.toml"
    file.write_text(BESIDE)
    return file


@pytest.fixture(scope="module")
def queues(home: Path) -> Sweep:
    return ct.sweep(home, "path.queue=droptail,fq-codel", ["cubic", "bbr"], RUNS)


def _p95(result: Sweep, value: str, cca: str) -> list[float]:
    """Returns the 95th percentile of the game's responses of each run, from the table of events."""
    comparison = result[value]
    events = comparison.results.tables["events"].to_pandas()
    runs = comparison.results.tables["runs"].to_pandas()
    selected = runs[runs["cca"] == cca].sort_values("seed")["run"]
    responses = events[events["kind"] == "response_s"]
    percentiles = []
    for run in selected:
        times = sorted(responses.loc[responses["run"] == run, "detail"].astype(float))
        percentiles.append(times[math.ceil(0.95 * len(times)) - 1])
    return percentiles


def test_values_rank_by_paired_differences_of_the_applications_figure(queues: Sweep) -> None:
    outcomes = queues.to_json()["best_values"]
    game = [each for each in outcomes if each["flow"] == "game"]
    assert [each["cca"] for each in game] == ["cubic", "bbr", None]
    assert {each["metric"] for each in game} == {"response_p95_s"}
    cubic, _, both = game
    assert (cubic["best"], cubic["at"]) == ("fq-codel", {})
    rows = {each["name"]: each for each in cubic["values"]}
    new, old = (_p95(queues, value, "cubic") for value in ("fq-codel", "droptail"))
    gaps = [b - a for a, b in zip(new, old, strict=True)]
    assert rows["droptail"]["mean"] == pytest.approx(statistics.mean(old))
    assert rows["droptail"]["difference"] == pytest.approx(statistics.mean(gaps))
    # Student's t with two degrees of freedom.
    half = 4.302653 * statistics.stdev(gaps) / math.sqrt(RUNS)
    assert rows["droptail"]["difference_ci95"] == pytest.approx(half, rel=1e-5)
    assert len(both["values"]) == 4
    means = {
        (each["value"], each["cca"]): statistics.mean(_p95(queues, each["value"], each["cca"]))
        for each in both["values"]
    }
    leader = next(each for each in both["values"] if each["name"] == both["leader"])
    assert means[leader["value"], leader["cca"]] == min(means.values())


def test_lines_say_what_value_and_cca_change(queues: Sweep) -> None:
    texts = queues.field_changes
    first = next(each for each in texts if each.startswith("path.queue=fq-codel instead of droptail"))
    old = statistics.mean(_p95(queues, "droptail", "cubic"))
    assert f" ms instead of {1e3 * old:.0f}" in first
    assert "download goodput" in first


def test_a_field_without_an_effect_has_no_change(home: Path) -> None:
    result = ct.sweep(home, "tcp.send_buffer_max=4MB,5MB", ["cubic", "bbr"], RUNS)
    assert not [each for each in result.field_changes if each.startswith("tcp.send_buffer_max=5MB")]
    game = [each for each in result.to_json()["best_values"] if each["flow"] == "game"]
    assert {(each["leader"], *each["tied"]) for each in game if each["cca"]} == {("4MB", "5MB")}


def test_one_cca_has_the_best_value_too_and_pm_only_on_the_same_path() -> None:
    result = ct.sweep("steady-20-68", "path.buffer=0.1bdp,1bdp,4bdp", "cubic", 2, duration="6s")
    (ranking,) = field_rankings(result)
    best = {each.metric: each.verdict.leader for each in ranking.stakes}
    assert best["rtt_mean_ms"] == "0.1bdp"
    assert best["goodput_mbps"] in ("1bdp", "4bdp")
    assert "pm_balanced" in best
    longer = ct.sweep("steady-20-68", "path.rtt=20ms,40ms", "cubic", 2, duration="3s")
    (ranking,) = field_rankings(longer)
    # Dmin is that of each value, so that PM compares nothing.
    assert [each.metric for each in ranking.stakes] == ["goodput_mbps", "rtt_mean_ms"]


def test_each_field_is_ranked_at_each_place_of_the_others(home: Path) -> None:
    vary = ["path.queue=droptail,fq-codel", "path.buffer=1bdp,4bdp"]
    result = ct.sweep(home, vary, "cubic", 2, duration="4s")
    places = [(each.field, dict(each.fixed)) for each in field_rankings(result)]
    assert places == [
        ("path.queue", {"path.buffer": "1bdp"}),
        ("path.queue", {"path.buffer": "4bdp"}),
        ("path.buffer", {"path.queue": "droptail"}),
        ("path.buffer", {"path.queue": "fq-codel"}),
    ]
    frame = result.best_values
    assert set(frame["verdict"]) <= {"best", "leads", "tied", "undecided", "worse"}
    assert len(frame) == 4 * 2 * 2


def test_values_stand_in_the_order_given(home: Path) -> None:
    vary = ["path.queue=fq-codel,droptail", "path.buffer=200packets,50packets,750packets"]
    result = ct.sweep(home, vary, "cubic", 2, duration="3s")
    columns: dict[str, list[str]] = {}
    for table in best_values_tables(result):
        columns.setdefault(table.columns[0].heading, []).extend(row[0] for row in table.rows)
    queue, buffer = columns["path.buffer"], columns["path.queue"]
    assert list(dict.fromkeys(queue)) == ["200packets", "50packets", "750packets"]
    assert list(dict.fromkeys(buffer)) == ["fq-codel", "droptail"]


def test_runs_are_paired_by_seed_where_some_are_missing(queues: Sweep) -> None:
    fewer = queues["fq-codel"]
    runs = fewer.results.tables["runs"].to_pandas()
    first = runs[runs["seed"] == runs["seed"].min()]["run"].tolist()
    tables = {
        name: table.filter(pa.array([run not in first for run in table["run"].to_pylist()], pa.bool_()))
        for name, table in fewer.results.tables.items()
    }
    part = ct.Comparison(ct.Results(tables, fewer.results.about))
    points = {("droptail",): queues["droptail"], ("fq-codel",): part}
    outcomes = Sweep(queues.axes, points).to_json()["best_values"]
    row = next(
        each
        for outcome in outcomes
        for each in outcome["values"]
        if (outcome["flow"], outcome["cca"], each["name"]) == ("game", "cubic", "droptail")
    )
    assert row["mean"] == pytest.approx(statistics.mean(_p95(queues, "droptail", "cubic")[1:]))


def test_command_and_report_have_the_best_value(celltcp, home: Path, tmp_path: Path) -> None:
    arguments = ("sweep", str(home), "--vary", "path.queue=droptail,fq-codel", "--runs", "2")
    done = celltcp(*arguments, "--cca", "cubic", "--by", "response_p99_s:game", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    assert "Best value of path.queue" in done.stdout
    assert "path.queue=fq-codel instead of droptail: " in " ".join(done.stdout.split())
    # The figure that is asked for stands in place of the usual one of the flow.
    assert "Best value of path.queue for game (response p99)" in " ".join(done.stdout.split())
    assert "95th percentile of the response time" not in " ".join(done.stdout.split())
    document = json.loads((tmp_path / "o.json").read_text())
    metrics = [each["metric"] for each in document["best_values"]]
    assert metrics == ["response_p99_s", "goodput_mbps", "response_p95_s"]
    assert "best_values" in json.dumps(schema_of("sweep"))


def test_the_report_begins_with_what_to_change(queues: Sweep) -> None:
    part = sweep_part(queues)
    front = [each for each in part.sections if each.is_front]
    assert [each.title for each in front][:1] == ["What to change"]
    assert list(front[0].text) == queues.field_changes
    questions = {each.question: each.answer for each in part.findings}
    game = questions["Best path.queue for game (95th percentile of the response time)"]
    assert game.startswith("fq-codel with ")


def test_where_nothing_helps_a_line_says_so() -> None:
    result = ct.sweep("steady-20-68", "tcp.send_buffer_max=4MB,5MB", "cubic", 2, duration="2s")
    assert not result.field_changes
    assert not best_values_tables(result)
    (alike,) = best_values_texts(result)
    assert alike.startswith("No difference that matters between values of tcp.send_buffer_max for ")


def test_changes_start_from_the_value_of_the_scenario(home: Path, tmp_path: Path) -> None:
    vary = "path.queue=fq-codel,droptail"
    result = ct.sweep(home, vary, "cubic", 2, duration="4s", out=tmp_path / "r")
    # The scenario has no queue discipline, which is droptail.
    assert result.present == {"path.queue": "droptail"}
    texts = result.field_changes
    assert [each for each in texts if "path.queue=fq-codel instead of droptail" in each]
    loaded = ct.load(tmp_path / "r")
    assert isinstance(loaded, Sweep)
    assert loaded.field_changes == texts


def test_one_run_of_what_is_random_has_the_means_of_the_values_beside_the_hint(home: Path) -> None:
    sweep = ct.sweep(home, "path.queue=droptail,fq-codel", ["cubic"], 1)
    (text,) = (each for each in best_values_texts(sweep) if "for game" in each)
    p95 = {value: 1e3 * _p95(sweep, value, "cubic")[0] for value in ("fq-codel", "droptail")}
    assert p95["fq-codel"] < p95["droptail"]
    assert text.startswith("path.queue for game (95th percentile of the response time) in one run")
    assert re.search(r"conclusive: fq-codel \(.* m?s\), then droptail \(.* m?s\) \(try --runs 10", text)


def test_one_run_of_two_fields_names_the_value_of_the_other_one(home: Path) -> None:
    vary = ["path.queue=droptail,fq-codel", "path.buffer=1bdp,4bdp"]
    sweep = ct.sweep(home, vary, ["cubic", "bbr"], 1)
    (text,) = (each for each in best_values_texts(sweep) if each.startswith("path.queue for game"))
    for buffer in ("1bdp", "4bdp"):
        for cca in ("cubic", "bbr"):
            p95 = {
                queue: _p95(sweep, f"{queue}, {buffer}", cca)[0] for queue in ("droptail", "fq-codel")
            }
            best = min(p95, key=p95.__getitem__)
            assert f"path.buffer={buffer}, under {cca}: {best} (" in text
