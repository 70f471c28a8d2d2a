"""Entry point of the command `celltcp` and of `python -m celltcp`, which interrupts end at once."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Runs the command, and ends with its exit code."""
    # What is imported now takes a while, and would turn an interrupt into a traceback of its own.
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from celltcp.cli import main as run

    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, usual)
    run()


def _leave(number: int, _: FrameType | None) -> None:
    """Ends the process, which has nothing to tidy up yet."""
    os.write(2, b"celltcp: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
