"""Remedies of explanations: commands that were tried before and after."""

from __future__ import annotations

import math
import random
import re
from types import SimpleNamespace
from typing import Any

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedies import early_exit, outage
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.metric_changes import MetricChange
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy, best_first
from celltcp.comparison.explanation.trials.trials import TrialBudget, Trials
from celltcp.results.statistics import estimate
from drawn_causes import CAUSES, GAME, Changes, Path, compared_with


def _tried(result: ct.Comparison, remedy: ProposedRemedy, changes: Changes, ccas: list[str]) -> Any:
    """Returns the comparison that the command of a remedy makes."""
    more = dict(each.split("=", 1) for each in remedy.remedy.changes)
    about = result.results.about
    runs, seed, duration = (about[each] for each in ("runs", "seed", "duration_s"))
    whole = {**changes, **more}
    return ct.compare("steady-20-68", ccas, runs, seed=seed, duration=duration, set=whole)


@pytest.mark.parametrize(
    "cause", ["receive_window", "send_buffer", "shallow_buffer", "policer", "early_exit"]
)
def test_a_remedy_of_the_cause_comes_first_and_helps(cause: str) -> None:
    result = compared_with(cause, 1)
    remedy = next(each for each in ExplainedComparison(result).remedies if each.cause == cause)
    draw = random.Random(f"{cause} 1")
    path = Path(draw)
    drawn = CAUSES[cause](path, draw)
    ccas = remedy.options.split("--cca ")[1].split()[0].split(",")
    after = _tried(result, remedy, {"variation.start_jitter": "0s", **path.changes, **drawn}, ccas)
    goodput = result.runs["goodput_mbps"].iloc[0]
    assert after.values(ccas[-1], "goodput_mbps")[0] > 1.02 * goodput, remedy.options


def test_frames_that_nagle_holds_have_no_delay_as_their_first_remedy() -> None:
    changes: Changes = {
        "path.loss": 0.03,
        "path.rtt": "150ms",
        "flows.0.nodelay": False,
        "flows.0.workload": {**GAME, "interval": "50ms", "deadline": "250ms"},
    }
    result = ct.compare("steady-20-68", ["cubic"], 3, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    (shown,) = explained.distinct_ccas
    assert "or Nagle's algorithm held it back" in " ".join(explained.texts(shown))
    first = explained.remedies[0]
    assert first.options == "--cca cubic --set flows.0.nodelay=true"
    assert "TCP_NODELAY" in first.text
    after = _tried(result, first, changes, ["cubic"])
    late = [each.applications[0].means("late_share")[0] for each in (result, after)]
    assert late[1] < 0.7 * late[0]


def test_what_nagle_holds_is_no_slow_start() -> None:
    frames = {**GAME, "interval": "50ms"}
    changes: Changes = {"path.rtt": "150ms", "flows.0.nodelay": False, "flows.0.workload": frames}
    explained = ExplainedComparison(ct.compare("steady-20-68", ["cubic"], 2, set=changes))
    (shown,) = explained.distinct_ccas
    texts = " ".join(explained.texts(shown))
    assert "Nagle's algorithm held it back" in texts
    assert "slow start" not in texts.lower()
    assert not any("initial_window" in each.options for each in explained.remedies)


def test_late_frames_have_a_shorter_time_out_as_a_remedy_and_equal_ccas_one_block() -> None:
    changes: Changes = {
        "path.loss": 0.02,
        "path.uplink_loss": 0.02,
        "path.rtt": "100ms",
        "flows.0.workload": GAME,
    }
    result = ct.compare("steady-20-68", ["cubic", "reno"], 3, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    assert result.identical_ccas == [["cubic", "reno"]]
    (shown,) = explained.distinct_ccas
    assert explained.texts(shown)[0].startswith("cubic, reno (the same under all): ")
    (first, *_) = explained.remedies
    assert first.options == "--cca cubic --set tcp.min_rto=20ms"
    (text, *_) = explained.remedy_commands("my results")
    assert text.startswith(
        "celltcp compare 'my results' --cca cubic --set tcp.min_rto=20ms --runs 3  # "
    )
    after = _tried(result, first, changes, ["cubic"])
    late = [each.applications[0].means("late_share")[0] for each in (result, after)]
    assert late[1] < 0.8 * late[0]


#: Hops of which the first one has most of the delay.
_DIVIDED = [{"name": "internet", "delay": "28ms"}, {"name": "last"}]


def test_frames_behind_earlier_ones_are_dropped_and_random_losses_are_repaired_nearby() -> None:
    """Split hosts are advised where a node divides the delay; else one leg would have no delay."""
    frames = {**GAME, "size": "16kB", "interval": "33ms"}
    changes: dict[str, Any] = {"path.loss": 0.003, "path.rtt": "100ms", "flows.0.workload": frames}
    for hops, at in ((_DIVIDED, ["node-1"]), (_DIVIDED[1:], [])):
        changes["path.wired"] = hops
        result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes)
        options = [each.options for each in ExplainedComparison(result)._all_remedies]
        drops = "--cca cubic --set flows.0.workload.backlog=newest --set tcp.notsent_lowat=16kB"
        assert drops in options
        splits = [each for each in options if "split" in each]
        assert splits == [f"--cca cubic --middlebox none,split:at={node}" for node in at]


def test_a_queue_that_another_flow_fills_has_an_aqm_as_a_remedy() -> None:
    flows = [{"name": "download"}, {"name": "game", "cca": "cubic", "workload": GAME}]
    changes: Changes = {"flows": flows, "path.buffer": "4bdp"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
    options = [each.options for each in ExplainedComparison(result).remedies]
    assert "--cca cubic --set path.queue=fq-codel" in options
    assert "--cca cubic,bbr" in options
    changes["path.queue"] = "fq-codel"
    again = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
    assert not any("fq-codel" in each.options for each in ExplainedComparison(again).remedies)


def test_phones_that_sleep_between_frames_have_the_timers_of_drx_as_remedies() -> None:
    workload = {"kind": "frames", "size": "300B", "interval": "1s"}
    changes: Changes = {"radio.drx.inactivity": "50ms", "flows": [{"workload": workload}]}
    result = ct.compare("mobility/forward-60-4g", "cubic", 1, duration="10s", set=changes)
    explained = ExplainedComparison(result)
    assert "sleep" in {cause.name for cause in explained.ccas[0].causes}
    assert any("radio.drx.inactivity=" in each.options for each in explained.remedies)


def test_time_outs_that_double_in_an_outage_have_their_bounds_as_remedies() -> None:
    calls = {"kind": "request-response", "request": "2B", "response": "2B", "gap": "5s", "jitter": 0}
    changes: Changes = {
        "path.rtt": "20ms",
        "path.blackouts": [{"at": "20.02s", "duration": "8s"}],
        "variation.start_jitter": "0s",
        "flows.0.workload": calls,
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    texts = {each.name: each.text for each in explained.ccas[0].causes}
    assert "when a time-out ended that had doubled with each loss" in texts["outage"]
    remedies = {each.options: each for each in explained.remedies}
    bounded = remedies["--cca cubic --set tcp.rto_max=2s"]
    assert (
        "; Linux, sender (server), from 6.15 on: sysctl -w net.ipv4.tcp_rto_max_ms=2000" in bounded.text
    )
    # After six time-outs, those of thin streams double, too: that only shifts the last one.
    assert not any("thin_linear_timeouts" in options for options in remedies)
    assert "a program at the client, which opens the connection, does the same" in bounded.text
    after = _tried(result, bounded, changes, ["cubic"])
    longest = [each.units["duration_s"].max() for each in (result, after)]
    # The outage began with a request under way; time-outs of 2 s show its end within that.
    assert longest[1] < 10.1 < 13 < longest[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_maximum_rto_is_far_above_the_rtts_of_a_long_path(seed: int) -> None:
    """At the RTT itself, each segment would time out before its ACK can come."""
    draw = random.Random(seed)
    rtt_s = draw.uniform(0.6, 1.4)
    changes: Changes = {
        "path.rtt": f"{rtt_s:.3f}s",
        "path.blackouts": [{"at": "20.02s", "duration": f"{draw.uniform(7, 9):.2f}s"}],
        "flows.0.workload": {
            "kind": "request-response",
            "request": "2B",
            "response": "2B",
            "gap": "3s",
        },
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    evidence = Evidence(result, "cubic", result.tested)
    change = next(outage(evidence, Cause("outage", "", 1.0))).changes[0]
    assert 2 * rtt_s <= float(change.removeprefix("tcp.rto_max=").removesuffix("s")) <= 4 * rtt_s + 1


@pytest.mark.parametrize("seed", range(3))
def test_linear_time_outs_are_advised_in_outages_that_they_last_for(seed: int) -> None:
    draw = random.Random(seed)
    frames = {"kind": "frames", "size": "300B", "interval": "500ms", "deadline": "300ms"}

    def advised(length_s: float) -> bool:
        changes: Changes = {
            "path.rtt": "40ms",
            "path.blackouts": [{"at": f"{at}.01s", "duration": f"{length_s:.2f}s"} for at in (9, 29)],
            "flows.0.workload": frames,
        }
        result = ct.compare("steady-20-68", "cubic", 2, duration="60s", set=changes)
        remedies = ExplainedComparison(result).remedies
        return any("thin_linear_timeouts" in each.options for each in remedies)

    # Six time-outs of some 240 ms.
    assert advised(draw.uniform(0.8, 1.2))
    assert not advised(draw.uniform(2, 15))


@pytest.mark.slow
def test_a_full_send_buffer_has_the_next_limit_in_its_remedy() -> None:
    """4 MiB of send buffer and 6 MiB of receive buffer are both below 144 Mbit/s times 600 ms."""
    changes: Changes = {"path.rtt": "600ms", "path.down": "144Mbit/s", "path.buffer": "9MB"}
    result = ct.compare("steady-20-68", "bbr", 1, duration="30s", set=changes)
    remedy = next(each for each in ExplainedComparison(result).remedies if each.cause == "send_buffer")
    fields = [each.partition("=")[0] for each in remedy.remedy.changes]
    assert fields == ["tcp.send_buffer_max", "tcp.receive_buffer_max"]
    after = ExplainedComparison(_tried(result, remedy, changes, ["bbr"]))
    assert not {cause.name for cause in after.ccas[0].causes} & {"send_buffer", "receive_window"}


@pytest.mark.parametrize(
    "field", ["receive_window_max", pytest.param("send_buffer_max", marks=pytest.mark.slow)]
)
def test_a_window_that_fills_a_deep_queue_is_no_cause(field: str) -> None:
    """Slow start leaves a tenth of the capacity unused; the window is several times the BDP."""
    changes: Changes = {"path.rtt": "150ms", "path.buffer": "30bdp", f"tcp.{field}": "2MB"}
    result = ct.compare("steady-20-68", "reno", 1, duration="6s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    (flow,) = result.flows.to_dict("records")
    limited_s = flow["receive_window_limited_s"] + flow["send_buffer_limited_s"]
    assert limited_s > 0.5 * flow["duration_s"]
    assert flow["goodput_mbps"] < 0.9 * 20 * 1448 / 1500
    assert not {cause.name for cause in explained.causes} & {"send_buffer", "receive_window"}


def _hop_warnings(result: ct.Comparison) -> list[str]:
    return [each for each in result.warnings if "path.wired.0" in each]


def test_a_queue_at_a_hop_as_slow_as_the_access_link_is_that_hops() -> None:
    """Data come to the access link no faster than the hop before it sends: nothing waits there."""
    changes: Changes = {
        "path.rtt": "100ms",
        "path.down": "50Mbit/s",
        "path.wired.0.rate": "50Mbit/s",
        "path.wired.0.buffer": "60packets",
        "path.wired.0.name": "modem",
    }
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="20s", set=changes)
    (warning,) = _hop_warnings(result)
    assert "the hop modem (path.wired.0, 50Mbit/s) is as slow as the access link" in warning
    assert "path.buffer has no effect" in warning
    explained = ExplainedComparison(result)
    (shown,) = explained.distinct_ccas
    text = " ".join(explained.texts(shown))
    assert "The buffer of the hop modem is shallow: no more than" in text
    assert "no more than 0 B" not in text
    fields = [each.partition("=")[0] for one in explained.remedies for each in one.remedy.changes]
    assert "path.wired.0.buffer" in fields
    assert "path.buffer" not in fields
    # A hop that is slower by choice, or faster, needs no word.
    for rate in ("40Mbit/s", "1Gbit/s"):
        chosen = {**changes, "path.wired.0.rate": rate}
        assert not _hop_warnings(ct.compare("steady-20-68", ["cubic"], 1, duration="1s", set=chosen))
    # The data of an upload meet the access link first.
    upload = {**changes, "path.up": "50Mbit/s", "flows.0.from": "phone", "flows.0.to": "server"}
    assert not _hop_warnings(ct.compare("steady-20-68", ["cubic"], 1, duration="1s", set=upload))
    # What a policer admits fills no faster link.
    for place in ("path.policer", "path.wired.0.policer"):
        policed = {**changes, f"{place}.rate": "20Mbit/s"}
        assert not _hop_warnings(ct.compare("steady-20-68", ["cubic"], 1, duration="1s", set=policed))


def test_the_default_hop_that_binds_has_a_warning() -> None:
    changes: Changes = {"path.down": "2Gbit/s", "path.up": "100Mbit/s"}
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="1s", set=changes)
    (warning,) = [each for each in result.warnings if "hop" in each]
    assert "the hop wan (path.wired.0, 1Gbit/s) is slower than the access link" in warning
    assert "--set path.wired.0.rate=20Gbit/s" in warning


def test_a_trial_leaves_out_what_harms_or_changes_nothing_and_says_the_price() -> None:
    deep: Changes = {"path.buffer": "6bdp", "path.down": "20Mbit/s", "path.rtt": "60ms"}
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="20s", set=deep)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    assert explained.remedies
    for each in explained.remedies:
        assert "; tried in 2 runs, " in each.text
        changes = dict(change.split("=", 1) for change in each.remedy.changes)
        new = each.replacement_ccas[0]
        after = ct.compare("steady-20-68", [new], 2, duration="20s", set={**deep, **changes})
        figures = [
            estimate(one.values(cca, metric)).mean
            for metric in ("goodput_mbps", "rtt_mean_ms")
            for one, cca in ((result, "cubic"), (after, new))
        ]
        # What the comment says is what the command gives.
        assert f"mean RTT {figures[2]:.1f} to {figures[3]:.1f} ms" in each.text
        assert figures[3] < figures[2]
        assert figures[1] / figures[0] > figures[3] / figures[2]


@pytest.mark.parametrize("change", ["tcp.min_rto=201ms", "path.uplink_buffer=999packets"])
def test_a_remedy_that_changes_nothing_helps_nobody(change: str) -> None:
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="5s")
    remedy = ProposedRemedy("queue", Remedy("nothing", (change,)), ("cubic",), {})
    trial = Trials(result, TrialBudget()).run(remedy)
    assert trial is not None
    assert trial.helped_ccas == ()


def test_a_remedy_that_halves_the_goodput_helps_nobody() -> None:
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="5s")
    remedy = ProposedRemedy("queue", Remedy("nothing", ("path.down=5Mbit/s",)), ("cubic",), {})
    trial = Trials(result, TrialBudget()).run(remedy)
    assert trial is not None
    assert trial.helped_ccas == ()


def test_advice_on_hystart_is_for_a_cca_that_has_it_on() -> None:
    """YeAH has the parameter and no HyStart by default, and Linux' file is that of CUBIC's module."""

    def advised(cca: str) -> list[Remedy]:
        evidence = SimpleNamespace(cca=cca, own_cca=cca, flow_index=0)
        return list(early_exit(evidence, Cause("early_exit", "", 1.0)))  # type: ignore[arg-type]

    (cubic,) = advised("cubic")
    assert "tcp_cubic" in cubic.linux
    assert not advised("yeah")
    assert not advised("cubic:hystart=off")


def test_a_transfer_that_a_remedy_completes_is_compared_by_its_time() -> None:
    """Cut before and complete after: its time so far stands beside its time."""
    changes: Changes = {
        "flows.0.workload": {"kind": "bulk", "bytes": "15MB"},
        "path.wired": _DIVIDED,
    }
    result = ct.compare("stress/loss-2", ["cubic", "bbr"], 1, duration="20s", set=changes)
    cut = [not each for each in result.applications[0].values("completed_share")["cubic"]]
    assert all(cut)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    (split,) = (each for each in explained.remedies if each.remedy.middlebox)
    figures = re.search(r"cubic completion[^0-9]*([\d.]+) to ([\d.]+) s", split.trial)
    assert figures is not None
    assert float(figures[2]) < 0.5 * float(figures[1])
    # RTTs end at the middlebox: the delay between the hosts is the price.
    assert re.search(r"p95 one-way delay [\d.]+ to [\d.]+ ms \(\+", split.trial)


def _tried_with(
    field: str, value: str, gain: float, *, trial: str = "in 1 run", variant: int = 0
) -> ProposedRemedy:
    remedy = Remedy("a limit", (f"{field}={value}",), variant=variant)
    return ProposedRemedy("receive_window", remedy, ("cubic",), {}, trial, gain)


def test_what_gained_more_in_its_trial_comes_first() -> None:
    low, high = _tried_with("path.queue", "codel", 0.1), _tried_with("tcp.pacing", "true", 0.9)
    untried = _tried_with("tcp.tso", "1", 0.0, trial="")
    assert best_first([low, untried, high]) == [high, untried, low]


def test_what_helps_a_leading_cca_comes_before_what_helps_the_others_more() -> None:
    """A CCA that is last by far gains most, and is still last."""
    last = _tried_with("path.queue", "codel", 0.9)
    first = _tried_with("tcp.initial_window", "32", 0.1)._replace(leading=frozenset(["cubic"]))
    assert best_first([last, first]) == [first, last]
    # Of those whose leading CCA the trial did not help, the gain decides.
    for_others = first._replace(ccas=("reno",))
    assert best_first([last, for_others]) == [last, for_others]


def test_another_value_stands_for_the_first_only_if_its_trial_was_better() -> None:
    twice = _tried_with("tcp.receive_window_max", "130kB", 0.1)
    once = _tried_with("tcp.receive_window_max", "62kB", 0.6, variant=1)
    assert best_first([twice, once]) == [once]
    worse = once._replace(gain=0.05)
    assert best_first([twice, worse]) == [twice]
    # What a table shows is what to try, first what it recommends.
    assert best_first([twice, once], [twice.remedy.changes]) == [twice]
    assert best_first([twice, once], [once.remedy.changes, twice.remedy.changes]) == [once]
    assert best_first([twice._replace(trial="", gain=0.0), once._replace(trial="", gain=0.0)]) == [
        twice._replace(trial="", gain=0.0)
    ]


def test_a_window_of_one_bdp_is_the_advice_where_two_only_fill_a_queue() -> None:
    changes: Changes = {"path.rtt": "100ms", "path.buffer": "4bdp", "tcp.receive_window_max": "60kB"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="15s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    # Parallel connections are a remedy of the same cause.
    (remedy,) = (
        each
        for each in explained.remedies
        if each.cause == "receive_window" and "tcp.receive_window_max" in each.options
    )
    (change,) = remedy.remedy.changes
    bdp = 20e6 / 8 * result.flows["rtt_min_ms"].min() / 1e3
    assert float(change.split("=")[1].removesuffix("kB")) * 1e3 < 1.2 * bdp
    assert "goodput" in remedy.trial
    assert all(float(share) < 5 for share in re.findall(r"RTT [^(]*\(\+(\d+) %", remedy.trial))


@pytest.mark.parametrize(("down", "up"), [("8128kbit/s", "448kbit/s"), ("20Mbit/s", "1Mbit/s")])
def test_acks_behind_an_upload_have_remedies_for_its_queue_with_their_price_for_it(
    down: str, up: str
) -> None:
    photos = {"name": "photos", "from": "phone", "to": "server", "cca": "cubic"}
    changes: Changes = {
        "path.rtt": "40ms",
        "path.down.rate": down,
        "path.up.rate": up,
        "path.buffer": "100packets",
        "path.uplink_buffer": "56kB",
        "flows": [{"name": "download"}, photos],
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="30s", set=changes)
    explained = ExplainedComparison(result)
    texts = {each.name: each.text for each in explained.ccas[0].causes}
    assert texts["uplink"].startswith("The uplink, which photos (")
    explained.try_remedies(TrialBudget())
    apart, *others = explained.remedy_commands("o")
    # ACKs wait on the uplink alone, which takes longer for a packet than CoDel's default target.
    rate_kbps = in_unit(up, "kbit/s") or 0.0
    target = f'target = "{math.ceil(12_000 / rate_kbps)}ms"'
    queue = f"'path.queue={{ kind = \"fq-codel\", {target} }}'"
    assert apart.startswith(f"celltcp compare o --cca cubic --set {queue}")
    assert "only a shaper before it" in apart
    # That is another remedy, whose line has the rate with which it was tried.
    assert "untried" not in apart
    (shaped,) = [each for each in others if " path.up=" in each.partition("#")[0]]
    kbit = 1e3 * float(re.findall(r"path.up=([\d.]+)Mbit/s", shaped)[0])
    shaper = f"tc qdisc replace dev INTERFACE root cake bandwidth {kbit:.0f}kbit"
    assert f"router, INTERFACE to the WAN: {shaper}" in shaped
    assert "INTERFACE to the LAN" not in f"{apart} {shaped}"
    # What the download gains is taken from the photos.
    assert re.search(r"download goodput [^,]*\+.*photos goodput [^,]*-", apart), apart
    helping = {
        change: each.purpose for each in explained._with_trials for change in each.remedy.changes
    }
    assert helping["flows.1.cca=bbr"].endswith("that photos fills")


@pytest.mark.parametrize("seed", range(3))
def test_live_frames_wait_in_their_program_with_a_send_buffer_of_one_or_two_bdps(seed: int) -> None:
    """Linux counts about three times the data in flight, so that the buffer is three BDPs or six."""
    draw = random.Random(seed)
    mbps, rtt_ms = draw.uniform(3, 8), draw.randint(40, 80)
    frames = {
        "kind": "frames",
        "size": f"{round(1.6e6 * mbps / 8 / 25)}B",
        "interval": "40ms",
        "deadline": f"{4 * rtt_ms + 100}ms",
        "encoder": {"lowest": 0.2},
    }
    live = {"from": "phone", "to": "server", "opens": "from", "workload": frames}
    changes: Changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.up": f"{mbps:.2f}Mbit/s",
        "path.uplink_buffer": "10bdp",
        "flows": [live],
    }
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes))
    explained.try_remedies(TrialBudget())
    shares = {}
    for each in explained._tried:
        assert each.after is not None
        values = dict(change.split("=", 1) for change in each.remedy.changes)
        late = each.after.applications[0].means("late_share")[0]
        shares[tuple(values)] = min(late, shares.get(tuple(values), 1.0))
        if "tcp.send_buffer_max" in values:
            bdps = (in_unit(values["tcp.send_buffer_max"], "B") or 0) / (mbps * 1e6 / 8 * rtt_ms / 1e3)
            assert min(abs(bdps / 3 - 1), abs(bdps / 6 - 1)) < 0.15
    before = explained.comparison.applications[0].means("late_share")[0]
    assert shares["tcp.send_buffer_max",] < before / 4
    # An encoder follows what waits in its program, also without drops.
    assert ("tcp.notsent_lowat",) in shares
    # A bound of what is unsent leaves the queue of CUBIC as it is.
    unsent = shares["flows.0.workload.backlog", "tcp.notsent_lowat"]
    assert shares["flows.0.workload.backlog", "tcp.send_buffer_max"] < unsent / 4


def test_a_program_that_drops_frames_needs_the_options_of_its_socket_alone() -> None:
    frames = {"kind": "frames", "size": "40kB", "interval": "33ms", "deadline": "300ms"}
    drops = {**frames, "backlog": "newest", "encoder": {"lowest": 0.2}}
    changes: Changes = {"path.down": "5Mbit/s", "path.buffer": "8bdp", "flows.0.workload": drops}
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
    fields = {
        text for each in ExplainedComparison(result)._all_remedies for text in each.remedy.changes
    }
    assert {"tcp.notsent_lowat=16kB", "tcp.notsent_lowat=48kB", "tcp.notsent_lowat=128kB"} <= fields
    assert not any("backlog" in each for each in fields)


@pytest.mark.parametrize("seed", range(2))
def test_pages_on_a_link_that_is_slow_at_times_are_tried_over_one_connection(seed: int) -> None:
    """Also where other CCAs are compared, and where outages take a part of the time."""
    draw = random.Random(seed)
    rate = {"mean": f"{draw.randint(8, 14)}Mbit/s", "variability": 0.6, "correlation": "5s"}
    page = {"kind": "page", "document": "30kB", "objects": 70, "object": "16.7kB"}
    changes: Changes = {
        "path": {
            "rtt": "60ms",
            "buffer": "750packets",
            "blackouts": [{"at": "20s", "duration": "3s"}],
            "down": {"generate": rate},
            "up": {"generate": {**rate, "mean": "5Mbit/s"}},
        },
        "flows.0.workload": page,
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="60s", set=changes)
    options = [each.options for each in ExplainedComparison(result)._all_remedies]
    assert "--cca cubic,bbr --set flows.0.workload.multiplexed=true" in options


def test_what_some_of_the_runs_gain_and_others_lose_is_no_decided_change() -> None:
    """Of two runs with a random outage, one gains 20 % and the other loses 6 %."""
    assert not MetricChange("sync", "completion_s", [1.5, 1.5], [1.2, 1.6]).is_decided
    assert MetricChange("sync", "completion_s", [1.5, 1.9], [1.4, 1.8]).is_decided
    # Many runs decide although one of them goes the other way.
    many = MetricChange("sync", "completion_s", [1.5] * 10, [1.2, 1.22, 1.21, 1.2, 1.19] * 2)
    assert many._replace(after=[*many.after[:9], 1.51]).is_decided
