"""Alternatives of an explanation: what each place can do for the first need, and what others lose."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.places import OPERATOR_QUEUE, places_of
from celltcp.comparison.explanation.remedies.queue_remedies import queue
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import (
    Alternative,
    Need,
    best_by_place,
    needs_of,
    recommended,
)
from celltcp.comparison.explanation.trials.best_tried import conclusion_of
from celltcp.comparison.explanation.trials.confirmation import Confirmation
from celltcp.comparison.explanation.trials.metric_changes import MetricChange
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget, Trials
from celltcp.comparison.lines.linux_lines import linux_lines
from celltcp.comparison.verdicts.choices import choices_of
from celltcp.results.tested import FlowUnderTest
from drawn_causes import Changes

_GAME = {"kind": "request-response", "request": "60B", "response": "120B", "gap": "50ms"}
_FLOWS = [{"name": "download"}, {"name": "game", "cca": "cubic", "workload": _GAME}]
_RUNS = 2


def _bloated(draw: random.Random) -> Changes:
    """Returns a deep buffer before a line of constant rate, with a download beside a game."""
    return {
        "path.rtt": f"{draw.randint(20, 50)}ms",
        "path.down": f"{draw.randint(10, 25)}Mbit/s",
        "path.buffer": f"{draw.randint(6, 10)}bdp",
        "flows": _FLOWS,
    }


def _explained(changes: Changes, ccas: list[str], duration: str = "20s") -> ExplainedComparison:
    """Returns the explanation of a comparison with these changes."""
    return _tried(ct.compare("steady-20-68", ccas, _RUNS, duration=duration, set=changes))


def _tried(result: ct.Comparison) -> ExplainedComparison:
    """Returns the explanation of a comparison after its trials."""
    explained = ExplainedComparison(result)
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    return explained


@pytest.mark.parametrize("seed", range(2))
def test_each_place_has_an_alternative_with_the_figures_of_a_comparison_with_it(seed: int) -> None:
    """The sender has another CCA, the owner of the queue an AQM, and the user a shaper before it."""
    changes = _bloated(random.Random(seed))
    alternatives = _explained(changes, ["cubic", "bbr"]).conclusion.alternatives
    assert alternatives is not None
    places = [each.places for each in alternatives.shown]
    assert places[0] == ()
    assert {("sender (server)",), ("downlink queue",), ("router",)} <= {*places}
    for row in alternatives.to_json():
        fields = [word for word in row["options"].split() if "=" in word]
        again = ct.compare(
            "steady-20-68",
            [row["cca"]],
            row["runs"],
            duration="20s",
            set={**changes, **dict(field.split("=", 1) for field in fields)},
        )
        (game,) = again.applications
        p95 = sum(game.values("response_p95_s")[row["cca"]]) / row["runs"]
        assert row["metrics"]["response_p95_s:game"] == pytest.approx(p95)


def test_the_shaper_has_its_price_in_the_goodput_of_the_download() -> None:
    alternatives = _explained(_bloated(random.Random(3)), ["cubic", "reno"]).conclusion.alternatives
    assert alternatives is not None
    (shaper,) = [each for each in alternatives.shown if each.places == ("router",)]
    (loss,) = shaper.losses
    assert (loss.flow, loss.metric) == ("download", "goodput_mbps")
    # A shaper has nine tenths of the rate of the line.
    assert 0.05 < shaper.loss < 0.2
    table = alternatives.table
    assert [column.title for column in table.columns][-1] == "download goodput Mbit/s"
    assert all(row[-1].endswith(" %)") for row in table.rows if row[1] == "router")


@pytest.mark.parametrize("seed", range(2))
def test_a_cap_of_the_transfer_that_fills_a_queue_leaves_a_steady_line_without_one(seed: int) -> None:
    """Its rate is below that of the line, less the game, so that only packets in service wait."""
    changes = _bloated(random.Random(100 + seed))
    alternatives = _explained(changes, ["cubic", "reno"]).conclusion.alternatives
    assert alternatives is not None
    field = "flows.0.max_pacing_rate="
    (capped,) = [each for each in alternatives.shown if field in "".join(each.changes)]
    assert capped.places == ("sender (server)",)
    assert capped.cca == "cubic"
    # The answer of a game without a queue takes a round trip, and the times of packets in service.
    rtt_s = float(str(changes["path.rtt"]).removesuffix("ms")) / 1e3
    assert sum(capped.values) / len(capped.values) < rtt_s + 0.02
    assert capped.loss < 0.1


def test_a_change_advised_under_one_cca_is_tried_under_the_default_too() -> None:
    """In a long slow start, of which CUBIC leaves early, a larger initial window helps all the same."""
    changes: Changes = {
        "path.rtt": "60ms", "path.down": "20Mbit/s", "path.buffer": "300packets",
        "flows": [{"name": "pages", "workload": {"kind": "sequence", "size": "500kB", "gap": "2s"}}],
    }  # fmt: skip
    result = ct.compare("steady-20-68", ["cubic", "vegas"], _RUNS, duration="40s", set=changes)
    explained = ExplainedComparison(result)
    trials = Trials(result, TrialBudget())
    (proposed,) = [
        each for each in explained._all_remedies if "tcp.initial_window=32" in each.remedy.changes
    ]
    of_vegas = proposed._replace(ccas=("vegas",))
    tried = [of_vegas._replace(after=trials.after(of_vegas))]
    table = conclusion_of(trials, needs_of(result), tried, Confirmation(trials, 1)).alternatives
    assert table is not None
    (advised,) = table.recommended
    assert (advised.cca, advised.changes) == ("cubic", ("tcp.initial_window=32",))


_UPLINK = {
    "path.rtt": "35ms",
    "path.down": "80Mbit/s",
    "path.up": "12Mbit/s",
    "path.uplink_buffer": "1500kB",
}
_FRAMES = {"kind": "frames", "size": "3kB", "interval": "20ms", "deadline": "150ms"}
_UP = {"from": "phone", "to": "server"}


def test_a_shaper_before_an_uplink_has_its_own_price() -> None:
    """It has 0.95 of the rate, which an AQM in the modem does not cost, but few can set that."""
    flows = [{"name": "backup", **_UP}, {"name": "call", "cca": "cubic", **_UP, "workload": _FRAMES}]
    alternatives = _explained({**_UPLINK, "flows": flows}, ["cubic", "lp"]).conclusion.alternatives
    assert alternatives is not None
    (shaper,) = [each for each in alternatives.shown if each.places == ("router",)]
    assert shaper.changes == ("path.up=11.4Mbit/s", "path.uplink_queue=fq-codel")
    (loss,) = shaper.losses
    lines = alternatives.lines_of(shaper)
    assert lines == [
        "router, INTERFACE to the WAN: tc qdisc replace dev INTERFACE root cake bandwidth 11400kbit"
    ]
    # Of 12 Mbit/s the call has 1.2 Mbit/s, so that a part of the link is more of the backup.
    assert 0.05 < shaper.loss < 0.25
    assert loss.flow == "backup"


def test_an_aqm_of_the_downlink_leaves_the_queue_of_the_uplink() -> None:
    """The uplink has the discipline of the path unless it has one of its own, and here it is full."""
    ping = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "100ms"}
    flows = [
        {"name": "download"},
        {"name": "ping", "cca": "cubic", "workload": ping},
        {"name": "backup", "cca": "cubic", **_UP},
    ]
    changes: Changes = {**_UPLINK, "path.buffer": "8bdp", "flows": flows}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], _RUNS, duration="20s", set=changes)
    evidence = Evidence(result, "cubic", FlowUnderTest.each(result.results.about)[1])
    remedies = queue(evidence, Cause("queue", "", 1.0))
    (aqm,) = [each for each in remedies if "path.queue=fq-codel" in each.changes]
    assert aqm.changes == ("path.queue=fq-codel", "path.uplink_queue=droptail")
    assert places_of(aqm, evidence.scenario, sets_cca=False) == ["downlink queue"]
    # The discipline that the uplink has already needs no line.
    assert len(linux_lines(aqm.changes, evidence.scenario, "down")) == 1


def test_alternatives_and_first_remedies_of_long_runs_are_tried_in_all_of_these() -> None:
    """A trial of all CCAs has fewer runs where these are long, of which some may gain by chance."""
    changes: Changes = {
        "path.rtt": "20ms", "path.down": "100Mbit/s", "path.buffer": "8bdp", "flows": _FLOWS,
    }  # fmt: skip
    result = ct.compare("steady-20-68", ["cubic", "reno"], 3, duration="30s", set=changes)
    explained = _tried(result)
    table = explained.conclusion.alternatives
    assert table is not None
    assert min(each.run_count for each in explained._tried) == 2
    assert all(each.trial.startswith("in 3 runs") for each in explained.remedies if each.trial)
    assert table.run_count == 3
    assert "; in 3 runs, against cubic alone" in table.table.title


def test_game_commands_with_rare_losses_are_judged_by_their_tail() -> None:
    """With one loss in a hundred, a lower minimum RTO shortens the slowest hundredth only."""
    game = {"kind": "request-response", "request": "20B", "response": "120B", "gap": "200ms"}
    changes: Changes = {
        "path.rtt": "100ms", "path.down": "5Mbit/s", "path.loss": 0.01, "path.uplink_loss": 0.01,
        "flows.0.workload": game,
    }  # fmt: skip
    conclusion = _explained(changes, ["cubic", "reno"], "300s").conclusion
    assert conclusion.alternatives is not None
    before, *_ = rows = conclusion.alternatives.to_json()
    (row,) = [each for each in rows if each["recommended"]]
    assert next(iter(row["metrics"])).startswith("response_p99_s:")
    # Players ask for the worst and for the spread, too.
    worst, spread = (f"{name}:flow-1" for name in ("response_max_s", "response_sd_s"))
    assert row["metrics"][worst] < before["metrics"][worst]
    assert row["metrics"][spread] < before["metrics"][spread]
    assert any("tcp.min_rto=20ms" in each for each in row["options"].split())
    assert conclusion.best is not None
    assert conclusion.best.metric == "response_p99_s"


def test_a_split_proxy_with_bbr_keeps_the_queue_of_a_cell_short_for_others() -> None:
    """The data of the download wait in the proxy, and not before the pings of the same phone."""
    result = ct.compare(
        "steady-20-68",
        ["cubic", "reno"],
        _RUNS,
        duration="20s",
        set={**_bloated(random.Random(11)), "path.wired": [{"delay": "5ms"}, {}]},
    )
    explained = _tried(result)
    table = explained.conclusion.alternatives
    assert table is not None
    (proxy,) = [each for each in table.shown if each.places == ("split proxy",)]
    assert proxy.cca == "cubic@split:at=node-1,cca=bbr"
    assert proxy.gain > 1
    assert not proxy.losses


def test_a_single_cca_has_alternatives_too() -> None:
    """Another CCA at the sender is one of them."""
    conclusion = _explained(_bloated(random.Random(13)), ["cubic"]).conclusion
    assert conclusion.alternatives is not None
    places = {place for each in conclusion.alternatives.shown for place in each.places}
    assert {"sender (server)", "downlink queue"} <= places
    assert conclusion.best is not None
    assert " cubic has " in conclusion.best.text


def test_a_link_that_varies_has_an_aqm_with_a_later_target_as_an_alternative() -> None:
    """A queue of some ms is empty when the rate rises; one of 20 ms keeps the goodput of a download."""
    generate = {"mean": "30Mbit/s", "variability": 0.5, "correlation": "3s"}
    changes: Changes = {
        "path.rtt": "40ms", "path.down": {"generate": generate}, "path.buffer": "2MB", "flows": _FLOWS,
    }  # fmt: skip
    table = _explained(changes, ["cubic", "reno"], "60s").conclusion.alternatives
    assert table is not None
    (aqm,) = [each for each in table.recommended if each.places == (OPERATOR_QUEUE,)]
    assert 'target = "20ms"' in aqm.changes[0]
    usual = ct.compare(
        "steady-20-68", "cubic", _RUNS, duration="60s", set={**changes, "path.queue": "fq-codel"}
    )
    download = FlowUnderTest.of(usual.results.about)
    goodputs = [
        sum(each.values_of(download, "cubic", "goodput_mbps")) for each in (aqm.comparison, usual)
    ]
    assert goodputs[0] > 1.05 * goodputs[1]


@pytest.mark.parametrize("varying", [False, True])
def test_a_hop_that_varies_is_no_place_for_a_shaper(varying: bool) -> None:
    """A constant rate in its place would be another network."""
    generate = {"mean": "25Mbit/s", "variability": 0.5, "correlation": "2s"}
    hop = {"rate": {"generate": generate}} if varying else {"rate": "1Gbit/s"}
    changes: Changes = {
        "path.rtt": "40ms", "path.down": "20Mbit/s", "path.buffer": "8bdp",
        "path.wired": [{"rate": "1Gbit/s"}, hop], "flows": _FLOWS,
    }  # fmt: skip
    explained = _explained(changes, ["cubic", "reno"])
    shapers = [each for each in explained._all_remedies if "path.wired.1.rate" in each.options]
    assert bool(shapers) != varying
    # A download is shaped towards the LAN, whatever the direction of other transfers.
    assert all("INTERFACE to the LAN" in line for each in shapers for line in each.lines)


def test_where_nothing_helps_the_first_flow_the_alternatives_are_for_the_next_one() -> None:
    """A download takes the least time with its deep queue, and the pages beside it wait in that."""
    page = {"kind": "page", "objects": 8, "object": "10kB", "multiplexed": True, "gap": "1s"}
    changes: Changes = {
        "path.rtt": "50ms", "path.down": "30Mbit/s", "path.buffer": "4bdp",
        "flows": [
            {"name": "update", "workload": {"kind": "bulk", "bytes": "50MB"}},
            {"name": "web", "cca": "cubic", "workload": page},
        ],
    }  # fmt: skip
    table = _explained(changes, ["cubic", "bbr"], "20s").conclusion.alternatives
    assert table is not None
    assert "Alternatives for web (page load time)" in table.table.title
    metrics = table.to_json()[0]["metrics"]
    assert next(iter(metrics)) == "page_load_s:web"


def test_a_single_cca_behind_a_split_has_no_alternatives_of_the_network() -> None:
    """Performance metrics do not hold behind a split host."""
    changes: Changes = {"path.wired": [{"delay": "5ms"}, {}], "path.loss": 0.01}
    result = ct.compare(
        "steady-20-68", "cubic", 1, duration="5s", set=changes, middlebox="split:at=node-1"
    )
    assert _tried(result).conclusion == (None, None)


def test_smaller_frames_have_their_price_in_the_goodput_of_the_frames() -> None:
    """Frames of a third are in time, and carry a third."""
    workload = {"kind": "frames", "size": "25kB", "interval": "33ms", "deadline": "500ms"}
    changes: Changes = {
        "path.rtt": "100ms", "path.down": "50Mbit/s", "path.loss": 0.001, "path.buffer": "1bdp",
        "flows.0.workload": workload,
    }  # fmt: skip
    alternatives = _explained(changes, ["cubic", "bbr"], "60s").conclusion.alternatives
    assert alternatives is not None
    smaller = [each for each in alternatives.shown if "workload.size" in " ".join(each.changes)]
    assert smaller
    assert all(loss.metric == "goodput_mbps" for each in smaller for loss in each.losses)
    # The smaller the frames, the fewer are late, and the less they carry.
    assert [each.loss for each in smaller] == sorted(each.loss for each in smaller)
    assert [each.gain for each in smaller] == sorted(each.gain for each in smaller)


def test_mixes_of_the_flows_are_alternatives_of_each_other() -> None:
    """A download under Vegas leaves a game beside it alone, whatever the game has."""
    mixes = ["cubic+cubic", "vegas+cubic"]
    changes = {**_bloated(random.Random(5)), "flows": [_FLOWS[1], _FLOWS[0]]}
    alternatives = _explained(changes, mixes).conclusion.alternatives
    assert alternatives is not None
    assert alternatives.shown[0].cca == "cubic+cubic"


def test_explain_prints_the_alternatives_and_json_has_them(celltcp, tmp_path: Path) -> None:
    changes = _bloated(random.Random(7))
    folder = tmp_path / "o"
    ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="20s", set=changes, out=folder)
    shown = celltcp("explain", str(folder)).stdout
    assert "Alternatives for game (95th percentile of the response time), by place" in shown
    _, _, lines = shown.partition("Best of all that ")
    assert "tc qdisc replace dev INTERFACE root fq_codel" in lines
    rows = json.loads(celltcp("explain", str(folder), "--json", "-").stdout)["alternatives"]
    frame = ct.explain(folder).alternatives
    assert frame["cca"].tolist() == [row["cca"] for row in rows]
    assert frame["response_p95_s:game"].tolist() == [
        row["metrics"]["response_p95_s:game"] for row in rows
    ]
    assert not rows[0]["recommended"]
    assert sum(row["recommended"] for row in rows) >= 3


@pytest.mark.parametrize(
    ("remedy", "places"),
    [
        (None, []),
        (Remedy("", cca="bbr"), ["sender (phone)"]),
        (Remedy("", ("path.uplink_queue=fq-codel",)), ["phone"]),
        (Remedy("", ("path.queue=fq-codel",)), ["base station"]),
        (Remedy("", ("path.wired.0.rate=9Mbit/s", "path.wired.0.queue=fq-codel")), ["router"]),
        (Remedy("", ("tcp.receive_window_max=1MB",)), ["receiver (server)"]),
        (
            Remedy("", ("flows.0.workload.backlog=newest", "tcp.notsent_lowat=16kB")),
            ["application"],
        ),
        (Remedy("", middlebox="split:at=node-1"), ["split proxy"]),
    ],
)
def test_a_remedy_is_set_where_its_fields_are(remedy: Remedy | None, places: list[str]) -> None:
    """In an upload of a phone."""
    scenario = {"radio": {"technology": "lte"}, "flows": [{"from": "phone", "to": "server"}]}
    assert places_of(remedy, scenario, sets_cca=False) == places
    assert places_of(remedy, scenario, sets_cca=True) == sorted({*places, "sender (phone)"})


@pytest.fixture(scope="module")
def need() -> Need:
    """The need of a game beside a download, of runs that only give it a name."""
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="2s", set={"flows": _FLOWS})
    return Need(result, choices_of(result)[0], None)


def _alternative(need: Need, gain: float, loss: float, place: str) -> Alternative:
    """Returns an alternative with a gain and a loss, as logarithms; the reference without a place."""
    losses = (MetricChange("", "goodput_mbps", [1.0], [math.exp(-loss)]),) if loss else ()
    places, cca = ((place,), "reno") if place else ((), "cubic")
    return Alternative(cca, None, need.comparison, places, [1.0], gain, losses)


@pytest.mark.parametrize("seed", range(20))
def test_of_two_alternatives_at_a_place_neither_is_better_in_all(need: Need, seed: int) -> None:
    draw = random.Random(seed)
    drawn = []
    for place in draw.choices("abc", k=draw.randint(1, 9)):
        loss = draw.choice([0.0, draw.uniform(0.1, 2)])
        # Alternatives whose losses outweigh the gain are none.
        drawn.append(_alternative(need, 2 * loss + draw.uniform(0.1, 4), loss, place))
    shown = best_by_place(need, [_alternative(need, 0, 0, ""), *drawn])[1:]
    assert {each.places for each in shown} == {each.places for each in drawn}
    for one, other in itertools.permutations(shown, 2):
        if one.places == other.places:
            assert (one.gain > other.gain) == (one.loss > other.loss)
    # One that is not shown is hardly better in anything than one at its place.
    for each in drawn:
        near = [other for other in shown if other.places == each.places]
        assert any(other.is_as_good(each, 2 * need.min_gain) for other in near)


def test_of_gains_at_their_bound_the_better_value_counts(need: Need) -> None:
    """A share of late frames of a thousandth is as far from one of all as one of a hundredth."""
    worse = _alternative(need, 4.6, 0, "a")._replace(cca="bic", values=[0.01])
    better = _alternative(need, 4.6, 0, "a")._replace(cca="scalable", values=[0.001])
    shown = best_by_place(need, [_alternative(need, 0, 0, ""), worse, better])
    assert [each.cca for each in shown[1:]] == ["scalable"]


def test_half_of_the_goodput_of_others_is_worth_a_quarter_of_the_delay(need: Need) -> None:
    half = math.log(2)
    for gain, is_better in ((2.2 * half, True), (1.8 * half, False)):
        reference = _alternative(need, 0, 0, "")
        cheap, dear = _alternative(need, 1.0, 0, "a"), _alternative(need, 1.0 + gain, half, "a")
        (best,) = recommended(need, best_by_place(need, [reference, cheap, dear]))
        assert (best is dear) == is_better


def test_what_gains_more_than_others_lose_has_a_row_and_is_no_advice(need: Need) -> None:
    reference, rows = _alternative(need, 0, 0, ""), {}
    # Late telemetry 11.6 to 4.88 %, for late frames of a camera 8.94 to 14.2 %; and the reverse.
    gain, loss = math.log(11.6 / 4.88), math.log(14.2 / 8.94)
    for name, pair in {"fair": (gain, loss), "dear": (loss, gain)}.items():
        rows[name] = best_by_place(need, [reference, _alternative(need, *pair, name)])
    assert [len(each) for each in rows.values()] == [2, 1]
    assert recommended(need, rows["fair"]) == []
    # What the application of a further flow gains is worth as much.
    helping = _alternative(need, loss, gain, "a")._replace(other_gain=gain)
    assert best_by_place(need, [reference, helping]) == [reference, helping]


@pytest.mark.parametrize("seed", range(2))
def test_calls_of_which_most_frames_are_late_are_judged_by_their_deadline(seed: int) -> None:
    """An upload fills the uplink of a call. Of CCAs with as many late frames, the median delay decides.

    Changes are for the deadline: where all frames keep it, a shorter delay is not worth its price.
    """
    draw = random.Random(seed)
    call = {"kind": "frames", "size": "3kB", "interval": "20ms", "deadline": "150ms"}
    up = {"from": "phone", "to": "server"}
    changes: Changes = {
        "path.rtt": f"{draw.randint(20, 50)}ms",
        "path.up": f"{draw.randint(8, 14)}Mbit/s",
        "path.uplink_buffer": "1.5MB",
        "flows": [{"name": "call", "workload": call, **up}, {"name": "backup", "cca": "cubic", **up}],
    }
    explained = _explained(changes, ["cubic", "bbr", "reno"], duration="30s")
    call_of = explained.comparison.applications[0]
    assert all(share > 0.9 for share in call_of.means("late_share"))
    assert call_of.ranking.metric == "frame_delay_p50_ms"
    assert explained.rankings[0].startswith("For call (median delay of frames; over 10 % late ")
    alternatives = explained.conclusion.alternatives
    assert alternatives is not None
    assert "late frames" in str(alternatives.table.title)
    best = [row["metrics"] for row in alternatives.to_json() if row["recommended"]]
    assert any(
        metrics["late_share:call"] == 0 and metrics["frame_delay_p95_ms:call"] < 150 for metrics in best
    )
    # No change that costs the backup a tenth is for the same host as one that costs nothing.
    losses = {each.places: each.loss for each in alternatives.recommended}
    assert losses["uplink queue",] < math.log(1.1)


def test_the_waste_of_alternatives_is_in_their_table() -> None:
    """BBR fills a lossy link of long RTT where the default does not, and sends a tenth again."""
    changes: Changes = {
        "path.rtt": "560ms",
        "path.down": "12Mbit/s",
        "path.loss": {"kind": "gilbert-elliott-time", "good": "1s", "bad": "20ms"},
        "path.buffer": "0.5bdp",
        "flows": [{"workload": {"kind": "bulk", "bytes": "10MB"}}],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], _RUNS, duration="200s", set=changes)
    alternatives = _tried(result).conclusion.alternatives
    assert alternatives is not None
    table = alternatives.table
    assert table.columns[-1].heading == "resent\n%"
    for each, row in zip(alternatives.shown, table.rows, strict=True):
        runs = each.comparison.runs[each.comparison.runs["cca"] == each.cca]["run"]
        flows = each.comparison.flows[each.comparison.flows["run"].isin(runs)]
        resent = flows["retransmissions"].sum() / flows["segments"].sum()
        assert float(row[-1]) == pytest.approx(100 * resent, rel=0.06)


def test_caps_of_a_connection_say_that_several_share_them() -> None:
    """Windows of one BDP in sum leave no queue: those of four connections have a quarter each."""
    changes = _bloated(random.Random(9))
    shared = {**changes, "flows": [{"name": "download", "count": 4}, _FLOWS[1]]}
    smallest = []
    for own in (changes, shared):
        alternatives = _explained(own, ["cubic", "bbr"]).conclusion.alternatives
        assert alternatives is not None
        windows = [
            int(change.partition("=")[2].removesuffix("kB"))
            for each in alternatives.shown
            for change in each.changes
            if change.startswith("tcp.receive_window_max=")
        ]
        smallest.append(min(windows))
        assert ("divide them by the number of those at once" in "".join(alternatives.lines)) == any(
            each.places == ("receiver (client)",) for each in alternatives.recommended
        )
    # Sizes are rounded up to two digits.
    assert smallest[1] == pytest.approx(smallest[0] / 4, abs=10)


def test_places_that_help_far_more_together_are_shown_together(need: Need) -> None:
    """Their losses leave a smaller net gain, but they gain more than twice of what each part does."""
    drops = ProposedRemedy("slow_units", Remedy("", ("tcp.notsent_lowat=16kB",)), ("cubic",), {})
    parts = [
        _alternative(need, 0.5, 0, "sender"),
        _alternative(need, 0.5, 0, "application")._replace(cca="cubic", remedy=drops),
    ]
    both = _alternative(need, 2.6, 1.2, "")._replace(
        cca="reno", places=("application", "sender"), remedy=drops._replace(ccas=("reno",))
    )
    for gain, is_shown in ((2.6, True), (1.1, False)):
        joint = both._replace(gain=gain)
        shown = best_by_place(need, [_alternative(need, 0, 0, ""), *parts, joint])
        assert any(each is joint for each in shown) == is_shown
