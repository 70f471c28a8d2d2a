"""The command `celltcp`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from celltcp._core import __version__
from celltcp.cli.commands import Commands, LazyCommands
from celltcp.cli.streams import ReaderClosed, ascii_fallback, checked_streams


def _version(context: click.Context, _parameter: click.Parameter, is_set: bool) -> None:
    """Prints version and build of celltcp, its engines, and the newest kernel that is built."""
    if not is_set or context.resilient_parsing:
        return
    from celltcp._core import KERNEL, CelltcpError
    from celltcp.campaign.engines import engine

    click.echo(f"celltcp, version {__version__}")
    click.echo(f"build    {engine().build}")
    try:
        kernel = engine(KERNEL).kernel
        newest = f"Linux {kernel.version}" if kernel else "no kernel is built"
    except CelltcpError:
        newest = "no kernel is built"
    click.echo(f"engines  native; kernel ({newest})")
    context.exit()


@click.group(
    cls=Commands,
    commands=LazyCommands(),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show version and build of celltcp, its engines and the newest kernel that is built.",
)
def celltcp() -> None:
    """Find the TCP congestion control that fits a mobile network and an application.

    celltcp simulates connections over recorded or modelled mobile links, compares congestion controls
    on them, and selects one automatically. A first comparison:

    celltcp compare drive --cca cubic,bbr --out results
    """


def main() -> None:
    """Runs the command, and ends with its exit code."""
    # Arrow's own allocator never returns memory; the system's keeps long runs small.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with checked_streams():
        ascii_fallback()
        _run_command()


def _run_command() -> None:
    from celltcp._core import CelltcpError

    try:
        try:
            celltcp.main(standalone_mode=False)
        finally:
            # Flush here, so that a full disk is reported for the last line too.
            if sys.stdout is not None:
                sys.stdout.flush()
    except click.exceptions.Exit as exit_request:
        sys.exit(exit_request.exit_code)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            from celltcp.cli.option_synonyms import with_suggestion

            error = with_suggestion(error)
        error.show()
        sys.exit(2)
    except CelltcpError as error:
        click.echo(f"celltcp: {error}", err=True)
        sys.exit(getattr(error, "exit_code", 2))
    except OSError as error:
        prefix = f"{error.filename}: " if error.filename else ""
        click.echo(f"celltcp: {prefix}{error.strerror or error}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort) as interrupt:
        # click wraps the interrupt of a campaign, which has the number of stored runs.
        cause = interrupt.__cause__ or interrupt
        if isinstance(cause, EOFError):
            # click wraps EOFError as Abort. Without prompts it means a truncated file or module.
            _exit_with_fault(cause)
        stored, total, folder = (getattr(cause, name, 0) for name in ("stored_runs", "total", "folder"))
        message = "celltcp: interrupted"
        if stored:
            message += f"; {stored} of {total} runs are kept in {folder}"
            message += "; run the same command again to continue"
        click.echo(message, err=True)
        sys.exit(130)
    except (SystemExit, ReaderClosed):
        raise
    except BaseException as fault:
        _exit_with_fault(fault)


def _exit_with_fault(fault: BaseException) -> NoReturn:
    from celltcp.cli.faults import report_fault

    sys.exit(report_fault(fault))
