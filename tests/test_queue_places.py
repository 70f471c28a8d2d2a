"""Places of queues: further links are named and have the advice; slow links a target that is tried."""

from __future__ import annotations

import math
import random
import re
import tomllib
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.places import places_of
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.lines.queue_lines import filled_directions
from celltcp.scenarios.narrow_hop import narrow_link
from drawn_causes import Changes

#: CoDel that leaves a queue of 300 ms.
CODEL = '{ kind = "codel", target = "300ms", interval = "3s" }'


@pytest.mark.parametrize("seed", range(2))
def test_the_queue_of_a_further_link_is_named_and_has_the_advice(seed: int) -> None:
    draw = random.Random(seed)
    rate, access = draw.randint(3, 6), draw.randint(10, 20)
    name = draw.choice(["limiter", "backhaul"])
    link = {
        "name": name,
        "from": "gateway",
        "to": "host",
        "rate": f"{rate}Mbit/s",
        "buffer": f"{draw.randint(60, 120)}packets",
    }
    changes: Changes = {"path.down": f"{access}Mbit/s", "links": [link], "flows": [{"from": "host"}]}
    result = ct.compare("steady-20-68", "cubic", 2, duration="15s", set=changes)
    explained = ExplainedComparison(result)
    texts = [text for each in explained.ccas for text in explained.texts(each)]
    assert any(f"A queue stood before the link {name}: " in text for text in texts)
    options = [each.options for each in explained.remedies]
    assert any("links.0.queue=fq-codel" in each for each in options)
    assert not any("path.queue=" in each for each in options)
    (remedy,) = [each for each in explained.remedies if "links.0.queue" in each.options]
    assert f"only a shaper before it, untried: --set links.0.rate={0.9 * rate:g}Mbit/s" in remedy.text
    scenario = tomllib.loads(result.results.about["scenario"])
    assert narrow_link(scenario, {"from": "server", "to": "phone"}) is None
    scenario["links"][0]["rate"] = {"rate": f"{access + 1}Mbit/s"}
    assert narrow_link(scenario, {"from": "host", "to": "phone"}) is None
    assert narrow_link(scenario, {"from": "host", "to": "server"}) == 0


@pytest.mark.parametrize("rtt", ["40ms", "300ms"])
@pytest.mark.parametrize("seed", range(2))
def test_the_target_of_a_slow_link_is_the_time_of_a_packet_and_tried(seed: int, rtt: str) -> None:
    kbit = random.Random(seed).randint(150, 700)
    changes = {"path.down": f"{kbit}kbit/s", "path.rtt": rtt, "path.buffer": "100packets"}
    result = ct.compare("steady-20-68", "cubic", 2, duration="30s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    remedy, shaper = sorted(
        (each for each in explained.remedies if "fq-codel" in each.options),
        key=lambda each: "path.queue=" not in each.options,
    )
    target = f"{max(-(-12000 // kbit), 15 if rtt == '300ms' else 0)}ms"
    assert f'target = "{target}"' in remedy.options
    # The queue of a shaper before the link is slower still, and has the line of its rate.
    (rate,) = re.findall(r"rate=([\d.]+)Mbit/s", shaper.options)
    own = f"{max(math.ceil(12 / float(rate)), 15 if rtt == '300ms' else 0)}ms"
    assert f'target = "{own}"' in shaper.options
    assert f"bandwidth {1000 * float(rate):.0f}kbit" in shaper.text
    assert f"target {target};" in remedy.text
    assert remedy.trial


@pytest.mark.parametrize(
    ("queue", "is_upload", "place"),
    [
        ('"droptail"', False, "in the RLC buffer of the base station"),
        ('"droptail"', True, "in the RLC buffer of the UE"),
        (
            '{ kind = "codel", target = "300ms", interval = "1s" }',
            False,
            "above RLC of the base station",
        ),
    ],
)
def test_the_queue_of_a_cell_stands_in_rlc_where_a_faster_router_sees_none(
    tmp_path: Path, queue: str, is_upload: bool, place: str
) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(
        f"""
        duration = "10s"
        path = {{ rtt = "40ms", queue = {queue} }}
        flows = [{{ {'from = "phone", to = "server"' if is_upload else ""} }}]
        [radio]
        technology = "lte"
        bandwidth = "5MHz"
        rlc = {{ buffer = "1000packets", uplink_buffer = "1000packets" }}
        ues = [{{ name = "phone", sinr = "8dB" }}]
        """
    )
    explained = ExplainedComparison(ct.compare(file, "cubic", 1))
    texts = [text for each in explained.ccas for text in explained.texts(each)]
    assert any(f"A queue stood {place}: packets waited " in text for text in texts), texts


@pytest.mark.parametrize("is_upload", [False, True])
def test_the_queue_of_an_access_link_stands_before_its_slower_direction(is_upload: bool) -> None:
    ends = {"from": "phone", "to": "server"} if is_upload else {}
    path = {"path.down": "20Mbit/s", "path.up": "8Mbit/s", "path.buffer": "4bdp"}
    changes: Changes = {**path, "path.uplink_buffer": "200packets", "flows": [{"name": "bulk", **ends}]}
    result = ct.compare("steady-20-68", "cubic", 1, duration="15s", set=changes)
    explained = ExplainedComparison(result)
    texts = [text for each in explained.ccas for text in explained.texts(each)]
    link = "uplink" if is_upload else "downlink"
    assert any(f"A queue stood before the {link}: " in text for text in texts), texts


def test_a_discipline_for_both_queues_is_named_so_where_a_host_behind_the_phone_uploads() -> None:
    """The uplink has the queue discipline of the path, unless it has one of its own."""
    queue = ["path", "queue"]
    download, upload = {"to": "pc"}, {"from": "laptop", "to": "server"}
    assert filled_directions(queue, {"flows": [download]}) == ["down"]
    assert filled_directions(queue, {"flows": [{**upload, "from": "phone"}]}) == ["up"]
    assert filled_directions(queue, {"flows": [download, upload]}) == ["down", "up"]
    own = {"path": {"uplink_queue": "droptail"}, "flows": [download, upload]}
    assert filled_directions(queue, own) == ["down"]
    remedy = Remedy("a standing queue", ("path.queue=fq-codel",))
    assert places_of(remedy, {"flows": [download, upload]}, sets_cca=False) == [
        "both queues of the link"
    ]
