"""Reports: what is in them, whatever the results, and that nothing in them is taken for markup."""

from __future__ import annotations

import base64
import html
import io
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import celltcp as ct
from celltcp.cli.load_folder import parts_of
from celltcp.cli.write_report import write_reports
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.report.comparison import comparison_part
from celltcp.present.chart import Chart, Panel, Series
from celltcp.present.css_colors import contrast, on_dark
from celltcp.present.js_arrays import pack_values, pack_x
from celltcp.present.markdown import markdown_section
from celltcp.present.page import page_of
from celltcp.present.palette import COLOURS
from celltcp.present.section import Column, Section, Table
from celltcp.present.terminal import Terminal
from celltcp.results.folder import about_in
from reports import Taken, compared, page_with, walk
from store import COMPARED, Store

EVIL = "<script>alert('1')</script>\"&amp;</title>--><b>$x$"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, store: Store) -> Path:
    """A comparison."""
    return shutil.copytree(store.results(*COMPARED), tmp_path_factory.mktemp("report") / "compared")


def page_on(folder: Path) -> str:
    """The report on a folder."""
    (file,) = write_reports([folder], folder.parent / "report.html", overwrite=True)
    return file.read_text("utf-8")


def test_a_report_has_answer_tables_pictures_scenario_versions_and_command(folder: Path) -> None:
    page = page_on(folder)
    taken = Taken(page)
    assert "Which of cubic, bbr is best on drive, in 2 runs of 3 s each" in taken.text("p")
    assert "Best for goodput" in taken.text("div")
    assert taken.count("svg") == 5
    headings = taken.text("h3")
    for title in ("Means and 95 % intervals", "How sure", "Goodput against delay", "Scenario"):
        assert title in headings
    result = ct.load(folder)
    assert f"{result.summary.loc['bbr', ('goodput_mbps', 'mean')]:.2f}" in taken.text("td")
    assert result.results.about["build"] in taken.text("td")
    assert result.results.about["hash"] in taken.text("td")
    assert "# Name in results" in html.unescape(taken.text("pre"))
    assert (
        "celltcp compare drive --duration 3s --cca cubic,bbr --set path.queue=fq-codel"
        in taken.text("pre")
    )
    command = "celltcp compare drive --duration 3s --cca cubic,bbr --runs 2 --seed 1 --out results"
    assert command in taken.text("pre")


def test_a_report_names_nothing_outside_of_itself(folder: Path) -> None:
    page = page_on(folder)
    assert "default-src 'none'" in page
    for _, attributes in Taken(page).elements:
        for name in ("src", "href", "xlink:href", "action", "srcset", "data"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:")), (name, value)
    assert not re.findall(r"@import|url\((?!#)", page)


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2"):
        file = tmp_path / seed / "report.html"
        file.parent.mkdir()
        command = [sys.executable, "-m", "celltcp", "report", str(folder), "--out", str(file)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        pages.append(file.read_bytes())
    assert pages[0] == pages[1]


def test_names_from_users_are_texts_everywhere(folder: Path) -> None:
    result = ct.load(folder)
    assert isinstance(result, Comparison)
    about = {**result.results.about, "name": EVIL}
    part = comparison_part(Comparison(replace(result.results, about=about)), f"celltcp {EVIL}")
    part = replace(part, warnings=(EVIL,))
    page = page_of([part, part], EVIL, EVIL)
    taken = Taken(page)
    plain = Taken(page_of([comparison_part(result, "c")] * 2, "t", "c"))
    assert taken.count("script") == plain.count("script")
    assert taken.count("b") == 0
    assert EVIL in taken.text("h1")
    assert EVIL in taken.text("title")
    assert taken.text("p").count(EVIL) >= 4


def test_numbers_of_a_chart_cannot_end_their_element() -> None:
    series = Series("</script><b>", "#0072B2", np.ones(3))
    chart = Chart(np.arange(3.0), "<x>", "&", (Panel("<y>", "", (series,)),))
    from celltcp.present.page import _json

    text = str(_json(chart.to_json()))
    assert not set("<>&") & set(text)


@pytest.mark.slow
def test_the_command_of_a_report_makes_the_results_again(celltcp, tmp_path: Path) -> None:
    options = ("--cca", "cubic,bbr", "--runs", "2", "--duration", "2s", "--seed", "5", "--out")
    assert celltcp("compare", "drive", *options, "a").returncode == 0
    changed = ("--set", "path.buffer=80packets")
    assert celltcp("compare", "drive", *changed, *options, "b").returncode == 0
    for name in ("a", "b"):
        (part,) = parts_of(tmp_path / name)
        for section in part.sections:
            if section.file:
                (tmp_path / section.file).write_text(section.code)
        command = shlex.split(part.sections[-1].code)
        assert celltcp(*command[1:-1], f"{name}-again").returncode == 0
        first, again = (about_in(tmp_path / each) for each in (name, f"{name}-again"))
        assert first is not None
        assert again is not None
        assert first["keys"] == again["keys"]


@pytest.mark.slow
def test_all_congestion_controls_fit_a_report(tmp_path: Path) -> None:
    page = page_on(compared(tmp_path / "all", cca=",".join(COLOURS), runs=1, duration="2s"))
    taken = Taken(page)
    for cca in COLOURS:
        assert cca in taken.text("td")
    assert "one run of a random scenario is not conclusive" in taken.text("div")
    assert len(page) < 1_500_000


def test_a_run_a_sweep_a_set_and_captures_have_reports(celltcp, tmp_path: Path) -> None:
    short = ("--duration", "2s", "--out")
    runs = ("--runs", "2", "--cca", "cubic,bbr")
    vary = ("--vary", "path.rtt=5ms,20ms,200ms")
    assert celltcp("run", "drive", "--pcap", "a.pcap", *short, "run").returncode == 0
    assert celltcp("sweep", "drive", *vary, *runs, *short, "sweep").returncode == 0
    assert celltcp("compare", "drive", "fall", *runs, *short, "set").returncode == 0
    assert celltcp("pcap", "analyze", "a.pcap", "--out", "captures").returncode == 0
    expected = {
        "run": ("What does cubic do on drive", "Every ACK"),
        "sweep": ("for each path.rtt of 5ms, 20ms, 200ms", "Along the values"),
        "set": ("Which of cubic, bbr is best on drive, fall?", "Means over the scenarios"),
        "captures": ("What do a.pcap tell", "All connections"),
    }
    done = celltcp("report", *expected, "--out", "all.html")
    assert done.returncode == 0, done.stderr
    taken = Taken((tmp_path / "all.html").read_text())
    for asked, title in expected.values():
        assert asked in taken.text("p")
        assert title in taken.text("h3")
    assert taken.count("article") == 6


@pytest.mark.slow
def test_an_evaluation_and_an_experiment_have_reports(celltcp, tmp_path: Path) -> None:
    short = ("--runs", "2", "--out")
    ccas = ("--cca", "cubic,bbr", "--against", "", "--scenarios", "steady-5-18")
    options = (*ccas, "--set", "duration=2s", *short)
    assert celltcp("select", "evaluate", *options, "policies").returncode == 0
    assert celltcp("papers", "atxutegi2017", "figure-2", *short, "paper").returncode == 0
    taken = Taken(page_on(tmp_path / "policies"))
    asked = "How close to the best fixed CCA does the policy default come on 1 scenario"
    assert asked in taken.text("p")
    taken = Taken(page_on(tmp_path / "paper"))
    assert "of 2 hold here" in taken.text("div")
    assert "celltcp papers atxutegi2017 figure-2 --runs 2" in taken.text("pre")


def test_results_without_anything_delivered_have_a_report(tmp_path: Path) -> None:
    page = page_on(compared(tmp_path / "none", runs=1, duration="300ms", set={"path.rtt": "800ms"}))
    assert "undecided" in Taken(page).text("div")
    (tmp_path / "e.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    from celltcp.pcap import analyse

    analyse(tmp_path / "e.pcap", tmp_path / "captures")
    assert "no TCP connection was found" in Taken(page_on(tmp_path / "captures")).text("div")


@pytest.mark.parametrize("name", ["missing", "empty", "begun"])
def test_folders_without_results_are_named(celltcp, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "begun" / "finished").mkdir(parents=True)
    done = celltcp("report", name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"celltcp: {name}: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("kind", ["out", "pdf", "page"])
def test_a_report_on_other_results_is_kept(celltcp, tmp_path: Path, store: Store, kind: str) -> None:
    """Those of the same folder are replaced, as by a rerun, also with a slash at its end."""
    own, other, file = tmp_path / "mine, it's (two) \u03c0", tmp_path / "one", tmp_path / "written"
    for folder in (own, other):
        shutil.copytree(store.results(*COMPARED), folder)
    for name in (own, f"{own}/", own.parent / "." / own.name):
        write_reports([name], **{"out": None, kind: file})
    before = file.read_bytes()
    done = celltcp("report", "one", f"--{kind}", "written")
    assert done.returncode == 2
    message = "written: exists, and is a report on other results; give another name, or --overwrite"
    assert message in done.stderr
    assert file.read_bytes() == before
    write_reports([other], **{"out": None, kind: file}, overwrite=True)
    assert file.read_bytes() != before


def test_three_renderers_have_the_same_cells() -> None:
    columns = (Column("CCA"), Column("good-\nput", is_number=True, name="goodput"))
    table = Table(columns, (("cubic", "1.00 ±0.10"), ("bbr", "2.00")), title="Means")
    page = Taken(page_of([_part(Section("Means", table))], "t", "c"))
    assert page.texts["th"] == ["CCA", "goodput"]
    assert page.texts["td"] == ["cubic", "1.00 ±0.10", "bbr", "2.00"]
    text = markdown_section(Section("Means", table, text=("Words.",)))
    assert text == (
        "## Means\n\nWords.\n\n| CCA | goodput |\n| -- | -- |\n| cubic | 1.00 ±0.10 |\n| bbr | 2.00 |\n"
    )
    file = io.StringIO()
    Terminal(80, file).print_table(table.without(("goodput",)))
    texts = [line.strip("┃│ ") for line in file.getvalue().splitlines()]
    assert [text for text in texts if text.isalpha()] == ["Means", "CCA", "cubic", "bbr"]


def _part(section: Section):
    from celltcp.present.section import Part

    return Part("p", "?", (), (section,))


def unpacked(packed, width: int) -> np.ndarray:
    """Packed numbers, as the script of a report unpacks them."""
    count = packed["count"]
    planes = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), np.uint8)
    changes = sum(
        plane.astype(np.int64) << 8 * place for place, plane in enumerate(planes.reshape(width, count))
    )
    return np.cumsum(changes) % (1 << 8 * width)


def test_numbers_keep_their_precision() -> None:
    values = walk(5000)
    values[7] = np.nan
    packed = pack_values(values)
    result = packed["low"] + packed["step"] * unpacked(packed, 2)
    known = ~np.isnan(values)
    assert (
        np.abs(result - values)[known].max() <= 0.51 * (np.nanmax(values) - np.nanmin(values)) / 65534
    )
    assert unpacked(packed, 2)[7] == 65535
    whole = np.array([3.0, 60000.0, 4.0])
    packed = pack_values(whole)
    assert (packed["low"] + packed["step"] * unpacked(packed, 2) == whole).all()
    places = np.cumsum(np.random.default_rng(1).exponential(size=5000))
    packed = pack_x(places)
    result = packed["low"] + packed["step"] * unpacked(packed, 4)
    assert np.abs(result - places).max() <= (places[-1] - places[0]) / 2**26
    assert "data" not in pack_x(np.arange(0.0, 60.0, 0.1))
    assert pack_values(np.full(3, np.nan))["count"] == 3


def test_a_million_points_take_less_than_three_megabytes() -> None:
    places = np.cumsum(np.random.default_rng(1).exponential(size=1_000_000))
    assert len(page_with(places, walk(1_000_000))) < 3_000_000


def test_an_hour_at_every_ack_is_thinned_and_keeps_its_peaks() -> None:
    count = 6_000_000
    values = np.tile(walk(1000), count // 1000)
    values[1_234_567] = 1e4
    chart = Chart(
        np.arange(count) * 6e-4, "t", "s", (Panel("g", "", (Series("a", "#000000", values),)),)
    )
    thin = chart.thinned()
    assert thin.count <= 1_000_000
    assert np.nanmax(thin.panels[0].series[0].values) == 1e4
    assert np.nanmin(thin.panels[0].series[0].values) == values.min()
    assert (np.diff(thin.x) >= 0).all()


@pytest.mark.parametrize("colour", [*COLOURS.values(), "#d9d9d9", "#000000"])
def test_colours_stand_out_on_dark_paper(colour: str) -> None:
    wanted = 1.2 if colour == "#d9d9d9" else 3.0
    assert contrast(on_dark(colour), "#15191e") >= wanted
