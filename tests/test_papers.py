"""Published figures beside ours."""

import json
import math
from dataclasses import replace

import pytest

import celltcp as ct
from celltcp.publications.agreement import outcome
from celltcp.publications.goodput_index import goodput_entries, goodput_files
from celltcp.publications.measured_values import measured_values, slot_interval
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import PaperRun
from celltcp.publications.plots import draw_outcomes
from celltcp.publications.publications import publications
from celltcp.publications.published import published_phases, published_tables, tables_in
from celltcp.publications.published_means import compare_published
from celltcp.publications.published_table import Published
from celltcp.publications.ranks import joint_p_value, rank_correlation
from celltcp.publications.replication import UncertainMean, replicate
from celltcp.publications.report.texts import agreement_text
from goodput_index import index_of_tables

HEADER = "# publication: atxutegi2017\n# experiment: table-9\n# figure: table 9\n# title: made up\n"
COLUMNS = "scenario,cca,quantity,unit,published,published_ci95\n"

#: Fields of a row of `celltcp papers --json`.
FIELDS = (
    *("publication", "experiment", "figure", "scenario", "cca", "quantity", "unit"),
    *("published", "published_ci95", "here", "here_ci95", "runs", "agrees", "note"),
)


def published_goodput(scenario: str | None = None, paper: str | None = None) -> list[Published]:
    """Published mean goodputs of whole ways: those of one scenario, of one paper, or all."""
    return [
        each
        for table in published_tables()
        if paper in (None, table.publication)
        for each in goodput_entries(table)
        if scenario in (None, each.scenario)
    ]


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
            assert total / sum(phases.values()) == pytest.approx(each.value, rel=0.03), each


def test_ranks_agree_fully_or_not_at_all() -> None:
    published = {name: (value, 0.01) for name, value in zip("abcde", (5, 4, 3, 2, 1), strict=True)}
    same = rank_correlation({name: [mean, mean] for name, (mean, _) in published.items()}, published)
    assert same is not None
    assert (same.rho, same.low, same.high) == pytest.approx((1, 1, 1))
    # One order of 5! agrees fully.
    assert same.p_value == pytest.approx(1 / math.factorial(5))
    opposite = {name: [-mean, -mean] for name, (mean, _) in published.items()}
    against = rank_correlation(opposite, published)
    assert against is not None
    assert (against.rho, against.p_value) == pytest.approx((-1, 1))


def test_wide_published_intervals_leave_the_ranks_open() -> None:
    published = {"a": (10.0, 20.0), "b": (11.0, 20.0), "c": (12.0, 20.0)}
    result = rank_correlation({"a": [1.0, 1.1], "b": [2.0, 2.1], "c": [3.0, 3.1]}, published)
    assert result is not None
    assert result.rho == pytest.approx(1)
    assert result.low < 0 < result.high
    assert rank_correlation({"a": [1.0], "b": [2.0]}, published) is None


def test_values_within_two_percent_share_a_rank() -> None:
    published = {"a": (10.0, 0.0), "b": (9.9, 0.0), "c": (5.0, 0.0)}
    ours = {"a": [9.0], "b": [9.1], "c": [2.0]}
    result = rank_correlation(ours, published)
    assert result is not None
    assert result.rho == pytest.approx(1)
    # The lowest can have any of three places.
    assert result.p_value == pytest.approx(1 / 3)
    # A chain of small steps is no tie: each is compared with the best of its group.
    chain = {"a": (100.0, 0.0), "b": (98.5, 0.0), "c": (97.0, 0.0)}
    result = rank_correlation({"a": [3.0], "b": [3.0], "c": [1.0]}, chain)
    assert result is not None
    assert result.rho == pytest.approx(1)


def test_all_tied_is_no_agreement() -> None:
    result = rank_correlation({name: [1.0] for name in "abc"}, {"a": (1, 0), "b": (2, 0), "c": (3, 0)})
    assert result is not None
    assert math.isnan(result.rho)
    assert joint_p_value([([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])]) == 1


def test_several_tables_that_agree_are_less_likely_chance_than_one() -> None:
    one = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0])
    assert joint_p_value([one]) == pytest.approx(1 / 24, abs=0.02)
    assert joint_p_value([one, one]) < joint_p_value([one]) / 4


def test_a_second_measurement_of_the_published_figures_is_a_yardstick() -> None:
    sure = [UncertainMean(mean, 0.0) for mean in (5.0, 4.0, 3.0, 2.0)]
    same = replicate([sure])
    assert same is not None
    assert (same.rho, same.low, same.high, same.error) == pytest.approx((1, 1, 1, 0))
    # The mean of the absolute value of a normal distribution is 0.8 standard deviations.
    alike = [UncertainMean(105.0, 21.0), UncertainMean(100.0, 20.0), UncertainMean(95.0, 19.0)]
    vague = replicate([alike] * 4)
    assert vague is not None
    assert 0 < vague.rho < 0.5
    assert vague.low < -0.3
    assert vague.error == pytest.approx(0.16, abs=0.005)
    both = replicate([sure, alike])
    assert both is not None
    assert vague.rho < both.rho < 1
    # Two have no ranks, and no figures nothing at all.
    pair = replicate([sure[:2]])
    assert pair is not None
    assert math.isnan(pair.rho)
    assert replicate([]) is None


def test_the_scatter_of_a_second_measurement_is_theirs_and_ours(tmp_path) -> None:
    def figure(interval: str, published: str, runs: int = 3) -> UncertainMean | None:
        folder = tmp_path / f"{interval} {published} {runs}"
        folder.mkdir()
        row = f"drive,cubic,goodput,Mbit/s,{published}\n"
        (folder / "made-up.csv").write_text(f"{HEADER}# interval: {interval}\n{COLUMNS}{row}")
        (table,) = published_tables(folder)
        comparison = ct.compare("drive", cca="cubic", runs=runs, duration="5s")
        return outcome(table, {"drive": Measured(comparison, {"cubic": "cubic"})}).rows[0].replication

    assert figure("runs", "10,2", runs=1) is None
    ours_twice, sure, unsure = figure("runs", "10,"), figure("runs", "10,0"), figure("runs", "10,1.96")
    of_slots = figure("slots", "10,1.96")
    assert ours_twice is not None
    assert sure is not None
    assert unsure is not None
    assert of_slots is not None
    assert ours_twice.deviation == pytest.approx(sure.deviation * math.sqrt(2))
    assert unsure.deviation == pytest.approx(math.hypot(1, sure.deviation))
    # The mean of a run scatters less than its slots.
    assert sure.deviation < of_slots.deviation < unsure.deviation


def test_the_cca_that_carries_the_disagreement_is_named(tmp_path) -> None:
    comparison = ct.compare("drive", cca="cubic,reno,bbr,westwood", runs=1, duration="10s")
    means = comparison.runs.set_index("cca")["goodput_mbps"].sort_values()
    ccas = list(means.index)
    # The published order is ours, but the last one is the first there.
    published = dict(zip(ccas, (10.0, 20.0, 30.0, 5.0), strict=True))
    rows = [f"drive,{cca},goodput,Mbit/s,{value},\n" for cca, value in published.items()]
    (tmp_path / "made-up.csv").write_text(HEADER + COLUMNS + "".join(rows))
    (table,) = published_tables(tmp_path)
    result = outcome(table, {"drive": Measured(comparison, {each: each for each in ccas})})
    (agreement,) = result.agreements
    assert agreement.without is not None
    name, rho = agreement.without
    assert name == ccas[-1]
    assert agreement.rho < 0.5 < rho
    assert f"without {name} {rho:+.2f}" in agreement_text(agreement)
    # Of three CCAs none can be left out.
    of_three = outcome(replace(table, entries=table.entries[:3]), {"drive": result.rows[0].source})
    assert of_three.agreements[0].without is None


def test_a_table_that_is_added_is_picked_up_and_run(tmp_path) -> None:
    (tmp_path / "more.csv").write_text(
        HEADER + COLUMNS + "mobility/backward-300-4g,newreno,retransmissions,per slot,0.5,\n"
    )
    (table,) = published_tables(tmp_path)
    assert (table.experiment, table.interval) == ("table-9", "runs")
    measured = PaperRun(runs=1).measure("mobility/backward-300-4g")
    (row,) = outcome(table, {"mobility/backward-300-4g": measured}).rows
    assert (row.published.cca, row.published.ci95) == ("reno", None)
    flows = measured.comparison.runs.set_index("cca")["retransmissions"]
    # 12 s have 120 slots, of which the first may be without the flow.
    assert row.ours.mean == pytest.approx(flows["reno"] / 120, rel=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# publication: x\n", "more.csv: experiment is missing"),
        (HEADER + "# interval: days\n" + COLUMNS, "'days': allowed: runs, slots"),
        (HEADER + "scenario,cca\n", "the column quantity is missing"),
        (HEADER + COLUMNS + "drive,reno,speed,m,1,\n", "line 6: quantity: 'speed': allowed: goodput"),
        (HEADER + COLUMNS + "drive,reno,goodput,Mbit/s,much,\n", "line 6: published: 'much'"),
    ],
)
def test_a_damaged_table_is_named_with_its_line(tmp_path, text: str, words: str) -> None:
    (tmp_path / "more.csv").write_text(text)
    with pytest.raises(ct.CelltcpError) as refused:
        published_tables(tmp_path)
    assert words in str(refused.value)


def test_a_figure_without_numbers_has_rows_and_a_spider_plot(tmp_path) -> None:
    scenario = "mobility/backward-300-4g"
    lines = [
        f"{scenario},{cca},{quantity},unit,\n"
        for quantity in ("goodput", "rtt", "retransmissions")
        for cca in ("reno", "bbr", "westwood")
    ]
    columns = COLUMNS.replace(",published_ci95", "")
    (tmp_path / "more.csv").write_text(HEADER + "# form: spider\n" + columns + "".join(lines))
    (table,) = published_tables(tmp_path)
    result = outcome(table, {scenario: PaperRun(runs=1).measure(scenario)})
    assert result.agreements == []
    assert len(result.rows) == 9
    assert all(row.agrees is None and row.to_json()["published"] is None for row in result.rows)
    (axes,) = draw_outcomes([result]).axes
    assert axes.name == "polar"
    assert [line.get_label() for line in axes.lines] == ["reno", "bbr", "westwood"]


def test_intervals_of_slots_are_wider_than_those_of_means() -> None:
    comparison = ct.compare("mobility/backward-300-4g", cca="reno", runs=3)
    here = Measured(comparison, {"reno": "reno"})
    (asked,) = (
        each
        for each in published_goodput("mobility/backward-300-4g", "atxutegi2017")
        if each.cca == "reno"
    )
    whole = slot_interval(here, asked)
    assert whole is not None
    assert whole > comparison.summary.loc["reno", ("goodput_mbps", "ci95")]
    phases = [measured_values(here, replace(asked, phase=phase)) for phase in ("start-up", "scaling")]
    assert all(len(values) == 3 for values in phases)
    # One run has no spread.
    alone = Measured(ct.compare("mobility/backward-300-4g", cca="reno", runs=1), {"reno": "reno"})
    assert slot_interval(alone, asked) is None


def test_the_era_has_ccas_of_its_kernel() -> None:
    measured = PaperRun(runs=1, historic_ccas=publications()["atxutegi2017"].historic_ccas).measure(
        "mobility/backward-300-4g"
    )
    assert measured.simulated_ccas["bbr"] == "bbr:extra_acked_gain=0"
    assert "cubic:slow_start=linux-4.8" in measured.comparison.ccas
    assert measured.simulated_ccas["reno"] == "reno"


def test_published_means_are_beside_the_built_in_scenario_only() -> None:
    as_built = compare_published(ct.compare("mobility/forward-300-4g", cca="reno", runs=1))
    assert [row.published.cca for each in as_built.outcomes for row in each.rows] == ["reno"]
    assert not as_built.reason
    changed = compare_published(
        ct.compare("mobility/forward-300-4g", cca="reno", runs=1, duration="2s")
    )
    assert not changed.outcomes
    assert "was changed" in changed.reason
    other = compare_published(ct.compare("drive", cca="reno", runs=1, duration="2s"))
    assert not other.outcomes
    assert "mobility/forward-300-4g" in other.reason
    unknown = compare_published(ct.compare("mobility/forward-300-4g", cca="vegas", runs=1))
    assert not unknown.outcomes
    assert "reno" in unknown.reason


def test_the_index_of_goodputs_is_that_of_the_tables() -> None:
    again = "python tests/goodput_index.py writes it anew"
    assert list(goodput_files().items()) == list(index_of_tables().items()), again


def test_published_means_are_found_without_the_other_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(
        "celltcp.publications.published_means.tables_in",
        lambda file: read.append(file.name) or tables_in(file),
    )
    compare_published(ct.compare("drive", cca="reno", runs=1, duration="1s"))
    assert read == []
    compare_published(ct.compare("mobility/forward-300-4g", cca="reno", runs=1, duration="1s"))
    assert read == goodput_files()["mobility/forward-300-4g"]


def test_publications_are_shown_on_demand(celltcp) -> None:
    command = ("compare", "mobility/forward-300-4g", "--cca", "reno,cubic", "--runs", "1", "--quiet")
    assert "published" not in celltcp(*command).stdout
    asked = celltcp(*command, "--published")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "as published and here" in asked.stdout
    refused = celltcp(*command, "--published", "--set", "path.rtt=90ms")
    assert refused.returncode == 0
    assert "mobility/forward-300-4g was changed" in refused.stderr
    assert "published" not in refused.stdout


@pytest.mark.slow
def test_papers_prints_both_numbers(celltcp, tmp_path) -> None:
    assert "atxutegi2017" in celltcp("papers").stdout
    scenario = "mobility/backward-300-4g"
    done = celltcp("papers", "atxutegi2017", "--scenario", scenario, "--runs", "1", "--out", "p")
    assert done.returncode == 0, done.stderr
    assert "4.15 ±2.89" in done.stdout
    assert "rank correlation of 5" in done.stdout
    assert (tmp_path / "p" / "published.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "p" / scenario / "flows.parquet").is_file()
    # Another experiment on the same scenario takes the same runs.
    done = celltcp(
        *("papers", "atxutegi2018", "table-6.2", "--scenario", scenario, "--runs", "1"),
        *("--out", "p", "--json", "rows.json"),
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [tuple(row) for row in rows] == [FIELDS] * 10
    assert {row["quantity"] for row in rows} == {"goodput, start-up", "goodput, scaling"}
    for arguments, words in (
        (("nobody1999",), "allowed is one of atxutegi2017"),
        (("atxutegi2017", "--scenario", "drive"), "mobility/forward-60-4g"),
        (("atxutegi2017", "table-7"), "experiment 'table-7': atxutegi2017 has table-1"),
        (("atxutegi2017", "--all"), "--all: 'atxutegi2017' is named, too"),
    ):
        refused = celltcp("papers", *arguments)
        assert refused.returncode == 2
        assert words in refused.stderr


@pytest.mark.slow
def test_other_results_in_a_folder_are_replaced_if_that_is_asked_for(celltcp) -> None:
    command = ("papers", "atxutegi2017", "table-1", "--out", "x", "--runs", "1", "-q")
    command += ("--scenario", "mobility/forward-300-4g", "--set", "duration=1s")
    assert celltcp(*command).returncode == 0
    refused = celltcp(*command, "--seed", "2")
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert celltcp(*command, "--seed", "2", "--overwrite").returncode == 0


def test_a_sweep_is_refused_where_nothing_is_varied(celltcp) -> None:
    refused = celltcp("papers", "atxutegi2018", "figure-5.2", "--sweep", "--dry-run")
    assert refused.returncode == 2
    assert "sweep: figure-5.2: no condition is varied for it; allowed: " in refused.stderr


@pytest.mark.slow
def test_a_sweep_over_what_is_not_published_prints_the_agreement_of_each_value(celltcp) -> None:
    done = celltcp(
        *("papers", "atxutegi2017", "--sweep", "--scenario", "mobility/backward-300-4g", "--runs", "1")
    )
    assert done.returncode == 0, done.stderr
    for words in ("buffer of the channel emulator", "70 to 110 packets", "750packets", "55ms"):
        assert words in done.stdout


@pytest.mark.slow
def test_fields_of_all_places_can_be_overridden(celltcp) -> None:
    asked = ("papers", "atxutegi2017", "table-1", "--scenario", "mobility/forward-300-4g")
    done = celltcp(*asked, "--runs", "1", "--set", "duration=1s", "--json", "-")
    assert done.returncode == 0, done.stderr
    shorter = json.loads(done.stdout)
    done = celltcp(*asked, "--runs", "1", "--set", "duration=nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr
    # The first second is slow start; the whole way has some ten times as much.
    assert all(0 < row["here"] < 12 for row in shorter)


def test_ranks_of_unequal_numbers_of_values() -> None:
    published = {"a": (1.0, 0.0), "b": (2.0, 0.0), "c": (3.0, 0.0), "none": (4.0, 0.0)}
    ours = {"a": [1.0, 1.1, 1.2], "b": [2.0, 2.1], "c": [3.0, 3.1, 3.3, 3.2], "none": []}
    result = rank_correlation(ours, published)
    assert result is not None
    assert (result.rho, result.low, result.high, result.count) == (1.0, 1.0, 1.0, 3)
