"""Published figures beside ours."""

import math

import pytest

import celltcp as ct
from celltcp.papers import published_goodput, published_phases, rank_correlation
from celltcp.papers.beside import beside


def test_published_scenarios_are_built_in() -> None:
    names = {each.scenario for each in published_goodput()}
    assert len(names) == 4
    assert names <= set(ct.scenario_names())


def test_published_phases_add_up_to_the_published_means() -> None:
    # In s: atxutegi2018-thesis section 6.3; coming closer, the start-up is in the constrained area.
    lengths = {
        "mobility/forward-60-4g": {"start-up": 2, "sustainer": 48, "constrained": 10},
        "mobility/backward-60-4g": {"start-up": 2, "constrained": 8, "scaling": 50},
        "mobility/forward-300-4g": {"start-up": 2, "sustainer": 8, "constrained": 2},
        "mobility/backward-300-4g": {"start-up": 2, "scaling": 10},
    }
    for scenario, phases in lengths.items():
        by = published_phases(scenario)
        for each in published_goodput(scenario):
            total = sum(by[phase, each.cca] * seconds for phase, seconds in phases.items())
            assert total / sum(phases.values()) == pytest.approx(each.goodput_mbps, rel=0.03), each


def test_ranks_agree_fully_or_not_at_all() -> None:
    published = {name: (value, 0.01) for name, value in zip("abcde", (5, 4, 3, 2, 1), strict=True)}
    same = rank_correlation({name: [mean, mean] for name, (mean, _) in published.items()}, published)
    assert same is not None
    assert (same.rho, same.low, same.high) == pytest.approx((1, 1, 1))
    # One order of 5! agrees fully.
    assert same.chance == pytest.approx(1 / math.factorial(5))
    opposite = {name: [-mean, -mean] for name, (mean, _) in published.items()}
    against = rank_correlation(opposite, published)
    assert against is not None
    assert (against.rho, against.chance) == pytest.approx((-1, 1))


def test_wide_published_intervals_leave_the_ranks_open() -> None:
    published = {"a": (10.0, 20.0), "b": (11.0, 20.0), "c": (12.0, 20.0)}
    found = rank_correlation({"a": [1.0, 1.1], "b": [2.0, 2.1], "c": [3.0, 3.1]}, published)
    assert found is not None
    assert found.rho == pytest.approx(1)
    assert found.low < 0 < found.high
    assert rank_correlation({"a": [1.0], "b": [2.0]}, published) is None


def test_a_changed_scenario_is_called_that() -> None:
    as_built = beside(ct.compare("mobility/forward-300-4g", cca="reno", runs=1))
    assert as_built is not None
    assert as_built.unchanged
    changed = beside(ct.compare("mobility/forward-300-4g", cca="reno", runs=1, duration="2s"))
    assert changed is not None
    assert not changed.unchanged
    assert beside(ct.compare("drive", cca="reno", runs=1, duration="2s")) is None


def test_papers_prints_both_numbers(celltcp, tmp_path) -> None:
    assert "atxutegi2017" in celltcp("papers").stdout
    scenario = "mobility/backward-300-4g"
    done = celltcp("papers", "atxutegi2017", "--scenario", scenario, "--runs", "1", "--out", "p")
    assert done.returncode == 0, done.stderr
    assert "4.15 ±2.89" in done.stdout
    assert "rank correlation of 5" in done.stdout
    assert (tmp_path / "p" / "published.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "p" / scenario / "flows.parquet").is_file()
    for arguments, words in (
        (("nobody1999",), "allowed is one of atxutegi2017"),
        (("atxutegi2017", "--scenario", "drive"), "mobility/forward-60-4g"),
    ):
        refused = celltcp("papers", *arguments)
        assert refused.returncode == 2
        assert words in refused.stderr
