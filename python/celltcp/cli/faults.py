"""Faults: errors other than invalid input, as one line with an exit code of its own."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import click

#: Environment variable that asks for the traceback of a fault, for its report.
TRACEBACK = "CELLTCP_TRACEBACK"

#: Exit codes, those of `sysexits.h`: EX_SOFTWARE and EX_OSERR.
INTERNAL = os.EX_SOFTWARE
OUT_OF_MEMORY = os.EX_OSERR

_PACKAGE = Path(__file__).resolve().parents[1]


def exit_code_of(fault: BaseException) -> int:
    """Prints an exception that is no error of the input in one line, and returns the exit code.

    An exception in the file of an own congestion control is an error of that file. Everything else is a
    fault of celltcp, except that memory is short.
    """
    from celltcp.scenarios.own_cca import MODULE_PREFIX

    if os.environ.get(TRACEBACK):
        traceback.print_exception(fault)
    frames = [(frame, line) for frame, line in traceback.walk_tb(fault.__traceback__)]
    what = " ".join(f"{type(fault).__name__}: {fault}".split())
    for frame, line in reversed(frames):
        if str(frame.f_globals.get("__name__")).startswith(MODULE_PREFIX):
            click.echo(f"celltcp: {frame.f_code.co_filename}:{line}: {what}", err=True)
            return 2
    if isinstance(fault, MemoryError):
        click.echo(f"celltcp: out of memory: {fault}", err=True)
        return OUT_OF_MEMORY
    if _is_panic(fault):
        from celltcp._core import take_panic

        what = take_panic() or what
    places = (f"{_shown(frame.f_code.co_filename)}:{line}: " for frame, line in reversed(frames))
    own = next((frame_path for frame_path in places if frame_path.startswith("celltcp/")), "")
    click.echo(
        f"celltcp: {own}{what}; this is a fault of celltcp: please report it with the command and what "
        f"{TRACEBACK}=1 adds",
        err=True,
    )
    return INTERNAL


def _is_panic(fault: BaseException) -> bool:
    """Returns whether native code has panicked; the type has no name in Python."""
    return type(fault).__name__ == "PanicException"


def _shown(file: str) -> str:
    """Returns the path of a file of this package relative to it; others unchanged."""
    path = Path(file)
    return str(path.relative_to(_PACKAGE.parent)) if path.is_relative_to(_PACKAGE) else file
