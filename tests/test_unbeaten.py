"""Stars of alternatives: rows that runs show to help, and that no row as near beats in all figures."""

from __future__ import annotations

import pytest

import celltcp as ct
from celltcp.comparison.explanation.flow_texts import said_once
from celltcp.comparison.explanation.remedies.places import has_shaper
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import Alternative, Need
from celltcp.comparison.explanation.trials.alternatives_table import AlternativesTable, host_of
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.unbeaten import unbeaten
from celltcp.comparison.verdicts.choices import choices_of

_TICKS = {"kind": "frames", "size": "200B", "interval": "100ms", "deadline": "50ms"}
_RUNS = 4


@pytest.fixture(scope="module")
def need() -> Need:
    """The need of frames by their late share, of runs that only give it names and 20 frames each."""
    flows = [{"name": "ticks", "workload": _TICKS}]
    result = ct.compare("steady-20-68", ["cubic", "bbr"], _RUNS, duration="2s", set={"flows": flows})
    choice = choices_of(result)[0]._replace(metric="late_share")
    return Need(result, choice, None)


def _row(need: Need, values: list[float], *places: str) -> Alternative:
    """Returns an alternative with shares of late frames; the reference without a place."""
    remedy = ProposedRemedy("queue", Remedy("a queue", ("path.queue=fq-codel",)), ("cubic",), {})
    return Alternative("cubic", remedy if places else None, need.comparison, places, values, 0.5, ())


def test_a_row_that_another_one_of_no_more_effort_beats_has_no_star(need: Need) -> None:
    """Changes of two hosts are worse than one of them alone; and a base station is far away."""
    reference = _row(need, [0.8] * _RUNS)
    alone = _row(need, [0.2] * _RUNS, "sender (server)")
    both = _row(need, [0.4] * _RUNS, "router", "sender (server)")
    far = _row(need, [0.1] * _RUNS, "base station")
    shown = [reference, alone, both, far]
    assert unbeaten(need, shown, [alone, both, far]) == [alone, far]


def test_rows_that_the_runs_do_not_set_apart_do_not_beat_each_other(need: Need) -> None:
    """A mean of half as many late frames is nothing where the runs disagree."""
    reference = _row(need, [0.8] * _RUNS)
    steady, varying = (
        _row(need, [0.4] * _RUNS, "router"), _row(need, [0.0, 0.8, 0.0, 0.0], "sender (server)")
    )  # fmt: skip
    assert unbeaten(need, [reference, steady, varying], [steady]) == [steady]


@pytest.mark.parametrize(("late", "has_star"), [(1, False), (2, True)])
def test_a_star_rests_on_six_late_frames_at_least(need: Need, late: int, has_star: bool) -> None:
    """Four runs with one late frame less are four events; six of six are no chance (sign test)."""
    reference = _row(need, [0.5] * _RUNS)
    one = _row(need, [0.5 - late / 20] * _RUNS, "sender (server)")
    assert unbeaten(need, [reference, one], [one]) == ([one] if has_star else [])


def test_alternatives_have_the_tail_of_a_call_and_what_the_download_beside_it_pays() -> None:
    """BBR leaves a shorter queue than CUBIC in a deep buffer, for some per cent of the goodput."""
    flows = [
        {"name": "bulk"},
        {"name": "call", "cca": "cubic", "workload": {**_TICKS, "interval": "20ms"}},
    ]
    changes = {"flows": flows, "path.buffer": "6bdp"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="20s", set=changes)
    need = Need(result, choices_of(result)[0], None)
    rows = need.alone({"flows": flows})
    metrics = AlternativesTable(need, rows, []).to_json()[1]["metrics"]
    tail = {f"frame_delay_{each}_ms:call" for each in ("p95", "max")}
    assert {*metrics} >= {"goodput_mbps:bulk"} | tail
    usual, bbr = (result.values(cca, "goodput_mbps")[0] for cca in ("cubic", "bbr"))
    assert 0.9 * usual < bbr < 0.99 * usual


def test_the_rule_of_the_window_and_the_place_of_a_router_are_said_once() -> None:
    lines = ["Losses every 2 s. K of RFC 9438, in which W_max is back, is 3 s.", "RTT 40 ms."]
    seen = {""}
    first, second = ([said_once(line, seen) for line in lines] for _ in range(2))
    assert first == lines
    assert second == ["Losses every 2 s.", "RTT 40 ms."]
    router = "router, INTERFACE to the LAN, or an ifb: tc qdisc replace dev INTERFACE root cake"
    assert host_of(router) == "router, INTERFACE to the LAN, or an ifb"


@pytest.mark.parametrize(
    ("changes", "is_shaped"),
    [
        (("path.wired.1.rate=9Mbit/s", "path.wired.1.queue=fq-codel"), True),
        (("path.up=9Mbit/s",), True),
        (("path.queue=fq-codel",), False),
    ],
)
def test_a_shaper_that_was_tried_at_any_rate_is_known_by_its_field(
    changes: tuple[str, ...], is_shaped: bool
) -> None:
    assert has_shaper(changes) == is_shaped


def test_a_gain_in_each_run_helps_however_much_it_varies(need: Need) -> None:
    """Fewer late frames in all runs, by 0.1 to 0.8: the interval of the mean includes zero."""
    reference = _row(need, [0.2, 0.9, 0.3, 0.25])
    one = _row(need, [0.1, 0.1, 0.1, 0.1], "sender (server)")
    other = _row(need, [0.3, 0.1, 0.1, 0.1], "router")
    assert unbeaten(need, [reference, one, other], [one, other]) == [one]
