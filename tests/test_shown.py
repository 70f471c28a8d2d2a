"""Pictures and texts as a person meets them: notebooks, files, sizes, JSON, versions."""

from __future__ import annotations

import importlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as celltcp_group
from celltcp.cli.output import print_result
from celltcp.present.palette import colour
from celltcp.present.section import Column, Table
from celltcp.present.style import draw_series, figure, styled
from celltcp.present.terminal import Terminal
from store import COMPARED

QUICK = ("--runs", "2", "--duration", "3s", "--cca", "cubic,bbr")


def test_results_and_pictures_show_themselves_in_a_notebook() -> None:
    result = ct.compare("drive", ["cubic", "bbr"], 2, duration="3s")
    assert repr(result).startswith("<Comparison drive: 2 runs of cubic, bbr; ")
    assert "<table" in result._repr_html_()
    assert result.plot.ecdf()._repr_png_().startswith(b"\x89PNG")
    assert repr(result.results).startswith("<Results drive; rows: runs 4, flows 4, ")
    swept = ct.sweep("drive", "path.rtt=20ms,80ms", ["cubic", "bbr"], 2, duration="2s")
    assert repr(swept) == "<Sweep drive, path.rtt = 20ms, 80ms: 2 runs of cubic, bbr>"
    assert swept._repr_html_().count("80ms") == 1
    one = ct.run("drive", "bbr", duration="3s")
    assert repr(one).startswith("<SingleRun drive, bbr, seed 1: ")
    assert one.plot.time_series()._repr_png_().startswith(b"\x89PNG")


def test_json_is_made_only_where_it_is_written(tmp_path: Path) -> None:
    shown: list[str] = []

    def document() -> dict[str, str]:
        shown.append("JSON")
        return {}

    print_result(document, None, lambda: shown.append("table"))
    assert shown == ["table"]
    print_result(document, str(tmp_path / "o.json"), lambda: shown.append("table"))
    assert shown == ["table", "JSON", "table"]


def test_warnings_and_verdicts_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ct.compare("drive", ["cubic", "bbr"], 2, duration="2s")
    first, verdicts = result.warnings, result.verdicts
    for name in ("warnings.all_warnings", "metrics.verdict"):
        monkeypatch.setattr(f"celltcp.comparison.{name}", lambda *_, **__: 1 / 0)
    assert result.to_json()["warnings"] == result.warnings == first
    assert result.verdicts == verdicts
    # What a caller does with them is not in the next answer.
    result.warnings.append("mine")
    result.verdicts.clear()
    assert (result.warnings, result.verdicts) == (first, verdicts)


def test_a_connection_is_a_line_where_no_terminal_breaks_it(celltcp) -> None:
    done = celltcp("run", "drive", "--duration", "2s", "--cca", "cubic")
    line, title, *_ = done.stdout.splitlines()
    assert line.startswith("flow-1 (cubic): ")
    assert title.strip() == "What limited the flows, %"
    assert len(line) > 120
    for word in ("retransmission", "time-out"):
        assert f" 1 {word}s" not in line


def test_one_congestion_control_is_not_called_the_best(celltcp) -> None:
    command = ("compare", "drive", "--runs", "2", "--duration", "2s", "--json")
    done = celltcp(*command, "one.json", "--cca", "cubic")
    assert "cubic" in done.stdout
    assert "best" not in done.stdout
    both = json.loads(celltcp(*command, "-", "--cca", "cubic,bbr", "--runs", "1").stdout)
    for verdict in both["verdicts"].values():
        assert {verdict["leader"], *verdict["undecided"]} == {"cubic", "bbr"}


def test_a_table_that_is_too_wide_in_other_columns_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [Column(f"scenario {number}", name=f"s{number}") for number in range(30)]
    Terminal(60).print_table(Table(tuple(columns), (("x",) * 30,)))
    assert "omitted" not in capsys.readouterr().out


@pytest.mark.rendered
def test_text_stays_text_in_svg_and_truetype_in_pdf(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    assert celltcp("show", "r", "--plot", "overview", "--out", "o.svg").returncode == 0
    assert "goodput, Mbit/s</text>" in (tmp_path / "o.svg").read_text()
    assert celltcp("show", "r", "--plot", "ecdf", "--out", "p.pdf").returncode == 0
    picture = (tmp_path / "p.pdf").read_bytes()
    assert b"/CIDFontType2" in picture
    assert b"/Type3" not in picture


@pytest.mark.rendered
def test_size_style_and_title_can_be_asked_for(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    command = ("show", "r", "--plot", "ecdf", "--out", "p.svg")
    done = celltcp(*command, "--size", "7x3", "--style", "ggplot", "--title", "Mine")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "p.svg").read_text()
    assert 'width="504pt" height="216pt"' in text
    assert "Mine</text>" in text
    for wrong in (("--size", "big"), ("--style", "nothing")):
        done = celltcp(*command, *wrong)
        assert done.returncode == 2
        assert re.search(f"{wrong[0][2:]}: (invalid|unknown) '{wrong[1]}'; allowed: ", done.stderr)
    for tiny in ("1x1", "1x1.2"):
        done = celltcp(*command, "--size", tiny)
        assert done.returncode == 2
        assert f"size: {tiny} is too small for this picture; without a size it has " in done.stderr
    with styled("4x4"):
        assert tuple(figure(1, 1).get_size_inches()) == (4, 4)
    assert tuple(figure(1, 1).get_size_inches()) == (1, 1)


@pytest.mark.parametrize(
    "command",
    [
        *(("compare",), ("run",), ("sweep",), ("show",), ("papers",), ("fidelity",)),
        *(("select", "evaluate"), ("select", "explain"), ("radio", "calibrate"), ("traces", "plot")),
    ],
)
def test_every_command_with_pictures_has_the_options_of_their_looks(command) -> None:
    told = CliRunner().invoke(celltcp_group, [*command, "--help"]).output
    assert all(option in told for option in ("--size", "--style", "--title"))


@pytest.mark.rendered
def test_pictures_are_drawn_again_for_other_looks(celltcp, tmp_path: Path) -> None:
    command = ("sweep", "drive", "--vary", "path.rtt=18ms,68ms", *QUICK, "--out", "r")
    assert celltcp(*command).returncode == 0
    text = (tmp_path / "r" / "sweep.svg").read_text()
    assert "drive: 2 runs of each CCA</text>" in text
    assert "native engine</text>" in text
    done = celltcp(*command, "--title", "Mine", "--size", "6x4")
    assert "nothing was run" in done.stderr
    text = (tmp_path / "r" / "sweep.svg").read_text()
    assert "Mine</text>" in text
    assert 'width="432pt" height="288pt"' in text


def test_a_place_without_anything_to_write_there_is_refused(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    result = celltcp("show", "r", "--out", "p.png")
    assert result.returncode == 2
    assert "--out goes with --format, --plot" in result.stderr
    assert not (tmp_path / "p.png").exists()


@pytest.mark.rendered
def test_a_sweep_tells_its_warnings_in_the_table_and_the_picture(celltcp, tmp_path: Path) -> None:
    done = celltcp(
        *("sweep", "steady-20-68", "--vary", "tcp.window_scale=0,7", *QUICK, "--out", "r"),
    )
    assert "warning: tcp.window_scale=0: cubic, bbr: for" in done.stdout
    assert "the receive window was full" in " ".join(done.stdout.split())
    assert "the receive window was full" in (tmp_path / "r" / "sweep.svg").read_text()


def test_commands_are_listed_without_cut_sentences() -> None:
    for words in ([], ["select"], ["kernel"], ["traces"], ["radio"], ["fidelity"], ["pcap"], ["shell"]):
        told = CliRunner().invoke(celltcp_group, [*words, "--help"], terminal_width=80).output
        assert "..." not in told.partition("Commands:")[2]


def test_labels_are_no_longer_than_their_axes(tmp_path: Path) -> None:
    picture = figure(6, 3)
    for axes in picture.subplots(1, 2):
        axes.set_xlabel("95th percentile of the one-way delay, ms (left is better)")
    picture.savefig(tmp_path / "p.png")
    for axes in picture.axes:
        label = axes.xaxis.label
        assert "one-way" in label.get_text().replace("\n", " ")
        assert label.get_window_extent().width <= 1.2 * axes.get_window_extent().width


def test_a_long_series_is_a_band_that_keeps_its_extremes() -> None:
    picture = figure(5, 3)
    axes = picture.add_subplot()
    values = np.ones(100_000)
    values[54_321], values[1_000], values[5] = 9.0, -4.0, np.nan
    draw_series(axes, np.arange(100_000.0), values, color="red")
    (drawn,) = axes.get_lines()
    assert len(drawn.get_xdata()) < 1000
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (-4.0, 9.0)


def test_members_of_a_family_differ_in_line_or_marker() -> None:
    # A process of its own: other tests register CCAs in this one.
    code = """
from celltcp.scenarios.ccas import catalogue
from celltcp.present.palette import (colour, lines, markers)
ccas = catalogue()
line, marker = (of(each["name"] for each in ccas) for of in (lines, markers))
looks = {(each["family"], str(line[each["name"]]), marker[each["name"]]) for each in ccas}
print(len(ccas), len(looks), len({colour(each["name"]) for each in ccas}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ccas, looks, colours = done.stdout.split()
    assert ccas == looks == colours


def test_a_run_and_stored_results_are_told_as_json(celltcp, tmp_path: Path) -> None:
    done = celltcp("run", "drive", "--cca", "bbr", "--duration", "3s", "--json", "-", "--out", "one")
    document = json.loads(done.stdout)
    assert document["cca"] == "bbr"
    assert document["flows"][0]["goodput_mbps"] > 0
    assert document["engine"]["name"] == "native"
    assert json.loads(celltcp("show", "one", "--json", "-").stdout) == document
    done = celltcp("compare", "drive", *QUICK, "--json", "r.json", "--out", "r")
    shown = json.loads(celltcp("show", "r", "--json", "-").stdout)
    assert shown == json.loads((tmp_path / "r.json").read_text())


def test_the_version_tells_build_and_engines(celltcp) -> None:
    lines = celltcp("--version").stdout.splitlines()
    assert lines[0] == f"celltcp, version {ct.__version__}"
    assert len(lines[1].split()[1]) == 16
    assert lines[2].startswith("engines  native; kernel (")


def test_ranks_of_equal_values_are_shared() -> None:
    from celltcp.publications.ranks import ranks

    result = ranks(np.array([[3.0, 1.0, 3.0, 2.0], [1.0, 1.0, 1.0, 1.0]]))
    assert result.tolist() == [[3.5, 1.0, 3.5, 2.0], [2.5] * 4]


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_fits_the_terminal_and_says_what_it_leaves_out(monkeypatch, capsys, width) -> None:
    module = importlib.import_module("celltcp.cli.comparison_output")
    result = ct.compare("drive", ["cubic", "illinois", "bbr"], 3, duration="5s")
    narrow = Terminal(width, io.StringIO())
    monkeypatch.setattr(module, "Terminal", lambda: narrow)
    module.print_comparison(result)
    text = narrow.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "illinois" in text
    # A file has all columns.
    assert "Columns omitted" not in text
    assert text.count("missions") == 1
    assert not capsys.readouterr().out


def test_units_are_listed_and_percentages_are_losses(celltcp) -> None:
    listed = celltcp("units").stdout
    assert all(unit in listed for unit in ("Mbit/s", "KiB", "min", "bdp", "1%"))
    same = [ct.load_scenario("drive", changes={"path.loss": loss}).hash for loss in ("0.01", "1%")]
    assert same[0] == same[1]
    with pytest.raises(ct.CelltcpError, match=r"path\.loss"):
        ct.load_scenario("drive", changes={"path.loss": "much"})


@pytest.mark.parametrize("name", ["cubic", "sprout"])
def test_a_colour_is_the_same_in_every_picture(name: str) -> None:
    from celltcp.present.palette import colours

    assert colours(["auto:policy=rules", "cubic:hystart=off", name])[name] == colour(name)


def test_a_scenario_shows_itself() -> None:
    scenario = ct.load_scenario("steady-5-18", changes={"description": "a < b & c"})
    assert repr(scenario).startswith("<Scenario steady-5-18: 60s, cubic, hash ")
    page = scenario._repr_html_()
    assert "a &lt; b &amp; c" in page
    assert "<pre>" in page
    assert "[path]" in page


@pytest.mark.rendered
def test_a_picture_of_a_single_run_is_the_asked_one_or_refused(celltcp, tmp_path: Path) -> None:
    game = '{ kind = "request-response", request = "100B", response = "200B", gap = "100ms" }'
    made = celltcp(
        *("run", "steady-5-18", "--cca", "cubic", "--duration", "3s", "--out", "one"),
        *("--set", f"flows.0.workload={game}"),
    )
    assert made.returncode == 0, made.stderr
    drawn = {}
    for plot in ("time-series", "time-series-raw", "ecdf", "units", "startup"):
        metric = ("--metric", "response") if plot in ("ecdf", "units") else ()
        done = celltcp("show", "one", "--plot", plot, *metric, "--out", f"{plot}.png")
        assert done.returncode == 0, done.stderr
        drawn[plot] = (tmp_path / f"{plot}.png").read_bytes()
    assert len(set(drawn.values())) == len(drawn)
    for plot in ("overview", "spider", "throughput-delay"):
        done = celltcp("show", "one", "--plot", plot)
        assert done.returncode == 2
        assert "allowed here: time-series, time-series-raw, legs, video, ecdf" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fragment",), "--fragment goes with --format latex"),
        (("--format", "markdown", "--fragment"), "--fragment goes with --format latex"),
        (("--scenarios-as", "rows"), "--scenarios-as goes with --format latex or markdown"),
        (("--format", "csv", "--scenarios-as", "columns"), "--scenarios-as goes with --format"),
    ],
)
def test_options_of_summaries_are_refused_without_one(
    celltcp, options: tuple[str, ...], message: str
) -> None:
    done = celltcp("show", "one", *options)
    assert done.returncode == 2
    assert message in done.stderr
