"""Writes the generated parts of pages, as Markdown: `python docs/generated.py FOLDER`.

The site puts each of them in the place of a line `<!-- generated: NAME -->`.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from crate_table import crates
from docstrings import arguments, one_line, paragraphs

from celltcp._core import (
    auto_parameters,
    builtin_policies,
    capture_tables,
    describe_policy,
    policy_schema,
    result_tables,
    scenario_schema,
    selection_features,
)
from celltcp.cli import celltcp
from celltcp.cli.exit_codes import EXIT_CODES
from celltcp.comparison.explanation.kinds import KINDS
from celltcp.comparison.metrics import APPLICATIONS
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.pcap.diagnosis.faults import FAULTS, dropped_by_the_capture
from celltcp.pcap.diagnosis.limits import LIMITS
from celltcp.present.cca_tables import catalogue_table, parameters_table
from celltcp.present.json_types import SchemaWriter
from celltcp.present.markdown import markdown_table
from celltcp.present.markdown_page import plain_table
from celltcp.present.schema_tables import meanings, section, sections, table, values_table
from celltcp.publications.publications import publications
from celltcp.publications.quantities import QUANTITIES
from celltcp.publications.quantities.quantity import TEXTS
from celltcp.results.json_fields import sentence
from celltcp.scenarios.ccas import catalogue
from celltcp.scenarios.scenarios import description, scenario_names, variants_of
from celltcp.selection.environment import SelectionEnv
from celltcp.selection.outcomes.evaluation import BaselineRow, CalibrationRow, CheckRow, WorstRow
from celltcp.selection.tally import RULE

#: Definitions of the schema of scenarios that have a page: its part, by their names.
OF_PAGES = {
    "formats": ("TraceFormat",),
    "middleboxes": ("Kind",),
    "videos": ("Ladder", "Algorithm"),
}


def options() -> Iterator[str]:
    """Yields the help of each command, in the order of the list of commands."""
    yield from _help(celltcp, "celltcp", None)


def _help(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    info_name, settings = name.rpartition(" ")[2], command.context_settings
    with click.Context(command, info_name=info_name, parent=parent, **settings) as context:
        context.max_content_width = context.terminal_width = 100
        yield f"### {name}\n\n```\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                below = command.get_command(context, each)
                if below is not None and not below.hidden:
                    yield from _help(below, f"{name} {each}", context)


def exits() -> Iterator[str]:
    """Yields a table of the exit codes."""
    yield f"{table(('code', 'meaning'), ((str(code), text) for code, text in EXIT_CODES.items()))}\n"


def fields() -> Iterator[str]:
    """Yields a table for each section of a scenario file."""
    without = {name for names in OF_PAGES.values() for name in names}
    yield from sections(json.loads(scenario_schema()), "Top of the file", without)


def _values_of(part: str) -> Callable[[], Iterator[str]]:
    """Returns the part with the values that the definitions of a page allow."""
    definitions = json.loads(scenario_schema())["$defs"]
    return lambda: (f"{values_table(definitions[name])}\n" for name in OF_PAGES[part])


def scenarios() -> Iterator[str]:
    """Yields a table of the built-in scenarios of each folder, with their variants."""
    for folder, names in itertools.groupby(scenario_names(), lambda name: name.rpartition("/")[0]):
        rows = [(name, description(name)) for name in names]
        if folder:
            variants = variants_of(folder).items()
            rows += [(f"NAME@{name}", str(each["description"])) for name, each in variants]
        yield f"### {folder or 'Without a folder'}\n\n{table(('name', 'description'), rows)}\n"


def ccas() -> Iterator[str]:
    """Yields the catalogue of CCAs, then the parameters of each."""
    entries = catalogue()
    yield f"{markdown_table(plain_table(catalogue_table(entries)))}\n"
    for entry in entries:
        if entry["parameters"]:
            parameters = parameters_table(entry["parameters"])
            yield f"### {entry['name']}\n\n{markdown_table(plain_table(parameters))}\n"
    rows = [(name, default, meaning) for name, meaning, default in auto_parameters()]
    yield f"### auto\n\n{table(('parameter', 'default', 'meaning'), rows)}\n"


def columns() -> Iterator[str]:
    """Yields the columns of the tables of results and of captures."""
    for heading, tables in (("Results", result_tables()), ("Captures", capture_tables())):
        for each in tables:
            rows = [(name, sentence(meaning)) for name, meaning in each.columns]
            head = f"### {heading}: {each.name}\n\n{each.meaning}"
            yield f"{head}\n\n{table(('column', 'meaning'), rows)}\n"


def figures() -> Iterator[str]:
    """Yields a table of the figures of applications, with the differences that do not matter."""
    rows = [
        (name, each.meaning, f"{least:g}" if (least := min_difference(name)) else "")
        for figures in APPLICATIONS
        for name, each in figures.items()
    ]
    yield f"{table(('figure', 'meaning', 'tied within'), rows)}\n"


def causes() -> Iterator[str]:
    """Yields a table of the causes that explanations know, in the order of their rules."""
    rows = [
        (
            name,
            re.sub(r"(?<=\d)%", " %", one_line(kind.rule).format_map(kind.rule.__globals__)),
            one_line(kind.remedies) if kind.remedies else "",
        )
        for name, kind in KINDS.items()
    ]
    yield f"{table(('cause', 'rule', 'remedies'), rows)}\n"


def diagnoses() -> Iterator[str]:
    """Yields the rules of the diagnosis of captures, in their order."""
    faults = (*FAULTS, dropped_by_the_capture)
    for heading, rules in (("Faults that are named", faults), ("Limits that are named", LIMITS)):
        items = "\n".join(f"1. {one_line(rule)}" for rule in rules)
        yield f"### {heading}\n\n{items}\n"


def policies() -> Iterator[str]:
    """Yields the built-in policies, the features that they can use, and the fields of their files."""
    rows = [(name, describe_policy(name)["description"]) for name in builtin_policies()]
    yield f"{table(('policy', 'description'), rows)}\n"
    yield f"### Features\n\n{table(('feature', 'meaning'), selection_features())}\n"
    yield from sections(json.loads(policy_schema()), "Top of a policy file")


def evaluations() -> Iterator[str]:
    """Yields the fields of the outcome of an evaluation, and the classes of its tally."""
    writer = SchemaWriter()
    for kind in (CheckRow, BaselineRow, WorstRow, CalibrationRow):
        writer.schema(kind)
        definition = writer.definitions[kind.__name__]
        yield section(kind.__name__.removesuffix("Row"), meanings(definition))
    yield f"### Tally\n\n{RULE}\n"


def environment() -> Iterator[str]:
    """Yields the description of the environment, and the table of its arguments."""
    yield f"{paragraphs(SelectionEnv)}\n"
    yield f"{arguments(SelectionEnv.__init__)}\n"


def papers() -> Iterator[str]:
    """Yields the publications with their pages of results."""
    for name, each in publications().items():
        yield f"- [{name}](../results/papers/{name}.md): {each.about}"


def quantities() -> Iterator[str]:
    """Yields a table of the quantities of published tables."""
    texts = ((name, TEXTS.get(name, {})) for name in QUANTITIES)
    rows = [(name, each.get("unit", ""), each.get("name", "")) for name, each in texts]
    yield f"{table(('quantity', 'unit', 'name on axes'), rows)}\n"


#: Generated parts by their names.
PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "options": options,
    "exits": exits,
    "fields": fields,
    "scenarios": scenarios,
    "ccas": ccas,
    "columns": columns,
    "crates": crates,
    "figures": figures,
    "causes": causes,
    "diagnoses": diagnoses,
    "policies": policies,
    "evaluations": evaluations,
    "environment": environment,
    "publications": papers,
    "quantities": quantities,
    **{part: _values_of(part) for part in OF_PAGES},
}


def write(folder: Path) -> None:
    """Writes a file for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        (folder / f"{name}.md").write_text("\n".join(part()), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
