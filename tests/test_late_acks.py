"""Reasons of ACKs that come late: the link holds them up or loses them, or the receiver delays them."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget


def _explained(ccas: str = "cubic", duration: str = "30s", **changes: Any) -> ExplainedComparison:
    fields = {name.replace("__", "."): value for name, value in changes.items()}
    return ExplainedComparison(ct.compare("steady-20-68", ccas, 1, duration=duration, set=fields))


def _causes(explained: ExplainedComparison) -> dict[str, str]:
    return {cause.name: cause.text for each in explained.ccas for cause in each.causes}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_link_that_loses_acks_does_not_hold_them_up(seed: int) -> None:
    changes = {"path__rtt": "20ms", "path__down": "2Mbit/s"}
    loss = random.Random(seed).uniform(0.5, 0.7)
    text = _causes(_explained(duration="60s", path__uplink_loss=loss, **changes)).get("uplink", "")
    assert text.startswith("The uplink lost ACKs: ")


@pytest.mark.parametrize(("cca", "seed"), [("cubic", 1), ("vegas", 2)])
def test_acks_that_fill_their_link_are_the_limit(cca: str, seed: int) -> None:
    """Neither the exit from slow start nor the congestion control is; a link for the ACKs helps."""
    draw = random.Random(seed)
    up_kbps, down_mbps = draw.randint(80, 150), draw.randint(30, 60)
    changes = {
        "path__rtt": f"{draw.randint(20, 50)}ms",
        "path__down": f"{down_mbps}Mbit/s",
        "path__up": f"{up_kbps}kbit/s",
        "path__uplink_buffer": "200packets",
    }
    explained = _explained(cca, duration="20s", **changes)
    causes = _causes(explained)
    assert (
        f"{up_kbps} kbit/s it carries {up_kbps * 1e3 / 8 / 52:.0f} of them a second" in causes["uplink"]
    )
    assert "early_exit" not in causes
    explained.try_remedies(TrialBudget())
    assert "path.up=" in str(explained.remedies)
    assert ("path.uplink_buffer=" in str(explained.remedies)) == (cca == "cubic")
    changes["path__up"] = "5Mbit/s"
    assert "uplink" not in _causes(_explained(cca, duration="20s", **changes))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pauses_of_an_application_are_no_capacity_that_its_acks_leave_unused(seed: int) -> None:
    """While it sends, a full queue of ACKs drops some, so that BBR has nearly all of the link."""
    draw = random.Random(f"pauses {seed}")
    changes = {
        "path__rtt": f"{draw.randint(15, 25)}ms",
        "path__down": f"{draw.randint(50, 70)}Mbit/s",
        "path__up": f"{draw.randint(400, 500)}kbit/s",
        "path__uplink_buffer": "20packets",
        "flows__0__workload": '{ kind = "on-off", on = "1s", off = "1s" }',
    }
    assert "enough for" not in _causes(_explained("bbr", **changes)).get("uplink", "")


@pytest.mark.parametrize("size", ["60kB", "2s", "10bdp"])
def test_a_long_queue_of_acks_is_one_in_each_unit(size: str) -> None:
    """A buffer in bytes, in time or in BDPs holds far more ACKs than one of as many full packets."""
    changes = {"path__rtt": "40ms", "path__down": "50Mbit/s", "path__up": "200kbit/s"}
    explained = _explained("cubic", duration="20s", path__uplink_buffer=size, **changes)
    explained.try_remedies(TrialBudget())
    assert "path.uplink_buffer=20packets" in str(explained.remedies)


def test_data_beside_acks_holds_them_up() -> None:
    flows = '[{ name = "down" }, { name = "up", from = "phone", to = "server" }]'
    explained = _explained(path__up="2Mbit/s", flows=flows)
    texts = [
        cause.text
        for each in explained.ccas
        if each.flow == "down"
        for cause in each.causes
        if cause.name == "uplink"
    ]
    assert [text.startswith("The uplink, which up (") for text in texts] == [True]
    assert "held up ACKs" in texts[0]


def test_nagles_algorithm_waits_for_acks_that_the_receiver_delays() -> None:
    frames = {"kind": "frames", "size": "108B", "interval": "16ms", "deadline": "150ms"}
    explained = _explained(path__rtt="200ms", tcp__nodelay=False, flows__0__workload=frames)
    causes = _causes(explained)
    assert "uplink" not in causes
    assert "waited for ACKs (Nagle's algorithm)" in causes["slow_units"]
    assert "queue" not in causes["slow_units"]
    explained.try_remedies(TrialBudget())
    assert explained.remedies[0].remedy.changes == ("flows.0.nodelay=true",)
    at_once = _causes(_explained(path__rtt="200ms", tcp__nodelay=True, flows__0__workload=frames))
    assert "Nagle" not in " ".join(at_once.values())


def test_initial_windows_behind_each_other_time_out_without_a_loss() -> None:
    """The downlink is idle: 30 segments of three connections wait for 0.7 s in the uplink."""
    changes = {
        "path__rtt": "20ms",
        "path__down": "8Mbit/s",
        "path__up": "512kbit/s",
        "path__uplink_buffer": "393216B",
        "flows": '[{ from = "phone", to = "server", count = 3, opens = "from" }]',
    }
    causes = _causes(_explained("bbr", duration="10s", **changes))
    assert "uplink" not in causes
    assert "spurious: nothing was lost" in causes["spurious_timeouts"]


def test_a_deadline_below_the_delay_of_the_path_is_the_reason() -> None:
    frames = {"kind": "frames", "size": "108B", "interval": "16ms", "deadline": "50ms"}
    causes = _causes(_explained(path__rtt="200ms", flows__0__workload=frames))
    assert "the path alone takes 100 ms" in causes["slow_units"]
    longer = {**frames, "deadline": "150ms"}
    causes = _causes(_explained(path__rtt="200ms", flows__0__workload=longer))
    assert "the path alone" not in causes.get("slow_units", "")


def test_a_path_that_carries_next_to_nothing_has_no_congestion_control_to_set() -> None:
    dead = _explained("cubic,bbr", path__loss=0.5, path__uplink_loss=0.5, path__rtt="20ms")
    assert dead.settings == []
    assert any("no congestion control uses more than" in note for note in dead.notes)
    alive = _explained("cubic,bbr")
    assert not any("no congestion control" in note for note in alive.notes)


@pytest.mark.parametrize("gap_ms", [10, 20])
def test_the_mean_rtt_of_responses_has_the_delay_of_acks_beside_it(gap_ms: int) -> None:
    workload = {"kind": "request-response", "request": "60B", "response": "78B", "gap": f"{gap_ms}ms"}
    for rtt_ms, has_text in ((1, True), (200, False)):
        changes: dict[str, Any] = {"path.rtt": f"{rtt_ms}ms", "flows.0.workload": workload}
        result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
        explained = ExplainedComparison(result)
        assert ("delayed ACKs are" in explained.blocks[0][0]) == has_text


@pytest.mark.parametrize("seed", [1, 4])
def test_the_mean_rtt_of_frames_that_wait_in_a_queue_names_no_delayed_acks(seed: int) -> None:
    """The receiver delays no ACK, but RTTs are samples of other packets than delays of data."""
    draw = random.Random(seed)
    rates = [draw.choice([0, 1, 2, 5, 8, 12]) for _ in range(40)]
    steps = [{"at": f"{t}s", "rate": f"{rate if t else 5}Mbit/s"} for t, rate in enumerate(rates)]
    changes: dict[str, Any] = {
        "path.rtt": "30ms",
        "path.up": {"steps": steps},
        "path.uplink_buffer": "500packets",
        "tcp.notsent_lowat": "16kB",
        "tcp.delayed_ack_timeout": "1ms",
        "flows.0.from": "phone",
        "flows.0.to": "server",
        "flows.0.opens": "from",
        "flows.0.workload": {
            "kind": "frames",
            "size": "12500B",
            "interval": "33.3ms",
            "deadline": "500ms",
            "backlog": "newest",
        },
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="40s", set=changes)
    assert "delayed ACKs are" not in ExplainedComparison(result).blocks[0][0]


def _gap(start_s: float, length_s: float, rate: str = "20Mbit/s") -> str:
    """Returns the steps of a link that carries nothing for a while."""
    end_s = start_s + length_s
    steps = [("0s", rate), (f"{start_s:.2f}s", "0bit/s"), (f"{end_s:.2f}s", rate)]
    return "[" + ", ".join(f'{{ at = "{at}", rate = "{each}" }}' for at, each in steps) + "]"


@pytest.mark.parametrize("seed", [1, 2])
def test_the_wait_of_acks_in_an_outage_is_no_delay_of_other_acks(seed: int) -> None:
    """Jitter of 5 ms alone may hold ACKs up, but no ACK takes 30 ms longer outside the outage."""
    draw = random.Random(seed)
    start_s, length_s = draw.uniform(2, 8), draw.uniform(1.5, 3)
    frames = '{ kind = "frames", size = "5kB", interval = "50ms", deadline = "300ms" }'
    explained = _explained(
        "bbr",
        duration="20s",
        path__rtt="60ms",
        path__jitter='{ distribution = "exponential", mean = "5ms" }',
        path__down__steps=_gap(start_s, length_s),
        path__up__steps=_gap(start_s + draw.uniform(0.1, 0.3), length_s),
        flows=f'[{{ from = "phone", to = "server", workload = {frames} }}]',
    )
    causes = _causes(explained)
    assert "outage" in causes
    assert "ACKs took" not in causes.get("uplink", "")


@pytest.mark.parametrize("seed", [1, 2])
def test_an_outage_of_acks_is_as_long_as_no_ack_came(seed: int) -> None:
    """The time-out comes some 0.3 s after the last ACK, but the next ACK after the outage."""
    draw = random.Random(seed)
    length_s = draw.uniform(1.5, 3)
    path = {"path__rtt": "20ms", "path__up__steps": _gap(draw.uniform(2, 8), length_s)}
    explained = _explained("bbr", duration="20s", **path)
    (uplink,) = (cause for cause in explained.ccas[0].causes if cause.name == "uplink")
    (silence_s,) = re.findall(r"up to ([0-9.]+) s without an ACK", uplink.text)
    assert float(silence_s) == pytest.approx(length_s, abs=0.15)
    assert uplink.weight == pytest.approx(length_s / 20, abs=0.01)


@pytest.mark.parametrize("kind", ["bulk", "video"])
@pytest.mark.parametrize("seed", range(3))
def test_the_delay_of_acks_is_a_part_of_the_mean_rtt(seed: int, kind: str) -> None:
    """A short upload holds ACKs up for a part of the time, in which few of them come."""
    draw = random.Random(f"part {seed}")
    up_kbps = draw.randint(300, 600)
    upload = f'{{ kind = "bulk", bytes = "{up_kbps * 1e3 / 8 * draw.uniform(2, 5):.0f}B" }}'
    start_s = draw.uniform(2, 5)
    flows = (
        f'[{{ name = "own", workload = {{ kind = "{kind}" }} }}, {{ name = "up", from = "phone", '
        f'to = "server", start = "{start_s:.1f}s", workload = {upload} }}]'
    )
    path = {"path__rtt": "20ms", "path__up": f"{up_kbps}kbit/s", "path__uplink_buffer": "300packets"}
    ccas = ("cubic", "bbr")
    explained = _explained(",".join(ccas), duration="20s", flows=flows, **path)
    own = [each for each in explained.ccas if each.flow == "own"]
    for each in own:
        text = each.cause_text("uplink")
        for value in re.findall(r"ACKs took (\d+) ms longer than at best on average", text):
            assert float(value) < each.rtt_mean_ms - 20
        for share in re.findall(r"longer than at best for ([\d.]+) % of the time", text):
            flows = explained.comparison.flows
            is_upload = (flows["name"] == "up") & (flows["run"] == list(ccas).index(each.cca))
            assert float(share) / 100 * 20 <= 1.1 * float(flows.loc[is_upload, "duration_s"].iloc[0])
    assert any(each.cause_text("uplink") for each in own)


@pytest.mark.parametrize("seed", [1, 4])
def test_a_queue_that_drains_fast_leaves_no_late_acks(seed: int) -> None:
    """The RTTs of a slot are of data that came earlier, from a longer queue; the uplink is idle."""
    explained = ExplainedComparison(ct.compare("startup/operator-1", "cubic,bbr", 1, seed=seed))
    assert not any("ACKs took" in each.cause_text("uplink") for each in explained.ccas)


@pytest.mark.parametrize("seed", range(4))
def test_the_parts_of_a_delay_are_the_mean_rtt(seed: int) -> None:
    """Pictures over a slow uplink whose ACKs wait behind a download, with outages in half of them."""
    draw = random.Random(seed)
    mbps, interval_s = draw.uniform(0.5, 3.0), draw.uniform(1.0, 4.0)
    pictures = {
        "kind": "frames",
        "size": f"{0.6 * mbps * 1e6 / 8 * interval_s:.0f}B",
        "interval": f"{interval_s:.2f}s",
    }
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.uniform(0.05, 0.4):.2f}s",
        "path.buffer": "500packets",
        "path.uplink_buffer": "500packets",
        "path.down": "12Mbit/s",
        "path.up": f"{mbps:.2f}Mbit/s",
        "flows": [
            {"name": "pictures", "from": "phone", "to": "server", "workload": pictures},
            {"name": "map", "workload": {"kind": "bulk"}},
        ],
    }
    if seed % 2:
        rate = {"outage_interval": "20s", "outage_duration": f"{draw.uniform(0.5, 2):.1f}s"}
        changes["path.up"] = {"generate": {"mean": f"{mbps:.2f}Mbit/s", "variability": 0.3, **rate}}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="60s", set=changes)
    explained = [each for each in ExplainedComparison(result).ccas if each.flow == "pictures"]
    complete = 0
    for each in explained:
        text = f"{each.cause_text('queue')} {each.cause_text('uplink')}"
        patterns = (
            r"packets waited ([\d.]+) ms", r"and ([\d.]+) ms for outages",
            r"([\d.]+) ms without ACKs that wait|lowest RTT is ([\d.]+) ms(?! \()",
            r"ACKs took ([\d.]+) ms longer than at best on average",
        )  # fmt: skip
        parts = [re.search(pattern, text) for pattern in patterns]
        if parts[0] and parts[3]:
            total_ms = sum(float(each.group(each.lastindex or 0)) for each in parts if each)
            assert total_ms == pytest.approx(each.rtt_mean_ms, abs=3)
            complete += 1
    assert complete
