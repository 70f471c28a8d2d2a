"""Texts of the core in their parts: line-ups with their flows, and quantities with their units."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
from celltcp._core import in_unit, lineups
from celltcp.comparison.lines.settings_lines import linux_commands
from celltcp.comparison.verdicts.verdict_tables import unranked_text
from celltcp.scenarios.cca_mix import labels, parse_mix, ranked_mixes
from celltcp.scenarios.requirements import selector_requirements


def test_a_line_up_is_read_as_the_core_prints_it() -> None:
    (text,) = lineups("CUBIC:hystart=no,beta=0.80+westwood+ + auto:hints=on @ split:at=node-1@es")
    result = parse_mix(text)
    assert [flow.name for flow in result.flows] == ["cubic", "westwood", "auto"]
    assert result.flows[0].parameters == {"beta": "0.8", "hystart": "off"}
    assert result.flows[2].parameters == {"hints": "on"}
    assert result.middleboxes == "split:at=node-1@es"
    assert result.has_selector
    assert result.single_cca is None
    assert parse_mix("bbr@none").single_cca == "bbr"


def test_a_requirement_is_found_before_middleboxes() -> None:
    (text,) = lineups("auto:requirement=delay@es")
    assert selector_requirements([text, "auto:requirement=1/5/1+cubic"]) == ["delay", "1/5/1"]
    assert labels([text]) == {text: "auto default delay@es"}


def test_selectors_pass_middleboxes() -> None:
    result = ct.compare(
        "steady-20-68", "auto:requirement=delay,cubic", 1, duration="2s", middlebox="none,split"
    )
    assert [result.middlebox(cca) for cca in result.ccas] == ["none", "none", "split", "split"]


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("20Mbit/s", "Mbit/s", 20),
        ("2Gbit/s", "Mbit/s", 2000),
        ("500kbit/s", "bit/s", 5e5),
        ("68ms", "s", 0.068),
        ("1.5s", "ms", 1500),
        ("60km/h", "km/h", 60),
        ("750packets", "packets", 750),
        ("2bdp", "packets", None),
        ("68ms", "packets", None),
        (None, "ms", None),
    ],
)
def test_quantities_are_numbers_in_a_unit(text: object, unit: str, value: float | None) -> None:
    assert in_unit(text, unit) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("mix", "label"),
    [
        ("bbr+bbr+bbr+bbr+bbr", "bbr x5"),
        ("cubic+reno+reno+reno", "cubic+reno x3"),
        ("cubic+cubic", "cubic+cubic"),
        ("cubic:hystart=off+cubic:hystart=off+cubic:hystart=off@split", "cubic:hystart=off x3@split"),
    ],
)
def test_labels_count_flows_in_a_row_that_have_the_same_cca(mix: str, label: str) -> None:
    assert labels([mix, "reno"]) == {mix: label, "reno": "reno"}


def test_plus_signs_of_hystart_are_none_of_a_line_up() -> None:
    """CCAs with HyStart++ were left out of verdicts, as if several flows ran."""
    one = ("reno:slow_start=hystart++", "reno:slow_start=hystart++@split", "cubic")
    several = ("cubic+bbr", "reno:slow_start=hystart+++bbr", "bbr+reno:slow_start=hystart++")
    assert ranked_mixes((*one, *several)) == list(one)


@pytest.mark.parametrize("seed", range(2))
def test_mixes_with_the_same_cca_in_all_flows_rank_as_ccas_do(seed: int) -> None:
    """Such mixes are a network where all hosts have the CCA: each flow has its verdict, and a line."""
    draw = random.Random(seed)
    changes = {
        "path.rtt": f"{draw.randint(20, 60)}ms",
        "path.buffer": f"{draw.randint(300, 600)}packets",
        "flows": [
            {"name": "bulk"},
            {"name": "ping", "workload": {"kind": "request-response", "gap": "100ms"}},
        ],
    }
    compared = ct.compare("steady-20-68", "cubic+cubic,bbr+bbr", 2, duration="15s", set=changes)
    assert compared.ranked_ccas == ["cubic+cubic", "bbr+bbr"]
    # A queue of BBR is 1 BDP, that of CUBIC the whole buffer.
    verdicts = {stake.flow: stake.verdict for stake in compared.stakes}
    assert verdicts["ping"].leader == "bbr+bbr"
    assert set(verdicts) == {"bulk", "ping"}
    assert not unranked_text(compared)
    assert linux_commands("bbr+bbr", {"flows": changes["flows"]}) == linux_commands("bbr")
    # Where flows have different ones, their shares are the result.
    duels = ct.compare("steady-20-68", "cubic+bbr,bbr+cubic", 1, duration="2s", set=changes)
    assert duels.ranked_ccas == []
    assert "cubic+bbr, bbr+cubic" in unranked_text(duels)
