"""Standard deviations of the times of units of work."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.cli.show_summary import summary_of
from celltcp.comparison.application_tables import metrics_table

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


def test_a_table_says_that_its_maximum_is_the_mean_of_those_of_the_runs() -> None:
    workload = {"kind": "request-response", "response": "20kB", "gap": "100ms"}
    changes = {"path.loss": 0.01, "flows.0.workload": workload}
    for runs in (1, 3):
        result = ct.compare("steady-20-68", "cubic", runs, duration="10s", set=changes)
        (application,) = result.applications
        table = metrics_table(result, application)
        assert ("; max: mean of the maxima of the runs" in table.title) == (runs > 1)
        place = [column.name for column in table.columns].index("response_max_s")
        maxima = [max(of_run) for of_run in _durations(result)]
        assert float(table.rows[0][place].split(" ")[0]) == pytest.approx(
            statistics.fmean(maxima), abs=1e-3
        )


def _durations(result: ct.Comparison) -> list[list[float]]:
    """Returns the durations of the units of work of each run, s."""
    units = result.units.dropna(subset="duration_s")
    return [group["duration_s"].tolist() for _, group in units.groupby("run")]
