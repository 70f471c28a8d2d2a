"""Generated parts of pages: all options, fields, scenarios, CCAs and columns, each in a page."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import sys
from pathlib import Path

import pytest

from celltcp._core import builtin_policies, capture_tables, result_tables, scenario_schema
from celltcp.cli.exit_codes import EXIT_CODES
from celltcp.comparison.explanation.kinds import KINDS
from celltcp.comparison.metrics import APP_METRICS
from celltcp.pcap.diagnosis.faults import FAULTS
from celltcp.pcap.diagnosis.limits import LIMITS
from celltcp.publications.publications import publications
from celltcp.publications.quantities import QUANTITIES
from celltcp.scenarios.ccas import catalogue
from celltcp.scenarios.scenarios import scenario_names
from celltcp.selection.environment import SelectionEnv
from docs_pages import DOCS, links, pages


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of each part by its name."""
    folder = tmp_path_factory.mktemp("generated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["generated.py", str(folder)])
        patch.syspath_prepend(DOCS)
        runpy.run_path(str(DOCS / "generated.py"), run_name="__main__")
    return {file.stem: file.read_text() for file in folder.iterdir()}


def test_each_part_stands_in_one_page(parts: dict[str, str]) -> None:
    named = [
        name
        for page in pages()
        for name in re.findall(r"<!-- generated: ([a-z]+) -->", page.read_text())
    ]
    assert sorted(named) == sorted(parts)


def test_no_part_has_links_of_rustdoc(parts: dict[str, str]) -> None:
    assert not [name for name, text in parts.items() if re.search(r"\[`|crate::", text)]


def test_options_of_all_commands_are_there(parts: dict[str, str]) -> None:
    for command in ("compare", "select evaluate", "pcap to-scenario", "report"):
        assert f"\n### celltcp {command}\n" in parts["options"]
    assert "--page FILE" in parts["options"]
    assert "\\b" not in parts["options"]
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in parts["exits"]
        assert re.search(rf"\n +{code}  {re.escape(meaning)}\n", parts["options"])


def test_all_fields_of_a_scenario_are_there_with_their_meanings(parts: dict[str, str]) -> None:
    schema = json.loads(scenario_schema())
    for name, definition in schema["$defs"].items():
        for field in definition.get("properties", {}):
            assert f"| {field} |" in parts["fields"], (name, field)
    assert '### Workload, kind = "page"' in parts["fields"]
    rows = [row.split(" | ") for row in parts["fields"].splitlines() if row.startswith("| ")]
    # Fields have four columns, values and forms two.
    assert {len(row) for row in rows} == {2, 4}
    assert "| EVA | Extended Vehicular A. |" in parts["fields"]
    assert "| GilbertElliott | Losses in bursts" in parts["fields"]
    assert '| rtt | text | "40ms" | Base round-trip propagation time' in parts["fields"]


def test_all_scenarios_ccas_and_columns_are_there(parts: dict[str, str]) -> None:
    for name in scenario_names():
        assert f"| {name} | " in parts["scenarios"]
    for entry in catalogue():
        assert f"| {entry['name']} | {entry['family']} | " in parts["ccas"]
        for parameter in entry["parameters"]:
            assert f"| {parameter['name']} | " in parts["ccas"]
    for table in [*result_tables(), *capture_tables()]:
        for column, meaning in table.columns:
            assert f"| {column} | " in parts["columns"], (table.name, column)
            assert meaning[1:20].replace("_", "") in parts["columns"].replace("_", "")


def test_all_crates_are_listed_after_their_dependencies(parts: dict[str, str]) -> None:
    rows = [row.split(" | ") for row in parts["crates"].splitlines()[2:]]
    crates = [row[0].removeprefix("| ") for row in rows]
    folder = DOCS.parent / "crates"
    manifests = (file.parent for file in folder.rglob("Cargo.toml"))
    assert sorted(crates) == sorted(each.relative_to(folder).as_posix() for each in manifests)
    assert rows[crates.index("network/middlebox")][1] == "net"
    known: set[str] = set()
    for crate, (_, below, _) in zip(crates, rows, strict=True):
        assert set(filter(None, below.split(", "))) <= known, crate
        known |= {crate.rpartition("/")[2], crate.removeprefix("engine/").replace("/", "-")}


def test_values_of_a_page_are_there_and_not_among_the_fields(parts: dict[str, str]) -> None:
    assert "| mahimahi | " in parts["formats"]
    assert "| 5gdataset | " not in parts["formats"]  # Scenarios call it phone-log.
    assert "| es | ES-TCP" in parts["middleboxes"]
    assert "| bola-e | BOLA" in parts["videos"]
    assert "### TraceFormat" not in parts["fields"]


def test_rules_have_the_text_of_their_docstrings(parts: dict[str, str]) -> None:
    for name, kind in KINDS.items():
        assert f"| {name.replace('_', '')} | " in parts["causes"].replace("_", "")
        assert kind.rule.__doc__
    assert parts["diagnoses"].count("\n1. ") == len(FAULTS) + 1 + len(LIMITS)
    assert "Nagle" not in parts["diagnoses"]


def test_figures_quantities_publications_and_policies_are_there(parts: dict[str, str]) -> None:
    for name, figure in APP_METRICS.items():
        assert f"| {name} | {figure.meaning[:12]}" in parts["figures"]
    for name in QUANTITIES:
        assert f"| {name} | " in parts["quantities"]
    for name in publications():
        assert f"- [{name}](../results/papers/{name}.md): " in parts["publications"]
        assert (DOCS / "results" / "papers" / f"{name}.md").exists()
    for name in builtin_policies():
        assert f"| {name} | " in parts["policies"]
    assert "| dwell | number | 2.0 | Dwell time" in parts["policies"]


def test_the_environment_has_its_arguments_and_the_parts_of_its_docstring(
    parts: dict[str, str],
) -> None:
    text = parts["environment"]
    for name in inspect.signature(SelectionEnv).parameters:
        assert f"\n| {name} | " in text
    assert "| step | 500ms | time between actions, a multiple of the slot of the scenarios. |" in text
    for word in ("Episode", "Observation", "Action", "Reward", "Info"):
        assert f"\n**{word}**" in text


def test_the_site_has_a_part_in_the_place_of_its_line(
    parts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = runpy.run_path(str(DOCS / "hooks.py"))
    (tmp_path / "ccas.md").write_text(parts["ccas"])
    monkeypatch.setitem(hooks["on_page_markdown"].__globals__, "_PARTS", tmp_path)
    page = hooks["on_page_markdown"]("a\n\n<!-- generated: ccas -->\n")
    assert page == f"a\n\n{parts['ccas']}\n"
    with pytest.raises(FileNotFoundError):
        hooks["on_page_markdown"]("<!-- generated: other -->")


def test_a_former_path_has_links_to_where_its_contents_are() -> None:
    former = runpy.run_path(str(DOCS / "hooks.py"))["former_pages"]()
    assert former["papers/kim2016.md"].endswith(
        "- [kim2016: split TCP that keeps end-to-end semantics](../results/papers/kim2016.md)\n"
        "- [Gain of a split connection](../results/middleboxes.md)\n"
    )
    for path, text in former.items():
        assert not (DOCS / path).exists()
        assert links(text)
        assert all(((DOCS / path).parent / link).resolve().exists() for link in links(text)), path
