"""Whether engines find the same best congestion controls: sets on made-up runs, and what is refused."""

import math
from pathlib import Path

import pandas as pd
import pytest

from celltcp.selection.engine_best_sets import (
    by_chance,
    differences_of,
    means_of,
    overlaps_of,
    summary_of,
)

#: Three runs that vary together, so that paired differences are sharp.
CHANNEL = (0.0, 1.0, 3.0)


def made_up(scenario: str, **engines: dict[str, float | list[float]]) -> pd.DataFrame:
    """Runs of a scenario: per engine and congestion control its goodput above that of the channel."""
    rows = []
    for engine, ccas in engines.items():
        for cca, above in ccas.items():
            values = (
                above if isinstance(above, list) else [above + (0.01 * above) * s for s in (0, 1, 2)]
            )
            for seed, (channel, value) in enumerate(zip(CHANNEL, values, strict=True)):
                row = {"engine": engine, "scenario": scenario, "label": cca, "seed": seed}
                rows.append({**row, "goodput_mbps": channel + value, "pm_balanced": 0.5 + value / 100})
    return pd.DataFrame(rows)


AGREED = made_up(
    "agreed",
    # NV varies about BBR: nothing tells them apart. Reno is always behind.
    native={"bbr": 20.0, "nv": [19.0, 21.0, 19.5], "reno": 10.0},
    kernel={"bbr": 20.0, "nv": 16.0, "reno": 10.0},
)
APART = made_up(
    "apart",
    native={"bbr": 20.0, "nv": 19.0, "reno": 10.0},
    kernel={"bbr": 10.0, "nv": 18.0, "reno": 20.0},
)


def test_a_set_is_the_best_and_all_that_are_tied_with_it() -> None:
    case = overlaps_of(means_of(AGREED, ["goodput"])).iloc[0]
    assert case["native"] == ["bbr", "nv"]
    assert case["kernel"] == ["bbr"]
    assert case["both"] == ["bbr"]
    assert case["overlap"]


def test_sets_without_a_common_member_do_not_overlap() -> None:
    case = overlaps_of(means_of(APART, ["goodput"])).iloc[0]
    assert (case["native"], case["kernel"], case["both"]) == (["bbr"], ["reno"], [])
    assert not case["overlap"]


def test_what_the_choice_of_an_engine_costs_under_the_other_one() -> None:
    case = overlaps_of(means_of(APART, ["goodput"])).iloc[0]
    # Means: the channel's 4/3, and what is above it with 1 % on average.
    best, worst = 4 / 3 + 20 * 1.01, 4 / 3 + 10 * 1.01
    assert case["native_choice"] == pytest.approx(100 * (worst / best - 1))
    assert case["kernel_choice"] == pytest.approx(100 * (worst / best - 1))


def test_standings_have_means_and_paired_differences_to_the_best_of_the_engine() -> None:
    standings = means_of(APART, ["goodput"]).set_index(["engine", "cca"])
    nv = standings.loc[("native", "nv")]
    assert nv["mean"] == pytest.approx(4 / 3 + 19 * 1.01)
    assert nv["to_best"] == pytest.approx(-100 * 1.01 / (4 / 3 + 20 * 1.01))
    # The channel varies by 3 Mbit/s, the difference by 0.02: the interval is that of the difference.
    assert nv["to_best_ci95"] == pytest.approx(100 * 4.303 * 0.01 / math.sqrt(3) / 21.533, rel=1e-3)
    assert not nv["best"]
    assert standings.loc[("native", "bbr"), "to_best"] == 0
    assert standings.loc[("kernel", "reno"), "best"]


def test_differences_are_listed_worst_first_with_cases_without_overlap_before_others() -> None:
    worse = made_up(
        "worse",
        native={"bbr": 20.0, "nv": [19.0, 21.0, 19.5], "reno": 10.0},
        kernel={"bbr": 20.0, "nv": 2.0, "reno": 10.0},
    )
    runs = pd.concat([AGREED, worse, APART], ignore_index=True)
    listed = differences_of(means_of(runs, ["goodput"]))
    places = list(zip(listed["scenario"], listed["cca"], listed["only"], strict=True))
    assert set(places[:2]) == {("apart", "bbr", "native"), ("apart", "reno", "kernel")}
    assert places[2:] == [("worse", "nv", "native"), ("agreed", "nv", "native")]
    assert list(listed["overlap"]) == [False, False, True, True]
    nv = listed.iloc[3]
    assert nv["kernel"] == pytest.approx(-100 * 4 * 1.01 / (4 / 3 + 20 * 1.01))
    assert abs(nv["native"]) <= nv["native_ci95"]


def test_engines_that_agree_in_all_leave_nothing_to_list() -> None:
    same = made_up("same", native={"bbr": 20.0, "reno": 10.0}, kernel={"bbr": 30.0, "reno": 10.0})
    standings = means_of(same, ["goodput", "balanced"])
    assert differences_of(standings).empty
    assert overlaps_of(standings)["overlap"].all()


def test_requirements_are_cases_of_their_own() -> None:
    runs = APART.copy()
    runs.loc[runs["engine"] == "kernel", "pm_balanced"] = runs.loc[
        runs["engine"] == "native", "pm_balanced"
    ].to_numpy()
    cases = overlaps_of(means_of(runs, ["goodput", "balanced"])).set_index("requirement")
    assert not cases.loc["goodput", "overlap"]
    assert cases.loc["balanced", "overlap"]


def test_where_nobody_gets_anything_nobody_is_best_and_nothing_overlaps() -> None:
    dead = made_up("dead", native={"bbr": 1.0, "reno": 0.5}, kernel={"bbr": 1.0, "reno": 1.0})
    dead.loc[dead["engine"] == "kernel", "goodput_mbps"] = 0.0
    standings = means_of(dead, ["goodput"])
    case = overlaps_of(standings).iloc[0]
    assert (case["native"], case["kernel"], bool(case["overlap"])) == (["bbr"], [], False)
    assert math.isnan(case["native_choice"])
    listed = differences_of(standings).iloc[0]
    assert (listed["cca"], listed["only"]) == ("bbr", "native")
    assert math.isnan(listed["kernel"])


def test_the_summary_counts_cases_and_says_how_large_sets_are() -> None:
    runs = pd.concat([AGREED, APART], ignore_index=True)
    summary = summary_of(overlaps_of(means_of(runs, ["goodput"])))
    assert list(summary["requirement"]) == ["goodput"]
    row = summary.iloc[0]
    assert (row["cases"], row["overlap"], row["share"]) == (2, 1, 0.5)
    assert (row["native"], row["kernel"], row["both"]) == (1.5, 1.0, 0.5)
    counted = (row["same_best"], row["native_in_kernel"], row["kernel_in_native"])
    assert counted == (1, 1, 1)
    # Two of three with one of three: 2/3; one with one: 1/3.
    assert row["by_chance"] == pytest.approx(0.5)


def test_the_summary_of_several_requirements_ends_with_all_of_them() -> None:
    cases = overlaps_of(means_of(APART, ["goodput", "balanced"]))
    summary = summary_of(cases)
    assert list(summary["requirement"]) == ["goodput", "balanced", "all"]
    assert summary["cases"].iloc[-1] == 2


@pytest.mark.parametrize(
    ("ccas", "first", "second", "expected"),
    [(4, 1, 1, 1 / 4), (4, 2, 2, 5 / 6), (4, 3, 2, 1.0), (17, 17, 1, 1.0), (17, 0, 3, 0.0)],
)
def test_large_sets_overlap_by_chance(ccas: int, first: int, second: int, expected: float) -> None:
    assert by_chance(ccas, first, second) == pytest.approx(expected)


def test_without_a_kernel_it_is_told_how_to_get_one(
    celltcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    done = celltcp("select", "compare-engines", "--scenarios", "steady-20-68", "--out", "out")
    assert done.returncode == 2
    assert "celltcp kernel build" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))
