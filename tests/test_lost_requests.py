"""Losses in the direction of the ACKs: requests and handshakes are reasons and causes of their own."""

from __future__ import annotations

import random
import re
import tomllib
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.causes.unit_reasons import (
    HANDSHAKE_LOST,
    IN_QUEUE,
    PROBE,
    REQUEST_LOST,
    TIME_OUT,
)
from celltcp.comparison.explanation.explanation import ExplainedComparison

Changes = dict[str, Any]

#: Answers of a game.
_GAME = {
    "kind": "request-response",
    "request": "60B",
    "response": "120B",
    "gap": {"kind": "uniform", "min": "20ms", "max": "300ms"},
}


def _causes(changes: Changes, ccas: str = "cubic", duration: str = "60s") -> dict[str, Cause]:
    """Returns the causes of the last flow by name."""
    result = ct.compare("steady-20-68", ccas, 3, duration=duration, set=changes)
    return {cause.name: cause for cause in ExplainedComparison(result).ccas[-1].causes}


def _others(cause: Cause) -> int:
    """Returns the number of slow units with other reasons."""
    found = re.search(r"(\d[\d ]*) had other reasons", cause.text)
    return int(found[1].replace(" ", "")) if found else 0


@pytest.mark.parametrize("seed", range(4))
def test_slow_responses_have_the_losses_of_both_directions_as_reasons(seed: int) -> None:
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(30, 200)}ms",
        "path.loss": round(draw.uniform(0.003, 0.02), 4),
        "path.uplink_loss": round(draw.uniform(0.005, 0.03), 4),
        "flows.0.workload": _GAME,
    }
    causes = _causes(changes)
    slow, lost = causes["slow_units"], causes["lost_requests"]
    assert slow.reasons[REQUEST_LOST] > 0
    assert slow.reasons[PROBE] + slow.reasons.get(TIME_OUT, 0) > 0
    assert _others(slow) < 0.1 * sum(slow.reasons.values())
    assert lost.text.startswith("Random loss on the uplink took")
    # The share of the requests that are lost is that of the path.
    assert lost.weight == pytest.approx(changes["path.uplink_loss"], rel=0.5)
    without = _causes({**changes, "path.uplink_loss": 0.0})
    assert "lost_requests" not in without
    assert REQUEST_LOST not in without["slow_units"].reasons


def test_requests_that_a_full_queue_drops_are_named_with_it() -> None:
    upload = {"name": "upload", "from": "phone", "to": "server", "opens": "from"}
    changes: Changes = {
        "path.up": "2Mbit/s",
        "path.uplink_buffer": "30packets",
        "flows": [upload, {"name": "game", "cca": "cubic", "workload": _GAME}],
    }
    causes = _causes(changes)
    assert causes["lost_requests"].text.startswith("A full queue on the uplink")


def test_lost_requests_of_pages_are_counted_beside_pages_and_not_connections() -> None:
    changes: Changes = {"path.uplink_loss": 0.03, "flows.0.workload": {"kind": "page"}}
    lost = _causes(changes, duration="30s")["lost_requests"]
    assert " pages: " in lost.text


@pytest.mark.parametrize("size", ["2kB", "10kB"])
def test_a_short_transfer_has_its_lost_handshake_as_a_cause(size: str) -> None:
    changes: Changes = {
        "path.uplink_loss": {"kind": "list", "packets": [1]},
        "flows.0.workload": {"kind": "bulk", "bytes": size},
    }
    lost = _causes(changes, duration="5s")["lost_handshake"]
    assert lost.text.startswith("3 of 3 connections (100 %) lost a SYN or SYN-ACK to random loss")
    assert lost.weight > 0.5
    assert "lost_handshake" not in _causes({**changes, "path.uplink_loss": 0.0}, duration="5s")


@pytest.mark.parametrize("rtt_s", [0.3, 1.6])
def test_a_meter_whose_syn_is_lost_has_its_small_window_and_first_byte(rtt_s: float) -> None:
    """The window of one segment doubles twice for four segments; 1.6 s are above the initial RTO."""
    changes: Changes = {
        "path.rtt": f"{rtt_s}s",
        "path.down": "10Mbit/s",
        "path.up": "10Mbit/s",
        "path.uplink_loss": {"kind": "list", "packets": [1, 2] if rtt_s < 1 else [1]},
        "flows": [
            {
                "from": "phone",
                "to": "server",
                "opens": "from",
                "workload": {"kind": "sequence", "size": "5000B", "gap": "2s"},
            }
        ],
    }
    causes = _causes(changes, duration="60s")
    text = causes["lost_handshake"].text
    assert text.startswith("3 of ")
    assert "3 of them began with a window of 1 segment" in text
    first_byte_s, took_s = (
        float(re.search(pattern, text).group(1))  # type: ignore[union-attr]
        for pattern in (r"first byte came ([\d.]+) s", r"; ([\d.]+) s until complete")
    )
    # SYNs are 1 s apart (tcp_syn_linear_timeouts); then come 1, 2 and 1 segments.
    lost_s = 2 if rtt_s < 1 else 1
    assert first_byte_s == pytest.approx(lost_s + 1.5 * rtt_s, abs=0.1)
    assert took_s == pytest.approx(lost_s + 3.5 * rtt_s, abs=0.1)
    assert ("above the initial RTO of 1 s" in text) == (rtt_s > 1)
    slow = causes["slow_units"]
    assert slow.reasons[HANDSHAKE_LOST] == 3


@pytest.mark.parametrize("size", ["400B", "5000B"])
def test_what_readings_of_an_initial_window_leave_unused_is_not_for_losses(size: str) -> None:
    """They are in flight as a whole: a path without losses would be idle as well."""
    changes: Changes = {
        "path.rtt": "900ms",
        "path.down": "100kbit/s",
        "path.loss": 0.04,
        "flows.0.workload": {"kind": "sequence", "size": size, "gap": "3s"},
    }
    causes = _causes(changes, duration="120s")
    assert causes["random_loss"].weight < 0.2
    assert causes["slow_units"].weight > causes["random_loss"].weight


@pytest.mark.parametrize("is_upload", [False, True])
def test_a_connection_that_is_kept_open_saves_the_handshake_of_each_transfer(is_upload: bool) -> None:
    """A handshake is a round trip, which the workload of the sentence does without."""
    ends = {"from": "phone", "to": "server", "opens": "from"} if is_upload else {}
    flow = {"workload": {"kind": "sequence", "size": "5000B", "gap": "3s"}, **ends}
    changes: Changes = {"path.rtt": "900ms", "path.down": "2Mbit/s", "path.up": "2Mbit/s"}
    changes["path.blackouts"] = [{"at": "20s", "duration": "9s"}]
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set={**changes, "flows": [flow]})
    explained = ExplainedComparison(result).ccas[0]
    text = explained.cause_text("handshakes")
    assert float(re.search(r"took (\d+) ms, ", text).group(1)) == pytest.approx(  # type: ignore[union-attr]
        900, rel=0.05
    )
    (workload,) = re.findall(r"workload=(\{.*\})'", text)
    kept = {**flow, "workload": tomllib.loads(f"workload = {workload}")["workload"]}
    again = ct.compare("steady-20-68", "cubic", 1, duration="60s", set={**changes, "flows": [kept]})
    before, after = (
        each.units[each.units["unit"].isin(("completion", "frame_delay", "response"))]["duration_s"]
        for each in (result, again)
    )
    assert before.median() - after.median() == pytest.approx(0.9, rel=0.1)


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_a_handshake_in_an_outage_is_lost_to_that(loss: float) -> None:
    """A page is requested every 2 s, in outages of 3 s, too."""
    changes: Changes = {
        "path.blackouts": [{"at": f"{at}s", "duration": "3s"} for at in (5, 15, 25)],
        "path.uplink_loss": loss,
        "flows.0.workload": {"kind": "sequence", "size": "50kB", "gap": "2s"},
    }
    causes = _causes(changes, duration="40s")
    text = causes["lost_handshake"].text
    assert "an outage of the link" in text
    assert ("random loss" in text) == (loss > 0)
    assert " of the time in which it had connections, " in causes["outage"].text


def test_one_lost_request_a_run_is_one_packet() -> None:
    requests = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "1s"}
    changes: Changes = {
        "path.rtt": "40ms",
        "path.uplink_loss": {"kind": "list", "packets": [5]},
        "flows.0.workload": requests,
    }
    text = _causes(changes, duration="8s")["lost_requests"].text
    assert text.startswith(
        "Random loss on the uplink took 1 packet with a request a run, of 8 responses"
    )


def test_a_first_response_has_its_lost_handshake_as_the_reason() -> None:
    changes: Changes = {
        "path.uplink_loss": {"kind": "list", "packets": [1]},
        "flows.0.workload": _GAME,
    }
    assert _causes(changes, duration="20s")["slow_units"].reasons == {HANDSHAKE_LOST: 3}


@pytest.mark.parametrize("seed", range(2))
def test_a_wait_in_a_queue_needs_no_sample_of_the_rtt_while_it_lasts(seed: int) -> None:
    """The ACK of the only packet of a response may come in a later slot than the response."""
    draw = random.Random(seed)
    steps = [{"at": f"{at}s", "rate": f"{draw.choice([4, 8, 30, 60])}Mbit/s"} for at in range(0, 60, 2)]
    changes: Changes = {
        "path.down.steps": steps,
        "path.buffer": f"{draw.choice([1, 2])}MB",
        "flows": [{"name": "bulk"}, {"name": "game", "cca": "cubic", "workload": _GAME}],
    }
    slow = _causes(changes)["slow_units"]
    assert slow.reasons[IN_QUEUE] > 10
    assert _others(slow) <= 0.02 * sum(slow.reasons.values())
