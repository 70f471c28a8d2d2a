"""Advice by the metric that `compare --by` asked for, with one figure for one thing."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.cli.explain import _print_settings, _without_repeats
from celltcp.results.statistics import estimate

_SCENARIO = """
name = "ping-beside-download"
duration = "40s"
[path]
rtt = "{rtt}ms"
down = {{ rate = "{rate}Mbit/s" }}
up = {{ rate = "5Mbit/s" }}
buffer = "{bdps}bdp"
[[flows]]
name = "download"
[[flows]]
name = "ping"
cca = "cubic"
[flows.workload]
kind = "request-response"
request = "100B"
response = "200B"
gap = "100ms"
"""


def _compared(tmp_path: Path, seed: int, *by: str) -> Path:
    """Returns the folder of a comparison that ranked by metrics."""
    draw = random.Random(seed)
    values = {"rtt": draw.randint(20, 60), "rate": draw.randint(10, 25), "bdps": draw.randint(4, 8)}
    (tmp_path / "s.toml").write_text(_SCENARIO.format(**values))
    arguments = ["compare", str(tmp_path / "s.toml"), "--cca", "cubic,bbr", "--runs", "2", "-q"]
    asked = [argument for metric in by for argument in ("--by", metric)]
    done = CliRunner().invoke(commands, [*arguments, *asked, "--out", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    return tmp_path / "r"


@pytest.mark.parametrize("seed", range(2))
def test_alternatives_are_those_for_the_metric_that_was_asked_for(tmp_path: Path, seed: int) -> None:
    """A ping ranks by its 95th percentile, and the download by its RTT only if that is asked for."""
    folder = _compared(tmp_path, seed, "rtt_p95_ms:download")
    explained = ct.explain(str(folder)).comparisons[""]
    conclusion = explained.conclusion
    assert conclusion.best is not None
    assert conclusion.best.metric == "rtt_p95_ms"
    assert conclusion.alternatives is not None
    row, *others = conclusion.alternatives.to_json()
    # The first metric is the one asked for, and every alternative improves it.
    assert next(iter(row["metrics"])) == "rtt_p95_ms:download"
    values = [each["metrics"]["rtt_p95_ms:download"] for each in (row, *others)]
    assert len(others) > 1
    assert all(value < values[0] for value in values[1:])
    cubic = estimate(ct.load(folder).values("cubic", "rtt_p95_ms")).mean
    assert values[0] == pytest.approx(cubic)
    (setting,) = explained.settings
    assert setting["cca"] == "bbr on download"
    assert setting["need"].startswith("download (p95 RTT)")
    usual = ct.explain(ct.load(folder)).comparisons[""].conclusion.best
    assert usual is not None
    assert usual.metric == "response_p95_s"


@pytest.mark.parametrize("seed", range(2))
def test_the_conclusion_has_the_figures_of_the_table(tmp_path: Path, seed: int) -> None:
    folder = _compared(tmp_path, seed, "rtt_p95_ms:download")
    conclusion = ct.explain(str(folder)).comparisons[""].conclusion
    assert conclusion.best is not None
    assert conclusion.alternatives is not None
    rows = conclusion.alternatives.to_json()
    alone = next(row for row in rows if row["options"] == "--cca bbr")
    value = alone["metrics"]["rtt_p95_ms:download"]
    without = re.search(r" bbr has ([\d.]+) ms(?: without it)?", conclusion.best.text)
    assert without is not None
    assert float(without[1]) == pytest.approx(value, abs=0.05)
    first = re.search(r": ([\d.]+) ms by ", conclusion.best.text)
    assert first is not None
    least = min(row["metrics"]["rtt_p95_ms:download"] for row in rows)
    # That of the best is less than half of BBR's alone, as an AQM or a cap leaves no queue.
    assert least - 0.05 <= float(first[1]) < value


def test_the_best_comes_first_with_its_lines_and_the_cca_alone_after_the_table(tmp_path: Path) -> None:
    folder = _compared(tmp_path, 0)
    printed = CliRunner().invoke(commands, ["explain", str(folder)]).stdout.splitlines()
    best = ct.explain(str(folder)).comparisons[""].conclusion.best
    assert best is not None
    start = printed.index(best.text)
    assert printed[start + 1 : start + 1 + len(best.lines)] == [f"  {line}" for line in best.lines]
    table = next(index for index, line in enumerate(printed) if line.strip().startswith("Alternatives"))
    alone = next(index for index, line in enumerate(printed) if line.startswith("Without any change"))
    assert start < table < alone
    assert not any(line in best.lines for line in map(str.strip, printed[table:alone]))


def test_commands_that_a_row_shares_with_one_above_are_printed_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fq, bbr = "sysctl -w net.core.default_qdisc=fq", "modprobe tcp_bbr"
    queue = "router: tc qdisc replace dev INTERFACE root fq_codel"
    rows = [f"server: {fq}", f"server: {bbr}", f"server: {fq}; server: {bbr}", queue]
    assert _without_repeats(rows, [queue]) == rows[:2]
    # A joined line whose parts stand nowhere else stays.
    assert _without_repeats(rows[2:], [queue]) == rows[2:3]
    setting = {
        "need": "game",
        "cca": "bbr",
        "lines": [fq, bbr, "tc qdisc replace dev INTERFACE root fq"],
    }
    result = SimpleNamespace(settings=[setting], sender="server")
    _print_settings(cast("Any", result), "", rows)
    assert capsys.readouterr().out == (
        "On Linux, the server sets bbr, best for game: its lines above and\n"
        "  tc qdisc replace dev INTERFACE root fq\n"
    )


def test_the_metric_that_was_asked_for_is_that_of_a_single_cca_too() -> None:
    """A window that holds a response shortens its median, and losses of requests decide the tail."""
    workload = {"kind": "request-response", "request": "300B", "response": "20kB", "gap": "4s"}
    changes = {"path.loss": 0.005, "path.uplink_loss": 0.005, "flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic", 2, duration="500s", set=changes)
    for metric in ("response_p50_s", "response_p99_s"):
        conclusion = ct.explain(result, by=[metric]).comparisons[""].conclusion
        assert conclusion.best is not None
        assert conclusion.best.metric == metric
        assert conclusion.alternatives is not None
        row, *_ = conclusion.alternatives.to_json()
        assert next(iter(row["metrics"])) == f"{metric}:flow-1"


def test_a_sweep_by_the_time_of_pages_has_one_advice_in_sweep_explain_and_report(
    tmp_path: Path,
) -> None:
    """A short queue loses much of a short transfer, and a long one makes a ping wait."""
    web = '{name="web", cca="cubic", workload={kind="request-response", response="200kB", gap="1s"}}'
    arguments = ["sweep", "steady-20-68", "--cca", "cubic,bbr", "--runs", "2", "--duration", "30s"]
    arguments += ["--set", f'flows=[{{name="download"}}, {web}]', "--set", "path.down=10Mbit/s"]
    arguments += ["--vary", "path.buffer=10packets,120packets", "--by", "response_p50_s:web", "-q"]
    folder = str(tmp_path / "r")
    swept = CliRunner().invoke(commands, [*arguments, "--out", folder])
    assert swept.exit_code == 0, swept.output
    # Lines of tables wrap.
    (best,) = [line.strip() for line in swept.output.splitlines() if line.startswith("best balance: ")]
    assert "web response p50" in best
    explained = CliRunner().invoke(commands, ["explain", folder, "-q"])
    assert best in explained.output
    page = tmp_path / "page.md"
    done = CliRunner().invoke(commands, ["report", folder, "--page", str(page), "-q"])
    assert done.exit_code == 0, done.output
    assert best in page.read_text("utf-8").replace("\n", " ")
