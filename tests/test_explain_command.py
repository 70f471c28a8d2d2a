"""celltcp explain and ct.explain: what they print of stored results, and their JSON."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.report.comparison import comparison_part
from celltcp.results.tables import Results


def test_results_of_an_earlier_version_are_explained_with_a_note() -> None:
    results = ct.compare("steady-20-68", "cubic", 1, duration="3s").results
    tables = {
        name: table for name, table in results.tables.items() if name not in ("limits", "recoveries")
    }
    tables["flows"] = tables["flows"].drop_columns(["spurious_retransmissions"])
    explained = ExplainedComparison(ct.Comparison(Results(tables, results.about)))
    (note,) = explained.notes
    assert "earlier version" in note
    assert explained.to_json()["ccas"][0]["goodput_mbps"] > 10


def test_the_command_says_what_the_tables_show(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    changes = {"tcp.receive_window_max": "60kB"}
    result = ct.compare("steady-20-68", ["cubic", "auto:policy=rules"], 1, duration="3s", set=changes)
    result.save("o")
    done = CliRunner().invoke(commands, ["explain", "o"])
    assert done.exit_code == 0, done.output
    assert "The receive window was full for" in done.stdout
    assert "tcp.receive_window_max = 60kB" in done.stdout
    assert "decisions" in done.stdout
    assert "Pictures of it: celltcp show o --plot time-series" in done.stdout
    sections = {each.title: each for each in comparison_part(result, "").sections}
    assert any("receive window was full" in text for text in sections["What cost each CCA"].text)
    with pytest.raises(ct.CelltcpError, match="nowhere: there is no such folder"):
        ct.explain("nowhere")


def test_the_command_has_the_lines_that_set_the_best_cca(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those of the report; there are none where a single CCA ran."""
    monkeypatch.chdir(tmp_path)
    changes = {"path.loss": 0.02}
    for ccas in (["cubic", "bbr"], ["cubic"]):
        result = ct.compare("steady-20-68", ccas, 3, duration="5s", set=changes)
        result.save(tmp_path / "-".join(ccas))
    lines = [
        "sysctl -w net.core.default_qdisc=fq",
        "sysctl -w net.ipv4.tcp_congestion_control=bbr",
        "tc qdisc replace dev INTERFACE root fq",
    ]
    printed = CliRunner().invoke(commands, ["explain", "cubic-bbr"]).stdout
    title = "On Linux, the sender (server) sets bbr, best for a balance of throughput and delay:"
    assert "\n  ".join([title, *lines]) in printed
    outcome = json.loads(CliRunner().invoke(commands, ["explain", "cubic-bbr", "--json", "-"]).stdout)
    assert outcome["settings"] == [
        {"cca": "bbr", "need": "a balance of throughput and delay", "lines": lines}
    ]
    assert "On Linux" not in CliRunner().invoke(commands, ["explain", "cubic"]).stdout


def test_each_comparison_of_a_sweep_is_explained(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--cca", "cubic", "--runs", "1", "--duration", "3s", "--out", "s", "-q")
    field = "tcp.receive_window_max=60kB,2MB"
    done = CliRunner().invoke(commands, ["sweep", "steady-20-68", "--vary", field, *words])
    assert done.exit_code == 0, done.output
    small, large = ct.explain("s").comparisons.values()
    assert [each.name for each in small.ccas[0].causes] == ["receive_window"]
    assert "receive_window" not in {each.name for each in large.ccas[0].causes}
    document = json.loads(CliRunner().invoke(commands, ["explain", "s", "--json", "-"]).stdout)
    assert len(document["folders"]) == 2


@pytest.mark.slow
def test_python_explains_results_as_the_command_explains_their_folder(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ccas = ["cubic", "auto:policy=rules"]
    field = {"tcp.receive_window_max": ["60kB", "2MB"]}
    swept = ct.sweep("steady-20-68", field, ccas, 1, duration="3s")
    results = {
        "comparison": swept["60kB"],
        "run": ct.run("steady-20-68", "cubic", duration="3s", set={"tcp.receive_window_max": "60kB"}),
        "sweep": swept,
        "set": ct.compare_all(["steady-20-68", "drive"], ccas, 1, duration="3s"),
    }
    for name, result in results.items():
        result.save(name)
        explained = ct.explain(result)
        document = json.loads(CliRunner().invoke(commands, ["explain", name, "--json", "-"]).stdout)
        assert json.loads(json.dumps(explained.to_json())) == document, name
        printed = CliRunner().invoke(commands, ["explain", name]).stdout.splitlines()
        lines = {line.rstrip() for line in printed}
        assert all(line in lines for line in str(explained).splitlines()), name
        # IPython and Jupyter display the sentences.
        shown: list[str] = []
        explained._repr_pretty_(SimpleNamespace(text=shown.append), False)
        assert shown == [str(explained)]
    causes = ct.explain(swept).causes
    small = causes[causes["comparison"] == "60kB"]
    assert "receive_window" in set(small.loc[small["cca"] == "cubic", "cause"])
    assert "tcp.receive_window_max = 60kB" in " ".join(small["text"])
    assert [len(each) for each in map(ct.explain(swept).selection, ("60kB", "2MB"))] == [1, 1]
    with pytest.raises(ct.CelltcpError, match="explain: DataFrame is no result of runs"):
        ct.explain(causes)  # type: ignore[arg-type]


def test_results_stand_for_their_scenario(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = {"path.buffer": "0.1bdp", "path.rtt": "50ms"}
    result = ct.compare("steady-20-68", "reno", 1, duration="4s", set=small)
    result.save("o")
    assert ct.load_scenario("o").hash == result.results.about["hash"]
    printed = CliRunner().invoke(commands, ["explain", "o"]).stdout
    commands_in = (line for line in printed.splitlines() if line.startswith("  celltcp "))
    command = next(line for line in commands_in if "path.buffer=" in line)
    words = command.partition("  # ")[0].split()[1:]
    done = CliRunner().invoke(commands, [*words, "--runs", "1", "--json", "-"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"][0]["cca"] == "reno"
