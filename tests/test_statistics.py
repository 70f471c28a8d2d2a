"""Intervals and ties."""

import math

from celltcp.comparison.metrics import best_by_metric
from celltcp.results.statistics import Verdict, best_and_ties, estimate, paired_difference, verdict


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


def test_the_advice_counts_the_runs_that_a_tie_or_a_difference_needs() -> None:
    """The half width falls with the root of the runs: to the room that is left within the margin."""
    base = [100.0, 104.0, 96.0, 100.0]

    def needed(gaps: list[float]) -> int | None:
        return verdict(
            {"a": base, "b": [each - gap for each, gap in zip(base, gaps, strict=True)]}
        ).runs_needed

    # Student's t with three degrees of freedom; the margin is 5 % of 100.
    # A mean of 1 is a tie once the half width is below 4.
    assert (
        needed([1 - 3, 1 + 6, 1 - 3, 1 + 0])
        == math.ceil(4 * (3.1824 * math.sqrt(54 / 3 / 4) / 4) ** 2) + 1
    )
    # A mean of 4 is a difference once it is below 4, long before a tie with a half width of 1.
    assert (
        needed([4 - 3, 4 + 6, 4 - 3, 4 + 0])
        == math.ceil(4 * (3.1824 * math.sqrt(54 / 3 / 4) / 4) ** 2) + 1
    )


def test_a_mean_without_an_end_is_behind_only_if_every_pair_says_so() -> None:
    times = {"good": [-1.0, -2.0, -1.5], "mixed": [-0.9, -math.inf, -1.4]}
    assert verdict(times) == Verdict("good", (), ("mixed",), None)
    times["mixed"] = [-1.1, -math.inf, -1.6]
    assert verdict(times).best == "good"


def test_without_anything_late_all_are_as_good() -> None:
    late = {"cubic": [0.0, 0.0], "bbr": [0.0, 0.0]}
    assert best_by_metric("late_share", late, random=True) == Verdict("cubic", ("bbr",))
    one = {cca: values[:1] for cca, values in late.items()}
    assert best_by_metric("late_share", one, random=True).best is None
    nothing = {"cubic": [0.0, 0.0], "bbr": [0.0, 0.0]}
    assert best_by_metric("goodput_mbps", nothing, random=True).leader is None
