"""The conclusion of an explanation: the best of all that was compared or tried."""

from __future__ import annotations

import json
import random
import re
import statistics
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import Alternative, Need
from celltcp.comparison.explanation.trials.best_tried import BestTried, _effort, _text, _under_reference
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.verdicts.choices import choices_of
from drawn_causes import Changes

_PING = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "100ms"}
#: A download, and a ping that waits in its queue.
_FLOWS = [{"name": "download"}, {"name": "ping", "cca": "cubic", "workload": _PING}]


def _best(changes: Changes, ccas: list[str], duration: str = "120s") -> BestTried | None:
    """Returns the conclusion of a comparison after its trials."""
    return _explained(changes, ccas, duration).conclusion.best


def _explained(changes: Changes, ccas: list[str], duration: str) -> ExplainedComparison:
    """Returns the explanation of a comparison after its trials."""
    explained = ExplainedComparison(ct.compare("steady-20-68", ccas, 2, duration=duration, set=changes))
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    return explained


def _answers_after_pauses(draw: random.Random) -> Changes:
    """Returns answers of several initial windows, with pauses longer than any time-out."""
    answer = {"kind": "request-response", "request": "300B", "response": f"{draw.randint(50, 70)}kB"}
    return {
        "path.rtt": f"{draw.randint(150, 300)}ms",
        "path.down": f"{draw.randint(15, 40)}Mbit/s",
        "path.buffer": "2bdp",
        "flows.0.workload": {**answer, "gap": "5s"},
    }


@pytest.mark.parametrize("seed", range(3))
def test_a_setting_that_beats_the_best_cca_is_the_conclusion(seed: int) -> None:
    """BBR is better than CUBIC after pauses, and CUBIC with a window that holds an answer is best."""
    changes = _answers_after_pauses(random.Random(seed))
    best = _best(changes, ["cubic", "bbr"])
    assert best is not None
    # A window that holds an answer is as good as one that does not shrink.
    (change,) = best.remedy.remedy.changes
    assert change.startswith(("tcp.slow_start_after_idle=false", "tcp.initial_window="))
    # BBR alone and with it are beside it, and it is said that the lines of BBR are those without it.
    assert f" by cubic with {change} (sender (server)). bbr has " in best.text
    assert best.text.endswith(" s with it.")


@pytest.mark.parametrize("seed", range(3))
def test_settings_of_a_server_that_help_alone_are_tried_together(seed: int) -> None:
    """A window that slow start has made larger than the initial one is kept after a pause."""
    draw = random.Random(seed)
    sizes = {"kind": "lognormal", "median": f"{draw.randint(15, 25)}kB", "sigma": 0.8}
    workload = {"kind": "request-response", "request": "500B", "response": sizes, "gap": "2s"}
    loss = {"kind": "gilbert-elliott", "to_bad": 0.003, "to_good": 0.33}
    changes: Changes = {
        "path.rtt": f"{draw.randint(90, 150)}ms",
        "path.down": "50Mbit/s",
        "path.buffer": "300packets",
        "path.loss": loss,
        "flows": [{"name": "api", "count": 4, "workload": workload}],
    }
    table = _explained(changes, ["cubic"], "120s").conclusion.alternatives
    assert table is not None
    of_server = [row for row in table.to_json() if row["recommended"] and len(row["places"]) == 1]
    best_s = min(row["metrics"]["response_p95_s:api"] for row in of_server)
    fields = ("tcp.initial_window", 32), ("tcp.slow_start_after_idle", False)

    def p95_s(*settings: tuple[str, object]) -> float:
        compared = ct.compare(
            "steady-20-68", "cubic", 2, duration="120s", set={**changes, **dict(settings)}
        )
        return sum(compared.applications[0].values("response_p95_s")["cubic"]) / 2

    assert best_s <= 1.02 * min(p95_s(*fields), *map(p95_s, fields))


@pytest.mark.parametrize("seed", range(2))
def test_a_queue_discipline_that_is_as_good_with_the_default_needs_no_other_cca(seed: int) -> None:
    """With a queue discipline a ping beside a download is short under either CCA, by one host alone."""
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(20, 60)}ms",
        "path.down": f"{draw.randint(10, 30)}Mbit/s",
        "path.buffer": "6bdp",
        "flows": _FLOWS,
    }
    best = _best(changes, ["cubic", "bbr"], "20s")
    assert best is not None
    assert best.cca == "cubic"
    (change,) = best.remedy.remedy.changes
    # So is a cap of the download.
    assert change.startswith(("path.queue=fq-codel", "flows.0.max_pacing_rate="))
    assert re.search(rf" by cubic( \(bbr alike\))? with {change} \([^,]*\)\. bbr has ", best.text)


def test_what_makes_another_cca_better_than_the_leader_comes_first() -> None:
    """With a queue discipline CUBIC has a shorter delay than BBR, which leads without one."""
    uplink = {"mean": "2.5Mbit/s", "variability": 0.6, "correlation": "3s"}
    video = {"size": "6kB", "interval": "33ms", "deadline": "400ms", "encoder": {"lowest": 0.15}}
    sound = {"size": "160B", "interval": "20ms", "deadline": "200ms"}
    call = {"kind": "frames", **video, "backlog": "newest", "beside": [sound]}
    changes: Changes = {
        "path": {
            "rtt": "60ms",
            "down": "20Mbit/s",
            "up": {"generate": uplink},
            "uplink_buffer": "1000packets",
        },
        "flows": [{"from": "phone", "to": "server", "workload": call}],
        "tcp.notsent_lowat": "16kB",
    }
    explained = _explained(changes, ["cubic", "bbr"], "60s")
    options = [each.options for each in explained.remedies]
    queue = options.index("--cca cubic --set path.uplink_queue=fq-codel")
    # BBR, which leads without it, gains little by its own remedy.
    assert not any("bbr3" in each for each in options[:queue])


def test_a_divided_transfer_is_complete_with_its_last_part_also_in_the_conclusion() -> None:
    """Five parts beside random losses have a short mean, and a last one that is later than BBR's."""
    changes: Changes = {
        "path.rtt": "300ms",
        "path.down": "12Mbit/s",
        "path.loss": 0.003,
        "flows.0.workload": {"kind": "bulk", "bytes": "10MB"},
    }
    best = _best(changes, ["cubic", "bbr"], "300s")
    assert best is None or best.cca == "bbr"


def test_the_conclusion_names_what_other_applications_lose() -> None:
    """A shaper with an AQM makes pings short, and page objects beside BBR slower."""
    ping = {"kind": "request-response", "request": "64B", "response": "64B", "gap": "100ms"}
    web = {"kind": "sequence", "size": "177kB", "gap": "1666ms"}
    flows = [
        {"name": "bulk"},
        {"name": "ping", "cca": "reno", "workload": ping},
        {"name": "web", "cca": "reno", "workload": web},
    ]
    changes: Changes = {
        "path.rtt": "4ms", "path.down": "10Mbit/s", "path.buffer": "100packets", "flows": flows,
    }  # fmt: skip
    best = _best(changes, ["bbr", "reno"], "40s")
    assert best is not None
    assert re.search(r" at the cost of .*web completion mean 0\.\d+ to 0\.\d+ s \(\+", best.text)


def test_ccas_that_a_remedy_puts_in_place_of_others_have_names_where_they_are_alike() -> None:
    result, after = (
        ct.compare("steady-20-68", ccas, 1, duration="5s")
        for ccas in (["cubic", "bic"], ["cubic:hystart=off", "bic:low_window=1"])
    )
    remedy = Remedy("an early exit of slow start", parameter="hystart=off")
    proposed = ProposedRemedy("early_exit", remedy, ("cubic", "bic"), {}, after=after)
    need = Need(result, choices_of(result)[0], None)
    alternatives = [Alternative(cca, proposed, after, (), [1.0], 1.0, ()) for cca in after.ccas]
    text = _text(need, alternatives[0], None, alternatives, 1)
    assert " by cubic:hystart=off (bic:low_window=1 alike). " in text


def test_there_is_no_conclusion_where_no_trial_beats_the_best_cca() -> None:
    assert _best({"path.buffer": "1bdp"}, ["bbr"]) is None
    assert _best({"path.loss": 0.02, "path.buffer": "1bdp"}, ["cubic", "bbr"]) is None


def test_explanation_and_report_have_the_same_conclusion(celltcp, tmp_path: Path) -> None:
    changes = _answers_after_pauses(random.Random(7))
    ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="120s", set=changes, out=tmp_path / "o")
    shown = celltcp("explain", str(tmp_path / "o")).stdout
    (conclusion,) = [line for line in shown.splitlines() if line.startswith("Best of all")]
    # The lines of BBR alone are after those of the alternative, which the conclusion has.
    lines, _, alone = shown.partition(conclusion)[2].partition("Without any change but the CCA: ")
    assert alone.startswith("the sender (server) sets bbr, best for ")
    assert "tcp_slow_start_after_idle=0" in lines or " initcwnd " in lines
    done = celltcp("explain", str(tmp_path / "o"), "--json", "-")
    best = json.loads(done.stdout)["best_tried"]
    assert best["text"] == conclusion
    assert "--cca cubic --set tcp." in best["options"]
    celltcp("report", str(tmp_path / "o"), "--page", str(tmp_path / "page.md"))
    assert conclusion in (tmp_path / "page.md").read_text("utf-8").replace("\n", " ")


def test_of_changes_as_good_that_of_a_host_is_before_that_of_the_operator() -> None:
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="5s")
    need = Need(result, choices_of(result)[0], None)
    remedy = Remedy("a queue", ("tcp.send_buffer_max=140kB", "tcp.notsent_lowat=16kB"))
    proposed = ProposedRemedy("queue", remedy, ("bbr",), {}, after=result)
    host = Alternative("bbr", proposed, result, ("application", "sender (phone)"), [0.0], 1.0, ())
    grants = Remedy("waits for grants", ("radio.uplink.access=configured",))
    proposed = ProposedRemedy("grants", grants, ("cubic",), {}, after=result)
    cell = Alternative("cubic", proposed, result, ("base station",), [0.0], 1.0, ())
    assert min(host, cell, key=lambda each: _effort(need, each)) is host


@pytest.mark.parametrize("seed", range(2))
def test_a_queue_that_may_be_a_modems_has_its_shaper_with_the_figures_of_that(seed: int) -> None:
    """Before a constant link, a shaper of 95 % costs 5 % of the goodput, and has nearly no queue."""
    draw = random.Random(seed)
    rate = draw.choice([8, 12, 20])
    changes: Changes = {
        "path.rtt": f"{draw.randint(5, 30)}ms",
        "path.down": f"{rate}Mbit/s",
        "path.buffer": "200packets",
        "flows": _FLOWS,
    }
    best = _best(changes, ["cubic", "reno"], "20s")
    assert best is not None
    if best.remedy.remedy.changes != ("path.queue=fq-codel",):
        pytest.skip("a host has what is as good")
    kbit, queue = round(950 * rate), "path.wired.0.queue=fq-codel"
    assert f"path.wired.0.rate={kbit / 1e3:g}Mbit/s and {queue} (router)" in best.text
    assert [line for line in best.lines if "cake" in line] == [
        "router, INTERFACE to the LAN, or an ifb: tc qdisc replace dev INTERFACE root cake bandwidth "
        f"{kbit}kbit"
    ]
    tried = ct.compare(
        "steady-20-68", "cubic", 2, duration="20s",
        set={**changes, "path.wired.0.rate": f"{kbit}kbit/s", "path.wired.0.queue": "fq-codel"},
    )  # fmt: skip
    ((delay, unit),) = re.findall(r"the provider's: ([\d.]+) (m?s) by cubic", best.text)
    mean_s = sum(tried.applications[0].values("response_p95_s")["cubic"]) / 2
    assert float(delay) == pytest.approx(mean_s * (1e3 if unit == "ms" else 1), rel=0.03)


def test_the_queue_of_an_operator_that_is_better_than_any_cca_says_who_can_set_it() -> None:
    """FQ-CoDel gives a ping a queue of its own; BBR leaves it one of a BDP."""
    generate = {"mean": "30Mbit/s", "variability": 0.4, "correlation": "3s"}
    changes: Changes = {
        "path.rtt": "40ms", "path.down": {"generate": generate}, "path.buffer": "2MB", "flows": _FLOWS,
    }  # fmt: skip
    best, table = _explained(changes, ["cubic", "bbr"], "30s").conclusion
    assert table is not None
    operators = [each for each in table.recommended if "operator's downlink queue" in each.places]
    assert operators
    assert best is not None
    assert best.is_of_operator == ("path.queue" in " ".join(best.remedy.remedy.changes))
    assert "Only the operator of the network can set" in best.text
    # What a user sets is no best of all beside the better queue.
    assert best.text.startswith("Best of all that was tried") == best.is_of_operator
    least = min(statistics.mean(each.values) for each in operators)
    assert min(statistics.mean(each.values) for each in table.shown) == pytest.approx(least, rel=0.05)


def test_a_setting_with_another_cca_stands_beside_it_with_the_cca_in_use() -> None:
    """The effect of a send buffer is not that of Vegas."""
    comparison = ct.compare("steady-20-68", "cubic,vegas", 2, duration="5s", set={"flows": _FLOWS})
    need = Need(comparison, choices_of(comparison)[0], None)
    buffer = Remedy("frames in the send buffer", ("tcp.send_buffer_max=140kB",))
    remedy = ProposedRemedy("slow_units", buffer, ("cubic", "vegas"), {})
    alone = Alternative("cubic", None, comparison, (), [1.0, 1.0], 0.0, ())
    vegas = Alternative("vegas", remedy, comparison, ("sender",), [0.1, 0.1], 2.0, ())
    cubic = vegas._replace(cca="cubic", values=[1.0, 1.0], gain=0.0)
    assert _under_reference(need, [alone, vegas], [alone, vegas, cubic]) == [cubic]
    assert not _under_reference(need, [alone, vegas, cubic], [alone, vegas, cubic])
    assert not _under_reference(need, [alone, vegas._replace(gain=0.0)], [alone, vegas, cubic])
