"""Responses after pauses: why they are slow, what to change, and the lines that set it on Linux."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.lines.linux_lines import cca_line, linux_line

#: Segments of a video, one every two seconds, over a long path.
_PATH: dict[str, Any] = {
    "path.rtt": "150ms",
    "path.buffer": "750packets",
    "flows.0.workload": {
        "kind": "request-response",
        "request": "300B",
        "response": "256kB",
        "gap": "2s",
    },
}


def _explained(*ccas: str, **changes: Any) -> ExplainedComparison:
    result = ct.compare("steady-20-68", list(ccas), 1, duration="20s", set={**_PATH, **changes})
    return ExplainedComparison(result)


def test_a_window_that_shrinks_in_pauses_is_the_cause_of_slow_responses_and_has_lines_to_set() -> None:
    explained = _explained("cubic", "bbr")
    cubic, bbr = explained.ccas
    first = cubic.causes[0]
    assert first.name == "idle_restart"
    assert "slow start after idle" in first.text
    # 256 kB from 10 segments on take five round trips, four of them in slow start.
    assert 0.6 < first.weight < 0.9
    # Linux shrinks no window of a CCA that sets it itself.
    assert "idle_restart" not in {cause.name for cause in bbr.causes}
    texts = explained.remedy_commands("results")
    assert texts[0].endswith("Linux, sender (server): sysctl -w net.ipv4.tcp_slow_start_after_idle=0")
    assert texts[1].endswith("ip route change default via GATEWAY dev INTERFACE initcwnd 32")


def test_responses_of_a_transfer_are_counted_without_it() -> None:
    workload = {**_PATH["flows.0.workload"], "count": 5}
    (cubic,) = _explained("cubic", **{"flows.0.workload": workload}).ccas
    assert "4 of 5 responses began after a pause" in cubic.cause_text("idle_restart")


def test_pauses_of_the_connections_of_a_page_are_no_pages() -> None:
    page = {"kind": "page", "objects": 10, "object": "60kB", "gap": "1s", "multiplexed": False}
    text = _explained("cubic", **{"flows.0.workload": page}).ccas[0].cause_text("idle_restart")
    assert " pauses shrank the window (slow start after idle)" in text
    assert "pages" not in text


def test_the_best_value_of_a_sweep_is_advised_before_worse_remedies(tmp_path: Path) -> None:
    sweep = ct.sweep(
        "steady-20-68",
        {"tcp.slow_start_after_idle": [True, False]},
        cca="cubic",
        runs=1,
        duration="20s",
        set=_PATH,
    )
    sweep.save(tmp_path / "sweep")
    first = ct.explain(sweep).remedy_commands(tmp_path / "sweep")[0]
    assert "--set tcp.slow_start_after_idle=false" in first


def test_a_window_that_stays_in_pauses_is_no_cause_and_the_advice_was_right() -> None:
    slow = _explained("cubic").comparison.applications[0].means("response_p50_s")[0]
    explained = _explained("cubic", **{"tcp.slow_start_after_idle": False})
    assert "idle_restart" not in {cause.name for cause in explained.ccas[0].causes}
    assert explained.comparison.applications[0].means("response_p50_s")[0] < 0.5 * slow


def test_short_transfers_on_new_connections_have_the_initial_window_as_a_remedy() -> None:
    downloads = {"kind": "sequence", "size": "256kB", "gap": "1s"}
    explained = _explained("cubic", **{"flows.0.workload": downloads})
    first = explained.ccas[0].causes[0]
    assert first.name == "slow_start"
    assert "an initial window of 10 segments" in first.text
    (text,) = explained.remedy_commands("results")
    assert text.endswith("ip route change default via GATEWAY dev INTERFACE initcwnd 32")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("tcp.min_rto=20ms", "ip route change default via GATEWAY dev INTERFACE rto_min 20ms"),
        ("tcp.receive_buffer_max=2MB", "sysctl -w net.ipv4.tcp_rmem='4096 131072 2000000'"),
        ("tcp.notsent_lowat=16kB", "sysctl -w net.ipv4.tcp_notsent_lowat=16000"),
        ("tcp.window_scale=true", "sysctl -w net.ipv4.tcp_window_scaling=1"),
        ("tcp.pacing=true", "tc qdisc replace dev INTERFACE root fq"),
        ("path.queue=fq-codel", "tc qdisc replace dev INTERFACE root fq_codel"),
        ("tcp.pacing=false", "tc qdisc replace dev INTERFACE root fq_codel"),
        ("kernel.sysctl.net.ipv4.tcp_ecn=1", "sysctl -w net.ipv4.tcp_ecn=1"),
    ],
)
def test_a_field_has_the_line_that_sets_it_on_linux(change: str, line: str) -> None:
    host, _, command = linux_line(change).partition(": ")
    assert command == line
    assert host


@pytest.mark.parametrize("change", ["path.rtt=10ms", "path.queue={ kind = 'red' }"])
def test_a_field_that_no_line_sets_has_none(change: str) -> None:
    assert linux_line(change) == ""


def test_a_hop_with_an_aqm_is_a_shaper_and_any_other_has_a_rate_alone() -> None:
    hops: dict[str, Any] = {"path": {"wired": [{"buffer": "100packets"}, {"queue": "fq-codel"}]}}
    line = linux_line("path.wired.1.rate=15Mbit/s", hops)
    assert line.endswith("tc qdisc replace dev INTERFACE root cake bandwidth 15000kbit")
    assert " tbf rate 15000kbit " in linux_line("path.wired.0.rate=15Mbit/s", hops)
    assert linux_line("path.wired.1.rate=15Mbit/s") == ""


def test_a_cca_has_a_line_where_linux_has_it() -> None:
    assert cca_line("bbr@split").endswith("net.ipv4.tcp_congestion_control=bbr")
    assert cca_line("copa") == cca_line("") == ""


def test_a_sweep_ends_with_the_lines_that_set_its_better_values() -> None:
    vary = {"tcp.initial_window": [10, 32]}
    result = ct.sweep("steady-20-68", vary, "cubic", 2, duration="12s", set=_PATH)
    assert result.field_changes[-1] == (
        "On Linux, sender (server): ip route change default via GATEWAY dev INTERFACE initcwnd 32"
    )


def test_a_folder_of_a_sweep_has_the_remedies_of_most_values_but_not_what_was_varied(
    tmp_path: Path,
) -> None:
    vary = {"tcp.initial_window": [10, 20]}
    folder = tmp_path / "s"
    ct.sweep("steady-20-68", vary, "cubic", 1, duration="12s", set=_PATH, out=folder)
    done = CliRunner().invoke(commands, ["explain", str(folder)])
    assert done.exit_code == 0, done.output
    command, comment, *others = done.stdout[done.stdout.index("Try next:\n") :].splitlines()[1:]
    assert not any("--set tcp.initial_window" in each for each in (command, *others))
    assert comment == "    # 10, 20: against a window that shrinks in pauses"
    assert "tcp.slow_start_after_idle=false" in command
    # The command runs as it is printed.
    again = CliRunner().invoke(commands, [*shlex.split(command)[1:], "--quiet"])
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(("packets", "is_paced"), [(60, True), (750, False)])
def test_a_window_that_the_buffer_does_not_hold_is_kept_with_pacing(
    packets: int, is_paced: bool
) -> None:
    """A whole window at once overflows a short buffer, so that the setting alone makes it worse."""
    rate: dict[str, Any] = {"path.down.rate": "100Mbit/s", "path.buffer": f"{packets}packets"}
    explained = _explained("cubic", "bbr", **rate)
    explained.try_remedies(TrialBudget())
    (kept,) = (
        each
        for each in explained.remedies
        if "slow_start_after_idle=false" in " ".join(each.remedy.changes)
    )
    assert ("tcp.pacing=true" in kept.remedy.changes) == is_paced
    assert ("it is paced, as the buffer does not hold a whole window at once" in kept.text) == is_paced
