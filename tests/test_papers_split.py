"""Split connections of kim2016: grids of conditions, gains, legs, capabilities, losing points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.capabilities import NOT_AVAILABLE, capability_table
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import ccas_of, find_condition
from celltcp.publications.plots import draw_outcomes
from celltcp.publications.publications import publications
from celltcp.publications.published import published_tables
from celltcp.publications.report.papers import outcome_sections
from celltcp.publications.split_choice import choices
from celltcp.publications.split_losses import split_losses

#: Scenario of the grid.
LTE = "; ".join(
    (
        *("static/mid-cell", "path.rtt=106ms", "radio.prbs=50", "radio.control_symbols=2"),
        *("radio.ues.0.sinr=16.2dB", 'path.wired=[{name="wan",delay="30ms"},{name="ran"}]'),
        'flows=[{cca="reno",workload={kind="bulk"}}]',
    )
)

#: One combination of the conditions of table 5.
CORNER = "split/60-60/20MB/mcs-25/128kB/0.01%"

HEADER = "# publication: kim2016\n# experiment: made-up\n# figure: table 9\n# title: made up\n"


def made_up(folder: Path, header: str, *lines: str) -> Outcome:
    """Returns a made-up table, run once."""
    folder.mkdir(exist_ok=True)
    (folder / "made-up.csv").write_text(HEADER + header + "\n".join(lines) + "\n")
    (table,) = published_tables(folder)
    measured = {}
    for name in table.scenarios:
        place = table.condition(name)
        selected = [each.cca for each in table.entries if each.scenario == name]
        simulated_ccas = {cca: cca for cca in dict.fromkeys(["reno", *selected])}
        comparison = ct.compare(place.scenario, cca=list(simulated_ccas), runs=1, set=place.changes)
        measured[name] = Measured(comparison, simulated_ccas)
    return outcome(table, measured)


def test_the_grid_has_all_combinations_of_table_5() -> None:
    known = {each.experiment: each for each in published_tables() if each.publication == "kim2016"}
    split = known["split"]
    assert len(split.scenarios) == 3 * 5 * 5 * 3 * 5
    assert split.grid is not None
    assert split.grid.panels == ["split", "window", "loss"]
    assert split.grid.values("size") == ["0.5MB", "1MB", "5MB", "10MB", "20MB"]
    # It takes hours, so it runs only by its name; the figures are parts of it.
    chosen = publications()["kim2016"].selected_tables([])
    assert split not in chosen
    assert known["figure-50"] in chosen
    for figure in ("figure-50", "figure-52", "figure-53a", "figure-53b", "corner"):
        assert set(known[figure].scenarios) <= set(split.scenarios)
    assert set(ccas_of(CORNER)) == {"reno", "reno@es:at=node-1", "reno@as:at=node-1"}
    assert "tcp.receive_window_max=128kB" in find_condition(CORNER).changes


def test_a_row_that_says_something_takes_the_place_of_one_that_does_not() -> None:
    (figure,) = (each for each in published_tables() if each.experiment == "figure-50")
    assert len(figure.entries) == len(figure.scenarios) == 75
    said = {each.scenario: each for each in figure.entries}
    assert said[CORNER].value == 94
    locked_folder = said["split/85-35/20MB/mcs-25/128kB/0.01%"].claim
    assert locked_folder is not None
    assert (locked_folder.low, locked_folder.high) == (20, 40)
    (figure,) = (each for each in published_tables() if each.experiment == "figure-53b")
    texts = [each.claim.text for each in figure.entries if each.claim]
    assert "> @ split/35-85/20MB/mcs-25/512kB/0.01%" in texts


def test_gains_are_printed_drawn_and_resumed(celltcp, tmp_path: Path) -> None:
    words = ("papers", "kim2016", "corner", "figure-50", "--scenario", CORNER, "--runs", "1")
    short = ("--set", "flows.0.workload.bytes=1MB", "--set", "duration=20s")
    done = celltcp(*words, *short, "--out", "p", "--json", "rows.json")
    assert done.returncode == 0, done.stderr
    assert "points where the split loses more than 5 %: 0 of 2" in done.stdout
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [row["cca"] for row in rows] == [
        *("reno@es:at=node-1", "reno@es:at=node-1", "reno@as:at=node-1"),
    ]
    assert all(40 < row["here"] < 110 for row in rows)
    assert [row["published"] for row in rows] == [94, 94, 93]
    assert (tmp_path / "p" / "kim2016-figure-50.png").is_file()
    again = celltcp(*words, *short, "--out", "p", "--json", "rows.json")
    assert again.returncode == 0, again.stderr
    assert rows == json.loads((tmp_path / "rows.json").read_text())


@pytest.mark.slow
def test_a_part_of_the_campaign_is_chosen_by_patterns(celltcp) -> None:
    words = ("papers", "kim2016", "split", "--runs", "1", "--dry-run", "--scenario")
    done = celltcp(*words, "split/60-60/5MB/mcs-25/*")
    assert done.stdout.startswith("45 runs"), done.stderr
    none = celltcp(*words, "split/*/6MB/*")
    assert none.returncode == 2
    assert "'split/*/6MB/*': kim2016 has figures of split/35-85/0.5MB/" in none.stderr
    assert none.stderr.rstrip().endswith("and 1105 more only")


def test_legs_of_a_download_are_measured_and_drawn(tmp_path: Path) -> None:
    place = f"{LTE}; duration=20s; flows.0.workload.bytes=5MB; tcp.receive_window_max=512kB"
    result = made_up(
        tmp_path / "t",
        f"# form: legs\n# place here: {place}\nscenario,cca,quantity,unit,published\n",
        *(
            f"here,reno@es:at=node-1,{quantity},,"
            for quantity in (
                *("split_gain", "phone_leg_inflight", "server_inflight", "split_buffer"),
                *("server_repairs", "phone_leg_timeouts", "acked_early", "acked_early_ends"),
            )
        ),
        "here,reno,completion_total,s,7",
    )
    by = {row.published.quantity: row.ours.mean for row in result.rows}
    assert by["split_gain"] > 0
    assert 0 < by["server_inflight"] <= 530
    assert 0 < by["phone_leg_inflight"] <= 530
    assert 0 < by["split_buffer"] <= 1000
    assert by["acked_early"] > 0
    assert by["acked_early_ends"] == by["phone_leg_timeouts"] == 0
    axes = draw_outcomes([result]).axes
    assert [len(each.lines) for each in axes] == [4, 3, 3, 1]


def test_capabilities_are_words_and_what_is_missing_is_named(tmp_path: Path) -> None:
    place = f"{LTE}; duration=6s; flows.0.workload.bytes=200MB; path.wired.1.loss=0.002"
    result = made_up(
        tmp_path / "t",
        f"# form: capabilities\n# place here: {place}\n"
        "scenario,cca,quantity,unit,published,claim,line,column,said,why\n",
        "here,reno@split:at=node-1,semantics,,,< 1,semantics,I-TCP,No,",
        "here,reno@es:at=node-1,semantics,,,>= 2,semantics,ES-TCP,Yes+,the last byte is kept",
        "here,reno@nobody:at=node-1,semantics,,,>= 2,semantics,N-TCP,Yes+,",
        "here,reno@split:at=node-1,rtt,ms,,< 0.75 * reno,splits the RTT,I-TCP,Yes,",
        "here,reno@es:at=node-1,prefetched,kB,,< 100,prefetches,ES-TCP,No,",
        "here,reno@es:at=node-1,server_reductions,times,,< 0.5 * reno,isolates,ES-TCP,Yes,",
        "here,reno,reads_tcp,,,>= 1,aware of TCP,I-TCP,Yes,",
    )
    known = capability_table(result)
    texts = {place: each.measured_text for place, each in known.cells.items()}
    assert texts == {
        ("semantics", "I-TCP"): "No",
        ("semantics", "ES-TCP"): "Yes*",
        ("semantics", "N-TCP"): NOT_AVAILABLE,
        ("splits the RTT", "I-TCP"): "Yes",
        ("prefetches", "ES-TCP"): "Yes",
        ("isolates", "ES-TCP"): "Yes",
        ("aware of TCP", "I-TCP"): "No",
    }
    assert [each.cell.line for each in known.differing] == ["semantics", "prefetches", "aware of TCP"]
    assert known.column_labels == ["I-TCP", "ES-TCP", "N-TCP"]
    claims = outcome_sections(result)[-2].table
    assert claims is not None
    assert claims.rows[0][2] == "I-TCP, semantics: No"
    differing = outcome_sections(result)[-1]
    assert differing.title.endswith("cells that differ")
    assert differing.text[0] == "ES-TCP, semantics: semantics is 1.00, not >= 2. the last byte is kept"


@pytest.mark.slow
def test_a_part_of_table_6_is_run(celltcp) -> None:
    words = ("papers", "kim2016", "table-6", "--scenario", "table-6/clean", "--runs", "1")
    done = celltcp(*words, "--set", "duration=4s", "--json", "-")
    assert done.returncode == 0, done.stderr
    rows = {(row["cca"], row["quantity"]): row for row in json.loads(done.stdout)}
    assert rows["reno@snoop:at=node-1", "rtt"]["agrees"] is True
    assert rows["reno@es:at=node-1", "rtt"]["here"] < 80
    assert rows["reno@es:at=node-1", "prefetched"]["agrees"] is True


def test_choices_have_gain_cost_and_verdict(tmp_path: Path) -> None:
    place = (
        'steady-20-68; duration=5s; tcp.receive_window_max=64kB; path.wired=[{name="wan",'
        'delay="17ms"},{name="ran"}]'
    )
    lines = [
        f"here,{cca},{quantity},,"
        for quantity in ("goodput", "owd_p95", "split_buffer")
        for cca in ("reno", "cubic", "reno@es:at=node-1")
        if "@" in cca or quantity != "split_buffer"
    ]
    result = made_up(
        tmp_path / "t",
        f"# form: choices\n# place here: {place}\nscenario,cca,quantity,unit,published\n",
        *lines,
    )
    (choice,) = choices(result)
    (option,) = choice.options
    assert choice.verdict == "split"
    assert option.gain.mean > 50
    assert option.buffered.mean > 0
    assert len(draw_outcomes([result]).axes) == 2


def test_a_losing_point_has_a_reason(tmp_path: Path) -> None:
    # Packets overtake each other behind the split host, which takes it for loss.
    place = (
        f"{LTE}; duration=60s; flows.0.workload.bytes=2MB; tcp.receive_window_max=512kB; "
        'path.wired.1.jitter={distribution="exponential",mean="50ms",reorder=true}'
    )
    result = made_up(
        tmp_path / "t",
        f"# place here: {place}\nscenario,cca,quantity,unit,published\n",
        "here,reno@split:at=node-1,split_gain,%,",
    )
    (lost,) = split_losses(result)
    assert "without split" in lost.reason
