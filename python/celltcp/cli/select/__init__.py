"""celltcp select."""

from __future__ import annotations

import click

from celltcp.cli.select.compare_engines import compare_engines
from celltcp.cli.select.env import env
from celltcp.cli.select.estimators import estimators
from celltcp.cli.select.evaluate import evaluate
from celltcp.cli.select.explain import explain
from celltcp.cli.select.memory import memory
from celltcp.cli.select.policies import policies
from celltcp.cli.select.train import train


@click.group()
def select() -> None:
    """Select congestion controls automatically (--cca auto).

    A selector chooses the congestion control of a connection by a policy, from what it estimates about
    the network. These commands list, train and evaluate policies, and explain decisions.
    """


for command in (policies, estimators, compare_engines, evaluate, explain, memory, train, env):
    select.add_command(command)
