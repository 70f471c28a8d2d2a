"""Training of policies: the same seed gives the same file, and the file can be used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from celltcp import compare
from celltcp._core import CelltcpError, describe_policy, selection_features
from celltcp.selection.training import train
from celltcp.selection.training.counterfactual import (
    PARTS,
    Outcomes,
    Point,
    Successor,
    flight_points,
    start_points,
)
from celltcp.selection.training.families import FAMILIES, Network, draw_networks
from celltcp.selection.training.fit import fit_tree
from celltcp.selection.training.table import read_outcomes, write_outcomes
from celltcp.selection.training.tuning import best_without_harm

SMALL = {
    "scenarios": ("lossy", "stepping"),
    "cca": "cubic,bbr,vegas",
    "networks": 2,
    "samples": 1,
    "full_runs": 2,
    "max_leaves": 3,
    "min_samples_leaf": 2,
}

#: A requirement whose start is a tree of whole runs, and one with a bound.
TWO = ("goodput", "delay@")


@dataclass(frozen=True)
class Trained:
    """A small policy whose training was interrupted after its moments, and the file of its outcomes."""

    text: str
    outcomes_file: Path
    points_kept: int
    stages_after: set[str]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    outcomes_file = tmp_path_factory.mktemp("trained") / "outcomes.parquet"

    def interrupt(doing: str, _: float) -> None:
        if doing == "goodput, start":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("small", requirements=TWO, **SMALL, outcomes_file=outcomes_file, progress=interrupt)
    points = len(read_outcomes(outcomes_file, ["bbr", "cubic", "vegas"]).points)
    stages: set[str] = set()
    policy = train(
        "small",
        requirements=TWO,
        **SMALL,
        outcomes_file=outcomes_file,
        progress=lambda doing, _: stages.add(doing),
    )
    return Trained(policy.text, outcomes_file, points, stages)


@pytest.mark.slow
def test_a_policy_trained_for_every_requirement_is_the_same_for_the_same_seed() -> None:
    assert train("small", **SMALL).text == train("small", **SMALL).text


@pytest.mark.slow
def test_a_trained_policy_is_the_same_from_outcomes_that_were_kept(trained: Trained) -> None:
    measured = trained.outcomes_file.read_bytes()
    assert (
        train("small", requirements=TWO, **SMALL, outcomes_file=trained.outcomes_file).text
        == trained.text
    )
    assert trained.outcomes_file.read_bytes() == measured


def test_a_trained_policy_can_be_used(trained: Trained, tmp_path: Path) -> None:
    about = describe_policy("small", trained.text)
    assert set(about["choices"]) <= {"bbr", "cubic", "vegas"}
    file = tmp_path / "small.toml"
    file.write_text(trained.text, encoding="utf-8")
    result = compare(
        "steady-5-18", cca=["cubic", f"auto:policy={file},requirement=goodput"], runs=1, duration="5s"
    )
    assert result.results.tables["decisions"]["cause"][0].as_py() == "establishment"


def test_every_family_draws_networks_that_can_be_run() -> None:
    for network in draw_networks(list(FAMILIES), 3, seed=5):
        scenario = network.scenario("", 10.0)
        assert scenario.duration_s == 10.0


def test_moments_in_flight_come_after_the_start_and_those_of_the_start_know_what_follows() -> None:
    drawn = list(draw_networks(["lossy"], 2, seed=1))
    flight = flight_points(drawn, ["cubic", "bbr"], 3, seed=1)
    assert len(flight) == 6
    assert all(2.0 <= point.at_s <= 20.0 and point.prior_cca for point in flight)
    successor = Successor("delay", lambda cca: f"starts with {cca}")
    start = start_points(drawn, successor, seed=1)
    assert [point.size_mb is None for point in start] == [True, False] * 2
    assert {(point.at_s, point.requirement, point.variant) for point in start} == {
        (0.0, "delay", successor.digest)
    }


def made_up(rule: str) -> Outcomes:
    """Moments of two families where `rule` alone tells who is better."""
    result = Outcomes()
    rng = np.random.default_rng(1)
    names = [name for name, _ in selection_features()]
    for number in range(80):
        features = {name: float(rng.random()) for name in names}
        good, bad = (0.9,) * len(PARTS), (0.5,) * len(PARTS)
        first = features[rule] < 0.5
        result.points.append(Point(Network(f"family-{number % 2}", number, 1, ""), "cubic", 1.0))
        result.features.append(features)
        result.parts.append({"bbr": good if first else bad, "vegas": bad if first else good})
    return result


def test_a_tree_finds_the_feature_that_tells_and_does_well_on_a_family_left_out() -> None:
    names = [name for name, _ in selection_features()]
    tree = fit_tree(
        made_up("variability"),
        "delay",
        "flight",
        ["bbr", "vegas"],
        names,
        max_leaves=2,
        min_samples_leaf=5,
    )
    root = tree.nodes[0]
    assert root["feature"] == "variability"
    assert float(str(root["threshold"])) == pytest.approx(0.5, abs=0.1)
    assert all(regret < 0.1 for regret in tree.regret.values())
    assert all(regret > 0.1 for regret in tree.fixed_cca_regret.values())


def test_outcomes_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    result = made_up("queue")
    file = tmp_path / "outcomes.parquet"
    write_outcomes(result, ["bbr", "vegas"], file)
    again = read_outcomes(file, ["bbr", "vegas"])
    assert (again.features, again.parts) == (result.features, result.parts)
    for others in (["bbr", "cubic"], ["bbr"], ["bbr", "cubic", "vegas"]):
        with pytest.raises(CelltcpError, match="has outcomes of bbr, vegas; allowed: a table of"):
            read_outcomes(file, others)
    other = pd.read_parquet(file).assign(measured="celltcp 0.0.1 over 1 s")
    other.to_parquet(file)
    with pytest.raises(CelltcpError, match=r"measured by celltcp 0\.0\.1 over 1 s; allowed: celltcp"):
        read_outcomes(file, ["bbr", "vegas"])


def test_what_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CelltcpError, match="'nowhere' is no family; allowed: away"):
        train("x", ["nowhere"])
    with pytest.raises(CelltcpError, match="'speed' is not allowed; allowed: goodput"):
        train("x", requirements=["speed"])
    for few in ("cubic", "cubic,cubic"):
        with pytest.raises(CelltcpError, match="'cubic' alone leaves nothing to choose"):
            train("x", cca=few)
    with pytest.raises(CelltcpError, match="'auto' is not allowed; allowed: bbr"):
        train("x", cca="cubic,auto")
    for scenarios in (["lossy", "lossy"], ["lossy", "stepping"]):
        with pytest.raises(CelltcpError, match="too few to cross-validate"):
            train("x", scenarios, cca="cubic,bbr", networks=1, samples=1)
    broken = tmp_path / "broken.parquet"
    broken.write_text("no table", encoding="utf-8")
    with pytest.raises(CelltcpError, match=r"broken\.parquet: is no table of outcomes"):
        train("x", cca="cubic,bbr", outcomes_file=broken)


def test_a_training_that_was_interrupted_goes_on_from_what_it_has_measured(trained: Trained) -> None:
    assert trained.points_kept
    assert "full runs" in trained.stages_after
    assert "in flight" not in trained.stages_after


@pytest.mark.slow
def test_a_training_that_was_interrupted_ends_with_the_same_policy(trained: Trained) -> None:
    assert train("small", requirements=TWO, **SMALL).text == trained.text


def test_margins_that_harm_a_family_are_not_taken_however_well_they_do_elsewhere() -> None:
    rows = pd.MultiIndex.from_product([["away", "lossy"], range(4)], names=["family", "network"])
    measures = pd.DataFrame(
        {
            "cubic": [0.8, 0.81, 0.8, 0.79, 0.1, 0.11, 0.1, 0.12],
            "bold": [0.7, 0.71, 0.69, 0.7, 0.9, 0.9, 0.9, 0.9],
            "careful": [0.8, 0.82, 0.8, 0.8, 0.5, 0.5, 0.5, 0.5],
            "never": [0.8, 0.81, 0.8, 0.79, 0.1, 0.11, 0.1, 0.12],
        },
        index=rows,
    )
    assert best_without_harm(measures) == "careful"
    assert best_without_harm(measures.drop(columns="careful")) == "never"
    assert best_without_harm(measures[["cubic", "bold"]]) == "bold"
