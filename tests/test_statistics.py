"""Intervals and ties."""

import math

from celltcp.results.statistics import best_and_ties, estimate, paired_difference, verdict


def test_the_interval_is_students() -> None:
    # t(0.975, 4) = 2.776; standard deviation of 1..5 is sqrt(2.5).
    result = estimate([1, 2, 3, 4, 5])
    assert result.mean == 3
    assert result.ci95 is not None
    assert math.isclose(result.ci95, 2.7764451 * math.sqrt(2.5 / 5), rel_tol=1e-6)


def test_equal_values_and_single_values_have_no_interval() -> None:
    assert estimate([2.0, 2.0, 2.0]).ci95 is None
    assert estimate([2.0]).ci95 is None
    assert math.isnan(estimate([math.nan]).mean)


def test_ties_come_from_paired_differences_not_from_overlapping_intervals() -> None:
    # The channel makes runs differ by tens, the congestion controls always by one.
    good = [10.0, 50.0, 90.0, 30.0]
    worse = [9.0, 49.1, 89.0, 28.9]
    assert estimate(good).ci95 > 20
    assert best_and_ties({"good": good, "worse": worse}) == ["good"]
    assert not paired_difference(good, worse).includes_zero
    noise = [10.5, 49.0, 91.0, 29.4]
    assert best_and_ties({"good": good, "noise": noise}) == ["good", "noise"]


def test_a_difference_that_is_sure_and_negligible_is_a_tie() -> None:
    values = {"a": [18.88] * 3, "b": [18.80] * 3, "c": [18.60, 18.61, 18.60]}
    result = verdict(values)
    assert (result.best, result.tied, result.undecided) == ("a", ("b",), ())
