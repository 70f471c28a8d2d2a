"""Experiments of publications: claims, places, quantities, pictures, selections by phase."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.claims import claim
from celltcp.publications.measured_values import distribution_values, measured_values
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import PaperRun, ccas_of, find_condition, group, scenarios_of
from celltcp.publications.plots import distributions, draw_outcomes
from celltcp.publications.publications import publications
from celltcp.publications.published import published_tables
from celltcp.publications.published_table import FORMS, Published
from celltcp.publications.quantities import QUANTITIES
from celltcp.publications.runner import run_tables
from celltcp.publications.switching import gain, run_combination

HEADER = "# publication: atxutegi2018\n# experiment: made-up\n# figure: figure 9\n# title: made up\n"

#: Twelve seconds with two phases.
TRAIN = "mobility/backward-300-4g"


def table_of(folder: Path, header: str, *lines: str, columns: str = "") -> Outcome:
    """Returns a made-up table, run once for what it needs."""
    folder.mkdir(exist_ok=True)
    text = f"{HEADER}{header}scenario,cca,quantity,unit,published{columns}\n" + "\n".join(lines) + "\n"
    (folder / "made-up.csv").write_text(text)
    (table,) = published_tables(folder)
    measured = {}
    for name in table.scenarios:
        place = table.condition(name)
        entries = [each for each in table.entries if each.scenario == name]
        lineups = {each.cca: place.lineup(each.cca) for each in entries}
        comparison = ct.compare(
            place.scenario,
            cca=list(lineups.values()),
            runs=1,
            set=place.changes,
            radio_log=any(QUANTITIES[each.quantity].needs_radio_log for each in entries),
        )
        measured[name] = Measured(comparison, lineups).without_log()
    return outcome(table, measured)


@pytest.mark.parametrize(
    ("text", "mean", "holds"),
    [
        ("> 0.95", 0.96, True),
        ("> 0.95", 0.95, False),
        ("<= 2", 2.0, True),
        ("3..8", 5.0, True),
        ("3..8", 9.0, False),
        ("> reno", 11.0, True),
        ("< 0.5 * reno", 4.0, True),
        ("about reno", 9.1, True),
        ("about reno", 8.9, False),
        ("> @ elsewhere", 99.0, False),
        ("> reno @ elsewhere", 51.0, True),
        ("best", 11.0, True),
        ("best", 9.0, False),
        ("not best", 9.0, True),
        ("worst", 9.0, True),
        ("tied", 11.0, False),
        ("> 1", math.nan, None),
    ],
)
def test_a_claim_is_a_relation(text: str, mean: float, holds: bool | None) -> None:
    # NewReno has 10 here and 50 elsewhere, where CUBIC has 100.
    known = {("reno", None): 10.0, ("cubic", "elsewhere"): 100.0, ("reno", "elsewhere"): 50.0}
    result = claim(text, "line 1").holds(
        "cubic",
        [mean],
        {"cubic": [mean], "reno": [10.0]},
        lambda cca, place: [known[cca or "cubic", place]],
    )
    assert result is holds


def test_an_unknown_claim_is_named() -> None:
    for text in ("better", "> ", "> nobody", "about"):
        with pytest.raises(ct.CelltcpError):
            claim(text, "line 1")


@pytest.mark.slow
def test_all_tables_are_complete() -> None:
    # Places exist, their CCAs can run, claims refer to what is measured.
    places = set()
    for table in published_tables():
        assert table.publication in publications(), table.experiment
        for name in scenarios_of([table]):
            places.add(find_condition(name))
            assert ccas_of(name) or "*" in name
        for each in table.entries:
            if each.claim and each.claim.is_relative:
                there = each.claim.condition or each.scenario
                assert (each.claim.cca or each.cca) in ccas_of(there), (
                    table.experiment,
                    each.claim.text,
                )
                assert each.claim.condition is None or table.condition(there) == find_condition(there)
    assert {place.scenario for place in places} <= set(ct.scenario_names())
    assert all(place.duration_s > 0 for place in places)


def test_experiments_have_names_of_their_own() -> None:
    names = [(each.publication, each.experiment) for each in published_tables()]
    assert len(names) == len(set(names))
    # Tables come before figures, in the order of their numbers.
    of_thesis = [name for publication, name in names if publication == "atxutegi2018"]
    assert of_thesis.index("table-5.1") < of_thesis.index("table-6.2") < of_thesis.index("figure-5.2")
    assert of_thesis.index("figure-6.9") < of_thesis.index("figure-6.10")


def test_windows_and_zones_cut_out_a_part(tmp_path) -> None:
    result = table_of(
        tmp_path / "t",
        "# form: zones\n",
        f"{TRAIN},reno,goodput,Mbit/s,,0..2,",
        f"{TRAIN},reno,goodput,Mbit/s,,10..,",
        f"{TRAIN},reno,wasted,TTIs/s,,,14..18",
        f"{TRAIN},reno,mcs_stays_1,of blocks,,,",
        f"{TRAIN},reno,cqi_mean,,,,",
        columns=",window,zone",
    )
    first, last, wasted, stays, cqi = (row.ours.mean for row in result.rows)
    assert first < last
    assert 0 <= wasted <= 1000
    assert 0 < stays < 1
    assert 1 <= cqi <= 15
    assert [row.published.part for row in result.rows[:3]] == ["0 to 2 s", "from 10 s", "14 to 18"]
    assert result.rows[0].to_json()["quantity"] == "goodput, 0 to 2 s"


def test_zones_of_claims_are_drawn_unless_they_overlap_others(tmp_path) -> None:
    result = table_of(
        tmp_path / "t",
        "# form: zones\n",
        f"{TRAIN},reno,wasted,TTIs/s,,,28..28,",
        f"{TRAIN},reno,wasted,TTIs/s,,,20..26,< 30",
        f"{TRAIN},reno,wasted,TTIs/s,,,14..18,",
        f"{TRAIN},reno,wasted,TTIs/s,,,16..28,< 30",
        f"{TRAIN},reno,mcs_stays_1,of blocks,,,14..18,",
        columns=",window,zone,claim",
    )
    first, second = draw_outcomes([result]).axes
    assert [each.get_text() for each in first.get_xticklabels()] == ["28", "20 to 26", "14 to 18"]
    assert first.get_legend() is not None
    assert second.get_legend() is None


def test_names_of_places_are_whole_below_their_bars(tmp_path) -> None:
    result = table_of(
        tmp_path / "t",
        f"# form: places\n# place forward at 300 km/h: {TRAIN}\n",
        "forward at 300 km/h,reno,goodput,Mbit/s,",
        f"{TRAIN},reno,goodput,Mbit/s,",
    )
    (axes,) = draw_outcomes([result]).axes
    texts = [each.get_text() for each in axes.get_xticklabels()]
    assert texts == ["forward at\n300 km/h", TRAIN.rpartition("/")[2]]


def test_a_place_is_a_scenario_with_changes_and_all_its_flows_have_the_cca(tmp_path) -> None:
    result = table_of(
        tmp_path / "t",
        "# place two: startup/operator-3; flows.0.workload.bytes=1MB; "
        "flows.1.workload.count=2; duration=8s\n",
        *(
            f"two,{cca},{quantity},s,"
            for quantity in (
                "completion_long",
                "completion_total",
                "completion_competing",
                "completion_short",
            )
            for cca in ("cubic", "bbr")
        ),
        "two,bbr,rtt_long,ms,",
    )
    by = {(row.published.quantity, row.simulated_cca): row.ours.mean for row in result.rows}
    assert by["completion_long", "bbr+bbr"] < by["completion_total", "bbr+bbr"]
    assert by["completion_short", "cubic+cubic"] > 0
    assert len(distribution_values(result.rows[-1].source, result.rows[-1].published)) > 3


def test_claims_are_judged_and_reported(tmp_path) -> None:
    result = table_of(
        tmp_path / "t",
        "# form: verdicts\n",
        f"{TRAIN},reno,slow_start_bytes,kB,,> 0,slow start is left",
        f"{TRAIN},reno,goodput,Mbit/s,,> 1000,impossible",
        f"{TRAIN},westwood,goodput,Mbit/s,,< 2 * reno,",
        columns=",claim,note",
    )
    assert result.claims == (2, 3)
    assert [row.agrees for row in result.rows] == [True, False, True]
    row = result.rows[1].to_json()
    assert (row["published"], row["agrees"]) == (None, False)
    assert row["note"] == "claim: > 1000; impossible"
    (axes,) = draw_outcomes([result]).axes
    assert any("impossible" in text.get_text() for text in axes.texts)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_draws(tmp_path, form: str) -> None:
    quantity = {"ecdf": "cqi_mean", "transitions": "mcs_mean"}.get(form, "goodput")
    result = table_of(
        tmp_path / "t",
        f"# form: {form}\n",
        *(
            f"{TRAIN},{cca},{each},unit,,{'> 0' if form == 'verdicts' else ''}"
            for each in dict.fromkeys((quantity, "rtt"))
            for cca in ("reno", "cubic")
        ),
        columns=",claim",
    )
    picture = draw_outcomes([result])
    assert picture.axes
    picture.savefig(tmp_path / "x.png", dpi=40)


def test_the_best_of_each_phase_run_one_after_another() -> None:
    paper_run = PaperRun(runs=2)
    comparison = ct.compare(TRAIN, cca="reno,westwood", runs=2)
    here = Measured(comparison, {"reno": "reno", "westwood": "westwood"})
    result = run_combination(paper_run, find_condition(TRAIN), "rtt", here)
    assert list(result.best) == ["start-up", "scaling"]
    assert not math.isnan(gain(result, here))
    events = result.measured.comparison.results.tables["events"].to_pandas()
    switched = events[events["kind"] == "switch"]
    # A change at the end of the start-up in each run, unless one CCA is best in both phases.
    assert len(switched) == (2 if result.has_switches else 0)
    alone = run_combination(
        paper_run,
        find_condition(TRAIN),
        "goodput",
        Measured(comparison.only(["reno"]), {"reno": "reno"}),
    )
    assert not alone.has_switches
    assert gain(alone, here) <= 0


def test_a_tally_counts_the_cases_of_a_selection(tmp_path) -> None:
    # A pattern stands for scenarios; those of one name are enough here.
    pattern = "mobility/backward-300-4*"
    assert group(pattern) == [TRAIN]
    lines = [f"{TRAIN},{cca},goodput,Mbit/s," for cca in ("reno", "bbr", "selection")]
    lines += [
        f"{pattern},selection,{kind},cases,"
        for kind in ("cases_unswitched", "cases_over_5", "cases_up_to_5", "cases_lost")
    ]
    lines += [f"{TRAIN},selection,gain_goodput,%,41.21"]
    (tmp_path / "t.csv").write_text(
        HEADER + "scenario,cca,quantity,unit,published\n" + "\n".join(lines) + "\n"
    )
    tables = published_tables(tmp_path)
    (result,) = run_tables(tables, scenarios_of(tables), PaperRun(runs=1), lambda _: nullcontext())
    by = {
        row.published.quantity: row.ours.mean for row in result.rows if row.published.cca == "selection"
    }
    assert sum(value for name, value in by.items() if name.startswith("cases_")) == 3
    assert by["gain_goodput"] == pytest.approx(
        100
        * (
            by["goodput"]
            / max(
                row.ours.mean
                for row in result.rows
                if row.published.quantity == "goodput" and row.published.cca != "selection"
            )
            - 1
        ),
        abs=30,
    )


def test_slots_of_parallel_connections_are_joined() -> None:
    comparison = ct.compare(
        "limits/parallel", cca="cubic", runs=1, set=["flows.0.count=3", "duration=6s"]
    )
    here = Measured(comparison, {"cubic": "cubic"})

    def value(quantity: str, window: tuple[float, float] | None = None) -> float:
        (result,) = measured_values(
            here, Published("limits/parallel", "cubic", quantity, "", "", None, None, window=window)
        )
        return result

    assert value("goodput", (3, 6)) == pytest.approx(3 * 3.5, rel=0.05)
    assert value("utilisation", (3, 6)) == pytest.approx(0.105, rel=0.1)


def test_other_flows_keep_the_congestion_control_that_their_scenario_gives_them() -> None:
    assert find_condition("vehicular/scenario-2").lineup("bbr") == "bbr+reno+reno+reno"
    assert find_condition("startup/operator-1").lineup("bbr") == "bbr+bbr"


def test_figures_of_viewers_are_quantities(tmp_path: Path) -> None:
    place = '# place a phone: steady-20-68; duration=20s; flows.0.workload={kind="video"}\n'
    names = ("qoe", "startup", "stalled", "bitrate")
    result = table_of(tmp_path, place, *(f"a phone,cubic,{name},," for name in names))
    runs = result.rows[0].source.comparison.runs
    columns = ("qoe", "startup_s", "stalled_s", "bitrate_mbps")
    assert [row.ours.mean for row in result.rows] == [runs[column].iloc[0] for column in columns]
    assert [row.published.unit for row in result.rows][1:] == ["s", "s", "Mbit/s"]


def test_each_table_of_a_picture_is_laid_out_by_itself_and_no_panels_overlap(tmp_path) -> None:
    result = table_of(
        tmp_path / "t",
        "# form: places\n",
        *(f"{TRAIN},reno,{quantity},unit," for quantity in ("goodput", "rtt", "owd")),
    )
    other = replace(result, table=replace(result.table, form="bars", experiment="other"))
    picture = draw_outcomes([result, other] * 2)
    assert [len(part.axes) for part in picture.subfigs] == [3, 3, 3, 3]
    picture.draw_without_rendering()
    # Titles and labels are part of the room of a panel.
    rooms = [axes.get_tightbbox() for axes in picture.axes]
    for number, room in enumerate(rooms):
        assert not any(room.padded(-2).overlaps(other.padded(-2)) for other in rooms[:number])


def test_a_wide_distribution_has_a_logarithmic_axis(tmp_path, monkeypatch) -> None:
    result = table_of(tmp_path / "t", "# form: ecdf\n", f"{TRAIN},reno,cqi_mean,,")
    for maximum, scale in ((1000.0, "log"), (10.0, "linear")):
        monkeypatch.setattr(distributions, "distribution_values", lambda *_, top=maximum: [1.0, top])
        (axes,) = draw_outcomes([result]).axes
        assert axes.get_xscale() == scale
