"""Congestion windows as figures: mean and largest, and what recoveries make of them."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.comparison.explanation.evidence.flow_windows import FlowWindows
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.tables import frame
from celltcp.results.tested import FlowUnderTest

CHANGES = {"path.buffer": "20packets", "path.down": "20Mbit/s", "path.rtt": "60ms"}
#: Window that path and buffer hold, segments: 10 Mbit of 1500 bytes, in fact packets of 1500 bytes.
HELD = 20e6 * 0.06 / 8 / 1500 + 20


def _ran(
    folder: Path, cca: str = "reno", changes: dict[str, str] = CHANGES, duration: str = "20s"
) -> str:
    words = ["run", "steady-20-68", "--cca", cca, "--duration", duration, "--out", str(folder)]
    words += [word for each in changes.items() for word in ("--set", "=".join(each))]
    done = CliRunner().invoke(commands, words)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_run_prints_the_mean_and_the_largest_window(tmp_path: Path) -> None:
    printed = _ran(tmp_path / "out")
    found = re.search(r"cwnd mean ([\d.]+) max (\d+) segments \(([\d.]+) kB\)", printed)
    assert found is not None, printed
    mean, largest, size = map(float, found.groups())
    samples = ct.load(tmp_path / "out").samples
    assert largest == samples["cwnd"].max()
    # Path and buffer hold no larger one, but for the round trip until the loss is known.
    assert HELD <= largest <= 2.2 * HELD
    assert size == pytest.approx(largest * 1.448, rel=0.01)
    times, windows = samples["t_ns"].to_numpy(float), samples["cwnd"].to_numpy(float)
    assert mean == pytest.approx(np.average(windows[:-1], weights=np.diff(times)), rel=0.03)
    outcome = ct.load(tmp_path / "out").to_json()
    (row,) = outcome["windows"]
    assert row["cwnd_max_segments"] == largest
    assert row["cwnd_mean_segments"] == pytest.approx(mean, abs=0.05)
    explained = json.loads(
        CliRunner().invoke(commands, ["explain", str(tmp_path / "out"), "--json", "-"]).stdout
    )
    assert explained["ccas"][0]["cwnd_max_segments"] == largest


def test_windows_are_columns_on_request(tmp_path: Path) -> None:
    result = ct.compare("steady-20-68", ["reno", "cubic"], 2, duration="10s", set=CHANGES)
    result.save(tmp_path / "out")
    show = ["show", str(tmp_path / "out")]
    chosen = CliRunner().invoke(commands, [*show, "--columns", "cwnd"]).stdout
    assert "mean cwnd" in chosen
    assert "largest cwnd" in chosen
    assert "goodput" not in chosen
    usual = CliRunner().invoke(commands, [*show, "--format", "markdown"]).stdout
    assert "cwnd" not in usual
    flow = FlowUnderTest.of(result.results.about)
    for row in result.to_json()["windows"]:
        slots = result.slots[result.slots["cca"] == row["cca"]]
        means = slots.groupby("run", observed=True)["cwnd"].mean()
        windows = result.windows_of(flow, row["cca"])
        assert windows["cwnd_mean_segments"] == pytest.approx(means.tolist())
        assert row["cwnd_mean_segments"]["mean"] == pytest.approx(means.mean())
        peaks = slots.groupby("run", observed=True)["cwnd"].max().to_numpy()
        assert (np.array(windows["cwnd_max_segments"]) >= peaks).all()
    # What is at most is that of the run with the largest one.
    for each in ExplainedComparison(result).ccas:
        assert each.cwnd_max == max(result.windows_of(flow, each.cca)["cwnd_max_segments"])


def test_each_flow_that_competes_has_its_own_window() -> None:
    flows = [{"name": "one", "cca": "reno"}, {"name": "two", "cca": "cubic", "start": "4s"}]
    result = ct.compare("steady-20-68", "own", 1, duration="8s", set={**CHANGES, "flows": flows})
    windows = {each["flow"]: each["cwnd_mean_segments"]["mean"] for each in result.to_json()["windows"]}
    slots = result.slots.merge(result.flows[["flow", "name"]], on="flow")
    assert windows == pytest.approx(slots.groupby("name")["cwnd"].mean().to_dict())


@pytest.mark.parametrize(("cca", "kept"), [("reno", 0.5), ("cubic", 0.7)])
def test_a_recovery_says_from_which_to_which_window_it_went(
    tmp_path: Path, cca: str, kept: float
) -> None:
    """The same with the samples of a run and, within a slot of 100 ms, from the slots alone."""
    _ran(tmp_path / "one", cca)
    result = ct.compare("steady-20-68", [cca], 1, duration="20s", set=CHANGES)
    for source in (ct.load(tmp_path / "one"), result):
        (explained,) = ct.explain(source).comparisons[""].ccas
        later = [each.text for each in explained.events if "slow start" not in each.text]
        changes = [re.search(r"; window (\d+) to (\d+) segments", text) for text in later]
        assert changes
        for change in changes:
            assert change is not None, later
            before, after = map(int, change.groups())
            assert after / before == pytest.approx(kept, abs=0.06)
            assert before >= HELD - 3
        assert "Congestion window: " in explained.window_text


def test_a_time_out_leaves_one_segment() -> None:
    changes = {**CHANGES, "path.loss": 0.15, "tcp.tlp": False}
    (explained,) = ExplainedComparison(
        ct.compare("steady-20-68", ["reno"], 1, duration="20s", set=changes)
    ).ccas
    texts = [each.text for each in explained.events if each.kind == "timeout"]
    fallen = [text for text in texts if re.search(r"; window \d+ to 1 segment$", text)]
    # A window of one segment already cannot shrink.
    assert len(fallen) > len(texts) / 2, texts


def test_the_period_of_a_sawtooth_is_the_time_in_which_the_window_grows_back() -> None:
    """Reno with an ACK for each segment gains one segment per RTT (Kurose and Ross, section 3.7)."""
    changes = {
        "path.rtt": "20ms",
        "path.down.rate": "20Mbit/s",
        "path.buffer": "2packets",
        "tcp.tso": "1",
        "tcp.delayed_ack": "false",
    }
    compared = ct.compare("steady-20-68", ["reno"], 1, duration="40s", set=changes)
    (explained,) = ExplainedComparison(compared).ccas
    # The recovery takes an RTT for the repair, and another one until the window grows again.
    period_s = (explained.cwnd_max / 2 + 2) * 0.0205
    assert explained.sawtooth.interval_s == pytest.approx(period_s, rel=0.15)
    assert f", every {explained.sawtooth.interval_s:.3g} s; each lowers" in explained.sawtooth_text


def _sawtooth(cca: str, rtt: str, rate: str, duration: str, **more: object) -> tuple[str, list[float]]:
    """Returns the sentence on the sawtooth, and the times between the rows of the table recoveries."""
    changes = {"path.rtt": rtt, "path.down.rate": rate, "path.buffer": "1bdp", **more}
    compared = ct.compare("steady-20-68", [cca], 1, duration=duration, set=changes)
    (explained,) = ExplainedComparison(compared).ccas
    rows = frame(compared.results.tables["recoveries"])
    return explained.sawtooth_text, np.diff(rows.loc[rows["slow_start"] == 0, "t_s"]).tolist()


def test_a_window_under_cubic_is_back_after_k_or_twice_a_smaller_k_by_fast_convergence() -> None:
    """RFC 9438: K = cbrt(W_max (1 - beta) / C), and 0.85 of the window as W_max after a smaller one.

    Fast convergence lowers K, but the window is back at the former one after twice that K.
    """
    text, intervals_s = _sawtooth("cubic", "50ms", "100Mbit/s", "60s")
    mean, low, high = (f"{value:.3g}" for value in (np.mean(intervals_s), *_bounds(intervals_s)))
    assert f": {len(intervals_s) + 1}, every {mean} s on average (between {low} and {high} s)" in text
    depth = re.search(r"lowers the window by 30 %, from (\d+) to (\d+) segments", text)
    assert depth is not None, text
    window, trough = map(int, depth.groups())
    assert trough == pytest.approx(0.7 * window, abs=1)
    # The path holds twice its bandwidth-delay product.
    assert window == pytest.approx(2 * 100e6 / 8 * 0.05 / 1500, rel=0.05)
    (k_s,) = map(float, re.findall(r"regains W_max, is (\S+) s\.", text))
    assert k_s == pytest.approx((window * 0.3 / 0.4) ** (1 / 3), rel=0.01)
    numbers = re.search(
        r"W_max to (\d+) segments and K to (\S+) s, and (\d+) segments .* (\S+) s\. N", text
    )
    assert numbers is not None, text
    w_max, lower_k_s, back, back_s = map(float, numbers.groups())
    assert w_max == pytest.approx(0.85 * back, abs=1)
    assert lower_k_s == pytest.approx((back * 0.15 / 0.4) ** (1 / 3), rel=0.01)
    assert back_s == pytest.approx(2 * lower_k_s, rel=0.01)
    assert back_s == pytest.approx(max(intervals_s), rel=0.05)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cca", ["cubic", "cubic:fast_convergence=off", "cubic:beta=0.8", "reno"])
def test_windows_at_losses_give_the_times_between_them_by_the_rfc(
    tmp_path: Path, cca: str, seed: int
) -> None:
    draw = random.Random(f"{cca} {seed}")
    rtt_ms, mbps, bdps = draw.randint(20, 80), draw.randint(20, 90), round(draw.uniform(0.3, 1.5), 2)
    path = {"buffer": f"{bdps}bdp", "rtt": f"{rtt_ms}ms", "down.rate": f"{mbps}Mbit/s"}
    _ran(tmp_path / "out", cca, {f"path.{name}": value for name, value in path.items()}, "80s")
    explained = ct.explain(ct.load(tmp_path / "out")).comparisons[""]
    (text,) = re.findall("(Loss recoveries after.*)", "\n".join(explained.blocks[0]))
    (expected_s,) = map(float, re.findall(r"losses give (\S+) s", text))
    rows = frame(explained.results.tables["recoveries"])
    intervals_s = np.diff(rows.loc[rows["slow_start"] == 0, "t_s"])
    assert expected_s == pytest.approx(np.mean(intervals_s), rel=0.1), text


def test_the_reno_friendly_region_of_cubic_has_the_period_of_a_short_path() -> None:
    """RFC 9438, section 4.3: 3 (1 - beta) / (1 + beta) segments per round trip give 0.3 W back."""
    text, intervals_s = _sawtooth("cubic", "15ms", "60Mbit/s", "30s")
    numbers = re.search(r"from (\d+) to .* is ahead, and gives \d+ back in (\S+) s\.", text)
    assert numbers is not None, text
    assert "fast convergence" not in text
    window, period_s = map(float, numbers.groups())
    # The mean RTT lies between that of the path and that with a full buffer.
    assert window * 1.7 / 3 * 0.015 < period_s < window * 1.7 / 3 * 0.03
    assert period_s == pytest.approx(np.median(intervals_s), rel=0.1)


def test_reno_adds_the_lost_half_in_half_as_many_round_trips() -> None:
    text, intervals_s = _sawtooth("reno", "40ms", "60Mbit/s", "60s")
    numbers = re.search(r"from (\d+) to (\d+) .* gives (\d+) back in (\S+) s\.", text)
    assert numbers is not None, text
    window, trough, round_trips, period_s = map(float, numbers.groups())
    assert trough == pytest.approx(window / 2, abs=1)
    assert round_trips == pytest.approx(window / 2, abs=1)
    assert period_s == pytest.approx(np.median(intervals_s), rel=0.05)


@pytest.mark.parametrize("buffer", ["0.5bdp", "1bdp"])
def test_a_sawtooth_that_fills_the_link_is_in_the_answer(buffer: str) -> None:
    path = {"path.down.rate": "50Mbit/s", "path.buffer": buffer}
    compared = ct.compare("steady-20-68", ["cubic", "reno"], 2, duration="60s", set=path)
    blocks = ExplainedComparison(compared).blocks
    assert len(blocks) == 2
    for block in blocks:
        assert any("Loss recoveries after the start-up" in line for line in block), block


@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_random_losses_are_no_sawtooth(cca: str) -> None:
    text, intervals_s = _sawtooth(cca, "40ms", "60Mbit/s", "20s", **{"path.loss": 0.002})
    assert len(intervals_s) > 2
    assert not text


def _bounds(values: list[float]) -> tuple[float, float]:
    return min(values), max(values)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cca", ["cubic", "cubic:hystart=off", "reno"])
def test_windows_at_losses_by_slots_are_those_at_the_acks(cca: str, seed: int) -> None:
    """Within a slot of 100 ms the window grows by many segments on a short path, or doubles."""
    draw = random.Random(f"slots {cca} {seed}")
    rtt_ms, mbps, bdps = draw.choice([15, 30, 120]), draw.randint(30, 90), draw.uniform(0.2, 1)
    path = {"buffer": f"{bdps:.2f}bdp", "rtt": f"{rtt_ms}ms", "down.rate": f"{mbps}Mbit/s"}
    changes = {f"path.{name}": value for name, value in path.items()}
    by_acks = ct.run("steady-20-68", cca, duration="15s", set=changes).results
    by_slots = ct.compare("steady-20-68", cca, 1, duration="15s", set=changes).results
    exact, known = (FlowWindows(each, frame(each.tables["slots"])) for each in (by_acks, by_slots))
    assert exact.is_of_acks
    assert not known.is_of_acks
    rows = frame(by_slots.tables["recoveries"]).dropna(subset=["end_s"])
    assert len(rows)
    # A slot with the end of a recovery and the start of the next one has neither window.
    is_near = rows["t_s"] - rows["end_s"].shift() < 0.1
    rows = rows[~(is_near | is_near.shift(-1, fill_value=False))]
    for start_s, end_s in zip(rows["t_s"], rows["end_s"], strict=True):
        wanted, found = (each.change(0, 0, start_s, end_s, is_timeout=False) for each in (exact, known))
        assert found.before == pytest.approx(wanted.before, rel=0.04, abs=2)
        assert found.after == pytest.approx(wanted.after, rel=0.06, abs=2)


def test_a_recovery_right_after_that_of_slow_start_is_of_the_start_up() -> None:
    """A buffer of 85 packets on 155 ms: the window is 490 in slow start, and 1 380 on a full path."""
    hop = {"name": "nic", "rate": "1Gbit/s", "buffer": "10000packets"}
    sizes = {f"tcp.{name}_buffer_max": "8MB" for name in ("send", "receive")}
    path = {"path.buffer": "128kB", "path.wired": [hop]}
    text, intervals_s = _sawtooth("cubic", "155ms", "100Mbit/s", "60s", **path, **sizes)
    assert intervals_s[0] > 2 * intervals_s[1], "no recovery right after that of slow start"
    (window,) = re.findall(r"by 30 %, from ([\d ]+) to", text)
    assert int(window.replace(" ", "")) == pytest.approx(100e6 / 8 * 0.155 / 1500 + 85, rel=0.03)


def test_a_transfer_beside_a_game_has_no_sawtooth() -> None:
    """The game is who asks; the transfer alone has the sawtooth of its window."""
    frames = {"kind": "frames", "size": "200B", "interval": "50ms", "deadline": "100ms"}
    for beside in ([], [{"name": "game", "workload": frames}]):
        changes = {"path.down": "5Mbit/s", "path.buffer": "50packets"}
        flows = [{"name": "download"}, *beside]
        result = ct.compare("steady-20-18", "cubic", 1, duration="40s", set={**changes, "flows": flows})
        lines = [line for block in ExplainedComparison(result).blocks for line in block]
        assert any("Loss recoveries after the start-up" in line for line in lines) != bool(beside)
