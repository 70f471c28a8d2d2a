"""celltcp shell."""

from __future__ import annotations

import click

from celltcp.cli.shell.doctor import doctor
from celltcp.cli.shell.list import list_runs
from celltcp.cli.shell.run import run
from celltcp.cli.shell.set import set_fields
from celltcp.cli.shell.status import status

#: Command if a scenario follows the name of the group.
_DEFAULT = "run"


class _WithDefault(click.Group):
    """Group whose first word may be a scenario."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Inserts the default command before a first argument that is no command."""
        if args and args[0] not in self.commands and args[0] not in context.help_option_names:
            args = [_DEFAULT, *args]
        return super().parse_args(context, args)


@click.group(cls=_WithDefault)
def shell() -> None:
    """Run programs behind the path of a scenario, in real time.

    celltcp shell SCENARIO is short for celltcp shell run SCENARIO.
    """


shell.add_command(run)
shell.add_command(doctor)
shell.add_command(list_runs)
shell.add_command(set_fields)
shell.add_command(status)
