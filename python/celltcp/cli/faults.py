"""Faults: errors other than invalid input, as one line with an exit code of its own."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from types import FrameType

import click

#: Environment variable that asks for the traceback of a fault, for its report.
TRACEBACK = "CELLTCP_TRACEBACK"

#: Exit codes, those of `sysexits.h`: EX_SOFTWARE and EX_OSERR.
INTERNAL = os.EX_SOFTWARE
OUT_OF_MEMORY = os.EX_OSERR

_PACKAGE = Path(__file__).resolve().parents[1]


def report_fault(fault: BaseException) -> int:
    """Prints an unexpected exception in one line, and returns the exit code of the command.

    An exception in the file of an own congestion control is an error of that file. Any other one is a
    fault of celltcp, unless memory is short.
    """
    from celltcp.scenarios.own_cca import MODULE_PREFIX

    if os.environ.get(TRACEBACK):
        traceback.print_exception(fault)
    frames = list(traceback.walk_tb(fault.__traceback__))
    message = " ".join(f"{type(fault).__name__}: {fault}".split())
    for frame, line in reversed(frames):
        if str(frame.f_globals.get("__name__")).startswith(MODULE_PREFIX):
            place = f"{frame.f_code.co_filename}:{line}, {frame.f_code.co_qualname}"
            click.echo(f"celltcp: {place}{_time_text(frame)}: {message}", err=True)
            return 2
    if isinstance(fault, MemoryError):
        click.echo(f"celltcp: out of memory: {fault}", err=True)
        return OUT_OF_MEMORY
    if _is_panic(fault):
        from celltcp._core import take_panic

        message = take_panic() or message
    lines = (f"{_relative_path(frame.f_code.co_filename)}:{line}: " for frame, line in reversed(frames))
    own_line = next((line for line in lines if line.startswith("celltcp/")), "")
    click.echo(
        f"celltcp: {own_line}{message}; this is a fault of celltcp: please report it with the command "
        f"and what {TRACEBACK}=1 adds",
        err=True,
    )
    return INTERNAL


def _time_text(frame: FrameType) -> str:
    """Returns the simulated time of the report that a function was called with; empty without one."""
    from celltcp._core import Report

    report = next((each for each in frame.f_locals.values() if isinstance(each, Report)), None)
    return "" if report is None else f" at {report.now_s:.3f} s"


def _is_panic(fault: BaseException) -> bool:
    """Returns whether native code has panicked; the type has no name in Python."""
    return type(fault).__name__ == "PanicException"


def _relative_path(file: str) -> str:
    """Returns the path of a file of this package relative to it; others unchanged."""
    path = Path(file)
    return str(path.relative_to(_PACKAGE.parent)) if path.is_relative_to(_PACKAGE) else file
