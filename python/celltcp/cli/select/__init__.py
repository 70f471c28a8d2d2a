"""celltcp select."""

from __future__ import annotations

import click

from celltcp.cli.select.evaluate import evaluate
from celltcp.cli.select.explain import explain
from celltcp.cli.select.policies import policies


@click.group()
def select() -> None:
    """Choose the congestion control: policies, their evaluation, and what selectors did."""


for command in (policies, evaluate, explain):
    select.add_command(command)
