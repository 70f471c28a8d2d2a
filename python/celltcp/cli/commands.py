"""Commands of `celltcp`, each imported when it is called or asked for its own help."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, MutableMapping

import click

from celltcp.cli.verbosity import add_verbosity
from celltcp.interrupts import leaving_at_once

#: First sentence of the help of each command, for lists that import no command. Each command has a
#: module of its name.
SENTENCES = {
    "compare": "Compare congestion controls on one scenario or several.",
    "sweep": "Compare congestion controls, and the values of a field.",
    "video": "Compare CCAs by video quality of experience (ITU-T P.1203).",
    "run": "Run one congestion control once, and record it in detail.",
    "shell": "Run programs behind the path of a scenario, in real time.",
    "replay": "Repeat a live run in virtual time.",
    "cca": "List the congestion controls, or describe one.",
    "scenarios": "List the built-in scenarios, or print one as a commented file.",
    "traces": "Describe, convert, draw and generate link traces.",
    "units": "List the units that scenarios, options and link traces take.",
    "show": "Show stored results: tables, pictures, exports.",
    "explain": "Explain stored results: what cost each CCA its place.",
    "report": "Write results as one HTML file to read, send or print.",
    "select": "Select congestion controls automatically (--cca auto).",
    "papers": "Repeat published experiments, and compare the figures.",
    "pcap": "Read captures: connections, kinds of loss, and the path.",
    "radio": "Compare the model of the radio with measurements.",
    "fidelity": "Measure how far the native TCP is from that of a Linux kernel.",
    "kernel": "Build, show and remove Linux kernels for the kernel engine.",
    "bench": "Measure speed and memory of the native engine.",
}


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by name, each imported and given the common options on its first use."""

    def __init__(self) -> None:
        self._commands: dict[str, click.Command | None] = dict.fromkeys(SENTENCES)

    def __getitem__(self, name: str) -> click.Command:
        command = self._commands[name]
        if command is None:
            with leaving_at_once():
                command = getattr(importlib.import_module(f"celltcp.cli.{name}"), name)
            add_verbosity(command)
            _add_schemas(command, (name,))
            self._commands[name] = command
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)


class Commands(click.Group):
    """The group of all commands; its help has the first sentence of each, and imports none."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of the commands in click's format."""
        command_list = [click.Command(name, help=sentence) for name, sentence in SENTENCES.items()]
        click.Group(commands=command_list).format_commands(context, formatter)

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the exit codes, which no other output needs."""
        from celltcp.cli.exit_codes import EPILOG

        self.epilog = EPILOG
        super().format_epilog(context, formatter)


def _add_schemas(command: click.Command, path: tuple[str, ...] = ()) -> None:
    """Adds --json-schema to a command that has --json, and to its subcommands."""
    if any("--json" in param.opts for param in command.params):
        command_name = " ".join(path)

        def show(context: click.Context, _: click.Parameter, is_set: bool) -> None:
            if is_set and not context.resilient_parsing:
                from celltcp.cli.json_schema import schema_of

                click.echo(json.dumps(schema_of(command_name), indent=1))
                context.exit()

        command.params.append(
            click.Option(
                ["--json-schema"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=show,
                help="Print the JSON Schema of what --json writes, and exit.",
            )
        )
    if isinstance(command, click.Group):
        for name, subcommand in command.commands.items():
            _add_schemas(subcommand, (*path, name))
