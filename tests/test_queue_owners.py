"""Explanations of waits in a queue: the owner has most data in flight, and sends more than a little."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

_PING: dict[str, Any] = {
    "name": "ping",
    "cca": "reno",
    "workload": {
        "kind": "request-response",
        "request": "64B",
        "response": "64B",
        "think": "0ms",
        "gap": "50ms",
    },
}


def causes(cca: str, pages: str, flow: str = "ping") -> dict[str, str]:
    """Returns the causes of a flow: answers beside a bulk flow and pages under Reno, or these."""
    web = {"name": "web", "cca": "reno", "workload": {"kind": "sequence", "size": pages, "gap": "1.5s"}}
    changes: dict[str, Any] = {
        "path.rtt": "4ms",
        "path.down.rate": "10Mbit/s",
        "path.buffer": "100packets",
        "flows": [{"name": "bulk"}, _PING, web],
    }
    result = ct.compare("steady-20-18", cca, 2, duration="30s", set=changes)
    (explained,) = [each for each in ExplainedComparison(result).ccas if each.flow == flow]
    return {cause.name: cause.text for cause in explained.causes}


def test_bursts_of_pages_fill_the_queue_beside_bbr() -> None:
    assert "waited in a queue (that of web)" in causes("bbr", "177kB")["slow_units"]
    # The last packets of a page wait longest, when no more of it is in flight.
    assert "which its own data and bulk (" in causes("bbr", "177kB", flow="web")["queue"]


@pytest.mark.parametrize("seed", range(3))
def test_the_owner_of_a_mean_wait_is_the_flow_without_which_it_is_shortest(seed: int) -> None:
    """Pages may be most of the longest waits, and little of all waits."""
    draw = random.Random(seed)
    rate = draw.choice([8, 10, 15])
    size = draw.choice([100, 177, 300])
    web = {"kind": "sequence", "size": f"{size}kB", "gap": f"{draw.choice([1, 2, 4])}s"}
    flows: list[dict[str, Any]] = [{"name": "bulk"}, {"name": "web", "cca": "reno", "workload": web}]

    def compared(others: list[dict[str, Any]]) -> ct.Comparison:
        changes: dict[str, Any] = {
            "path.rtt": "4ms",
            "path.down.rate": f"{rate}Mbit/s",
            "path.buffer": "100packets",
            "flows": [*others, _PING],
        }
        return ct.compare("steady-20-18", "bbr", 1, duration="30s", set=changes)

    def mean_ms(result: ct.Comparison) -> float:
        (ping,) = [each for each in result.applications if each.flow == "ping"]
        return ping.values("response_s")["bbr"][0]

    without = {
        flow["name"]: mean_ms(compared([other for other in flows if other != flow])) for flow in flows
    }
    (ping,) = [each for each in ExplainedComparison(compared(flows)).ccas if each.flow == "ping"]
    owner = min(without, key=without.__getitem__)
    assert f"which {owner} (" in ping.cause_text("queue"), without


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_flows_with_equal_parts_of_a_queue_are_all_its_owners(count: int) -> None:
    bulks = [{"name": f"bulk-{number}", "cca": "cubic"} for number in range(count)]
    changes: dict[str, Any] = {
        "path.rtt": "4ms",
        "path.down.rate": "10Mbit/s",
        "path.buffer": "100packets",
        "flows": [*bulks, _PING],
    }
    result = ct.compare("steady-20-18", "cubic", 1, duration="20s", set=changes)
    (ping,) = [each for each in ExplainedComparison(result).ccas if each.flow == "ping"]
    text = ping.cause_text("queue")
    assert "which  filled" not in text
    named = [name for bulk in bulks if (name := bulk["name"]) in text]
    assert len(named) == count if count <= 4 else " flows filled together (by " in text, text


@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_a_bulk_flow_that_fills_the_buffer_is_the_owner_of_its_queue(cca: str) -> None:
    text = causes(cca, "20kB").get("slow_units", "")
    assert "that of web" not in text


@pytest.mark.parametrize("seed", range(2))
def test_the_own_data_of_pages_fill_the_queue_beside_a_ping(seed: int) -> None:
    draw = random.Random(seed)
    ping = {"kind": "frames", "size": "64B", "interval": f"{draw.choice([100, 200, 400])}ms"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([20, 40])}ms",
        "path.down.rate": f"{draw.choice([1, 2])}Mbit/s",
        "path.buffer": f"{draw.choice([100, 200])}packets",
        "flows": [
            {"name": "web", "workload": {"kind": "page"}},
            {"name": "ping", "cca": "cubic", "workload": ping},
        ],
    }
    explained = ExplainedComparison(ct.compare("steady-20-18", "cubic", 1, duration="30s", set=changes))
    web, game = ({cause.name: cause.text for cause in each.causes} for each in explained.ccas)
    assert "which its own data filled" in web["queue"]
    assert "ping" not in " ".join(web.values())
    assert "which web (" in game["queue"]
    assert not any("flows.1.cca" in remedy.options for remedy in explained.remedies)


@pytest.mark.parametrize("upload", [True, False])
def test_a_little_data_beside_acks_does_not_fill_their_link(upload: bool) -> None:
    """Outages hold the ACKs up, or an upload does."""
    beside = {"kind": "bulk"} if upload else {"kind": "frames", "size": "64B", "interval": "200ms"}
    up: dict[str, Any] = {"rate": "1Mbit/s"}
    if not upload:
        up = {
            "steps": [{"at": f"{t / 2}s", "rate": "0bit/s" if t % 2 else "5Mbit/s"} for t in range(40)]
        }
    changes: dict[str, Any] = {
        "path.up": up,
        "flows": [
            {"name": "down"},
            {"name": "up", "from": "phone", "to": "server", "workload": beside},
        ],
    }
    explained = ExplainedComparison(ct.compare("steady-20-18", "cubic", 1, duration="20s", set=changes))
    text = {cause.name: cause.text for cause in explained.ccas[0].causes}["uplink"]
    assert ("which up (" in text) == upload, text


@pytest.mark.parametrize("seed", range(2))
def test_short_answers_wait_behind_a_queue_that_stands_all_the_time(seed: int) -> None:
    """On a path of a few ms, a wait below 20 ms is most of an answer; an idle link has none."""
    draw = random.Random(seed)
    calls = {**_PING["workload"], "response": "1kB", "gap": "20ms"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([1, 2])}ms",
        "path.down.rate": f"{draw.choice([200, 400])}Mbit/s",
        "path.up": "400Mbit/s",
        "path.buffer": f"{draw.choice([300, 500])}packets",
        "flows": [{"name": "sync"}, {"name": "calls", "cca": "cubic", "workload": calls}],
    }
    explained = ExplainedComparison(ct.compare("steady-20-18", "cubic", 1, duration="4s", set=changes))
    (answers,) = [each for each in explained.ccas if each.flow == "calls"]
    text = {cause.name: cause.text for cause in answers.causes}["queue"]
    assert "A queue stood before the downlink, which sync (" in text
    assert "; the shortest response took " in text
    assert "path.queue=fq-codel" in " ".join(remedy.options for remedy in explained.remedies)
    alone = {**changes, "flows": changes["flows"][1:]}
    (idle,) = ExplainedComparison(ct.compare("steady-20-18", "cubic", 1, duration="4s", set=alone)).ccas
    assert "queue" not in {cause.name for cause in idle.causes}


@pytest.mark.parametrize("seed", range(3))
def test_answers_on_a_long_path_name_the_backups_whose_queue_delays_them(seed: int) -> None:
    """A queue of a half BDP at most makes answers longer by what packets wait in it on average."""
    draw = random.Random(seed)
    rtt_ms, count = draw.choice([30, 60]), draw.choice([2, 4])
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{draw.choice([50, 100])}Mbit/s",
        "path.buffer": f"{draw.uniform(0.4, 0.5):.2f}bdp",
        "flows": [{"name": "backup", "count": count}, _PING],
    }
    compared = ct.compare("steady-20-18", "cubic,bbr", 1, duration="20s", set=changes)
    explained = ExplainedComparison(compared)
    (answers,) = [each for each in explained.ccas if (each.cca, each.flow) == ("cubic", "ping")]
    text = answers.cause_text("queue")
    (wait_ms,) = re.findall(r"which backup \(\S+ Mbit/s\) filled: packets waited (\S+) ms", text)
    (ping,) = [each for each in compared.applications if each.flow == "ping"]
    longer_ms = 1e3 * ping.values("response_p50_s")["cubic"][0] - rtt_ms
    assert float(wait_ms) == pytest.approx(longer_ms, rel=0.3), text
    # The caps of all connections leave a little of the link.
    options = " ".join(each.options for each in explained._all_remedies)
    (cap_kbps,) = re.findall(r"flows\.0\.max_pacing_rate=(\d+)kbit", options)
    capacity_mbps = float(compared.tested_slots["capacity_mbps"].mean())
    assert 0.9 * capacity_mbps < count * int(cap_kbps) / 1e3 < capacity_mbps
    assert "--cca cubic,bbr,vegas" in options


@pytest.mark.parametrize("has_rival", [True, False])
def test_bulk_flows_fill_a_queue_together(has_rival: bool) -> None:
    rival = {"name": "rival", "cca": "bbr"} if has_rival else _PING
    changes: dict[str, Any] = {
        "path.rtt": "40ms",
        "path.down.rate": "40Mbit/s",
        "path.buffer": "2bdp",
        "flows": [{"name": "main"}, rival],
    }
    result = ct.compare("steady-20-18", "cubic", 1, duration="15s", set=changes)
    (main,) = [each for each in ExplainedComparison(result).ccas if each.flow == "main"]
    text = main.cause_text("queue")
    assert text.startswith("A queue stood before the downlink")
    assert ("its own data and rival (" in text) == has_rival
    assert "ping" not in text


@pytest.mark.parametrize("is_upload", [False, True])
@pytest.mark.parametrize("ue", ["phone", "far"])
def test_each_ue_of_a_cell_has_a_queue_of_its_own(ue: str, is_upload: bool) -> None:
    """RLC has a buffer for each UE (TS 36.322): a bulk flow of another one fills no common queue."""
    nodes = ("from", "to") if is_upload else ("to", "from")
    flows = [
        {"name": name, "cca": "cubic", nodes[0]: node, nodes[1]: "server"}
        for name, node in (("main", "phone"), ("rival", ue))
    ]
    ues = [{"name": "phone", "sinr": "20dB"}, {"name": "far", "sinr": "10dB"}]
    changes: dict[str, Any] = {"radio.ues": ues, "radio.rlc.buffer": "750packets", "flows": flows}
    result = ct.compare("mobility/forward-60-4g", "cubic", 1, duration="15s", set=changes)
    (main,) = [each for each in ExplainedComparison(result).ccas if each.flow == "main"]
    is_same = ue == "phone"
    assert "A queue stood" in main.cause_text("queue")
    assert ("its own data and rival (" in main.cause_text("queue")) == is_same
    assert ("another UE, with a queue of its own" in main.cause_text("competition")) != is_same


@pytest.mark.parametrize("seed", [1, 4, 10])
def test_waits_add_up_with_the_lowest_rtt_to_the_mean_between_blackouts(seed: int) -> None:
    """Waits are in the RTTs, too; their mean is between those of a slow and a fast link."""
    draw = random.Random(seed)
    rtt_ms = draw.uniform(20, 80)
    starts = [draw.uniform(3, 8), draw.uniform(14, 20)]
    link = {"mean": "8Mbit/s", "variability": 0.6, "correlation": "3s"}
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms:.0f}ms",
        "path.down": {"generate": link},
        "path.buffer": "750packets",
        "path.middleboxes": [{"kind": draw.choice(["snoop", "freeze", "eln"])}],
        "path.blackouts": [
            {"at": f"{start:.2f}s", "duration": f"{draw.uniform(0.5, 4):.2f}s"} for start in starts
        ],
        "flows.0.workload": {"kind": draw.choice(["bulk", "page"])},
    }
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="30s", set=changes)
    (cca,) = ExplainedComparison(result).ccas
    (text,) = (cause.text for cause in cca.causes if cause.name == "queue")
    waits = [
        float(value) * {"ms": 1.0, "s": 1e3}[unit]
        for value, unit in re.findall(r"(?:waited|link:|or less,) ([\d.]+) (ms|s)\b", text)
    ]
    assert waits[0] + result.flows["rtt_min_ms"].min() <= cca.rtt_mean_ms + 1.0
    if len(waits) > 1:
        slow_ms, fast_ms = waits[1:]
        assert fast_ms < waits[0] < slow_ms
