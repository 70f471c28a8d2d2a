"""Advice of an AQM on long paths: times that suit the RTT, and what it may cost."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget, Trials
from celltcp.comparison.lines.linux_lines import linux_line
from drawn_causes import Changes

#: A call beside a download.
CALL: Changes = {"name": "call", "workload": {"kind": "frames", "size": "200B", "interval": "20ms"}}


def _beside_a_call(rtt_ms: int, rate_mbps: int) -> ct.Comparison:
    changes: Changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{rate_mbps}Mbit/s",
        "path.buffer": "1bdp",
        "flows": [{"name": "down", "count": 4}, CALL],
    }
    return ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes)


@pytest.mark.parametrize("seed", range(3))
def test_an_aqm_on_a_long_path_has_times_by_its_rtt_and_costs_little(seed: int) -> None:
    draw = random.Random(f"long aqm {seed}")
    rtt_ms, rate_mbps = draw.randrange(250, 700, 10), draw.randint(20, 40)
    result = _beside_a_call(rtt_ms, rate_mbps)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    (aqm,) = [each for each in explained.remedies if "path.queue=" in each.options]
    (shaper,) = [each for each in explained.remedies if "path.wired.0.queue=" in each.options]
    target_ms = round(0.05 * rtt_ms)
    table = f'{{ kind = "fq-codel", target = "{target_ms}ms", interval = "{rtt_ms}ms" }}'
    assert aqm.remedy.changes == (f"path.queue={table}",)
    assert f"root fq_codel interval {rtt_ms}ms target {target_ms}ms; " in aqm.text
    assert re.search(rf"root cake rtt {rtt_ms}ms bandwidth {rate_mbps - 1}?\d+kbit; ", shaper.text)
    # The call gains, and the download loses little, if anything.
    assert re.search(r"call frame delay mean [^,]*\(-", aqm.trial)
    costs = re.findall(r"down goodput [^,]*\((-?\+?\d+) %", aqm.trial)
    # A trial without the figure lost less than a text mentions.
    assert not costs or min(map(int, costs)) > -15, costs


def test_an_aqm_on_a_short_path_has_its_defaults() -> None:
    explained = ExplainedComparison(_beside_a_call(60, 20))
    (aqm,) = [each for each in explained.remedies if "path.queue=" in each.options]
    assert aqm.remedy.changes == ("path.queue=fq-codel",)


@pytest.mark.parametrize(
    ("cause", "rate", "is_advised"),
    [("uplink", 18, False), ("queue", 18, True), ("uplink", 12, False), ("queue", 12, False)],
)
@pytest.mark.parametrize("flows", [[{}], [{"name": "down"}, CALL]], ids=["alone", "beside a call"])
def test_what_costs_much_of_the_goodput_is_no_advice_however_short_the_delay(
    cause: str, rate: int, is_advised: bool, flows: list[Changes]
) -> None:
    deep: Changes = {"path.rtt": "60ms", "path.down.rate": "20Mbit/s", "path.buffer": "8bdp"}
    deep["flows"] = flows
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=deep)
    shorter = Remedy("a queue", ("path.queue=fq-codel", f"path.down.rate={rate}Mbit/s"))
    trial = Trials(result, TrialBudget()).run(ProposedRemedy(cause, shorter, ("cubic",), {}))
    assert trial is not None
    assert bool(trial.helped_ccas) == is_advised


def test_queue_disciplines_with_parameters_have_a_line_where_tc_has_them() -> None:
    assert linux_line('path.queue={ kind = "fq-codel", flows = 4 }').endswith("root fq_codel flows 4")
    assert not linux_line('path.queue={ kind = "pie", max_burst = "9ms" }')
    assert not linux_line('path.queue={ kind = "codel", limit = 4 }')
    assert linux_line('path.queue={ kind = "codel", target = "9ms" }').endswith("root codel target 9ms")


def test_a_flow_of_a_mix_has_remedies_of_its_own_with_their_host() -> None:
    changes: Changes = {
        "path.rtt": "300ms",
        "path.down.rate": "40Mbit/s",
        "path.up.rate": "4Mbit/s",
        "flows": [{"name": "down"}, {"name": "up", "from": "phone", "to": "server"}],
    }
    result = ct.compare("steady-20-68", "cubic+cubic", 1, duration="30s", set=changes)
    texts = {each.options: each.text for each in ExplainedComparison(result)._all_remedies}
    other = texts["--cca cubic+cubic,cubic+bbr"]
    assert "against the queue that up fills; Linux, sender (client): sysctl " in other
    assert "tcp_congestion_control=bbr" in other
    assert "--cca cubic+cubic --set path.uplink_buffer=1bdp" in texts
    early = texts["--cca cubic+cubic,cubic:hystart=off+cubic"]
    assert "Linux, sender (server): echo 0 > /sys/" in early
