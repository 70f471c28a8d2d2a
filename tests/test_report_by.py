"""First pages of reports: the metric that `compare --by` asked for, and the lines of the best CCA."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.report.front_page import answer_of, settings_section
from celltcp.comparison.verdicts.choices import ccas_to_set, choices_of
from celltcp.present.pdf import pdf_of

_PING = {"kind": "request-response", "request": "100B", "response": "200B", "gap": "100ms"}
_SCENARIO = {
    "name": "ping-beside-download",
    "duration": "20s",
    "path": {"rtt": "40ms", "down": {"rate": "15Mbit/s"}, "up": {"rate": "5Mbit/s"}, "buffer": "6bdp"},
    "flows": [{"name": "download"}, {"name": "ping", "cca": "cubic", "workload": _PING}],
}


@pytest.fixture(scope="module")
def compared() -> ct.Comparison:
    return ct.compare(_SCENARIO, ["cubic", "bbr"], 2)


@pytest.mark.parametrize(
    ("by", "words"),
    [("rtt_p95_ms:download", "download (p95 RTT)"), ("response_p50_s:ping", "ping (response p50)")],
)
def test_the_answer_and_the_lines_are_for_the_metric_that_was_asked_for(
    compared: ct.Comparison, by: str, words: str
) -> None:
    verdict = compared.best_by(by).verdict
    (choice,) = choices_of(compared, [by])
    assert choice.verdict == verdict
    assert answer_of(compared, by=[by]).startswith(f"For {words}, set {verdict.best}")
    assert [*ccas_to_set(compared, [by])] == [verdict.best]
    section = settings_section(compared, by=[by])
    assert section is not None
    (need, *_) = section.text
    assert need.startswith(f"For {words}: {verdict.best}")


def test_a_metric_that_is_undecided_has_no_lines_of_another_metric() -> None:
    """One run of random losses decides nothing, whatever the 95th percentile is."""
    result = ct.compare(_SCENARIO, ["cubic", "bbr"], 1, set={"path.loss": 0.01})
    section = settings_section(result, by=["response_p99_s:ping"])
    assert section is not None
    assert section.blocks == ()
    assert "it is undecided" in answer_of(result, by=["response_p99_s:ping"])


def test_lines_of_the_best_cca_are_on_the_first_page_before_a_better_queue_with_another_one(
    compared: ct.Comparison, tmp_path: Path
) -> None:
    part = comparison_part(compared, "celltcp compare")
    first, *others = [each for each in part.sections if each.is_front]
    assert first.title == "What to set"
    (best,) = {*ccas_to_set(compared), compared.to_json()["applications"][0]["best"]}
    line = f"net.ipv4.tcp_congestion_control = {best}"
    assert line in "".join(block.text for block in first.blocks)
    (text,) = next(each.text for each in others if each.title == "Better than a CCA alone")
    assert " by cubic (bbr alike) with path.queue=fq-codel" in text
    assert any(
        "without another change" in each and "with cubic, follows" in each for each in first.text
    )
    # Findings of many needs do not drive the lines to the second page.
    content = pdf_of([replace(part, findings=part.findings * 8)], "T", "celltcp report")
    if shutil.which("pdftotext"):
        (tmp_path / "p.pdf").write_bytes(content)
        command = ["pdftotext", "-l", "1", str(tmp_path / "p.pdf"), "-"]
        page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert f"set {best} on download" in " ".join(page.split())
        assert line in page
