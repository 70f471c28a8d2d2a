"""celltcp select."""

from __future__ import annotations

import click

from celltcp.cli.select.estimators import estimators
from celltcp.cli.select.policies import policies


@click.group()
def select() -> None:
    """Choose the congestion control: policies, their training and evaluation, and what selectors did."""


for command in (policies, estimators):
    select.add_command(command)
