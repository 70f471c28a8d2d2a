"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What to run: SCENARIO, --uplink, --duration, --set."""
    decorators: list[Decorator] = [
        click.argument("scenario"),
        click.option("--uplink", metavar="FILE", help="Link trace of the uplink."),
        click.option("--duration", metavar="TIME", help="Length of a run, such as 60s."),
        click.option(
            "--set",
            "changes",
            multiple=True,
            metavar="FIELD=VALUE",
            help="Override a field of the scenario, such as path.buffer=2bdp; may be repeated.",
        ),
        click.option("--seed", default=1, show_default=True, type=click.IntRange(0)),
    ]
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
