"""Interrupts while modules are imported: the process ends at once, as it has nothing to tidy up yet."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def leaving_at_once() -> Iterator[None]:
    """Makes an interrupt end the process with one line in place of the traceback of an import.

    A handler that the caller has set stays, and threads other than the main one change nothing.
    """
    previous = signal.getsignal(signal.SIGINT)
    if previous is signal.default_int_handler:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _leave:
            signal.signal(signal.SIGINT, previous)


def _leave(number: int, _: FrameType | None) -> None:
    """Ends the process."""
    os.write(2, b"celltcp: interrupted\n")
    os._exit(128 + number)
