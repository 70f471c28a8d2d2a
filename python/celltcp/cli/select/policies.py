"""celltcp select policies."""

from __future__ import annotations

import sys

import click

#: Maximum number of kNN examples of a policy that are printed on a terminal.
_MAX_EXAMPLES = 3


@click.command()
@click.argument("name", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON schema of policy files.")
@click.option(
    "--features", is_flag=True, help="List the features of a connection that rules and trees can use."
)
def policies(name: str | None, schema: bool, features: bool) -> None:
    """List the built-in policies, or print one as a file.

    To use a policy, give --cca auto:policy=NAME. A printed file can be changed and used as
    --cca auto:policy=FILE. On a terminal a long table of measured moments is cut.
    """
    from celltcp._core import (
        auto_parameters,
        builtin_policies,
        describe_policy,
        policy_schema,
        policy_text,
        selection_features,
    )

    if sum((schema, features, name is not None)) > 1:
        raise click.UsageError("--schema, --features and a name of a policy: give one of them")
    if schema:
        click.echo(policy_schema(), nl=False)
    elif features:
        for feature, meaning in selection_features():
            click.echo(f"{feature:<16}{meaning}")
    elif name is not None:
        text = policy_text(name)
        click.echo(_shorten(text) if sys.stdout.isatty() else text, nl=False)
    else:
        for builtin_policy in builtin_policies():
            click.echo(f"{builtin_policy:<22}{describe_policy(builtin_policy)['description']}")
        click.echo("\nParameters of auto, as in --cca auto:policy=rules,requirement=delay:")
        for parameter, meaning, default in auto_parameters():
            click.echo(f"  {parameter:<14}{meaning}; default {default}")


def _shorten(text: str) -> str:
    """Returns the text of a policy with a few of its kNN examples, whose lines are long."""
    before, opening, table_and_after = text.partition('table = """\n')
    table, closing, after = table_and_after.partition('"""')
    header, *rows = table.splitlines() or [""]
    if len(rows) <= _MAX_EXAMPLES:
        return text
    rest_text = f"({len(rows) - _MAX_EXAMPLES} more; with > FILE all are written)"
    return (
        before + opening + "\n".join([header, *rows[:_MAX_EXAMPLES], rest_text, ""]) + closing + after
    )
