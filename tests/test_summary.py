"""Summaries for papers: digits that intervals support, LaTeX, Markdown and CSV; raw exports."""

import csv
import io
import math
import re
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import celltcp as ct
from celltcp.comparison.export.tables import write_csv
from celltcp.present.latex import latex_tables, latex_text
from celltcp.present.rounding import rounded, rounded_text
from celltcp.present.section import Column, Table, number_columns
from celltcp.results.statistics import Estimate, paired_difference
from celltcp.results.tables import Results


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept") / "s"
    ct.sweep(
        *(["drive", "steady-5-18"], {"path.buffer": ["1bdp", "4bdp"]}, ["cubic", "bbr"], 3),
        duration="2s",
        out=folder,
    )
    return folder


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (18.10347, 0.00412, "18.103 ± 0.004"),
        (18.10347, 0.00012, "18.1035 ± 0.0001"),
        (104.47, 0.951, "104 ± 1"),
        (104.47, 0.36, "104.5 ± 0.4"),
        (13.57, 4.62, "14 ± 5"),
        (284.1, 186.4, "300 ± 200"),
        (8.639999999999999, 0.096, "8.6 ± 0.1"),
        (12.3, 9.6, "10 ± 10"),
        (-0.004, 0.3, "0.0 ± 0.3"),
        (312.0, 2100.0, "300 ± 2000"),
        (-0.021, 0.2, "-0.02 ± 0.2"),
        (1400.0, 2100.0, "1000 ± 2000"),
        (12.0, 2100.0, "0 ± 2000"),
        (18.216, None, "18.22"),
        (math.nan, None, "-"),
    ],
)
def test_an_interval_has_one_significant_digit_and_the_mean_its_place(
    mean: float, half: float | None, text: str
) -> None:
    assert rounded_text(Estimate(mean, half), 2) == text


def test_columns_can_be_chosen_and_keep_their_order(celltcp, swept: Path) -> None:
    def shown(*options: str) -> str:
        done = celltcp("show", str(swept), *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    heads = shown("--format", "markdown", "--columns", "rtt,goodput").splitlines()[2]
    assert heads == (
        "| scenario | path.buffer | CCA | mean RTT ms | p95 RTT ms | highest RTT ms | lowest RTT ms "
        "| goodput Mbit/s |"
    )
    rows = list(csv.DictReader(io.StringIO(shown("--format", "summary-csv", "--columns", "pm_delay"))))
    assert {row["metric"] for row in rows} == {"pm_delay"}
    for columns, message in (
        ("goodput,loss", "'loss' is no metric here; allowed: goodput_mbps"),
        (
            "law",
            "'law' is no metric here: laws of steady states are for endless bulk flows with random",
        ),
    ):
        refused = celltcp("show", str(swept), "--format", "latex", "--columns", columns)
        assert refused.returncode == 2
        assert message in refused.stderr
    refused = celltcp("show", str(swept), "--format", "csv", "--columns", "goodput")
    assert "--columns goes alone or with --format summary-csv, latex or markdown" in refused.stderr


def test_median_and_deviation_of_runs_are_columns_of_each_format(celltcp, swept: Path) -> None:
    def shown(*options: str) -> str:
        done = celltcp("show", str(swept), "--columns", "goodput,median,sd", *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    csv_text = shown("--format", "summary-csv")
    rows = list(csv.DictReader(io.StringIO(csv_text)))
    heads, _, first, *_ = shown("--format", "markdown").splitlines()[2:]
    wanted = "goodput Mbit/s | goodput Mbit/s, median of runs | goodput Mbit/s, sd of runs |"
    assert heads == f"| scenario | path.buffer | CCA | {wanted}"
    assert first.split(" | ")[4] == rows[0]["median"]
    latex = shown("--format", "latex", "--fragment")
    assert f"${rows[0]['median']}$ & ${rows[0]['sd']}$" in latex
    terminal = shown()
    assert all(part in terminal for part in ("median", "sd of", rows[0]["median"]))
    columns = shown("--scenarios-as", "columns")
    assert "median of runs" in columns


def test_a_one_way_delay_is_a_column_on_request(celltcp, swept: Path) -> None:
    usual, owd = (
        celltcp("show", str(swept), "--format", "latex", *options).stdout
        for options in ((), ("--columns", "goodput,owd"))
    )
    assert "one-way delay" in owd
    assert "one-way delay" not in usual
    rows = csv.DictReader(celltcp("show", str(swept), "--format", "summary-csv").stdout.splitlines())
    delays = {float(row["mean"]) for row in rows if row["metric"] == "owd_p95_ms"}
    assert len(delays) > 1


@pytest.mark.parametrize("gap_s", [0.5, 3])
def test_a_percentile_of_too_few_pages_is_in_no_table(gap_s: float, tmp_path: Path, celltcp) -> None:
    page = {"kind": "page", "document": "20kB", "objects": 0, "think": "0s", "gap": f"{gap_s}s"}
    changes = {"flows": [{"name": "web", "workload": page}]}
    ct.compare("steady-20-18", "cubic", 2, duration="20s", set=changes, out=tmp_path / "web")
    csv_text = celltcp("show", str(tmp_path / "web"), "--format", "summary-csv").stdout
    metrics = {row["metric"] for row in csv.DictReader(csv_text.splitlines())}
    # The 95th percentile of fewer than 20 pages is the longest one.
    assert ("page_load_p95_s:web" in metrics) == (gap_s < 1)
    assert not metrics & {"page_load_p99_s:web", "page_load_p999_s:web"}
    assert {"page_load_s:web", "page_load_p50_s:web", "page_load_max_s:web"} <= metrics


def test_special_characters_of_latex_are_escaped() -> None:
    text = r"a_b & 5 % #1 $x {y} ~z ^w \n <1> |c| --d"
    assert latex_text(text) == (
        r"a\_b \& 5 \% \#1 \$x \{y\} \textasciitilde{}z \textasciicircum{}w \textbackslash{}n "
        r"\textless{}1\textgreater{} \textbar{}c\textbar{} -{}-d"
    )


def test_tables_of_a_sweep_keep_marks_and_warnings_as_footnotes(celltcp, tmp_path: Path) -> None:
    """Above 1 % the law of Reno does not hold, and 10 s have few losses at 0.1 %."""
    changes = {"path.down": "200Mbit/s", "path.wired.0.rate": "10Gbit/s"}
    vary = {"path.loss": ["1e-3", "2e-2"], "path.rtt": ["50ms"]}
    ct.sweep("steady-20-68", vary, "reno", 2, duration="10s", set=changes, out=tmp_path / "s")

    def shown(form: str, *options: str) -> str:
        done = celltcp("show", str(tmp_path / "s"), "--format", form, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    latex, markdown = shown("latex"), shown("markdown")
    _compiles(latex, tmp_path)
    assert "$10^{-3}$ & 50~ms & reno" in latex
    assert r"$2 \cdot 10^{-2}$ & 50~ms & reno" in latex
    assert re.search(r"\$[\d.]+\^\{\*\}\$ & ", latex)
    assert re.search(r" \| [\d.]+\* \| ", markdown)
    for text in (latex, markdown):
        assert text.count("* above a loss rate of 1 ") == 1
        (note,) = re.findall(r"reno, flow-1: a run has about .* random losses.*", text)
        assert "1e-3, 50ms: " in text
        # Options to try are none of a thesis.
        assert "steady state needs" not in note
    wide = shown("latex", "--scenarios-as", "columns")
    assert "& RTT 50~ms" in wide
    assert set(re.findall(r"\\usepackage\{(\w+)\}", latex)) == {"booktabs"}


@pytest.mark.parametrize("rows", [2, 60])
def test_tables_are_documents_or_fragments_with_their_packages(rows: int, tmp_path: Path) -> None:
    columns = (Column("a_b"), *number_columns("x"))
    table = Table(columns, (("50 %", "-1.5 ± 0.2"),) * rows, "T & more", frozenset({0}))
    fragment = latex_tables([table], is_document=False)
    assert fragment.startswith("% \\usepackage{booktabs}")
    assert (r"\usepackage{longtable}" in fragment) == (rows > 40)
    assert fragment.count(r"50 \% & $-1.5 \pm 0.2$ \\") == rows
    for environment in re.findall(r"\\begin\{(\w+)\}", fragment):
        assert rf"\end{{{environment}}}" in fragment
    document = latex_tables([table])
    assert document.index(r"\usepackage{booktabs}") < document.index(r"\begin{document}")
    _compiles(document, tmp_path)


def test_a_table_that_is_too_wide_for_a_page_is_split_by_columns(tmp_path: Path) -> None:
    headings = [f"share of late frames {number} (video)" for number in range(18)]
    columns = (Column("scenario"), Column("CCA"), *number_columns(*headings))
    row = ("steady-20-68", "cubic:hystart=off", *(f"0.{number:04} ± 0.0008" for number in range(18)))
    table = Table(columns, (row, row), "T", frozenset({0}))
    document = latex_tables([table])
    parts = re.findall(r"\\caption\{T \(part (\d) of (\d)\)\}", document)
    assert [int(first) for first, _ in parts] == list(range(1, int(parts[0][1]) + 1))
    assert 2 <= len(parts) <= 3
    # Each part has the columns that name its rows, and each number stands in one part.
    assert document.count("steady-20-68 & cubic:hystart=off & ") == 2 * len(parts)
    for number in range(18):
        assert document.count(rf"$0.{number:04} \pm 0.0008$") == 2
    _compiles(document, tmp_path)
    narrow = Table(columns[:4], (row[:4],), "T")
    assert "part 1" not in latex_tables([narrow])
    assert "shortstack" not in latex_tables([narrow])


def test_the_summary_of_an_unfinished_sweep_says_so_in_each_format(
    celltcp, swept: Path, tmp_path: Path
) -> None:
    left = tmp_path / "left"
    shutil.copytree(swept, left)
    # As if a killed command had these points finished, and the third begun.
    state = [17, 24, 5, 8]
    result = ct.load(left / "drive,path.buffer=1bdp").results
    shutil.rmtree(left / "drive,path.buffer=1bdp")
    Results(result.tables, {**result.about, "unfinished": state}).save(left / "drive,path.buffer=1bdp")
    line = "unfinished: 11 of 14 combinations, 35 of 42 runs"
    for form in ("latex", "markdown", "summary-csv"):
        done = celltcp("show", str(left), "--format", form)
        assert done.returncode == 0, done.stderr
        assert line in done.stdout
        assert "unfinished" not in celltcp("show", str(swept), "--format", form).stdout


def test_the_summary_has_means_paired_differences_and_verdicts(celltcp, swept: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO(celltcp("show", str(swept), "--format", "summary-csv").stdout))
    )
    sweep: Any = ct.load(swept)
    for row in rows:
        result = sweep.points[row["scenario"], row["path.buffer"]]
        if row["metric"] == "capacity_share":
            own = result.slots["run"].isin(result.runs.loc[result.runs["cca"] == row["cca"], "run"])
            sums = result.slots[own].groupby("run")[["goodput_mbps", "capacity_mbps"]].sum()
            share = (sums["goodput_mbps"] / sums["capacity_mbps"]).mean()
            place = float(row["ci95"] or 0.01)
            assert float(row["mean"]) == pytest.approx(share, abs=place)
            continue
        values = result.values(row["cca"], row["metric"])
        assert float(row["mean"]) == pytest.approx(
            sum(values) / 3, abs=max(float(row["ci95"] or 0), 0.1)
        )
        digits = len(row["median"].partition(".")[2])
        assert float(row["median"]) == pytest.approx(statistics.median(values), abs=10**-digits)
        assert float(row["sd"]) == pytest.approx(statistics.stdev(values), abs=10**-digits)
        if row["ci95"]:
            # Two significant digits (GUM, 7.2.6), so that rounding is below 5 % of the interval.
            assert len(row["ci95"].replace(".", "").strip("0")) <= 2
            assert abs(float(row["mean"]) - sum(values) / 3) <= 0.05 * float(row["ci95"]) + 1e-9
        if row["difference"]:
            gap = paired_difference(values, result.values(row["compared_with"], row["metric"]))
            assert (row["difference"], row["difference_ci95"]) == rounded(
                gap, len(row["difference"].partition(".")[2]), 2
            )
    best = {row["cca"] for row in rows if row["metric"] == "pm_delay" and row["verdict"] == "best"}
    verdicts = [each.verdicts["delay"].best for each in sweep.points.values()]
    assert best == set(verdicts) - {None}


def test_latex_has_points_as_rows_or_columns(celltcp, swept: Path, tmp_path: Path) -> None:
    done = celltcp("show", str(swept), "--format", "latex", "--out", str(tmp_path / "s.tex"))
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "s.tex").read_text()
    assert re.search(r"drive & 1~BDP & bbr & \$[\d.]+ \\pm [\d.]+\$", rows)
    _compiles(rows, tmp_path)
    columns = celltcp(
        "show", str(swept), "--format", "latex", "--scenarios-as", "columns", "--fragment"
    )
    assert "metric & buffer & CCA & drive & steady-5-18" in columns.stdout
    assert "documentclass" not in columns.stdout
    (tmp_path / "own.tex").write_text("my own paper")
    done = celltcp("show", str(swept), "--format", "latex", "--out", str(tmp_path / "own.tex"))
    assert done.returncode == 2
    assert (tmp_path / "own.tex").read_text() == "my own paper"


@pytest.mark.parametrize(
    ("form", "own"),
    [
        ("latex", "\\documentclass{article}\n\\begin{document}my own paper\\end{document}\n"),
        ("latex", "% \\usepackage{booktabs}\nmy own table\n"),
        ("markdown", "**My own notes** on celltcp\n"),
        ("summary-csv", "cca,seed,my own column\nbbr,1,2\n"),
        ("summary-csv", "scenario,mine\n"),
    ],
)
def test_a_summary_replaces_summaries_only(
    celltcp, swept: Path, tmp_path: Path, form: str, own: str
) -> None:
    (tmp_path / "own").write_text(own)
    command = ("show", str(swept), "--format", form, "--out")
    done = celltcp(*command, "own")
    assert done.returncode == 2
    assert f"own: exists, and is no summary of celltcp as {form}" in done.stderr
    assert (tmp_path / "own").read_text() == own
    # The same command again writes the same file.
    for _ in range(2):
        done = celltcp(*command, "summary")
        assert done.returncode == 0, done.stderr


def test_raw_tables_have_seeds_and_meaningful_digits(tmp_path: Path) -> None:
    result = ct.compare("drive", ["cubic", "bbr"], 2, seed=7, duration="1s")
    flows = result.results.tables["flows"]
    place = flows.column_names.index("goodput_mbps")
    extreme = pa.array([8.639999999999999, float("nan"), 0.0, -1.1e300])
    tables = {
        **result.results.tables,
        "flows": flows.set_column(place, "goodput_mbps", extreme),
        "events": result.results.tables["events"].slice(0, 0),
    }
    files = write_csv(Results(tables, result.results.about), tmp_path)
    assert "events.csv" not in {file.name for file in files}
    for file in files:
        rows = list(csv.DictReader(file.open()))
        assert {row["seed"] for row in rows} == {"7", "8"}
    read = list(csv.DictReader((tmp_path / "flows.csv").open()))
    assert [row["goodput_mbps"] for row in read] == ["8.64", "nan", "0", "-1.1e+300"]


def _compiles(document: str, folder: Path) -> None:
    """Compiles a document where LaTeX is installed."""
    if shutil.which("pdflatex") is None:
        return
    (folder / "t.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)
    assert max(map(float, wide), default=0.0) < 10.0
