"""Training for requirements with a measure of their own: bounds, measures, trees and trials."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from celltcp import compare
from celltcp._core import describe_policy, parse_requirement, selection_features
from celltcp.present.terminal import Terminal
from celltcp.scenarios.requirements import OTHER_MEASURES
from celltcp.selection.slot_measures import measured_parts
from celltcp.selection.tables.training import models_table
from celltcp.selection.training import train
from celltcp.selection.training.counterfactual import PARTS, Outcomes, Point
from celltcp.selection.training.families import FAMILIES, Network, draw_networks
from celltcp.selection.training.fit import FittedTree, constant_tree, fit_tree, score_of
from celltcp.selection.training.train import POLICY, TrainingResult
from celltcp.selection.training.tuning import best_without_harm


def test_bounds_are_drawn_for_each_network_within_their_ranges() -> None:
    drawn = list(draw_networks(list(FAMILIES), 4, seed=3))
    assert {each.requirement("power") for each in drawn} == {"power"}
    for kind in ("goodput@", "delay@"):
        bounds = [each.requirement(kind) for each in drawn]
        assert bounds == [each.requirement(kind) for each in drawn]
        assert len(set(bounds)) > len(drawn) / 2
        for bound in bounds:
            assert bound.startswith(kind)
            parse_requirement(bound)
    rates = [float(each.requirement("delay@")[len("delay@") : -len("Mbps")]) for each in drawn]
    assert 0.1 <= min(rates) < 0.3
    assert 7.0 < max(rates) <= 20.0


def test_flows_that_begin_after_the_end_are_left_out() -> None:
    text = '[path]\nrtt = "20ms"\ndown = { rate = "5Mbit/s" }\n[[flows]]\n[[flows]]\nstart = "8s"\n'
    network = Network("visited", 0, 1, text)
    lineups = [network.scenario('[[flows]]\ncca = "bbr"\n', length).ccas for length in (7.9, 8.0, 8.1)]
    assert [len(ccas) for ccas in lineups] == [2, 2, 3]
    # Only one that is always there takes a share of the whole time.
    assert network.fair_share == 0.5


def test_measures_of_requirements_are_means_over_slots() -> None:
    slots = {
        "a": np.array([0.5, 1.0]),
        "b": np.array([0.4, 0.8]),
        "c": np.ones(2),
        "capacity_mbps": np.full(2, 8.0),
        "goodput_mbps": np.array([4.0, 8.0]),
        "rtt_mean_ms": np.array([250.0, 40.0]),
    }
    parts = measured_parts(slots, ["goodput@100ms", "delay@8Mbps", "power"])
    assert parts[:4] == pytest.approx((0.75, 0.6, 1.0, 0.75))
    power = (4 / np.sqrt(0.25) + 8 / np.sqrt(0.04)) / 2
    assert parts[4:] == pytest.approx(((0 + 8) / 2, (0.4 * 0.5 + 0.8) / 2, power))


def _outcomes(better: str) -> Outcomes:
    """Moments of two families; for power `better` has twice as much, for all else both are alike."""
    result = Outcomes()
    names = [name for name, _ in selection_features()]
    power = PARTS.index("power")
    for number in range(8):
        parts = {
            cca: tuple(
                0.5 + 0.5 * (cca == better) if place == power else 0.5 for place in range(len(PARTS))
            )
            for cca in ("bbr", "cubic")
        }
        result.points.append(Point(Network(f"family-{number % 2}", number, 1, ""), "cubic", 2.0))
        result.features.append(dict.fromkeys(names, 1.0))
        result.parts.append(parts)
    return result


def test_a_leaf_has_the_measure_over_that_of_the_best_in_place_of_a() -> None:
    names = [name for name, _ in selection_features()]
    tree = fit_tree(
        _outcomes("bbr"),
        "power",
        "flight",
        ["bbr", "cubic"],
        names,
        max_leaves=2,
        min_samples_leaf=2,
        baseline=None,
    )
    (leaf,) = tree.nodes
    assert leaf["take"] == ["bbr"]
    assert leaf["parts"] == {"bbr": [1.0, 0.5, 0.5], "cubic": [0.5, 0.5, 0.5]}
    (start,) = constant_tree("power", "cubic", _outcomes("bbr")).nodes
    assert (start["take"], start["parts"]) == (["cubic"], {"cubic": [0.5, 0.5, 0.5]})


def test_beside_others_a_measure_falls_with_the_share_below_the_floor() -> None:
    parts = (0.5, 0.5, 1.0, 0.05, 3.0, 0.4, 7.0)
    # A tenth of a fair share of a half, of which half is the floor for power, a fifth for delay@.
    assert score_of(parts, "power") == 7.0
    assert score_of(parts, "power", 0.5) == pytest.approx(7.0 * 0.1 / 0.5)
    assert score_of(parts, "delay@", 0.5) == pytest.approx(0.4 * 0.1 / 0.2)


def test_harm_by_chance_in_one_of_many_families_does_not_count() -> None:
    rng = np.random.default_rng(1)
    families = [f"family-{number:02}" for number in range(25)]
    rows = pd.MultiIndex.from_product([families, range(4)], names=["family", "network"])
    cubic = pd.Series(1.0, rows)
    alike = cubic + rng.normal(0.001, 0.01, len(rows))
    # On average it is a little better than CUBIC, and in some family worse by over two standard errors.
    gains = alike.groupby(level="family").agg(["mean", "sem"])
    assert ((gains["mean"] - 1) / gains["sem"]).min() < -2
    timid = cubic - 0.0001
    measures = pd.DataFrame({"cubic": cubic, "alike": alike, "timid": timid})
    assert best_without_harm(measures) == "alike"
    measures.loc["family-03", "alike"] = [0.5, 0.51, 0.49, 0.5]
    measures.loc["family-03", "timid"] = 1.0
    assert best_without_harm(measures) != "alike"


def test_what_is_printed_has_every_family_though_a_start_was_not_grown() -> None:
    losses = {"power": {POLICY: 0.01, "bbr": 0.02}}
    flight = FittedTree(
        "power", "flight", [], {"lossy": 0.02, "slow": 0.04}, {"lossy": 0.05, "slow": 0.06}
    )
    start = constant_tree("power", "bbr", _outcomes("bbr"))
    text = StringIO()
    Terminal(100, text).print_table(models_table(TrainingResult("", [start, flight], 9, losses)))
    printed = text.getvalue()
    assert all(each in printed for each in ("flight", "lossy", "2.0%", "5.0%", "slow", "4.0%", "6.0%"))
    assert "start" not in printed


@pytest.mark.slow
def test_a_policy_for_bounds_has_trees_of_its_own(tmp_path: Path) -> None:
    small = {"scenarios": ("lossy", "slow"), "cca": "cubic,bbr,vegas", "networks": 2, "samples": 1}
    training = train(
        "own", requirements=OTHER_MEASURES, **small, full_runs=2, max_leaves=2, min_samples_leaf=2
    )
    assert [tree.requirement for tree in training.models[::2]] == list(OTHER_MEASURES)
    assert set(training.regrets) == set(OTHER_MEASURES)
    assert describe_policy("own", training.text)["choices"]
    file = tmp_path / "own.toml"
    file.write_text(training.text, encoding="utf-8")
    result = compare(
        "steady-5-18", cca=[f"auto:policy={file},requirement=power"], runs=1, duration="5s"
    )
    assert "expected of" in result.results.tables["decisions"]["reason"][-1].as_py()
