"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from celltcp.engines import ENGINES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


_seed_option = click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
_jobs_option = click.option("--jobs", type=click.IntRange(1), help="Runs at a time; default all cores.")
_kernel_option = click.option(
    "--kernel", metavar="VERSION", help="Which kernel; default the newest built."
)
_json_option = click.option(
    "--json", "json_file", metavar="FILE", help="Write the outcome as JSON; - prints it."
)

#: Whether to keep a log of the radio.
radio_log_option = click.option(
    "--radio-log", is_flag=True, help="Record every TTI of the radio; some 2000 rows a second."
)


def complete_scenario(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """What the shell completes `begun` to: built-in names and files."""
    from celltcp.scenarios import scenario_names

    names = [CompletionItem(name) for name in scenario_names() if name.startswith(begun)]
    # Files first: bash forgets what came before them.
    return [CompletionItem(begun, type="file"), *names]


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What to run, and on what: SCENARIO, --uplink, --duration, --set, --seed, --engine, --kernel."""
    decorators: list[Decorator] = [
        click.argument("scenario", shell_complete=complete_scenario),
        click.option("--uplink", metavar="FILE", help="Link trace of the uplink."),
        click.option("--duration", metavar="TIME", help="Length of a run, such as 60s."),
        click.option(
            "--set",
            "changes",
            multiple=True,
            metavar="FIELD=VALUE",
            help="Override a field of the scenario, such as path.buffer=2bdp; may be repeated.",
        ),
        _seed_option,
        click.option(
            "--engine",
            default="native",
            show_default=True,
            type=click.Choice(ENGINES),
            help="What runs TCP: celltcp itself, or a real Linux kernel in virtual time.",
        ),
        _kernel_option,
    ]
    return _decorated(command, decorators)


def campaign_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is compared, how often, and where it goes: --cca, --runs, --jobs, --out, --json."""
    decorators: list[Decorator] = [
        click.option(
            "--cca",
            default="cubic,bbr,newreno",
            show_default=True,
            metavar="LIST",
            help="Names, with parameters (cubic:hystart=off) or several flows (cubic+bbr); all; own.",
        ),
        click.option("--runs", default=10, show_default=True, type=click.IntRange(1)),
        _jobs_option,
        click.option("--out", metavar="DIR", help="Keep tables and pictures here; resumes."),
        _json_option,
    ]
    return _decorated(command, decorators)


def case_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Cases to run: --scenarios, --requirement, --seed, --jobs, --kernel, --set, --json."""
    decorators: list[Decorator] = [
        click.option(
            "--scenarios",
            default="thesis36",
            show_default=True,
            metavar="LIST",
            help="Built-in names, files, folders of recordings, patterns such as 'mobility/*', "
            "thesis36.",
        ),
        click.option(
            "--requirement",
            default="goodput,balanced,delay",
            show_default=True,
            metavar="LIST",
            help="For what; select evaluate also takes weights of use/delay/losses such as 1/5/1.",
        ),
        _seed_option,
        _jobs_option,
        _kernel_option,
        click.option(
            "--set",
            "changes",
            multiple=True,
            metavar="FIELD=VALUE",
            help="Override a field of all scenarios, such as path.buffer=2bdp; may be repeated.",
        ),
        _json_option,
    ]
    return _decorated(command, decorators)


def _decorated(command: Callable[..., Any], decorators: list[Decorator]) -> Callable[..., Any]:
    """The command with its options in that order."""
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
