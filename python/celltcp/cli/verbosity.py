"""Options -q and -v: amount of notes and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

#: Verbosity: -1 quiet, 0 normal, 1 verbose.
_level = 0

#: Notes of options that click reads before -q.
_early: list[str] = []


def _set(context: click.Context, parameter: click.Parameter, is_set: bool) -> None:
    global _level
    if is_set and not context.resilient_parsing:
        _level = -1 if parameter.name == "quiet" else 1
        if is_verbose():
            from celltcp.cli.events import print_events

            print_events()
    if parameter.name == "quiet":
        for text in _early:
            note(text)
        _early.clear()


def note_early(text: str) -> None:
    """Prints a line on stderr once all options are read, unless -q is among them."""
    _early.append(text)


def add_verbosity(command: click.Command) -> None:
    """Adds -q and -v to a command and its subcommands."""
    command.params += [
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_set,
            help="Print outcomes, warnings and errors only: no progress, no notes.",
        ),
        click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            callback=_set,
            help="Print progress also if stderr is not a terminal, the elapsed time, and when "
            "runs, kernels and hosts begin and end.",
        ),
    ]
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            add_verbosity(subcommand)


def is_quiet() -> bool:
    """Returns whether only outcomes, warnings and errors are printed."""
    return _level < 0


def is_verbose() -> bool:
    """Returns whether progress is printed where there is no terminal."""
    return _level > 0


def note(text: str) -> None:
    """Prints a line on stderr, unless -q is given."""
    if not is_quiet():
        click.echo(text, err=True)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None] | None]:
    """Shows a bar; yields the function to call with the finished share, None without a bar."""
    with stages_bar() as stages:
        yield (lambda share: stages(label, share)) if stages else None


@contextmanager
def stages_bar() -> Iterator[Callable[[str, float], None] | None]:
    """Shows a bar for work in stages; yields the function to call with stage and finished share."""
    if is_quiet():
        yield None
    elif sys.stderr.isatty():
        from celltcp.cli.progress import bar

        with bar() as report:
            yield report
    elif is_verbose():
        from celltcp.cli.progress import ProgressLines

        lines = ProgressLines()
        yield lines.report
        lines.end()
    else:
        yield None
