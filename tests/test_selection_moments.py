"""Measured moments of a policy: what makes them alike, and the table in the file."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from celltcp._core import describe_policy, policy_text
from celltcp.cli.select.policies import _shorten
from celltcp.selection.training.counterfactual import PARTS, Outcomes, Point
from celltcp.selection.training.families import draw_networks
from celltcp.selection.training.fit import constant_tree
from celltcp.selection.training.knn_examples import examples_csv, with_bound_features
from celltcp.selection.training.knn_weights import fit_knn
from celltcp.selection.training.policy_file import policy_text as written

CCAS = ["bbr", "vegas"]
FEATURES = ["base_rtt", "capacity", "queue"]


def made_up(each: int = 40) -> Outcomes:
    """Moments of two families: BBR is best where the capacity, if it is known, is below 50 Mbit/s."""
    result = Outcomes()
    rng = np.random.default_rng(1)
    good, bad = (0.9,) * len(PARTS), (0.4,) * len(PARTS)
    for number, network in enumerate(draw_networks(["lossy", "stepping"], each, seed=3)):
        known = {"base_rtt": 50.0, "queue": float(rng.random()), "capacity": float(rng.random() * 100)}
        first = known["capacity"] < 50.0
        if number % 10 == 0:
            del known["capacity"]
        result.points.append(Point(network, "cubic", 2.0))
        result.features.append(known)
        result.parts.append({"bbr": good if first else bad, "vegas": bad if first else good})
    return result


def test_what_tells_weighs_most_and_moments_left_out_are_decided_by_it() -> None:
    got = fit_knn(made_up(), "balanced", CCAS, FEATURES, seed=1)
    assert max(got.weights, key=lambda name: got.weights[name]) == "capacity"
    # What is the same at all moments tells nothing.
    assert "base_rtt" not in got.weights
    assert sum(weight for name, weight in got.weights.items() if name != "before") == pytest.approx(
        1.0, abs=1e-3
    )
    assert 0.0 < got.reach < 0.5
    # Where the capacity is not known, one in ten, the choice is a guess.
    for family, lost in got.regret.items():
        assert lost < 0.1 < got.fixed_cca_regret[family]


def test_moments_that_tell_nothing_weigh_all_that_is_known_the_same() -> None:
    few = made_up(2)
    got = fit_knn(few, "balanced", CCAS, [*FEATURES, "jitter"], seed=1)
    assert got.weights["base_rtt"] == got.weights["queue"]
    assert "jitter" not in got.weights


def test_the_table_holds_what_was_measured() -> None:
    result = made_up(5)
    table = pd.read_csv(io.StringIO(examples_csv(result, CCAS, FEATURES)))
    assert list(table.columns[:6]) == ["family", "before", "fair_share", *FEATURES]
    assert len(table) == len(result.points)
    assert table["family"].tolist() == [point.network.family for point in result.points]
    assert table["capacity"].isna().tolist() == ["capacity" not in each for each in result.features]
    assert set(table["a:bbr"]) == {90, 40}
    # Requirements of their own have units of their own, so that they are over the best of the moment.
    assert set(table["power:bbr"]) == {100, round(100 * 0.4 / 0.9)}


def test_a_moment_at_which_no_congestion_control_gets_anything_promises_nothing() -> None:
    result = made_up(1)
    at = PARTS.index("goodput@")
    result.parts[0] = {cca: (*each[:at], 0.0, *each[at + 1 :]) for cca, each in result.parts[0].items()}
    table = pd.read_csv(io.StringIO(examples_csv(result, CCAS, FEATURES)))
    assert [table[f"goodput@:{cca}"][0] for cca in CCAS] == [0, 0]
    assert max(table[f"goodput@:{cca}"][1] for cca in CCAS) == 100
    assert max(table[f"power:{cca}"][0] for cca in CCAS) == 100


def test_the_bound_of_each_network_is_known_at_its_moments() -> None:
    result = made_up(1)
    result.features[0] = {"base_rtt": 50.0, "high_queue": 1.0, "loss_queue": 30.0, "bdp": 10.0}
    bound = float(result.points[0].network.requirement("goodput@")[len("goodput@") : -len("ms")])
    first, second = with_bound_features(result).features
    assert first["base_over_bound"] == pytest.approx(50.0 / bound)
    assert first["high_over_bound"] == pytest.approx(100.0 / bound)
    assert first["full_over_bound"] == pytest.approx(200.0 / bound)
    assert "high_over_bound" not in second
    assert "base_over_bound" not in result.features[0]


def test_a_policy_of_moments_can_be_used_and_a_terminal_shows_the_beginning_of_its_table() -> None:
    result = made_up()
    own = fit_knn(result, "balanced", CCAS, FEATURES, seed=1)
    features = [name for name in own.weights if name != "before"]
    start = constant_tree("balanced", "bbr", result)
    table = examples_csv(result, CCAS, features)
    text = written("mine", "Moments.", "", features, [], [start, own], table)
    assert set(CCAS) <= set(describe_policy("mine", text)["choices"])
    short = _shorten(text)
    assert "(77 more; with > FILE all are written)" in short
    assert short.count("\n") == text.count("\n") - 76
    assert _shorten(policy_text("rules")) == policy_text("rules")
