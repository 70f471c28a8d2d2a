"""Intervals and ties."""

import math
import random

import numpy as np
import pytest

from celltcp.comparison.metrics import RANKED, best_by_metric, best_of, sign_of
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.comparison.verdicts.verdict_tables import verdict_text
from celltcp.results.statistics import (
    Estimate,
    Verdict,
    best_and_ties,
    estimate,
    paired_difference,
    paired_gap,
    verdict,
    within,
)


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
    base = [100.0, 104.0, 96.0, 100.0, 100.0]

    def needed(gap: float) -> int | None:
        # The margin is 5 % of 100, the half width of these five 4.6.
        others = [each - gap + noise for each, noise in zip(base, (3, -6, 3, 0, 0), strict=True)]
        return verdict({"a": base, "b": others}).runs_needed

    # A mean of 1 is likely a tie soon, and one of 4 a difference.
    near, far = needed(1), needed(4)
    assert near is not None
    assert far is not None
    assert 6 <= near <= 12
    assert 6 <= far <= 12
    # Between both the intervals have to be narrow.
    between = needed(2.5)
    assert between is None or between > max(near, far)


@pytest.mark.parametrize("runs", [5, 8, 12])
def test_a_difference_that_the_runs_hardly_show_gets_no_number(runs: int) -> None:
    """Recommended numbers would grow from one to the next: their runs do not decide either."""
    draw = random.Random(runs)
    decided = advised = silent = 0
    while advised < 150:
        # Differences of all sizes, far from the margin.
        gap, spread = draw.uniform(-1, 1), draw.uniform(0.1, 1)
        base = [draw.uniform(0.9, 1.1) for _ in range(10 * runs)]
        others = [each - draw.gauss(gap, spread) for each in base]
        first = verdict({"a": base[:runs], "b": others[:runs]})
        if first.best is not None:
            continue
        if first.runs_needed is None:
            silent += 1
            continue
        assert first.runs_needed <= 10 * runs
        advised += 1
        count = first.runs_needed
        decided += verdict({"a": base[:count], "b": others[:count]}).best is not None
    assert silent > advised / 4
    assert decided / advised > 0.7


@pytest.mark.parametrize("runs", [2, 3, 4, 5, 8, 12])
def test_the_advice_holds_for_drawn_differences_and_few_runs_get_a_fixed_next_step(runs: int) -> None:
    draw = random.Random(runs)
    undecided = decided = 0
    while undecided < 150:
        gap, spread = draw.gauss(0, 0.15), math.exp(draw.uniform(math.log(0.02), math.log(0.3)))
        base = [draw.uniform(0.9, 1.1) for _ in range(1000)]
        others = [each - draw.gauss(gap, spread) for each in base]
        first = verdict({"a": base[:runs], "b": others[:runs]})
        if first.best is not None:
            continue
        if runs < 5:
            assert (first.runs_needed, first.is_next_step) == (10, True)
            undecided += 1
        elif advised := first.runs_needed:
            assert not first.is_next_step
            undecided += 1
            # The first runs are among those advised, as their seeds are.
            decided += verdict({"a": base[:advised], "b": others[:advised]}).best is not None
    assert runs < 5 or decided / undecided > 0.7


def test_a_mean_without_an_end_is_behind_only_if_every_pair_says_so() -> None:
    times = {"good": [-1.0, -2.0, -1.5], "mixed": [-0.9, -math.inf, -1.4]}
    assert verdict(times) == Verdict("good", (), ("mixed",), None)
    times["mixed"] = [-1.1, -math.inf, -1.6]
    assert verdict(times).best == "good"


def test_without_anything_late_all_are_as_good() -> None:
    late = {"cubic": [0.0, 0.0], "bbr": [0.0, 0.0]}
    assert best_by_metric("late_share", late, random=True) == Verdict(
        "cubic", ("bbr",), are_all_tied=True
    )
    one = {cca: values[:1] for cca, values in late.items()}
    assert best_by_metric("late_share", one, random=True).best is None
    nothing = {"cubic": [0.0, 0.0], "bbr": [0.0, 0.0]}
    assert best_by_metric("goodput_mbps", nothing, random=True).leader is None


def test_channels_that_differ_by_factors_are_compared_by_ratios() -> None:
    """On each channel one has a quarter to a half of the other: its mean is not behind by chance."""
    values = {
        "cubic": [1146.0, 378.0, 641.0],
        "bbr": [1036.0, 298.0, 551.0],
        "yeah": [249.0, 141.0, 303.0],
    }
    result = verdict(values)
    assert result.leader == "cubic"
    assert "yeah" not in result.ranked
    gap = paired_gap(values["cubic"], values["yeah"])
    assert paired_difference(values["cubic"], values["yeah"]).includes_zero
    # What is printed says the same as the verdict, and the same from the other side.
    assert gap.mean > (gap.ci95 or 0.0) > 0
    back = paired_gap(values["yeah"], values["cubic"])
    assert (back.mean, back.ci95) == (-gap.mean, gap.ci95)
    # The sign of metrics of which less is better does not matter.
    negative = paired_gap([-each for each in values["yeah"]], [-each for each in values["cubic"]])
    assert (negative.mean, negative.ci95) == (gap.mean, gap.ci95)
    # Ratios that do not agree decide nothing.
    mixed = {"one": [1000.0, 100.0, 300.0], "other": [500.0, 140.0, 290.0]}
    assert verdict(mixed).undecided == ("other",)
    # Channels that are alike are compared by differences as before.
    alike = [10.0, 11.0, 12.0], [9.0, 10.5, 11.0]
    assert paired_gap(*alike) == paired_difference(*alike)


def test_three_runs_show_that_no_frame_is_late_where_a_part_is_in_each_run_of_the_other() -> None:
    """The shares of one differ by a factor of seven, but their odds are far from those of none."""
    draw = random.Random(4)
    for _ in range(20):
        late = [draw.uniform(0.1, 0.2), draw.uniform(0.4, 0.6), draw.uniform(0.8, 0.9)]
        shares = {"bbr": [0.0, 0.0, 0.0], "cubic": draw.sample(late, 3)}
        assert paired_difference(*shares.values()).includes_zero
        assert best_of("late_share", shares, random=True).best == "bbr"
        assert best_of("completed_share", shares, random=True).best == "cubic"
    # A single run that differs, or runs that do not agree, decide nothing.
    for other in ([0.0, 0.0, 0.9], [0.5, 0.0, 0.9]):
        shares = {"bbr": [0.0, 0.2, 0.0], "cubic": other}
        assert best_of("late_share", shares, random=True).best is None


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("kind", ["collapse", "rare", "spread", "two values"])
def test_shares_that_are_alike_differ_by_chance_in_no_more_than_one_of_twenty(
    kind: str, runs: int
) -> None:
    """Shares of late frames in runs that collapse by chance are no normal values."""
    rng = np.random.default_rng(runs)
    size = (2000, 2, runs)
    shares = {
        "collapse": np.where(rng.random(size) < 0.5, 0.0, rng.uniform(0.1, 0.9, size)),
        "rare": rng.binomial(1800, 0.002, size) / 1800,
        "spread": rng.beta(0.3, 0.5, size),
        "two values": np.where(rng.random(size) < 0.5, 0.0, 0.9),
    }[kind]
    gaps = [paired_gap(*pair.tolist(), are_shares=True) for pair in shares]
    decided = sum(not gap.includes_zero for gap in gaps)
    # Three deviations of a count of 5 % of 2000.
    assert decided <= 100 + 30


def test_an_undecided_leader_has_the_runs_in_which_it_is_ahead() -> None:
    names = {"bbr": "bbr", "cubic": "cubic"}
    times = {"bbr": [1.0, 1.0, 1.0], "cubic": [1.1, 3.0, 9.0]}

    def text() -> str:
        return verdict_text(best_of("response_p95_s", times, random=True), names)

    # One of two that are alike is ahead in three tosses of a coin in 2 of 8 cases.
    assert "bbr is best in all 3 runs, which chance gives in 1 of 4 cases; try" in text()
    times["cubic"][0] = 1.0
    assert "bbr is best in 2 of 3 runs and behind in none; try" in text()
    times["cubic"][0] = 0.9
    assert "bbr is best in 2 of 3 runs; try" in text()
    times["cubic"][1] = 0.9
    assert "runs" not in text().partition(";")[0]


@pytest.mark.parametrize("spread", [0.2, 1.5])
def test_of_two_that_are_alike_one_in_twenty_differs_by_chance(spread: float) -> None:
    """Also on channels that differ by factors: `spread` is the deviation of their logarithms."""
    rng = np.random.default_rng(5)
    trials, decided = 1500, 0
    for _ in range(trials):
        level, one, other = (width * rng.standard_normal(4) for width in (spread, 0.15, 0.15))
        gap = paired_gap(np.exp(level + one).tolist(), np.exp(level + other).tolist())
        decided += not gap.includes_zero
    assert 0.035 < decided / trials < 0.065


def test_a_late_frame_in_some_thousands_tells_no_congestion_controls_apart() -> None:
    """Users see no difference between 3 and 5 late frames of 36 000, whatever the number of runs."""
    shares = {"bbr": [0.0001, 0.0, 0.0002], "reno": [0.0, 0.0003, 0.0001]}
    rare = best_of("late_share", shares, random=True)
    assert (rare.undecided, len(rare.tied)) == ((), 1)
    often = {name: [value * 300 for value in values] for name, values in shares.items()}
    assert best_of("late_share", often, random=True).undecided


@pytest.mark.parametrize("metric", [name for name in RANKED if min_difference(name)])
def test_differences_that_nobody_notices_are_ties_by_every_rule(metric: str) -> None:
    """A significant difference is a tie for verdict and stake within the threshold, and not beyond."""
    draw = random.Random(metric)
    least, sign = min_difference(metric), sign_of(metric)
    base = [draw.uniform(2, 3) * least for _ in range(4)]
    for factor in (draw.uniform(0.3, 0.95), draw.uniform(1.5, 9)):
        # The mean counts, also where its interval ends beyond the threshold.
        spread = draw.uniform(0.2, 0.25) * factor * least
        other = [value - sign * factor * least for value in base]
        other = [value + spread * step for value, step in zip(other, (-1, 1, -1, 1), strict=True)]
        values = {"cubic": base, "bbr": other}
        assert not paired_gap(base, other).includes_zero
        result = best_of(metric, values, random=True)
        stake = Stake("flow", metric, metric, values, result)
        assert result.are_all_tied == stake.is_tied("cubic", "bbr") == (factor < 1)
        assert stake.is_gain("cubic", "bbr") == (factor > 1)


@pytest.mark.parametrize("seed", range(20))
def test_intervals_of_shares_stay_within_0_and_1_and_have_the_mean_in_them(seed: int) -> None:
    draw = random.Random(seed)
    shares = [min(draw.random() * draw.choice([0.05, 1, 1.5]), 1.0) for _ in range(draw.randint(2, 9))]
    mean = estimate(shares)
    limited = within(mean, 0.0, 1.0)
    assert mean.ci95 is not None
    if limited.ends is None:
        assert mean.mean - mean.ci95 >= 0
        assert mean.mean + mean.ci95 <= 1
    else:
        low, high = limited.ends
        assert 0 < low < mean.mean < high < 1
    # A quantity with a lower limit only ends there.
    delays = within(mean, 0.0, math.inf)
    if delays.ends is not None:
        assert delays.ends == (0.0, mean.mean + mean.ci95)


def test_the_interval_of_successes_is_wilsons() -> None:
    """4 of 5 with a normal quantile z: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)."""
    share, count, z = 0.8, 5, 1.96
    half = z * math.sqrt(share * (1 - share) / count)
    limited = within(Estimate(share, half), 0.0, 1.0)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    root = math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    side = z * root / (1 + z * z / count)
    assert limited.ends == pytest.approx((centre - side, centre + side))
