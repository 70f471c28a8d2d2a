"""Names of selected congestion controls in tables, pictures and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.results.selectors import selector_uses
from celltcp.scenarios.cca_mix import labels

RULES = "auto:policy=rules,requirement=balanced"


@pytest.mark.parametrize(
    ("cca", "label"),
    [
        (RULES, "auto rules balanced"),
        ("auto:policy=rules", "auto rules balanced"),
        ("auto:policy=fixed,cca=nv", "auto fixed nv"),
        ("auto:hints=on,policy=thesis-inflight,requirement=delay", "auto thesis-inflight delay hints"),
        ("auto:policy=folder/mine.toml,requirement=1/5/1", "auto mine 1/5/1"),
        ("auto:memory=here/old.toml,policy=bpftune", "auto bpftune balanced memory old"),
        (
            "auto:flow_size=20MB,policy=rules,prefer=bbr/cubic",
            "auto rules balanced 20MB prefer bbr/cubic",
        ),
        ("cubic:hystart=off", "cubic:hystart=off"),
        (f"cubic+{RULES}", "cubic+auto rules balanced"),
    ],
)
def test_a_label_is_short(cca: str, label: str) -> None:
    assert labels([cca]) == {cca: label}


def test_those_that_would_be_called_the_same_keep_their_text() -> None:
    alike = ["auto:policy=a/mine.toml", "auto:policy=b/mine.toml"]
    assert labels([*alike, RULES]) == {**{cca: cca for cca in alike}, RULES: "auto rules balanced"}


@pytest.mark.rendered
def test_a_comparison_shows_labels_and_keeps_the_text(celltcp, tmp_path: Path) -> None:
    ccas = f"cubic,{RULES}"
    arguments = ("compare", "drive", "--cca", ccas, "--runs", "2", "--duration", "4s")
    done = celltcp(*arguments, "--out", "r")
    assert done.returncode == 0, done.stderr
    assert "auto rules balanced" in done.stdout
    assert "policy=" not in done.stdout
    picture = (tmp_path / "r" / "overview.svg").read_text()
    assert "auto rules balanced" in picture
    assert "policy=" not in picture
    result = ct.load(tmp_path / "r")
    assert isinstance(result, ct.Comparison)
    kept = "auto:policy=rules,requirement=balanced"
    assert kept in result.ccas
    assert set(result.decisions["cca"]) == {kept}
    assert set(result.estimates["cca"]) == {kept}
    # A row per slot of each run.
    assert len(result.estimates) == 2 * round(4 / result.results.about["slot_s"])
    policies = result.results.tables["runs"].select(["cca", "policy"]).to_pylist()
    assert {row["cca"]: row["policy"] for row in policies} == {"cubic": "", kept: "rules"}


@pytest.mark.parametrize("form", ["csv", "parquet", "iperf3-json", "qlog"])
def test_every_export_takes_selected_runs(celltcp, tmp_path: Path, form: str) -> None:
    ct.run("drive", RULES, duration="3s", out=tmp_path / "r")
    done = celltcp("show", "r", "--format", form, "--out", "exported")
    assert done.returncode == 0, done.stderr
    written = {file.name for file in (tmp_path / "exported").iterdir()}
    if form in ("csv", "parquet"):
        assert {f"decisions.{form}", f"estimates.{form}"} <= written
    assert written
    assert all((tmp_path / "exported" / name).stat().st_size for name in written)


def test_a_run_tells_its_decisions(celltcp) -> None:
    done = celltcp("run", "mobility/forward-60-4g", "--cca", RULES, "--duration", "6s")
    assert done.returncode == 0, done.stderr
    assert "Decisions" in done.stdout
    assert "establishment" in done.stdout
    assert "bbr" in done.stdout
    plain = celltcp("run", "drive", "--cca", "cubic", "--duration", "2s")
    assert "Decisions" not in plain.stdout


def test_what_was_not_selected_has_no_decisions() -> None:
    result = ct.run("drive", "cubic", duration="2s", samples="off")
    with pytest.raises(ct.CelltcpError, match="hold no decisions"):
        _ = result.decisions


def test_parts_of_a_campaign_may_name_policies_in_folders(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "policies"
    folder.mkdir()
    text = 'name = "mine"\ndescription = "A test."\n[method.fixed]\ncca = "reno"\n'
    (folder / "mine.toml").write_text(text)
    result = ct.compare("drive", "auto:policy=policies/mine.toml", 1, duration="2s", out="r")
    assert set(result.decisions["to_cca"]) == {"reno"}


def test_the_catalogue_mentions_auto(celltcp) -> None:
    assert "--cca auto" in celltcp("cca").stdout
    done = celltcp("cca", "auto")
    assert done.returncode == 0
    assert "flow_size" in done.stdout
    assert "thesis-inflight" in done.stdout
    listed = json.loads(celltcp("cca", "auto", "--json").stdout)
    assert "thesis-inflight" in listed["policies"]
    assert "hints" in [parameter["name"] for parameter in listed["parameters"]]


def test_comparisons_tell_what_selectors_used(celltcp) -> None:
    """Made of the tables by hand: changes of one run, and the time that each was in use."""
    cca = "auto:policy=rules,requirement=delay"
    result = ct.compare("mobility/forward-300-low", f"cubic,{cca}", 2)
    causes = result.decisions["cause"].value_counts()
    under = result.estimates["using_cca"].value_counts(normalize=True)
    (document,) = result.to_json()["selection"]
    assert document["changes_per_run"] == (causes.get("change", 0) + causes.get("return", 0)) / 2 > 0
    assert document["time_under"] == pytest.approx(under.to_dict())
    done = celltcp("compare", "mobility/forward-300-low", "--cca", f"cubic,{cca}", "--runs", "2")
    line = next(each for each in done.stdout.splitlines() if "changes per run" in each)
    assert line.startswith(f"auto rules delay: {document['changes_per_run']:.1f} changes per run, ")
    assert f"time under {under.index[0]} {100 * under.iloc[0]:.0f} %" in line


def test_what_is_selected_is_told_per_flow() -> None:
    result = ct.compare("steady-20-68", "cubic+auto:policy=fixed,cca=nv,cubic", 1, duration="2s")
    (explained,) = selector_uses(result.results)
    assert (explained.lineup, explained.flow) == (result.ccas[0], "flow-2")
    assert (explained.switches_per_run, explained.shares) == (0, {"nv": 1.0})
    assert str(explained) == "no changes; time under nv 100 %"


def test_without_a_selector_nothing_is_told() -> None:
    assert "selection" not in ct.compare("steady-20-68", "cubic", 1, duration="1s").to_json()


def test_the_picture_of_a_run_marks_the_decisions() -> None:
    result = ct.run("mobility/forward-300-low", RULES, duration="5s")
    rates = result.plot.time_series().axes[0]
    marks = [line.get_xdata()[0] for line in rates.lines if line.get_xdata()[0] == line.get_xdata()[-1]]
    assert marks == pytest.approx(list(result.decisions["t_ns"] * 1e-9))
    assert {text.get_text() for text in rates.texts} == set(result.decisions["to_cca"])


def test_a_part_of_a_comparison_without_its_selectors_has_no_selection() -> None:
    result = ct.compare("steady-20-68", cca=["auto", "cubic"], runs=1, duration="2s")
    assert "selection" in result.to_json()
    assert "selection" not in result.only(["cubic"]).to_json()
