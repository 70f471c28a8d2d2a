"""Reports follow the metrics that `compare --by` asked for."""

import pytest

import celltcp as ct
from celltcp.comparison.choices import ccas_to_set, choices_of
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.report.front_page import answer_of, settings_section

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


def test_lines_of_the_best_of_all_are_not_opposed_by_those_of_another_cca(
    compared: ct.Comparison,
) -> None:
    part = comparison_part(compared, "celltcp compare")
    sections = {section.title: section for section in part.sections}
    lines = "".join(block.text for block in sections["What to set"].blocks)
    if (best := sections.get("Better than a CCA alone")) is not None:
        (text,) = best.text
        for cca, other in (("cubic", "bbr"), ("bbr", "cubic")):
            assert f" by {cca}" not in text or f"tcp_congestion_control = {other}" not in lines
