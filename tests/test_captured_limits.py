"""Explanations of paths from captures whose sender had a limit, and of windows that still grow."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.lines.linux_lines import linux_line
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.report.front_page import answer_of, settings_section
from celltcp.comparison.tables import limits_table
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.results.captured_limits import OPEN_BUFFER, has_decided
from celltcp.scenarios.changes import Value
from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED, SENDER_LIMIT


@pytest.mark.parametrize("seed", [1, 2])
def test_the_window_that_stands_for_the_limit_of_a_sender_is_not_called_the_receivers(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    limit = f"{draw.choice([100, 200])}kB"
    captured = tmp_path / "run.pcap"
    ct.run(
        "steady-100-68",
        "cubic",
        duration="8s",
        samples="off",
        set={"tcp.send_buffer_max": limit, "flows.0.workload": {"kind": "bulk", "bytes": "8MB"}},
        pcap=captured,
    )
    file, _ = write_scenario(estimate_path(analyse(captured), 0), tmp_path / "path.toml")
    assert SENDER_LIMIT in Path(file).read_text()
    result = ct.compare(str(file), ["cubic", "bbr"], 1)
    assert any("stands for the limit of the sender" in text for text in result.warnings)
    assert has_decided(result.results)
    options = ["--cca", "cubic,bbr", "--runs", "1", "--out", str(tmp_path / "o")]
    printed = CliRunner().invoke(commands, ["compare", str(file), *options]).stdout
    assert "no CCA is best here" in printed
    assert "best for" not in printed
    free = ct.compare(str(file), ["cubic", "bbr"], 1, set={"tcp.receive_window_max": "6MB"})
    assert not has_decided(free.results)
    explained = ExplainedComparison(result)
    for each in explained.ccas:
        names = {cause.name for cause in each.causes}
        assert "captured_limit" in names
        assert "receive_window" not in names
    # No setting of the receiver helps, and no congestion control is set.
    assert not any("receive_" in remedy.options for remedy in explained.remedies)
    assert not explained.settings
    assert any("limit of its own" in note for note in explained.notes)
    # The report, warnings and tables name the same limit, and have no line or target for the window.
    settings = settings_section(result, explained.window_limit_text)
    assert settings is not None
    assert not any("receive" in text for text in settings.text)
    lines = "".join(block.text for block in settings.blocks)
    assert not any(word in lines for word in ("rmem", " window ", "window_scaling", "congestion"))
    assert "limit of its own" in answer_of(result, explained.window_limit_text)
    assert not any("receive window was full" in text for text in result.warnings)
    limits = limits_table(result.results)
    assert limits is not None
    headings = [column.heading for column in limits.columns]
    assert "sender's\nlimit" in headings
    assert "receive\nwindow" not in headings


@pytest.mark.parametrize("seed", [1, 2])
def test_a_lower_bound_of_a_capacity_gives_a_window_no_target(seed: int) -> None:
    window = f"{random.Random(seed).choice([40, 80])}kB"
    bound = "Its capacity is a lower bound: the sender never filled the path for 100 ms."
    for is_bound in (False, True):
        description = bound if is_bound else ""
        changes: dict[str, Value] = {
            "path.rtt": "100ms",
            # As in the trace of a capture: not a rate that the user gives.
            "path.down.steps": [{"at": "0s", "rate": "68Mbit/s"}],
            "tcp.receive_window_max": window,
            "description": description,
        }
        result = ct.compare("steady-100-68", ["cubic", "bbr"], 1, duration="8s", set=changes)
        explained = ExplainedComparison(result)
        settings = settings_section(result, explained.window_limit_text)
        assert settings is not None
        assert "First the receive window" in settings.text[0]
        assert ("kB or more" in settings.text[0]) != is_bound
        assert any("tcp_rmem" in block.text for block in settings.blocks) != is_bound
        # A trial of a larger window needs a larger capacity beside it.
        options = [each.options for each in explained.remedies if "receive_" in each.options]
        assert options
        assert all("path.down=" in each for each in options) == is_bound


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_limit_of_a_captured_receive_window_stays_one_in_its_scenario(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    captured = tmp_path / "run.pcap"
    changes: dict[str, Value] = {
        "path.rtt": f"{draw.choice([60, 100, 160])}ms",
        "tcp.window_scale": draw.choice([1, 2]),
    }
    ct.run("steady-100-68", "cubic", duration="8s", samples="off", set=changes, pcap=captured)
    file, _ = write_scenario(estimate_path(analyse(captured), 0), tmp_path / "path.toml")
    # The gaps of segments back to back show the rate of the link, which is no lower bound.
    for more in ({}, {"path.down": "90Mbit/s"}):
        explained = ExplainedComparison(ct.compare(str(file), ["cubic"], 1, set=more))
        (cubic,) = explained.ccas
        assert cubic.causes[0].name == "receive_window"
        ((heading, *_),) = explained.blocks
        assert "of the capacity)" in heading
        assert "lower bound" not in heading
        (cause, *_) = cubic.causes
        assert "does not show what more the path carries" not in cause.text
        first = explained.remedies[0].options
        assert "path.down=" not in first
        # Trials read the trace beside the file of the scenario, wherever they run.
        assert "tcp.receive_window_max=" in first
    # A scale below the cap is what sets the window.
    larger: dict[str, Value] = {"path.down": "90Mbit/s", "tcp.receive_window_max": "2MB"}
    (warning,) = (
        text
        for text in ct.compare(str(file), ["cubic"], 1, set=larger).warnings
        if "receive window was full" in text
    )
    assert "tcp.window_scale (" in warning
    assert "receive_window_max (" not in warning


@pytest.mark.parametrize("scale", ["2", "7", "true", "false"])
def test_a_shift_of_the_window_is_no_value_of_the_switch(scale: str) -> None:
    line = linux_line(f"tcp.window_scale={scale}")
    assert line.rpartition("=")[2] == {"true": "1", "false": "0"}.get(scale, "")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_path_that_is_other_than_the_captured_one_has_no_best_cca(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    text = f"Simulated with cubic it gives 9 Mbit/s; the capture has 20 Mbit/s: {OTHER_THAN_CAPTURED}."
    workload = draw.choice([{"kind": "bulk"}, {"kind": "bulk", "bytes": "2MB"}, {"kind": "frames"}])
    changes: dict[str, Value] = {
        "description": text,
        "path.down.steps": [{"at": "0s", "rate": f"{draw.choice([8, 20])}Mbit/s"}],
        "path.loss": draw.choice([0.005, 0.01]),
        "flows.0.workload": workload,
    }
    other = ct.compare("steady-100-68", ["cubic", "bbr"], 2, duration="8s", set=changes)
    explained = ExplainedComparison(other)
    assert any("no CCA is best here" in note for note in explained.notes)
    assert not any((explained.settings, explained.remedies, *explained.conclusion))
    assert not any("leads" in line for block in explained.blocks for line in block)
    document = other.to_json(["goodput"])
    assert not any(document["recommendation"].values())
    assert not document["differences"]
    named = [*document["verdicts"].values(), *document["by"], *document.get("applications", ())]
    assert named
    assert all(each["best"] is None and each["leader"] is None for each in named)
    part = comparison_part(other, "")
    assert "no CCA is best here" in part.answer.replace("No", "no")
    assert not part.findings
    assert "What to set" not in {section.title for section in part.sections}
    printed = CliRunner().invoke(commands, ["show", str(other.save(tmp_path / "o"))]).stdout
    assert "no CCA is best here" in printed
    assert "best for" not in printed
    # A capacity that the user gives is no longer that of the capture.
    given = ct.compare("steady-100-68", ["cubic", "bbr"], 2, set={**changes, "path.down": "20Mbit/s"})
    assert all(given.recommendation.values())


@pytest.mark.parametrize("pieces", ["900kB", "1.2MB"])
def test_a_buffer_that_overflows_only_here_leaves_the_delay_of_its_ccas_open(
    tmp_path: Path, pieces: str
) -> None:
    """A longer queue takes the place of drops in a captured buffer; Vegas never fills either."""
    scenario = tmp_path / "captured.toml"
    scenario.write_text(
        'description = "The path of connection 0 in x.pcap. Its buffer is a lower bound: '
        'no overflow was seen."\nduration = "30s"\n[path]\nrtt = "40ms"\ndown.rate = "6Mbit/s"\n'
        'buffer = "200kB"\n[[flows]]\n'
        f'workload = {{ kind = "chunked", piece = "{pieces}", period = "2s" }}\n'
    )
    delay = ct.compare(scenario, ["cubic", "reno"], 2).verdicts["delay"]
    assert delay.best is None
    assert delay.doubt == OPEN_BUFFER
    assert ct.compare(scenario, ["cubic", "reno", "vegas"], 2).verdicts["delay"].best == "vegas"
    # Nothing overflows in a buffer that holds a piece.
    longer = ct.compare(scenario, ["cubic", "reno"], 2, set={"path.buffer": "4MB"})
    assert not longer.verdicts["delay"].doubt
