"""Former names of options and commands, which work in this version, hidden and with a warning."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, cast

import click

#: Former and present names of options, by command.
OPTIONS = {
    **{name: {"--own": "--cca-file"} for name in ("compare", "sweep", "video", "run", "cca")},
    "papers": {"--era": "--historic-ccas"},
    "fidelity": {"--decide": "--rerun-undecided"},
    "select train": {
        "--least": "--min-samples-leaf",
        "--leaves": "--max-leaves",
        "--moments": "--samples",
        "--whole": "--full-runs",
    },
    "select evaluate": {"--switches": "--switch-cost", "--own": "--cca-file"},
    "select memory": {"--known": "--extend"},
    "pcap analyze": {"--notes": "--tags"},
    "pcap compare": {"--notes": "--tags"},
    "pcap resets": {"--hold": "--discard-for"},
}

#: Former and present names of commands, by group.
COMMANDS = {
    "pcap": {"judge": "validate", "trace": "to-scenario"},
    "select": {"engines": "compare-engines"},
}


class FormerOption(click.Option):
    """Former name of an option, which hands its value over."""

    def __init__(self, former: str, present: click.Option) -> None:
        """Takes the name, and the option of today."""
        super().__init__(
            [former, f"former_{present.name}"],
            is_flag=present.is_flag,
            multiple=present.multiple,
            hidden=True,
            # It is read first, so that the option of today finds the value.
            is_eager=True,
            expose_value=False,
        )
        self.present = present

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Moves what was given to the option of today."""
        if self.name in opts:
            now = self.present.opts[0]
            if self.present.name in opts:
                raise click.UsageError(f"{self.opts[0]} is {now} now; give one of them", ctx)
            if not ctx.resilient_parsing:
                _warn(self.opts[0], now)
            given = cast("MutableMapping[str, Any]", opts)
            given[self.present.name] = given.pop(self.name)
        return super().handle_parse_result(ctx, opts, args)


class FormerCommand(click.Command):
    """Former name of a command, in whose place that of today is run."""

    def __init__(self, former: str, present: click.Command) -> None:
        """Takes the name, and the command of today."""
        super().__init__(former, hidden=True)
        self.present = present

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Returns a context of the command of today."""
        if not extra.get("resilient_parsing"):
            group = f"{parent.info_name} " if parent else ""
            _warn(f"{group}{info_name}", f"{group}{self.present.name}")
        return self.present.make_context(self.present.name, args, parent, **extra)


def add_former_names(command: click.Command, path: tuple[str, ...]) -> None:
    """Adds former names to a command, which has that path, and to all below it."""
    name = " ".join(path)
    options = {option: each for each in command.params for option in each.opts}
    for former, now in OPTIONS.get(name, {}).items():
        command.params.append(FormerOption(former, cast("click.Option", options[now])))
    if isinstance(command, click.Group):
        for each, below in command.commands.items():
            add_former_names(below, (*path, each))
        for former, now in COMMANDS.get(name, {}).items():
            command.add_command(FormerCommand(former, command.commands[now]))


def _warn(former: str, now: str) -> None:
    from celltcp.deprecation import warn_deprecated

    warn_deprecated(f"{former} is deprecated; use {now}")
