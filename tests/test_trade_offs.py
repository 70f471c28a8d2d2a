"""Trade-offs between the flows of a workload: texts of gains, losses and of what is undecided."""

import functools
import math
import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.metrics import best_by_metric
from celltcp.comparison.report.front_page import settings_section
from celltcp.comparison.retransmitted import ResentShare
from celltcp.comparison.sweep.advice import best_points
from celltcp.comparison.sweep.best_values import advice_rankings
from celltcp.comparison.sweep.trade_offs import trade_off_of
from celltcp.comparison.verdicts.harm import costs_more
from celltcp.comparison.verdicts.stakes import Stake, trade_off_texts
from celltcp.results.statistics import estimate
from workloads import DEEP_BUFFER, GAME

if TYPE_CHECKING:
    from celltcp.comparison.sweep.knees import Choices

#: A game and a page beside a download that ends before the run does: flows have times of their own.
SCENARIO = f"""
name = "mixed"
duration = "10s"
{DEEP_BUFFER}[[flows]]
name = "download"
start = "0s"
[[flows]]
name = "game"
cca = "cubic"
start = "3s"
workload = {GAME}
"""

PING = {"kind": "request-response", "response": "64B", "gap": "100ms", "think": "0ms"}
WEB = {"kind": "sequence", "size": "177kB", "gap": "1666ms"}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> ct.Comparison:
    file = tmp_path_factory.mktemp("mixed") / "mixed.toml"
    file.write_text(SCENARIO)
    return ct.compare(file, cca="cubic,reno,bbr,vegas", runs=3)


def _stake(metric: str, **values: list[float]) -> Stake:
    return Stake("game", metric, "figure", values, best_by_metric(metric, values, random=True))


@pytest.mark.parametrize(("faster_s", "is_listed"), [(0.0313, False), (0.027, True)])
def test_a_gain_of_a_few_per_cent_of_the_time_is_no_trade_off(faster_s: float, is_listed: bool) -> None:
    """0.031 s instead of 0.032 are nothing for which to give up a third of the goodput."""
    stakes = [
        _stake("goodput_mbps", cubic=[30.0, 30.1, 29.9], reno=[20.0, 20.1, 19.9]),
        _stake("response_p95_s", cubic=[0.0322, 0.0321, 0.0323], reno=[faster_s] * 3),
    ]
    compared = SimpleNamespace(stakes=stakes, decides=True, ccas=["cubic", "reno"])
    texts = trade_off_texts(cast("ct.Comparison", compared))
    assert bool(texts) == is_listed, texts


def test_goodput_is_that_of_the_table_and_all_ccas_with_a_gain_are_listed(mixed: ct.Comparison) -> None:
    texts = mixed.trade_offs
    usual = mixed.best_by("goodput_mbps").verdict.leader
    means = {cca: estimate(mixed.values(cca, "goodput_mbps")).mean for cca in mixed.ccas}
    listed = [text.split(" ")[0] for text in texts]
    assert {"bbr", "vegas"} <= set(listed)
    for cca, text in zip(listed, texts, strict=True):
        assert text.startswith(f"{cca} instead of {usual}: download goodput ")
        if " instead of " in text.split(": ", 1)[1].split(";")[0]:
            assert f"{means[cca]:.2f} Mbit/s instead of {means[usual]:.2f}" in text
    # The one that is best for the game comes first.
    assert listed[0] == mixed.best_by("response_p95_s:game").verdict.leader


def test_a_cca_for_another_need_is_set_only_if_it_gains_more_than_it_costs(tmp_path: Path) -> None:
    """Responses want BBR; Westwood leaves transfers beside them 5 % more, and doubles their time."""
    file = tmp_path / "shared.toml"
    file.write_text("""
name = "shared"
duration = "25s"
path = { rtt = "43ms", down = { rate = "9Mbit/s" }, buffer = "4bdp" }
[[flows]]
name = "main"
workload = { kind = "request-response", response = "145kB", gap = "300ms" }
[[flows]]
name = "other"
cca = "cubic"
count = 4
""")
    result = ct.compare(file, "westwood,bbr", 2)
    explained = ExplainedComparison(result)
    ccas = [each["cca"] for each in explained.settings]
    assert ccas == ["bbr on main"]
    assert any(text.startswith("westwood instead of bbr: ") for text in result.trade_offs)
    section = settings_section(result)
    assert section is not None
    assert (
        "For other (goodput): not westwood on main (other flows lose more by it than with bbr)."
        in section.text
    )
    stakes = [
        _stake("response_s", bbr=[1.0, 1.1], westwood=[1.2, 1.3]),
        _stake("goodput_mbps", bbr=[4.0, 4.1], westwood=[7.0, 7.1])._replace(flow="other"),
    ]
    assert not costs_more(stakes, "westwood", "bbr", ["other"])
    assert costs_more(stakes, "bbr", "westwood", ["game"])


def test_a_change_that_the_interval_does_not_exclude_is_undecided() -> None:
    wide = _stake("response_p95_s", cubic=[0.4, 0.6], bbr=[0.5, 0.4])
    assert wide.text("bbr", "cubic") == "game response p95 undecided (0.450 against 0.500 s)"
    assert not wide.is_gain("bbr", "cubic")
    narrow = _stake("response_p95_s", cubic=[0.5, 0.501, 0.499], bbr=[0.5, 0.499, 0.5])
    assert narrow.text("bbr", "cubic") == "game response p95 unchanged"
    sure = _stake("goodput_mbps", cubic=[10.0, 10.1, 9.9], bbr=[5.0, 5.1, 4.9])
    assert sure.text("bbr", "cubic") == "game goodput 5.00 Mbit/s instead of 10.00 (-50 %)"
    assert sure.is_gain("cubic", "bbr")


def test_what_has_no_value_is_said_in_words() -> None:
    none = [math.nan, math.nan]
    stake = _stake("page_load_s", cubic=[2.0, 2.1], bbr=none, reno=none)
    assert stake.text("bbr", "cubic") == "game page load mean no value instead of 2.050"
    assert stake.text("cubic", "bbr") == "game page load mean 2.050 s instead of no value"
    assert "nan" not in stake.text("bbr", "reno")
    assert not stake.is_gain("bbr", "cubic")


def test_one_run_of_a_random_scenario_has_no_trade_off(tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(SCENARIO)
    result = ct.compare(tmp_path / "mixed.toml", cca="cubic,bbr", runs=1)
    assert not result.decides
    assert trade_off_texts(result) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_sweep_of_a_shaper_has_the_best_rate_beside_each_cca(seed: int) -> None:
    """The owner of a home line sets its shaper, and no CCA of servers."""
    draw = random.Random(seed)
    slow = draw.uniform(8, 15)
    steps = [{"at": f"{2 * n}s", "rate": f"{slow * (1 + n % 3):.1f}Mbit/s"} for n in range(16)]
    ping = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "100ms"}
    changes = {
        "path.rtt": f"{draw.randint(20, 60)}ms",
        "path.buffer": "1500packets",
        "path.down": {"steps": steps},
        "path.wired": [{"name": "shaper", "rate": "1Gbit/s", "queue": "fq-codel"}],
        "flows": [
            {"name": "bulk"},
            {"name": "thin", "cca": "cubic", "workload": {**ping, "think": "0ms"}},
        ],
    }
    rates = [f"{share * slow:.1f}Mbit/s" for share in (0.5, 0.9, 1.7)]
    vary = {"path.wired.0.rate": [*rates, "1Gbit/s"]}
    sweep = ct.sweep("steady-20-18", vary, "cubic,bbr", 2, duration="32s", set=changes)
    texts = sweep.field_changes
    trade_offs = [text for text in texts if "trade-off of path.wired.0.rate" in text]
    assert [text.partition(":")[0] for text in trade_offs] == ["cubic", "bbr"]
    assert not any(" with bbr" in text or " with cubic" in text for text in texts)
    knee = re.search(r"rate: ([\d.]+)Mbit/s is the knee", trade_offs[0])
    assert knee, texts
    assert any(f"cake bandwidth {1e3 * float(knee[1]):.0f}kbit" in text for text in texts)
    # Explanations start from the same rate, or from the one of a chosen metric.
    assert best_points(sweep)[0] == (f"{knee[1]}Mbit/s",)
    assert best_points(sweep, ["goodput_mbps:bulk"]) == [("1Gbit/s",)]
    # The CCA is compared without a shaper.
    assert sum("bbr instead of cubic (path.wired.0.rate=1Gbit/s): " in text for text in texts) == 1


def test_a_buffer_without_an_effect_has_no_trade_off_beside_each_cca() -> None:
    """Random losses keep the queue empty: the CCAs alone differ."""
    changes = {
        "path.loss": 0.005,
        "flows": [
            {"name": "bulk"},
            {"name": "thin", "cca": "cubic", "workload": {"kind": "request-response", "gap": "0.1s"}},
        ],
    }
    vary = {"path.buffer": ["60packets", "300packets"]}
    texts = ct.sweep("steady-20-68", vary, "cubic,bbr", 2, duration="20s", set=changes).field_changes
    assert texts
    assert not any(text.startswith(("cubic: ", "bbr: ")) for text in texts), texts


@pytest.mark.parametrize(
    ("rate", "cca", "pattern"),
    [
        # A short buffer shortens the queue of BBR, but overflows while the windows of pages grow.
        (
            12,
            "bbr",
            r"best of both: path.buffer=20packets.* but web completion mean [\d.]+ s instead",
        ),
        # The 95th percentile has the repairs of losses, the median and the pages the shorter queue.
        (
            9,
            "reno",
            r"best balance: path.buffer=20packets, with ping response mean .*; "
            r"but by response p95 100packets, ",
        ),
    ],
)
def test_a_trade_off_of_two_flows_says_what_a_third_one_and_the_median_have(
    rate: int, cca: str, pattern: str
) -> None:
    changes = {
        "path.rtt": "4ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.wired": [{"name": "home", "rate": "1Gbit/s"}],
        "flows": [
            {"name": "bulk"},
            {"name": "ping", "cca": "reno", "workload": PING},
            {"name": "web", "cca": "reno", "workload": WEB},
        ],
    }
    vary = {"path.buffer": ["20packets", "100packets", "300packets"]}
    sweep = ct.sweep("steady-20-68", vary, cca, 3, duration="40s", set=changes)
    assert re.search(pattern, " ".join(sweep.field_changes)), sweep.field_changes


@pytest.mark.parametrize("seed", range(2))
def test_the_advice_of_a_sweep_is_for_its_best_value(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    changes = {
        "path.down.rate": f"{draw.randint(8, 30)}Mbit/s",
        "path.buffer": "1000packets",
        "flows": [
            {"name": "bulk"},
            {"name": "thin", "workload": {"kind": "request-response", "response": "200B"}},
        ],
    }
    vary = {"path.queue": ["droptail", "fq-codel"]}
    folder = tmp_path / "s"
    sweep = ct.sweep("steady-20-68", vary, "cubic", 3, duration="15s", set=changes, out=folder)
    assert best_points(sweep) == [("fq-codel",)]
    explained = ct.explain(folder)
    # A standing queue needs no other advice than the value that is best.
    assert any(each.cause == "queue" for each in explained.comparisons["droptail"].remedies)
    assert not any("droptail" in each for each in explained.remedy_commands(folder))
    # Nobody chooses a condition.
    assert best_points(ct.sweep("steady-20-68", "path.loss=0,0.01", "cubic", 2, duration="5s")) == []


def test_the_knee_of_a_shaper_is_where_the_delay_has_fallen_by_a_large_factor() -> None:
    """Delays count by their ratios: a rate that takes a few of many queues away is no knee."""
    rates = (20, 12, 18, 6, 16, 9, 20, 7)
    steps = [{"at": f"{2 * n}s", "rate": f"{rates[n % 8]}Mbit/s"} for n in range(16)]
    ping = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "100ms"}
    changes = {
        "path.rtt": "40ms",
        "path.buffer": "1500packets",
        "path.down": {"steps": steps},
        "path.wired": [{"name": "shaper", "queue": "fq-codel"}],
        "flows": [{"name": "bulk"}, {"name": "thin", "workload": {**ping, "think": "0ms"}}],
    }
    vary = "path.wired.0.rate=4Mbit/s,6Mbit/s,10Mbit/s,16Mbit/s,1Gbit/s"
    sweep = ct.sweep("steady-20-18", vary, "cubic", 2, duration="32s", set=changes)
    start = "trade-off of path.wired.0.rate: "
    (text,) = [each for each in sweep.field_changes if each.startswith(start)]
    (knee,) = re.findall(r"rate: \S+ is the knee, with thin response p95 (\S+) s", text)
    (unshaped,) = re.findall(r"1Gbit/s: (\S+) s for", text)
    assert float(knee) < float(unshaped) / 5, text


def _front(resent: dict[str, float], **balance: float) -> list[str]:
    """Returns the front of two small buffers and a large one, with what is sent again with each."""
    around = (-0.01, 0.0, 0.01)
    columns = {
        "goodput_mbps": {"small": 16.6, "medium": 17.2, "large": 17.9},
        "rtt_mean_ms": {"small": 67.8, "medium": 72.2, "large": 87.7},
        **({"pm_balanced": balance} if balance else {}),
    }
    stakes = [
        _stake(metric, **{name: [mean + step for step in around] for name, mean in column.items()})
        for metric, column in columns.items()
    ]
    shares = {name: ResentShare(share, [share] * 3) for name, share in resent.items()}
    choices = SimpleNamespace(choices=dict.fromkeys(resent), tail_values=lambda _: [])
    found = trade_off_of(cast("Choices", choices), stakes, lambda name, _: name, resent=shares)
    assert found is not None
    return found.front


def test_what_is_sent_again_counts_against_a_few_per_cent_of_delay() -> None:
    """6 % less delay at 4 % less goodput are worth no twentieth of the segments."""
    none = dict.fromkeys(("small", "medium", "large"), 0.001)
    assert _front(none) == ["small"]
    assert _front({**none, "small": 0.075}) == ["medium"]
    # A half per cent is no price.
    assert _front({**none, "small": 0.005}) == ["small"]


def test_the_best_balance_is_that_of_the_table() -> None:
    none = dict.fromkeys(("small", "medium", "large"), 0.001)
    balances = {"small": 0.6, "medium": 0.8, "large": 0.7}
    assert _front(none, **balances) == ["medium"]
    assert _front(none, **{**balances, "small": 0.9}) == ["small"]


@functools.cache
def _cell_sweep(seed: int, directory: Path) -> ct.Sweep:
    """Returns a sweep of buffers of a drawn LTE cell with fading under CUBIC and BBR."""
    sinr = random.Random(f"cell {seed}").randint(13, 17)
    file = directory / "cell.toml"
    file.write_text(f"""
name = "cell"
duration = "30s"
path = {{ rtt = "40ms" }}
[radio]
bandwidth = "10MHz"
fading = {{ profile = "EVA", speed = "30km/h" }}
rlc = {{ buffer = "200packets" }}
ues = [{{ sinr = "{sinr}dB" }}]
""")
    vary = {"radio.rlc.buffer": [f"{packets}packets" for packets in (20, 50, 100, 300)]}
    return ct.sweep(file, vary, "cubic,bbr", 3)


@pytest.mark.parametrize("seed", range(2))
def test_a_buffer_of_a_cell_for_a_balance_is_none_in_which_bbr_repeats_a_twentieth(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """BBR pays a buffer of a fifth of a BDP with losses, and CUBIC, which others use, with its rate."""
    sweep = _cell_sweep(seed, tmp_path_factory.getbasetemp())
    (ranking,) = advice_rankings(sweep)
    (balance,) = (stake for stake in ranking.stakes if stake.metric == "pm_balanced")
    resent = ranking.resent_shares()
    (text,) = (each for each in sweep.field_changes if each.startswith("best "))
    value, _, cca = text.partition(", with ")[0].partition("=")[2].partition(" with ")
    name = f"{value} with {cca}"
    assert resent[name].total < 0.02 < resent["20packets with bbr"].total
    assert not balance.is_gain(str(balance.verdict.leader), name)


@pytest.mark.parametrize("seed", range(2))
def test_retransmissions_that_a_larger_buffer_avoids_are_named_beside_its_delay(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sweep = _cell_sweep(seed, tmp_path_factory.getbasetemp())
    flows = [point.flows[point.flows["cca"] == "bbr"] for point in sweep.points.values()]
    shares = [100 * each["retransmissions"].sum() / each["segments"].sum() for each in flows]
    (text,) = (each for each in sweep.field_changes if each.startswith("bbr: "))
    found = re.search(r"retransmissions fall, ([\d.]+) % to ([\d.]+) % of the segments", text)
    assert found, text
    assert "only the mean RTT" not in text
    assert float(found[2]) == pytest.approx(shares[-1], abs=0.06)
    assert min(abs(float(found[1]) - share) for share in shares[:-1]) < 0.06
