"""Comparisons along the values of a field."""

import json
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import celltcp as ct
from celltcp.cli.json_schema import schema_of
from celltcp.comparison.sweep.vary import parse_vary
from celltcp.comparison.verdicts.verdict_tables import short_text, verdicts_table
from workloads import DEEP_BUFFER, GAME

QUICK = ("--runs", "1", "--duration", "5s", "--cca", "cubic")


def test_whole_numbers_and_lists_are_understood() -> None:
    assert parse_vary("tcp.window_scale=0..14") == ("tcp.window_scale", [str(n) for n in range(15)])
    assert parse_vary("path.rtt=18ms, 68ms") == ("path.rtt", ["18ms", "68ms"])
    assert parse_vary("a=-1..1") == ("a", ["-1", "0", "1"])
    tables = ["droptail", "{kind='fq-codel',target='36ms'}", "[{at='1s',rate='1Mbit/s'},{at='2s'}]"]
    assert parse_vary(f"path.queue={', '.join(tables)}") == ("path.queue", tables)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("path.rtt", "not a field with values"),
        ("=1..2", "not a field with values"),
        ("a=2..1", "not a field with values"),
        ("a=1,,2", "not a field with values"),
        ("a=1,1", "1 twice"),
        ("a=0..1000000000", "too many"),
    ],
)
def test_what_is_no_sweep_is_refused(celltcp, tmp_path: Path, text: str, part: str) -> None:
    done = celltcp("sweep", "steady-5-18", "--vary", text, *QUICK, "--out", "out")
    assert done.returncode == 2
    assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_a_field_is_either_set_or_varied(celltcp) -> None:
    vary = ("--vary", "path.rtt=20ms,40ms")
    done = celltcp("sweep", "steady-5-18", "--set", "path.rtt=60ms", *vary, *QUICK)
    assert done.returncode == 2
    assert "path.rtt is varied, too" in done.stderr
    with pytest.raises(ct.CelltcpError, match=r"path\.rtt is varied, too"):
        ct.sweep("steady-5-18", {"path.rtt": ["20ms"]}, "cubic", 1, set={"path": {"rtt": "60ms"}})


def test_a_value_that_the_field_refuses_is_told_before_anything_runs(celltcp) -> None:
    done = celltcp("sweep", "steady-5-18", "--vary", "tcp.window_scale=13..15", *QUICK)
    assert done.returncode == 2
    assert "tcp.window_scale" in done.stderr
    assert "15" in done.stderr


def test_each_step_of_the_window_scale_doubles_the_goodput_until_the_pipe_is_full() -> None:
    """RFC 7323 section 2: a window is 65535 bytes, shifted; 100 Mbit/s and 150 ms hold 1.9 MB."""
    result = ct.sweep("limits/window-scale", "tcp.window_scale=0..6", cca="cubic", runs=1)
    goodput = result.summary["goodput_mbps", "mean"].tolist()
    for scale, mbps in enumerate(goodput[:5]):
        assert 0.9 < mbps / (65_535 * 2**scale * 8e-6 / 0.150) < 1.0
    assert min(goodput[5:]) > 90


def test_each_value_is_what_a_comparison_with_it_is() -> None:
    swept = ct.sweep("drive", "path.rtt=20ms,80ms", cca=["cubic", "reno"], runs=2, duration="3s")
    alone = ct.compare("drive", cca=["cubic", "reno"], runs=2, duration="3s", set={"path.rtt": "80ms"})
    assert swept.comparisons["80ms"].to_json() == alone.to_json()
    assert swept.comparisons["20ms"].to_json() != alone.to_json()
    for name, table in alone.results.tables.items():
        selected = swept.comparisons["80ms"].results.tables[name]
        pd.testing.assert_frame_equal(selected.to_pandas(), table.to_pandas())


def test_results_pictures_and_json_are_kept(celltcp, tmp_path: Path) -> None:
    arguments = ("sweep", "steady-5-18", "--vary", "path.rtt=20ms,40ms", *QUICK)
    done = celltcp(*arguments, "--out", "out", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert "path.rtt" in done.stdout
    folders = {file.name for file in (tmp_path / "out").iterdir()}
    assert folders == {"celltcp.json", "path.rtt=20ms", "path.rtt=40ms", "sweep.png", "sweep.svg"}
    assert pq.read_table(tmp_path / "out" / "path.rtt=40ms" / "runs.parquet").num_rows == 1
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["field"] == "path.rtt"
    assert list(document["values"]) == ["20ms", "40ms"]
    assert "cubic" in celltcp("show", "out/path.rtt=40ms").stdout


#: A game, whose goodput ranks nothing, and a download beside it.
GAME_FIRST = f"""
name = "game"
duration = "8s"
{DEEP_BUFFER}[[flows]]
name = "game"
workload = {GAME}
"""


def test_a_sweep_has_the_best_cca_of_each_flow_and_by_a_chosen_metric(celltcp, tmp_path: Path) -> None:
    download = '[[flows]]\nname = "download"\ncca = "cubic"\n'
    (tmp_path / "game.toml").write_text(GAME_FIRST + download)
    arguments = ("game.toml", "--vary", "path.buffer=1bdp,4bdp", "--cca", "cubic,bbr", "--runs", "2")
    done = celltcp("sweep", *arguments, "--by", "response_p99_s:game", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    headings = done.stdout.replace("\n", " ")
    assert "for game: response p99" in headings
    for value in json.loads((tmp_path / "o.json").read_text())["values"].values():
        flows = [(each["flow"], each["metric"]) for each in value["flow_verdicts"]]
        assert flows == [("game", "response_p95_s"), ("download", "goodput_mbps")]
        (chosen,) = value["by"]
        assert (chosen["flow"], chosen["metric"]) == ("game", "response_p99_s")
    result = ct.sweep(tmp_path / "game.toml", "path.buffer=1bdp,4bdp", "cubic,bbr", 2)
    table = verdicts_table(result.axes, result.points, ("response_p99_s:game",))
    assert [column.heading for column in table.columns] == [
        "path.buffer",
        "for game: response p99",
        "for game: response p95",
        "for download: goodput",
    ]
    for (value, *cells), comparison in zip(table.rows, result.points.values(), strict=True):
        stakes = {each.flow: each.verdict for each in comparison.ranked_stakes}
        assert cells[1] == short_text(stakes["game"], {"cubic": "cubic", "bbr": "bbr"}), value
    refused = celltcp("sweep", *arguments, "--by", "speed")
    assert refused.returncode == 2
    assert "by: 'speed' is not a metric" in refused.stderr


def test_relative_differences_are_described_as_shares() -> None:
    schema = json.dumps(schema_of("compare"))
    assert "Goodput, Mbit/s. Relative difference, a share: the geometric mean" in schema


def test_one_run_of_what_is_random_has_one_line_on_runs(celltcp) -> None:
    arguments = ("sweep", "drive", "--vary", "path.rtt=20ms,40ms", "--duration", "2s")
    one = celltcp(*arguments, "--cca", "cubic,bbr,reno", "--runs", "1").stdout
    assert one.count("--runs 10") == 1
    assert "Best CCA" not in one
    assert not re.search(r"path\.rtt: .*(grows|falls|change)", one)
    assert "Best CCA" in celltcp(*arguments, "--cca", "cubic,bbr,reno", "--runs", "2").stdout


def test_a_parameter_of_a_cca_is_no_field_and_has_the_ccas_to_compare() -> None:
    vary = {"cca.w": ["10", "50"]}
    for each in (vary, "cca.w=10,50"):
        with pytest.raises(ct.CelltcpError, match=r"--cca NAME:w=10,NAME:w=50"):
            ct.sweep("steady-20-68", each, "cubic", 1)


def test_warnings_that_differ_in_numbers_are_one_with_their_range() -> None:
    """Each buffer has other random losses, below the 30 of a steady state."""
    vary = {"path.buffer": ["20packets", "60packets", "240packets"]}
    sweep = ct.sweep("steady-20-68", vary, "cubic", 2, duration="20s", set={"path.loss": 0.001})
    own = [text for each in sweep.points.values() for text in each.warnings if "random losses" in text]
    counts = [float(re.findall(r"about ([\d.]+) random losses", text)[0]) for text in own]
    assert len(set(own)) > 1
    (text,) = (each for each in sweep.warnings if "random losses" in each)
    assert text.startswith("path.buffer=20packets, 60packets, 240packets: cubic, flow-1: a run has ")
    assert f"about {min(counts):g} to {max(counts):g} random losses (loss rate 0.001)" in text


@pytest.mark.parametrize("name", ["nosuch.trace", "nosuch"])
def test_a_scenario_that_is_no_file_and_no_built_in_name_is_said_to_be_none(name: str) -> None:
    with pytest.raises(ct.CelltcpError, match="there is no such file or built-in name"):
        ct.load_scenario(name)
