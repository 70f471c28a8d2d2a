"""Table files of publications: what is refused and named, units, several files of an experiment."""

from __future__ import annotations

import pytest

import celltcp as ct
from celltcp.publications.conditions import parse_condition
from celltcp.publications.paper_run import find_condition
from celltcp.publications.plots.panel import cca_name, number_text
from celltcp.publications.published import published_tables
from celltcp.publications.quantities import QUANTITIES
from celltcp.publications.quantities.quantity import TEXTS

HEADER = "# publication: atxutegi2017\n# experiment: table-9\n# figure: table 9\n# title: made up\n"
COLUMNS = "scenario,cca,quantity,unit,published,published_ci95\n"
WITH_PHASE = "scenario,cca,quantity,unit,published,phase\n"
WITH_WINDOW = "scenario,cca,quantity,unit,published,window\n"
WITH_CLAIM = "scenario,cca,quantity,unit,published,claim\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "# fom: bars\n" + COLUMNS, "line 5: 'fom': allowed: "),
        (HEADER + "# title: again\n" + COLUMNS, "line 5: title is there twice"),
        (HEADER.replace("table-9", "table 9") + COLUMNS, "experiment: 'table 9': allowed: letters"),
        (
            HEADER.replace("2017", "2099") + COLUMNS,
            "publication: 'atxutegi2099': allowed:",
        ),
        (HEADER + COLUMNS, "no row follows"),
        (HEADER + COLUMNS.replace("unit", "unti"), "the column unit is missing"),
        (HEADER + COLUMNS.replace("_ci95", "_ci59"), "the column 'published_ci59' is not known"),
        (HEADER + COLUMNS.replace("_ci95", ""), "the column published is there twice"),
        (HEADER + COLUMNS + "drive,reno,goodput\n", "line 6: 3 fields: needed are scenario, cca"),
        (HEADER + COLUMNS + 'drive,reno,goodput,"Mbit/s,1,\n', "line 6: unexpected end of data"),
        (
            HEADER + COLUMNS + "drve,reno,goodput,Mbit/s,1,\n",
            "line 6: scenario 'drve': there is no such file or built-in name; allowed: ",
        ),
        (
            HEADER + COLUMNS + "drve*,reno,goodput,Mbit/s,1,\n",
            "line 6: scenario 'drve*': there is no such file or built-in name; allowed: ",
        ),
        (HEADER + COLUMNS + "drive,rno,goodput,Mbit/s,1,\n", 'line 6: cca: "rno" is not'),
        (HEADER + COLUMNS + "drive,all,goodput,Mbit/s,1,\n", "line 6: cca: "),
        (HEADER + COLUMNS + "drive,reno,goodput,ms,1,\n", "line 6: unit: 'ms': goodput has bit/s"),
        (HEADER + COLUMNS + "drive,reno,rtt,Mbit/s,1,\n", "line 6: unit: 'Mbit/s': rtt has us, "),
        (HEADER + COLUMNS + "drive,reno,queue,kB,1,\n", "line 6: unit: 'kB': queue has packets"),
        (
            HEADER + COLUMNS + "drive,reno,retransmissions,%,1,\n",
            "line 6: unit: '%': retransmissions has per slot",
        ),
        (
            HEADER + COLUMNS + "drive,reno,utilisation,Mbit/s,1,\n",
            "line 6: unit: 'Mbit/s': utilisation has of the capacity or %",
        ),
        (HEADER + COLUMNS + "drive,reno,pm_delay,ms,1,\n", "line 6: unit: 'ms': pm_delay is no rate"),
        (
            HEADER + COLUMNS + "drive,reno,rtt,ms,1,\ndrive,bbr,rtt,ms,1,\ndrive,reno,rtt,s,2,\n",
            "line 8: published: 2000: drive, reno, rtt has a number in line 6 already; allowed: one",
        ),
        (HEADER + COLUMNS + "drive,reno,goodput,Mbit/s,much,\n", "'much' is no number; allowed: one"),
        (HEADER + COLUMNS + "drive,reno,mcs_mean,,10,\n", "quantity: 'mcs_mean': needs a radio"),
        (
            HEADER + WITH_PHASE + "mobility/forward-60-4g,reno,goodput,Mbit/s,1,scaling\n",
            "line 6: phase: 'scaling': allowed: start-up, sustainer, constrained, which mobility/",
        ),
        (
            HEADER + WITH_PHASE + "drive,reno,goodput,Mbit/s,1,scaling\n",
            "line 6: phase: 'scaling': allowed: none, as in drive",
        ),
        (
            HEADER + WITH_WINDOW + "drive,reno,goodput,Mbit/s,1,50..61\n",
            "line 6: window: '50..61': allowed: up to 60 s, where a run of drive ends",
        ),
        (
            HEADER + COLUMNS + "drive,reno,rtt,ms,1,\ndrive,bbr,rtt,ms,1,2,3\n",
            "line 7: 7 fields: needed are scenario, cca, quantity",
        ),
        (
            HEADER + COLUMNS + "drive,reno,goodput,Mbit/s,nan,\n",
            "line 6: published: 'nan' is",
        ),
        (
            HEADER + COLUMNS + "drive,reno,goodput,Mbit/s,1,-1\n",
            "line 6: published_ci95: '-1'",
        ),
        (HEADER + WITH_CLAIM + "drive,reno,goodput,Mbit/s,,1..2.3.4\n", "line 6: claim: '1..2.3.4'"),
        (HEADER + WITH_CLAIM + "drive,reno,goodput,Mbit/s,,> rno\n", "line 6: claim: '> rno': \"rno\""),
        (HEADER + WITH_CLAIM + "drive,reno,goodput,Mbit/s,,8..3\n", "'8..3' ends before it begins"),
        (
            HEADER + WITH_CLAIM + "drive,reno,goodput,Mbit/s,,> @ nowhere\n",
            "line 6: claim: '> @ nowhere': scenario 'nowhere': there is no such file or built-in name",
        ),
        (
            HEADER + COLUMNS + "drive,reno,goodput,Mbit/s,,2\n",
            "line 6: published_ci95: '2': allowed: none without published",
        ),
    ],
)
def test_a_fault_is_named_with_file_line_and_field(tmp_path, text: str, words: str) -> None:
    (tmp_path / "more.csv").write_text(text)
    with pytest.raises(ct.CelltcpError) as refused:
        published_tables(tmp_path)
    assert "more.csv" in str(refused.value)
    assert words in str(refused.value)


def test_published_figures_are_converted_to_the_unit_of_the_quantity(tmp_path) -> None:
    lines = [
        "drive,reno,goodput,kbit/s,2500,500",
        "drive,reno,rtt,s,0.068,",
        "drive,reno,completion_total,ms,1500,",
        "mobility/forward-60-4g,reno,bler,%,10,",
        "drive,bbr,goodput,,2.5,",
        "drive,reno,cwnd,packets,100,",
    ]
    (tmp_path / "more.csv").write_text(HEADER + COLUMNS + "\n".join(lines) + "\n")
    (table,) = published_tables(tmp_path)
    result = [(each.quantity, each.unit, each.value, each.ci95) for each in table.entries]
    assert result == [
        ("goodput", "Mbit/s", pytest.approx(2.5), pytest.approx(0.5)),
        ("rtt", "ms", pytest.approx(68), None),
        ("completion_total", "s", pytest.approx(1.5), None),
        ("bler", "of blocks", pytest.approx(0.1), None),
        ("goodput", "Mbit/s", 2.5, None),
        # A congestion window is always in packets.
        ("cwnd", "packets", 100, None),
    ]


def test_the_units_of_all_built_in_tables_are_those_measured() -> None:
    units: dict[str, set[str]] = {}
    for table in published_tables():
        for each in table.entries:
            units.setdefault(each.quantity, set()).add(each.unit)
    assert all(len(in_tables) == 1 for in_tables in units.values()), units


def test_units_and_names_are_those_of_quantities() -> None:
    assert set(TEXTS) <= set(QUANTITIES)
    assert all(each.keys() <= {"unit", "name"} for each in TEXTS.values())


def test_a_place_that_cannot_be_is_named_with_its_file(tmp_path) -> None:
    text = HEADER + "# place x: drive; path.rttt=10ms\n" + COLUMNS + "x,reno,goodput,Mbit/s,1,\n"
    (tmp_path / "more.csv").write_text(text)
    (table,) = published_tables(tmp_path)
    with pytest.raises(ct.CelltcpError, match=r"more\.csv: place x: .*path\.rttt"):
        _ = table.condition("x").duration_s


def test_the_name_of_a_place_is_one_folder() -> None:
    assert parse_condition("forward at 60 km/h", "drive; path.rtt=10ms").folder == "forward at 60 km-h"
    assert find_condition("mobility/forward-60-4g").folder == "mobility/forward-60-4g"


def test_pictures_name_quantities_and_kernels_in_words() -> None:
    assert cca_name("cubic:kernel=linux-3.19,slow_start=linux-3.19") == "cubic (Linux 3.19)"
    assert cca_name("cubic:slow_start=linux-4.8") == "cubic (Linux 4.8)"
    assert (
        cca_name("cubic:hystart=off,slow_start=linux-4.8") == "cubic:hystart=off,slow_start=linux-4.8"
    )
    assert cca_name("bbr:extra_acked_gain=0") == "bbr:extra_acked_gain=0"
    assert number_text(1304.2) == "1304"
    assert number_text(0.66123) == "0.661"
