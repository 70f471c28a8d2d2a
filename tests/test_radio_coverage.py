"""UEs that no cell reaches, and hosts behind those that one reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.results.limits import flow_limits
from celltcp.results.tables import frame

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Celltcp


def scenario(folder: Path, sinr: str) -> str:
    """A phone that stands at this SINR for 5 s."""
    file = folder / "cell.toml"
    file.write_text(f'duration = "5s"\n[radio]\nues = [{{ sinr = "{sinr}" }}]\n')
    return str(file)


def test_a_run_without_coverage_says_so(tmp_path: Path) -> None:
    result = ct.compare(scenario(tmp_path, "-20dB"), cca="cubic,bbr", runs=2)
    assert len(result.warnings) == 2
    assert "no cell reached phone in 2 of 2 runs" in result.warnings[0]
    assert result.to_json()["warnings"] == result.warnings


def test_a_run_with_coverage_has_no_warning(tmp_path: Path) -> None:
    warnings = ct.compare(scenario(tmp_path, "10dB"), cca="cubic", runs=1).warnings
    assert not [each for each in warnings if "no cell" in each]


def test_the_command_line_warns(tmp_path: Path, celltcp: Celltcp) -> None:
    file = scenario(tmp_path, "-20dB")
    for command in (["compare", file, "--cca", "cubic", "--runs", "1"], ["run", file]):
        done = celltcp(*command)
        assert done.returncode == 0, done.stderr
        said = " ".join((done.stdout + done.stderr).split())
        assert "warning: cubic, flow-1: no cell reached phone" in said


def behind_the_phone(folder: Path, ends: str) -> str:
    """A tablet that the phone gives its connection to, for one flow between these ends."""
    file = folder / "tethered.toml"
    link = '{ name = "wifi", from = "phone", to = "tablet", rate = "200Mbit/s", delay = "1ms" }'
    sinr = '[{ at = "0s", sinr = "15dB" }, { at = "3s", sinr = "-30dB" }, { at = "5s", sinr = "15dB" }]'
    radio = f"[radio]\nues = [{{ sinr = {sinr} }}]\n"
    file.write_text(f'duration = "8s"\nlinks = [{link}]\n{radio}[[flows]]\n{ends}\n')
    return str(file)


@pytest.mark.parametrize(
    "ends", ['to = "{}"', 'from = "{}"\nto = "server"\nopens = "from"'], ids=["download", "upload"]
)
def test_a_host_behind_a_phone_has_the_capacity_and_outages_of_its_radio(
    tmp_path: Path, ends: str
) -> None:
    tethered, alone = (
        ct.compare(behind_the_phone(tmp_path, ends.format(host)), "cubic", 1)
        for host in ("tablet", "phone")
    )
    capacity, expected = (
        float(frame(each.results.tables["slots"])["capacity_mbps"].mean()) for each in (tethered, alone)
    )
    assert capacity == pytest.approx(expected, rel=0.02)
    queue, expected = (
        float(frame(each.results.tables["slots"])["queue_bytes"].mean()) for each in (tethered, alone)
    )
    assert queue == pytest.approx(expected, rel=0.2)
    (limits,) = flow_limits(tethered.results)
    (expected_limits,) = flow_limits(alone.results)
    assert limits.shares["outage"] == pytest.approx(expected_limits.shares["outage"], abs=0.03)
    assert 0 < limits.shares["outage"] < 0.5
    text = ExplainedComparison(tethered).ccas[0].cause_text("outage")
    assert "once" in text
    assert "100 %" not in text


def test_pages_of_several_ues_beside_a_download_of_another_are_explained() -> None:
    """Connections have names of their own, such as web-2, which are no flows."""
    page = {"kind": "page", "document": "20kB", "objects": 3, "object": "20kB", "gap": "2s"}
    users = {"name": "user", "count": 2, "sinr": "12dB"}
    flows = [{"name": "download", "to": "phone"}, {"name": "web", "to": "user-*", "workload": page}]
    scenario = {
        "duration": "8s",
        "radio": {"bandwidth": "5MHz", "ues": [{"name": "phone", "sinr": "12dB"}, users]},
        "flows": flows,
    }
    result = ct.compare(scenario, ["cubic", "bbr"], 1)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    assert any(text.startswith("For web (page load time)") for text in explained.rankings)
    assert len(result.slots_of("web-2")) == len(result.slots_of("web"))
    with pytest.raises(ct.CelltcpError, match="there are download, web"):
        result.slots_of("web2")
