"""Explanations: drawn scenarios whose cause is known by construction."""

from __future__ import annotations

import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from drawn_causes import CAUSES, GAME, Changes, compared_with, interrupted


@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_cause_of_a_drawn_scenario_is_named_and_no_other_one(seed: int) -> None:
    named = {
        cause: {each.name for each in ExplainedComparison(compared_with(cause, seed)).ccas[0].causes}
        for cause in CAUSES
    }
    missing = [cause for cause, names in named.items() if cause not in names]
    assert len(missing) <= 1, named
    wrong = {cause: names & CAUSES.keys() - {cause} for cause, names in named.items()}
    assert not any(wrong.values()), wrong


def test_an_early_exit_is_one_by_construction() -> None:
    flow = compared_with("early_exit", 1).flows.iloc[0]
    bdp = 80e6 / 8 * flow["rtt_min_ms"] / 1e3 / 1448
    assert flow["slow_start_exit_cwnd"] < 0.5 * bdp
    assert flow["timeouts"] == 0


def test_a_path_without_a_cause_has_none() -> None:
    changes = {"path.buffer": "1bdp", "path.rtt": "20ms"}
    result = ct.compare("steady-20-68", "bbr", 1, duration="8s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    assert {each.name for each in explained.causes} <= {"queue", "held_queue"}
    assert explained.used_share > 0.9
    assert explained.standing.differences is None


def test_overflows_and_time_outs_are_dated_with_their_figures() -> None:
    result = ct.compare("steady-20-68", "reno", 1, duration="8s", set={"path.buffer": "0.5bdp"})
    (explained,) = ExplainedComparison(result).ccas
    first = explained.events[0]
    assert first.kind == "overflow"
    assert first.text.startswith(f"overflow of the buffer at {first.t_s:.2f} s in slow start: ")
    row = result.results.tables["recoveries"].slice(0, 1).to_pylist()[0]
    assert f"{row['overflow']} of {row['segments']} segments lost" in first.text.replace(" ", " ")
    silent = ExplainedComparison(compared_with("uplink", 1)).ccas[0].events
    waits = [each.text for each in silent if each.kind == "timeout"]
    assert any("no ACK for" in text and "that no ACK reported" in text for text in waits)


def test_differences_are_to_the_leader() -> None:
    result = ct.compare("stress/jitter", ["cubic", "bbr"], 2, duration="8s")
    explained = {each.cca: each for each in ExplainedComparison(result).ccas}
    leader = result.verdicts["balanced"].leader
    assert leader is not None
    (other,) = explained.keys() - {leader}
    standing = explained[other].standing
    assert standing.leader == leader
    assert standing.differences is not None
    gap = explained[other].goodput_mbps - explained[leader].goodput_mbps
    assert standing.differences.goodput_mbps == pytest.approx(gap)


def _names(result: ct.Comparison) -> list[set[str]]:
    """Returns the names of the causes of each flow and congestion control."""
    return [{cause.name for cause in each.causes} for each in ExplainedComparison(result).ccas]


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("path.blackouts", [{"at": "3s", "duration": "1.5s"}], "all lost"),
        ("path.down.steps", interrupted("20Mbit/s", [(3.0, 1.5)]), "without capacity"),
        (
            "path.loss",
            [{"at": "0s", "loss": 0}, {"at": "3s", "loss": 1}, {"at": "4.5s", "loss": 0}],
            "all lost",
        ),
    ],
)
def test_an_outage_has_its_length_once_whatever_the_cca_and_the_connections(
    field: str, value: list[dict[str, Any]], word: str
) -> None:
    flows = [{"name": "some", "count": 3}]
    changes: Changes = {field: value, "flows": flows, "variation.start_jitter": "0s"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="8s", set=changes)
    for each in ExplainedComparison(result).ccas:
        (cause,) = (cause for cause in each.causes if cause.name == "outage")
        assert "once, at most 1.5 s at 3.0 s" in cause.text
        share = float(cause.text.split("for ")[1].split(" %")[0])
        assert share == pytest.approx(100 * 1.5 / 8, abs=0.5)
        assert "random_loss" not in {cause.name for cause in each.causes}
        (event,) = (event for event in each.events if event.kind == "outage")
        assert event.text.startswith(f"outage of the link at 3.0 s: 1.5 s {word}")
        assert all(0 <= cause.weight <= 1 for cause in each.causes)
        assert sum(each.limits.values()) == pytest.approx(1.0)
        assert each.limits["outage"] == pytest.approx(1.5 / 8, abs=0.02)


def test_time_outs_after_random_losses_are_no_outage() -> None:
    result = ct.compare("steady-20-68", "reno", 2, duration="20s", set={"path.loss": 0.3})
    (explained,) = ExplainedComparison(result).ccas
    assert explained.limits["timeout"] > 0.05
    names = {cause.name for cause in explained.causes}
    assert "random_loss" in names
    assert "outage" not in names
    assert not any("outage" in event.text for event in explained.events)


def test_slow_responses_are_those_that_waited_for_repairs() -> None:
    workload = {"kind": "request-response", "request": "40B", "response": "200B", "gap": "100ms"}
    changes: Changes = {"path.loss": 0.02, "flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    recoveries = result.results.tables["recoveries"].to_pylist()
    probes = [row for row in recoveries if row["loss_probes"] and not row["timeouts"]]
    assert probes
    # A probe is sent after two RTTs without an ACK at the earliest.
    rtt = result.flows["rtt_min_ms"].iloc[0] / 1e3
    assert all(row["t_s"] - row["dropped_s"] > 1.5 * rtt for row in probes)
    assert all(row["end_s"] - row["dropped_s"] < 1.0 for row in probes)
    units = result.units
    slow = units[units["duration_s"] > 1.5 * units["duration_s"].median()]
    (explained,) = ExplainedComparison(result).ccas
    (cause,) = (cause for cause in explained.causes if cause.name == "slow_units")
    assert cause.text.startswith(f"{len(slow)} of {len(units)} responses ")
    assert f"{len(probes)} waited for a loss probe" in cause.text
    assert explained.unit_key == "response:flow-1"
    assert "stayed unused" not in " ".join(each.text for each in explained.causes)


def test_a_loss_is_repaired_by_what_repaired_it_and_an_outage_is_one_event() -> None:
    outages = [{"at": "1s", "duration": "300ms"}, {"at": "1.4s", "duration": "400ms"}]
    changes: Changes = {"path.blackouts": outages, "variation.start_jitter": "0s"}
    result = ct.compare("steady-20-68", "bbr", 1, duration="6s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    texts = [event.text for event in explained.events]
    assert sum("outage" in text for text in texts) == 2
    # Nothing passes in the second one, so that it is no wait after the first one.
    waits = [float(text.split("again ")[1].split(" s")[0]) for text in texts if "again" in text]
    assert sum(waits) < 1.5
    assert not any("random loss at 1." in text for text in texts)
    rows = result.results.tables["recoveries"].to_pylist()
    repaired = [row for row in rows if row["loss_probes"] and not row["timeouts"]]
    assert sum("a loss probe repaired" in text for text in texts) <= len(repaired)


def test_a_connection_without_data_waited_for_the_outage() -> None:
    result = ct.compare("steady-20-68", "cubic", 1, duration="3s", set={"path.loss": 1})
    explained = ExplainedComparison(result)
    (each,) = explained.ccas
    assert [cause.name for cause in each.causes] == ["outage"]
    heading = explained.texts(each)[0]
    assert "nan" not in heading
    assert "0.00 Mbit/s" in heading


@pytest.mark.parametrize("upload", [False, True])
def test_what_goes_the_other_way_is_no_competition(upload: bool) -> None:
    ends = {"from": "phone", "to": "server"}
    flows = [{"name": "mine", **ends}, {"name": "other", **(ends if upload else {})}]
    result = ct.compare("steady-20-68", "cubic", 1, duration="6s", set={"flows": flows})
    (each,) = ExplainedComparison(result).ccas
    assert ("competition" in {cause.name for cause in each.causes}) == upload


def test_a_few_random_losses_are_the_cause_on_a_long_path() -> None:
    changes: Changes = {"path.rtt": "200ms", "path.loss": 2e-4, "path.down.rate": "50Mbit/s"}
    result = ct.compare("steady-20-68", "reno", 1, duration="40s", set=changes)
    (each,) = ExplainedComparison(result).ccas
    lost = sum(row["random"] for row in result.results.tables["recoveries"].to_pylist())
    assert lost / result.flows["segments"].sum() < 5e-4
    assert "random_loss" in {cause.name for cause in each.causes}


def test_random_losses_that_hold_nothing_back_are_no_cause() -> None:
    """BBR goes on at its rate, and the send buffer is the limit."""
    path: Changes = {"path.rtt": "300ms", "path.down.rate": "50Mbit/s", "path.up.rate": "50Mbit/s"}
    changes: Changes = {**path, "path.loss": 1e-4, "tcp.send_buffer_max": "2MB"}
    result = ct.compare("steady-20-68", ["bbr", "cubic"], 1, duration="60s", set=changes)
    causes = {
        each.cca: [cause.name for cause in each.causes] for each in ExplainedComparison(result).ccas
    }
    assert causes["bbr"][0] == "send_buffer"
    assert "random_loss" not in causes["bbr"]
    assert "random_loss" in causes["cubic"]


def test_places_are_by_the_figure_of_the_application() -> None:
    game = {"kind": "request-response", "request": "40B", "response": "200B", "gap": "100ms"}
    flows = [{"name": "download"}, {"name": "game", "workload": game, "cca": "cubic"}]
    changes = {"path.buffer": "6bdp", "flows": flows}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="15s", set=changes)
    explained = ExplainedComparison(result)
    assert [(each.cca, each.flow) for each in explained.ccas] == [
        (cca, flow) for flow in ("download", "game") for cca in result.ccas
    ]
    slow, fast = explained.ccas[2:]
    application = next(each for each in result.applications if each.flow == "game")
    assert slow.standing.metric == fast.standing.metric == application.ranking.metric
    assert application.verdict(random=True).best == fast.cca == slow.standing.leader
    assert "queue" in {cause.name for cause in slow.causes}
    (heading, *_) = explained.texts(slow)
    assert heading.startswith(f"{explained.texts(slow)[0].split(':')[0]}: response p95 ")
    assert "which leads" in heading
    assert "Mbit/s" not in heading


@pytest.mark.parametrize(
    "outage",
    [
        {"path.blackouts": [{"at": "3s", "duration": "3s"}]},
        {"path.loss": [{"at": "0s", "loss": 0}, {"at": "3s", "loss": 1}, {"at": "6s", "loss": 0}]},
        {
            "path.down.steps": [
                {"at": "0s", "rate": "20Mbit/s"},
                {"at": "3s", "rate": "0bit/s"},
                {"at": "6s", "rate": "20Mbit/s"},
            ]
        },
    ],
    ids=["blackout", "loss of all", "no rate"],
)
def test_the_capacity_leaves_outages_out_whatever_their_cause(outage: Changes) -> None:
    """A flow is not blamed for what nothing could have carried."""
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=outage)
    slots = result.slots
    dark = (slots["t_s"] > 2.99) & (slots["t_s"] < 5.85)
    assert (slots.loc[dark, "capacity_mbps"] == 0).all()
    assert (slots.loc[~dark & (slots["t_s"] > 6.05), "capacity_mbps"] > 19).all()
    (explained,) = ct.explain(result).comparisons[""].ccas
    whole = slots["capacity_mbps"].sum()
    assert explained.used_share == pytest.approx(slots["goodput_mbps"].sum() / whole)
    assert whole / len(slots) == pytest.approx(0.7 * 19.3, rel=0.03)


def test_losses_that_keep_frames_waiting_are_the_reason_why_they_are_late() -> None:
    """0.1 % of losses at 100 ms keep the window of CUBIC below what live video of 6 Mbit/s needs."""
    path = {"path.rtt": "100ms", "path.down.rate": "50Mbit/s", "path.loss": 0.001}
    live = {"kind": "frames", "size": "25kB", "interval": "33ms", "deadline": "500ms"}
    result = ct.compare(
        "steady-20-68", "cubic", 1, duration="40s", set={**path, "flows.0.workload": live}
    )
    (explained,) = ct.explain(result).comparisons[""].ccas
    causes = {each.name: each for each in explained.causes}
    held = explained.limits["congestion_window"] + explained.limits["recovery"]
    assert held > 0.5
    assert causes["random_loss"].weight == pytest.approx(held, abs=0.02)
    assert "the congestion window or a recovery then held its data back" in causes["random_loss"].text
    late = (result.units["duration_s"].fillna(99) > 0.5).sum()
    assert f"{late:,}".replace(",", " ") in causes["slow_units"].text
    assert "came after their deadline of 500 ms" in causes["slow_units"].text


@pytest.mark.parametrize("backlog", ["all", "newest"])
def test_late_frames_are_counted_as_in_the_table_and_each_has_a_reason(backlog: str) -> None:
    """Frames wait behind those that a reduced window delays, unless the sender drops them."""
    path = {"path.rtt": "100ms", "path.down.rate": "50Mbit/s", "path.loss": 0.001}
    live = {"kind": "frames", "size": "25kB", "interval": "33ms", "deadline": "300ms"}
    changes = {**path, "flows.0.workload": {**live, "backlog": backlog}}
    result = ct.compare("steady-20-68", "cubic", 1, duration="40s", set=changes)
    (explained,) = ct.explain(result).comparisons[""].ccas
    text = {each.name: each.text for each in explained.causes}["slow_units"]
    counted = re.match(
        r"([^a-z]+) of ([^a-z]+) frames \(.*?: ([^;]*)(?:; [\d ]+ of them [^;]*)?\.$", text
    )
    assert counted is not None, text
    late, among = (int(re.sub(r"\D", "", number)) for number in counted.groups()[:2])
    (application,) = result.applications
    assert late / among == pytest.approx(application.means("late_share")[0], abs=0.01)
    parts = (re.match(r"([^a-z]+) (.*)", part) for part in counted[3].split(", "))
    named = {part[2].partition(" (")[0]: int(re.sub(r"\D", "", part[1])) for part in parts if part}
    assert sum(named.values()) == late
    assert named["waited behind earlier ones"] > 0
    assert named.get("had other reasons", 0) < 0.02 * late
    assert ("were dropped by the sender" in named) == (backlog == "newest")


def test_short_connections_are_held_against_the_lowest_rtt_of_all_of_them() -> None:
    """A connection that begins in a standing queue never sees the RTT of the path."""
    web = {"name": "web", "workload": {"kind": "page"}}
    changes: Changes = {"path.rtt": "50ms", "path.buffer": "4bdp", "flows": [web, {"name": "bulk"}]}
    result = ct.compare("steady-20-68", "cubic+cubic", 1, duration="20s", set=changes)
    mean, lowest, induced = (
        result.values("cubic+cubic", name)[0]
        for name in ("rtt_mean_ms", "rtt_min_ms", "induced_delay_ms")
    )
    assert lowest == pytest.approx(51, abs=3)
    assert induced == pytest.approx(mean - lowest)
    explained = ct.explain(result).comparisons[""].ccas[0]
    text = {each.name: each.text for each in explained.causes}["queue"]
    assert "which bulk (" in text
    assert f"lowest RTT is {lowest:.0f} ms" in text


def test_time_outs_within_a_burst_of_losses_are_a_cause_and_of_the_run_that_fared_worst() -> None:
    """A burst that lasts for packets does not end while the sender waits."""
    loss = {"kind": "gilbert-elliott", "to_bad": 0.001, "to_good": 0.05}
    changes = {
        "path.rtt": "560ms",
        "path.loss": loss,
        "flows.0.workload": "{ kind='bulk', bytes='5MB' }",
    }
    result = ct.compare("steady-20-68", "cubic", 4, duration="60s", set=changes)
    (explained,) = ct.explain(result).comparisons[""].ccas
    (cause,) = (each for each in explained.causes if each.name == "time_outs")
    assert 0.05 < cause.weight <= explained.limits["timeout"] + 1e-9
    flows = result.flows
    counted = re.search(r"waited for ([0-9.]+) time-outs a run, ", cause.text)
    assert counted is not None
    assert float(counted[1]) == pytest.approx(flows["timeouts"].sum() / 4, rel=0.05)
    # The worst is the one that was complete last, or had lasted longest when the run ended.
    lasted = result.applications[0].metrics["cubic"]["completion_least_s"]
    assert {each.seed for each in explained.events} == {1 + lasted.index(max(lasted))}


def test_the_grant_for_a_request_keeps_a_phone_awake_for_the_response() -> None:
    """TS 36.321 clause 5.7: a grant starts the inactivity timer, which outlasts the round trip."""
    workload = {"kind": "request-response", "request": "300B", "response": "2kB", "gap": "1s"}
    sleepy: Changes = {"radio.drx.inactivity": "200ms", "radio.drx.long_cycle": "1280ms"}
    waits = []
    for drx in ({}, sleepy):
        changes: Changes = {**drx, "flows": [{"workload": workload}]}
        result = ct.compare("mobility/forward-60-4g", "cubic", 1, duration="20s", set=changes)
        (explained,) = ExplainedComparison(result).ccas
        assert "sleep" not in {cause.name for cause in explained.causes}
        waits.append(result.units["duration_s"].median())
    assert waits[1] == pytest.approx(waits[0], rel=0.05)


def test_acks_that_are_lost_are_not_called_late() -> None:
    changes: Changes = {"path.uplink_loss": 0.2, "flows.0.workload": GAME}
    result = ct.compare("steady-20-68", "cubic", 2, duration="60s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    (uplink,) = (each.text for each in explained.causes if each.name == "uplink")
    assert uplink.startswith("The uplink lost ACKs: ")


def test_reasons_of_a_recovery_are_dated_each_and_of_their_connection() -> None:
    """Slow start overflows the buffer, and a blackout comes while that is repaired."""
    changes: Changes = {
        "path.rtt": "560ms",
        "path.down.rate": "12Mbit/s",
        "path.blackouts": [{"at": "7.5s", "duration": "1s"}],
        "flows": [{"name": "some", "count": 3}],
        "variation.start_jitter": "0s",
    }
    result = ct.compare("steady-20-68", "bbr", 1, duration="14s", set=changes)
    rows = result.results.tables["recoveries"].to_pylist()
    both = [row for row in rows if row["overflow"] and row["random"]]
    assert both, rows
    explained = ExplainedComparison(result)
    events = {(each.connection, round(each.t_s, 2)): each for each in explained.ccas[0].events}
    for row in both:
        assert row["dropped_s"] == row["overflow_s"] < 7.5 < row["random_s"] < 8.5
        event = events[row["flow"], round(row["dropped_s"], 2)]
        assert event.kind == "overflow"
        begin = f"connection {row['flow']}: overflow of the buffer at {row['overflow_s']:.2f} s"
        assert event.text.startswith(begin)
        assert f": {row['overflow']} of " in event.text
        outage = f"and an outage of the link from {row['random_s']:.2f} s on: {row['random']};"
        assert outage in event.text
    documents = explained.to_json()["ccas"][0]["events"]
    assert all((each["connection"] is None) == (each["kind"] == "outage") for each in documents)


def test_no_recovery_loses_more_segments_than_were_sent_for_it() -> None:
    """BBR goes on sending in a recovery, and what is lost then is repaired by the next one."""
    changes: Changes = {
        "path.rtt": "150ms",
        "path.down.rate": "100Mbit/s",
        "path.buffer": "128kB",
        "path.wired": [{"name": "nic", "rate": "1Gbit/s"}],
    }
    result = ct.compare("steady-20-68", ["bbr", "cubic"], 2, duration="6s", set=changes)
    rows = result.results.tables["recoveries"].to_pylist()
    reasons = ("overflow", "aqm", "policer", "random", "radio")
    lost = [sum(row[reason] for reason in reasons) for row in rows]
    assert max(lost) > 1000
    assert all(row["segments"] >= count for row, count in zip(rows, lost, strict=True))
    (bbr, _) = ExplainedComparison(result).ccas
    (cause,) = (each for each in bbr.causes if each.name == "shallow_buffer")
    counted = re.search(r"and dropped ([0-9 \u202f\u00a0]+) segments a run;", cause.text)
    assert counted is not None
    runs = set(result.runs.loc[result.runs["cca"] == "bbr", "run"])
    dropped = sum(row["overflow"] for row in rows if row["run"] in runs)
    assert int(re.sub(r"\D", "", counted[1])) == pytest.approx(dropped / 2, abs=0.5)


def test_a_full_send_buffer_is_the_limit_of_a_start_that_it_holds_back() -> None:
    """BBR does not leave its start, as the application limits its samples (`is_app_limited`)."""
    changes: Changes = {
        "path.rtt": "150ms",
        "path.down.rate": "100Mbit/s",
        "tcp.send_buffer_max": "1MB",
    }
    result = ct.compare("steady-20-68", "bbr", 1, duration="10s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    assert explained.limits["send_buffer"] > 0.3
    assert sum(explained.limits.values()) == pytest.approx(1.0)
    assert "send_buffer" in {each.name for each in explained.causes}


def test_a_receive_window_has_the_rate_that_it_gives() -> None:
    changes: Changes = {"path.rtt": "65ms", "tcp.receive_window_max": "64KiB"}
    result = ct.compare("steady-100-18", "cubic", 1, duration="10s", set=changes)
    (explained,) = ct.explain(result).comparisons[""].ccas
    text = {each.name: each.text for each in explained.causes}["receive_window"]
    rate = re.search(r"at most ([0-9.]+) Mbit/s at an RTT of 65\.", text)
    assert rate is not None, text
    assert result.values("cubic", "goodput_mbps")[0] == pytest.approx(float(rate[1]), rel=0.03)


def test_bursts_that_wait_for_a_moment_are_no_queue_that_hides_a_full_buffer() -> None:
    """A hop as slow as the access link has no column of its queue: bursts wait, and the link idles."""
    changes = {"path.down": "1Gbit/s", "path.up": "1Gbit/s", "path.rtt": "70ms"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    assert explained.used_share < 0.5
    assert [each.name for each in explained.causes] == ["send_buffer"]
    # What was in flight on average gives the goodput.
    found = re.search(r"so that ([\d.]+) MB were in flight on average", explained.causes[0].text)
    assert found is not None
    rate = 8 * float(found[1]) / (explained.rtt_mean_ms / 1e3)
    assert rate == pytest.approx(explained.goodput_mbps, rel=0.15)


@pytest.mark.parametrize("field", ["receive_window_max", "send_buffer_max"])
@pytest.mark.parametrize("share", [0.15, 0.6])
def test_a_window_below_the_gain_of_bbr_is_the_first_cause(field: str, share: float) -> None:
    changes: Changes = {"path.rtt": "100ms", f"tcp.{field}": f"{share * 250e3:.0f}B"}
    result = ct.compare("steady-20-68", ["bbr", "bbr3", "cubic"], 1, duration="15s", set=changes)
    for each in ExplainedComparison(result).ccas:
        first, *rest = each.causes
        assert first.name == field.removesuffix("_max"), each.cca
        assert not {cause.name for cause in rest} & {"early_exit", "slow_growth"}, each.cca
        # What it leaves unused is its weight, whatever share of the time it is full.
        assert first.weight == pytest.approx(1 - each.used_share, abs=0.2), each.cca


def test_the_share_of_the_capacity_is_that_of_the_rate_beside_it() -> None:
    # Bursts of losses make some transfers many times as long as others.
    loss = {"kind": "gilbert-elliott-time", "good": "636ms", "bad": "17ms"}
    result = ct.compare(
        *("steady-20-68", ["cubic:hystart=off"], 12),
        duration="300s",
        set={
            "path.rtt": "500ms",
            "path.down.rate": "12Mbit/s",
            "path.loss": loss,
            "flows.0.workload": {"kind": "bulk", "bytes": "20MB"},
        },
    )
    rates = result.runs["goodput_mbps"]
    assert rates.max() > 2 * rates.min()
    (explained,) = ExplainedComparison(result).ccas
    payload_mbps = 12 * 1448 / 1500
    assert explained.used_share == pytest.approx(explained.goodput_mbps / payload_mbps, rel=0.05)


@pytest.mark.parametrize(
    ("distribution", "reorder"),
    [
        ("normal", False),
        ("exponential", True),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (("uniform", False), ("exponential", False), ("normal", True))
        ),
    ],
)
def test_jitter_is_no_queue(distribution: str, reorder: bool) -> None:
    """At random losses CUBIC leaves most of the link idle, and jitter alone delays its packets."""
    jitter = {"distribution": distribution, "mean": "60ms", "sd": "20ms", "reorder": reorder}
    if distribution == "exponential":
        del jitter["sd"]
    changes: Changes = {"path.jitter": jitter, "path.loss": 0.01}
    explained = ExplainedComparison(
        ct.compare("steady-100-18", "cubic", 1, duration="10s", set=changes)
    )
    assert "queue" not in {cause.name for cause in explained.ccas[0].causes}


def test_a_queue_beside_jitter_is_one() -> None:
    changes: Changes = {"path.jitter": {"mean": "10ms", "sd": "3ms"}, "path.buffer": "9bdp"}
    explained = ExplainedComparison(ct.compare("steady-20-18", "reno", 1, duration="9s", set=changes))
    assert "queue" in {cause.name for cause in explained.ccas[0].causes}


def test_slow_responses_behind_an_upload_name_it_and_its_link() -> None:
    upload = {"name": "backup", "from": "phone", "to": "server", "opens": "from", "start": "2s"}
    game = {"kind": "request-response", "request": "100B", "response": "300B", "gap": "50ms"}
    chat = {"name": "chat", "from": "phone", "to": "server", "workload": {**GAME, "interval": "100ms"}}
    changes: Changes = {
        "path.up": "5Mbit/s",
        "flows": [upload, {"name": "game", "workload": {**game, "count": 400}}, chat],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="12s", set=changes)
    texts = [cause.text for each in ExplainedComparison(result).ccas for cause in each.causes]
    assert any("waited in a queue (that of backup on the uplink)" in text for text in texts)


def test_a_time_in_which_all_is_lost_and_nothing_was_sent_is_no_outage() -> None:
    """A flow that has sent all of its data before loses nothing."""
    losing = [{"at": "0s", "loss": 0.0}, {"at": "6s", "loss": 1.0}, {"at": "6.2s", "loss": 0.0}]
    frames = {"kind": "frames", "size": "1kB", "interval": "1s", "deadline": "500ms"}
    changes: Changes = {
        "path.loss": losing,
        "path.rtt": "40ms",
        "variation.start_jitter": "0s",
        "flows.0.workload": frames,
        "flows.0.start": "500ms",
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="12s", set=changes)
    assert result.results.tables["outages"].num_rows
    (explained,) = ExplainedComparison(result).ccas
    assert not [each for each in explained.causes if each.name == "outage"]
    assert not [each for each in explained.events if each.kind == "outage"]


def test_a_flow_that_never_had_the_capacity_is_said_to_have_had_it_never() -> None:
    cca = "bic:initial_ssthresh=16,low_window=100000"
    changes: Changes = {"path.rtt": "1s", "path.down": "100Mbit/s"}
    result = ct.compare("steady-20-68", cca, 1, duration="20s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    (text,) = (each.text for each in explained.causes if each.name == "early_exit")
    assert "at the threshold that initial_ssthresh sets" in text
    assert "as the flow never used 80 % of it" in text
    assert "until" not in text


def test_few_responses_have_no_percentile() -> None:
    few = {"kind": "request-response", "request": "200B", "response": "20kB", "gap": "2s"}
    result = ct.compare("steady-20-68", "cubic,bbr", 2, duration="12s", set={"flows.0.workload": few})
    assert result.applications[0].ranking.metric == "response_s"
    text = str(ExplainedComparison(result).texts(ExplainedComparison(result).distinct_ccas[0]))
    assert "response p95" not in text


def test_responses_whose_request_a_queue_drops_have_that_reason() -> None:
    """Requests that the queue of an upload drops are repaired by the other end, without recoveries."""
    upload = {"name": "upload", "from": "phone", "to": "server", "opens": "from"}
    ping = {"kind": "request-response", "request": "64B", "response": "64B", "gap": "500ms"}
    changes: Changes = {
        "path.up": "1Mbit/s",
        "path.uplink_buffer": "300packets",
        "path.rtt": "100ms",
        "flows": [upload, {"name": "ping", "cca": "cubic", "workload": ping}],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    reasons = {each.flow: each.causes for each in explained.ccas if each.cca == "cubic"}["ping"]
    (slow,) = (each for each in reasons if each.name == "slow_units")
    assert slow.reasons["lost their request"] > 0
    assert "other reasons" not in slow.text
    # The ping has a CCA of its own: the lines are for the flow under test.
    assert [each["cca"] for each in explained.settings] == ["bbr on upload"]


def test_the_first_response_of_a_connection_is_slow_by_its_opening() -> None:
    ping = {"kind": "request-response", "request": "64B", "response": "64B", "gap": "500ms"}
    changes: Changes = {"path.rtt": "200ms", "flows.0.workload": ping}
    (explained,) = ExplainedComparison(
        ct.compare("steady-20-68", "cubic", 2, duration="10s", set=changes)
    ).ccas
    (slow,) = (each for each in explained.causes if each.name == "slow_units")
    assert dict(slow.reasons) == {"opened their connection": 2}


def test_a_flow_that_uses_all_of_a_link_in_every_run_has_no_interval_of_that_share() -> None:
    """The rate of the link differs from run to run, and the share of it that CUBIC uses does not."""
    link = {"generate": {"mean": "20Mbit/s", "variability": 0.5, "correlation": "2s"}}
    changes: Changes = {"path.down": link, "path.buffer": "6bdp"}
    result = ct.compare("steady-20-68", ["cubic"], 3, duration="20s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    rates = result.values("cubic", "goodput_mbps")
    assert max(rates) > 1.05 * min(rates)
    assert re.search(r"\((9\d|100) % of the capacity\)", explained.metrics_text())
