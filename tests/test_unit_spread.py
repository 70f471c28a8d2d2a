"""Standard deviations of the times of units of work."""

from __future__ import annotations

import io
import statistics
from pathlib import Path

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.cli.show_summary import summary_of
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.verdicts.verdict_tables import chosen_text
from celltcp.present.terminal import Terminal

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
        assert ("max: mean of those of the runs" in table.title) == (runs > 1)
        (place,) = [
            index for index, column in enumerate(table.columns) if column.name == "response_max_s"
        ]
        maxima = [max(of_run) for of_run in _durations(result)]
        # Below a second beside times below 100 ms, all are in ms.
        assert table.columns[place].heading.endswith("ms")
        assert float(table.rows[0][place].split(" ")[0]) == pytest.approx(
            1e3 * statistics.fmean(maxima), abs=0.1
        )


def _durations(result: ct.Comparison) -> list[list[float]]:
    """Returns the durations of the units of work of each run, s."""
    units = result.units.dropna(subset="duration_s")
    return [group["duration_s"].tolist() for _, group in units.groupby("run")]


PAGES = {"kind": "page", "document": "50kB", "gap": "2s"}


@pytest.fixture(scope="module")
def few_pages() -> ct.Comparison:
    """Some ten pages a run: the largest of fewer than 20 is their 95th percentile."""
    return ct.compare("steady-20-68", "cubic,bbr", 2, duration="20s", set={"flows.0.workload": PAGES})


def test_a_percentile_of_too_few_values_is_unknown_in_tables_and_data_frames_alike(
    few_pages: ct.Comparison,
) -> None:
    assert few_pages.runs["page_loads"].between(5, 19).all()
    frame = few_pages.flow_summary
    (figures, _) = few_pages.to_json()["applications"][0]["figures"]
    for percentile in ("p95", "p99"):
        assert frame[f"page_load_{percentile}_s", "mean"].isna().all()
        assert figures[f"page_load_{percentile}_s"]["mean"] is None
    assert frame["page_load_p50_s", "mean"].notna().all()
    assert frame["page_load_max_s", "mean"].notna().all()


def test_a_table_leaves_out_all_columns_of_dashes_or_none(few_pages: ct.Comparison) -> None:
    (application,) = few_pages.applications
    table = metrics_table(few_pages, application)
    for columns in range(60, 200, 10):
        with io.StringIO() as file:
            Terminal(columns, file).print_table(table)
            printed = file.getvalue()
        omitted = printed.partition("Columns omitted (no row has a value): ")[2]
        assert ("p95" in omitted) == ("p99" in omitted), columns
        assert "page load p50" not in omitted


def test_the_best_by_a_percentile_of_too_few_values_is_that_by_the_largest(
    few_pages: ct.Comparison,
) -> None:
    best = few_pages.best_by("page_load_p95_s")
    assert best.values == few_pages.best_by("page_load_max_s").values
    assert set(best.maxima) == {"cubic", "bbr"}
    names = {cca: cca for cca in few_pages.ccas}
    assert "; of too few values for a percentile: the largest of a run)" in chosen_text(best, names)
    assert "too few" not in chosen_text(few_pages.best_by("page_load_p50_s"), names)


def test_pages_are_recommended_by_their_load_time_and_bulk_transfers_by_the_path(
    few_pages: ct.Comparison,
) -> None:
    times = few_pages.best_by("page_load_s").verdict
    assert few_pages.recommendation == {"page_load_s:flow-1": list(times.ranked)}
    assert times.leader is not None
    flows = [{"name": "update"}, {"name": "web", "workload": PAGES}]
    both = ct.compare("steady-20-68", "cubic,bbr", 2, duration="10s", set={"flows": flows})
    assert list(both.recommendation) == ["goodput", "balanced", "delay", "page_load_s:web"]


def test_a_deviation_below_the_last_digit_of_the_times_has_no_column() -> None:
    """Transfers alone on an empty path take the same time but for nanoseconds, random losses apart."""
    workload = {"kind": "sequence", "size": "100kB", "count": 20, "gap": "500ms", "jitter": 0}
    changes = {"path.buffer": "4bdp", "flows.0.workload": workload}
    for loss in (0.0, 0.02):
        lossy = {**changes, "path.loss": loss}
        result = ct.compare("steady-20-68", "cubic,reno", 2, duration="20s", set=lossy)
        names = [column.name for column in metrics_table(result, result.applications[0]).columns]
        deviations = result.runs["completion_sd_s"]
        assert (deviations.max() >= 0.0005) == (loss > 0) == ("completion_sd_s" in names)


def test_explanations_and_reports_have_the_metric_by_which_the_results_were_ranked(
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "api.toml"
    scenario.write_text(
        'duration = "6s"\npath.down = "10Mbit/s"\npath.loss = 0.01\n[[flows]]\nname = "api"\n'
        'workload = { kind = "request-response", response = "20kB", gap = "10ms" }\n'
    )
    folder, page = str(tmp_path / "out"), tmp_path / "report.html"
    compare = ["compare", str(scenario), "--cca", "cubic,bbr", "--runs", "2", "--out", folder]
    report = ["report", folder, "--out", str(page), "--overwrite"]
    printed = {}
    for by in ([], ["--by", "response_p50_s:api", "--overwrite"]):
        for words in ([*compare, *by], ["explain", folder], report):
            done = CliRunner().invoke(commands, words)
            assert done.exit_code == 0, done.output
            printed[words[0], bool(by)] = done.stdout
        printed["page", bool(by)] = page.read_text()
    line = "best by response_p50_s of api: "
    assert line in printed["compare", True]
    for has_metric in (False, True):
        assert (line in printed["explain", has_metric]) == has_metric
        assert ("api, by response p50" in printed["page", has_metric]) == has_metric
