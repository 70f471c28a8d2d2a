"""Explanations of selectors from stored results."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.selection import Explanation, explain
from celltcp.selection.agreement import agreements
from celltcp.selection.explanation import _spans
from celltcp.selection.switch_effects import switch_verdicts


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short way through a cell, with CUBIC and two policies."""
    folder = tmp_path_factory.mktemp("kept")
    ct.compare(
        "mobility/forward-300-low",
        cca="cubic,auto:policy=rules,requirement=balanced,auto:policy=fixed,cca=nv",
        runs=2,
        out=folder,
    )
    return folder


def test_decisions_are_told_with_what_led_to_them(kept: Path) -> None:
    ruled, fixed = explain(kept)
    assert [each.seed for each in (ruled, fixed)] == [1, 1]
    # Nothing is known before the first RTT sample; the policy chooses at that.
    first, second, *_ = ruled.decisions.to_dict("records")
    assert (first["cause"], first["to_cca"]) == ("establishment", "cubic")
    assert (second["cause"], second["to_cca"]) == ("establishment", "bbr")
    assert list(ruled.decisions["from_cca"][1:]) == list(ruled.decisions["to_cca"][:-1])
    assert ruled.decisions["age"].is_monotonic_increasing
    assert list(fixed.decisions["to_cca"]) == ["nv"]


def test_time_is_shared_among_the_congestion_controls_in_use(kept: Path) -> None:
    ruled, fixed = explain(kept)
    lived = len(ruled.slots) * 0.1
    assert ruled.time_under.sum() == pytest.approx(lived)
    assert set(ruled.time_under.index) <= set(ruled.decisions["to_cca"])
    assert fixed.time_under.to_dict() == {"nv": pytest.approx(len(fixed.slots) * 0.1)}


def test_truth_is_that_of_the_mean_sinr(kept: Path) -> None:
    slots = explain(kept)[0].slots
    assert set(slots["true_movement"]) == {"forward"}
    # 300 km/h: two seconds of start-up, two seconds of the constrained area at the end.
    assert list(dict.fromkeys(slots["true_phase"])) == ["start-up", "sustainer", "constrained"]
    assert (slots["true_phase"] == "constrained").sum() == pytest.approx(20, abs=1)


def test_agreement_is_counted_by_slots() -> None:
    both = pd.DataFrame(
        {
            "capacity_mbps_estimated": [9.0, 11.0, 0.0, 12.0],
            "capacity_confidence": [1.0, 1.0, 1.0, 1.0],
            "queue_confidence": [1.0] * 4,
            "true_capacity_mbps": [10.0, 10.0, 10.0, 10.0],
            "queue_segments": [0.0] * 4,
            "queue_packets": [1] * 4,
            "base_rtt_ms": [50.0] * 4,
            "true_base_rtt_ms": [40.0] * 4,
            "movement": ["forward", "static", "forward", "forward"],
            "true_movement": ["forward"] * 4,
        }
    )
    capacity, queue, base, movement = agreements(both)
    assert (capacity.slots, queue.slots) == (3, 0)
    assert capacity.error == pytest.approx(0.1)
    assert capacity.bias == pytest.approx(0.1)
    assert base.bias == pytest.approx(0.25)
    assert movement.accuracy == 0.75


def test_numbers_that_the_estimator_is_not_sure_of_do_not_count() -> None:
    both = pd.DataFrame(
        {
            "capacity_mbps_estimated": [99.0, 11.0, 60.0],
            "capacity_confidence": [0.0, 0.5, 0.49],
            "true_capacity_mbps": [10.0] * 3,
            "queue_segments": [4.0, 5.0, 5.0],
            "queue_confidence": [0.2, 0.9, 0.9],
            "queue_packets": [8, 10, 10],
            "base_rtt_ms": [50.0] * 3,
            "true_base_rtt_ms": [40.0] * 3,
        }
    )
    capacity, queue, base = agreements(both)
    assert (capacity.slots, capacity.total_slots, queue.slots, base.slots) == (1, 3, 2, 3)
    assert capacity.error == pytest.approx(0.1)


def test_the_picture_is_faint_where_the_estimator_is_not_sure(kept: Path) -> None:
    explained = explain(kept)[0]
    rates = explained.plot().axes[0]
    (faint,) = (line for line in rates.lines if line.get_alpha() == 0.25)
    strong = next(line for line in rates.lines if line.get_label() == "capacity as seen")
    unsure = (explained.slots["capacity_confidence"] < 0.5).to_numpy()
    assert 0 < unsure.sum() < len(unsure)
    assert np.isnan(strong.get_ydata()[unsure]).all()
    assert np.array_equal(faint.get_ydata()[unsure], explained.slots["capacity_mbps_estimated"][unsure])


def test_one_run_or_one_selector_can_be_asked_for(kept: Path) -> None:
    (second,) = explain(kept, run=3)
    assert isinstance(second, Explanation)
    assert (second.run, second.seed) == (3, 2)
    (fixed,) = explain(kept, cca="auto:policy=fixed,cca=nv")
    assert fixed.run == 4


@pytest.mark.rendered
def test_the_command_tells_and_draws(celltcp, kept: Path) -> None:
    done = celltcp("select", "explain", str(kept), "--json", "told.json")
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 120
    assert "establishment" in done.stdout
    for name in ("explain.png", "explain.svg", "explain-2.png"):
        assert (kept / name).stat().st_size > 10_000


def test_pictures_of_several_explanations_stay_beside_each_other(kept: Path, shared: Path) -> None:
    assert [each.picture for each in explain(kept)] == ["explain", "explain-2"]
    assert explain(kept, cca="auto:policy=fixed,cca=nv")[0].picture == "explain-2"
    assert explain(kept, seed=2)[1].picture == "explain-2-seed-2"
    assert explain(kept, run=3)[0].picture == "explain-seed-2"
    assert explain(shared)[0].picture == "explain"


def test_every_change_has_a_verdict(kept: Path) -> None:
    decisions = explain(kept)[0].decisions
    changes = decisions[decisions["cause"] == "change"]
    assert len(changes)
    assert (
        changes["verdict"].str.match(r"stood: 0\.\d+ before, 0\.\d+ after|taken back|stood, with").all()
    )
    assert (decisions[decisions["cause"] == "establishment"]["verdict"] == "").all()


def test_a_verdict_compares_what_came_before_and_after() -> None:
    decisions = pd.DataFrame(
        {"t_s": [0.0, 5.0, 10.0, 13.0], "cause": ["establishment", "change", "change", "return"]}
    )
    times = np.arange(0.0, 20.0, 0.1)
    slots = pd.DataFrame({"t_s": times, "goodput_mbps": np.where(times < 5.0, 10.0, 15.0)})
    slots = slots.assign(a=0.9, b=0.5, c=1.0)
    told = switch_verdicts(decisions, slots, "goodput")
    assert told == ["", "stood: 10 before, 15 Mbit/s after", "taken back after 3.0 s", ""]
    weighed = switch_verdicts(decisions[:2], slots, "1/1/0")
    assert weighed == ["", "stood: 0.7 before, 0.7 after"]
    assert switch_verdicts(decisions[1:2], slots[:0], "goodput") == ["stood, with nothing to compare"]


@pytest.mark.slow
@pytest.mark.rendered
def test_comparisons_with_selectors_get_the_picture(celltcp, tmp_path: Path) -> None:
    done = celltcp(
        "compare", "steady-20-68", "--cca", "cubic,auto:policy=rules", "--runs", "1",
        "--duration", "3s", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "explain.png").stat().st_size > 10_000
    done = celltcp("select", "explain", "out", "--json", "-")
    (run,) = json.loads(done.stdout)["runs"]
    # A link of a constant rate: nothing is known of a mean SINR.
    assert [each["quantity"] for each in run["agreements"]] == ["capacity", "queue", "base RTT"]
    assert run["agreements"][0]["error"] < 0.1


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--run", "0"), "allowed: 2 to 5"),
        (("--cca", "auto:policy=rules"), "auto:cca=nv,policy=fixed"),
        (("--run", "2", "--cca", "auto:policy=fixed,cca=nv"), "not of"),
    ],
)
def test_what_is_not_there_is_refused(
    celltcp, kept: Path, arguments: tuple[str, ...], part: str
) -> None:
    done = celltcp("select", "explain", str(kept), *arguments)
    assert done.returncode == 2
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_results_without_a_selector_are_refused(celltcp) -> None:
    celltcp(
        "compare", "steady-5-18", "--cca", "cubic", "--runs", "1", "--duration", "2s", "--out", "out"
    )
    done = celltcp("select", "explain", "out")
    assert done.returncode == 2
    assert "no congestion control was selected" in done.stderr


def test_neighbours_are_told_as_spans() -> None:
    assert _spans([1, 2, 3, 5, 7, 8]) == "1 to 3, 5, 7 to 8"


def test_weights_with_slashes_can_be_kept(tmp_path: Path) -> None:
    weighed = "auto:policy=rules,requirement=1/5/1"
    ct.compare("steady-5-18", cca=weighed, runs=1, duration="2s", out=tmp_path)
    (explained,) = explain(tmp_path, cca=weighed)
    assert explained.cca == weighed


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CUBIC and a selector on one path; the selector is the second flow."""
    folder = tmp_path_factory.mktemp("shared")
    ct.compare("steady-20-68", "cubic+auto:policy=fixed,cca=nv", 2, duration="6s", out=folder)
    return folder


def test_outcome_and_estimates_are_of_the_same_connection(shared: Path) -> None:
    (explained,) = explain(shared)
    assert (explained.connection.number, explained.connection.name) == (1, "flow-2")
    assert explained.others is None
    slots = ct.load(shared).slots
    selected = slots[(slots["run"] == 0) & (slots["flow"] == 1)]
    for measure in ("goodput_mbps", "rtt_mean_ms"):
        assert list(explained.slots[measure]) == pytest.approx(list(selected[measure]), nan_ok=True)
    assert explained.to_json()["flow"] == 1
    with pytest.raises(ct.CelltcpError, match=r"connection 0 of run 0 .* has no selector.* allowed: 1"):
        explain(shared, flow=0)


def test_of_several_selectors_one_is_told_and_the_others_are_named(celltcp, tmp_path: Path) -> None:
    both = "auto:policy=rules+auto:policy=fixed,cca=nv"
    ct.compare("steady-20-68", both, 1, duration="4s", out=tmp_path / "r")
    done = celltcp("select", "explain", "r")
    assert done.returncode == 0, done.stderr
    assert "Shown is connection 0; others with a selector: 1 (flow-2)" in done.stdout
    other = celltcp("select", "explain", "r", "--flow", "1")
    assert "others with a selector: 0 (flow-1)" in other.stdout
    assert "Time under each: nv" in other.stdout


def test_of_a_sequence_the_longest_connection_is_told(tmp_path: Path) -> None:
    ct.compare(
        "startup/operator-2", "cubic+auto:policy=fixed,cca=reno", 1, duration="12s", out=tmp_path
    )
    (explained,) = explain(tmp_path)
    lived = {each.number: each.slots for each in explained.connections}
    assert len(lived) > 3
    assert lived[explained.connection.number] == max(lived.values())
    assert explained.others is not None
    assert f"the longest of {len(lived)} of short" in explained.others
    last = max(lived)
    assert explain(tmp_path, flow=last)[0].slots["flow"].unique().tolist() == [last]


def test_a_connection_of_less_than_a_slot_has_no_picture(celltcp) -> None:
    done = celltcp(
        "compare", "steady-20-68", "--cca", "auto", "--runs", "1", "--duration", "100ms",
        "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no picture of decisions" in done.stderr
    assert "Traceback" not in done.stderr
    done = celltcp("select", "explain", "out")
    assert done.returncode == 2
    assert "100 ms" in done.stderr


def test_the_run_of_a_seed_can_be_asked_for(kept: Path) -> None:
    explained = explain(kept, seed=2)
    assert [(each.run, each.seed) for each in explained] == [(3, 2), (5, 2)]


def test_auto_alone_means_the_only_one(shared: Path, kept: Path, tmp_path: Path) -> None:
    ct.compare("steady-20-68", "cubic,auto:policy=rules", 1, duration="2s", out=tmp_path)
    assert explain(tmp_path, cca="auto")[0].cca == "auto:policy=rules"
    assert explain(shared, cca="auto")[0].connection.number == 1
    with pytest.raises(ct.CelltcpError, match=r"any of several.*; auto:cca=nv,policy=fixed"):
        explain(kept, cca="auto")
