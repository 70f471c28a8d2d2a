"""Notes on a best congestion control that makes room for other flows."""

from __future__ import annotations

import random
import shlex
from types import SimpleNamespace

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.report.front_page import settings_section
from celltcp.comparison.verdicts import yielding
from celltcp.comparison.verdicts.yielding import room_condition, yielding_text
from drawn_causes import Changes


def _vegas_and_cubic(draw: random.Random, flow: Changes) -> ct.Comparison:
    changes: Changes = {
        "path.rtt": f"{draw.randint(30, 80)}ms",
        "path.down.rate": f"{draw.randint(10, 30)}Mbit/s",
        "path.up.rate": "10Mbit/s",
        "path.buffer": "4bdp",
        "flows": [flow],
    }
    return ct.compare("steady-20-68", ["cubic", "vegas"], 2, duration="20s", set=changes)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("flow", [{"name": "get"}, {"from": "phone", "to": "server"}])
def test_a_best_cca_that_makes_room_has_a_note_whose_command_shows_it(seed: int, flow: Changes) -> None:
    draw = random.Random(f"yielding {seed}")
    result = _vegas_and_cubic(draw, flow)
    text = yielding_text(result)
    assert text.startswith("vegas reduces its window when packets wait, and may get little beside ")
    assert text in ExplainedComparison(result).notes
    section = settings_section(result)
    assert section is not None
    assert f"{text}." in section.text
    # The command has the ends of the flow.
    mix, flows = (shlex.split(text)[shlex.split(text).index(each) + 1] for each in ("--cca", "--set"))
    changes = {"path.buffer": "4bdp", "path.rtt": "50ms", "flows": flows.partition("=")[2]}
    pair = ct.compare("steady-20-68", mix, 1, duration="20s", set=changes)
    shares = [pair.values_of(each, mix, "goodput_mbps")[0] for each in pair.competing_flows]
    assert shares[0] < 0.5 * shares[1]


def test_where_others_share_the_path_or_none_does_there_is_no_note() -> None:
    draw = random.Random("no note")
    frames = {"workload": {"kind": "frames", "size": "2kB", "interval": "20ms"}}
    assert not yielding_text(_vegas_and_cubic(draw, frames))
    changes: Changes = {"flows": [{"name": "ours"}, {"name": "other", "cca": "cubic"}]}
    two = ct.compare("steady-20-68", ["cubic", "vegas"], 1, duration="10s", set=changes)
    assert not yielding_text(two)
    bbr = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="10s", set={"path.buffer": "4bdp"})
    assert not yielding_text(bbr)


def test_several_best_ccas_have_a_note_in_the_plural(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _vegas_and_cubic(random.Random("plural"), {"name": "get"})
    choices = [SimpleNamespace(verdict=SimpleNamespace(best=cca)) for cca in ("vegas", "lp")]
    monkeypatch.setattr(yielding, "choices_of", lambda _: choices)
    monkeypatch.setattr(yielding, "labels", lambda _: {"vegas": "vegas", "lp": "lp"})
    monkeypatch.setattr(yielding, "family_of", lambda _: "delay")
    assert yielding_text(result).startswith("vegas and lp reduce their windows when packets wait, ")


def test_rows_of_a_cca_that_makes_room_have_its_condition_but_behind_a_fair_queue() -> None:
    droptail, fair = ({"path": {"queue": queue}} for queue in ("droptail", "fq-codel"))
    condition = "while no bulk flow of a loss-based CCA shares the queue"
    assert [room_condition(droptail, [cca], []) for cca in ("vegas", "copa", "bbr", "cubic")] == [
        condition, condition, "", "",
    ]  # fmt: skip
    assert not room_condition(fair, ["vegas"], [])
    assert not room_condition(droptail, ["vegas"], ["path.wired.0.queue=fq-codel"])
    # A split or parameters leave a congestion control as it is.
    assert room_condition(droptail, ["vegas:alpha=4"], ["tcp.pacing=true"]) == condition
