"""celltcp fidelity: the native TCP against another one on the same path realisations."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import celltcp.campaign.engines
from celltcp import CelltcpError, Scenario
from celltcp.campaign import folders
from celltcp.campaign.engines import Engine, engine
from celltcp.cli.fidelity import fidelity as command
from celltcp.fidelity.campaign import EnginePair, judge, plan_case, rerun_undecided, run_plan
from celltcp.fidelity.cases import Case, case_names, choose_cases, is_steady
from celltcp.fidelity.causes import UNKNOWN, Cause, cause_of, known_causes
from celltcp.fidelity.data import bands_for
from celltcp.fidelity.differences import (
    METRICS,
    Difference,
    Fidelity,
    Judgement,
    difference,
    judge_case,
)
from celltcp.fidelity.report.page import chosen_trajectories, page_text, write_page
from celltcp.fidelity.rows import difference_text, rows, verdict
from celltcp.fidelity.trajectory import Trajectory, cwnd_distance, step_s
from celltcp.results.statistics import Estimate
from celltcp.scenarios.scenarios import load_scenario
from docs_pages import MAX_SENTENCE_WORDS, sentences


class Altered(Engine):
    """The native engine with other settings, in the place of the kernel."""

    changes = ("tcp.initial_window=2",)

    def run_arguments(self, number, label, scenario, seed):
        other = Scenario.from_toml(scenario.to_toml(), "altered", ".", list(self.changes))
        return super().run_arguments(number, label, other, seed)


class Slower(Altered):
    """One that a send buffer of 20 segments holds back."""

    changes = ("tcp.send_buffer_max=30kB",)


def window(values: list[float], *, first_data_s: float = 0.0, step_s: float = 0.01) -> Trajectory:
    """A trajectory with one sample per step, the first of them with the first data byte."""
    times = first_data_s + np.arange(len(values)) * step_s
    nothing = np.array([])
    return Trajectory(first_data_s, times, np.array(values, float), nothing, nothing)


class TestDistance:
    def test_of_equal_windows_is_zero(self) -> None:
        assert cwnd_distance(window([10, 20, 40]), window([10, 20, 40])) == 0

    def test_is_the_logarithm_of_a_constant_ratio_whichever_is_larger(self) -> None:
        small, large = window([10.0] * 50), window([11.0] * 50)
        assert cwnd_distance(large, small) == pytest.approx(math.log(1.1))
        assert cwnd_distance(small, large) == pytest.approx(math.log(1.1))

    def test_weighs_by_time_and_does_not_cancel(self) -> None:
        first = window([10.0] * 100)
        other = window([20.0] * 25 + [10.0] * 50 + [5.0] * 25)
        assert cwnd_distance(first, other) == pytest.approx(math.log(2) / 2)

    def test_counts_from_the_first_data_byte_of_each(self) -> None:
        ramp = [10.0 + i for i in range(100)]
        assert cwnd_distance(window(ramp), window(ramp, first_data_s=3.21)) == pytest.approx(
            0, abs=1e-9
        )

    def test_ends_with_the_shorter_one(self) -> None:
        assert cwnd_distance(window([10.0] * 5), window([10.0] * 5 + [1000.0] * 95)) == 0

    def test_interpolates_between_samples(self) -> None:
        sparse = window([10.0, 20.0], step_s=1.0)
        dense = window([10.0 + i / 10 for i in range(101)])
        assert cwnd_distance(sparse, dense) == pytest.approx(0, abs=1e-9)

    def test_is_undefined_without_samples_or_data(self) -> None:
        assert math.isnan(cwnd_distance(window([]), window([10.0])))
        assert math.isnan(cwnd_distance(window([10.0], first_data_s=math.nan), window([10.0])))


class TestDifference:
    def test_is_paired_and_in_percent_of_the_mean_of_the_kernel(self) -> None:
        result = difference([11, 22, 33], [10, 20, 30], 6.0)
        assert (result.native, result.kernel) == (22, 20)
        assert result.percent == pytest.approx(10)
        # Differences 1, 2, 3: deviation 1; Student's quantile for two degrees of freedom is 4.3027.
        assert result.ci95 == pytest.approx(100 * 4.3027 / math.sqrt(3) / 20, rel=1e-4)

    def test_leaves_out_pairs_of_which_one_is_undefined(self) -> None:
        result = difference([11, math.nan, 33], [10, 20, 30], 6.0)
        assert (result.native, result.kernel, result.percent) == (22, 20, pytest.approx(10))

    def test_has_no_interval_where_runs_do_not_differ(self) -> None:
        assert difference([2.0, 2.0], [1.0, 1.0], None).ci95 is None

    def test_from_nothing_is_none_or_undefined(self) -> None:
        assert difference([0.0, 0.0], [0.0, 0.0], 5.0).percent == 0
        some = difference([1.0, 2.0], [0.0, 0.0], 5.0)
        assert math.isnan(some.percent)
        assert not some.is_within
        assert difference_text(some) == "undefined"

    @pytest.mark.parametrize(
        ("percent", "ci95", "band", "is_within", "is_open"),
        [
            (2.9, 0.05, 3.0, True, False),
            (-3.0, None, 3.0, True, False),
            (-3.1, 0.05, 3.0, False, False),
            (2.9, 0.2, 3.0, True, True),
            (-3.1, 0.2, 3.0, False, True),
            (300.0, 900.0, None, True, False),
        ],
    )
    def test_is_judged_on_its_mean(self, percent, ci95, band, is_within, is_open) -> None:
        result = Difference(1.0, 1.0, percent, ci95, band)
        assert (result.is_within, result.is_open) == (is_within, is_open)


@pytest.mark.parametrize(
    ("group", "cca", "goodput", "rtt"),
    [
        ("steady", "bbr", 3, 5),
        ("steady", "vegas", 3, 5),
        ("loss", "reno", 6, 10),
        ("cellular", "cubic", 6, 10),
        ("other", "bbr", 6, 10),
        ("outage", "vegas", 8, 12),
    ],
)
def test_the_band_depends_on_group_and_congestion_control(group, cca, goodput, rtt) -> None:
    assert bands_for(group, cca) == {"goodput_mbps": goodput, "rtt_mean_ms": rtt}


class TestCases:
    def test_the_set_has_its_groups(self) -> None:
        assert case_names("steady") == [
            f"steady-{rate}-{rtt}-{buffer}bdp"
            for rate in (5, 20, 100)
            for rtt in (18, 68)
            for buffer in ("0.3", "1", "5")
        ]
        assert case_names("loss") == ["loss-1e-4", "loss-1e-3", "loss-1e-2"]
        assert case_names("steps") == ["rise", "fall"]
        assert case_names("outage") == ["outage"]
        assert case_names("cellular") == ["drive", "drive-slow", "drive-fast"]

    def test_every_case_loads_and_its_runs_differ(self) -> None:
        cases = choose_cases()
        assert [case.name for case in cases] == case_names()
        assert [case.scenario.name for case in cases] == case_names()
        assert len({case.scenario.hash for case in cases}) == len(cases)
        assert all("start jitter" in case.scenario.randomness for case in cases)

    def test_a_case_overrides_the_scenario_of_the_library(self) -> None:
        (buffer,) = choose_cases(["steady-20-68-0.3bdp"])
        assert json.loads(buffer.scenario.to_json())["path"]["buffer"] == "0.3bdp"
        (loss,) = choose_cases(["loss-1e-3"])
        assert json.loads(loss.scenario.to_json())["path"]["loss"] == 0.001
        slow, fast = choose_cases(["drive-slow", "drive-fast"])
        correlations = [
            json.loads(case.scenario.to_json())["path"]["down"]["generate"]["correlation"]
            for case in (slow, fast)
        ]
        assert correlations == ["29s", "480ms"]

    def test_groups_and_names_give_each_case_once(self) -> None:
        cases = choose_cases(["outage", "loss-1e-3", "loss", "outage"], duration="7s")
        assert [case.name for case in cases] == ["loss-1e-3", "loss-1e-4", "loss-1e-2", "outage"]
        assert {case.scenario.duration_s for case in cases} == {7.0}

    def test_steady_is_every_link_that_does_not_change(self, tmp_path: Path) -> None:
        (built_in,) = choose_cases(["steady-20-68"])
        assert (built_in.name, built_in.group) == ("steady-20-68", "steady")
        assert not is_steady(load_scenario("drive"))
        assert not is_steady(load_scenario("rise"))
        for name, change in (("lossy", "path.loss=0.01"), ("up", "path.uplink_loss=0.01")):
            file = tmp_path / f"{name}.toml"
            file.write_text(load_scenario("steady-5-18", changes=[change]).to_toml())
            (own,) = choose_cases([str(file)])
            assert (own.name, own.group) == (name, "other")

    def test_two_files_of_one_name_are_refused(self, tmp_path: Path) -> None:
        files = [tmp_path / folder / "mine.toml" for folder in "ab"]
        for file in files:
            file.parent.mkdir()
            file.write_text("")
        with pytest.raises(CelltcpError, match="another case is called 'mine'"):
            choose_cases([str(file) for file in files])


def run_case(case, ccas, runs, seed, *, folder=None, overwrite=False):
    """The results of a case on the native engine."""
    campaign = plan_case(case, ccas, runs, seed, engine(), folder)
    return run_plan(campaign, EnginePair(engine(), engine(), overwrite=overwrite))


class TestEngines:
    def test_equal_ones_do_not_differ(self) -> None:
        (case,) = choose_cases(["drive"], "5s")
        same = run_case(case, ["cubic"], 2, 1)
        (result,) = judge_case(case, ["cubic"], same, same)
        sizes = {metric: result.differences[metric].percent for metric in METRICS}
        assert math.isnan(sizes.pop("completion_s"))
        assert set(sizes.values()) == {0}
        assert result.cwnd_distance.mean == 0
        assert verdict(result) == "within"

    def test_a_smaller_initial_window_shows(self) -> None:
        cases = choose_cases(["steady-20-68-1bdp"], "5s")
        (result,) = judge(cases, ["reno"], 2, 1, EnginePair(engine(), Altered("kernel"))).judgements
        assert result.differences["goodput_mbps"].percent > 0
        assert result.cwnd_distance.mean > 0.05

    def test_a_smaller_send_buffer_is_outside(self) -> None:
        cases = choose_cases(["steady-20-68-1bdp"], "5s")
        result = judge(cases, ["bbr", "newreno"], 2, 1, EnginePair(engine(), Slower("kernel")))
        assert [judgement.cca for judgement in result.outside] == ["bbr", "reno"]
        assert result.outside[0].differences["goodput_mbps"].percent > 100

    def test_an_undecided_one_is_run_again(self) -> None:
        cases = choose_cases(["steady-20-68-1bdp", "outage"], "5s")
        open_one = judgement("outage", "reno", 6.2, "outage")
        result = outcome(judgement("steady-20-68-1bdp", "reno", 9.0), open_one)
        assert [each.case for each in result.undecided] == ["outage"]
        first, second = rerun_undecided(result, cases, 3, EnginePair(engine(), engine())).judgements
        assert first is result.judgements[0]
        assert (second.runs, second.differences["goodput_mbps"].percent) == (3, 0)

    def test_completion_is_judged_where_a_connection_is_complete(self) -> None:
        short = 'flows.0.workload={kind = "sequence", size = "20kB", gap = "100ms"}'
        cases = [
            Case("drawn", "random", load_scenario("steady-20-68", changes=["duration=5s", *more]))
            for more in ([], [short])
        ]
        result = [
            judge_case(case, ["cubic"], same, same)[0].differences["completion_s"]
            for case in cases
            for same in [run_case(case, ["cubic"], 2, 1)]
        ]
        assert [each.band for each in result] == [None, 10.0]
        # A handshake, and two round trips of data.
        assert result[1].native == pytest.approx(3 * 0.068, rel=0.2)

    def test_a_run_of_days_has_no_more_samples_than_one_of_ten_minutes(self) -> None:
        assert [step_s(duration) for duration in (10, 600, 6_000, 200_000)] == [0.01, 0.01, 0.1, 3.334]

    def test_different_seeds_are_not_held_against_each_other(self) -> None:
        (case,) = choose_cases(["drive"], "1s")
        sides = [run_case(case, ["reno"], 1, seed) for seed in (1, 2)]
        with pytest.raises(CelltcpError, match="different seeds"):
            judge_case(case, ["reno"], *sides)

    def test_without_data_there_is_nothing_to_judge(self) -> None:
        # The handshake is not over when the run ends.
        scenario = load_scenario("steady-5-68", changes=["duration=1s", "flows.0.start=950ms"])
        case = Case("late", "steady", scenario)
        side = run_case(case, ["reno"], 1, 1)
        (result,) = judge_case(case, ["reno"], side, side)
        assert result.metrics_outside == ["rtt_mean_ms"]
        assert math.isnan(result.cwnd_distance.mean)
        assert rows([result])[0][2:4] == ["0.00 / 0.00\n+0.00 %", "- / -\nundefined"]
        (document,) = outcome(result).to_json([])["cases"]
        assert document["rtt_mean_ms"]["difference_percent"] is None


class TestKeptResults:
    def test_are_not_run_again(self, tmp_path: Path, monkeypatch) -> None:
        cases = choose_cases(["steady-5-18-1bdp", "outage"], "2s")
        first = judge(cases, ["reno"], 2, 1, EnginePair(engine(), Altered("kernel"), out=tmp_path))
        assert sorted(entry.name for entry in tmp_path.iterdir()) == ["outage", "steady-5-18-1bdp"]

        def fail(*_: object, **__: object) -> None:
            raise AssertionError("runs again")

        monkeypatch.setattr(folders, "run_groups", fail)
        again = judge(cases, ["reno"], 2, 1, EnginePair(engine(), Altered("kernel"), out=tmp_path))
        assert again.to_json([]) == first.to_json([])

    @pytest.mark.parametrize("change", ["runs", "duration", "build"])
    def test_of_something_else_are_run_again(self, tmp_path: Path, monkeypatch, change: str) -> None:
        (case,) = choose_cases(["outage"], "2s")
        run_case(case, ["reno"], 1, 1, folder=tmp_path)
        if change == "build":
            monkeypatch.setattr(Engine, "build", property(lambda _: "another"))
        (other,) = choose_cases(["outage"], "3s" if change == "duration" else "2s")
        runs = 2 if change == "runs" else 1
        if change != "runs":
            with pytest.raises(CelltcpError, match="holds finished results of outage"):
                run_case(other, ["reno"], runs, 1, folder=tmp_path)
        result = run_case(other, ["reno"], runs, 1, folder=tmp_path, overwrite=change != "runs")
        assert len(result.tables["runs"]) == runs
        assert result.tables["runs"]["duration_s"][0].as_py() == pytest.approx(
            other.scenario.duration_s
        )

    def test_of_an_interrupted_campaign_go_on(self, tmp_path: Path, monkeypatch) -> None:
        cases = choose_cases(["steady-5-18-1bdp", "outage"], "2s")

        def interrupted(share: float) -> None:
            if share > 0.6:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            judge(
                cases,
                ["reno"],
                2,
                1,
                EnginePair(engine(), Altered("kernel"), out=tmp_path),
                progress=interrupted,
            )
        assert (tmp_path / "steady-5-18-1bdp" / "kernel" / "runs.parquet").is_file()
        ran = []
        run_groups = folders.run_groups

        def counted(groups: list, **options: object) -> None:
            ran.append(groups[0][0][0].scenario.name)
            run_groups(groups, **options)

        monkeypatch.setattr(folders, "run_groups", counted)
        judge(cases, ["reno"], 2, 1, EnginePair(engine(), Altered("kernel"), out=tmp_path))
        assert ran == ["outage", "outage"]
        assert not list(tmp_path.rglob("parts"))


def judgement(case: str, cca: str, goodput_percent: float, group: str = "steady") -> Judgement:
    limits = bands_for(group, cca)
    differences = {metric: Difference(1.0, 1.0, 0.0, None, limits.get(metric)) for metric in METRICS}
    native = 20 * (1 + goodput_percent / 100)
    differences["goodput_mbps"] = Difference(native, 20.0, goodput_percent, 0.5, limits["goodput_mbps"])
    path = window([10.0, 20.0])
    return Judgement(case, group, cca, "0" * 16, differences, Estimate(0.1, 0.01), (path, path))


def outcome(*judgements: Judgement) -> Fidelity:
    return Fidelity(list(judgements), "1.2.3", "7.3.4", 10, 1)


class TestPage:
    found = outcome(
        judgement("steady-5-18-1bdp", "bbr", 9.0),
        judgement("steady-5-18-1bdp", "reno", -4.0),
        judgement("outage", "cubic", 1.0, "outage"),
    )

    def test_says_how_it_was_made_and_of_what(self) -> None:
        text = page_text(self.found, "celltcp fidelity --page x.md", [], [])
        assert "\n    celltcp fidelity --page x.md\n" in text
        words = " ".join(text.split())
        assert "the TCP of celltcp 1.2.3 with the TCP of Linux 7.3.4" in words
        assert "10 runs (seeds 1 to 10)" in words
        assert "1 of 3 comparisons are within their bands" in words
        assert "- goodput 3 %, mean RTT 5 %: Steady links (bbr, reno)." in text

    def test_names_each_cause_once_and_says_where_none_is_known(self) -> None:
        causes = [Cause("steady-5-*", "bbr", "The reason.")]
        result = outcome(*self.found.judgements, judgement("steady-5-18-5bdp", "bbr", -5.0))
        text = page_text(result, "celltcp fidelity", causes, [])
        assert text.count("The reason.") == 1
        assert text.count(UNKNOWN) == 1
        of_reason, of_none = text.index("The reason."), text.index(UNKNOWN)
        lines = [
            "| steady-5-18-1bdp | bbr | goodput +9.00 ±0.50 % |",
            "| steady-5-18-5bdp | bbr | goodput -5.00 ±0.50 % |",
            "| steady-5-18-1bdp | reno | goodput -4.00 ±0.50 % |",
        ]
        places = [text.index(line) for line in lines]
        assert of_reason < places[0] < places[1] < of_none < places[2]
        assert "| outage | cubic |" not in text

    def test_lists_apart_what_more_runs_could_turn(self) -> None:
        result = outcome(*self.found.judgements, judgement("steady-5-18-5bdp", "bbr", 3.2))
        text = page_text(result, "celltcp fidelity", [], [])
        words = " ".join(text.split())
        assert "1 of 4 comparisons are within their bands, 1 are undecided, 2 are outside." in words
        outside, undecided = text.split("## Undecided")
        row = "| steady-5-18-5bdp | bbr | goodput +3.20 ±0.50 % | 1 |"
        assert row in undecided
        assert "steady-5-18-5bdp" not in outside
        assert "| Steady links | 0 of 3 | 1 |" in undecided

    def test_says_so_if_nothing_is_outside(self) -> None:
        text = page_text(outcome(judgement("outage", "bbr", 0.0, "outage")), "celltcp", [], [])
        assert "## Outside their bands\n\nNone.\n" in text

    def test_counts_per_group_and_names_the_largest_differences(self) -> None:
        text = page_text(self.found, "celltcp fidelity", [], [])
        assert "| Steady links | 0 of 2 | 0 | +9.00 ±0.50 % (bbr, steady-5-18-1bdp) |" in text
        assert "| An outage of 2 s | 1 of 1 | 0 | +1.00 ±0.50 % (cubic, outage) |" in text

    def test_has_no_line_wider_than_120_outside_of_tables(self) -> None:
        causes = [Cause("*", "*", "A long cause. " * 30)]
        text = page_text(self.found, "celltcp fidelity", causes, [])
        assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 120

    def test_links_only_to_pictures_that_are_there(self, tmp_path: Path) -> None:
        import re

        write_page(self.found, tmp_path / "fidelity.md", "celltcp fidelity", [])
        text = (tmp_path / "fidelity.md").read_text()
        linked = re.findall(r"\]\((images/.*?)\)", text)
        written = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.png")]
        assert sorted(linked) == sorted(written)
        assert len(linked) == 4

    def test_shows_the_worst_of_each_congestion_control_and_six_at_most(self) -> None:
        many = [
            judgement(f"case-{number}", cca, 0.1 * number, group)
            for cca in ("reno", "cubic", "bbr", "vegas")
            for group in ("steady", "outage")
            for number in range(5)
        ]
        shown = chosen_trajectories(many)
        assert len(shown) == 6
        assert {each.case for each in shown} == {"case-4"}
        assert [each.max_band_ratio for each in shown] == sorted(
            (each.max_band_ratio for each in shown), reverse=True
        )


def test_a_verdict_names_what_is_outside_and_whether_more_runs_could_turn_it() -> None:
    assert verdict(judgement("x", "bbr", 1.0)) == "within"
    assert verdict(judgement("x", "bbr", 2.8)) == "within ?"
    assert verdict(judgement("x", "bbr", 3.2)) == "undecided: goodput"
    assert verdict(judgement("x", "bbr", -9.0)) == "outside: goodput"


def test_a_row_says_both_values_and_the_difference() -> None:
    (row,) = rows([judgement("x", "bbr", 1.0)])
    assert row[:3] == ["x", "bbr", "20.20 / 20.00\n+1.00 ±0.50 %"]
    assert row[-2:] == ["0.100 ±0.010", "within"]


def test_the_texts_of_the_page_have_short_sentences() -> None:
    everything = outcome(
        judgement("steady-5-18-1bdp", "bbr", 9.0), judgement("steady-5-18-5bdp", "bbr", 3.2)
    )
    page = page_text(everything, "celltcp fidelity", [], everything.judgements)
    for text in (page, *(cause.text for cause in known_causes())):
        assert not [each for each in sentences(text) if len(each.split()) > MAX_SENTENCE_WORDS]


def test_the_causes_that_are_kept_are_of_cases_that_exist() -> None:
    for cause in known_causes():
        assert any(cause_of(case, cause.cca, [cause]) == cause.text for case in case_names())


class TestCommand:
    @pytest.fixture(autouse=True)
    def _no_kernel_is_needed(self, monkeypatch, tmp_path: Path) -> None:
        def find(name: str = "native", kernel: str | None = None) -> Engine:
            assert kernel is None
            return engine() if name == "native" else Slower("kernel")

        monkeypatch.setattr(celltcp.campaign.engines, "engine", find)
        monkeypatch.chdir(tmp_path)

    def call(self, *arguments: str) -> object:
        quick = ("--runs", "2", "--duration", "2s")
        return CliRunner().invoke(command, [*quick, *arguments], catch_exceptions=False)

    def test_is_a_report_unless_it_is_strict(self) -> None:
        # With two runs Student's interval would reach back.
        arguments = ("--scenario", "steady-20-68-1bdp", "--cca", "reno", "--runs", "4")
        report = self.call(*arguments)
        assert report.exit_code == 0
        assert "outside: goodput" in report.stdout
        assert "0 of 1 within their bands" in report.stdout
        assert self.call(*arguments, "--strict").exit_code == 1

    def test_writes_tables_pictures_and_the_page(self, tmp_path: Path) -> None:
        done = self.call(
            *("--scenario", "outage", "--cca", "bbr,reno", "--out", "r", "--page", "p.md"),
            *("--json", "f.json"),
        )
        assert done.exit_code == 0
        for file in ("outage/bbr.png", "outage/reno.png", "overview.png", "overview.svg"):
            assert (tmp_path / "r" / file).stat().st_size > 1000
        for side in ("native", "kernel"):
            assert (tmp_path / "r" / "outage" / side / "samples.parquet").is_file()
        with (tmp_path / "r" / "fidelity.csv").open(newline="") as file:
            written = list(csv.DictReader(file))
        assert [row["cca"] for row in written] == ["bbr", "reno"]
        assert float(written[0]["goodput_mbps_native"]) > 1
        made_by = "celltcp fidelity --cca bbr,reno --scenario outage --runs 2 --duration 2s --page p.md"
        assert f"\n    {made_by}\n" in (tmp_path / "p.md").read_text()
        document = json.loads((tmp_path / "f.json").read_text())
        assert [case["cca"] for case in document["cases"]] == ["bbr", "reno"]
        assert document["cases"][0]["goodput_mbps"]["band_percent"] == 6

    def test_the_same_seeds_give_the_same_bytes(self) -> None:
        arguments = ("--scenario", "drive", "--cca", "bbr", "--json", "-")
        first = self.call(*arguments, "--jobs", "1").stdout
        assert json.loads(first)["cases"]
        assert self.call(*arguments, "--jobs", "2").stdout == first


CASES = {
    "scenario": (("--scenario", "outage,stedy"), "scenario 'stedy'", "did you mean 'steady'"),
    "file": (("--scenario", "none.toml"), "none.toml", "no such file"),
    "cca": (("--cca", "cubix"), '"cubix"', "did you mean"),
    "lacking": (("--cca", "reno,bbr3"), "'bbr3'", "not in Linux", "reno"),
    "duration": (("--duration", "soon"), "duration", "soon"),
    "runs": (("--runs", "0"), "--runs", "0"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_in_one_line(celltcp, tmp_path: Path, case: str) -> None:
    arguments, *parts = CASES[case]
    done = celltcp("fidelity", *arguments, "--out", "r", "--page", "p.md")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    message = done.stderr.strip().splitlines()[-1]
    assert all(part in message for part in parts), message
    assert list(tmp_path.iterdir()) == []
