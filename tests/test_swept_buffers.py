"""Swept buffers: bandwidth-delay products, the knee of goodput, and buffers that change nothing."""

import random
import re
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands

#: Buffers in bandwidth-delay products.
BDPS = (0.1, 0.25, 0.5, 1.0, 1.6, 3.0, 6.0)


def _texts(cca: str, seed: int) -> tuple[str, list[int], int]:
    """Returns the sentences, the buffers, and the BDP, in packets, of a drawn path."""
    draw = random.Random(seed)
    mbps, rtt_ms = draw.randint(20, 60), draw.randint(30, 90)
    bdp = round(mbps * 1e3 * rtt_ms / 8 / 1500)
    buffers = [round(bdps * bdp) for bdps in BDPS]
    changes = {"path.down.rate": f"{mbps}Mbit/s", "path.rtt": f"{rtt_ms}ms", "path.loss": 0}
    vary = {"path.buffer": [f"{buffer}packets" for buffer in buffers]}
    sweep = ct.sweep("steady-20-68", vary, cca, 2, duration="60s", set=changes)
    return " ".join(sweep.field_changes), buffers, bdp


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("cca", "low", "high"), [("reno", 0.5, 1.0), ("cubic", 0.25, 0.5)])
def test_the_knee_of_goodput_is_the_buffer_that_keeps_the_link_busy_after_a_reduction(
    cca: str, low: float, high: float, seed: int
) -> None:
    """A window of beta (BDP + buffer) fills the path: 1/beta - 1 BDP, of Reno 1, of CUBIC 0.43."""
    text, buffers, bdp = _texts(cca, seed)
    found = re.search(r"products, of \S+ kB, or (\d+) packets", text)
    assert found, text
    assert int(found[1]) == pytest.approx(bdp, rel=0.05), text
    knee = re.search(r"goodput has its knee at (\d+)packets \((\S+) BDP\)", text)
    assert knee, text
    assert int(knee[1]) in [buffers[BDPS.index(each)] for each in (low, high)], text
    assert float(knee[2]) == pytest.approx(int(knee[1]) / bdp, rel=0.06), text
    assert "only the mean RTT grows" in text
    needed = re.search(r"one connection needs (\S+) BDP to fill a link of steady rate", text)
    assert "of this link varies" not in text
    assert needed, text
    assert low < float(needed[1]) <= high
    assert f"{buffers[0]}packets is the smallest buffer given: smaller ones were not tried" in text


@pytest.mark.parametrize("seed", range(2))
def test_no_buffer_changes_bbr_at_a_steady_rate(seed: int) -> None:
    """BBR drains what its probes leave, so that it has about one BDP in flight."""
    text, *_ = _texts("bbr", seed)
    match = re.search(r"bbr: .* as it paces at .* \((\S+) BDP in flight\)", text)
    assert match, text
    assert float(match[1]) == pytest.approx(1.0, abs=0.25), text


@pytest.mark.parametrize("seed", range(2))
def test_a_buffer_beyond_the_window_of_bbr_changes_nothing_at_a_rate_that_varies(seed: int) -> None:
    """Its window is twice the BDP of the highest rate, of which the path holds one BDP."""
    draw = random.Random(seed)
    rates = [draw.choice((10, 20, 30, 40)) for _ in range(300)]
    steps = [{"at": f"{100 * n}ms", "rate": f"{rate}Mbit/s"} for n, rate in enumerate(rates)]
    changes = {"path.down": {"steps": steps}, "path.rtt": f"{draw.randint(40, 60)}ms", "path.loss": 0}
    vary = {"path.buffer": ["30packets", "100packets", "500packets", "1000packets", "3000packets"]}
    sweep = ct.sweep("steady-20-68", vary, ["bbr", "cubic"], 2, duration="30s", set=changes)
    pattern = r"bbr: .*from 500packets .*on nothing changes, as its window is 2 .* \((\S+) BDP"
    (match,) = filter(None, (re.match(pattern, each) for each in sweep.field_changes))
    assert 1.5 <= float(match[1]) <= 2.2 * max(rates) / fmean(rates), match[0]
    # What fills every buffer has no such end.
    assert not any(re.match(r"cubic: .*nothing changes", each) for each in sweep.field_changes)


@pytest.mark.parametrize("count", [2, 4])
def test_the_bdp_is_that_of_the_link_whatever_the_number_of_connections(count: int) -> None:
    """Of 20 Mbit/s at 68 ms, 170 kB with headers: 113 packets."""
    vary, changes = "path.buffer=50packets,200packets", {"flows": [{"name": "bulk", "count": count}]}
    sweep = ct.sweep("steady-20-68", vary, "cubic", 2, duration="20s", set=changes)
    found = re.search(r"or (\d+) packets", sweep.field_changes[0])
    assert found, sweep.field_changes
    assert int(found[1]) == pytest.approx(20e6 * 0.068 / 8 / 1500, rel=0.05)


def test_the_knee_is_named_for_buffers_in_bdps_too() -> None:
    vary = {"path.buffer": ["0.1bdp", "1bdp", "4bdp"]}
    sweep = ct.sweep("steady-20-68", vary, "reno", 2, duration="40s", set={"path.loss": 0})
    (text,) = [each for each in sweep.field_changes if "knee" in each]
    assert text.startswith("reno: goodput has its knee at 1bdp, where it is ")


def test_advice_starts_from_the_knee_and_no_value_of_the_sweep_beats_it(tmp_path: Path) -> None:
    changes = {"path.down.rate": "24Mbit/s", "path.rtt": "40ms", "path.loss": 0}
    vary = {"path.buffer": ["20packets", "80packets", "600packets", "2000packets"]}
    folder = tmp_path / "s"
    ct.sweep("steady-20-68", vary, "cubic", 2, duration="30s", set=changes, out=folder)
    explained = ct.explain(folder)
    assert any(each.cause == "queue" for each in explained.comparisons["600packets"].remedies)
    assert not any(
        "000packets" in each or "600packets" in each for each in explained.remedy_commands(folder)
    )


def test_an_explanation_of_a_sweep_says_each_cause_once(tmp_path: Path) -> None:
    """All of these buffers are beyond the knee, so that a queue stands in each."""
    changes = {"path.down.rate": "24Mbit/s", "path.rtt": "40ms", "path.loss": 0}
    vary = {"path.buffer": ["200packets", "400packets", "600packets"]}
    sweep = ct.sweep("steady-20-68", vary, "cubic", 2, duration="30s", set=changes)
    text = ct.explain(sweep).text
    (queue,) = re.findall(r"packets waited (\d+) to (\d+) ms on average", text)
    waits = [sweep[value].values("cubic", "induced_delay_ms") for value in vary["path.buffer"]]
    assert [float(each) for each in queue] == pytest.approx(
        [fmean(waits[0]), fmean(waits[-1])], rel=0.15
    )
    assert "200packets to 600packets: cubic: " in text
    sweep.save(tmp_path / "s")
    printed = CliRunner().invoke(commands, ["explain", str(tmp_path / "s")]).stdout
    assert len(re.findall("A queue stood", printed)) == 1
    # The first column has the point.
    assert all(re.search(rf"│ {value} +│ cubic", printed) for value in vary["path.buffer"])


def test_advice_that_all_points_share_names_them_by_their_number(tmp_path: Path) -> None:
    """Random losses keep the window of Reno below the BDP, whatever the RTT here."""
    vary = {"path.loss": ["0.003", "0.01"], "path.rtt": ["60ms", "120ms"]}
    ct.sweep("steady-100-18", vary, "reno", 1, duration="20s", out=tmp_path / "s")
    tries = ct.explain(tmp_path / "s").remedy_commands(tmp_path / "s")
    text = "# all 4 comparisons: against a window that random losses keep small"
    assert any(text in each for each in tries), tries
