"""Standard deviations of the times of units of work."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.cli.show_summary import summary_of

WORKLOADS = {
    "page_load_sd_s": "{ kind = 'page', document = '50kB', gap = '200ms' }",
    "response_sd_s": "{ kind = 'request-response', response = '20kB', gap = '100ms' }",
    "frame_delay_sd_ms": "{ kind = 'frames', size = '2kB' }",
    "completion_sd_s": "{ kind = 'sequence', size = { kind = 'lognormal', median = '50kB', "
    "sigma = 1.0 } }",
}


@pytest.mark.parametrize("figure", WORKLOADS)
def test_units_have_a_standard_deviation(figure: str) -> None:
    changes = {"flows.0.workload": WORKLOADS[figure]}
    result = ct.compare("drive", ["cubic", "bbr"], 2, duration="8s", set=changes)
    units = result.units
    unit = figure.rpartition("_sd_")[0]
    scale = 1000.0 if figure.endswith("ms") else 1.0
    selected = units[(units["run"] == 0) & (units["unit"] == unit)]["duration_s"].dropna() * scale
    assert result.runs[figure][0] == pytest.approx(statistics.stdev(selected))
    assert result.best_by(figure).verdict.leader in result.ccas
    assert figure in result.to_json()["applications"][0]["figures"][0]
    # Tables are wide enough without it; the CSV has it.
    summary = summary_of(result)
    assert figure in summary.to_csv()
    assert not any(" sd " in column.title for column in summary.tables()[0].columns)


def test_a_single_unit_has_no_spread(tmp_path: Path) -> None:
    changes = {"flows.0.workload": "{ kind = 'bulk', bytes = '100kB' }"}
    result = ct.compare("drive", ["cubic"], 1, duration="3s", set=changes)
    assert result.runs["completion_sd_s"].isna().all()
    result.save(tmp_path / "r")
