"""Units of work that the end of a run cuts, or that never end."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import metrics_table
from workloads import DEEP_BUFFER, nearest_rank


def _stalled(workload: str, ccas: str = "cubic") -> ct.Comparison:
    """Returns runs on a path that is dead from 4 s on to the end."""
    changes = {"flows.0.workload": workload, "path.blackouts": "[{ at = '4s', duration = '20s' }]"}
    return ct.compare("steady-20-68", ccas, runs=1, duration="6s", set=changes)


def test_a_transfer_that_the_end_of_the_run_cuts_is_none_that_failed() -> None:
    """Pages follow each other up to the end of the run: the last one is on its way then."""
    pages = "{ kind = 'sequence', size = '200kB', gap = '0ms' }"
    result = ct.compare(
        "steady-20-68", "cubic,bbr", runs=2, duration="6s", set={"flows.0.workload": pages}
    )
    (application,) = result.applications
    assert result.flows["completion_s"].isna().any()
    assert application.means("completed_share") == [1.0, 1.0]
    assert application.ranking.metric == "completion_s"


def test_a_transfer_that_takes_far_longer_than_the_others_is_not_complete() -> None:
    """The path is dead from 4 s on: the transfer in that time has taken longer than each before."""
    pages = "{ kind = 'sequence', size = '200kB', gap = '0ms' }"
    changes = {"flows.0.workload": pages, "path.blackouts": "[{ at = '4s', duration = '20s' }]"}
    result = ct.compare("steady-20-68", "cubic", runs=1, duration="12s", set=changes)
    (application,) = result.applications
    assert 0.8 < application.means("completed_share")[0] < 1


def test_frames_that_never_arrived_are_later_than_all_others() -> None:
    result = _stalled("{ kind = 'frames', size = '2kB', interval = '20ms' }", "cubic,bbr")
    (application,) = result.applications
    events = result.results.tables["events"].to_pandas()
    for run, cca in enumerate(result.ccas):
        selected = events[events["run"] == run]
        delays = [float(each) for each in selected.loc[selected["kind"] == "frame_ms", "detail"]]
        (sent,) = (float(each) for each in selected.loc[selected["kind"] == "frames", "detail"])
        late = int(sent) - len(delays)
        ages = [float(each) for each in selected.loc[selected["kind"] == "frame_age_ms", "detail"]]
        # One every 20 ms since the path went dark, but those whose deadline is after the end.
        assert len(ages) == late
        assert sorted(ages) == pytest.approx([min(ages) + 20 * n for n in range(late)], abs=25)
        assert min(ages) > 150
        missing = len(ages)
        assert 0.25 < missing / sent < 0.4
        metrics = application.metrics[cca]
        # Each took at least its age at the end.
        every = [*delays, *ages]
        assert metrics["missing_share"] == pytest.approx([missing / sent])
        for percentile in (50, 95):
            wanted = nearest_rank(every, percentile)
            assert metrics[f"frame_delay_p{percentile}_ms"] == [wanted]
        assert metrics["frame_delay_ms"] == pytest.approx([sum(every) / len(every)])
        assert metrics["frame_delay_max_ms"] == [max(every)]
        assert math.isnan(metrics["frame_delay_sd_ms"][0])
        units = result.units[result.units["cca"] == cca]
        assert len(units) == len(delays) + missing
        lost = units[units["duration_s"].isna()]
        assert sorted(lost["start_s"]) == pytest.approx(sorted(6 - age / 1e3 for age in ages))
    table = metrics_table(result, application)
    place = [column.name for column in table.columns].index("frame_delay_p95_ms")
    assert all(row[place].startswith("≥ ") for row in table.rows)
    (document,) = result.to_json()["applications"]
    for name in ("frame_delay_ms", "frame_delay_p95_ms", "frame_delay_max_ms"):
        assert document["figures"][0][name]["is_lower_bound"]
        assert document["figures"][0][name]["ci95"] is None
    axes = result.plot.ecdf("frame_delay").axes[0]
    for curve, missing_share in zip(axes.get_lines(), (1 / 3, 1 / 3), strict=False):
        assert curve.get_ydata()[-1] == pytest.approx(1 - missing_share, abs=0.07)
    assert axes.get_title().startswith("frames not arrived at the end: 3")
    # Those that arrived are drawn over time; the others have no time.
    units = result.units[result.units["cca"] == "cubic"]
    axes = result.plot.units("frame_delay").axes[0]
    assert list(axes.get_lines()[0].get_xdata()) == pytest.approx(sorted(units["end_s"].dropna()))
    assert axes.get_title().startswith("frames not arrived at the end: 3")


def test_transfers_that_are_never_complete_end_the_distribution_below_one() -> None:
    result = _stalled("{ kind = 'sequence', size = '100kB', gap = '100ms' }")
    units = result.units
    assert units["duration_s"].isna().sum() == 1
    axes = result.plot.ecdf("completion").axes[0]
    (curve,) = axes.get_lines()
    assert curve.get_ydata()[-1] == pytest.approx(1 - 1 / len(units))
    # A step for each time of transfers, from 0 on.
    assert curve.get_drawstyle() == "steps-post"
    assert curve.get_ydata()[0] == 0
    assert len(set(curve.get_ydata())) == 1 + units["duration_s"].nunique()
    assert axes.get_title().startswith("transfers never complete: cubic ")
    # Its tick is at the upper edge, where it began.
    axes = result.plot.units("completion").axes[0]
    ((tick,),) = (each.get_segments() for each in axes.collections)
    assert tick[0][0] == pytest.approx(units.loc[units["duration_s"].isna(), "start_s"].item())
    assert [each.get_text() for each in axes.get_legend().get_texts()] == ["transfers never complete"]
    assert result.applications[0].metrics["cubic"]["completed_share"] == [1 - 1 / len(units)]


def test_frames_on_their_way_at_the_end_are_late_but_have_no_delay_without_an_end(
    tmp_path: Path,
) -> None:
    """Behind a standing queue the last frames of a run are always on their way."""
    frames = '{ kind = "frames", size = "1kB", interval = "20ms", deadline = "60ms" }'
    text = (
        f'name = "call"\nduration = "6s"\n{DEEP_BUFFER}[[flows]]\nname = "call"\nworkload = {frames}\n'
    )
    (tmp_path / "call.toml").write_text(
        f'{text}opens = "from"\n[[flows]]\nname = "download"\ncca = "cubic"\n'
    )
    result = ct.compare(tmp_path / "call.toml", "cubic", 2)
    events = result.results.tables["events"].to_pandas()
    ages = events[events["kind"] == "frame_age_ms"]
    sent = events.loc[events["kind"] == "frames", "detail"].astype(float)
    # They are over 1 % of the frames, so that the 99th percentile would be theirs.
    assert (ages.groupby("run").size().to_numpy() > 0.01 * sent.to_numpy()).all()
    call = next(each for each in result.applications if each.flow == "call")
    for run, p99 in enumerate(call.metrics["cubic"]["frame_delay_p99_ms"]):
        selected = events[(events["run"] == run) & (events["kind"] == "frame_ms")]
        assert p99 == nearest_rank(sorted(selected["detail"].astype(float)), 99)
    late = sum(events.loc[events["kind"] == "frame_ms", "detail"].astype(float) > 60) + len(ages)
    share = statistics.fmean(call.metrics["cubic"]["late_share"])
    assert share == pytest.approx(late / sent.sum(), rel=0.02)


def test_a_request_on_a_connection_that_was_given_up_counts_with_its_age() -> None:
    """The time-out of the application ends the connection in a blackout, and nothing opens another."""
    calls = {"kind": "request-response", "response": "20B", "gap": "1s"}
    changes = {
        "flows.0.workload": calls,
        "path.blackouts": "[{ at = '10s', duration = '6s' }]",
        "tcp.user_timeout": "3s",
    }
    result = ct.compare("steady-20-68", ["cubic", "reno"], 2, duration="40s", set=changes)
    (application,) = result.applications
    metrics = application.metrics["cubic"]
    assert metrics["responses_missing"] == [1.0, 1.0]
    assert all(25 < longest < 32 for longest in metrics["response_max_s"])
    lost = result.units[result.units["duration_s"].isna()]
    assert len(lost) == 4
    ages = 40 - lost.loc[lost["cca"] == "cubic", "start_s"]
    assert sorted(metrics["response_max_s"]) == pytest.approx(sorted(ages))
    (warning, same) = (each for each in result.warnings if "given up" in each)
    assert warning.startswith("cubic: 2 of 2 connections of flow-1 were given up, the first at ")
    assert "after no answer for tcp.user_timeout (3s); applications open none" in warning
    assert same == warning.replace("cubic", "reno")
    explained = ct.explain(result).comparisons[""].ccas[0]
    text = {each.name: each.text for each in explained.causes}["given_up"]
    assert text.startswith("TCP gave 2 connections up in 2 runs, after no answer for tcp.user_timeout")
    assert text.endswith("; requests without a response: 2.")
    # A connection lasts 15 retransmissions, less long with short ones.
    del changes["tcp.user_timeout"]
    changes |= {"tcp.rto_max": "1s", "path.blackouts": "[{ at = '10s', duration = '20s' }]"}
    short = ct.compare("steady-20-68", "cubic", 1, duration="40s", set=changes)
    (warning,) = (each for each in short.warnings if "given up" in each)
    assert "after no answer for 15 retransmissions, tcp.rto_max (1s) apart at most;" in warning
    table = metrics_table(result, application)
    assert "responses_missing" in [column.name for column in table.columns]


def test_pages_without_an_end_count_with_their_age_and_cut_ones_do_not() -> None:
    pages = "{ kind = 'page', document = '20kB', object = '10kB', objects = 8, gap = '0ms' }"
    result = _stalled(pages)
    (application,) = result.applications
    metrics = application.metrics["cubic"]
    units = result.units[result.units["unit"] == "page_load"]
    (missing,) = metrics["page_loads_missing"]
    assert missing == units["duration_s"].isna().sum() == 1
    every = units["duration_s"].fillna(6 - units["start_s"])
    assert metrics["page_load_s"] == pytest.approx([every.mean()])
    assert metrics["page_load_max_s"] == pytest.approx([every.max()])
    assert every.max() > units["duration_s"].max()
    # On a path that goes on, the page that the end cuts is no slower than the others.
    changes = {"flows.0.workload": pages}
    whole = ct.compare("steady-20-68", "cubic", runs=1, duration="6s", set=changes)
    assert "page_loads_missing" not in whole.applications[0].names
    ages = "≥ at least, as some were not complete at the end"
    assert ages in metrics_table(result, application).title
    assert ages not in metrics_table(whole, whole.applications[0]).title


@pytest.mark.parametrize(
    ("kind", "metric"), [("request-response", "response_s"), ("page", "page_load_s")]
)
def test_units_of_which_none_ever_ends_have_lower_bounds(kind: str, metric: str) -> None:
    """A server that thinks for longer than the run answers nothing, and no first byte comes."""
    changes = {"flows.0.workload": {"kind": kind, "think": "60s"}}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="3s", set=changes)
    (application,) = result.applications
    assert application.bounds(metric) == {"cubic", "bbr"}
    column = [each.name for each in metrics_table(result, application).columns].index(metric)
    assert all(row[column].startswith("≥ ") for row in metrics_table(result, application).rows)
