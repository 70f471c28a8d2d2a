"""Python takes settings as Python has them: tables, numbers of seconds; results have parts by name."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import celltcp as ct


def _hash(changes: object, duration: object = "2s") -> str:
    return ct.load_scenario("drive", changes=changes, duration=duration).hash  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        ({"path": {"rtt": "50ms"}}, {"path.rtt": "50ms"}),
        ({"path": {"rtt": 0.05}}, {"path.rtt": "50ms"}),
        ({"path.rtt": np.float64(0.05)}, {"path.rtt": "50ms"}),
        ({"path.rtt": np.int64(1)}, {"path.rtt": "1s"}),
        ({"flows": {0: {"start": 1}}}, {"flows.0.start": "1s"}),
        (
            {"flows": {"0": {"workload": {"kind": "bulk", "stop": 1}}}},
            {"flows.0.workload": {"kind": "bulk", "stop": "1s"}},
        ),
        ({"tcp": {"window_scale": 7}}, {"tcp.window_scale": 7}),
        ({"path": {"down": {"rate": "5Mbit/s"}}}, {"path.down": {"rate": "5Mbit/s"}}),
    ],
)
def test_nested_tables_and_numbers_of_seconds_are_the_fields_that_they_name(
    nested: object, flat: object
) -> None:
    assert _hash(nested) == _hash(flat)
    assert _hash(nested) != _hash(())


def test_a_number_where_no_time_is_due_stays_a_number() -> None:
    with pytest.raises(ct.CelltcpError, match=r"path\.buffer"):
        _hash({"path": {"buffer": 0.5}})
    assert _hash((), 2) == _hash((), "2s")
    assert _hash((), 2.5) == _hash((), "2.5s")


def test_a_nested_field_that_is_not_there_is_named() -> None:
    with pytest.raises(ct.CelltcpError, match=r"path\.rt: there is no such field"):
        _hash({"path": {"rt": 0.05}})


def test_results_have_their_parts_by_name_and_a_picture() -> None:
    settings = {"cca": ["cubic", "bbr"], "runs": 1, "duration": 1}
    result = ct.compare("drive", **settings)
    assert result["bbr"].ccas == ["bbr"]
    assert result.plot()._repr_png_().startswith(b"\x89PNG")
    sweep = ct.sweep("drive", {"path.rtt": [0.02, 0.04], "path.buffer": ["1bdp"]}, **settings)
    assert sweep["0.02s", "1bdp"].to_json() == sweep.points["0.02s", "1bdp"].to_json()
    with pytest.raises(ct.CelltcpError, match=r"no point of .*; allowed: '0.02s, 1bdp', '0.04s, 1bdp'"):
        sweep["30ms", "1bdp"]
    with pytest.raises(ct.CelltcpError, match=r"'0' is no point of .*; allowed: '0.02s, 1bdp', "):
        sweep[0]
    # Numbers name the coordinate of their value, however it is written.
    losses = ct.sweep("drive", {"path.rtt": [0.02], "path.loss": [0, "1e-3"]}, **settings)
    assert losses["0.02s", 0] is losses["0.02s", "0"]
    assert losses["0.02s", 0.001] is losses.points["0.02s", "1e-3"]
    run = ct.run("drive", "cubic", duration=1)
    with pytest.raises(ct.CelltcpError, match=r"'cubic' is no part of a run.*flows, slots, samples"):
        run["cubic"]
    pair = ct.compare_all(["drive", "steady-5-18"], **settings)
    assert pair["drive"].to_json() == result.to_json()


@pytest.mark.parametrize(
    ("vary", "part"),
    [
        ({}, "no field"),
        ({"path.rtt": 0.05}, "allowed: a list of values"),
        ({"path.rtt": []}, "has no value"),
        ({"path.rtt": [0.05, 0.05]}, "0.05s twice"),
        (["path.rtt=1s", "path.rtt=2s"], "path.rtt is given twice"),
        ({"path.rtt": "20ms..40ms"}, "path.rtt"),
    ],
)
def test_what_is_no_variation_is_refused(vary: object, part: str) -> None:
    with pytest.raises(ct.CelltcpError, match=part):
        ct.sweep("drive", vary, "cubic", 1, duration=1)  # type: ignore[arg-type]


def test_a_data_frame_is_a_link_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rates = pd.DataFrame({"time_s": [0, 1, 2], "mbps": [2.0, 3.0, 2.5]})
    rates.to_csv(tmp_path / "t.csv", index=False)
    settings = {"cca": "cubic", "runs": 1, "duration": 3}
    result = ct.compare(rates, **settings)
    alone = ct.compare(tmp_path / "t.csv", **settings)
    assert result.values("cubic", "goodput_mbps") == alone.values("cubic", "goodput_mbps")
    assert result.results.about["name"] == "data-frame"
    indexed = rates.set_index("time_s")
    assert ct.load_scenario(indexed).hash == ct.load_scenario(rates).hash
    assert ct.run(indexed, "cubic", duration=1).results.about["name"] == "data-frame"
    swept = ct.sweep(rates, {"path.rtt": [0.02]}, **settings)
    assert swept.points["0.02s",].results.about["name"] == "data-frame"
    # That of the uplink is one as well.
    both = ct.compare(rates, uplink=rates, **settings)
    files = ct.compare(tmp_path / "t.csv", uplink=tmp_path / "t.csv", **settings)
    assert both.values("cubic", "rtt_mean_ms") == files.values("cubic", "rtt_mean_ms")
    assert both.values("cubic", "rtt_mean_ms") != alone.values("cubic", "rtt_mean_ms")
    with pytest.raises(ct.CelltcpError, match="scenario: 7 is of type int"):
        ct.load_scenario(7)  # type: ignore[arg-type]


def test_a_rate_in_place_of_a_log_is_an_error_unless_the_log_is_the_uplink(tmp_path: Path) -> None:
    log = tmp_path / "t.csv"
    log.write_text("time_s,mbps\n0,2\n1,3\n2,4\n")
    upload = {"path.down": "50Mbit/s", "flows.0.from": "phone", "flows.0.to": "server"}
    with pytest.raises(ct.CelltcpError, match=r"path.down=50Mbit/s replaces the rates of .*t\.csv"):
        ct.compare(log, "cubic", 1, duration=1, set=upload)
    result = ct.compare(log, "cubic", 1, duration=3, set=upload, uplink=log)
    assert result.values("cubic", "goodput_mbps")[0] < 4
    # A part of the trace is one all the same.
    assert ct.load_scenario(log, changes={"path.down.step": "1s"}).hash


def test_a_nested_table_without_a_kind_changes_the_fields_that_it_names() -> None:
    game = {"kind": "request-response", "gap": "150ms", "response": "200B"}
    loaded = ct.load_scenario("steady-5-18", changes={"flows.0.workload": game})
    wanted = ct.load_scenario(loaded, changes={"flows.0.workload.gap": "1s"}).hash
    for changes in (
        {"flows": {0: {"workload": {"gap": 1}}}},
        {"flows": {"0": {"workload": {"gap": "1s"}}}},
        {"flows.0.workload": {"gap": "1s"}},
    ):
        assert ct.load_scenario(loaded, changes=changes).hash == wanted
    # A kind makes another table.
    bulk = ct.load_scenario(loaded, changes={"flows": {0: {"workload": {"kind": "bulk"}}}})
    assert bulk.hash == ct.load_scenario("steady-5-18").hash


def test_points_of_a_sweep_have_names_of_texts_and_errors_say_which() -> None:
    swept = ct.sweep(["drive", "steady-5-18"], "path.buffer=1bdp,4bdp", "cubic", 1, duration="300ms")
    assert swept["drive, 1bdp"] is swept["drive", "1bdp"]
    with pytest.raises(
        ct.CelltcpError,
        match=r"'drive' is no point of scenario, path.buffer; allowed: 'drive, 1bdp', 'drive, 4bdp'",
    ):
        swept["drive"]
    with pytest.raises(ct.CelltcpError, match=r"is a list; .*compare_all"):
        ct.compare(["drive", "steady-5-18"], "cubic", 1)  # type: ignore[arg-type]


_FIELDS = {"path": {"down": {"rate": "20Mbit/s"}, "rtt": 0.05}, "flows": [{"cca": "bbr", "start": 0.5}]}
_SETTINGS = {"cca": ["cubic"], "runs": 1, "duration": 1}


def test_a_mapping_of_fields_is_the_scenario_of_a_file_with_them(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(
        'flows = [{ cca = "bbr", start = "500ms" }]\n[path]\nrtt = "50ms"\ndown.rate = "20Mbit/s"\n'
    )
    assert ct.load_scenario(_FIELDS).hash == ct.load_scenario(file).hash
    assert ct.run({**_FIELDS, "duration": 1, "flows": [{}]}).to_json() == (
        ct.run(file, set={"flows": [{}]}, duration=1).to_json()
    )
    with pytest.raises(ct.CelltcpError, match=r"path\.rt: there is no such field; did you mean"):
        ct.run({"path": {"rt": 0.05}})


def test_lists_hold_fields_loaded_scenarios_and_names() -> None:
    other = ct.load_scenario({**_FIELDS, "name": "other"})
    several = ct.compare_all([_FIELDS, other, "drive"], **_SETTINGS)
    assert list(several.comparisons) == ["scenario", "other", "drive"]
    assert len(ct.sweep([_FIELDS, other], {"path.rtt": [0.02, 0.04]}, **_SETTINGS).points) == 4
    with pytest.raises(ct.CelltcpError, match="scenarios: two are called 'scenario'"):
        ct.compare_all([_FIELDS, _FIELDS])


def test_the_summary_has_no_percentile_of_too_few_values_and_marks_lower_bounds() -> None:
    """Pages of 1 MB at 1 Mbit/s and with silence: some load, others never."""
    page = {"kind": "page", "document": "100kB", "objects": 5, "object": "30kB", "gap": "1s"}
    changes = {"flows.0.workload": page, "path.blackouts": [{"at": "6s", "duration": "9s"}]}
    result = ct.compare("drive", ["cubic", "bbr"], 2, duration=10, set=changes)
    for row in (result.summary.loc["bbr"], result.flow_summary.loc["bbr"].iloc[0]):
        assert math.isnan(row["page_load_p99_s", "mean"])
        assert row["page_load_s", "is_lower_bound"]
        assert math.isnan(row["page_load_s", "ci95"])
    assert "is_lower_bound" not in ct.compare("drive", **_SETTINGS).summary["goodput_mbps"]


def test_the_text_of_a_comparison_names_the_undecided_needs() -> None:
    """The same network for both, with a spread far larger than their difference."""
    changes = {"path.loss": {"kind": "gilbert-elliott", "to_bad": 0.0005, "to_good": 0.05}}
    result = ct.compare("drive", ["reno", "cubic"], 3, duration=8, set=changes)
    verdict = result.verdicts["goodput"]
    word = "undecided" if verdict.undecided else "leading"
    assert f"{word}: " in repr(result)
    assert "goodput" in repr(result).split(f"{word}: ")[1].split(";")[0]


def test_values_of_a_wrong_type_are_named() -> None:
    with pytest.raises(ct.CelltcpError, match=r"cca: 1 is of type int; allowed: names of"):
        ct.compare("drive", cca=[1])  # type: ignore[list-item]
    with pytest.raises(ct.CelltcpError, match="scenario: None is of type NoneType; allowed: "):
        ct.run(None)  # type: ignore[arg-type]
    with pytest.raises(ct.CelltcpError, match=r"celltcp\.load_scenario loads one"):
        ct.Scenario("drive.toml")


def test_warnings_have_how_a_data_frame_was_read_and_what_the_path_has_beside_it() -> None:
    """A buffer that nobody gave decides on the delay of CUBIC."""
    trace = pd.DataFrame({"time": [0.0, 1.0, 2.0, 3.0], "Mbit/s": [10.0, 12.0, 9.0, 11.0]})
    result = ct.compare(trace, "cubic,bbr", 1, duration="3s", set={"path.rtt": "50ms"})
    assert any('time "time" in s, rate "Mbit/s" in Mbit/s' in text for text in result.warnings)
    (assumed,) = (text for text in result.warnings if text.startswith("assumed"))
    assert "path.buffer=" in assumed
    assert "path.rtt" not in assumed
    given = {"path.rtt": "50ms", "path.buffer": "100packets"}
    given_all = ct.compare(trace, "cubic,bbr", 1, duration="3s", set=given)
    assert not any(text.startswith("assumed") for text in given_all.warnings)


def test_intervals_longer_than_their_means_have_a_warning_that_sweeps_have_once() -> None:
    """Three runs meet other parts of a capacity that swings between a tenth and twenty Mbit/s."""
    rates = [0.1, 20.0, 0.1, 20.0, 20.0, 0.1]
    times = [30.0 * number for number in range(len(rates))]
    trace = pd.DataFrame({"time": times, "Mbit/s": rates})
    settings = {"path.rtt": "50ms", "path.buffer": "100packets"}
    result = ct.compare(trace, "cubic,bbr", 3, duration="20s", set=settings)
    goodputs = result.values("cubic", "goodput_mbps")
    half = 4.303 * np.std(goodputs, ddof=1) / math.sqrt(3)
    assert 2 * half > np.mean(goodputs)
    assert sum("3 runs decide little" in text for text in result.warnings) == 1
    vary = {"path.buffer": ["50packets", "100packets"]}
    sweep = ct.sweep(trace, vary, "cubic,bbr", 3, duration="20s", set={"path.rtt": "50ms"})
    assert sum("3 runs decide little" in text for text in sweep.warnings) == 1
    steady = ct.compare("steady-20-68", "cubic,bbr", 3, duration="10s")
    assert not any("decide little" in text for text in steady.warnings)


def test_the_distribution_of_rtts_has_the_95th_percentile_of_the_table() -> None:
    """Slots of an empty link have few segments, so that they count less than those of a full one."""
    trace = pd.DataFrame({"time": [0.0, 10.0, 20.0], "Mbit/s": [2.0, 30.0, 4.0]})
    settings = {"path.rtt": "50ms", "path.buffer": "100packets"}
    result = ct.compare(trace, "cubic", 1, duration="30s", set=settings)
    line = result.plot.ecdf("rtt").axes[0].lines[0]
    rtts, shares = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    p95 = rtts[np.searchsorted(shares, 0.95)]
    expected = result.values("cubic", "rtt_p95_ms")[0]
    assert p95 == pytest.approx(expected, rel=0.1)
    assert result.slots["rtt_mean_ms"].quantile(0.95) > 1.2 * expected
