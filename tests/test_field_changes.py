"""Sentences on the values of a sweep: trade-offs, what helps most, and what needs more runs."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.few_runs import few_runs_text
from celltcp.comparison.metrics import best_of
from celltcp.comparison.retransmitted import ResentShare
from celltcp.comparison.sweep.best_value_tables import _cells
from celltcp.comparison.sweep.best_values import Choice, advice_rankings
from celltcp.comparison.sweep.field_changes import _shown
from celltcp.comparison.sweep.sentences import Sentences
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.scenarios.quantities import quantities

Values = Mapping[str, Sequence[float]]


def _stake(flow: str, metric: str, values: Values) -> Stake:
    known = {name: list(of) for name, of in values.items()}
    return Stake(flow, metric, metric, known, best_of(metric, known, random=True))


def _texts(
    fields: Sequence[str],
    ccas: Sequence[str],
    *stakes: Stake,
    tails: Sequence[Mapping[str, float]] = (),
    scenario: Mapping[str, Any] | None = None,
    count_by: int = 0,
    **present: str,
) -> list[str]:
    """Returns the sentences on values that are named as a ranking names them."""
    choices = {}
    for name in stakes[0].values:
        value, _, cca = name.partition(" with ")
        choices[name] = Choice(value, cca or ccas[0])
    ranking: Any = SimpleNamespace(
        choices=choices,
        fields=fields,
        field=", ".join(fields),
        ccas=ccas,
        usual_cca=ccas[0],
        coordinates=lambda choice: tuple(choice.value.split(", ")),
        question=lambda stake: stake.flow,
        without_flow=lambda text: text,
        equal_shares=lambda _: {},
        tail_values=lambda _: [{name: _around(of) for name, of in each.items()} for each in tails],
        application_values=lambda *_, **__: {},
        delay_metric="rtt_mean_ms",
        tested="",
        is_finite=False,
        network_values=lambda _: {name: [1.0, 1.0] for name in choices},
        resent_shares=lambda: dict.fromkeys(choices, ResentShare(0.0, [0.0, 0.0])),
    )
    return Sentences(ranking, stakes, present, scenario or {}, count_by=count_by).all()


def _around(mean: float, spread: float = 0.01) -> list[float]:
    return [mean * (1 - spread), mean, mean * (1 + spread)]


def test_a_trade_off_names_the_knee_and_what_is_beyond_it() -> None:
    delays = {"20": 21.0, "30": 35.0, "35": 46.0, "40": 154.0, "1000": 583.0, "2000": 700.0}
    rates = {"20": 18.4, "30": 27.1, "35": 31.0, "40": 34.3, "1000": 39.9, "2000": 39.8}
    game = _stake("game", "frame_delay_p95_ms", {name: _around(of) for name, of in delays.items()})
    download = _stake("download", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    (text,) = _texts(["rate"], ["cubic"], game, download)
    assert text == (
        "trade-off of rate: 35 is the knee, with game frame delay p95 46.0 ms for download goodput "
        "31.00 Mbit/s; 20: 21.0 ms for 18.40; 40: 154.0 ms for 34.30; 1000: 583.0 ms for 39.90; "
        "between 35 and 40: --vary rate=37,38"
    )
    # From the value that the scenario has.
    _, change = _texts(["rate"], ["cubic"], game, download, rate="1000")
    assert change.startswith("rate=35 instead of 1000: ")


@pytest.mark.parametrize("seed", range(4))
def test_a_value_whose_worst_waits_are_those_without_it_is_no_knee(seed: int) -> None:
    draw = random.Random(seed)
    delays = {"20": 21.0, "30": 35.0, "35": 46.0, "40": 154.0, "1000": 583.0}
    rates = {"20": 18.4, "30": 27.1, "35": 31.0, "40": 34.3, "1000": 39.9}
    tails = {name: 700.0 * draw.uniform(0.02, 0.5) for name in delays}
    short = {**tails, "1000": 700.0}
    tails = {**short, "35": 700.0 * draw.uniform(0.75, 1.5)}
    game = _stake("game", "frame_delay_p95_ms", {name: _around(of) for name, of in delays.items()})
    download = _stake("download", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    # The 99th percentile and the maximum, or only one of them.
    for each in ([tails], [tails, short], [short, tails], [tails, tails]):
        (text,) = _texts(["rate"], ["cubic"], game, download, tails=each)
        assert text.startswith("trade-off of rate: 30 is the knee, ")
    # What the best value has as well is not of the queue.
    alike = dict.fromkeys(delays, 700.0 * draw.uniform(0.9, 1.1))
    (text,) = _texts(["rate"], ["cubic"], game, download, tails=[short, alike])
    assert text.startswith("trade-off of rate: 35 is the knee, ")


def _shaper_lines(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the need and the rate of each line that sets a shaper."""
    pattern = re.compile(r"On Linux, \S+ for (.+?): .* bandwidth (\d+kbit)")
    return [(found[1], found[2]) for text in texts if (found := pattern.match(text))]


@pytest.mark.parametrize("seed", range(4))
def test_lines_of_a_shaper_name_the_need_that_each_rate_serves(seed: int) -> None:
    """The rate of a balance serves both flows; a trade-off without one has a rate for each."""
    draw = random.Random(seed)
    low, middle, high = draw.randint(12, 13), draw.randint(21, 22), 1000
    rtt, peak = draw.uniform(20, 60), draw.uniform(26, 30)
    delays = {low: rtt, middle: 2 * rtt, high: 30 * rtt}
    rates = {low: 0.95 * low, middle: 0.9 * middle, high: peak}
    field = "path.wired.0.rate"
    scenario = {"path": {"wired": [{"rate": "1Gbit/s", "queue": "fq-codel"}]}}
    present: Any = {field: f"{high}Mbit/s"}
    texts = _texts([field], ["cubic"], *_game(delays, rates), scenario=scenario, **present)
    assert " is the knee" in texts[0]
    assert _shaper_lines(texts) == [("a balance with download", f"{1000 * middle}kbit")]
    # Nobody has the first value given: it may be the best one, too.
    shaped = ({rate: mean for rate, mean in each.items() if rate != high} for each in (delays, rates))
    texts = _texts([field], ["cubic"], *_game(*shaped), scenario=scenario)
    assert _shaper_lines(texts) == [("game", f"{1000 * low}kbit"), ("download", f"{1000 * middle}kbit")]


def _game(delays: Mapping[int, float], rates: Mapping[int, float]) -> list[Stake]:
    """Returns the stakes of a game and of a download behind shapers of some rates, in Mbit/s."""
    return [
        _stake(flow, metric, {f"{rate}Mbit/s": _around(mean) for rate, mean in means.items()})
        for flow, metric, means in (
            ("game", "frame_delay_p95_ms", delays),
            ("download", "goodput_mbps", rates),
        )
    ]


def test_lines_of_several_fields_are_those_that_change() -> None:
    """A buffer has no command of its own, which would replace that of the queue discipline."""
    names = [f"{size}packets, {kind}" for size in (20, 90) for kind in ("droptail", "fq-codel")]
    delays = dict(zip(names, (60, 20, 90, 25), strict=True))
    rates = dict(zip(names, (8, 9, 12, 8), strict=True))
    game = _stake("game", "frame_delay_p95_ms", {name: _around(of) for name, of in delays.items()})
    download = _stake("download", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    texts = _texts(["path.buffer", "path.queue"], ["cubic"], game, download)
    lines = [text for text in texts if text.startswith("On Linux, 20packets, fq-codel for ")]
    assert len(lines) == 1
    assert "root fq_codel limit 20;" in lines[0]


@pytest.mark.parametrize("seed", range(3))
def test_the_last_per_cent_of_goodput_is_no_need(seed: int) -> None:
    draw = random.Random(seed)
    gain, factor = draw.uniform(1.015, 1.04), draw.uniform(2, 8)
    delays, rates = {"100": 80.0, "400": 80.0 * factor}, {"100": 9.0, "400": 9.0 * gain}
    game = _stake("game", "frame_delay_p95_ms", {name: _around(of) for name, of in delays.items()})
    download = _stake("download", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    (text,) = _texts(["buffer"], ["cubic"], game, download, buffer="100")
    assert text.startswith("best balance: buffer=100, with ")
    assert "; 400: " in text


def test_what_only_more_runs_would_tell_from_the_best_is_no_knee() -> None:
    late = {"20": [0.0] * 3, "35": [0.0] * 3, "45": [0.0, 0.0, 0.15], "60": _around(0.09)}
    rates = {"20": 18.0, "35": 31.0, "45": 36.5, "60": 39.9}
    game = _stake("game", "late_share", late)
    download = _stake("download", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    text, *lines = _texts(["rate"], ["cubic"], game, download, rate="60")
    assert text == (
        "trade-off of rate, knee undecided (35 to 45 or none: run with --runs 10): 35: game share of "
        "late frames 0.00 % for download goodput 31.00 Mbit/s; 45: 5.00 % for 36.50; 60: 9.00 % for "
        "39.90"
    )
    assert not any("balance" in each for each in lines)


def test_a_value_that_is_best_in_both_figures_is_no_trade_off() -> None:
    game = _stake("game", "frame_delay_p95_ms", {"a": _around(600), "b": _around(20), "c": _around(90)})
    download = _stake(
        "download", "goodput_mbps", {"a": _around(10), "b": _around(20), "c": _around(15)}
    )
    text, change = _texts(["queue"], ["cubic"], game, download, queue="a")
    assert text == (
        "best of both: queue=b, with game frame delay p95 20.0 ms for download goodput 20.00 Mbit/s"
    )
    assert change.startswith("queue=b instead of a: ")


@pytest.mark.parametrize("seed", range(3))
def test_means_that_only_more_runs_would_tell_apart_are_not_worse_in_both(seed: int) -> None:
    draw = random.Random(seed)
    buffers = ["20", "60", "240"]
    game, download = (
        _stake(flow, metric, {name: [draw.gauss(9, 2) for _ in range(3)] for name in buffers})
        for flow, metric in (("game", "frame_delay_p95_ms"), ("download", "goodput_mbps"))
    )
    texts = _texts(["buffer"], ["cubic", "bbr"], game, download, buffer="60")
    assert not any(text.startswith(("trade-off", "best", "On Linux")) for text in texts), texts


def test_the_best_of_both_has_each_field_with_its_value() -> None:
    names = ("2, cubic", "2, bbr", "8, cubic", "8, bbr")
    game = _stake("game", "late_share", {name: _around(n + 1) for n, name in enumerate(names)})
    download = _stake(
        "download", "goodput_mbps", {name: _around(9 - n) for n, name in enumerate(names)}
    )
    texts = _texts(["buffer", "cca"], ["cubic"], game, download)
    assert texts[0].startswith("best of both: buffer=2 and cca=cubic, with ")


def test_a_change_that_helps_as_much_by_itself_is_named() -> None:
    times = {"10, true": 0.601, "10, false": 0.202, "40, true": 0.202, "40, false": 0.202}
    values = {name: _around(of, 0.001) for name, of in times.items()}
    texts = _texts(["window", "restart"], ["cubic"], _stake("web", "response_p95_s", values))
    assert texts[-1] == (
        "web: best mean 0.202 s with window=10 and restart=false; as good: window=40 and restart=true, "
        "window=40 and restart=false. restart: 0.601 to 0.202 s (true to false). "
        "window: no difference that matters"
    )


def test_several_fields_have_each_sentence_once() -> None:
    times = {
        f"{inactivity}, {cycle} with {cca}": base * factor * (1.0 if cca == "bbr" else 1.2)
        for inactivity, base in (("10ms", 1.0), ("100ms", 0.5))
        for cycle, factor in (("80ms", 1.0), ("320ms", 3.0))
        for cca in ("cubic", "bbr")
    }
    values = {name: _around(of) for name, of in times.items()}
    texts = _texts(["inactivity", "cycle"], ["cubic", "bbr"], _stake("web", "response_p95_s", values))
    assert len(texts) == len(set(texts))
    (helps,) = (each for each in texts if each.startswith("web: "))
    assert helps.startswith(
        "web: best mean 0.500 s with inactivity=100ms and cycle=80ms and bbr. cycle: "
    )
    assert helps.index("cycle: ") < helps.index("inactivity: ") < helps.index("The CCA: ")


def test_where_nothing_is_better_a_line_says_what_is_worse_or_open() -> None:
    game = _stake(
        "game", "frame_delay_p95_ms", {"35": _around(20), "40": _around(50), "45": [1, 90, 20]}
    )
    (text,) = _texts(["rate"], ["cubic"], game)
    start = "No value is significantly better than rate=35 (the first one given); worse: 40"
    assert text.startswith(f"{start}; undecided: 45 (try --runs 10 next")
    (text,) = _texts(["rate"], ["cubic"], game, rate="35")
    assert "rate=35 (as in the scenario)" in text
    # Where nothing is better, tables of best values have a line for each field, but not for the CCA.
    alike = {"35 with cubic": _around(20), "35 with bbr": _around(20.02)}
    (text,) = _texts(["rate"], ["cubic", "bbr"], _stake("game", "frame_delay_p95_ms", alike))
    assert text == (
        "No value differs by an amount that matters from rate=35 with cubic (the first one given)"
    )
    alike = {name.partition(" ")[0]: of for name, of in {**alike, "40 ": _around(20.02)}.items()}
    assert not _texts(["rate"], ["cubic"], _stake("game", "frame_delay_p95_ms", alike))
    undecided = {"35": _around(20), "45": [1, 90, 20]}
    assert not _texts(["rate"], ["cubic"], _stake("game", "frame_delay_p95_ms", undecided))


def test_a_value_that_only_its_interval_keeps_in_needs_more_runs() -> None:
    values = {
        "20": [21.0, 21.0, 21.1, 20.9],
        "25": [22.0, 26.0, 20.5, 21.5],
        "35": [44.0, 46.0, 45.0, 45.0],
        "45": [21.0, 600.0, 30.0, 500.0],
    }
    stake = _stake("game", "frame_delay_p95_ms", values)
    best, mean, others, following = _cells(stake, stake.words)
    assert (best, mean) == ("20", "21.0 ±0.1 ms")
    assert others.startswith("25; 45 needs more runs (--runs ")
    assert following.startswith("35 +24.0 ")


@pytest.mark.parametrize("seed", range(4))
def test_values_that_are_as_good_are_named_as_a_range(seed: int) -> None:
    """Above the bandwidth-delay product, a window makes no difference."""
    draw = random.Random(seed)
    sizes = sorted(draw.sample(range(50, 1000), 5))
    rates = {f"{size}kB": _around(min(size, 400) / 20, 1e-4) for size in sizes}
    names = draw.sample([*rates], len(rates))
    stake = _stake("download", "goodput_mbps", {name: rates[name] for name in names})
    full = [f"{size}kB" for size in sizes if size >= 400] or [f"{sizes[-1]}kB"]
    assert _cells(stake, stake.words)[0] == (full[0] if len(full) == 1 else f"{full[0]} to {full[-1]}")
    # Kinds have no order.
    kinds = {name: _around(10 if name != "pie" else 5, 1e-4) for name in ("codel", "pie", "red")}
    other = _stake("download", "goodput_mbps", kinds)
    assert _cells(other, other.words)[0] == "codel, red"


@pytest.mark.parametrize("seed", range(4))
def test_of_values_that_are_as_good_the_smallest_change_is_advised(seed: int) -> None:
    draw = random.Random(seed)
    times = {
        "10": 0.7,
        "20": 0.6,
        "40": draw.uniform(0.5998, 0.6002),
        "80": draw.uniform(0.5998, 0.6002),
    }
    names = draw.sample([*times], len(times))
    stake = _stake("web", "completion_s", {name: _around(times[name], 1e-4) for name in names})
    texts = _texts(["tcp.initial_window"], ["cubic"], stake, **{"tcp.initial_window": "10"})
    assert [text.partition(":")[0] for text in texts] == [
        "tcp.initial_window=20 instead of 10",
        "On Linux, sender (server)",
    ]
    assert texts[1].endswith("initcwnd 20")


def test_few_runs_with_long_intervals_are_warned_of_once() -> None:
    result = ct.sweep("drive", "path.rtt=20ms,80ms", "cubic", 2, duration="2s")
    (text,) = (each for each in result.warnings if "decide little" in each)
    assert text.startswith("2 runs decide little: intervals are longer than the means of ")
    assert "--runs " in text or "more are" in text
    steady = ct.sweep("steady-20-68", "path.rtt=20ms,80ms", "cubic", 2, duration="2s")
    assert not [each for each in steady.warnings if "decide little" in each]


def test_few_values_of_a_spread_are_no_few_runs() -> None:
    def warned(metric: str, scale: float = 1.0, responses: float = 1e4) -> str:
        values = [scale * value for value in (1.0, 9.0, math.nan, math.nan)]
        metrics = {"cubic": {metric: values, "responses": [responses] * 4}}
        application = SimpleNamespace(
            flow="web", names=[metric], values=lambda _: {"cubic": values}, metrics=metrics
        )
        result: Any = SimpleNamespace(applications=[application], ccas=[], is_competing=False)
        return few_runs_text([result])

    assert warned("page_load_s")
    assert not warned("page_load_sd_s")
    assert warned("late_share", 1e-3)
    assert not warned("late_share", 1e-5)
    # Tables lack the 99.9th percentile of less than a thousand responses.
    assert warned("response_p999_s")
    assert not warned("response_p999_s", responses=800.0)


def test_advice_is_apart_under_each_condition_which_is_none_itself() -> None:
    vary = {"path.loss": ["0%", "3%"], "path.buffer": ["0.2bdp", "4bdp"]}
    result = ct.sweep("steady-20-68", vary, ["cubic", "bbr"], 2, duration="4s")
    texts = result.field_changes
    losses = ["path.loss=0%: ", "path.loss=3%: "]
    assert all(any(text.startswith(loss) for text in texts) for loss in losses)
    # Nobody chooses a loss rate: none helps, and none is instead of another.
    assert all(text.count("path.loss") == 1 for text in texts)
    assert all(text.startswith(tuple(losses)) for text in texts)
    # Of many conditions the first and the last one have sentences.
    rankings = advice_rankings(result)
    assert _shown(rankings) == rankings
    assert _shown([*rankings, *rankings, rankings[1]]) == rankings


def test_amounts_are_compared_in_one_unit() -> None:
    assert quantities(["20Mbit/s", "1Gbit/s"]) == [20.0, 1000.0]
    assert quantities(["80ms", "1.28s"]) == [80.0, 1280.0]
    assert quantities(["1bdp", "4bdp"]) == [1.0, 4.0]
    assert quantities(["0", "7"]) == [0.0, 7.0]
    for texts in (["droptail", "pie"], ["1bdp", "50packets"], ["1s", "1000ms"], ["true", "false"]):
        assert quantities(texts) is None


def test_a_condition_of_the_network_is_no_advice_but_the_cca_under_it_is() -> None:
    rates = {"10ms with cubic": 55.0, "75ms with cubic": 11.0, "10ms with bbr": 95.0}
    rates["75ms with bbr"] = 92.0
    delays = {"10ms with cubic": 10.6, "75ms with cubic": 75.9, "10ms with bbr": 13.6}
    delays["75ms with bbr"] = 80.6
    goodput, rtt = (
        _stake("flow", metric, {name: _around(of) for name, of in values.items()})
        for metric, values in (("goodput_mbps", rates), ("rtt_mean_ms", delays))
    )
    present = {"path.rtt": "75ms"}
    text, line = _texts(["path.rtt"], ["cubic", "bbr"], goodput, rtt, **present)
    assert text.startswith("bbr instead of cubic (path.rtt=75ms): ")
    assert line == (
        "On Linux, sender (server): sysctl -w net.core.default_qdisc=fq "
        "net.ipv4.tcp_congestion_control=bbr"
    )
    # A buffer is a setting.
    present = {"path.buffer": "75ms"}
    texts = _texts(["path.buffer"], ["cubic", "bbr"], goodput, rtt, **present)
    assert any(each.startswith("best of both: path.buffer=10ms with bbr") for each in texts), texts


@pytest.mark.parametrize("seed", range(3))
def test_a_cca_is_described_at_the_condition_where_it_gains_most(seed: int) -> None:
    draw = random.Random(seed)
    losses = ["0", "0.1%", "1%", "2%"]
    draw.shuffle(losses)
    cubic, bbr = ({loss: draw.uniform(1, 9) for loss in losses} for _ in range(2))
    cubic["0"] = bbr["0"] = 9.0
    gains = {loss: bbr[loss] / cubic[loss] for loss in losses}
    most = max(gains, key=gains.__getitem__)
    both = {"cubic": cubic, "bbr": bbr}
    rates = {f"{loss} with {cca}": of[loss] for loss in losses for cca, of in both.items()}
    goodput = _stake("flow", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    texts = _texts(["path.loss"], ["cubic", "bbr"], goodput, **{"path.loss": "0"})
    changes = [text for text in texts if text.startswith("bbr instead of cubic (path.loss=")]
    expected = [most] if gains[most] > 1 else []
    assert [re.findall(r"path.loss=([^)]*)", text)[0] for text in changes] == expected
    if expected:
        assert (
            changes[0]
            .partition(": ")[2]
            .startswith(f"flow goodput {bbr[most]:.2f} Mbit/s instead of {cubic[most]:.2f}")
        )


@pytest.mark.parametrize("seed", range(6))
def test_a_cca_has_lines_only_where_it_is_better_over_all_conditions(seed: int) -> None:
    draw = random.Random(seed)
    losses = ["0", "0.1%", "1%", "2%"]
    cubic = {loss: draw.uniform(1, 9) for loss in losses}
    # Better at the loss of the scenario, and up to three times better or worse elsewhere.
    gains = {loss: 3 ** draw.uniform(-1, 1) for loss in losses} | {"0": 1.1}
    bbr = {loss: gains[loss] * cubic[loss] for loss in losses}
    rates = {
        f"{loss} with {cca}": of[loss]
        for loss in losses
        for cca, of in (("cubic", cubic), ("bbr", bbr))
    }
    goodput = _stake("flow", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    texts = _texts(["path.loss"], ["cubic", "bbr"], goodput, **{"path.loss": "0"})
    worse = [loss for loss in losses if gains[loss] < 1]
    found = [text for text in texts if text.startswith("bbr is worse than cubic under ")]
    assert len(found) == bool(worse)
    if found:
        assert f"under {len(worse)} of 4 conditions, " in found[0]
        assert f"with path.loss={min(worse, key=gains.__getitem__)}: " in found[0]
    has_line = any(text.startswith("On Linux") for text in texts)
    assert has_line == (math.prod(gains.values()) > 1)


def test_a_cca_that_is_undecided_under_a_condition_has_no_line() -> None:
    rates = {"32 with cubic": _around(9.2), "32 with dctcp": _around(8.9), "64 with cubic": _around(17)}
    rates["64 with dctcp"] = [18.0, 17.0, 300.0]
    stake = _stake("read", "completion_max_s", rates)
    texts = _texts(["flows.0.count"], ["cubic", "dctcp"], stake, **{"flows.0.count": "32"})
    assert [text.partition(": ")[0] for text in texts] == ["dctcp instead of cubic (flows.0.count=32)"]


def test_linux_lines_of_a_buffer_in_bdps_have_the_rtt_and_the_rate_of_their_condition() -> None:
    vary = ["path.buffer=8bdp,2bdp", "path.rtt=40ms,80ms", "path.down.rate=8Mbit/s,16Mbit/s"]
    texts = ct.sweep("steady-20-18", vary, "cubic", 2, duration="20s").field_changes
    lines = [text for text in texts if "bfifo limit" in text]
    assert lines
    for line in lines:
        rtt_ms, mbps = map(float, re.findall(r"path\.\S+=(\d+)(?:ms|Mbit/s): ", line))
        limit = float(re.findall(r"bfifo limit (\d+)", line)[0])
        assert limit / (125 * rtt_ms * mbps) in (2.0, 8.0), line
    assert len({re.findall(r"bfifo limit (\d+)", line)[0] for line in lines}) > 1


@pytest.mark.parametrize("gain", [1.0, 0.5])
def test_a_change_of_two_settings_that_gains_nothing_beyond_one_is_no_advice(gain: float) -> None:
    times = {"20 with cubic": 0.2, "600 with cubic": 4.5, "20 with vegas": 0.084 * gain}
    times["600 with vegas"] = 0.084
    values = {name: _around(of, 0.001) for name, of in times.items()}
    texts = _texts(
        ["buffer"], ["cubic", "vegas"], _stake("ping", "response_p95_s", values), buffer="600"
    )
    changes = [text.partition(":")[0] for text in texts if " instead of " in text.partition(":")[0]]
    both = "buffer=20 instead of 600 and vegas instead of cubic"
    assert (both in changes) == (gain < 1)
    assert "vegas instead of cubic (buffer=600)" in changes


@pytest.mark.parametrize("seed", range(4))
def test_a_trade_off_of_ccas_changes_no_field_that_has_no_effect(seed: int) -> None:
    draw = random.Random(seed)
    buffers = draw.sample(["20", "60", "100", "300", "600"], 3)
    rates = {f"{buffer} with {cca}": of for buffer in buffers for cca, of in (("cubic", 6), ("bbr", 9))}
    times = {name: 0.01 * rate for name, rate in rates.items()}
    stakes = [
        _stake(
            flow, metric, {name: _around(draw.uniform(0.999, 1.001) * of) for name, of in all_.items()}
        )
        for flow, metric, all_ in (("bulk", "goodput_mbps", rates), ("ping", "response_p95_s", times))
    ]
    start = draw.choice(buffers)
    texts = _texts(["buffer"], ["cubic", "bbr"], *stakes, buffer=start)
    figures = re.match(
        rf"trade-off of buffer: {start} with cubic: ping response p95 ([\d.]+) ms for .*; "
        rf"{start} with bbr: ([\d.]+) ms for ",
        texts[0],
    )
    assert figures, texts[0]
    assert [*map(float, figures.groups())] == pytest.approx([60, 90], rel=2e-3)
    assert any(text.startswith(f"bbr instead of cubic (buffer={start}): ") for text in texts)
    assert not any(re.search(r"buffer=\d+ instead of", text) for text in texts)


def test_what_gains_nothing_significant_against_most_goodput_is_no_knee() -> None:
    """The waits in the runs with a middle window may be those of the largest one."""
    waits = {"64kB": _around(0.88), "200kB": [0.9, 0.95, 1.46], "1MB": [1.25, 1.29, 1.33]}
    rates = {"64kB": 6.95, "200kB": 15.75, "1MB": 16.36}
    web = _stake("web", "page_load_s", waits)
    bulk = _stake("bulk", "goodput_mbps", {name: _around(of, 0.001) for name, of in rates.items()})
    texts = _texts(["window"], ["cubic"], web, bulk, window="1MB")
    assert texts[0].startswith("best means of both: window=200kB, with ")
    assert "; undecided against 1MB (try --runs 10" in texts[0]
    sure = _stake("web", "page_load_s", {**waits, "200kB": _around(1.1)})
    texts = _texts(["window"], ["cubic"], sure, bulk, window="1MB")
    assert texts[0].startswith("best balance: window=200kB, with ")


def test_where_no_combination_is_better_each_value_has_its_field() -> None:
    times = {"40ms, true": 0.9, "40ms, false": 0.8, "200ms, true": 0.5, "200ms, false": 0.502}
    stake = _stake("web", "response_p95_s", {name: _around(of, 1e-4) for name, of in times.items()})
    start = {"tcp.min_rto": "200ms", "tcp.tlp": "true"}
    text, *_ = _texts(["tcp.min_rto", "tcp.tlp"], ["cubic"], stake, **start)
    assert text == (
        "No value is significantly better than tcp.min_rto=200ms and tcp.tlp=true (as in the "
        "scenario); "
        "worse: tcp.min_rto=40ms and tcp.tlp=true, tcp.min_rto=40ms and tcp.tlp=false; "
        "as good: tcp.min_rto=200ms and tcp.tlp=false"
    )


def test_the_most_goodput_with_which_a_call_works_is_labelled_so() -> None:
    late = {"60kB": 0.001, "200kB": 0.02, "800kB": 0.9}
    rates = {"60kB": 14.0, "200kB": 18.0, "800kB": 19.0}
    call = _stake("call", "late_share", {name: _around(of) for name, of in late.items()})
    download = _stake("dl", "goodput_mbps", {name: _around(of, 1e-3) for name, of in rates.items()})
    field = "tcp.receive_window_max"
    texts = _texts([field], ["cubic"], call, download, **{field: "800kB"})
    assert "call fails with 800kB: 90.0 % of the frames are late" in texts
    needs = [text.split(":")[0] for text in texts if text.startswith("On Linux, ")]
    assert list(dict.fromkeys(needs)) == [
        "On Linux, 60kB for call",
        "On Linux, 200kB for dl where call works",
    ]


def test_a_value_for_goodput_that_is_not_the_best_one_has_its_share() -> None:
    """The last 3 % of the goodput of a window are not worth a fifth of the delay of a game."""
    delays = {"60kB": 0.055, "150kB": 0.121, "200kB": 0.146, "1MB": 0.6}
    rates = {"60kB": 25.3, "150kB": 35.6, "200kB": 36.6, "1MB": 36.6}
    game = _stake("game", "response_p95_s", {name: _around(of, 1e-3) for name, of in delays.items()})
    download = _stake("dl", "goodput_mbps", {name: _around(of, 1e-3) for name, of in rates.items()})
    field = "tcp.receive_window_max"
    texts = _texts([field], ["cubic"], game, download, **{field: "1MB"})
    assert any(text.startswith("On Linux, 60kB for game: ") for text in texts)
    share = "150kB for dl (97 % of the goodput of 200kB)"
    assert any(text.startswith(f"On Linux, {share}: ") for text in texts), texts


def test_worse_in_both_is_what_one_rival_is_better_than_in_both() -> None:
    """One has more goodput at more delay, another hardly more goodput: neither is better in both."""
    delays = {"a": [54.3, 54.2, 54.4], "b": [59.7, 59.6, 59.8], "c": [54.4, 54.3, 54.5]}
    rates = {"a": [7.8, 8.8, 6.8], "b": [14.4, 14.3, 14.5], "c": [7.6, 6.4, 8.9]}
    delay, rate = _stake("x", "rtt_mean_ms", delays), _stake("x", "goodput_mbps", rates)
    texts = _texts(["rto"], ["cubic"], delay, rate, rto="c")
    assert "Worse in both" not in texts[0], texts[0]


def test_where_a_call_works_with_the_start_alone_a_line_says_so() -> None:
    """More goodput with which a call fails is no better value."""
    late = {"2Mbit/s": _around(0.02), "8Mbit/s": [0.0, 1.0, 0.74], "40Mbit/s": [0.0, 1.0, 0.74]}
    rates = {"2Mbit/s": 2.0, "8Mbit/s": 3.5, "40Mbit/s": 3.5}
    call = _stake("call", "late_share", late)
    sync = _stake("sync", "goodput_mbps", {name: _around(of) for name, of in rates.items()})
    texts = _texts(["cap"], ["cubic"], call, sync)
    assert texts == [
        "call works with no other value than cap=2Mbit/s (the first one given)",
        "call fails with 8Mbit/s, 40Mbit/s: 58.0 % of the frames are late at best",
    ]


def test_choices_that_are_as_good_for_all_flows_have_one_line() -> None:
    """Values of a field do not matter where the CCA decides, whichever has the best mean."""
    bbr = {"16kB": (0.0650, 18.9), "128kB": (0.0651, 18.91), "1MB": (0.0648, 18.93)}
    both = {f"{size} with bbr": of for size, of in bbr.items()}
    both |= {f"{size} with cubic": (0.097, 19.2) for size in bbr}
    ssh, download = (
        _stake(flow, metric, {name: _around(of[index], 1e-4) for name, of in both.items()})
        for index, (flow, metric) in enumerate((("ssh", "response_p95_s"), ("dl", "goodput_mbps")))
    )
    field = "tcp.notsent_lowat"
    texts = _texts([field], ["cubic", "bbr"], ssh, download, **{field: "16kB"})
    lines = [text for text in texts if text.startswith("On Linux")]
    assert len(lines) == 1
    assert lines[0].startswith("On Linux, sender (server): sysctl -w ")
